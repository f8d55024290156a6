import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { blobBytes, type StagedBlob, StagingError } from '../../../../pipeline/store/blobs.ts'
import type { SiteStore } from '../../../../pipeline/store/store.ts'
import { done, type Open, type Opened, there } from '../fixture.ts'

const digest = (name: string, bytes: Uint8Array) => createHash(name).update(bytes).digest('hex')

/** Bodies that arrive as streams, and blobs, whatever the store. */
export function describeStaging(open: Open): void {
  let opened: Opened
  let site: SiteStore
  beforeEach(async () => {
    opened = await open({ inlineLimit: 1000 })
    site = opened.store.site('example.org')
  })
  afterEach(() => opened.close())

  const stage = (bytes: Uint8Array, chunk = 65_536, limit = 2 ** 30) => {
    const pieces = function* () {
      for (let from = 0; from < bytes.length; from += chunk) yield bytes.subarray(from, from + chunk)
    }
    return opened.store.stage(Readable.from(pieces()), { limit, checksums: true })
  }
  const putStaged = (path: string, staged: StagedBlob, kind: 'document' | 'blob' = 'blob') =>
    done(site, [{ op: 'put', path, kind, content: { staged }, type: 'x/y' }])
  const bytesAt = async (path: string) => {
    const body = await site.body(await there(site, path))
    if (body === undefined) throw new Error(`No body at ${path}`)
    return 'bytes' in body ? Buffer.from(body.bytes) : blobBytes(body.blob)
  }

  for (const size of [
    0,
    1,
    1000,
    1001,
    65_537,
    (1 << 20) - 1,
    1 << 20,
    (1 << 20) + 1,
    (1 << 22) - 1,
    1 << 22,
    5_300_001,
    9_000_001,
  ]) {
    it(`computes size and three digests of ${size} bytes and gives them back`, async () => {
      const bytes = Buffer.from(Array.from({ length: Math.min(size, 4096) }, (_, i) => (i * 7919) % 251))
      const whole = Buffer.alloc(size, bytes.length === 0 ? undefined : bytes)
      for (let at = 4096; at < size - 4; at += 4096) whole.writeUInt32LE(at, at)
      const staged = await stage(whole, size > 100_000 ? 65_536 : 777)
      expect(staged.size).to.equal(size)
      for (const name of ['sha256', 'sha1', 'md5'] as const) expect(staged[name], name).to.equal(digest(name, whole))
      expect(staged.bytes !== undefined).to.equal(size <= 1000)
      await putStaged('/blob', staged)
      expect((await bytesAt('/blob')).equals(whole)).to.equal(true)
      expect(await there(site, '/blob')).to.include({ size, digest: staged.sha256 })
      expect(await site.checksums(await there(site, '/blob'))).to.deep.equal({ sha1: staged.sha1, md5: staged.md5 })
      await staged.discard()
      expect((await bytesAt('/blob')).equals(whole)).to.equal(true)
    })
  }

  it('DAV-43 SHA-1 and MD5 of a body for which nobody waits are known of the stored one, however many ask', async () => {
    const whole = Buffer.alloc(1_500_000, 'abc')
    const staged = await opened.store.stage(Readable.from([whole]), { limit: 1e9 })
    expect(staged.sha256).to.equal(digest('sha256', whole))
    await putStaged('/blob', staged)
    await done(site, [{ op: 'copy', from: '/blob', to: '/copy', deep: false }])
    const wanted = { sha1: digest('sha1', whole), md5: digest('md5', whole) }
    const resources = [await there(site, '/blob'), await there(site, '/blob'), await there(site, '/copy')]
    for (let i = 0; i < 2; i++)
      expect(await Promise.all(resources.map(each => site.checksums(each)))).to.deep.equal([wanted, wanted, wanted])
    site = (await opened.reopen()).site('example.org')
    expect(await site.checksums(await there(site, '/copy'))).to.deep.equal(wanted)
    await opened.intact()
  })

  for (const [name, size, limit] of [
    ['in memory', 900, 899],
    ['in a file', 3_000_000, 2_999_999],
    ['in a larger file', 7_000_000, 6_999_999],
  ] as const) {
    it(`a body over the limit is refused ${name}, one of exactly the limit is not, and the stream stays open`, async () => {
      const stream = Readable.from([Buffer.alloc(size - 1), Buffer.alloc(1), Buffer.alloc(5)])
      const error = await opened.store.stage(stream, { limit }).catch((error: unknown) => error)
      expect(error).to.be.instanceOf(StagingError).and.include({ reason: 'too-large' })
      expect(stream.destroyed).to.equal(false)
      expect((await stage(Buffer.alloc(size), 65_536, size)).size).to.equal(size)
    })

    it(`DAV-43 a body that breaks off ${name} is refused as aborted`, async () => {
      const broken = async function* () {
        yield Buffer.alloc(size)
        throw new Error('connection lost')
      }
      const error = await opened.store
        .stage(Readable.from(broken()), { limit: 2 ** 30 })
        .catch((error: unknown) => error)
      expect(error).to.be.instanceOf(StagingError).and.include({ reason: 'aborted' })
    })
  }

  it('memory given back between and during bodies changes nothing of them', async () => {
    const whole = Buffer.alloc(2_000_001, 'abc')
    const first = await stage(whole)
    await putStaged('/first', first)
    opened.store.relax?.()
    const coming = [stage(whole), stage(whole)]
    opened.store.relax?.()
    for (const staged of [...(await Promise.all(coming)), await stage(whole)]) {
      for (const name of ['sha256', 'sha1', 'md5'] as const) expect(staged[name], name).to.equal(digest(name, whole))
      await staged.discard()
    }
    expect((await bytesAt('/first')).equals(whole)).to.equal(true)
    expect(await there(site, '/first')).to.include({ size: whole.length })
  })

  it('bodies arriving at the same time do not mix', async () => {
    const bodies = Array.from({ length: 8 }, (_, i) => Buffer.alloc(2_500_000 + i, i + 1))
    const staged = await Promise.all(bodies.map(body => stage(body, 60_000 + 1)))
    expect(staged.map(({ sha256, md5 }) => [sha256, md5])).to.deep.equal(
      bodies.map(body => [digest('sha256', body), digest('md5', body)]),
    )
    await Promise.all(staged.map((each, i) => putStaged(`/${i}`, each)))
    for (const [i, body] of bodies.entries()) expect((await bytesAt(`/${i}`)).equals(body)).to.equal(true)
  })

  it('a staged body may be committed again after a refusal, and under several paths', async () => {
    const staged = await stage(Buffer.alloc(5000, 'x'))
    const content = { staged }
    const base = { op: 'put', kind: 'blob', content, type: 'x/y' } as const
    expect(await site.commit({ changes: [{ ...base, path: '/a', expect: 'present' }] })).to.include({ ok: false })
    await done(site, [
      { ...base, path: '/a' },
      { ...base, path: '/b' },
    ])
    await staged.discard()
    await staged.discard()
    for (const path of ['/a', '/b']) expect(await bytesAt(path)).to.have.length(5000)
  })

  it('a large staged body can become a document', async () => {
    const staged = await stage(Buffer.alloc(5000, 'x'))
    await putStaged('/a.html', staged, 'document')
    expect(await site.body(await there(site, '/a.html'))).to.have.property('bytes')
    await staged.discard()
    expect(await bytesAt('/a.html')).to.have.length(5000)
  })

  it('a large blob becomes a document when it is moved, also within one commit', async () => {
    const bytes = Buffer.alloc(5000, 'y')
    const base = { op: 'put', kind: 'blob', content: { bytes }, type: 'x/y' } as const
    const rest = { type: 'text/html', kind: 'document' } as const
    await done(site, [{ ...base, path: '/a' }])
    await done(site, [{ op: 'copy', from: '/a', to: '/a.html', deep: false, ...rest }])
    await done(site, [
      { ...base, path: '/b', content: { bytes: Buffer.alloc(5000, 'z') } },
      { op: 'move', from: '/b', to: '/b.html', ...rest },
    ])
    expect((await bytesAt('/a.html')).equals(bytes)).to.equal(true)
    expect(await bytesAt('/b.html')).to.have.length(5000)
    expect((await bytesAt('/a')).equals(bytes)).to.equal(true)
  })

  it('large blobs survive moves, copies and replacement of their neighbours', async () => {
    const [x, y] = [Buffer.alloc(5000, 'x'), Buffer.alloc(5000, 'y')]
    const blob = (path: string, bytes: Buffer) =>
      ({ op: 'put', path, kind: 'blob', content: { bytes }, type: 'x/y' }) as const
    await done(site, [blob('/d/a', x), blob('/d/b', x)])
    await done(site, [{ op: 'copy', from: '/d/', to: '/e/', deep: true }])
    await done(site, [blob('/d/a', y), { op: 'delete', path: '/d/b' }])
    expect((await bytesAt('/d/a')).equals(y)).to.equal(true)
    for (const path of ['/e/a', '/e/b']) expect((await bytesAt(path)).equals(x)).to.equal(true)
  })
}
