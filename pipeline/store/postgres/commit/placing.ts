/** How resources come into collections and go out of them, and what that leaves to be summed up. */

import { endOf, namesCollection, parentOf, splitPath } from '../../paths.ts'
import { collectionRow } from '../../records/new-rows.ts'
import { refuse } from '../../records/refusals.ts'
import { pathOf } from '../../records/rows.ts'
import { gain, markMembership, share } from '../../records/sums.ts'
import type { Row } from '../rows.ts'
import { dropEntries } from './entries.ts'
import { freeBody, placeKey, setDerived, useBlob } from './pending.ts'
import { type CommitState, clearRow, nextId, rowAt, setRow } from './state.ts'
import { removeMembers } from './subtree.ts'

/** Newest time of an event at a path, kept or not. */
const LAST_SEEN = `coalesce(
  (SELECT ms FROM event WHERE event.site = $SITE AND event.path = $PATH ORDER BY ms DESC, seq DESC LIMIT 1),
  (SELECT ms FROM dropped WHERE dropped.site = $SITE AND dropped.path = $PATH))`

/** The same for given columns or parameters. */
function lastSeenSql(site: string, path: string): string {
  return LAST_SEEN.replaceAll('$SITE', site).replaceAll('$PATH', path)
}

/** Unix milliseconds up to which versions of a path are known to have been served although nothing stands there now. */
export async function lastSeen(state: CommitState, path: string): Promise<number> {
  const { transaction, site, pending, session } = state
  const newest = [...transaction.pending.events, ...pending.events].findLast(
    event => event.site === site.id && event.path === path,
  )
  if (newest !== undefined) return newest.ms
  const { seen } = transaction.known
  const key = placeKey(site.id, path, '')
  const known = seen.get(key)
  if (known !== undefined) return known
  const row = await session.row<{ ms: number | null }>(`SELECT ${lastSeenSql('$1', '$2')} AS ms`, site.id, path)
  const ms = row?.ms ?? -1
  seen.set(key, ms)
  return ms
}

/** As `lastSeen`, for a collection the newest of everything that ever stood below it. */
export async function lastSeenWithin(state: CommitState, path: string): Promise<number> {
  if (!namesCollection(path)) return lastSeen(state, path)
  // A sum, of which no index knows the largest: the database would look for one below the path among all of the site, or of all sites.
  const row = await state.session.row<{ ms: number | null }>(
    `SELECT greatest((SELECT max(ms + 0) FROM event WHERE site = $1 AND path >= $2 AND path < $3),
       (SELECT max(ms + 0) FROM dropped WHERE site = $1 AND path >= $2 AND path < $3)) AS ms`,
    state.site.id,
    path,
    endOf(path),
  )
  return row?.ms ?? -1
}

/** Notes that a member's line or existence changed in its collection. */
export function exchange(state: CommitState, folder: string, before: Row | undefined, after: Row | undefined): void {
  gain(state.sums, folder, (after === undefined ? 0n : share(after)) - (before === undefined ? 0n : share(before)))
  if (before === undefined || after === undefined) markMembership(state.sums, folder, state.version, state.at)
}

/** Adds an empty collection; also the root when a site is founded. */
export function addCollection(state: CommitState, path: string): void {
  const { folder, name } = splitPath(path)
  const row: Row = { ...collectionRow(state, { folder, name }, nextId(state.transaction)), body: null }
  setRow(state.pending, state.site.id, row)
  state.known.add(path)
  if (folder !== '') exchange(state, folder, undefined, row)
}

/** Makes the collections that are missing on the way to a member (DAV-14). @throws Refusal where a file stands in the way */
export async function ensureCollection(state: CommitState, path: string): Promise<void> {
  if (state.known.has(path) || state.site.known.has(path)) return
  const row = await rowAt(state, path)
  if (row === undefined) {
    await ensureCollection(state, parentOf(path))
    addCollection(state, path)
  } else if (row.kind !== 0) refuse('kind', pathOf(row), row)
  else state.known.add(path)
}

/** For changes that do not make missing collections. @throws Refusal naming the parent, or the file in its place */
export async function requireParent(state: CommitState, path: string): Promise<void> {
  const parent = parentOf(path)
  if (state.known.has(parent) || state.site.known.has(parent)) return
  for (let above = parent; ; above = parentOf(above)) {
    const row = await rowAt(state, above)
    if (row !== undefined && row.kind !== 0) refuse('kind', pathOf(row), row)
    if (row !== undefined && above !== parent) refuse('missing', parent)
    if (row !== undefined || above === '/') break
  }
  state.known.add(parent)
}

/** Gives up the bytes of a row. */
export function leaveBytes(state: CommitState, row: Row): void {
  if (row.in_file === 1) useBlob(state.pending, row.digest, { use: 'leave', at: state.at })
  else if (row.body !== null) freeBody(state.pending, row.body)
}

/** Takes away whatever a row describes. Inside a savepoint where it is a collection. */
export async function removeRow(state: CommitState, row: Row): Promise<void> {
  const { site, pending } = state
  const path = pathOf(row)
  if (row.kind === 0) await removeMembers(state, path)
  else leaveBytes(state, row)
  setDerived(pending, row.id, { site: site.id, values: new Map(), whole: true })
  await dropEntries(state, row.id)
  if (row.properties !== null) pending.undescribed.add(row.id)
  clearRow(pending, site.id, row)
  exchange(state, row.folder, row, undefined)
}
