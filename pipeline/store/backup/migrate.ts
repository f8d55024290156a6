/** Moving house: everything that one store holds, put into another and proved by tags and counts. */

import { hash } from 'node:crypto'
import { blobStream, type StagedBlob, StagingError } from '../blobs.ts'
import type { Change } from '../commit.ts'
import { BlobChanged, isLost, lostBytes, Unusable } from '../errors.ts'
import type { NoteChange, NoteStore } from '../notes.ts'
import type { Resource } from '../resource.ts'
import type { SiteReader, SiteStore, Snapshot, Store } from '../store.ts'
import { line, shownSeconds } from '../tags.ts'
import type { ProgressReport } from '../transfer.ts'
import { described, keptOf, type SavedSite, tagOf } from './format.ts'
import type { Kept } from './lines.ts'
import { discardAll } from './restore.ts'
import { begin, end, hasBegun, MOVING } from './unfinished.ts'

export interface MigrateOptions {
  /** Names of the installation's values that move along. */
  settings: readonly string[]
  /** What keys of notes begin with that move along. */
  notes?: readonly string[]
  /** Derived data that move along. */
  kept?: Kept
  /** Told of each site when all of it is there, before it may be served. */
  arrived?: (site: string) => Promise<void>
  progress?: (report: ProgressReport) => void
}

export interface Migrated {
  sites: SavedSite[]
  files: number
  bytes: number
  /** Files that an earlier call had brought there already. */
  found: number
}

type Put = Extract<Change, { op: 'put' }>

/** Changes of one commit, and bytes that it holds in memory. */
const AT_ONCE = { changes: 500, bytes: 16 * 1024 * 1024 }

const REPORT_EVERY = 100

/** Keys of notes that are read at a time. */
const KEYS = 1000

/** What the sites of a state are, in one value: an interrupted move goes on only if nothing was written meanwhile. */
async function fingerprint(state: Snapshot): Promise<string> {
  const tags: string[] = []
  for (const name of await state.sites()) tags.push(name, tagOf(await state.site(name).find('/')))
  return `${MOVING}${hash('sha256', tags.join('\n'))}`
}

/**
 * Puts everything that a store holds at one moment into another. One that was interrupted goes on when it is called again.
 *
 * @throws Unusable when the other store holds one of the sites already, and when tags or counts differ in the end
 */
export function migrateStore(from: Store, to: Store, options: MigrateOptions): Promise<Migrated> {
  return from.snapshot(state => migrate(from, state, to, options))
}

async function migrate(from: Store, state: Snapshot, to: Store, options: MigrateOptions): Promise<Migrated> {
  const mark = await fingerprint(state)
  const names = await state.sites()
  const stored = await to.sites()
  const taken = names.find(name => stored.includes(name))
  const isOver = taken !== undefined && !(await hasBegun(to, mark))
  // It may have been interrupted behind its last step.
  if (isOver && !(await hasArrived(state, to)))
    throw new Unusable(`${taken} is stored there already, or the source has changed; migrate into an empty store`)
  await begin(to, mark)
  const outcome: Migrated = { sites: [], files: 0, bytes: 0, found: 0 }
  for (const name of names) {
    const [source, target] = [state.site(name), to.site(name)]
    const site = await moveSite(source, target, to, outcome, options)
    const tag = tagOf(await source.find('/'))
    await prove(target, name, site.files, tag)
    outcome.sites.push({ name, ...site, tag })
  }
  for (const name of options.settings) {
    const value = await from.setting(name)
    if (value !== undefined) await to.setSetting(name, value)
  }
  // What waited may have been done there since.
  if (!isOver) for (const prefix of options.notes ?? []) await moveNotes(from, to, prefix)
  for (const name of names) await options.arrived?.(name)
  await end(to)
  return outcome
}

async function moveNotes(from: NoteStore, to: NoteStore, prefix: string): Promise<void> {
  let after = ''
  // What a move that was interrupted has left may have been done since where it came from.
  let changes: NoteChange[] = [{ op: 'drop-all', prefix }]
  let bytes = 0
  for (let keys = await from.noteKeys(prefix, after, KEYS); keys.length > 0; ) {
    for (const key of keys) {
      const note = await from.note(key)
      if (note === undefined) continue
      changes.push({ op: 'keep', note })
      bytes += note.value.length
      if (changes.length < AT_ONCE.changes && bytes < AT_ONCE.bytes) continue
      await to.changeNotes(changes)
      changes = []
      bytes = 0
    }
    after = keys.at(-1) ?? after
    keys = await from.noteKeys(prefix, after, KEYS)
  }
  await to.changeNotes(changes)
}

async function hasArrived(state: Snapshot, to: Store): Promise<boolean> {
  for (const name of await state.sites())
    if (tagOf(await state.site(name).find('/')) !== tagOf(await to.site(name).find('/'))) return false
  return true
}

/** Counts files and compares the tag of the root, which is the same only if everything below it is the same. */
async function prove(target: SiteStore, name: string, files: number, tag: string): Promise<void> {
  let count = 0
  for await (const _file of target.walk('/')) count++
  if (count !== files) throw new Unusable(`${name} has ${files} files, but ${count} have arrived`)
  if (tagOf(await target.find('/')) !== tag)
    throw new Unusable(`${name} did not arrive as it was: the tags of its root differ`)
}

/** Whether the same stands there already. */
function isSame(there: Resource | undefined, resource: Resource): boolean {
  if (there === undefined) return false
  if (resource.kind !== 'collection') return line(there) === line(resource)
  return there.properties === resource.properties && there.shown === resource.shown
}

async function moveSite(
  source: SiteReader,
  target: SiteStore,
  to: Store,
  total: Migrated,
  { kept, progress }: MigrateOptions,
): Promise<Pick<SavedSite, 'files' | 'bytes'>> {
  const site = { files: 0, bytes: 0 }
  const isBegun = (await target.find('/'))?.version !== 0
  const staged: StagedBlob[] = []
  let changes: Change[] = []
  let bytes = 0
  async function commit(): Promise<void> {
    if (changes.length === 0) return
    const result = await target.commit({ changes })
    if (!result.ok) throw new Unusable(`${target.name} could not be moved: ${JSON.stringify(result)}`)
    staged.length = 0
    changes = []
    bytes = 0
  }
  const derived = await keptOf(source, kept)
  try {
    const root = await source.find('/')
    if (root !== undefined) changes.push(...described(root, await source.properties('/')))
    for await (const resource of source.walk('/', { collections: true })) {
      const isFile = resource.kind !== 'collection'
      if (isFile) {
        site.files++
        site.bytes += resource.size
        total.files++
        total.bytes += resource.size
        if (total.files % REPORT_EVERY === 0) progress?.({ step: 'moving', done: total.files })
      }
      const there = isBegun ? await target.find(resource.path) : undefined
      if (isSame(there, resource)) {
        if (isFile) total.found++
        continue
      }
      if (isFile) {
        const put = await putOf(source, resource, to, staged)
        changes.push(withDerived(put, derived.get(resource.path)))
        if ('bytes' in put.content) bytes += put.content.bytes.length
      } else if (there === undefined) changes.push({ op: 'collection', path: resource.path })
      changes.push(...described(resource, await source.properties(resource.path)))
      if (changes.length >= AT_ONCE.changes || bytes >= AT_ONCE.bytes) await commit()
    }
    await commit()
  } finally {
    await discardAll(staged)
  }
  return site
}

function withDerived(put: Put, derived: Record<string, string> | undefined): Put {
  return put.kind === 'blob' && derived !== undefined ? { ...put, derived } : put
}

/**
 * A file as the other store is to have it; large ones are streamed there.
 *
 * @param all gets what was streamed
 */
async function putOf(source: SiteReader, resource: Resource, to: Store, all: StagedBlob[]): Promise<Put> {
  const { path, kind, digest, size, type, language } = resource
  if (kind === 'collection') throw new Error('A collection is no file')
  const body = await source.body(resource)
  if (body === undefined) throw lostBytes(path)
  const shown = shownSeconds(resource)
  const rest = { op: 'put', path, kind, type, shown, ...(language !== undefined && { language }) } as const
  const isRight = (found: string) => {
    if (found !== digest) throw lostBytes(path, new BlobChanged('The bytes have another digest'))
  }
  if ('bytes' in body) {
    isRight(hash('sha256', body.bytes))
    return { ...rest, content: { bytes: body.bytes, digest } }
  }
  const staged = await to.stage(blobStream(body.blob), { limit: size }).catch(error => {
    const cause = error instanceof StagingError ? error.cause : undefined
    if (isLost(cause)) throw lostBytes(path, cause)
    // What broke off was no client's body.
    throw cause instanceof Error ? cause : error
  })
  all.push(staged)
  isRight(staged.sha256)
  return { ...rest, content: { staged } }
}
