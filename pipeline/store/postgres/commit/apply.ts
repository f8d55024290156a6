/** The changes of a commit, applied in order. */

import { setImmediate } from 'node:timers/promises'
import type { Change } from '../../commit.ts'
import { packEntries } from '../../packed-entries.ts'
import { namesCollection, splitPath } from '../../paths.ts'
import { describedRow, fileRow } from '../../records/new-rows.ts'
import { meets, refuse, removable } from '../../records/refusals.ts'
import { kindNumber, pathOf } from '../../records/rows.ts'
import { gain, markMembership, share } from '../../records/sums.ts'
import type { Property } from '../../resource.ts'
import { propertyWeight } from '../../tags.ts'
import type { Row } from '../rows.ts'
import { pack, unpack } from '../text.ts'
import { deriveAll, resolve } from './contents.ts'
import { exchangeEntries } from './entries.ts'
import { addCollection, ensureCollection, exchange, lastSeen, leaveBytes, removeRow, requireParent } from './placing.ts'
import { copy, move } from './relocate.ts'
import { type CommitState, nextId, readRows, rowAt, setRow, settleTables } from './state.ts'
import { removeMembers } from './subtree.ts'
import { tellGone } from './tree-events.ts'

/** A change of one kind. */
export type ChangeOf<Op extends Change['op']> = Extract<Change, { op: Op }>

/**
 * Whether a change can be carried out on what was read before it, without looking into tables that pending changes are
 * still to reach.
 */
export function isSimple(change: Change): boolean {
  if (change.op === 'put' || change.op === 'derive' || change.op === 'collection') return true
  return change.op === 'delete' && !namesCollection(change.path)
}

/** Applies one change. @throws Refusal when it cannot be done */
export async function applyChange(state: CommitState, change: Change): Promise<void> {
  if (change.op === 'put') await put(state, change)
  else if (change.op === 'delete') await remove(state, change)
  else if (change.op === 'collection') await makeCollection(state, change)
  else if (change.op === 'move') await move(state, change)
  else if (change.op === 'copy') await copy(state, change)
  else if (change.op === 'derive') await derive(state, change)
  else if (change.op === 'derive-below') await deriveBelow(state, change)
  else await describe(state, change)
}

async function put(state: CommitState, change: ChangeOf<'put'>): Promise<void> {
  const { site, pending, transaction } = state
  const { folder, name } = splitPath(change.path)
  const old = await rowAt(state, change.path)
  if (old?.kind === 0) refuse('kind', change.path, old)
  if (!meets(change.expect, old)) refuse('version', change.path, old)
  if (old === undefined)
    await (change.needsParent ? requireParent(state, change.path) : ensureCollection(state, folder))
  const kind = kindNumber(change.kind)
  if (old !== undefined) leaveBytes(state, old)
  const { body, digest, size } = resolve(state, change.content, kind)
  const replaced = old?.modified ?? (await lastSeen(state, change.path))
  const id = old?.id ?? nextId(transaction)
  const in_file = body === undefined ? 1 : 0
  const row: Row = {
    ...fileRow(state, { folder, name }, old, { ...change, id, kind, digest, size, in_file, replaced }),
    body: body === undefined ? null : nextId(transaction),
  }
  if (body !== undefined && row.body !== null) pending.bodies.set(row.body, body)
  setRow(pending, site.id, row)
  // A number that was never used has no derived data that would have to go, and no entries to be looked up.
  if (old !== undefined || change.derived !== undefined) deriveAll(state, row.id, change.derived, old !== undefined)
  if (old === undefined) transaction.known.texts.set(row.id, '')
  await exchangeEntries(state, row.id, packEntries(change.entries ?? []))
  exchange(state, folder, old, row)
}

async function remove(state: CommitState, change: ChangeOf<'delete'>): Promise<void> {
  if (namesCollection(change.path)) await settleTables(state)
  const row = removable(change.path, change.expect, await rowAt(state, change.path))
  if (change.tell !== undefined && row.kind === 0) await tellGone(state, change.path, change.tell)
  if (row.folder !== '') await removeRow(state, row)
  else {
    // The root itself stays, empty.
    await removeMembers(state, '/')
    setRow(state.pending, state.site.id, { ...row, members: null })
    markMembership(state.sums, '/', state.version, state.at)
  }
}

async function makeCollection(state: CommitState, change: ChangeOf<'collection'>): Promise<void> {
  const row = await rowAt(state, change.path)
  if (row !== undefined) refuse(row.kind === 0 ? 'version' : 'kind', change.path, row)
  await requireParent(state, change.path)
  addCollection(state, change.path)
}

async function derive(state: CommitState, change: ChangeOf<'derive'>): Promise<void> {
  const row = await rowAt(state, change.path)
  if (!meets(change.expect, row)) refuse('version', change.path, row)
  if (row === undefined) refuse('missing', change.path)
  deriveAll(state, row.id, change.derived, false)
}

/** Files of which it is noted without a pause what is derived of them. */
const MEMBERS_PER_TURN = 2000

async function deriveBelow(state: CommitState, change: ChangeOf<'derive-below'>): Promise<void> {
  const paths = change.members.map(member => change.path + member)
  await settleTables(state)
  await readRows(state, paths)
  const ids: number[] = []
  for (const path of paths) {
    if (ids.length % MEMBERS_PER_TURN === MEMBERS_PER_TURN - 1) await setImmediate()
    ids.push(((await rowAt(state, path)) ?? refuse('missing', path)).id)
  }
  await state.session.run(
    'DELETE FROM derived WHERE id = ANY($1::bigint[]) AND name = ANY($2::text[])',
    ids.map(String),
    [...change.dropped],
  )
  for (const [i, id] of ids.entries()) {
    if (i % MEMBERS_PER_TURN === MEMBERS_PER_TURN - 1) await setImmediate()
    deriveAll(state, id, change.derived, false)
  }
}

/** Dead properties of a resource as they stand, by namespace and name. */
async function propertiesOf(state: CommitState, row: Row): Promise<Map<string, Property>> {
  if (row.properties === null) return new Map()
  const rows = await state.session.rows<Property>(
    'SELECT namespace, name, value FROM property WHERE id = $1 ORDER BY namespace, name',
    row.id,
  )
  const unpacked = rows.map(each => ({
    namespace: unpack(each.namespace),
    name: unpack(each.name),
    value: unpack(each.value),
  }))
  return new Map(unpacked.map(each => [keyOfProperty(each), each]))
}

const keyOfProperty = ({ namespace, name }: Pick<Property, 'namespace' | 'name'>) => JSON.stringify([namespace, name])

async function describe(state: CommitState, change: ChangeOf<'describe'>): Promise<void> {
  const { site, session, pending } = state
  await settleTables(state)
  const row = await rowAt(state, change.path)
  if (row === undefined) refuse('missing', change.path)
  if (pathOf(row) !== change.path) refuse('kind', change.path, row)
  const before = await propertiesOf(state, row)
  const after = new Map(before)
  for (const property of change.remove) after.delete(keyOfProperty(property))
  for (const property of change.set) after.set(keyOfProperty(property), property)
  const difference =
    [...after.values()].reduce((sum, each) => sum + propertyWeight(each), 0n) -
    [...before.values()].reduce((sum, each) => sum + propertyWeight(each), 0n)
  await session.run('DELETE FROM property WHERE id = $1', row.id)
  const written = [...after.values()].map(({ namespace, name, value }) => ({
    id: row.id,
    namespace: pack(namespace),
    name: pack(name),
    value: pack(value),
  }))
  await session.run(
    `INSERT INTO property (id, namespace, name, value) SELECT id, namespace, name, value
     FROM json_populate_recordset(NULL::property, $1::json)`,
    JSON.stringify(written),
  )
  const described = describedRow(row, change, difference)
  setRow(pending, site.id, described)
  if (row.folder !== '') gain(state.sums, row.folder, share(described) - share(row))
}
