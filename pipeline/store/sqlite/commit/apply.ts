/** The changes of a commit, applied in order inside a savepoint. */

import { namesCollection, splitPath } from '../../paths.ts'
import { describedRow, fileRow } from '../../records/new-rows.ts'
import { meets, refuse, removable } from '../../records/refusals.ts'
import { kindNumber, pathOf } from '../../records/rows.ts'
import { gain, markMembership, share } from '../../records/sums.ts'
import { propertyWeight } from '../../tags.ts'
import type { ChangeOf, PackedChange } from '../writer/messages.ts'
import { type CommitState, flushPendingSums, nextId, rowAt } from './commit-state.ts'
import { deriveAll, keepTold, resolve } from './contents.ts'
import { exchangeEntries } from './entries.ts'
import { addCollection, ensureCollection, exchange, insert, lastSeen, removeRow, requireParent } from './placing.ts'
import { copy, move } from './relocate.ts'
import { removeMembers } from './subtree.ts'
import { tellGone } from './tree-events.ts'

/** Applies one change. @throws Refusal when it cannot be done */
export function applyChange(state: CommitState, change: PackedChange): void {
  if (change.op === 'put') {
    put(state, change)
    return
  }
  state.put.clear()
  if (change.op === 'delete') remove(state, change)
  else if (change.op === 'collection') makeCollection(state, change)
  else if (change.op === 'move') move(state, change)
  else if (change.op === 'copy') copy(state, change)
  else if (change.op === 'derive') derive(state, change)
  else if (change.op === 'derive-below') deriveBelow(state, change)
  else describe(state, change)
}

function put(state: CommitState, change: ChangeOf<'put'>): void {
  const { statements, site, at } = state
  const { folder, name } = splitPath(change.path)
  const old = rowAt(state, change.path)
  if (old?.kind === 0) refuse('kind', change.path, old)
  if (!meets(change.expect, old)) refuse('version', change.path, old)
  if (old === undefined) {
    if (change.needsParent) requireParent(state, change.path)
    else ensureCollection(state, folder)
  }
  const kind = kindNumber(change.kind)
  const body = old?.in_file === 0 ? old.id : undefined
  const { bytes, digest, size, isSpliced = false } = resolve(state, change.content, kind, body)
  const replaced = old?.modified ?? lastSeen(state, change.path)
  const id = old?.id ?? nextId(state)
  const in_file = bytes === undefined && !isSpliced ? 1 : 0
  const row = fileRow(state, { folder, name }, old, { ...change, id, kind, digest, size, in_file, replaced })
  if (old === undefined) insert(state, row)
  else {
    statements.replace.run(
      kind,
      row.version,
      digest,
      size,
      row.type,
      row.language,
      row.modified,
      row.shown,
      row.same_second,
      row.in_file,
      site.id,
      folder,
      name,
    )
    statements.removeDerived.run(row.id)
    if (old.in_file === 1 && !(row.in_file === 1 && old.digest === digest)) statements.leaveBlob.run(at, old.digest)
  }
  if (old?.in_file === 0 && !isSpliced) keepTold(state, row.id)
  if (bytes !== undefined) statements.setBody.run(row.id, bytes)
  else if (old?.in_file === 0 && !isSpliced) {
    statements.removeBody.run(row.id)
    statements.removeSplices.run(row.id)
  }
  deriveAll(state, row.id, change.derived)
  if (old !== undefined || change.entries) exchangeEntries(state, row.id, change.entries)
  exchange(state, folder, old, row)
  state.put.set(change.path, row)
}

function remove(state: CommitState, change: ChangeOf<'delete'>): void {
  if (namesCollection(change.path)) flushPendingSums(state)
  const row = removable(change.path, change.expect, rowAt(state, change.path))
  if (change.tell !== undefined && row.kind === 0) tellGone(state, change.path, change.tell)
  if (row.folder !== '') removeRow(state, row)
  else {
    // The root itself stays, empty.
    removeMembers(state, '/')
    state.statements.member.run(null, state.site.id, '', '')
    markMembership(state.sums, '/', state.version, state.at)
  }
}

function makeCollection(state: CommitState, change: ChangeOf<'collection'>): void {
  const row = rowAt(state, change.path)
  if (row !== undefined) refuse(row.kind === 0 ? 'version' : 'kind', change.path, row)
  requireParent(state, change.path)
  addCollection(state, change.path)
}

function derive(state: CommitState, change: ChangeOf<'derive'>): void {
  const row = rowAt(state, change.path)
  if (!meets(change.expect, row)) refuse('version', change.path, row)
  if (row === undefined) refuse('missing', change.path)
  deriveAll(state, row.id, change.derived)
}

function deriveBelow(state: CommitState, { path, members, derived, dropped }: ChangeOf<'derive-below'>): void {
  for (const member of members) {
    const { id } = rowAt(state, path + member) ?? refuse('missing', path + member)
    for (const name of dropped) state.statements.dropDerived.run(id, name)
    deriveAll(state, id, derived)
  }
}

function describe(state: CommitState, change: ChangeOf<'describe'>): void {
  const { statements, site } = state
  if (namesCollection(change.path)) flushPendingSums(state)
  const row = rowAt(state, change.path)
  if (row === undefined) refuse('missing', change.path)
  if (pathOf(row) !== change.path) refuse('kind', change.path, row)
  let difference = 0n
  for (const { namespace, name } of [...change.remove, ...change.set]) {
    const value = statements.property.get(row.id, namespace, name)?.value
    if (value === undefined) continue
    difference -= propertyWeight({ namespace, name, value })
    statements.removeProperty.run(row.id, namespace, name)
  }
  for (const { namespace, name, value } of change.set) {
    const twice = statements.property.get(row.id, namespace, name)?.value
    if (twice !== undefined) difference -= propertyWeight({ namespace, name, value: twice })
    statements.setProperty.run(row.id, namespace, name, value)
    difference += propertyWeight({ namespace, name, value })
  }
  const after = describedRow(row, change, difference)
  const { properties, shown, same_second, language } = after
  statements.describe.run(properties, shown, same_second, language, site.id, row.folder, row.name)
  if (row.folder !== '') gain(state.sums, row.folder, share(after) - share(row))
}
