/** Whether this process can do its work, and what keeps it from it. */

import { randomUUID } from 'node:crypto'
import { open, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Store } from '../pipeline/store/store.ts'

/** Other programs that a server works with, each by the name of its setting. */
export type Service = 'redis' | 'postgres' | 'blobs'

/** What the server waits for before it can do its work. */
export type Missing = 'start' | Service | 'disk' | 'descriptors' | 'writes'

/** Whether each program that the settings name can be reached. */
export type Services = { readonly [name in Service]?: () => boolean }

export interface HealthParts {
  /** False while starting and while shutting down. */
  isServing: () => boolean
  services: Services
  /** Whether there is room for one more connection. */
  hasRoom?: () => boolean
  /** Whether the last write was not refused by what it was to be kept by. */
  takesWrites?: () => boolean
  /** Folder of the data. */
  folder: string
}

/** Bytes that must be free: less is used up by the next writes. */
const ROOM = 16 * 1024 * 1024

/** Milliseconds for which a look at the disk counts. */
const FRESH = 2000

/** @returns what is missing; nothing when requests of every kind can be answered */
export type Readiness = () => Promise<Missing[]>

/** @param redis whether Redis can be reached, where there is one */
export function servicesOf(
  store: Pick<Store, 'isReachable' | 'hasBlobs'>,
  redis: (() => boolean) | undefined,
): Services {
  const { isReachable: postgres, hasBlobs: blobs } = store
  return { ...(redis && { redis }), ...(postgres && { postgres }), ...(blobs && { blobs }) }
}

/**
 * Whether a server should get requests: without large files it does everything else, and only the next write can tell
 * whether one is taken again.
 */
export function isUsable(missing: readonly Missing[]): boolean {
  return missing.every(each => each === 'blobs' || each === 'writes')
}

/** Every program that the settings name, and whether it can be reached now. */
export function reached(services: Services): { name: Service; isThere: boolean }[] {
  const names: Service[] = ['redis', 'postgres', 'blobs']
  return names.flatMap(name => {
    const isThere = services[name]
    return isThere === undefined ? [] : [{ name, isThere: isThere() }]
  })
}

export function readiness({
  isServing,
  services,
  hasRoom: hasDescriptors,
  takesWrites,
  folder,
}: HealthParts): Readiness {
  let looked = Number.NEGATIVE_INFINITY
  let room: Promise<boolean> = Promise.resolve(true)
  const hasRoomNow = () => {
    if (performance.now() - looked < FRESH) return room
    looked = performance.now()
    room = hasRoom(folder)
    return room
  }
  return async () => [
    ...(isServing() ? [] : ['start' as const]),
    ...reached(services).flatMap(({ name, isThere }) => (isThere ? [] : [name])),
    ...((await hasRoomNow()) ? [] : ['disk' as const]),
    ...(hasDescriptors?.() === false ? ['descriptors' as const] : []),
    ...(takesWrites?.() === false ? ['writes' as const] : []),
  ]
}

/**
 * Whether something can be written to a folder: there is room, no quota is used up, and the file system takes writes.
 *
 * @param least bytes that must be free
 */
export async function hasRoom(folder: string, least = ROOM): Promise<boolean> {
  const file = join(folder, `health-${process.pid}-${randomUUID().slice(0, 8)}`)
  try {
    const { bavail, bsize } = await statfs(folder)
    if (bavail * bsize < least) return false
    const handle = await open(file, 'wx', 0o600)
    try {
      await handle.write(Buffer.alloc(4096))
    } finally {
      await handle.close()
    }
    return true
  } catch {
    return false
  } finally {
    await rm(file, { force: true }).catch(() => undefined)
  }
}
