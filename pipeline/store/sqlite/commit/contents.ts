/** The bytes of a change and what was derived from them, on their way into the database or a file. */

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { blobFile } from '../../disk/folder.ts'
import { endOf } from '../../paths.ts'
import { kindNumber, type ResourceRow } from '../../records/rows.ts'
import { type SpliceRow, spliced } from '../splices.ts'
import type { PackedContent } from '../writer/messages.ts'
import { type CommitState, nextId } from './commit-state.ts'

/** Kind number of documents: their bytes are always in the database. */
const DOCUMENT = kindNumber('document')

/** Splices that a body has at most before it is written as a whole again. */
const MOST_SPLICES = 64

/**
 * What a content is, with its bytes at hand when they go into the database.
 *
 * @param old number of the body that it takes the place of
 */
export function resolve(state: CommitState, content: PackedContent, kind: number, old: number | undefined) {
  if ('splices' in content) {
    const { digest, size } = content
    const isKept = old !== undefined && changeBody(state, old, content)
    return { bytes: isKept ? undefined : wholeOf(state, old, content), digest, size, isSpliced: isKept }
  }
  if ('offset' in content) {
    const bytes = new Uint8Array(state.bytes, content.offset, content.length)
    return { bytes, digest: content.digest ?? hash('sha256', bytes), size: bytes.length }
  }
  const { sha256: digest, size } = content
  state.consumed.push(content.file)
  if (kind === DOCUMENT) return { bytes: readFileSync(content.file), digest, size }
  state.adoptions.push({ file: content.file, digest, size })
  state.statements.useBlob.run(digest, size, content.sha1 ?? '', content.md5 ?? '')
  return { bytes: undefined, digest, size }
}

/**
 * Brings the bytes of a file into the database when it becomes a document.
 * @param row of the resource, with the number that the bytes are to hang on
 * @param kind number of the kind it will have
 * @returns 1 when the bytes are in a file afterwards
 */
export function inline(state: CommitState, row: ResourceRow, kind: number): number {
  if (kind !== DOCUMENT || row.in_file === 0) return row.in_file
  const staged = state.adoptions.find(({ digest }) => digest === row.digest)?.file
  state.statements.setBody.run(row.id, readFileSync(staged ?? blobFile(state.transaction.writer.folder, row.digest)))
  state.statements.leaveBlob.run(state.at, row.digest)
  return 0
}

/**
 * To be called before the body of a resource is exchanged or goes to a file: a body that an event shares stays, under a
 * number of its own.
 */
export function keepTold(state: CommitState, id: number): void {
  const { statements } = state
  if (statements.told.get(id) === undefined) return
  const kept = nextId(state)
  statements.moveBody.run(kept, id)
  statements.moveTold.run(kept, id)
}

type SplicedContent = Extract<PackedContent, { splices: unknown }>

function splicesOf({ bytes }: CommitState, { splices }: SplicedContent): SpliceRow[] {
  return splices.map(({ start, end, offset, length }) => ({
    start,
    until: end,
    bytes: new Uint8Array(bytes, offset, length),
  }))
}

/** Adds splices to a body. @returns false for one that has to be written as a whole */
function changeBody(state: CommitState, id: number, content: SplicedContent): boolean {
  const { statements } = state
  if (statements.told.get(id) !== undefined) return false
  let number = statements.countSplices.get(id)?.count ?? 0
  if (number + content.splices.length > MOST_SPLICES) return false
  for (const { start, until, bytes } of splicesOf(state, content))
    statements.addSplice.run(id, number++, start, until, bytes)
  return true
}

/** A body as splices leave it. */
function wholeOf(state: CommitState, id: number | undefined, content: SplicedContent): Uint8Array {
  const { statements } = state
  const body = id === undefined ? undefined : statements.body.get(id)?.bytes
  if (id === undefined || !body) throw new Error('The body that is to be changed is not there')
  return spliced(body, [...statements.splices.all(id), ...splicesOf(state, content)])
}

/** Writes a body that has splices as a whole: they stay with it where it is, and do not go with copies or events. */
export function settle({ statements }: CommitState, id: number): void {
  const splices = statements.splices.all(id)
  const body = splices.length > 0 && statements.body.get(id)?.bytes
  if (body) statements.setBody.run(id, spliced(body, splices))
}

/** The same for all members of a collection. */
export function settleBelow(state: CommitState, collection: string): void {
  const { statements, site } = state
  for (const { id } of statements.splicedBelow.all(site.id, collection, endOf(collection))) settle(state, id)
}

/** Stores derived data of a resource. */
export function deriveAll(state: CommitState, id: number, derived: Record<string, string> | undefined): void {
  if (derived === undefined) return
  for (const [name, value] of Object.entries(derived)) state.statements.derive.run(id, name, state.site.id, value)
}
