import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { CreateMultipartUploadCommand, DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { restoreStore } from '../../../../pipeline/store/backup/restore.ts'
import { saveStore } from '../../../../pipeline/store/backup/save.ts'
import { blobBytes } from '../../../../pipeline/store/blobs.ts'
import { BlobGone, Unusable } from '../../../../pipeline/store/errors.ts'
import { moveBlobs } from '../../../../pipeline/store/postgres/blobs/move.ts'
import { checkDatabase } from '../../../../pipeline/store/postgres/check.ts'
import { collectObjects } from '../../../../pipeline/store/postgres/housekeeping/objects.ts'
import { openPostgresStore } from '../../../../pipeline/store/postgres/store.ts'
import type { SiteStore } from '../../../../pipeline/store/store.ts'
import { done, put, putBlob, there } from '../fixture.ts'
import { type OpenedObjects, objectsAt, openWithObjects } from './fixture.ts'

const HOUR = 60 * 60_000
const large = Buffer.alloc(5000, 'x')
const other = Buffer.alloc(5000, 'y')

describe('PostgreSQL store: blobs in objects', () => {
  let opened: OpenedObjects
  let site: SiteStore
  beforeEach(async () => {
    opened = await openWithObjects({ inlineLimit: 1000 })
    site = opened.store.site('example.org')
  })
  afterEach(() => opened.close())

  const names = () => opened.names()
  const bytesAt = async (path: string, of = site) => {
    const body = await of.body(await there(of, path))
    if (body === undefined) throw new Error(`No body at ${path}`)
    return 'bytes' in body ? Buffer.from(body.bytes) : blobBytes(body.blob)
  }
  const address = () => ({ url: opened.url, schema: opened.schema })
  /** Cleans until nothing is waiting. */
  const collect = async () => {
    const objects = opened.objects()
    while (await collectObjects(address(), objects));
    objects.close()
  }
  /** Lets time pass for objects: all are looked at. */
  const makeDue = () => opened.raw(`UPDATE object SET due = '-infinity' WHERE due IS NOT NULL`)
  const check = async (repair = false, now = Date.now()) => {
    const objects = opened.objects()
    const { problems } = await checkDatabase(address(), { objects, repair, now })
    objects.close()
    return problems
  }
  /** Has blobs go that nobody uses: it is done behind commits. */
  const sweep = async () => {
    opened.clock.now += 2 * HOUR
    for (let i = 0; i < 3; i++) {
      opened.clock.now += 60_000
      await done(site, [put('/settle', String(i))])
    }
  }
  const failing = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    )

  it('small blobs and all documents are in the database, large blobs in objects', async () => {
    await done(site, [putBlob('/small', large.subarray(0, 1000)), put('/doc', String(large))])
    expect(await names()).to.deep.equal([])
    await done(site, [putBlob('/large', large)])
    expect(await names()).to.have.length(1)
    expect((await bytesAt('/large')).equals(large)).to.equal(true)
    await opened.intact()
  })

  it('COPY and MOVE share the object, which goes some time after the last that used it', async () => {
    await done(site, [putBlob('/d/a', large)])
    await done(site, [{ op: 'copy', from: '/d/', to: '/e/', deep: true }])
    await done(site, [{ op: 'move', from: '/d/a', to: '/b' }])
    const before = await names()
    expect(before).to.have.length(1)
    await done(site, [{ op: 'delete', path: '/b' }])
    await sweep()
    await makeDue()
    await collect()
    expect(await names(), 'still used').to.deep.equal(before)
    expect((await bytesAt('/e/a')).equals(large)).to.equal(true)
    await done(site, [put('/e/a', 'replaced')])
    await collect()
    expect(await names(), 'within the time of grace').to.deep.equal(before)
    await sweep()
    await collect()
    expect(await names(), 'after it').to.deep.equal([])
  })

  it('what was staged and never committed goes, uploads that were never finished too', async () => {
    const staged = await opened.store.stage(Readable.from([large]), { limit: 1e9 })
    await done(site, [putBlob('/used', other)])
    const Key = opened.prefix + randomUUID()
    await opened.server.client.send(new CreateMultipartUploadCommand({ Bucket: opened.server.bucket, Key }))
    await opened.raw(`INSERT INTO object (id) VALUES ('${Key.slice(opened.prefix.length)}')`)
    await collect()
    expect(await names(), 'they may still be committed').to.have.length(2)
    await staged.discard()
    await makeDue()
    await collect()
    expect(await names()).to.have.length(1)
    expect(await opened.server.unfinished(opened.prefix)).to.deep.equal([])
    expect((await bytesAt('/used')).equals(other)).to.equal(true)
  })

  it('HTTP-182 an aborted or oversized body leaves nothing behind', async () => {
    const broken = async function* () {
      yield large
      throw new Error('connection lost')
    }
    await failing(opened.store.stage(Readable.from(broken()), { limit: 1e9 }))
    await failing(opened.store.stage(Readable.from([large, large]), { limit: 6000 }))
    expect(await names()).to.deep.equal([])
    await opened.raw(`DO $$ BEGIN IF EXISTS (SELECT FROM object) THEN RAISE 'objects are noted'; END IF; END $$`)
  })

  it('what a snapshot sees is kept as long as it lasts', async () => {
    await done(site, [putBlob('/a', large)])
    await opened.store.snapshot(async state => {
      await done(site, [{ op: 'delete', path: '/a' }])
      await sweep()
      await collect()
      expect((await bytesAt('/a', state.site('example.org') as SiteStore)).equals(large)).to.equal(true)
    })
    await collect()
    expect(await names()).to.deep.equal([])
  })

  it('two servers share them', async () => {
    const second = (await opened.another()).site('example.org')
    await done(site, [putBlob('/a', large)])
    expect((await bytesAt('/a', second)).equals(large)).to.equal(true)
    await done(second, [putBlob('/b', large), putBlob('/a', other)])
    expect((await bytesAt('/a')).equals(other)).to.equal(true)
    expect((await bytesAt('/b')).equals(large)).to.equal(true)
  })

  it('a lost object is told of, and comes back with the next upload of the same bytes', async () => {
    await done(site, [putBlob('/a', large)])
    const [Key = ''] = await names()
    await opened.server.client.send(new DeleteObjectCommand({ Bucket: opened.server.bucket, Key }))
    expect(await failing(bytesAt('/a'))).to.be.instanceOf(BlobGone)
    expect(await check()).to.deep.equal(['example.org/a: its bytes are missing'])
    await done(site, [putBlob('/b', large)])
    expect((await bytesAt('/a')).equals(large)).to.equal(true)
    await makeDue()
    await collect()
    expect(await check()).to.deep.equal([])
  })

  it('check finds objects of other bytes, and those that nobody knows; those it removes', async () => {
    await done(site, [putBlob('/a', large)])
    const [Key = ''] = await names()
    const put = (name: string, Body: Buffer) =>
      opened.server.client.send(new PutObjectCommand({ Bucket: opened.server.bucket, Key: name, Body }))
    await put(Key, other)
    expect(await check()).to.deep.equal(['example.org/a: its bytes are not those that were stored'])
    await put(Key, large)
    await put(opened.prefix + randomUUID(), large)
    await put(`${opened.prefix}not-of-this-store`, large)
    expect(await check(true), 'it may belong to an upload that has just begun').to.deep.equal([])
    expect(await check(true, Date.now() + 48 * HOUR)).to.deep.equal([
      '1 objects that nothing in the database knows (repaired)',
    ])
    expect(await names()).to.have.members([Key, `${opened.prefix}not-of-this-store`])
  })

  it('a database whose blobs are in a bucket is opened with that bucket alone', async () => {
    const open = (url: string | undefined) =>
      failing(
        openPostgresStore({ ...address(), use: 'together', objects: url === undefined ? undefined : objectsAt(url) }),
      )
    const own = opened.server.url(opened.prefix)
    const first = await openPostgresStore({ ...address(), use: 'together', objects: objectsAt(own) })
    await done(first.site('example.org'), [putBlob('/a', Buffer.alloc(300_000))])
    await first.close()
    expect(await failing(checkDatabase(address(), {}))).to.be.instanceOf(Unusable)
    for (const url of [undefined, opened.server.url('elsewhere/')])
      expect(await open(url))
        .to.be.instanceOf(Unusable)
        .and.have.property('message')
        .that.contains(`s3://blobs/${opened.prefix}`)
  })

  it('blobs of the database move into objects, and back, again if that was interrupted', async () => {
    const chunked = await openPostgresStore({ ...address(), inlineLimit: 1000 })
    await done(chunked.site('example.org'), [putBlob('/a', large), putBlob('/b', other), putBlob('/c', large)])
    await chunked.close()
    const objects = opened.objects()
    expect(await names()).to.deep.equal([])
    expect(await moveBlobs(address(), objects, { into: 'objects' })).to.include({ blobs: 2, bytes: 10_000 })
    expect(await names()).to.have.length(2)
    expect(await moveBlobs(address(), objects, { into: 'objects' })).to.include({ blobs: 0 })
    expect((await bytesAt('/a')).equals(large)).to.equal(true)
    expect((await bytesAt('/b')).equals(other)).to.equal(true)
    await opened.intact()
    await opened.store.close()
    expect(await moveBlobs(address(), objects, { into: 'database' })).to.include({ blobs: 2, bytes: 10_000 })
    expect(await names()).to.deep.equal([])
    const back = await openPostgresStore({ ...address(), inlineLimit: 1000 })
    expect((await bytesAt('/c', back.site('example.org'))).equals(large)).to.equal(true)
    await back.close()
    objects.close()
  })

  it('a blob that is damaged stays where it is when the others move', async () => {
    const chunked = await openPostgresStore({ ...address(), inlineLimit: 1000 })
    await done(chunked.site('example.org'), [putBlob('/a', large), putBlob('/b', other)])
    await chunked.close()
    const { digest } = await there(site, '/a')
    await opened.raw(`UPDATE chunk SET bytes = 'z' || substring(bytes FROM 2)
      WHERE upload = (SELECT upload FROM blob WHERE digest = '${digest}')`)
    const objects = opened.objects()
    const moved = await moveBlobs(address(), objects, { into: 'objects' })
    expect(moved).to.deep.include({ blobs: 1, problems: [`${digest}: its bytes are not what was stored`] })
    objects.close()
  })

  it('a backup holds them, and comes back into objects', async () => {
    await done(site, [putBlob('/a', large), put('/b.html', 'B')])
    const folder = await mkdtemp(join(tmpdir(), 'scriptorium-objects-'))
    const empty = await openWithObjects({ inlineLimit: 1000 })
    try {
      await saveStore(opened.store, folder, { settings: [] })
      await restoreStore(empty.store, folder, { settings: [], accepts: () => true })
      expect(await empty.names()).to.have.length(1)
      expect((await bytesAt('/a', empty.store.site('example.org'))).equals(large)).to.equal(true)
    } finally {
      await empty.close()
      await rm(folder, { recursive: true })
    }
  })
})
