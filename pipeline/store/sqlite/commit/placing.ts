/** How resources come into collections and go out of them, and what that leaves to be summed up. */

import { endOf, namesCollection, parentOf, splitPath } from '../../paths.ts'
import { collectionRow } from '../../records/new-rows.ts'
import { refuse } from '../../records/refusals.ts'
import { pathOf, type ResourceRow } from '../../records/rows.ts'
import { gain, markMembership, share } from '../../records/sums.ts'
import { placeOf } from '../bundles.ts'
import { type CommitState, nextId, rowAt } from './commit-state.ts'
import { removeEntries } from './entries.ts'
import { removeMembers } from './subtree.ts'

/** Unix milliseconds up to which versions of a path are known to have been served although nothing stands there now. */
export function lastSeen(state: CommitState, path: string): number {
  const { statements, site } = state
  const { ms } = statements.newestEvent.get(site.id, path, ...placeOf(path)) ?? {}
  return ms ?? statements.newestDropped.get(site.id, path)?.ms ?? -1
}

/** As `lastSeen`, for a collection the newest of everything that ever stood below it. */
export function lastSeenWithin(state: CommitState, path: string): number {
  if (!namesCollection(path)) return lastSeen(state, path)
  return state.statements.newestEventBelow.get(state.site.id, path, endOf(path))?.ms ?? -1
}

/** Notes that a member's line or existence changed in its collection. */
export function exchange(
  state: CommitState,
  folder: string,
  before: ResourceRow | undefined,
  after: ResourceRow | undefined,
): void {
  gain(state.sums, folder, (after === undefined ? 0n : share(after)) - (before === undefined ? 0n : share(before)))
  if (before === undefined || after === undefined) markMembership(state.sums, folder, state.version, state.at)
}

/** Adds a row; its collection is told by `exchange`. */
export function insert(state: CommitState, row: ResourceRow): void {
  state.statements.insert.run(
    state.site.id,
    row.folder,
    row.name,
    row.id,
    row.kind,
    row.version,
    row.digest,
    row.size,
    row.type,
    row.language,
    row.created,
    row.modified,
    row.shown,
    row.same_second,
    row.properties,
    row.members,
    row.in_file,
    row.unlisted,
  )
}

/** Adds an empty collection; also the root when a site is founded. */
export function addCollection(state: CommitState, path: string): void {
  const { folder, name } = splitPath(path)
  const row = collectionRow(state, { folder, name }, nextId(state))
  insert(state, row)
  state.known.add(path)
  if (folder !== '') exchange(state, folder, undefined, row)
}

/** Makes the collections that are missing on the way to a member (DAV-14). @throws Refusal where a file stands in the way */
export function ensureCollection(state: CommitState, path: string): void {
  if (state.known.has(path) || state.site.known.has(path)) return
  const row = rowAt(state, path)
  if (row === undefined) {
    ensureCollection(state, parentOf(path))
    addCollection(state, path)
  } else if (row.kind !== 0) refuse('kind', pathOf(row), row)
  else state.known.add(path)
}

/** For changes that do not make missing collections. @throws Refusal naming the parent, or the file in its place */
export function requireParent(state: CommitState, path: string): void {
  const parent = parentOf(path)
  if (state.known.has(parent) || state.site.known.has(parent)) return
  for (let above = parent; ; above = parentOf(above)) {
    const row = rowAt(state, above)
    if (row !== undefined && row.kind !== 0) refuse('kind', pathOf(row), row)
    if (row !== undefined && above !== parent) refuse('missing', parent)
    if (row !== undefined || above === '/') break
  }
  state.known.add(parent)
}

/** Takes away whatever a row describes. */
export function removeRow(state: CommitState, row: ResourceRow): void {
  const { statements, site, at } = state
  const path = pathOf(row)
  if (row.kind === 0) removeMembers(state, path)
  else if (row.in_file === 1) statements.leaveBlob.run(at, row.digest)
  else {
    statements.removeBody.run(row.id)
    statements.removeSplices.run(row.id)
  }
  statements.removeDerived.run(row.id)
  removeEntries(state, row.id)
  if (row.properties !== null) statements.removeProperties.run(row.id)
  statements.remove.run(site.id, row.folder, row.name)
  exchange(state, row.folder, row, undefined)
}
