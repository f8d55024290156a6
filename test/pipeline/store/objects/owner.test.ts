import { randomUUID } from 'node:crypto'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { blobBytes } from '../../../../pipeline/store/blobs.ts'
import { Unusable } from '../../../../pipeline/store/errors.ts'
import { moveBlobs } from '../../../../pipeline/store/postgres/blobs/move.ts'
import { INSTALLATION } from '../../../../pipeline/store/postgres/blobs/owner.ts'
import { checkDatabase } from '../../../../pipeline/store/postgres/check.ts'
import { collectObjects } from '../../../../pipeline/store/postgres/housekeeping/objects.ts'
import { openPostgresStore, type PostgresOptions } from '../../../../pipeline/store/postgres/store.ts'
import type { Store } from '../../../../pipeline/store/store.ts'
import { done, putBlob, there } from '../fixture.ts'
import { type OpenedSchema, openSchema } from '../postgres/fixture.ts'
import { type OpenedObjects, objectsAt, openWithObjects } from './fixture.ts'

const LATER = 48 * 60 * 60_000
const large = Buffer.alloc(5000, 'x')
const other = Buffer.alloc(5000, 'y')

describe('PostgreSQL store: whose objects a prefix holds', () => {
  let first: OpenedObjects
  /** Another database, without objects of its own. */
  let second: OpenedSchema
  let stores: Store[]
  beforeEach(async () => {
    stores = []
    first = await openWithObjects({ inlineLimit: 1000 })
    second = await openSchema()
    await done(first.store.site('example.org'), [putBlob('/a', large)])
  })
  afterEach(async () => {
    for (const store of stores) await store.close()
    await second.close()
    await first.close()
  })

  const url = () => first.server.url(first.prefix)
  const addressOf = ({ url, schema }: OpenedSchema) => ({ url, schema })
  const marks = async () => (await first.server.names(first.prefix)).filter(name => name.includes('/owner/'))
  const put = (name: string) =>
    first.server.client.send(new PutObjectCommand({ Bucket: first.server.bucket, Key: first.prefix + name, Body: 'x' }))
  /** Opens a database with the objects of the first, as a server does. */
  async function serve(database: OpenedSchema, options: Partial<PostgresOptions> = {}): Promise<Store> {
    const objects = objectsAt(url())
    const common = { ...addressOf(database), use: 'together', inlineLimit: 1000 } as const
    const store = await openPostgresStore({ ...common, ...options, objects })
    stores.push(store)
    return store
  }
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    )
  async function repair(database: OpenedSchema): Promise<string[]> {
    const objects = objectsAt(url())
    const { problems } = await checkDatabase(addressOf(database), { objects, repair: true, now: Date.now() + LATER })
    objects.close()
    return problems
  }
  async function isWhole(): Promise<boolean> {
    const site = first.store.site('example.org')
    const body = await site.body(await there(site, '/a'))
    return body !== undefined && 'blob' in body && (await blobBytes(body.blob)).equals(large)
  }
  /** The installation of the first database, brought along by a backup or a move. */
  const installation = () => first.store.setting(INSTALLATION)

  it('another database is refused the prefix, with what to do, and a repair of it removes nothing', async () => {
    const error = await refusal(serve(second))
    expect(error).to.be.instanceOf(Unusable)
    const { message } = error as Error
    expect(message).to.include(`s3://blobs/${first.prefix} holds the large files of another database (postgres, schema`)
    expect(message).to.include('Give this one a prefix of its own; if that database is no more, remove the object')
    expect(await repair(second)).to.have.length(1)
    expect(await isWhole()).to.equal(true)
    expect(await marks(), 'that of the first alone').to.have.length(1)
  })

  it('large files are not moved there either', async () => {
    const objects = objectsAt(url())
    expect(await refusal(moveBlobs(addressOf(second), objects, { into: 'objects' }))).to.be.instanceOf(Unusable)
    objects.close()
  })

  it('when the mark is removed, as the sentence says, the prefix is taken, and the first removes nothing any more', async () => {
    const [mark = ''] = await marks()
    const objects = objectsAt(url())
    await first.store.close()
    await objects.remove(mark.slice(first.prefix.length))
    expect(await refusal(serve(second)), 'there are still large files').to.be.instanceOf(Unusable)
    for (const name of await first.names()) await objects.remove(name.slice(first.prefix.length))
    objects.close()
    await serve(second)
    expect(await refusal(first.another())).to.be.instanceOf(Unusable)
    await put(randomUUID())
    const before = await first.names()
    await repair(first)
    expect(await first.names()).to.deep.equal(before)
  })

  it('files of a database that has left no mark are nobody else’s', async () => {
    const [mark = ''] = await marks()
    const objects = objectsAt(url())
    await objects.remove(mark.slice(first.prefix.length))
    objects.close()
    expect(await refusal(serve(second))).to.be.instanceOf(Unusable)
    await first.reopen()
    expect(await marks(), 'the database that they are of marks them').to.deep.equal([mark])
  })

  it('a database that was removed and made anew at the same place goes on there', async () => {
    const [before = ''] = await marks()
    await first.store.close()
    await first.raw(`DELETE FROM setting; DELETE FROM object; DELETE FROM blob`)
    await first.reopen()
    const after = await marks()
    expect(after).to.have.length(1)
    expect(after).not.to.deep.equal([before])
    await put(randomUUID())
    expect(await repair(first)).to.include('2 objects that nothing in the database knows (repaired)')
  })

  it('a restored or moved database goes on beside the one it comes from, and neither removes anything', async () => {
    const said: string[] = []
    const moved = await serve(second, {
      installation: await installation(),
      log: (_level, message) => said.push(message),
    })
    expect(said.join()).to.include('holds the large files of another database as well')
    await done(moved.site('example.org'), [putBlob('/b', other)])
    for (const database of [first, second])
      expect((await repair(database)).join()).to.include('so that none are removed')
    await done(first.store.site('example.org'), [{ op: 'delete', path: '/a' }])
    await first.raw(`UPDATE blob SET upload = gen_random_uuid(); UPDATE object SET due = '-infinity'`)
    const objects = objectsAt(url())
    expect(await collectObjects(addressOf(first), objects)).to.equal(false)
    expect(await first.names()).to.have.length(2)
    const [gone = ''] = (await marks()).filter(name => name.endsWith(first.schema))
    await objects.remove(gone.slice(first.prefix.length))
    expect(await repair(second)).to.deep.equal(['1 objects that nothing in the database knows (repaired)'])
    objects.close()
  })

  it('large files that move back into the database leave no mark', async () => {
    const objects = objectsAt(url())
    await first.store.close()
    await moveBlobs(addressOf(first), objects, { into: 'database' })
    objects.close()
    expect(await first.server.names(first.prefix)).to.deep.equal([])
  })
})
