/** Imports a plain folder into a site, file by file through the write pipeline. */

import { type FileHandle, realpath } from 'node:fs/promises'
import { relative } from 'node:path'
import type { Readable } from 'node:stream'
import { fullAuthority } from '../authority.ts'
import { Fault } from '../fault.ts'
import type { Conditions } from '../http/conditions.ts'
import { canonicalPath, checkReachable, isReserved } from '../http/path.ts'
import { perform } from '../operation.ts'
import type { Site } from '../site/site.ts'
import { type StagedBlob, StagingError } from '../store/blobs.ts'
import { Unusable } from '../store/errors.ts'
import { openInside } from '../store/plain-file.ts'
import type { Store } from '../store/store.ts'
import { readFolder } from '../store/transfer.ts'
import { putDocument } from './document.ts'

export interface Imported {
  files: number
  bytes: number
  /** What was left out, one sentence each. */
  problems: string[]
  /** Files that desktop systems keep for themselves: left out as well, and nothing is wrong with that. */
  helpers: number
}

export interface ImportOptions {
  /** Told after every file. */
  progress?: (done: { files: number; bytes: number }) => void
  /** The folder that the site is stored in, if it is in one. */
  data?: string | undefined
  /** What is stored already stays; otherwise it is replaced. */
  onlyNew?: boolean
  /** Whether a path is that of a file which desktop systems keep for themselves: none is ever part of a site (DAV-70). */
  isHelper?: (path: string) => boolean
}

/** Files on their way at the same time: enough to fill one group commit after another. */
const AT_ONCE = 16

const authority = () => fullAuthority

/** A file of the folder. */
interface Entry {
  path: string
  file: string
  size: number
  type?: string
}

/**
 * The place of a data folder in a folder that is read: with its secrets, all that it holds would be there to be read, and
 * whoever closes one of its files ends the locks of this process.
 *
 * @returns relative, ending in `/`
 * @throws Unusable where it is the other way round
 */
async function placeOf(data: string, folder: string): Promise<string> {
  const own = await realpath(data)
  if (`${folder}/`.startsWith(`${own}/`)) throw new Unusable(`${folder} is part of the data folder`)
  return `${relative(folder, own).replaceAll('\\', '/')}/`
}

/**
 * @param directory folder whose files become the site's documents and blobs
 * @throws Unusable where the folder cannot be read as a site
 */
export async function importFolder(
  site: Site,
  store: Store,
  directory: string,
  { progress, data, onlyNew = false, isHelper }: ImportOptions = {},
): Promise<Imported> {
  const imported: Imported = { files: 0, bytes: 0, problems: [], helpers: 0 }
  const folder = await realpath(directory)
  const own = data === undefined ? undefined : await placeOf(data, folder)
  const running = new Set<Promise<void>>()
  /** Files that had no turn beside the others, as where all of them declare something. */
  const crowdedOut: Entry[] = []
  /** The first failure that is not of one file alone: it ends the import. */
  let failure: { error: unknown } | undefined
  const skipped = (file: string, reason: string) => void imported.problems.push(`${file}: ${reason}`)
  const conditions = onlyNew ? ({ ifNoneMatch: '*' } as const) : undefined
  const read = (entry: Entry, refused: (error: unknown) => void): Promise<void> =>
    importFile(site, store, folder, entry, conditions).then(() => {
      imported.files++
      imported.bytes += entry.size
      progress?.(imported)
    }, refused)
  const refuse = (entry: Entry, error: unknown) => {
    if (error instanceof Fault || error instanceof Unusable) skipped(entry.path, error.message)
    else failure ??= { error }
  }
  try {
    for await (const entry of readFolder(directory, { skipped, store: own })) {
      if (isHelper?.(entry.path)) {
        imported.helpers++
        continue
      }
      if (running.size >= AT_ONCE) await Promise.race(running)
      if (failure) break
      const work: Promise<void> = read(entry, error => {
        if (error instanceof Fault && error.status === 503) crowdedOut.push(entry)
        else refuse(entry, error)
      }).finally(() => running.delete(work))
      running.add(work)
    }
  } finally {
    // Nobody closes the store under them.
    await Promise.all(running)
  }
  for (const entry of crowdedOut) {
    if (failure) break
    await read(entry, error => refuse(entry, error))
  }
  if (failure) throw failure.error
  return imported
}

async function importFile(
  site: Site,
  store: Store,
  folder: string,
  entry: Entry,
  conditions: Conditions | undefined,
): Promise<void> {
  const path = canonicalPath(entry.path.normalize('NFC'))
  checkReachable(path)
  if (isReserved(path, site.settings.brand)) throw new Fault(403, 'Reserved', 'This path belongs to the server.')
  const write = { path, type: entry.type, conditions, cause: {} }
  const handle = await openInside(folder, entry.file).catch(unreadable)
  try {
    await perform(putDocument(site, write, authority), {
      bytes: async cap => {
        await checkSize(handle, cap)
        return handle.readFile().catch(unreadable)
      },
      stage: async cap => {
        await checkSize(handle, cap)
        return stage(store, handle, cap)
      },
    })
  } finally {
    await handle.close()
  }
}

/** What is larger is known before any of it is read. @throws Fault 413 */
async function checkSize(handle: FileHandle, cap: number): Promise<void> {
  const { size } = await handle.stat()
  if (size > cap) throw tooLarge(cap)
}

async function stage(store: Store, handle: FileHandle, cap: number): Promise<StagedBlob> {
  // The handle is closed by whoever has opened it.
  const body: Readable = handle.createReadStream({ autoClose: false })
  try {
    return await store.stage(body, { limit: cap })
  } catch (error) {
    if (!(error instanceof StagingError)) throw error
    throw error.reason === 'too-large' ? tooLarge(cap) : new Unusable(`it cannot be read (${error.cause})`)
  } finally {
    body.destroy()
  }
}

function tooLarge(cap: number): Fault {
  return new Fault(413, 'PayloadTooLarge', `The file is larger than ${cap} bytes.`)
}

/** One file that cannot be read keeps none of the others out. */
function unreadable(error: unknown): never {
  throw error instanceof Unusable ? error : new Unusable(`it cannot be read (${error})`)
}
