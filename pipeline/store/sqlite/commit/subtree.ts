/** Everything below a collection at once: taken away, moved or copied by one statement per table. */

import { endOf } from '../../paths.ts'
import { pathOf } from '../../records/rows.ts'
import { type CommitState, nextId, rowAt } from './commit-state.ts'
import { prepareCopies, TOGETHER } from './statements.ts'
import { rebuildSums } from './sums.ts'

/** Newest time of change of any member of a collection, unix milliseconds. */
export function newestWithin(state: CommitState, collection: string): number {
  return state.statements.newestBelow.get(state.site.id, collection, endOf(collection))?.modified ?? -1
}

/** The first member of a collection with a path of more than so many bytes. */
export function memberLongerThan(state: CommitState, collection: string, bytes: number): string | undefined {
  const row = state.statements.longerBelow.get(state.site.id, collection, endOf(collection), bytes)
  return row && pathOf(row)
}

/** Takes away all members; the collection's own row and sum are the caller's. */
export function removeMembers(state: CommitState, collection: string): void {
  const { statements, site, at } = state
  const below = [site.id, collection, endOf(collection)] as const
  statements.removeBodiesBelow.run(...below)
  if (statements.anySplice.get()) statements.removeSplicesBelow.run(...below)
  statements.removeDerivedBelow.run(...below)
  statements.removeEntriesBelow.run(...below)
  statements.removeEntryTextsBelow.run(...below)
  statements.removePropertiesBelow.run(...below)
  statements.leaveBlobsBelow.run(at, ...below)
  statements.removeBelow.run(...below)
}

/** The sum of a collection as it stands in its row. */
function storedSum(state: CommitState, collection: string): string | null {
  return rowAt(state, collection)?.members ?? null
}

/**
 * Moves all members; their sums go along.
 * @param seen unix milliseconds: members not newer than that get the time of the commit
 * @returns the collection's new sum when times, and thereby lines, may have changed
 */
export function moveMembers(state: CommitState, from: string, to: string, seen: number): string | null | undefined {
  const { statements, site, version, at } = state
  const changesTimes = seen >= 0 && statements.anyUntil.get(site.id, from, endOf(from), seen) !== undefined
  const below = [to, from, version, seen, Math.max(at, seen), site.id, from, endOf(from)] as const
  // Rows that leave together and come together take three quarters of the time of rows that change their places.
  if (statements.takeBelow.run(...below) <= TOGETHER) {
    statements.removeBelow.run(site.id, from, endOf(from))
    statements.putTaken.run(site.id)
  } else statements.moveBelow.run(...below)
  statements.forgetTaken.run()
  if (!changesTimes) return undefined
  rebuildSums(statements, site.id, to)
  return storedSum(state, to)
}

/**
 * Copies all members with their bytes, derived data, entries and properties.
 * @param modified unix milliseconds given to every copy
 * @param sameSecond 1 when something was served at the destination in that very second
 * @returns the sum of the new collection, whose row must exist
 */
export function copyMembers(
  state: CommitState,
  from: string,
  to: string,
  modified: number,
  sameSecond: number,
): string | null {
  const { statements, site, version, at, transaction } = state
  const { writer } = transaction
  const first = nextId(state, 0)
  const added = statements.copyBelow.run(
    to,
    from,
    first - 1,
    version,
    at,
    modified,
    sameSecond,
    site.id,
    from,
    endOf(from),
  )
  nextId(state, added)
  writer.copies ??= prepareCopies(writer.database)
  for (const statement of writer.copies) statement.run(from, to, site.id, to, endOf(to))
  rebuildSums(statements, site.id, to)
  return storedSum(state, to)
}
