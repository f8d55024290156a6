import { createHash, randomUUID } from 'node:crypto'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { after, afterEach, before, describe, it } from 'mocha'
import { blobBytes, blobStream, type StoredBlob } from '../../../../pipeline/store/blobs.ts'
import { BlobGone, StoreError, Unusable } from '../../../../pipeline/store/errors.ts'
import { WAITS } from '../../../../pipeline/store/objects/client.ts'
import type { Objects } from '../../../../pipeline/store/objects/objects.ts'
import { partSize } from '../../../../pipeline/store/objects/upload.ts'
import { eventually } from '../../../support/eventually.ts'
import { type FaultProxy, startFaultProxy } from '../../../support/http-faults.ts'
import { newObjectServer, type ObjectServer, sharedObjects } from '../../../support/swift.ts'
import { objectsAt } from './fixture.ts'

const MIB = 1024 * 1024
const PART = 8 * MIB

/** Bytes that are different everywhere. */
function sample(size: number): Buffer {
  const bytes = Buffer.alloc(size)
  for (let at = 0; at + 4 <= size; at += 4) bytes.writeUInt32LE(Math.imul(at + 1, 2_654_435_761) >>> 0, at)
  return bytes
}

const WHOLE = sample(2 * PART + 12_345)

const noted = { note: async () => undefined }

/** Stores bytes under a new name, 60,000 at a time. */
async function store(objects: Objects, bytes: Buffer): Promise<string> {
  const name = randomUUID()
  const upload = objects.upload(name, noted)
  for (let at = 0; at < bytes.length; at += 60_000) await upload.write(bytes.subarray(at, at + 60_000))
  await upload.finish()
  return name
}

const blobOf = (objects: Objects, name: string, size: number): StoredBlob => ({
  size,
  open: span => objects.open(name, size, span),
})

const failing = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('objects', () => {
  let server: ObjectServer
  let proxy: FaultProxy
  let objects: Objects
  let stored: string
  const PREFIX = `objects-${process.pid}/`
  before(async () => {
    server = await sharedObjects()
    proxy = await startFaultProxy(server.port)
    objects = objectsAt(server.url(PREFIX, proxy.port))
    stored = await store(objects, WHOLE)
  })
  after(async () => {
    objects.close()
    await proxy.close()
  })
  afterEach(() => proxy.mend())

  for (const size of [1, 300_000, PART, PART + 1]) {
    it(`${size} bytes come back as they were sent`, async () => {
      const bytes = sample(size)
      const name = await store(objects, bytes)
      expect((await blobBytes(blobOf(objects, name, size))).equals(bytes)).to.equal(true)
      expect(await server.unfinished(PREFIX)).to.deep.equal([])
    })
  }

  it('a stretch is read without what stands before or behind it', async () => {
    for (const [start, end] of [
      [0, 10],
      [PART - 5, PART + 5],
      [WHOLE.length - 7, WHOLE.length],
    ] as const) {
      const reader = await objects.open(stored, WHOLE.length, { start, end })
      const buffer = Buffer.alloc(end - start)
      expect(await reader.read(buffer, start)).to.equal(end - start)
      await reader.close()
      expect(buffer.equals(WHOLE.subarray(start, end))).to.equal(true)
      expect(proxy.seen.at(-1)).to.include({ method: 'GET', range: `bytes=${start}-${end - 1}`, bytes: end - start })
    }
  })

  it('a reader may go anywhere, and reads nothing behind the end', async () => {
    const reader = await objects.open(stored, WHOLE.length)
    const buffer = Buffer.alloc(1000)
    for (const at of [5_000_000, 17, 12_000_000]) {
      expect(await reader.read(buffer, at)).to.equal(1000)
      expect(buffer.equals(WHOLE.subarray(at, at + 1000)), String(at)).to.equal(true)
    }
    expect(await reader.read(buffer, WHOLE.length - 3)).to.equal(3)
    expect(await reader.read(buffer, WHOLE.length)).to.equal(0)
    await reader.close()
  })

  it('an empty stretch asks whether the object is there, and nothing more', async () => {
    await (await objects.open(stored, WHOLE.length, { start: 0, end: 0 })).close()
    expect(proxy.seen.at(-1)).to.include({ method: 'HEAD' })
    expect(await failing(objects.open(randomUUID(), 5, { start: 0, end: 0 }))).to.be.instanceOf(BlobGone)
  })

  it('what is not there, or has another size, is gone', async () => {
    expect(await failing(objects.open(randomUUID(), 5))).to.be.instanceOf(BlobGone)
    expect(await failing(objects.open(stored, WHOLE.length + 1))).to.be.instanceOf(BlobGone)
    expect(await failing(objects.open(stored, 5, { start: 0, end: 0 }))).to.be.instanceOf(BlobGone)
  })

  it('an upload that is abandoned leaves nothing, wherever it is', async () => {
    for (const size of [100, PART + 1, 2 * PART + 1]) {
      const name = randomUUID()
      const upload = objects.upload(name, noted)
      await upload.write(WHOLE.subarray(0, size))
      // A store that has much else to do may not answer in time; it is asked again.
      await eventually(async () => expect(await upload.abandon()).to.equal(true))
      expect(await server.names(PREFIX + name)).to.deep.equal([])
    }
    expect(await server.unfinished(PREFIX)).to.deep.equal([])
  })

  it('an upload that was not answered is not known to leave nothing: it may be carried out later', async () => {
    const waits = { ...WAITS, first: { quiet: 200, total: 200 }, later: { quiet: 200, total: 200 } }
    for (const [size, what] of [
      [100, /^PUT /],
      [PART + 1, /^POST .*uploads/],
    ] as const) {
      const name = randomUUID()
      const impatient = objectsAt(server.url(PREFIX, proxy.port), { waits })
      proxy.break(new RegExp(`${what.source}.*`), { swallow: true }, 10)
      const upload = impatient.upload(name, noted)
      await upload.write(WHOLE.subarray(0, size))
      expect(await failing(upload.finish())).to.be.instanceOf(StoreError)
      proxy.mend()
      expect(await upload.abandon()).to.equal(false)
      impatient.close()
    }
  })

  it('an object is noted before anything of it is sent', async () => {
    const order: string[] = []
    const note = async () => void order.push(`noted after ${proxy.seen.length}`)
    const before = proxy.seen.length
    const upload = objects.upload(randomUUID(), { note })
    await upload.write(WHOLE)
    await upload.finish()
    expect(order).to.deep.equal([`noted after ${before}`])
    const refused = objects.upload(randomUUID(), { note: () => Promise.reject(new StoreError('busy', 'no')) })
    await refused.write(Buffer.alloc(1))
    const sent = proxy.seen.length
    expect(await failing(refused.finish())).to.be.instanceOf(StoreError)
    expect(proxy.seen.length).to.equal(sent)
  })

  it('parts are as many as the protocol allows for bodies of 350 GiB', () => {
    const sizes = Array.from({ length: 10_000 }, (_, i) => partSize(i + 1))
    expect(Math.min(...sizes)).to.equal(PART)
    expect(sizes.reduce((sum, size) => sum + size)).to.be.above(350 * 1024 ** 3)
  })

  for (const [what, request, fault] of [
    ['asks for patience when an upload begins', /^POST .*uploads/, { status: 503, code: 'SlowDown' }],
    ['asks for patience during a part', /^PUT .*partNumber=2/, { status: 503, code: 'SlowDown' }],
    ['breaks while a part is sent', /^PUT .*partNumber=1/, { cut: 0 }],
    ['gets a part that was broken on its way', /^PUT .*partNumber=2/, { corrupt: 'request' }],
    ['has a failure at the end', /^POST .*uploadId/, { status: 500, code: 'InternalError' }],
    ['ends the upload, and its answer is lost', /^POST .*uploadId/, { cut: 0 }],
  ] as const) {
    it(`the store ${what}: the object is whole all the same`, async () => {
      proxy.break(request, fault)
      const name = await store(objects, WHOLE)
      proxy.mend()
      const digest = createHash('sha256')
      for await (const piece of blobStream(blobOf(objects, name, WHOLE.length))) digest.update(piece)
      expect(digest.digest('hex')).to.equal(createHash('sha256').update(WHOLE).digest('hex'))
    })
  }

  for (const [what, fault, times] of [
    ['is cut off', { cut: 3_000_000 }, 2],
    ['is asked for patience', { status: 503, code: 'SlowDown' }, 1],
    ['is cut off before it begins', { cut: 0 }, 1],
  ] as const) {
    it(`a download that ${what} goes on where it was`, async () => {
      proxy.break(/^GET/, fault, times)
      expect((await blobBytes(blobOf(objects, stored, WHOLE.length))).equals(WHOLE)).to.equal(true)
    })
  }

  it('a download that brings nothing again and again ends with a failure', async () => {
    const reader = await objects.open(stored, WHOLE.length)
    await reader.read(Buffer.alloc(10), 0)
    proxy.break(/^GET/, { fields: { 'content-range': `bytes 5000000-5000009/${WHOLE.length + 1}` } }, 100)
    expect(await failing(reader.read(Buffer.alloc(10), 5_000_000))).to.be.instanceOf(BlobGone)
    proxy.mend()
    proxy.break(/^GET/, { cut: 1 }, 3)
    const buffer = Buffer.alloc(10)
    expect(await reader.read(buffer, 7_000_000)).to.equal(10)
    expect(buffer.equals(WHOLE.subarray(7_000_000, 7_000_010))).to.equal(true)
    await reader.close()
  })

  it('an object that somebody replaced by another is not taken for what was stored', async () => {
    const name = await store(objects, WHOLE.subarray(0, 1000))
    const Key = PREFIX + name
    await server.client.send(new PutObjectCommand({ Bucket: server.bucket, Key, Body: 'garbage' }))
    expect(await failing(objects.open(name, 1000))).to.be.instanceOf(BlobGone)
    expect(await failing(objects.open(name, 1000, { start: 500, end: 600 }))).to.be.instanceOf(BlobGone)
  })

  it('an object store that answers nothing is told of, in time, once', async () => {
    const log: string[] = []
    const hasty = objectsAt(server.url(PREFIX, proxy.port), {
      waits: { ...WAITS, answer: { quiet: 100, total: 100 } },
      log: (_level, message) => log.push(message),
    })
    proxy.break(/^GET/, { swallow: true }, 3)
    for (let i = 0; i < 2; i++)
      expect(await failing(hasty.open(stored, WHOLE.length)))
        .to.be.instanceOf(StoreError)
        .and.include({ reason: 'busy' })
    expect(log).to.deep.equal(['The object store does not answer'])
    hasty.close()
  })

  it('who begins to store something is told soon when nobody is there', async () => {
    const nowhere = objectsAt(server.url(PREFIX, 1), {
      waits: { ...WAITS, first: { quiet: 1e9, total: 1e9, unreached: 100 } },
    })
    const upload = nowhere.upload(randomUUID(), noted)
    await upload.write(Buffer.alloc(100))
    expect(await failing(upload.finish()))
      .to.be.instanceOf(StoreError)
      .and.include({ reason: 'busy' })
    nowhere.close()
  })

  describe('that hang', () => {
    const LONG = { quiet: 1e9, total: 1e9 }
    const STEADFAST = { ...LONG, steadfast: true as const }
    const patient = { answer: LONG, more: STEADFAST, first: LONG, later: STEADFAST, start: STEADFAST }
    const busy = (error: unknown) => expect(error).to.be.instanceOf(StoreError).and.include({ reason: 'busy' })

    it('HTTP-4 who begins something is told as soon as nobody answers a question, however long it might wait', async () => {
      const hasty = objectsAt(server.url(PREFIX, proxy.port), { waits: { ...patient, doubt: 1, probe: 1 } })
      proxy.break(/./, { swallow: true }, 1e9)
      const upload = hasty.upload(randomUUID(), noted)
      await upload.write(Buffer.alloc(100))
      busy(await failing(upload.finish()))
      expect(hasty.isThere()).to.equal(false)
      const asked = proxy.seen.filter(({ method }) => method !== 'HEAD').length
      busy(await failing(hasty.open(stored, WHOLE.length)))
      busy(await failing(hasty.upload(randomUUID(), noted).write(Buffer.alloc(1))))
      expect(proxy.seen.filter(({ method }) => method !== 'HEAD').length).to.equal(asked)
      hasty.close()
    })

    it('one that answers questions, and is slow with the rest, is waited for', async () => {
      const slow = objectsAt(server.url(PREFIX, proxy.port), { waits: { ...patient, doubt: 1, probe: 60_000 } })
      proxy.break(/^PUT/, { swallow: true })
      const upload = slow.upload(randomUUID(), noted)
      await upload.write(Buffer.alloc(100))
      let isOver = false
      const finishing = failing(upload.finish()).then(error => {
        isOver = true
        return error
      })
      // The question whether it is there has been answered, and another upload has gone through.
      while (!proxy.seen.some(({ method, target }) => method === 'HEAD' && target.endsWith('/probe')))
        await new Promise(resolve => setImmediate(resolve))
      await store(slow, WHOLE.subarray(0, 1000))
      expect([isOver, slow.isThere()]).to.deep.equal([false, true])
      slow.close()
      await finishing
    })

    it('a download that has begun goes on when it is back', async () => {
      const again = objectsAt(server.url(PREFIX, proxy.port), { waits: { ...patient, doubt: 1, probe: 60_000 } })
      const reader = await again.open(stored, WHOLE.length)
      const buffer = Buffer.alloc(1000)
      await reader.read(buffer, 0)
      proxy.break(/./, { cut: 0 }, 1e9)
      const reading = reader.read(buffer, 5_000_000)
      while (again.isThere()) await new Promise(resolve => setImmediate(resolve))
      proxy.mend()
      expect(await reading).to.equal(1000)
      expect(buffer.equals(WHOLE.subarray(5_000_000, 5_001_000))).to.equal(true)
      await reader.close()
      again.close()
    })
  })

  it('removing takes what is left of uploads along, and is fine twice', async () => {
    const name = randomUUID()
    await objects.upload(name, noted).write(WHOLE)
    expect(await server.unfinished(PREFIX + name)).to.have.length(1)
    await objects.remove(name)
    await objects.remove(name)
    expect(await server.unfinished(PREFIX + name)).to.deep.equal([])
    expect(await server.names(PREFIX + name)).to.deep.equal([])
  })

  describe('at the start', () => {
    const told = async (url: string) => {
      const tried = objectsAt(url, {
        waits: { ...WAITS, start: { quiet: 60_000, total: 120_000, unreached: 100, steadfast: true } },
      })
      const error = await failing(tried.prove())
      tried.close()
      expect(error).to.be.instanceOf(Unusable)
      return (error as Error).message
    }

    it('a bucket that can be used is fine, and nothing stays in it', async () => {
      const tried = objectsAt(server.url('trial/'))
      await tried.prove()
      tried.close()
      expect(await server.names('trial/')).to.deep.equal([])
    })

    it('a bucket that does not exist, a wrong key and a service that does not answer are told of in a sentence', async () => {
      const url = server.url(PREFIX)
      expect(await told(url.replace('@blobs/', '@other-bucket/'))).to.match(/the bucket other-bucket does not exist/)
      expect(await told(url.replace(':testing@', ':wrong@'))).to.match(/must be allowed to put, get and delete/)
      expect(await told(server.url(PREFIX, 1))).to.match(/127\.0\.0\.1:1 does not answer as it should/)
    })
  })

  it('a store that is killed and started again in the middle loses neither uploads nor downloads', async () => {
    const own = await newObjectServer()
    try {
      await own.start()
      const through = objectsAt(own.url(PREFIX))
      const first = await store(through, WHOLE)
      const reader = await through.open(first, WHOLE.length)
      const start = Buffer.alloc(100_000)
      await reader.read(start, 0)
      const name = randomUUID()
      const upload = through.upload(name, noted)
      await upload.write(WHOLE.subarray(0, PART + 1))
      await own.kill()
      const rest = upload.write(WHOLE.subarray(PART + 1)).then(() => upload.finish())
      const more = Buffer.alloc(WHOLE.length - 100_000)
      const [, , read] = await Promise.all([own.start(), rest, reader.read(more, 100_000)])
      expect(read).to.equal(more.length)
      expect(Buffer.concat([start, more]).equals(WHOLE)).to.equal(true)
      expect((await blobBytes(blobOf(through, name, WHOLE.length))).equals(WHOLE)).to.equal(true)
      await reader.close()
      through.close()
    } finally {
      await own.remove()
    }
  })
})
