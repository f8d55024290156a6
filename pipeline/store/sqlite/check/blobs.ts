/** Whether the files of large blobs are those the rows speak of, byte for byte, and no others. */

import { createHash } from 'node:crypto'
import { createReadStream, unlinkSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { blobFile } from '../../disk/folder.ts'
import { isLost } from '../../errors.ts'
import { prepareNeed } from '../housekeeping/orphaned-blobs.ts'
import type { CheckContext, Found } from './context.ts'

/** Rows read at once. */
const PAGE = 256

interface BlobRow {
  digest: string
  size: number
}

const REFERRED = 'EXISTS (SELECT 1 FROM resource WHERE resource.digest = blob.digest AND in_file = 1)'

/** Digests of a file, read as a stream. */
async function digestsOf(file: string): Promise<{ sha256: string; sha1: string; md5: string }> {
  const [sha256, sha1, md5] = ['sha256', 'sha1', 'md5'].map(name => createHash(name))
  for await (const chunk of createReadStream(file)) {
    sha256?.update(chunk)
    sha1?.update(chunk)
    md5?.update(chunk)
  }
  return { sha256: sha256?.digest('hex') ?? '', sha1: sha1?.digest('hex') ?? '', md5: md5?.digest('hex') ?? '' }
}

/** What the system says of a file or folder that it does not read. */
const codeOf = (error: NodeJS.ErrnoException) => error.code ?? error.message

/** Size of a file; undefined where there is none, and what the system says where it cannot be told. */
function sizeOf(file: string): Promise<number | string | undefined> {
  return stat(file).then(
    ({ size }) => size,
    error => (isLost(error) ? undefined : codeOf(error)),
  )
}

/** Names in a folder, none where there is no such folder; what the system says where it cannot be read. */
function namesIn(folder: string): Promise<string[] | string> {
  return readdir(folder).catch(error => (['ENOENT', 'ENOTDIR'].includes(error.code) ? [] : codeOf(error)))
}

/** Every blob that a resource refers to has a row; a lost one is made anew from the file. */
export async function* checkReferences({ reader, statements, folder }: CheckContext): AsyncGenerator<Found> {
  const unknown = reader.prepare<BlobRow & { site: string; path: string }>(
    `SELECT digest, size, site.name AS site, folder || resource.name AS path FROM resource
     JOIN site ON site.id = resource.site
     WHERE in_file = 1 AND digest NOT IN (SELECT digest FROM blob)`,
  )
  for (const { digest, size, site, path } of unknown.all()) {
    const found = await digestsOf(blobFile(folder, digest)).catch(() => undefined)
    const sound = found?.sha256 === digest
    const repair = () => void statements.useBlob.run(digest, size, found?.sha1 ?? '', found?.md5 ?? '')
    const message = sound ? 'Its blob has no row' : 'Its blob has neither a row nor a sound file'
    yield { kind: 'blob', message, site, path, digest, repair: sound ? repair : undefined }
  }
}

/** Every row has its file, of the right size and with the right bytes. */
export async function* checkBlobs(context: CheckContext): AsyncGenerator<Found> {
  const { reader, writer, folder } = context
  const page = reader.prepare<BlobRow>(`SELECT digest, size FROM blob WHERE digest > ? ORDER BY digest LIMIT ${PAGE}`)
  // The running server may have removed a blob, file first, since the page was read.
  const referred = writer.prepare<BlobRow>(`SELECT digest, size FROM blob WHERE digest = ? AND ${REFERRED}`)
  const remove = writer.prepare(`DELETE FROM blob WHERE digest = ? AND NOT ${REFERRED}`)
  const standing = writer.prepare<{ unused: number | null }>('SELECT unused FROM blob WHERE digest = ?')
  const places = writer.prepare<{ path: string }>(
    `SELECT site.name || folder || resource.name AS path FROM resource JOIN site ON site.id = resource.site
     WHERE digest = ? AND in_file = 1 LIMIT 1`,
  )
  const total = reader.prepare<{ count: number }>('SELECT count(*) AS count FROM blob').get()?.count ?? 0
  for (let rows = page.all(''); rows.length > 0; rows = page.all(rows.at(-1)?.digest ?? '')) {
    for (const { digest, size } of rows) {
      context.counted('checking blobs', total)
      const file = blobFile(folder, digest)
      const found = await sizeOf(file)
      const read = found === size ? await digestsOf(file).catch(codeOf) : found
      if (typeof read === 'object' && read.sha256 === digest) continue
      if (referred.get(digest) === undefined) {
        const row = standing.get(digest)
        if (found !== undefined || row === undefined) continue
        const repair = () => void remove.run(digest)
        const isLeft = row.unused !== null
        yield { kind: 'blob', message: 'A blob that nothing refers to has lost its file', digest, isLeft, repair }
        continue
      }
      const where = `, first used at ${places.get(digest)?.path ?? '?'}`
      if (found === undefined) yield { kind: 'blob', message: `The file of a blob is missing${where}`, digest }
      else if (typeof read === 'string')
        yield { kind: 'blob', message: `The file of a blob cannot be read (${read})${where}`, digest }
      else if (found !== size)
        yield { kind: 'blob', message: `The file of a blob has ${found} bytes instead of ${size}${where}`, digest }
      else yield { kind: 'blob', message: `The file of a blob holds other bytes than were stored${where}`, digest }
    }
  }
}

/** Every file has a row. One that a resource refers to is told by its references, and all there is of its bytes. */
export async function* checkFiles({
  writer,
  folder,
  locked,
}: Pick<CheckContext, 'writer' | 'folder' | 'locked'>): AsyncGenerator<Found> {
  const needed = prepareNeed(writer)
  const unread = (place: string, code: string): Found => ({
    kind: 'file',
    message: `The folder ${place} cannot be read (${code})`,
  })
  const shards = await namesIn(join(folder, 'blobs'))
  if (typeof shards === 'string') return yield unread('blobs', shards)
  for (const shard of shards.sort()) {
    const names = await namesIn(join(folder, 'blobs', shard))
    if (typeof names === 'string') {
      yield unread(join('blobs', shard), names)
      continue
    }
    for (const name of names) {
      const digest = shard + name
      // Files get their names while their commit holds the lock, so behind it the row must be there.
      if (locked(() => needed(digest))) continue
      const file = join(folder, 'blobs', shard, name)
      // The same bytes may have been stored since.
      const remove = () => {
        if (!needed(digest)) unlinkSync(file)
      }
      const isLeft = /^[0-9a-f]{64}$/.test(digest)
      const message = `No row speaks of the file ${join('blobs', shard, name)}`
      yield { kind: 'file', message, digest, isLeft, repair: isLeft ? remove : undefined }
    }
  }
}
