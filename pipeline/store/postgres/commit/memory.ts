/**
 * What a writer remembers of the tables between its transactions. It is true as long as nobody else commits, which the
 * database says when the next transaction is written: most of them have nothing to ask it before. What others have committed
 * it follows in its next turn.
 */

import { OrderedMap } from '../../../ordered-map.ts'
import { parentOf, splitPath } from '../../paths.ts'
import { allChanges } from '../../records/changes.ts'
import type { Row } from '../rows.ts'
import type { WriterSession } from '../session.ts'
import { type ChangeOf, isSimple } from './apply.ts'
import type { Place } from './flush.ts'
import type { GroupContext, WriterJob } from './group.ts'
import { nothingPending, placeKey } from './pending.ts'
import type { Known, SiteState, Transaction } from './state.ts'

/** The tables after a commit. */
export interface Memory {
  version: number
  lastId: number
  sites: Map<string, SiteState>
  /** Rows by place, those that were used last behind the others. */
  rows: OrderedMap<string, Row>
  /** Lines of the entries of files among them. */
  texts: Map<number, string>
}

/** Places that are remembered. */
const PLACES = 4096

/** Letters of entries; documents with more are read again. */
const LINES = 4096

/** What jobs need of what is remembered. */
export interface AtHand {
  known: Known
  /** Where nothing is remembered and nothing is expected: the database has to say whether that is so. */
  places: readonly Place[]
}

/** A commit that does nothing but put what is in memory. */
function putsOf(job: WriterJob): ChangeOf<'put'>[] | undefined {
  if (job.task !== 'commit') return undefined
  const { changes, guards = [], notes = [], beside } = job.commit
  if (guards.length + notes.length > 0 || beside) return undefined
  const puts = changes.filter(
    (change): change is ChangeOf<'put'> =>
      change.op === 'put' && ('bytes' in change.content || change.content.staged.bytes !== undefined),
  )
  return puts.length === changes.length ? puts : undefined
}

/** @returns undefined where the jobs need something that is not remembered */
export function atHand({ sites, rows, texts }: Memory, jobs: readonly WriterJob[]): AtHand | undefined {
  const known: Known = { rows: new Map(), texts: new Map(), seen: new Map() }
  const places: Place[] = []
  const recall = (site: number, path: string, mayBeNew: boolean): boolean => {
    const { folder, name } = splitPath(path)
    const key = placeKey(site, folder, name)
    if (known.rows.has(key)) return true
    const row = rows.get(key)
    if (row === undefined) {
      if (!mayBeNew) return false
      known.rows.set(key, null)
      known.seen.set(placeKey(site, path, ''), -1)
      places.push({ site, folder, name })
      return true
    }
    const lines = row.kind === 0 ? undefined : texts.get(row.id)
    if (row.kind !== 0 && lines === undefined) return false
    known.rows.set(key, row)
    if (lines !== undefined) known.texts.set(row.id, lines)
    return true
  }
  for (const job of jobs) {
    const [puts, site] = [putsOf(job), job.task === 'commit' ? sites.get(job.site)?.id : undefined]
    if (puts === undefined || site === undefined) return undefined
    for (const change of puts) {
      for (let above = parentOf(change.path); above !== ''; above = parentOf(above))
        if (!recall(site, above, false)) return undefined
      if (!recall(site, change.path, change.expect === 'absent')) return undefined
    }
  }
  return { known, places }
}

/** Something is needed that was not at hand. */
export class NotAtHand extends Error {}

const nobody = () => Promise.reject(new NotAtHand())
const NOBODY: WriterSession = { rows: nobody, row: nobody, copy: nobody, run: nobody, call: nobody }

/** A transaction that has nobody to ask. It leaves what is remembered as it is. @param jobs of sites that are remembered */
export function beginFromMemory(
  { version, lastId, sites }: Memory,
  known: Known,
  jobs: readonly WriterJob[],
  { origin, grew }: Pick<GroupContext, 'origin' | 'grew'>,
): Transaction {
  const own = new Map<string, SiteState>()
  for (const job of jobs) {
    const site = 'site' in job && !own.has(job.site) ? sites.get(job.site) : undefined
    if (site) own.set(site.name, { ...site, sums: new Map(), known: new Set(), counters: new Map(site.counters) })
  }
  return { session: NOBODY, origin, grew, version, lastId, sites: own, known, pending: nothingPending() }
}

/** Remembers what stands at a place. @param lines of its entries; not needed of collections */
function keepRow({ rows, texts }: Memory, key: string, row: Row | null, lines: string | undefined): void {
  const old = rows.get(key)
  if (old !== undefined && old.id !== row?.id) texts.delete(old.id)
  if (row === null) {
    rows.delete(key)
    return
  }
  if (row.kind !== 0 && (lines === undefined || lines.length > LINES)) {
    rows.delete(key)
    texts.delete(row.id)
    return
  }
  rows.set(key, row)
  if (row.kind !== 0 && lines !== undefined) texts.set(row.id, lines)
}

function letGo({ rows, texts }: Memory): void {
  for (const [key, { id }] of rows) {
    if (rows.size <= PLACES) return
    rows.delete(key)
    texts.delete(id)
  }
}

/** What others have left: the tables as they stand now at all places that have changed. */
export interface Left extends Pick<Transaction, 'version' | 'lastId' | 'sites' | 'known'> {}

/** Has what is remembered follow what others have committed. */
export function follow(memory: Memory, { version, lastId, sites, known }: Left): void {
  memory.version = version
  memory.lastId = lastId
  for (const [name, site] of sites) memory.sites.set(name, site)
  for (const [key, row] of known.rows) keepRow(memory, key, row, row === null ? undefined : known.texts.get(row.id))
  letGo(memory)
}

/**
 * What is known after a transaction that was committed.
 *
 * @param before what was known when it began; it is changed
 * @returns undefined when it has changed tables directly
 */
export function remember(
  before: Memory | undefined,
  { version, lastId, sites, known }: Transaction,
  jobs: readonly WriterJob[],
): Memory | undefined {
  const memory: Memory = before ?? { version, lastId, sites: new Map(), rows: new OrderedMap(), texts: new Map() }
  memory.version = version
  memory.lastId = lastId
  for (const job of jobs) {
    if (job.task !== 'commit') continue
    const { guards = [] } = job.commit
    if (guards.length > 0 || !allChanges(job.commit).every(isSimple)) return undefined
    // Of sites that nobody commits to, counters were not read.
    const site = sites.get(job.site)
    if (site !== undefined) memory.sites.set(job.site, site)
  }
  for (const [key, row] of known.rows) keepRow(memory, key, row, row === null ? undefined : known.texts.get(row.id))
  letGo(memory)
  return memory
}
