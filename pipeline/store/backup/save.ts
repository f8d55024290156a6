/** Backups: one state of a whole store, written to a folder while the store is in use. */

import { createHash, type Hash, randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { blobStream } from '../blobs.ts'
import { BlobChanged, BlobGone, lostBytes, Unusable } from '../errors.ts'
import { LOCK, OWN_FILE, OWN_FOLDER } from '../modes.ts'
import type { Resource } from '../resource.ts'
import type { SiteReader, Snapshot, Store } from '../store.ts'
import { syncFolder, syncFolders } from '../synced-names.ts'
import type { ProgressReport } from '../transfer.ts'
import {
  FORMAT,
  HEAD,
  type Head,
  keptOf,
  lineOf,
  objectFile,
  readHead,
  type SavedSite,
  tagOf,
  textOfHead,
} from './format.ts'
import type { Kept } from './lines.ts'

export interface SaveOptions {
  /** Names of the installation's values that belong to a backup. */
  settings: readonly string[]
  /** Derived data that belong to it. */
  kept?: Kept
  progress?: (report: ProgressReport) => void
}

export interface Saved {
  sites: SavedSite[]
  /** Files and bytes of all sites. */
  files: number
  bytes: number
  /** What had to be written, because the folder did not have it. */
  newFiles: number
  newBytes: number
}

/** Objects that are written at the same time. */
const AT_ONCE = 16

/** Files between two reports of progress. */
const REPORT_EVERY = 100

/** Times that a backup begins anew, when a large blob that was removed meanwhile is gone before it was copied. */
const ATTEMPTS = 5

/** The bytes of something stored are gone: it was removed after the state was taken. */
class Gone extends Error {}

/**
 * Saves one state of all sites, drafts and helper files included. A folder with an earlier backup is brought up to date:
 * what it has is not written again, and what is not needed any more goes when everything else is done.
 *
 * @param folder made when absent
 * @throws Unusable when the folder holds anything else, or when stored bytes are not what they should be
 */
export async function saveStore(store: Store, folder: string, options: SaveOptions): Promise<Saved> {
  await readHead(folder)
  await mkdir(folder, { recursive: true, mode: OWN_FOLDER })
  const there = (await readdir(folder)).filter(
    name => name !== HEAD && !name.startsWith(LOCK) && name !== 'objects' && !isState(name),
  )
  if (there.length > 0)
    throw new Unusable(`${folder} holds something else than a backup (${there[0]}); name another folder`)
  const settings: Record<string, string> = {}
  for (const name of options.settings) {
    const value = await store.setting(name)
    if (value !== undefined) settings[name] = value
  }
  const writing = new Objects(folder)
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.snapshot(state => save(state, writing, { ...options, folder, values: settings }))
    } catch (error) {
      if (!(error instanceof Gone)) throw error
      const why = `${error.message} was removed before it could be copied, or is lost; run scriptorium check`
      if (attempt === ATTEMPTS) throw new Unusable(why, { cause: error })
    }
  }
}

function isState(name: string): boolean {
  return /^(state-[\w-]+\.jsonl|backup\.json\.new)$/.test(name)
}

type Saving = SaveOptions & { folder: string; values: Record<string, string> }

async function save(state: Snapshot, objects: Objects, options: Saving): Promise<Saved> {
  const { folder, values, progress } = options
  const at = new Date().toISOString()
  const name = `state-${at.replace(/\D/g, '')}-${randomBytes(3).toString('hex')}.jsonl`
  const list = await listFile(join(folder, name))
  const sites: SavedSite[] = []
  const needed = new Set<string>()
  let done = 0
  try {
    for (const site of await state.sites()) {
      const reader = state.site(site)
      const saved = { name: site, files: 0, bytes: 0, tag: tagOf(await reader.find('/')) }
      await list.write({ site })
      const derived = await keptOf(reader, options.kept)
      for await (const resource of everything(reader)) {
        await list.write(lineOf(resource, await reader.properties(resource.path), derived.get(resource.path)))
        if (resource.kind === 'collection') continue
        saved.files++
        saved.bytes += resource.size
        if (!needed.has(resource.digest)) await objects.need(reader, resource)
        needed.add(resource.digest)
        if (++done % REPORT_EVERY === 0) progress?.({ step: 'saving', done })
      }
      sites.push(saved)
    }
    await objects.written()
  } catch (error) {
    await objects.written().catch(() => undefined)
    await list.end()
    await rm(join(folder, name), { force: true })
    throw error
  }
  const digest = await list.end()
  const head: Head = { format: FORMAT, at, state: name, digest, sites, settings: values }
  await replaceHead(folder, head)
  await clear(folder, name, needed)
  const total = sites.reduce((sum, { files, bytes }) => ({ files: sum.files + files, bytes: sum.bytes + bytes }), {
    files: 0,
    bytes: 0,
  })
  return { sites, ...total, newFiles: objects.files, newBytes: objects.bytes }
}

async function* everything(reader: SiteReader): AsyncGenerator<Resource> {
  const root = await reader.find('/')
  if (root) yield root
  yield* reader.walk('/', { collections: true })
}

/** Appends lines of JSON to a new file. */
async function listFile(file: string) {
  const handle = await open(file, 'wx', OWN_FILE)
  const hash = createHash('sha256')
  let waiting = ''
  const flush = async () => {
    hash.update(waiting)
    await handle.appendFile(waiting)
    waiting = ''
  }
  return {
    async write(line: object): Promise<void> {
      waiting += `${JSON.stringify(line)}\n`
      if (waiting.length > 64 * 1024) await flush()
    },
    /** @returns SHA-256 of all lines */
    async end(): Promise<string> {
      await flush()
      await handle.datasync()
      await handle.close()
      return hash.digest('hex')
    },
  }
}

async function replaceHead(folder: string, head: Head): Promise<void> {
  const fresh = join(folder, `${HEAD}.new`)
  const handle = await open(fresh, 'w', OWN_FILE)
  await handle.writeFile(textOfHead(head))
  await handle.datasync()
  await handle.close()
  // What it names must be there when it is, and it must be there before what it replaces goes.
  syncFolder(folder)
  await rename(fresh, join(folder, HEAD))
  syncFolder(folder)
}

/** Names of what backups write below `objects`, whole or not; desktop systems and file servers leave others beside it. */
const SHARD = /^[\da-f]{2}$/
const OBJECT = /^[\da-f]{62}(?:\.new)?$/

/** Removes what the newest state does not need. */
async function clear(folder: string, state: string, needed: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(folder)) if (isState(name) && name !== state) await rm(join(folder, name))
  const names = await readdir(join(folder, 'objects')).catch((): string[] => [])
  for (const shard of names.filter(name => SHARD.test(name)))
    for (const rest of await readdir(join(folder, 'objects', shard)))
      if (OBJECT.test(rest) && !needed.has(shard + rest)) await rm(join(folder, 'objects', shard, rest))
}

/** The objects of a backup's folder. */
class Objects {
  files = 0
  bytes = 0
  readonly #folder: string
  readonly #running = new Map<string, Promise<void>>()
  /** Folders with names that may not be on disk yet. */
  readonly #named = new Set<string>()
  #failure: unknown

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Sees to it that the bytes of a resource are there, soon. @throws what another one failed with */
  async need(reader: SiteReader, resource: Resource): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    const { digest } = resource
    const target = objectFile(this.#folder, digest)
    const known = await stat(target).catch(() => undefined)
    // A backup that was cut off may have left it, too.
    for (const named of [dirname(target), dirname(dirname(target))]) this.#named.add(named)
    if (known?.size === resource.size) return
    while (this.#running.size >= AT_ONCE) await Promise.race(this.#running.values())
    const work = this.#write(reader, resource, target)
      .catch(error => {
        this.#failure ??= error
      })
      .finally(() => this.#running.delete(digest))
    this.#running.set(digest, work)
  }

  /** Settles when nothing is being written any more. @throws what one of them failed with */
  async written(): Promise<void> {
    await Promise.all(this.#running.values())
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure
    syncFolders(this.#named)
    this.#named.clear()
  }

  async #write(reader: SiteReader, resource: Resource, target: string): Promise<void> {
    const body = await reader.body(resource)
    if (body === undefined) throw lostBytes(resource.path)
    await mkdir(dirname(target), { recursive: true, mode: OWN_FOLDER })
    const unfinished = `${target}.new`
    const handle = await open(unfinished, 'w', OWN_FILE)
    const hash = createHash('sha256')
    try {
      if ('bytes' in body) await take(handle, hash, body.bytes)
      else for await (const piece of blobStream(body.blob)) await take(handle, hash, piece)
      if (hash.digest('hex') !== resource.digest)
        throw lostBytes(resource.path, new BlobChanged('The bytes have another digest'))
      await handle.datasync()
    } catch (error) {
      await handle.close()
      await rm(unfinished, { force: true })
      if (error instanceof BlobGone) throw lostBytes(resource.path, error)
      throw 'blob' in body && (error as NodeJS.ErrnoException).code === 'ENOENT' ? new Gone(resource.path) : error
    }
    await handle.close()
    await rename(unfinished, target)
    this.files++
    this.bytes += resource.size
  }
}

/** A single write on a disk that becomes full takes a part, and says so without an error. */
async function take(handle: Pick<FileHandle, 'appendFile'>, hash: Hash, bytes: Uint8Array): Promise<void> {
  hash.update(bytes)
  await handle.appendFile(bytes)
}
