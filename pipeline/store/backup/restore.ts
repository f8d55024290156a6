/** Restoring: everything that a backup holds, put into a store and proved by tags. */

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { StagedBlob } from '../blobs.ts'
import type { Change } from '../commit.ts'
import { isLost, Unusable } from '../errors.ts'
import type { SiteStore, Store } from '../store.ts'
import type { ProgressReport } from '../transfer.ts'
import { described, HEAD, type Head, objectFile, readHead, type SavedSite, tagOf } from './format.ts'
import { type Accepted, type Line, readLines, type SavedResource } from './lines.ts'
import { begin, end, hasBegun } from './unfinished.ts'

export interface RestoreOptions extends Accepted {
  /** Names of the installation's values that a backup may set. */
  settings: readonly string[]
  /** Told of each site when all of it is there, before it may be served. */
  arrived?: (site: string) => Promise<void>
  progress?: (report: ProgressReport) => void
}

export interface Restored {
  sites: SavedSite[]
  files: number
  bytes: number
  /** When the backup was made: RFC 3339. */
  at: string
}

/** Changes of one commit, and bytes that it holds in memory. */
const AT_ONCE = { changes: 500, bytes: 16 * 1024 * 1024 }

/** Bytes from which on a file is streamed to the store. */
const LARGE = 256 * 1024

const REPORT_EVERY = 100

/**
 * Reads everything that a backup holds and compares it with what it should be.
 *
 * @returns what is wrong, one sentence each
 * @throws Unusable when there is no backup in the folder
 */
export async function checkBackup(
  folder: string,
  { progress, ...terms }: RestoreOptions,
): Promise<Restored & { problems: string[] }> {
  const head = await headOf(folder, terms)
  const problems: string[] = []
  if ((await digestOf(join(folder, head.state))) !== head.digest) problems.push(`${head.state} is not what was written`)
  const seen = new Set<string>()
  let done = 0
  let site = ''
  for await (const line of linesOf(head, folder, terms)) {
    if ('site' in line) site = line.site
    else if (line.kind !== 'collection' && !seen.has(line.digest)) {
      seen.add(line.digest)
      const found = await digestOf(objectFile(folder, line.digest))
      if (found !== line.digest)
        problems.push(`${site}${line.path}: its bytes are ${found === undefined ? 'missing' : 'not what was written'}`)
      if (++done % REPORT_EVERY === 0) progress?.({ step: 'checking', done, total: totalOf(head).files })
    }
  }
  return { ...outcome(head), problems }
}

/**
 * Puts everything that a backup holds into a store. One that was interrupted goes on when it is called again.
 *
 * @throws Unusable when there is no backup in the folder, when the store holds one of its sites already, and when bytes or
 *   tags are not what they should be
 */
export async function restoreStore(store: Store, folder: string, options: RestoreOptions): Promise<Restored> {
  const { progress, arrived, ...terms } = options
  const head = await headOf(folder, terms)
  if ((await digestOf(join(folder, head.state))) !== head.digest)
    throw new Unusable(`${join(folder, head.state)} is not what was written`)
  const stored = await store.sites()
  const taken = head.sites.find(({ name }) => stored.includes(name))
  if (taken && !(await hasBegun(store, head.digest))) {
    // It may have been interrupted behind its last step.
    if (await isThere(store, head)) return outcome(head)
    throw new Unusable(`the store holds ${taken.name} already; restore into an empty data folder`)
  }
  if (stored.length > 0 && !(await hasBegun(store, head.digest))) await requireSound(folder, options)
  await begin(store, head.digest)
  const { files: total } = totalOf(head)
  const staged: StagedBlob[] = []
  let batch: Batch | undefined
  let done = 0
  try {
    for await (const line of linesOf(head, folder, terms)) {
      if ('site' in line) {
        await batch?.commit()
        batch = new Batch(store, store.site(line.site), folder, staged)
      } else if (batch) {
        await batch.add(line)
        if (line.kind !== 'collection' && ++done % REPORT_EVERY === 0) progress?.({ step: 'restoring', done, total })
      }
    }
    await batch?.commit()
  } finally {
    await discardAll(staged)
  }
  for (const { name, tag } of head.sites)
    if (tagOf(await store.site(name).find('/')) !== tag)
      throw new Unusable(`${name} did not come back as it was saved: the tags of its root differ`)
  for (const [name, value] of Object.entries(head.settings)) await store.setSetting(name, value)
  for (const { name } of head.sites) await arrived?.(name)
  await end(store)
  return outcome(head)
}

/** What could never be finished would keep the sites that are stored already from being served. @throws Unusable */
async function requireSound(folder: string, options: RestoreOptions): Promise<void> {
  const [problem] = (await checkBackup(folder, options)).problems
  if (problem !== undefined) throw new Unusable(`${folder} is damaged: ${problem}`)
}

/** Whether everything that a backup holds is in the store, as it was saved. */
async function isThere(store: Store, head: Head): Promise<boolean> {
  for (const { name, tag } of head.sites) if (tagOf(await store.site(name).find('/')) !== tag) return false
  for (const [name, value] of Object.entries(head.settings)) if ((await store.setting(name)) !== value) return false
  return true
}

/** What a backup may bring along. */
type Terms = Omit<RestoreOptions, 'progress'>

async function headOf(folder: string, { settings }: Terms): Promise<Head> {
  const head = await readHead(folder)
  if (!head) throw new Unusable(`there is no backup in ${folder}`)
  if (!Object.keys(head.settings).every(name => settings.includes(name)))
    throw new Unusable(`${join(folder, HEAD)} sets values of the installation that no backup holds`)
  return head
}

/** Nothing else than what the head says is restored: by that, sites are left alone that are stored already. */
function linesOf({ state, sites }: Head, folder: string, terms: Terms): AsyncGenerator<Line> {
  return readLines(join(folder, state), new Set(sites.map(({ name }) => name)), terms)
}

function totalOf({ sites }: Head): { files: number; bytes: number } {
  return {
    files: sites.reduce((sum, { files }) => sum + files, 0),
    bytes: sites.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

function outcome(head: Head): Restored {
  return { sites: head.sites, ...totalOf(head), at: head.at }
}

/** SHA-256 of a file; undefined where there is none. What is no file might never end. */
async function digestOf(file: string): Promise<string | undefined> {
  const hash = createHash('sha256')
  try {
    if (!(await stat(file)).isFile()) return undefined
    for await (const piece of createReadStream(file)) hash.update(piece)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  return hash.digest('hex')
}

/** Drops what no commit has taken: a disk that has become full has no room for it. */
export async function discardAll(staged: readonly StagedBlob[]): Promise<void> {
  for (const each of staged) await each.discard()
}

/** Changes of one site that are committed together. */
class Batch {
  readonly #store: Store
  readonly #site: SiteStore
  readonly #folder: string
  /** Of the changes; whoever has made the list drops what is left in it. */
  readonly #staged: StagedBlob[]
  #changes: Change[] = []
  #bytes = 0

  constructor(store: Store, site: SiteStore, folder: string, staged: StagedBlob[]) {
    this.#staged = staged
    this.#store = store
    this.#site = site
    this.#folder = folder
  }

  async add(saved: SavedResource): Promise<void> {
    const { path, kind, properties = [] } = saved
    if (kind === 'collection') {
      if (path !== '/' && !(await this.#site.find(path))) this.#changes.push({ op: 'collection', path })
    } else {
      const { digest, size, type, language, shown, derived } = saved
      const file = objectFile(this.#folder, digest)
      const found = await stat(file).catch(error => {
        if (isLost(error)) return undefined
        throw error
      })
      if (!found?.isFile() || found.size !== size) throw this.#torn(path)
      const staged = await this.#store.stage(createReadStream(file), { limit: size })
      this.#staged.push(staged)
      if (staged.sha256 !== digest) throw this.#torn(path)
      if (size < LARGE) this.#bytes += size
      this.#changes.push({
        op: 'put',
        path,
        kind,
        content: { staged },
        type,
        ...(language !== undefined && { language }),
        ...(shown !== undefined && { shown }),
        ...(derived !== undefined && { derived }),
      })
    }
    this.#changes.push(...described(saved, properties))
    if (this.#changes.length >= AT_ONCE.changes || this.#bytes >= AT_ONCE.bytes) await this.commit()
  }

  #torn(path: string): Unusable {
    return new Unusable(`the bytes of ${this.#site.name}${path} are not in the backup as they were written`)
  }

  async commit(): Promise<void> {
    const changes = this.#changes
    this.#changes = []
    this.#bytes = 0
    if (changes.length === 0) return
    const result = await this.#site.commit({ changes })
    if (result.ok) {
      this.#staged.length = 0
      return
    }
    const at = 'path' in result ? result.path : ''
    throw new Unusable(`${this.#site.name}${at} cannot be restored here (${result.reason}): try an empty data folder`)
  }
}
