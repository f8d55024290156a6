import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import type { CommitResult } from '../../../../pipeline/store/commit.ts'
import { blobFile, messageOf } from '../../../../pipeline/store/disk/folder.ts'
import { checkFolder } from '../../../../pipeline/store/sqlite/check/check.ts'
import { reasonOf } from '../../../../pipeline/store/sqlite/database.ts'
import { connectWriter, DATABASE } from '../../../../pipeline/store/sqlite/schema.ts'
import { openSqliteStore } from '../../../../pipeline/store/sqlite/store.ts'
import type { SiteStore } from '../../../../pipeline/store/store.ts'
import { eventually } from '../../../support/eventually.ts'
import { run } from '../../../support/program.ts'
import { done, type OpenedFolder, openTemporary, put, putBlob, temporaryFolder, textAt, there } from '../fixture.ts'

/** What became of a commit: `ok`, the reason of a refusal, or the reason of an error. */
const outcome = (commit: Promise<CommitResult>) =>
  commit.then(
    result => (result.ok ? 'ok' : result.reason),
    (error: { reason: string }) => `error: ${error.reason}`,
  )

describe('SQLite store: failures', () => {
  let opened: OpenedFolder
  let site: SiteStore
  let threads: Worker[]
  const collect = (thread: Worker) => threads.push(thread)
  beforeEach(async () => {
    threads = []
    process.on('worker', collect)
    opened = await openTemporary({ freeThreads: [] })
    site = opened.store.site('example.org')
    await done(site, [put('/kept', 'K')])
  })
  afterEach(async () => {
    process.off('worker', collect)
    await opened.close()
  })

  /** Makes the database itself fail where a name is stored. */
  const fail = (name: string, how: 'ABORT' | 'ROLLBACK') => {
    const database = connectWriter(opened.folder)
    database.exec(`CREATE TRIGGER t${name} BEFORE INSERT ON resource WHEN NEW.name = '${name}'
                   BEGIN SELECT RAISE(${how}, 'no'); END`)
    database.close()
  }

  it('HTTP-172 a disk that fails where nobody waits for it ends no process', async () => {
    const { setInterval: own } = globalThis
    const looks: (() => void)[] = []
    Object.assign(globalThis, {
      setInterval: (look: () => void, wait: number) => {
        looks.push(look)
        return own(look, wait)
      },
    })
    const said: string[] = []
    const { folder, remove } = await temporaryFolder()
    const store = await openSqliteStore({ folder, log: (_, message) => said.push(message) }).finally(() =>
      Object.assign(globalThis, { setInterval: own }),
    )
    const database = connectWriter(folder)
    database.exec('ALTER TABLE event RENAME TO away')
    database.close()
    expect(looks).to.have.length(1)
    for (const look of looks) look()
    expect(said).to.deep.equal(['The data folder could not be looked after'])
    await store.close()
    await remove()
  })

  it('DAV-90 files of blobs whose commits fail at the end go at once, and those of others stay', async () => {
    await opened.close()
    opened = await openTemporary({ inlineLimit: 1000 })
    site = opened.store.site('example.org')
    const [kept, lost] = [Buffer.alloc(5000, 1), Buffer.alloc(5000, 2)]
    await done(site, [putBlob('/kept.bin', kept)])
    const blobs = join(opened.folder, 'blobs')
    const files = () => readdirSync(blobs, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
    expect(files()).to.have.length(1)
    const database = connectWriter(opened.folder)
    database.exec(`CREATE TRIGGER last BEFORE UPDATE ON progress BEGIN SELECT RAISE(ABORT, 'no'); END`)
    const failures = [lost, kept, lost].map((bytes, i) =>
      outcome(site.commit({ changes: [putBlob(`/${i}.bin`, bytes)] })),
    )
    expect(await Promise.all(failures)).to.deep.equal(Array(3).fill('error: failed'))
    expect(files()).to.have.length(1)
    database.exec('DROP TRIGGER last')
    database.close()
    await done(site, [putBlob('/lost.bin', lost)])
    for (const [path, bytes] of Object.entries({ '/kept.bin': kept, '/lost.bin': lost }))
      expect(readFileSync(blobFile(opened.folder, (await there(site, path)).digest))).to.deep.equal(bytes)
  })

  for (const how of ['ABORT', 'ROLLBACK'] as const) {
    it(`a commit that the database fails (${how}) does not harm those around it`, async () => {
      fail('bad', how)
      const outcomes = await Promise.all([
        outcome(site.commit({ changes: [put('/d/a', '1')], events: [{ path: '/d/a', payload: 'p' }], raises: ['n'] })),
        outcome(site.commit({ changes: [put('/d/b', '2'), put('/d/bad', 'x')], raises: ['n'] })),
        outcome(site.commit({ changes: [put('/d/c', '3')], raises: ['n'] })),
        outcome(site.commit({ changes: [{ op: 'delete', path: '/none' }] })),
      ])
      expect(outcomes).to.deep.equal(['ok', 'error: failed', 'ok', 'missing'])
      expect((await site.list('/d/')).map(({ path }) => path)).to.deep.equal(['/d/a', '/d/c'])
      expect(await site.counters()).to.deep.equal({ n: 2 })
      expect(await site.allEvents(undefined, 10)).to.have.length(1)
      const { findings } = await checkFolder(opened.folder, { repair: false })
      expect(findings.map(({ message }) => message)).to.deep.equal(['The trigger tbad does not belong to the store'])
    })
  }

  it('when the writing thread dies, commits on their way are rejected and later ones succeed', async () => {
    const running = Array.from({ length: 50 }, (_, i) => outcome(site.commit({ changes: [put(`/d/${i}`, 'x')] })))
    await new Promise(setImmediate)
    await threads[0]?.terminate()
    const outcomes = await Promise.all(running)
    for (const each of outcomes) expect(each).to.be.oneOf(['ok', 'error: failed'])
    for (const [i, each] of outcomes.entries()) if (each === 'ok') expect(await textAt(site, `/d/${i}`)).to.equal('x')
    expect(await outcome(site.commit({ changes: [put('/after', 'A')] }))).to.equal('ok')
    expect(await textAt(site, '/kept')).to.equal('K')
    expect(threads).to.have.length(2)
  })

  it('when the writing thread cannot be started again, commits are rejected and reads go on, until it can', async () => {
    const database = connectWriter(opened.folder)
    const version = database.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version
    database.exec('PRAGMA user_version = 1; ALTER TABLE setting RENAME TO away')
    await threads[0]?.terminate()
    for (let i = 0; i < 5; i++) {
      expect(await outcome(site.commit({ changes: [put('/a', 'A')] }))).to.equal('error: failed')
    }
    expect(threads.length).to.be.lessThan(5)
    expect(await textAt(site, '/kept')).to.equal('K')
    database.exec(`ALTER TABLE away RENAME TO setting; PRAGMA user_version = ${version}`)
    database.close()
    await eventually(async () => expect(await outcome(site.commit({ changes: [put('/a', 'A')] }))).to.equal('ok'))
  })

  it('a lock that another process keeps is an error of its own, and passes', async () => {
    const impatient = await openSqliteStore({ folder: opened.folder, lockWait: 50 })
    const other = connectWriter(opened.folder)
    other.exec('BEGIN IMMEDIATE')
    const commit = () => outcome(impatient.site('example.org').commit({ changes: [put('/a', 'A')] }))
    expect(await commit()).to.equal('error: busy')
    other.exec('ROLLBACK')
    other.close()
    expect(await commit()).to.equal('ok')
    await impatient.close()
  })

  it('a value that cannot be sent rejects and does not block', async () => {
    const odd = { changes: [put('/a', 'A', { type: (() => 'x') as unknown as string })] }
    const error = await site.commit(odd).catch((error: unknown) => error)
    expect(error).to.be.instanceOf(Error)
    expect(await outcome(site.commit({ changes: [put('/a', 'A')] }))).to.equal('ok')
  })

  it('a disk that takes no more fails commits; what was acknowledged stays', async () => {
    const { folder, remove } = await temporaryFolder()
    const child = fork(new URL('./full-disk-child.ts', import.meta.url), [folder], {
      execPath: '/bin/bash',
      execArgv: ['-c', `ulimit -f 3000; exec "${process.execPath}" "$0" "$@"`],
    })
    const acknowledged: string[] = []
    const errors: string[] = []
    child.on('message', (message: { ok: string } | { error: string }) => {
      if ('ok' in message) acknowledged.push(message.ok)
      else errors.push(message.error)
    })
    await once(child, 'exit')
    // A limit on file sizes is not called a full disk by the system, but ends the same way.
    expect(errors).to.deep.equal(['unwritable', 'unwritable'])
    expect(acknowledged.length).to.be.greaterThan(5)
    const store = await openSqliteStore({ folder })
    for (const path of acknowledged) expect(await store.site('s').find(path), path).to.not.equal(undefined)
    await store.close()
    expect((await checkFolder(folder, { repair: false })).findings).to.deep.equal([])
    await remove()
  })

  it('closing finishes what was submitted, in a process that has nothing else to wait for', async () => {
    const { folder, remove } = await temporaryFolder()
    const child = fileURLToPath(new URL('./close-child.ts', import.meta.url))
    expect(await run(process.execPath, [child, folder])).to.deep.equal({ code: 0, output: 'closed\n' })
    const store = await openSqliteStore({ folder })
    expect(await store.setting('last')).to.equal('word')
    await store.close()
    await remove()
  })

  it('HTTP-172 a disk that is full or takes no writes is told from other failures', async () => {
    const database = connectWriter(opened.folder)
    database.exec('PRAGMA max_page_count = 1')
    expect(() => database.exec("INSERT INTO setting VALUES ('a', hex(zeroblob(100000)))"))
      .to.throw()
      .satisfy((error: unknown) => reasonOf(error) === 'full')
    database.close()
    for (const refused of [{ code: 'ENOSPC' }, { errno: -constants.errno.EDQUOT }])
      expect(reasonOf(Object.assign(new Error(), refused)), JSON.stringify(refused)).to.equal('full')
    const refusals = ['EROFS', 'EIO', 'EACCES', 'EPERM'].map(code => ({ code }))
    const disk = [...refusals, { errno: -constants.errno.ESTALE }]
    for (const refused of [{ errcode: 778 }, { errcode: 8 }, { errcode: 1032 }, ...disk])
      expect(reasonOf(Object.assign(new Error(), refused)), JSON.stringify(refused)).to.equal('unwritable')
    for (const code of ['EMFILE', 'ENFILE'])
      expect(reasonOf(Object.assign(new Error(), { code })), code).to.equal('busy')
    // What could not be read, and what may be on disk or not.
    for (const errcode of [10, 266, 1034]) expect(reasonOf(Object.assign(new Error(), { errcode }))).to.equal('failed')
    expect(reasonOf(new Error())).to.equal('failed')
    expect(reasonOf(undefined)).to.equal('failed')
    const [unnamed, stale] = ['EDQUOT', 'ESTALE'].map(
      name => `Unknown system error -${constants.errno[name as 'ESTALE']}`,
    )
    for (const [message, told] of [
      [`${unnamed}: ${unnamed}, mkdir '/x'`, "EDQUOT: disk quota exceeded, mkdir '/x'"],
      [`${unnamed}, write`, 'EDQUOT: disk quota exceeded, write'],
      [`${stale}: ${stale}, open '/x'`, "ESTALE: stale file handle, open '/x'"],
      [
        'Unknown system error -9999: Unknown system error -9999, read',
        'Unknown system error -9999: Unknown system error -9999, read',
      ],
      ["EIO: i/o error, mkdir '/x'", "EIO: i/o error, mkdir '/x'"],
    ])
      expect(messageOf(new Error(message))).to.equal(told)
  })

  it('a folder of a newer release is refused', async () => {
    const { folder, remove } = await temporaryFolder()
    await (await openSqliteStore({ folder })).close()
    const database = connectWriter(folder)
    database.exec('PRAGMA user_version = 99')
    database.close()
    const error = await openSqliteStore({ folder }).catch((error: unknown) => error)
    expect(error).to.be.instanceOf(Error).and.have.property('message').that.contains('format 99')
    await remove()
  })

  it('a file that is no database is refused', async () => {
    const { folder, remove } = await temporaryFolder()
    await writeFile(join(folder, DATABASE), 'x'.repeat(10_000))
    expect(await openSqliteStore({ folder }).catch((error: unknown) => error)).to.be.instanceOf(Error)
    await remove()
  })
})
