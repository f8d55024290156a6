/** Moves and copies (DAV-48): one resource, or a collection with everything below it. Always inside a savepoint. */

import { DERIVATION } from '../../derivation.ts'
import { StoreError } from '../../errors.ts'
import { packEntries } from '../../packed-entries.ts'
import { splitPath } from '../../paths.ts'
import { sameSecondOf } from '../../records/new-rows.ts'
import { meets, Refusal, refuse } from '../../records/refusals.ts'
import { kindNumber, pathOf } from '../../records/rows.ts'
import type { Row } from '../rows.ts'
import type { Session } from '../session.ts'
import type { ChangeOf } from './apply.ts'
import { deriveAll } from './contents.ts'
import { exchangeEntries } from './entries.ts'
import { useBlob } from './pending.ts'
import { exchange, lastSeenWithin, removeRow, requireParent } from './placing.ts'
import { type CommitState, clearRow, nextId, rowAt, setRow, settleTables, writeOut } from './state.ts'
import { copyMembers, memberLongerThan, moveMembers, newestWithin } from './subtree.ts'
import { tellCome, tellGone } from './tree-events.ts'

type Transfer = ChangeOf<'move'> | ChangeOf<'copy'>

const DOCUMENT = kindNumber('document')

/** Checks both ends of a move or copy and takes away what stood at its destination. */
async function prepare(state: CommitState, change: Transfer) {
  await settleTables(state)
  const source = await rowAt(state, change.from)
  const fits = source !== undefined && pathOf(source) === change.from
  if (!meets(change.expect, fits ? source : undefined)) refuse('version', change.from, source)
  if (source === undefined) refuse('missing', change.from)
  if (!fits) refuse('kind', change.from, source)
  await requireParent(state, change.to)
  if (source.kind === 0 && brings(change)) await requireLengths(state, change)
  const replaced = await rowAt(state, change.to)
  if (!meets(change.expectTo, replaced)) refuse('version', change.to, replaced)
  let seen = await lastSeenWithin(state, change.to)
  if (replaced !== undefined) {
    const path = pathOf(replaced)
    // What stands there is removed first; were the source inside it, nothing would be left to put there.
    if (replaced.kind === 0 && change.from.startsWith(path)) refuse('kind', change.to, replaced)
    seen = Math.max(seen, replaced.modified, replaced.kind === 0 ? await newestWithin(state, path) : -1)
    if (change.tell !== undefined && replaced.kind === 0)
      await tellGone(state, path, change.tell, source.kind === 0 && brings(change) ? change.from : undefined)
    await removeRow(state, replaced)
  }
  return { source, replaced, seen }
}

/** @throws Refusal when a member would come to a path that is too long */
async function requireLengths(state: CommitState, { from, to, longest }: Transfer): Promise<void> {
  const gain = Buffer.byteLength(to) - Buffer.byteLength(from)
  // Paths that do not grow are as long as they may be.
  const path = longest === undefined || gain <= 0 ? undefined : await memberLongerThan(state, from, longest - gain)
  if (path !== undefined) throw new Refusal({ ok: false, reason: 'length', path })
}

/** Whether the members of a collection go along. */
function brings(change: Transfer): boolean {
  return change.op === 'move' || change.deep
}

/** @throws StoreError of reason `busy` for a blob in an object: one that was not there when the commit was made ready */
async function uploadInChunks(session: Session, digest: string): Promise<string> {
  const row = await session.row<{ upload: string; object: boolean }>(
    'SELECT upload, EXISTS (SELECT 1 FROM object WHERE id = upload) AS object FROM blob WHERE digest = $1',
    digest,
  )
  if (row === undefined) throw new StoreError('failed', 'A blob is gone')
  if (row.object) throw new StoreError('busy', 'A blob in an object came meanwhile')
  return row.upload
}

/** Brings the bytes of a blob into a body when it becomes a document. @returns where the bytes are afterwards */
async function inline(state: CommitState, source: Row, kind: number): Promise<Pick<Row, 'body' | 'in_file'>> {
  const { session, transaction, pending, chunks } = state
  if (kind !== DOCUMENT || source.in_file === 0) return { body: source.body, in_file: source.in_file }
  await writeOut(transaction, pending)
  const given = chunks?.get(source.digest)
  const upload = given ?? (await uploadInChunks(session, source.digest))
  const body = nextId(transaction)
  await session.run(
    `INSERT INTO body (id, bytes) SELECT $1::bigint, coalesce(string_agg(bytes, ''::bytea ORDER BY seq), ''::bytea)
     FROM chunk WHERE upload = $2::uuid`,
    body,
    upload,
  )
  return { body, in_file: 0 }
}

/** Content, times, type, derived data and properties go along. @throws Refusal */
export async function move(state: CommitState, change: ChangeOf<'move'>): Promise<void> {
  const { site, version, at, pending } = state
  const { source, replaced, seen } = await prepare(state, change)
  const { folder, name } = splitPath(change.to)
  const tell = source.kind === 0 ? change.tell : undefined
  if (tell !== undefined) await tellGone(state, change.from, tell)
  const kind = source.kind === 0 || change.kind === undefined ? source.kind : kindNumber(change.kind)
  const bytes = await inline(state, source, kind)
  if (source.in_file === 1 && bytes.in_file === 0) useBlob(pending, source.digest, { use: 'leave', at })
  const row: Row = {
    ...source,
    ...bytes,
    folder,
    name,
    kind,
    version,
    type: source.kind === 0 ? '' : (change.type ?? source.type),
    // Times go along, unless that would turn back the time of the destination in the eyes of caches.
    modified: source.kind !== 0 && source.modified <= seen ? Math.max(at, seen) : source.modified,
    unlisted: state.unlisted.has(name) ? 1 : 0,
  }
  // What was true of the source stays so.
  if (row.kind !== 0) row.same_second |= sameSecondOf(row, replaced, seen)
  clearRow(pending, site.id, source)
  setRow(pending, site.id, row)
  let moved = row
  if (source.kind === 0)
    moved = { ...row, members: (await moveMembers(state, change.from, change.to, seen)) ?? row.members }
  else if (change.derived !== undefined) {
    deriveAll(state, row.id, change.derived, true)
    await exchangeEntries(state, row.id, packEntries(change.entries ?? []))
  }
  exchange(state, source.folder, source, undefined)
  exchange(state, folder, undefined, moved)
  if (tell !== undefined) await tellCome(state, change.to, tell)
}

/** What hangs on a resource and is copied with it. */
async function copyHanging(state: CommitState, from: Row, to: Row, withDerived: boolean): Promise<void> {
  const { session, site } = state
  const jobs: Promise<unknown>[] = []
  if (from.in_file === 0 && from.body !== null)
    jobs.push(
      session.run('INSERT INTO body (id, bytes) SELECT $1::bigint, bytes FROM body WHERE id = $2', to.body, from.body),
    )
  if (from.properties !== null)
    jobs.push(
      session.run(
        `INSERT INTO property (id, namespace, name, value) SELECT $1::bigint, namespace, name, value
         FROM property WHERE id = $2`,
        to.id,
        from.id,
      ),
    )
  if (withDerived)
    jobs.push(
      session.run(
        `INSERT INTO derived (id, name, site, value, derivation)
         SELECT $1::bigint, name, $3::bigint, value, ${DERIVATION} FROM derived WHERE id = $2`,
        to.id,
        from.id,
        site.id,
      ),
      session.run(
        'INSERT INTO entry_text (id, lines) SELECT $1::bigint, lines FROM entry_text WHERE id = $2',
        to.id,
        from.id,
      ),
      session.run(
        'INSERT INTO entry (site, key, id, item) SELECT $3::bigint, key, $1::bigint, item FROM entry WHERE id = $2',
        to.id,
        from.id,
        site.id,
      ),
    )
  await Promise.all(jobs)
}

/** Content, type, derived data and properties are copied; times begin anew. @throws Refusal */
export async function copy(state: CommitState, change: ChangeOf<'copy'>): Promise<void> {
  const { site, version, at, pending, transaction } = state
  const { source, replaced, seen } = await prepare(state, change)
  const { folder, name } = splitPath(change.to)
  const kind = source.kind === 0 || change.kind === undefined ? source.kind : kindNumber(change.kind)
  const modified = Math.max(at, seen)
  const bytes = await inline(state, source, kind)
  const row: Row = {
    ...source,
    ...bytes,
    folder,
    name,
    id: nextId(transaction),
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
  if (source.in_file === 0 && source.body !== null) row.body = nextId(transaction)
  const sameSecond = sameSecondOf(row, replaced, seen)
  if (row.kind !== 0) row.same_second = sameSecond
  if (source.in_file === 1) useBlob(pending, source.digest, { use: 'keep' })
  setRow(pending, site.id, row)
  await writeOut(transaction, pending)
  const derives = change.derived !== undefined && source.kind !== 0
  await copyHanging(state, source, row, !derives)
  if (derives) {
    deriveAll(state, row.id, change.derived, true)
    transaction.known.texts.set(row.id, '')
    await exchangeEntries(state, row.id, packEntries(change.entries ?? []))
  }
  let copied = row
  if (source.kind === 0 && change.deep)
    copied = { ...row, members: await copyMembers(state, change.from, change.to, modified, sameSecond) }
  exchange(state, folder, undefined, copied)
  if (source.kind === 0 && change.tell !== undefined) await tellCome(state, change.to, change.tell)
}
