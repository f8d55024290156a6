import { mkdir, mkdtemp, readdir, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { Commit, Guard } from '../../../../pipeline/store/commit.ts'
import { openDatabase } from '../../../../pipeline/store/sqlite/database.ts'
import { prepareOverdue } from '../../../../pipeline/store/sqlite/housekeeping/retention.ts'
import { DATABASE } from '../../../../pipeline/store/sqlite/schema.ts'
import { openSqliteStore } from '../../../../pipeline/store/sqlite/store.ts'
import { startWriter } from '../../../../pipeline/store/sqlite/writer/writer.ts'

const RETENTION = 600_000
const MINUTE = 60_000

describe('The writing thread', () => {
  let folder: string
  let begun: number
  const count = () => {
    begun++
  }
  /** The process tells of threads a little later. */
  const turn = () => new Promise(resolve => setImmediate(resolve))

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scriptorium-thread-'))
    begun = 0
    process.on('worker', count)
  })
  afterEach(async () => {
    process.off('worker', count)
    await rm(folder, { recursive: true, force: true })
  })

  it('begins with the first write, not with the store', async () => {
    for (const [value, expected] of [
      ['one', 0],
      ['two', 1],
    ] as const) {
      const store = await openSqliteStore({ folder })
      expect([await store.setting('name'), await store.sites(), begun]).to.deep.equal([
        expected ? 'one' : undefined,
        [],
        expected,
      ])
      await store.setSetting('name', value)
      await store.setSetting('name', value)
      expect([await store.setting('name'), begun]).to.deep.equal([value, expected + 1])
      await store.close()
    }
  })

  it('leaves all in the main file, in case that the log is lost while nobody serves it', async () => {
    const store = await openSqliteStore({ folder })
    await store.setSetting('name', 'value')
    await store.close()
    await rm(join(folder, `${DATABASE}-wal`), { force: true })
    await rm(join(folder, `${DATABASE}-shm`), { force: true })
    const again = await openSqliteStore({ folder })
    expect(await again.setting('name')).to.equal('value')
    await again.close()
  })

  it('SEC-12 of what a commit demands no more is copied in one turn than nobody notices, and all of it counts', async () => {
    let most = 0
    let copied = 0
    const looked = (worker: Worker) => {
      const post = worker.postMessage.bind(worker)
      worker.postMessage = (message: { guards?: readonly Guard[]; jobs?: { commit?: Partial<Commit> }[] }, list?) => {
        if (copied === 0)
          setImmediate(() => {
            most = Math.max(most, copied)
            copied = 0
          })
        const demands = [message, ...(message.jobs?.flatMap(({ commit }) => commit ?? []) ?? [])]
        for (const { guards } of demands) for (const { any } of guards ?? []) copied += any.length
        post(message, list)
      }
    }
    process.on('worker', looked)
    const store = await openSqliteStore({ folder })
    const free = Array.from({ length: 9000 }, (_, i): Guard => ({ any: [[`key ${i}`]], expect: 'none' }))
    const guarded = (path: string, guards: Guard[]) =>
      store.site('a').commit({ changes: [{ op: 'collection', path }], guards })
    const together = Array.from({ length: 4 }, (_, i) => {
      const more: Guard[] = i === 3 ? [{ any: [['other']], expect: 'some' }] : []
      return guarded(`/${i}/`, [...free.slice(0, 1500), ...more])
    })
    const [done, refused, few] = await Promise.all([
      guarded('/done/', free),
      guarded('/refused/', [...free, { any: [['other']], expect: 'some' }]),
      guarded('/few/', free.slice(0, 3)),
    ])
    expect(done).to.include({ ok: true })
    expect(refused).to.include({ ok: false, reason: 'guard', guard: 9000 })
    expect(few).to.include({ ok: true })
    expect((await Promise.all(together)).map(({ ok }) => ok)).to.deep.equal([true, true, true, false])
    // A reference may ask for one of many types.
    const wide = Array.from(
      { length: 100 },
      (_, i): Guard => ({
        any: Array.from({ length: 50 }, (_, k) => [`key ${i} ${k}`]),
        expect: i < 99 ? 'none' : 'some',
      }),
    )
    const missing = await Promise.all([guarded('/wide/', wide), guarded('/beside/', [])])
    expect(missing.map(({ ok }) => ok)).to.deep.equal([false, true])
    expect(most).to.be.within(1, 2000)
    process.off('worker', looked)
    await store.close()
  })

  it('begins with the store where a file may be without a row', async () => {
    await mkdir(join(folder, 'blobs', 'ab'), { recursive: true })
    const store = await openSqliteStore({ folder })
    await turn()
    expect(begun).to.equal(1)
    await store.close()
  })

  it('ends when the store is at rest, and begins again with the next write', async () => {
    const store = await openSqliteStore({ folder })
    store.relax?.()
    for (const value of ['one', 'two', 'three']) {
      const set = store.setSetting('name', value)
      // One that is waited for does not end.
      store.relax?.()
      await set
      store.relax?.()
    }
    expect([await store.setting('name'), begun]).to.deep.equal(['three', 3])
    await store.close()
    await store.close()
    expect(
      await openSqliteStore({ folder }).then(async again => [await again.setting('name'), await again.close()]),
    ).to.deep.equal(['three', undefined])
  })

  it('stays for the next store where it is to, and is not taken for one after it has died', async () => {
    const freeThreads: Worker[] = []
    const threads: Worker[] = []
    for (const [name, expected] of [
      ['a', 1],
      ['b', 1],
      ['c', 2],
    ] as const) {
      const store = await openSqliteStore({ folder: join(folder, name), freeThreads })
      const wanted = store.setSetting('name', name)
      await Promise.all([wanted, store.close()])
      expect(await store.setSetting('name', 'late').catch(error => error.reason)).to.equal('closed')
      expect([begun, freeThreads.length]).to.deep.equal([expected, 1])
      const held = await Promise.all(
        (await readdir('/proc/self/fd')).map(fd => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
      )
      expect(held.filter(file => file.startsWith(join(folder, name)))).to.deep.equal([])
      threads.push(...freeThreads)
      if (name === 'b') await freeThreads[0]?.terminate()
      const again = await openSqliteStore({ folder: join(folder, name) })
      expect([await again.setting('name'), begun]).to.deep.equal([name, expected])
      await again.close()
    }
    expect([threads[0] === threads[1], threads[1] === threads[2]]).to.deep.equal([true, false])
    await Promise.all(freeThreads.map(thread => thread.terminate()))
  })

  it('SEC-12 reads large documents, and takes them a piece at a time', async () => {
    const store = await openSqliteStore({ folder })
    const site = store.site('a')
    const put = (path: string, bytes: Uint8Array, more: object = {}) =>
      site.commit({
        changes: [
          { op: 'put', path, expect: 'absent', kind: 'document', type: 'text/html', content: { bytes }, ...more },
        ],
        events: [],
      })
    const large = Buffer.alloc(9_000_000, 'lorem ipsum ')
    const order: string[] = []
    const done = (name: string) => () => order.push(name)
    // What is submitted while the large one is copied goes after it.
    await Promise.all([
      put('/large.html', large).then(done('large')),
      turn().then(() => put('/small.html', Buffer.from('x')).then(done('small'))),
    ])
    expect(order).to.deep.equal(['large', 'small'])
    store.relax?.()
    const resource = await site.find('/large.html')
    if (!resource) throw new Error('not stored')
    let turns = 0
    const count = () => {
      turns++
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    const body = await site.body(resource)
    clearImmediate(next)
    // The thread is not even there before a turn of the event loop has passed.
    expect(turns).to.be.at.least(1)
    expect(body && 'bytes' in body && Buffer.compare(body.bytes, large)).to.equal(0)
    expect(await site.body({ ...resource, version: resource.version + 9 })).to.equal(undefined)
    const inside = await store.snapshot(async state => state.site('a').body(resource))
    expect(inside && 'bytes' in inside && inside.bytes.length).to.equal(large.length)
    const closing = put('/last.html', large)
    await store.close()
    expect((await closing).ok).to.equal(true)
    expect(await site.body(resource).catch(error => error.reason)).to.equal('closed')
  })

  it('SEC-12 has nothing to write where large documents are only read, however many: it waits for no other process', async () => {
    const log: string[] = []
    const store = await openSqliteStore({
      folder,
      lockWait: 1,
      clock: () => MINUTE,
      log: (_, message) => log.push(message),
    })
    const site = store.site('example.org')
    const bytes = Buffer.alloc(4 * 1024 * 1024, 'x')
    await site.commit({
      changes: [{ op: 'put', path: '/large', kind: 'document', content: { bytes }, type: 'text/html' }],
    })
    // It has cleaned up once when it comes to this.
    await store.setSetting('name', 'first')
    const resource = await site.find('/large')
    const other = openDatabase(join(folder, DATABASE), { wait: 1 })
    other.exec('BEGIN IMMEDIATE')
    try {
      for (let times = 0; times < 3; times++) expect(resource && (await site.body(resource))).to.have.property('bytes')
      // What the thread tells of the last one comes behind its answer, and before that of another job.
      await store.setSetting('name', 'value').catch(() => undefined)
    } finally {
      other.exec('ROLLBACK')
      other.close()
      await store.close()
    }
    expect(log).to.deep.equal([])
  })

  it('is heard within a turn of the event loop, as soon as there is more for it', async () => {
    const store = await openSqliteStore({ folder })
    await store.setSetting('name', 'first')
    let heard = 0
    void store.setSetting('name', 'second').then(() => heard++)
    await turn()
    // From here on no turn ends: the thread is given time by standing still.
    const nothing = new Int32Array(new SharedArrayBuffer(4))
    for (let looks = 0; heard === 0 && looks < 2_000; looks++) {
      Atomics.wait(nothing, 0, 0, 20)
      void store.setSetting('name', 'third')
      for (let i = 0; i < 10; i++) await undefined
    }
    expect(heard).to.equal(1)
    await store.close()
  })

  it('begins to clean up when something is overdue', async () => {
    const store = await openSqliteStore({ folder })
    await store.close()
    const writing = {
      folder,
      eventRetention: RETENTION,
      lockWait: 5000,
      origin: undefined,
      pages: 1 << 20,
      search: false,
    }
    const writer = startWriter(
      writing,
      () => undefined,
      now => now > 5,
    )
    writer.housekeeping(5)
    await turn()
    expect(begun).to.equal(0)
    writer.housekeeping(6)
    writer.housekeeping(7)
    await turn()
    expect(begun).to.equal(1)
    // Nothing is left: it ends, and the next one begins when there is something again.
    writer.housekeeping(3)
    writer.housekeeping(4)
    await turn()
    expect(begun).to.equal(1)
    writer.housekeeping(8)
    await turn()
    expect(begun).to.equal(2)
    await writer.close()
    writer.housekeeping(9)
    await turn()
    expect(begun).to.equal(2)
  })

  it('knows what is overdue: events, bytes that nothing refers to, notes, and what is remembered of events', async () => {
    const store = await openSqliteStore({ folder })
    await store.close()
    const database = openDatabase(join(folder, 'store.sqlite'), { wait: 5000 })
    const isOverdue = prepareOverdue(database, RETENTION)
    const at = 1_000_000_000
    database.exec("INSERT INTO site (id, name, ms, seq) VALUES (1, 'a', 0, 0)")
    const cases: [insert: string, table: string, due: number][] = [
      [
        `INSERT INTO event (site, ms, seq, path, version, payload, bytes) VALUES (1, ${at}, 0, '/a', 1, '', 1)`,
        'event',
        RETENTION,
      ],
      [`INSERT INTO blob (digest, size, sha1, md5, unused) VALUES ('a', 1, 'b', 'c', ${at})`, 'blob', 3 * MINUTE],
      [`INSERT INTO note (key, value, expires) VALUES ('a', 'b', ${at})`, 'note', -1],
      [`INSERT INTO dropped (site, path, ms, seq) VALUES (1, '/a', ${at}, 0)`, 'dropped', 24 * 60 * MINUTE],
    ]
    for (const [insert, table, due] of cases) {
      expect(isOverdue(at + 1000 * MINUTE * 60), table).to.equal(false)
      database.exec(insert)
      expect([isOverdue(at + due), isOverdue(at + due + 1)], table).to.deep.equal([false, true])
      database.exec(`DELETE FROM ${table}`)
    }
    database.close()
  })
})
