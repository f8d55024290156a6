import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { DERIVATION, OUTDATED } from '../../../../pipeline/store/derivation.ts'
import { Unusable } from '../../../../pipeline/store/errors.ts'
import { KEPT_APART } from '../../../../pipeline/store/sqlite/read/reader.ts'
import { connectWriter, DATABASE, LOCK_WAIT, notesSince } from '../../../../pipeline/store/sqlite/schema.ts'
import { done, openTemporary, put, putBlob } from '../fixture.ts'
import {
  asBefore,
  isBoundNoted,
  isCdataNoted,
  NOTED_BEFORE,
  NOTED_BY_THIRD,
  putBound,
  putCdata,
} from '../release-before.ts'

describe('SQLite store: folders of earlier releases', () => {
  it('events of format 4, which share no bodies, are read and added to', async () => {
    const opened = await openTemporary()
    try {
      await done(opened.store.site('example.org'), {
        changes: [put('/a', 'A')],
        events: [{ path: '/a', payload: 'old' }],
      })
      await opened.store.close()
      const database = connectWriter(opened.folder)
      database.exec('DROP INDEX event_body; ALTER TABLE event DROP COLUMN body; ALTER TABLE event DROP COLUMN tail')
      database.exec('PRAGMA user_version = 4')
      database.close()
      const site = (await opened.reopen()).site('example.org')
      await done(site, { changes: [put('/a', 'B')], events: [{ path: '/a', payload: 'new' }] })
      expect((await site.events('/a')).map(({ payload }) => payload)).to.deep.equal(['old', 'new'])
      await opened.intact()
    } finally {
      await opened.close()
    }
  })

  it('a log of commits of format 5, which holds no edits, is read and added to', async () => {
    const opened = await openTemporary({ shared: true })
    try {
      await opened.store.close()
      const database = connectWriter(opened.folder)
      database.exec('ALTER TABLE commit_log DROP COLUMN edit; PRAGMA user_version = 5')
      database.close()
      const site = (await opened.reopen()).site('example.org')
      const other = await opened.another()
      await done(site, { changes: [put('/a', 'A')], edit: { path: '/a' } })
      expect((await other.foreign?.read())?.commits?.map(({ edit }) => edit?.path)).to.deep.equal(['/a'])
      await opened.intact()
    } finally {
      await opened.close()
    }
  })

  it('RULE-11 derived data of format 6, which say no derivation, count as they are', async () => {
    const opened = await openTemporary()
    try {
      await done(opened.store.site('example.org'), [put('/a', 'A', { derived: { profile: '{}' } })])
      await opened.store.close()
      const database = connectWriter(opened.folder)
      database.exec('DROP TRIGGER outdated; DROP TRIGGER no_longer_outdated')
      database.exec('ALTER TABLE derived DROP COLUMN derivation; PRAGMA user_version = 6')
      database.close()
      const site = (await opened.reopen()).site('example.org')
      expect(await site.derived('/a', 'profile')).to.equal('{}')
      expect(await site.derived('/a', OUTDATED)).to.equal(undefined)
      await done(site, [{ op: 'copy', from: '/a', to: '/b', deep: false }])
      expect(await site.derived('/b', OUTDATED)).to.equal(undefined)
      await opened.raw(asBefore('a', { profile: '{}' }))
      expect(await site.derived('/a', OUTDATED)).to.equal('1')
      await opened.intact()
    } finally {
      await opened.close()
    }
  })

  it('RULE-11 in a folder of format 11 derived data count as they are, until a server of a release before writes', async () => {
    const opened = await openTemporary()
    try {
      await done(opened.store.site('example.org'), [put('/a', 'A', { derived: { profile: '{}' } })])
      await opened.store.close()
      const before = connectWriter(opened.folder)
      const trigger = before
        .prepare<{ sql: string }>("SELECT sql FROM sqlite_schema WHERE name = 'outdated'")
        .get()?.sql
      const older = trigger?.replace(`<> ${DERIVATION}`, '<> 1') ?? ''
      expect(older).to.not.equal(trigger)
      before.exec(`DROP TRIGGER outdated; ${older}; UPDATE derived SET derivation = 1; PRAGMA user_version = 11`)
      before.close()
      const site = (await opened.reopen()).site('example.org')
      expect(await site.derived('/a', OUTDATED)).to.equal(undefined)
      for (const derivation of Array(DERIVATION).keys()) {
        await opened.raw(asBefore('a', { profile: '{}' }, derivation))
        expect(await site.derived('/a', OUTDATED), String(derivation)).to.equal('1')
        await done(site, [put('/a', 'B', { derived: { profile: '{}' } })])
        expect(await site.derived('/a', OUTDATED), String(derivation)).to.equal(undefined)
      }
      await opened.intact()
    } finally {
      await opened.close()
    }
  })

  it('RULE-11 of a folder of format 12 those documents are noted that may be read otherwise since', async () => {
    const opened = await openTemporary()
    try {
      await putCdata(opened.store.site('example.org'))
      await opened.store.close()
      const before = connectWriter(opened.folder)
      before.exec(`${NOTED_BEFORE}; PRAGMA user_version = 12`)
      before.close()
      await isCdataNoted((await opened.reopen()).site('example.org'))
      await opened.intact()
    } finally {
      await opened.close()
    }
  })

  it('RULE-11 of a folder of format 13 those documents are noted that may have other values since', async () => {
    const opened = await openTemporary()
    try {
      await putBound(opened.store.site('example.org'))
      await opened.store.close()
      const before = connectWriter(opened.folder)
      before.exec(`${NOTED_BY_THIRD}; PRAGMA user_version = 13`)
      before.close()
      await isBoundNoted((await opened.reopen()).site('example.org'))
      await opened.intact()
    } finally {
      await opened.close()
    }
  })

  it('RULE-11 what a format has noted is not noted once more by those after it', async () => {
    const opened = await openTemporary()
    try {
      const site = opened.store.site('example.org')
      await putCdata(site)
      await putBound(site)
      for (const [format, noted] of [
        [14, []],
        [13, ['/bound']],
        [12, ['/bound', '/svg']],
      ] as const) {
        await opened.raw(notesSince(format))
        const found: string[] = []
        for (const path of ['/bound', '/unbound', '/svg', '/plain'])
          if ((await site.derived(path, OUTDATED)) !== undefined) found.push(path)
        expect(found, String(format)).to.deep.equal(noted)
      }
      expect(notesSince(0)).to.equal('')
    } finally {
      await opened.close()
    }
  })

  it('a newer release that makes its tables, however long that takes, is waited for and known', async () => {
    const opened = await openTemporary()
    try {
      await opened.raw('PRAGMA user_version = 13')
      await opened.store.close()
      // It holds the folder when this one looks at it, and lets go when this one waits.
      const newer = new Worker(
        `const { DatabaseSync } = require('node:sqlite')
         const { parentPort, workerData } = require('node:worker_threads')
         const database = new DatabaseSync(workerData)
         database.exec('BEGIN IMMEDIATE; PRAGMA user_version = 99')
         parentPort.postMessage('')
         setTimeout(() => database.exec('COMMIT'), ${LOCK_WAIT + 200})`,
        { eval: true, workerData: join(opened.folder, DATABASE) },
      )
      await once(newer, 'message')
      const over = once(newer, 'exit')
      const refused = await opened.reopen().catch((error: Error) => error)
      expect(refused).to.be.instanceOf(Unusable).with.property('message').that.includes('has format 99')
      await over
      const database = connectWriter(opened.folder)
      expect(database.prepare('PRAGMA user_version').get()).to.deep.equal({ user_version: 99 })
      database.close()
    } finally {
      await opened.close()
    }
  })

  it('files of format 7 whose bytes are kept apart are found by their index', async () => {
    const opened = await openTemporary()
    try {
      const large = Buffer.alloc(300 * 1024, 'x')
      await done(opened.store.site('example.org'), [putBlob('/a/small', Buffer.from('x')), putBlob('/a/large', large)])
      await opened.store.close()
      const before = connectWriter(opened.folder)
      before.exec('DROP INDEX resource_apart; PRAGMA user_version = 7')
      before.close()
      const found: string[] = []
      for await (const { path } of (await opened.reopen()).site('example.org').keptApart('/a/')) found.push(path)
      expect(found).to.deep.equal(['/a/large'])
      const database = connectWriter(opened.folder)
      const plan = database.prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${KEPT_APART}`).all(1, '/a/', '', '/a0', 9)
      database.close()
      expect(plan.map(({ detail }) => detail).join()).to.match(/USING INDEX resource_apart \(site=\? AND /)
    } finally {
      await opened.close()
    }
  })

  it('EVT-28 a folder of format 9, which has no bundles of events, gets them', async () => {
    const opened = await openTemporary()
    try {
      await done(opened.store.site('example.org'), [putBlob('/a/1', Buffer.from('x'))])
      await opened.store.close()
      const before = connectWriter(opened.folder)
      before.exec('DROP TABLE event_bundle; PRAGMA user_version = 9')
      before.close()
      const site = (await opened.reopen()).site('example.org')
      const tell = { gone: { around: ['gone ', ''] }, come: { around: ['', '', '', ''] }, largestBody: 100 } as const
      await done(site, [{ op: 'delete', path: '/a/', tell }])
      expect((await site.events('/a/1')).map(({ payload }) => payload)).to.deep.equal(['gone /a/1'])
      await opened.intact()
    } finally {
      await opened.close()
    }
  })
})
