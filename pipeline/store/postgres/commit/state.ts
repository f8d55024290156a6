/**
 * A transaction and the commits in it. What was read stays at hand, and what is to be written waits in `Pending`, so that
 * most commits talk to the database only at the beginning and at the end of their transaction, all of them together.
 */

import { parentOf, splitPath } from '../../paths.ts'
import type { EventLimits } from '../../records/events.ts'
import { pathOf, resourceOf } from '../../records/rows.ts'
import { gain, mergeSums, type Sums, share } from '../../records/sums.ts'
import type { Resource } from '../../resource.ts'
import { addTo, ZERO } from '../../tags.ts'
import { COLUMNS, type Row, rowOf } from '../rows.ts'
import type { WriterSession } from '../session.ts'
import { unpack } from '../text.ts'
import { flush } from './flush.ts'
import { nothingPending, type Pending, placeKey } from './pending.ts'

/** A site within a transaction. */
export interface SiteState {
  id: number
  name: string
  ms: number
  seq: number
  /** What its collections have to gain. */
  sums: Sums
  /** Collections seen to exist. */
  known: Set<string>
  counters: Map<string, number>
}

/** What was read of the database and still stands there, but for what is pending. */
export interface Known {
  rows: Map<string, Row | null>
  /** Lines of entries by resource. */
  texts: Map<number, string>
  /** Times of the last events, by `placeKey`. */
  seen: Map<string, number>
}

export interface Transaction {
  session: WriterSession
  origin: string
  version: number
  /** Highest number of a resource, body or site that was ever given out. */
  lastId: number
  sites: Map<string, SiteState>
  known: Known
  pending: Pending
  grew(site: number, path: string, bytes: number, limits?: EventLimits, count?: number): void
}

/** One commit on its way. */
export interface CommitState {
  transaction: Transaction
  session: WriterSession
  site: SiteState
  version: number
  at: number
  unlisted: ReadonlySet<string>
  sums: Sums
  known: Set<string>
  pending: Pending
  counters: Map<string, number>
  ms: number
  seq: number
  limits: EventLimits | undefined
  /** Uploads in chunks of blobs that are in objects and become documents, by digest. */
  chunks: ReadonlyMap<string, string> | undefined
  /** Statements may find what is pending only in tables: set inside a savepoint. */
  isDirect: boolean
}

/** A commit, or less than one, with nothing noted for it yet. @param at unix milliseconds */
export function newState(transaction: Transaction, site: SiteState, version: number, at: number): CommitState {
  return {
    transaction,
    session: transaction.session,
    site,
    version,
    at,
    unlisted: new Set(),
    sums: new Map(),
    known: new Set(),
    pending: nothingPending(),
    counters: new Map(),
    ms: site.ms,
    seq: site.seq,
    limits: undefined,
    chunks: undefined,
    isDirect: false,
  }
}

/** The row at a place, whatever its kind, as the changes so far have it. */
export async function rowAt(state: CommitState, path: string): Promise<Row | undefined> {
  const { folder, name } = splitPath(path)
  return rowIn(state.transaction, state.pending, state.site.id, folder, name)
}

/** @param own what the commit has to write itself */
async function rowIn(
  transaction: Transaction,
  own: Pending,
  site: number,
  folder: string,
  name: string,
): Promise<Row | undefined> {
  const key = placeKey(site, folder, name)
  const placed = own.rows.get(key) ?? transaction.pending.rows.get(key)
  if (placed !== undefined) return placed.row ?? undefined
  const { rows } = transaction.known
  const known = rows.get(key)
  if (known !== undefined) return known ?? undefined
  const read = await transaction.session.row<Row>(
    `SELECT ${COLUMNS} FROM resource r WHERE site = $1 AND folder = $2 AND name = $3`,
    site,
    folder,
    name,
  )
  const row = read === undefined ? null : rowOf(read)
  rows.set(key, row)
  return row ?? undefined
}

/** Has what stands at many places be known, by one question. */
export async function readRows({ transaction, site, session }: CommitState, paths: readonly string[]): Promise<void> {
  const { rows } = transaction.known
  const places = paths.map(splitPath).filter(({ folder, name }) => !rows.has(placeKey(site.id, folder, name)))
  const read = await session.rows<Row>(
    `SELECT ${COLUMNS} FROM resource r WHERE site = $1
     AND (folder, name) IN (SELECT * FROM unnest($2::text[], $3::text[]))`,
    site.id,
    places.map(({ folder }) => folder),
    places.map(({ name }) => name),
  )
  for (const row of read.map(rowOf)) rows.set(placeKey(site.id, row.folder, row.name), row)
}

/** The resource of exactly this path: `/a` finds no collection and `/a/` no file. */
export async function resourceAt(state: CommitState, path: string): Promise<Resource | undefined> {
  const row = await rowAt(state, path)
  return row !== undefined && pathOf(row) === path ? resourceOf(row) : undefined
}

/** Writes a row at its place. */
export function setRow(pending: Pending, site: number, row: Row): void {
  const { folder, name } = row
  pending.rows.set(placeKey(site, folder, name), { site, folder, name, row })
}

/** Empties a place. */
export function clearRow(pending: Pending, site: number, { folder, name }: Pick<Row, 'folder' | 'name'>): void {
  pending.rows.set(placeKey(site, folder, name), { site, folder, name, row: null })
}

/** Lines of the entries of a resource; empty without entries. */
export async function textOf(state: CommitState, id: number): Promise<string> {
  const { transaction, pending } = state
  for (const { texts } of [pending, transaction.pending]) {
    const lines = texts.get(id)
    if (lines !== undefined) return lines ?? ''
  }
  const known = transaction.known.texts.get(id)
  if (known !== undefined) return known
  const row = await state.session.row<{ lines: string }>('SELECT lines FROM entry_text WHERE id = $1', id)
  const lines = row === undefined ? '' : unpack(row.lines)
  transaction.known.texts.set(id, lines)
  return lines
}

/** Numbers for new resources and bodies: the first of so many. */
export function nextId(transaction: Transaction, count = 1): number {
  const id = transaction.lastId + 1
  transaction.lastId += count
  return id
}

/** Nothing that was read counts any more: statements have changed tables behind its back. */
export function forgetRead({ known }: Transaction): void {
  known.rows.clear()
  known.texts.clear()
  known.seen.clear()
}

/** Has what is to be written be known. */
export function noteWritten({ known }: Pick<Transaction, 'known'>, pending: Pending): void {
  for (const [key, { row }] of pending.rows) known.rows.set(key, row)
  for (const [id, lines] of pending.texts) known.texts.set(id, lines ?? '')
}

/** Writes what is pending into the tables. Places that were written are known afterwards. */
export async function writeOut(transaction: Transaction, pending: Pending): Promise<void> {
  noteWritten(transaction, pending)
  await Promise.all(flush(transaction.session, pending, transaction.origin))
}

/** Has statements find everything that the commit has changed so far: rows and sums. */
export async function settleTables(state: CommitState): Promise<void> {
  await flushSums(state.transaction, state.pending, state.site.id, state.sums)
  state.known.clear()
  await writeOut(state.transaction, state.pending)
}

/** The same for everything that the commits before have changed, so that a savepoint divides it from what follows. */
export async function settleTransaction(transaction: Transaction): Promise<void> {
  await settleSums(transaction)
  await writeOut(transaction, transaction.pending)
}

/** Puts the sums of all sites into their rows. */
export async function settleSums(transaction: Transaction): Promise<void> {
  for (const site of transaction.sites.values()) {
    await flushSums(transaction, transaction.pending, site.id, site.sums)
    site.known.clear()
  }
}

/** Puts everything pending in a site's sums into its rows, deepest collections first, and forgets it. */
export async function flushSums(transaction: Transaction, own: Pending, site: number, sums: Sums): Promise<void> {
  const paths = new Set<string>()
  for (const touched of sums.keys()) {
    for (let path = touched; path !== '' && !paths.has(path); path = parentOf(path)) paths.add(path)
  }
  // A collection is longer than those above it, so its own line is final before they are summed up.
  for (const path of [...paths].sort((a, b) => b.length - a.length)) {
    const pending = sums.get(path)
    if (pending === undefined || (pending.gain === 0n && pending.version === 0)) continue
    const { folder, name } = splitPath(path)
    const row = await rowIn(transaction, own, site, folder, name)
    if (row === undefined || row.kind !== 0) continue
    const members = addTo(row.members ?? ZERO, pending.gain)
    const after: Row = { ...row, members: members === ZERO ? null : members }
    if (pending.version > 0) {
      after.modified = Math.max(row.modified, pending.modified)
      after.version = Math.max(row.version, pending.version)
    }
    setRow(own, site, after)
    if (folder !== '' && pending.gain !== 0n) gain(sums, folder, share(after) - share(row))
  }
  sums.clear()
}

/** The rows of collections that a commit named, with their sums as they are after it. */
export async function foldSums(state: CommitState): Promise<void> {
  const { site, transaction, pending } = state
  const sums: Sums = new Map()
  mergeSums(sums, site.sums)
  mergeSums(sums, state.sums)
  await flushSums(transaction, pending, site.id, sums)
  site.sums = new Map()
  state.sums = new Map()
}
