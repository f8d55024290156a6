/** Moves the blobs of a database into an object store, or back: one after the other, each proved by its digest. */

import { type BlobReader, blobStream } from '../../blobs.ts'
import { Unusable } from '../../errors.ts'
import type { Objects } from '../../objects/objects.ts'
import type { ProgressReport } from '../../transfer.ts'
import { claim } from '../claim.ts'
import { connectPrimary, type DatabaseAddress, drop } from '../connection.ts'
import { collectObjects } from '../housekeeping/objects.ts'
import { prepareTables } from '../schema.ts'
import { type Session, sessionOn } from '../session.ts'
import { homeOf, settleHome } from './home.ts'
import { intoObject, uploadOf } from './objects.ts'
import { leaveOwner, markOwner } from './owner.ts'
import { intoChunks, type Outflow } from './staging.ts'
import { openChunks } from './stored.ts'

export interface MoveBlobsOptions {
  /** Into objects, or back into the database. */
  into: 'objects' | 'database'
  progress?: (report: ProgressReport) => void
}

export interface MovedBlobs {
  blobs: number
  bytes: number
  /** What could not be moved, one sentence each. */
  problems: string[]
}

interface BlobRow {
  digest: string
  upload: string
  size: number
}

/** Blobs read from the table in one go. */
const PAGE = 100

const PENDING = `SELECT digest, upload, size FROM blob
  WHERE digest > $1 AND EXISTS (SELECT 1 FROM object WHERE id = upload) = $2 ORDER BY digest LIMIT ${PAGE}`

/** Has a blob be what an upload brought, if it still is what was read. @returns whether it was */
async function exchange(session: Session, { digest, upload }: BlobRow, fresh: string, fromChunks: boolean) {
  await session.run('BEGIN')
  try {
    await session.run('SELECT 1 FROM progress FOR UPDATE')
    const changed = await session.run(
      'UPDATE blob SET upload = $3::uuid WHERE digest = $1 AND upload = $2::uuid',
      digest,
      upload,
      fresh,
    )
    // Readers that have begun get an hour, as with everything that is given up.
    if (changed === 1 && fromChunks)
      await session.run(
        `INSERT INTO upload (id, begun) VALUES ($1::uuid, now() - interval '23 hours') ON CONFLICT DO NOTHING`,
        upload,
      )
    await session.run('COMMIT')
    return changed === 1
  } catch (error) {
    await session.run('ROLLBACK').catch(() => undefined)
    throw error
  }
}

async function moveBlob(session: Session, objects: Objects, row: BlobRow, into: MoveBlobsOptions['into']) {
  const { digest, upload, size } = row
  const open = async (): Promise<BlobReader> =>
    into === 'objects' ? openChunks(session, upload, size) : objects.open(upload, size)
  const out: Outflow = into === 'objects' ? intoObject(objects, session) : intoChunks(session)
  try {
    for await (const piece of blobStream({ size, open })) await out.fill(piece)
  } catch (error) {
    await out.abandon()
    throw error
  }
  const staged = await out.finish()
  const isRight = staged.sha256 === digest && staged.size === size
  const moved = isRight && (await exchange(session, row, uploadOf(staged.place ?? '').upload, into === 'objects'))
  await staged.discard()
  return isRight ? moved : undefined
}

/** Sees that no server is disturbed by the move. @throws Unusable */
async function requireRoom(session: Session, objects: Objects, into: MoveBlobsOptions['into']): Promise<void> {
  const home = await homeOf(session)
  if (home !== undefined && home !== objects.place) throw new Unusable(`large files of this database are in ${home}`)
  // Servers that know the bucket read blobs wherever they are.
  if (into === 'objects' && home === objects.place) return
  await claim(session, 'alone', 'move').catch(cause => {
    const first = into === 'objects' ? ', or start them with the setting blobs' : ''
    throw cause instanceof Unusable
      ? new Unusable(`servers use the database: end them first${first}`, { cause })
      : cause
  })
}

/**
 * Moves all blobs that are not there already. What was interrupted goes on when it is called again.
 *
 * @throws Unusable when the object store cannot be used, or servers would not find what was moved
 */
export async function moveBlobs(
  address: DatabaseAddress,
  objects: Objects,
  { into, progress }: MoveBlobsOptions,
): Promise<MovedBlobs> {
  const client = await connectPrimary(address, 'move')
  const session = sessionOn(client)
  const outcome: MovedBlobs = { blobs: 0, bytes: 0, problems: [] }
  try {
    await prepareTables(client, address)
    await requireRoom(session, objects, into)
    if (into === 'objects') {
      await objects.prove()
      await markOwner(session, objects)
      await settleHome(session, objects)
    }
    for (let after = ''; ; ) {
      const rows = await session.rows<BlobRow>(PENDING, after, into === 'database')
      for (const row of rows) {
        const moved = await moveBlob(session, objects, row, into).catch(error => String(error))
        if (moved === true) {
          outcome.blobs++
          outcome.bytes += row.size
          progress?.({ step: 'moving large files', done: outcome.blobs })
        } else if (moved !== false)
          outcome.problems.push(`${row.digest}: ${moved ?? 'its bytes are not what was stored'}`)
      }
      const last = rows.at(-1)
      if (last === undefined) break
      after = last.digest
    }
    if (into === 'database') await clear(address, session, objects)
    return outcome
  } finally {
    drop(client)
  }
}

/** Removes objects that no blob has any more, without waiting: nobody reads them. */
async function clear(address: DatabaseAddress, session: Session, objects: Objects): Promise<void> {
  await session.run(
    `UPDATE object SET due = '-infinity' WHERE NOT EXISTS (SELECT 1 FROM blob WHERE blob.upload = object.id)`,
  )
  while (await collectObjects(address, objects));
  // What could not be moved or removed keeps its mark.
  const left = await session.row('SELECT 1 AS found FROM object LIMIT 1')
  if (left === undefined) await leaveOwner(session, objects)
}
