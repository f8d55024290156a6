import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { PassedEdit } from '../../../../pipeline/store/commit.ts'
import { connectReader, connectWriter } from '../../../../pipeline/store/sqlite/schema.ts'
import { openSqliteStore } from '../../../../pipeline/store/sqlite/store.ts'
import type { Store } from '../../../../pipeline/store/store.ts'
import { done, type OpenedFolder, openTemporary, put } from '../fixture.ts'

const SITE = 'a.example'

async function withShared(work: (mine: Store, other: Store, opened: OpenedFolder) => Promise<void>): Promise<void> {
  const opened = await openTemporary({ shared: true })
  try {
    await work(opened.store, await opened.another(), opened)
  } finally {
    await opened.close()
  }
}

const read = async (store: Store) => (await store.foreign?.read())?.commits
const told = async (store: Store) => (await read(store))?.map(({ site, paths, raised }) => ({ site, paths, raised }))

describe('commits of other processes', () => {
  it('RULE-11 are told in their order, once, as soon as they are acknowledged', () =>
    withShared(async (mine, other) => {
      expect(mine.foreign?.waiting()).to.equal(false)
      const first = await done(other.site(SITE), [put('/a.html', 'a')])
      await done(other.site('b.example'), { changes: [put('/b.html', 'b')], raises: ['access'] })
      expect(mine.foreign?.waiting()).to.equal(true)
      const commits = await read(mine)
      expect(commits?.map(({ version: _, ...rest }) => rest)).to.deep.equal([
        { site: SITE, paths: ['/a.html'], raised: [] },
        { site: 'b.example', paths: ['/b.html'], raised: ['access'] },
      ])
      expect(commits?.[0]?.version).to.equal(first.version)
      expect(mine.foreign?.waiting()).to.equal(false)
      expect(await read(mine)).to.deep.equal([])
    }))

  it('leave out what the process committed itself', () =>
    withShared(async (mine, other) => {
      await done(mine.site(SITE), [put('/mine.html', '')])
      await done(other.site(SITE), [put('/other.html', '')])
      await done(mine.site(SITE), [put('/mine.html', 'again')])
      expect(await told(mine)).to.deep.equal([{ site: SITE, paths: ['/other.html'], raised: [] }])
      expect((await told(other))?.map(({ paths }) => paths)).to.deep.equal([['/mine.html'], ['/mine.html']])
    }))

  it('name both ends of a move, collections with their slash, and events that lie elsewhere', () =>
    withShared(async (mine, other) => {
      await done(other.site(SITE), [put('/c/a.html', 'a'), put('/c/b.html', 'b')])
      await done(other.site(SITE), {
        changes: [{ op: 'move', from: '/c/', to: '/d/' }],
        events: ['/c/a.html', '/d/a.html', '/elsewhere.html'].map(path => ({ path, payload: '' })),
      })
      const commits = await read(mine)
      expect(commits?.[1]?.paths).to.deep.equal(['/c/', '/d/', '/elsewhere.html'])
    }))

  it('bring along how to make their edit, where the commit says so', () =>
    withShared(async (mine, other) => {
      await done(other.site(SITE), {
        changes: [put('/a.html', 'a')],
        edit: { path: '/a.html', what: 'an edit' } as PassedEdit,
      })
      const left = await other.site(SITE).find('/a.html')
      await done(other.site(SITE), [put('/a.html', 'b')])
      const edit = { path: '/a.html', what: 'an edit', left }
      expect((await read(mine))?.map(commit => commit.edit)).to.deep.equal([edit, undefined])
    }))

  it('are nothing when they were refused', () =>
    withShared(async (mine, other) => {
      const result = await other.site(SITE).commit({ changes: [put('/a.html', 'a', { expect: 5 })] })
      expect(result.ok).to.equal(false)
      expect(mine.foreign?.waiting()).to.equal(false)
    }))

  it('cannot be told one by one after a process that keeps no log has committed', () =>
    withShared(async (mine, _other, opened) => {
      await done(mine.site(SITE), [put('/a.html', 'a')])
      await read(mine)
      const plain = await openSqliteStore({ folder: opened.folder })
      expect(plain.foreign).to.equal(undefined)
      await done(plain.site(SITE), [put('/b.html', 'b')])
      await plain.close()
      expect(await read(mine)).to.equal(undefined)
      expect(await read(mine)).to.deep.equal([])
    }))

  it('cannot be told one by one when there are too many', () =>
    withShared(async (mine, other) => {
      const site = other.site(SITE)
      await Promise.all(Array.from({ length: 20_001 }, () => site.commit({ changes: [], events: [] })))
      expect(await read(mine)).to.equal(undefined)
      await done(site, [put('/a.html', 'a')])
      expect(await told(mine)).to.have.length(1)
    }))

  it('RULE-11 that could not be read are news still', () =>
    withShared(async (mine, other, opened) => {
      await done(other.site(SITE), [put('/a.html', 'a')])
      const database = connectWriter(opened.folder)
      for (const table of ['progress', 'commit_log']) {
        database.exec(`ALTER TABLE ${table} RENAME TO away`)
        const outcome = await mine.foreign?.read().catch(() => 'failed')
        expect(outcome, table).to.equal('failed')
        database.exec(`ALTER TABLE away RENAME TO ${table}`)
        expect(mine.foreign?.waiting(), table).to.equal(true)
      }
      database.close()
      expect(await told(mine)).to.deep.equal([{ site: SITE, paths: ['/a.html'], raised: [] }])
    }))

  it('are forgotten when there are many newer ones', () =>
    withShared(async (_mine, other, opened) => {
      const site = other.site(SITE)
      const database = connectReader(opened.folder)
      const count = database.prepare<{ count: number }>('SELECT count(*) AS count FROM commit_log')
      await Promise.all(Array.from({ length: 20_500 }, () => site.commit({ changes: [], events: [] })))
      opened.clock.now += 60_000
      // The writer cleans up behind its answers: the second commit finds that done.
      for (const path of ['/a.html', '/b.html']) await done(site, [put(path, '')])
      expect(count.get()?.count).to.be.within(20_000, 20_002)
      database.close()
    }))
})

describe('settings of several processes', () => {
  it('keep the value that was there first where it is asked for', () =>
    withShared(async (mine, other) => {
      await Promise.all([mine, other].map((store, i) => store.setSetting('key', `${i}`, { unlessSet: true })))
      const [first, second] = [await mine.setting('key'), await other.setting('key')]
      expect(first).to.be.oneOf(['0', '1'])
      expect(second).to.equal(first)
      await mine.setSetting('key', 'new')
      expect(await other.setting('key')).to.equal('new')
    }))
})
