/** Moves and copies (DAV-48): one resource, or a collection with everything below it. */

import { namesCollection, splitPath } from '../../paths.ts'
import { sameSecondOf } from '../../records/new-rows.ts'
import { meets, Refusal, refuse } from '../../records/refusals.ts'
import { kindNumber, pathOf, type ResourceRow } from '../../records/rows.ts'
import type { ChangeOf } from '../writer/messages.ts'
import { type CommitState, flushPendingSums, nextId, rowAt } from './commit-state.ts'
import { deriveAll, inline, settle, settleBelow } from './contents.ts'
import { copyEntries, exchangeEntries } from './entries.ts'
import { exchange, insert, lastSeenWithin, removeRow, requireParent } from './placing.ts'
import { copyMembers, memberLongerThan, moveMembers, newestWithin } from './subtree.ts'
import { tellCome, tellGone, tellMove } from './tree-events.ts'

/** Checks both ends of a move or copy and takes away what stood at its destination. */
function prepare(state: CommitState, change: ChangeOf<'move'> | ChangeOf<'copy'>) {
  if (namesCollection(change.from) || rowAt(state, change.to)?.kind === 0) flushPendingSums(state)
  const source = rowAt(state, change.from)
  const fits = source !== undefined && pathOf(source) === change.from
  if (!meets(change.expect, fits ? source : undefined)) refuse('version', change.from, source)
  if (source === undefined) refuse('missing', change.from)
  if (!fits) refuse('kind', change.from, source)
  requireParent(state, change.to)
  if (source.kind === 0 && brings(change)) requireLengths(state, change)
  const replaced = rowAt(state, change.to)
  if (!meets(change.expectTo, replaced)) refuse('version', change.to, replaced)
  let seen = lastSeenWithin(state, change.to)
  if (replaced !== undefined) {
    const path = pathOf(replaced)
    // What stands there is removed first; were the source inside it, nothing would be left to put there.
    if (replaced.kind === 0 && change.from.startsWith(path)) refuse('kind', change.to, replaced)
    seen = Math.max(seen, replaced.modified, replaced.kind === 0 ? newestWithin(state, path) : -1)
    if (change.tell !== undefined && replaced.kind === 0)
      tellGone(state, path, change.tell, source.kind === 0 && brings(change) ? change.from : undefined)
    removeRow(state, replaced)
  }
  return { source, replaced, seen }
}

/** @throws Refusal when a member would come to a path that is too long */
function requireLengths(state: CommitState, { from, to, longest }: ChangeOf<'move'> | ChangeOf<'copy'>): void {
  const gain = Buffer.byteLength(to) - Buffer.byteLength(from)
  // Paths that do not grow are as long as they may be.
  const path = longest === undefined || gain <= 0 ? undefined : memberLongerThan(state, from, longest - gain)
  if (path !== undefined) throw new Refusal({ ok: false, reason: 'length', path })
}

/** Whether the members of a collection go along. */
function brings(change: ChangeOf<'move'> | ChangeOf<'copy'>): boolean {
  return change.op === 'move' || change.deep
}

/** Content, times, type, derived data and properties go along. @throws Refusal */
export function move(state: CommitState, change: ChangeOf<'move'>): void {
  const { statements, site, version, at } = state
  const { source, replaced, seen } = prepare(state, change)
  const { folder, name } = splitPath(change.to)
  if (source.kind === 0 && change.tell !== undefined) settleBelow(state, change.from)
  const tell = source.kind === 0 ? change.tell : undefined
  const tellArrival = tell && tellMove(state, change.from, change.to, tell)
  const kind = source.kind === 0 || change.kind === undefined ? source.kind : kindNumber(change.kind)
  // Times go along, unless that would turn back the time of the destination in the eyes of caches.
  const modified = source.kind !== 0 && source.modified <= seen ? Math.max(at, seen) : source.modified
  const row: ResourceRow = {
    ...source,
    folder,
    name,
    kind,
    version,
    type: source.kind === 0 ? '' : (change.type ?? source.type),
    modified,
    in_file: inline(state, source, kind),
    unlisted: state.unlisted.has(name) ? 1 : 0,
  }
  // What was true of the source stays so.
  if (row.kind !== 0) row.same_second |= sameSecondOf(row, replaced, seen)
  statements.place.run(
    folder,
    name,
    kind,
    version,
    row.type,
    modified,
    row.same_second,
    row.in_file,
    row.unlisted,
    site.id,
    source.folder,
    source.name,
  )
  if (source.kind === 0) row.members = moveMembers(state, change.from, change.to, seen) ?? row.members
  else if (change.derived !== undefined) {
    statements.removeDerived.run(row.id)
    deriveAll(state, row.id, change.derived)
    exchangeEntries(state, row.id, change.entries)
  }
  exchange(state, source.folder, source, undefined)
  exchange(state, folder, undefined, row)
  tellArrival?.()
}

/** Content, type, derived data and properties are copied; times begin anew. @throws Refusal */
export function copy(state: CommitState, change: ChangeOf<'copy'>): void {
  const { statements, version, at } = state
  const { source, replaced, seen } = prepare(state, change)
  const { folder, name } = splitPath(change.to)
  const kind = source.kind === 0 || change.kind === undefined ? source.kind : kindNumber(change.kind)
  const modified = Math.max(at, seen)
  const row: ResourceRow = {
    ...source,
    folder,
    name,
    id: nextId(state),
    kind,
    version,
    type: source.kind === 0 ? '' : (change.type ?? source.type),
    created: at,
    modified,
    shown: null,
    same_second: 0,
    members: null,
    unlisted: state.unlisted.has(name) ? 1 : 0,
  }
  const sameSecond = sameSecondOf(row, replaced, seen)
  if (row.kind !== 0) row.same_second = sameSecond
  if (source.kind === 0) settleBelow(state, change.from)
  if (source.kind !== 0 && source.in_file === 0) {
    settle(state, source.id)
    statements.copyBody.run(row.id, source.id)
  }
  if (source.in_file === 1) {
    row.in_file = inline(state, { ...source, id: row.id }, kind)
    statements.keepBlob.run(source.digest)
  }
  insert(state, row)
  if (source.properties !== null) statements.copyProperties.run(row.id, source.id)
  if (change.derived !== undefined && source.kind !== 0) {
    deriveAll(state, row.id, change.derived)
    exchangeEntries(state, row.id, change.entries)
  } else {
    statements.copyDerived.run(row.id, source.id)
    copyEntries(state, source.id, row.id)
  }
  if (source.kind === 0 && change.deep) row.members = copyMembers(state, change.from, change.to, modified, sameSecond)
  exchange(state, folder, undefined, row)
  if (source.kind === 0 && change.tell !== undefined) tellCome(state, change.to, change.tell)
}
