/**
 * The bytes of a commit, brought to where its transaction expects them before it begins: what is too large for one piece
 * into chunks or an object, and what becomes a document into chunks, since a transaction asks nobody but the database.
 */

import { Readable } from 'node:stream'
import { type BlobWriter, blobStream, type StagedBlob, StagingError } from '../../blobs.ts'
import type { Change, Commit } from '../../commit.ts'
import type { Objects } from '../../objects/objects.ts'
import { splitPath } from '../../paths.ts'
import { isTooLarge } from '../../records/changes.ts'
import type { Session } from '../session.ts'
import { objectBlob, uploadOf } from './objects.ts'

type Stage = BlobWriter['stage']

/** What bytes are brought with. */
export interface Unloading {
  reads: Session
  inlineLimit: number
  /** Where objects are, if there are any. */
  objects: Objects | undefined
  /** Stages a blob as all are. */
  stage: Stage
  /** Stages a blob in chunks, whatever its size. */
  stageChunks: Stage
}

export interface Unloaded {
  commit: Commit
  /** Uploads in chunks of blobs that are in objects and become documents, by digest. */
  chunks: ReadonlyMap<string, string>
  /** To be called when the commit is over. */
  discard(): Promise<void>
}

/** Bytes that are in memory, or stored, already have passed every limit. */
const NO_LIMIT = { limit: Number.POSITIVE_INFINITY }

type Retyping = Extract<Change, { op: 'move' | 'copy' }>

/** Whether a blob may become a document. */
function retypes(change: Change): change is Retyping {
  return (change.op === 'move' || change.op === 'copy') && change.kind === 'document' && !change.from.endsWith('/')
}

function isInObject(change: Change): change is Extract<Change, { op: 'put' }> & { content: { staged: StagedBlob } } {
  if (change.op !== 'put' || !('staged' in change.content)) return false
  const { place } = change.content.staged
  return place !== undefined && uploadOf(place).object
}

/** Whether anything of a commit has to be brought anywhere. */
export function needsUnloading({ changes }: Commit, { inlineLimit, objects }: Unloading): boolean {
  if (changes.some(change => isTooLarge(change, inlineLimit))) return true
  return (
    objects !== undefined &&
    changes.some(change => retypes(change) || (isInObject(change) && change.kind === 'document'))
  )
}

/** @param site name of the site of the commit */
export async function unload(site: string, commit: Commit, unloading: Unloading): Promise<Unloaded> {
  const { reads, inlineLimit, objects, stage, stageChunks } = unloading
  const own: StagedBlob[] = []
  const chunks = new Map<string, string>()
  const retyped = objects === undefined ? [] : commit.changes.filter(retypes)
  /** What is put by this commit may become a document in it. */
  const stageOwn = retyped.length > 0 ? stageChunks : stage

  async function staged(staging: Promise<StagedBlob>): Promise<StagedBlob> {
    const result = await staging
    own.push(result)
    const { place, sha256 } = result
    if (place !== undefined && !uploadOf(place).object) chunks.set(sha256, place)
    return result
  }

  function read({ place = '', size, sha256 }: StagedBlob): Readable {
    if (objects === undefined) throw new Error('A staged body is in an object, but there is no object store')
    return blobStream(objectBlob(objects, uploadOf(place).upload, size, sha256))
  }

  async function bring(change: Change): Promise<Change> {
    if (isTooLarge(change, inlineLimit)) {
      const bytes = Readable.from([change.content.bytes], { objectMode: false })
      return { ...change, content: { staged: await staged(stageOwn(bytes, NO_LIMIT)) } }
    }
    if (!isInObject(change) || (change.kind !== 'document' && retyped.length === 0)) return change
    return { ...change, content: { staged: await staged(stageChunks(read(change.content.staged), NO_LIMIT)) } }
  }

  /** Brings a stored blob into chunks that a commit makes a document of, if it is in an object. */
  async function bringStored({ from }: Retyping): Promise<void> {
    const { folder, name } = splitPath(from)
    const row = await reads.row<{ digest: string; id: string; size: number }>(
      `SELECT b.digest, o.id, b.size FROM resource r JOIN blob b ON b.digest = r.blob JOIN object o ON o.id = b.upload
       WHERE r.site = (SELECT id FROM site WHERE name = $1) AND r.folder = $2 AND r.name = $3`,
      site,
      folder,
      name,
    )
    if (row === undefined || objects === undefined || chunks.has(row.digest)) return
    await staged(stageChunks(blobStream(objectBlob(objects, row.id, row.size, row.digest)), NO_LIMIT))
  }

  async function discard(): Promise<void> {
    for (const each of own) await each.discard()
  }
  try {
    const changes: Change[] = []
    for (const change of commit.changes) changes.push(await bring(change))
    for (const change of retyped) await bringStored(change)
    return { commit: { ...commit, changes }, chunks, discard }
  } catch (error) {
    await discard()
    // What broke off was no client's body.
    throw error instanceof StagingError && error.cause instanceof Error ? error.cause : error
  }
}
