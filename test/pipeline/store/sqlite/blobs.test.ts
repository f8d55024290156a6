import crypto, { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { migrateStore } from '../../../../pipeline/store/backup/migrate.ts'
import { saveStore } from '../../../../pipeline/store/backup/save.ts'
import { blobBytes } from '../../../../pipeline/store/blobs.ts'
import { createProvenFiles } from '../../../../pipeline/store/disk/proven-files.ts'
import { BlobChanged, Unusable } from '../../../../pipeline/store/errors.ts'
import { prepareOrphanSearch } from '../../../../pipeline/store/sqlite/housekeeping/orphaned-blobs.ts'
import { connectReader, connectWriter } from '../../../../pipeline/store/sqlite/schema.ts'
import type { SiteStore } from '../../../../pipeline/store/store.ts'
import { eventually } from '../../../support/eventually.ts'
import { done, type OpenedFolder, openTemporary, put, putBlob, there } from '../fixture.ts'

const MINUTE = 60_000

describe('SQLite store: files of blobs', () => {
  let opened: OpenedFolder
  let site: SiteStore
  beforeEach(async () => {
    opened = await openTemporary({ inlineLimit: 1000 })
    site = opened.store.site('example.org')
  })
  afterEach(() => opened.close())

  const large = Buffer.alloc(5000, 'x')
  const staged = () => readdir(join(opened.folder, 'staging'))
  const fileOf = async (path: string) => {
    const body = await site.body(await there(site, path))
    if (body === undefined || !('blob' in body) || body.blob.file === undefined) throw new Error('Not in a file')
    return body.blob.file
  }
  /** Lets the writing thread clean up: it does so behind the answer to one commit and before the next. */
  const settle = async () => {
    opened.clock.now += MINUTE
    for (let i = 0; i < 2; i++) await done(site, [put('/settle', String(i))])
  }

  it('small blobs and all documents are in the database, large blobs in files named by their digest', async () => {
    await done(site, [putBlob('/small', large.subarray(0, 1000)), putBlob('/large', large), put('/doc', String(large))])
    expect(await site.body(await there(site, '/small'))).to.have.property('bytes')
    expect(await site.body(await there(site, '/doc'))).to.have.property('bytes')
    const { digest } = await there(site, '/large')
    expect(await fileOf('/large')).to.equal(join(opened.folder, 'blobs', digest.slice(0, 2), digest.slice(2)))
  })

  it('the same bytes are kept once', async () => {
    await done(site, [putBlob('/a', large), putBlob('/b', large)])
    await done(site, [putBlob('/c', large)])
    expect(new Set([await fileOf('/a'), await fileOf('/b'), await fileOf('/c')]).size).to.equal(1)
    await settle()
    await eventually(async () => expect(await staged()).to.deep.equal([]))
  })

  it('bytes that were damaged on the disk are whole again where they are stored again', async () => {
    await done(site, [putBlob('/a', large)])
    const file = await fileOf('/a')
    await writeFile(file, Buffer.alloc(large.length, 'y'))
    await done(site, [putBlob('/b', large)])
    expect((await readFile(file)).equals(large)).to.equal(true)
    await eventually(async () => expect(await staged()).to.deep.equal([]))
  })

  it('HTTP-4 what has arrived and cannot be removed fails no write: who drops it knows what was stored', async () => {
    const body = await opened.store.stage(Readable.from([large]), { limit: 1e9 })
    await done(site, [{ op: 'put', path: '/large', kind: 'blob', content: { staged: body }, type: 'x/y' }])
    // A folder is not removed as a file is.
    await mkdir(body.place ?? '')
    await body.discard()
    expect(await fileOf('/large').then(existsSync)).to.equal(true)
  })

  describe('HTTP-4 the proof of a file that is read as a whole', () => {
    const read = async (path: string) => {
      const body = await site.body(await there(site, path))
      if (body === undefined || !('blob' in body)) throw new Error('Not in a file')
      return blobBytes(body.blob).catch((error: unknown) => error)
    }
    /** How many digests are begun meanwhile. */
    const digestsDuring = async (work: () => Promise<unknown>) => {
      const { createHash } = crypto
      let count = 0
      Object.assign(crypto, {
        createHash: (...given: Parameters<typeof createHash>) => {
          count++
          return createHash(...given)
        },
      })
      syncBuiltinESMExports()
      try {
        await work()
      } finally {
        Object.assign(crypto, { createHash })
        syncBuiltinESMExports()
      }
      return count
    }

    let written = 1_000_000
    /** Times of files may be too coarse for what comes one after another. */
    const write = async (bytes: Buffer) => {
      const file = await fileOf('/a')
      await writeFile(file, bytes)
      await utimes(file, ++written, written)
    }

    it('is made once, and again when somebody has written to it', async () => {
      await done(site, [putBlob('/a', large)])
      expect(await digestsDuring(() => read('/a'))).to.equal(1)
      expect(await digestsDuring(() => read('/a'))).to.equal(0)
      await write(large)
      expect(await digestsDuring(() => read('/a'))).to.equal(1)
      await write(Buffer.alloc(5000, 'y'))
      for (let i = 0; i < 2; i++) expect(await read('/a')).to.be.instanceOf(BlobChanged)
      await write(large)
      expect(await read('/a')).to.deep.equal(large)
    })

    it('keeps a backup and a move to another store from taking other bytes, and they say so', async () => {
      await done(site, [putBlob('/a', large)])
      await write(Buffer.alloc(5000, 'y'))
      const other = await openTemporary()
      const works = [
        () => saveStore(opened.store, join(other.folder, 'backup'), { settings: [] }),
        () => migrateStore(opened.store, other.store, { settings: [] }),
      ]
      for (const work of works) {
        const error = await work().catch((thrown: unknown) => thrown)
        expect(error).to.be.instanceOf(Unusable)
        expect(String(error)).to.match(/\/a does not hold the bytes that it should/)
      }
      await other.close()
    })

    it('is not needed to know that its size is another one', async () => {
      await done(site, [putBlob('/a', large)])
      await write(large.subarray(1))
      expect(await read('/a')).to.be.instanceOf(BlobChanged)
    })

    it('is remembered of so many files', async () => {
      const files = createProvenFiles(opened.folder, 2)
      const blobs = [large, Buffer.alloc(5000, 'y'), Buffer.alloc(5000, 'z')]
      await done(
        site,
        blobs.map((bytes, i) => putBlob(`/${i}`, bytes)),
      )
      const readOne = (bytes: Buffer) => blobBytes(files.blob(hash('sha256', bytes), bytes.length))
      const again = async () => {
        const counts: number[] = []
        for (const bytes of blobs) counts.push(await digestsDuring(() => readOne(bytes)))
        return counts
      }
      expect(await again()).to.deep.equal([1, 1, 1])
      expect((await again()).some(count => count === 1)).to.equal(true)
    })

    it('says nothing of what is not read in order', async () => {
      await done(site, [putBlob('/a', large)])
      const body = await site.body(await there(site, '/a'))
      if (body === undefined || !('blob' in body)) throw new Error('Not in a file')
      const reader = await body.blob.open()
      await reader.read(Buffer.alloc(100), 4000)
      expect(await reader.read(Buffer.alloc(5000), 0)).to.equal(5000)
      await reader.close()
      expect(await read('/a')).to.deep.equal(large)
    })
  })

  describe('DAV-43 SHA-1 and MD5 of a large blob', () => {
    const sums = { sha1: hash('sha1', large), md5: hash('md5', large) }
    const kept = () => {
      const database = connectReader(opened.folder)
      const row = database.prepare<{ sha1: string; md5: string }>('SELECT sha1, md5 FROM blob').get()
      database.close()
      return row
    }
    const unknown = { sha1: '', md5: '' }
    const arrive = async (checksums?: boolean) => {
      const body = await opened.store.stage(Readable.from([large]), { limit: 1e9, checksums })
      await done(site, [{ op: 'put', path: '/large', kind: 'blob', content: { staged: body }, type: 'x/y' }])
    }
    const untilKept = async () => {
      while (kept()?.sha1 === '') await setTimeout(10)
      expect(kept()).to.deep.equal(sums)
    }

    it('are computed while it arrives for those who name them', async () => {
      await arrive(true)
      expect(kept()).to.deep.equal(sums)
    })

    it('are computed for others when somebody asks, and kept', async () => {
      await arrive()
      expect(kept()).to.deep.equal(unknown)
      expect(await site.checksums(await there(site, '/large'))).to.deep.equal(sums)
      expect(kept()).to.deep.equal(sums)
    })

    it('are computed when it stays quiet, though nobody asks; by the next process where this one has ended before', async () => {
      await opened.close()
      opened = await openTemporary({ inlineLimit: 1000, quiet: 1 })
      site = opened.store.site('example.org')
      await arrive()
      await untilKept()
      await opened.raw("UPDATE blob SET sha1 = '', md5 = ''")
      await opened.reopen()
      await untilKept()
    })

    it('are those of an upload that names them, where the same bytes came without before', async () => {
      await arrive()
      await arrive(true)
      expect(kept()).to.deep.equal(sums)
    })

    it('are computed while it arrives where an earlier release may read them', async () => {
      await opened.close()
      opened = await openTemporary({ inlineLimit: 1000, shared: true })
      site = opened.store.site('example.org')
      await arrive()
      expect(kept()).to.deep.equal(sums)
    })

    it('are unknown where its bytes are lost, which holds up nothing', async () => {
      await arrive()
      await rm(await fileOf('/large'))
      expect(await site.checksums(await there(site, '/large'))).to.equal(undefined)
      const other = Buffer.alloc(6000, 'y')
      const body = await opened.store.stage(Readable.from([other]), { limit: 1e9 })
      await done(site, [{ op: 'put', path: '/other', kind: 'blob', content: { staged: body }, type: 'x/y' }])
      expect(await site.checksums(await there(site, '/other'))).to.include({ md5: hash('md5', other) })
    })
  })

  for (const [name, lengths] of [
    ['short pieces', Array.from({ length: 3000 }, (_, i) => i % 3)],
    ['pieces longer than what is written at once', [300_000, 131_072, 1, 700_001]],
    ['many pieces, more than may be on their way at once', Array.from({ length: 200 }, () => 65_536)],
  ] as const)
    for (const checksums of [false, true])
      it(`${name} are stored in their order${checksums ? ', their digests computed meanwhile' : ''}`, async () => {
        const bytes = Buffer.from(
          Array.from({ length: lengths.reduce((sum, length) => sum + length, 0) }, (_, i) => i * i),
        )
        let at = 0
        const pieces = lengths.filter(Boolean).map(length => bytes.subarray(at, (at += length)))
        const body = await opened.store.stage(Readable.from(pieces), { limit: 1e9, checksums })
        await done(site, [{ op: 'put', path: '/large', kind: 'blob', content: { staged: body }, type: 'x/y' }])
        expect((await readFile(await fileOf('/large'))).equals(bytes)).to.equal(true)
        expect(body).to.include({ size: bytes.length, sha256: hash('sha256', bytes) })
        if (checksums) expect(body).to.include({ sha1: hash('sha1', bytes), md5: hash('md5', bytes) })
      })

  it('HTTP-182 an aborted or oversized body leaves nothing behind', async () => {
    const failing = async function* () {
      yield large
      throw new Error('connection lost')
    }
    await opened.store.stage(Readable.from(failing()), { limit: 1e9 }).catch(() => undefined)
    await opened.store.stage(Readable.from([large, large]), { limit: 6000 }).catch(() => undefined)
    expect(await staged()).to.deep.equal([])
  })

  it('a discarded body leaves nothing behind, a refused commit keeps it until then', async () => {
    const body = await opened.store.stage(Readable.from([large]), { limit: 1e9 })
    const change = {
      op: 'put',
      path: '/a',
      kind: 'blob',
      content: { staged: body },
      type: '',
      expect: 'present',
    } as const
    expect(await site.commit({ changes: [change] })).to.include({ ok: false })
    expect(await staged()).to.have.length(1)
    await body.discard()
    expect(await staged()).to.deep.equal([])
  })

  it('a refused commit of a large blob in memory leaves nothing behind', async () => {
    expect(await site.commit({ changes: [putBlob('/a', large, { expect: 'present' })] })).to.include({ ok: false })
    expect(await staged()).to.deep.equal([])
  })

  it('a file goes some time after the last resource that used it', async () => {
    await done(site, [putBlob('/a', large), putBlob('/b', large)])
    const file = await fileOf('/a')
    await done(site, [{ op: 'delete', path: '/a' }])
    opened.clock.now += 20 * MINUTE
    await settle()
    expect(existsSync(file), 'still used').to.equal(true)
    await done(site, [put('/b', 'replaced')])
    opened.clock.now += 2 * MINUTE
    await settle()
    expect(existsSync(file), 'within the time of grace').to.equal(true)
    opened.clock.now += 2 * MINUTE
    await settle()
    expect(existsSync(file), 'after it').to.equal(false)
    await done(site, [putBlob('/c', large)])
    expect(existsSync(await fileOf('/c'))).to.equal(true)
  })

  it('a file that is used again in time stays', async () => {
    await done(site, [putBlob('/d/a', large)])
    const file = await fileOf('/d/a')
    await done(site, [{ op: 'delete', path: '/d/' }])
    opened.clock.now += 9 * MINUTE
    await done(site, [putBlob('/b', large)])
    opened.clock.now += 20 * MINUTE
    await settle()
    expect(existsSync(file)).to.equal(true)
  })

  it('files that a crash left without a row go after the next start, though nothing is written', async () => {
    await done(site, [putBlob('/a', large)])
    const file = await fileOf('/a')
    const orphans = [join(file, '..', 'f'.repeat(62))]
    for (let i = 0; i < 20; i++) {
      const shard = join(opened.folder, 'blobs', (i * 12).toString(16).padStart(2, '0'))
      await mkdir(shard, { recursive: true })
      for (let j = 0; j < 60; j++) orphans.push(join(shard, String(j).padStart(62, '0')))
    }
    for (const orphan of orphans) await writeFile(orphan, 'x')
    await opened.reopen()
    while (orphans.some(existsSync)) await new Promise(setImmediate)
    expect(existsSync(file)).to.equal(true)
    expect(await staged()).to.satisfy((left: string[]) => left.every(name => name.includes('-gone-')))
  })

  it('files that a crash left without a row go also where the store is told to rest as soon as it is open', async () => {
    await done(site, [putBlob('/a', large)])
    const orphan = join(await fileOf('/a'), '..', 'f'.repeat(62))
    await writeFile(orphan, 'x')
    await opened.reopen()
    opened.store.relax?.()
    await eventually(() => expect(existsSync(orphan)).to.equal(false))
  })

  it('a file whose row was lost stays as long as something stored refers to it: it is all that is left of the content', async () => {
    await done(site, [putBlob('/a', large)])
    const file = await fileOf('/a')
    await opened.store.close()
    const database = connectWriter(opened.folder)
    database.exec('DELETE FROM blob')
    const search = prepareOrphanSearch(database, opened.folder)
    while (search.next() !== undefined);
    expect(existsSync(file)).to.equal(true)
    database.exec('DELETE FROM resource')
    const again = prepareOrphanSearch(database, opened.folder)
    while (again.next() !== undefined);
    expect(existsSync(file), 'nothing refers to it').to.equal(false)
    database.close()
  })

  it('staged files of processes that are gone are removed at the start, those of living ones kept', async () => {
    const folder = join(opened.folder, 'staging')
    const host = hostname().replace(/[^\w.]/g, '_')
    const mine = await opened.store.stage(Readable.from([large]), { limit: 1e9 })
    const gone = [`${host}-${process.pid}-0123456789ab-1`, `${host}-4194304999-0123456789ab-1`, 'elsewhere-1-0-1']
    const kept = [`${host}-${process.ppid}-0123456789ab-1`, 'elsewhere-1-0-2']
    for (const name of [...gone, ...kept]) await writeFile(join(folder, name), 'x')
    await utimes(join(folder, 'elsewhere-1-0-1'), 1, 1)
    // No start fails by what somebody else has put there.
    await mkdir(join(folder, 'folder'))
    await utimes(join(folder, 'folder'), 1, 1)
    await opened.another()
    const left = await staged()
    expect(left).to.include.members([...kept, 'folder'])
    expect(left).to.have.length(kept.length + 2)
    await done(site, [{ op: 'put', path: '/a', kind: 'blob', content: { staged: mine }, type: '' }])
    expect(existsSync(await fileOf('/a'))).to.equal(true)
  })

  it('no bytes of other values reach the database', async () => {
    const pool = Buffer.from('secret-secret-secret-public')
    await done(site, [put('/a', '', { content: { bytes: pool.subarray(21) } })])
    const database = connectReader(opened.folder)
    const row = database.prepare<{ bytes: Uint8Array }>('SELECT bytes FROM body').get()
    database.close()
    expect(Buffer.from(row?.bytes ?? []).toString()).to.equal('public')
    expect(pool.toString()).to.equal('secret-secret-secret-public')
  })
})
