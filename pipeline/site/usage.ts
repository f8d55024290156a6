/**
 * What the files of a site and their dead properties take together, kept in step with its commits: for sites that have a
 * quota (RFC 4331, DAV-33).
 */

import { setImmediate } from 'node:timers/promises'
import { Fault } from '../fault.ts'
import type { Content } from '../store/blobs.ts'
import type { Change } from '../store/commit.ts'
import type { Property, Resource } from '../store/resource.ts'
import type { SiteStore } from '../store/store.ts'
import { ZERO } from '../store/tags.ts'
import { RoomTurns } from './room-turn.ts'
import type { SiteParts } from './site-parts.ts'
import { TreeSums } from './tree-sums.ts'

export interface Usage {
  /** Bytes that the files of the site may take together. */
  readonly quota: number
  /** Bytes that they take now; the first call reads what is stored. */
  used(): Promise<number>
  /**
   * Looks whether there is room for so many bytes more, before they are sent.
   *
   * @throws Fault 507
   */
  require(bytes: number): Promise<void>
  /**
   * Keeps the room that a commit needs, so that others cannot take it meanwhile.
   *
   * @returns to be called when the commit has come to its end
   * @throws Fault 507 where there is not so much room; what makes files smaller or fewer is never refused
   */
  reserve(changes: readonly Change[]): Promise<() => void>
  /** Has paths looked at again; one that ends in a slash stands for everything below it. */
  changed(paths: Iterable<string>): void
}

/** Files whose properties are read in one turn of the event loop. */
const IN_A_TURN = 100

/** That of a site; undefined where nothing limits it. */
export function usageOf({ quota, store, leases, coherence }: Omit<SiteParts, 'basis'>): Usage | undefined {
  if (quota === undefined) return undefined
  return createUsage(store, quota, coherence && new RoomTurns(leases, store.name))
}

/**
 * @param quota bytes
 * @param turns where other processes write to the site as well
 */
export function createUsage(
  store: Pick<SiteStore, 'find' | 'walk' | 'properties'>,
  quota: number,
  turns?: RoomTurns,
): Usage {
  /** Bytes of files with those of their properties. */
  const sizes = new TreeSums()
  /** Bytes of properties alone, which stay when a file gets another content. */
  const described = new Map<string, number>()
  let reserved = 0
  const changed = new Set(['/'])
  let reading: Promise<unknown> = Promise.resolve()

  function set(path: string, content: number, properties: number): void {
    sizes.set(path, content + properties)
    if (properties > 0) described.set(path, properties)
    else described.delete(path)
  }

  /** @returns whether properties had to be read */
  async function take({ path, size, properties }: Resource): Promise<boolean> {
    const isDescribed = properties !== ZERO
    set(path, size, isDescribed ? weigh(await store.properties(path)) : 0)
    return isDescribed
  }

  /** Reads what has changed; only afterwards is it known again. */
  async function read(): Promise<void> {
    const paths = [...changed]
    changed.clear()
    try {
      for (const path of paths) {
        if (path.endsWith('/')) {
          for (const known of sizes.within(path)) set(known, 0, 0)
          const own = await store.find(path)
          if (own) await take(own)
          let read = 0
          for await (const each of store.walk(path, { collections: true }))
            if ((await take(each)) && ++read % IN_A_TURN === 0) await setImmediate()
        } else {
          const file = await store.find(path)
          if (file && file.kind !== 'collection') await take(file)
          else set(path, 0, 0)
        }
      }
    } catch (error) {
      for (const path of paths) changed.add(path)
      throw error
    }
  }

  /** Afterwards nothing is unknown until the caller lets others run. */
  async function upToDate(): Promise<void> {
    let known: typeof reading
    do {
      if (changed.size > 0) reading = reading.catch(() => {}).then(read)
      known = reading
      await known
      // Whoever has waited with others for a reading may come after what was stored meanwhile.
    } while (changed.size > 0 || reading !== known)
  }

  const total = (): number => sizes.sum('/')

  function check(gain: number): void {
    if (gain > 0 && total() + reserved + gain > quota) throw exceeded()
  }

  function gainOf(change: Change): number {
    if (change.op === 'put') return sizeOf(change.content) + (described.get(change.path) ?? 0) - sizes.sum(change.path)
    if (change.op === 'delete') return -sizes.sum(change.path)
    if (change.op === 'move') return -sizes.sum(change.to)
    if (change.op === 'copy')
      return (change.deep ? sizes.sum(change.from) : sizes.own(change.from)) - sizes.sum(change.to)
    return 0
  }

  async function gainOfProperties({ path, set, remove }: Extract<Change, { op: 'describe' }>): Promise<number> {
    if (set.length === 0 && remove.length === 0) return 0
    const named = new Set([...set, ...remove].map(nameOf))
    const before = await store.properties(path)
    return weigh(set) - weigh(before.filter(each => named.has(nameOf(each))))
  }

  return {
    quota,
    async used() {
      await upToDate()
      return total()
    },
    async require(bytes) {
      await upToDate()
      check(bytes)
    },
    async reserve(changes) {
      const leave = await turns?.take()
      let gain = 0
      try {
        for (const change of changes) if (change.op === 'describe') gain += await gainOfProperties(change)
        await upToDate()
        for (const change of changes) gain += gainOf(change)
        check(gain)
      } catch (error) {
        leave?.()
        throw error
      }
      if (gain <= 0) {
        leave?.()
        return () => {}
      }
      reserved += gain
      return () => {
        reserved -= gain
        leave?.()
      }
    },
    changed(paths) {
      for (const path of paths) changed.add(path)
    },
  }
}

function sizeOf(content: Content): number {
  return 'bytes' in content ? (content.size ?? content.bytes.length) : content.staged.size
}

/** Bytes of properties with their names. */
function weigh(properties: readonly Property[]): number {
  let bytes = 0
  for (const { namespace, name, value } of properties)
    bytes += Buffer.byteLength(namespace) + Buffer.byteLength(name) + Buffer.byteLength(value)
  return bytes
}

function nameOf({ namespace, name }: Pick<Property, 'namespace' | 'name'>): string {
  return `{${namespace}}${name}`
}

function exceeded(): Fault {
  return new Fault(507, 'AllowanceExhausted', 'The site has no room left for this. Delete something first.', {
    precondition: { code: 'quota-not-exceeded' },
  })
}
