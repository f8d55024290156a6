import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import pg from 'pg'
import type { Change, PassedEdit } from '../../../../pipeline/store/commit.ts'
import { checkDatabase } from '../../../../pipeline/store/postgres/check.ts'
import type { SiteStore } from '../../../../pipeline/store/store.ts'
import { sharedCluster } from '../../../support/postgres.ts'
import { done, put, textAt, there } from '../fixture.ts'
import { type OpenedSchema, openSchema } from './fixture.ts'

describe('what a writer remembers of PostgreSQL', () => {
  let opened: OpenedSchema
  let site: SiteStore
  beforeEach(async () => {
    opened = await openSchema({ shared: true })
    site = opened.store.site('a.example')
    await done(site, [put('/d/a.html', 'A')])
  })
  afterEach(async () => {
    await opened.intact()
    await opened.close()
  })

  /** Calls of the functions that groups of commits consist of, in the transactions of this store since it was opened. */
  async function callsIn(work: () => Promise<unknown>): Promise<Record<string, number>> {
    const cluster = await sharedCluster()
    await cluster.run(`ALTER ROLE postgres SET track_functions = 'pl'`)
    try {
      await opened.reopen()
      site = opened.store.site('a.example')
      await work()
      // A connection says what it has called when it ends.
      await opened.reopen()
    } finally {
      await cluster.run('ALTER ROLE postgres RESET track_functions')
    }
    const { rows } = await cluster.run(
      `SELECT funcname, calls::int FROM pg_stat_user_functions WHERE schemaname = '${opened.schema}'`,
    )
    return Object.fromEntries(rows.map(({ funcname, calls }) => [funcname, calls]))
  }

  it('has each of the commits that follow one another be a single call', async () => {
    const calls = await callsIn(async () => {
      await done(site, [put('/d/b.html', 'B')])
      for (let i = 0; i < 5; i++) {
        await done(site, [put(`/d/new-${i}.html`, 'x', { expect: 'absent' })])
        await done(site, [put('/d/b.html', `B${i}`)])
      }
    })
    expect(calls).to.deep.equal({ read_group_4: 1, write_group_5: 11 })
  })

  it('is asked anew where it is not enough, and follows what other commits do', async () => {
    await done(site, [put('/d/b.html', 'B', { entries: [{ item: '1', keys: ['k'] }], derived: { x: '1' } })])
    await done(site, [put('/d/b.html', 'C', { entries: [{ item: '1', keys: ['l'] }], derived: { y: '2' } })])
    expect(await site.lookup(['k'])).to.deep.equal([])
    expect(await site.lookup(['l'])).to.deep.equal([{ path: '/d/b.html', item: '1' }])
    await done(site, [{ op: 'move', from: '/d/', to: '/e/' }])
    const again = await site.commit({ changes: [put('/d/b.html', 'D', { expect: 'absent' })] })
    expect(again.ok).to.equal(true)
    const moved = await site.commit({ changes: [put('/e/b.html', 'E', { expect: 'absent' })] })
    expect(moved).to.include({ ok: false, reason: 'version' })
    await done(site, [{ op: 'delete', path: '/e/b.html' }])
    await done(site, [put('/e/b.html', 'F', { expect: 'absent' })])
    expect(await site.lookup(['l'])).to.deep.equal([])
  })

  /** Has the writer see that there are others: from then on it waits for its turn before it looks at what it remembers. */
  async function meet(other: SiteStore): Promise<void> {
    for (const each of [site, other, site]) await done(each, [put('/met.html', 'x')])
  }

  it('follows what others commit in between, and reads nothing again', async () => {
    const calls = await callsIn(async () => {
      const store = await opened.another()
      const other = store.site('a.example')
      await meet(other)
      for (const text of ['B', 'C', 'D']) {
        await done(other, [put('/d/a.html', text)])
        await done(site, [put('/d/a.html', `${text}'`)])
        await done(other, [put(`/d/${text}.html`, 'x', { expect: 'absent', entries: [{ item: '1', keys: ['k'] }] })])
        await done(site, [put(`/d/${text}.html`, 'y', { entries: [{ item: '1', keys: ['l'] }] })])
      }
      await store.close()
    })
    site = opened.store.site('a.example')
    expect(await textAt(site, '/d/a.html')).to.equal("D'")
    expect(await site.lookup(['k'])).to.deep.equal([])
    expect((await site.lookup(['l'])).map(({ path }) => path)).to.have.members(
      ['B', 'C', 'D'].map(text => `/d/${text}.html`),
    )
    // Each of both reads when it begins and when it finds out about the other, and what it has not seen yet.
    expect(calls.read_group_4).to.equal(4)
  })

  it('RULE-11 MOD-40 follows what another server has read of a document again: nothing stays of what it had indexed', async () => {
    const other = (await opened.another()).site('a.example')
    const entries = (...keys: string[]) => [{ item: keys.join(), keys }]
    await meet(other)
    await done(site, [put('/d/a.html', 'B', { entries: entries('old') })])
    await other.derive(await there(other, '/d/a.html'), {}, entries('new'))
    await done(site, [put('/d/a.html', 'C', { entries: entries('old', 'newest') })])
    const found = async (key: string) => (await site.lookup([key])).length
    expect([await found('old'), await found('new'), await found('newest')]).to.deep.equal([1, 0, 1])
    await other.derive(await there(other, '/d/a.html'), {}, entries('new'))
    await done(site, [put('/d/a.html', 'D', { entries: entries('old', 'newest') })])
    expect([await found('old'), await found('new'), await found('newest')]).to.deep.equal([1, 0, 1])
  })

  it('DAV-52 counters of the site are those of the last commit of anybody, also for who waits for its turn', async () => {
    const other = (await opened.another()).site('a.example')
    await meet(other)
    await other.commit({ changes: [put('/d/c.html', 'B')], raises: ['access'] })
    const next = { changes: [put('/met.html', 'C')], requires: { access: 0 } }
    expect(await site.commit(next)).to.deep.equal({ ok: false, reason: 'counter', counter: 'access', current: 1 })
  })

  it('nothing counts of what is remembered when others have committed more than is followed', async () => {
    const other = (await opened.another()).site('a.example')
    await meet(other)
    for (let i = 0; i < 70; i++) await done(other, [put('/d/a.html', `${i}`)])
    const found = await site.find('/d/a.html')
    const late = await site.commit({ changes: [put('/d/a.html', 'mine', { expect: 1 })] })
    expect(late).to.deep.equal({ ok: false, reason: 'version', path: '/d/a.html', current: found })
    await done(site, [put('/d/a.html', 'mine', { expect: found?.version })])
  })

  /** What another process may do between two commits of this one, and what the next has to say then. */
  const meanwhile: Readonly<Record<string, [change: Change, next: Change, reason: string | undefined]>> = {
    'puts something where nothing was': [
      put('/d/new.html', 'other'),
      put('/d/new.html', 'mine', { expect: 'absent' }),
      'version',
    ],
    'makes a collection where nothing was': [
      put('/d/new.html/deep.html', 'other'),
      put('/d/new.html', 'mine', { expect: 'absent' }),
      'kind',
    ],
    'replaces a file': [put('/d/a.html', 'other'), put('/d/a.html', 'mine', { expect: 1 }), 'version'],
    'removes a file': [{ op: 'delete', path: '/d/a.html' }, put('/d/a.html', 'mine', { expect: 1 }), 'version'],
    'removes a collection': [
      { op: 'delete', path: '/d/' },
      put('/d/new.html', 'mine', { expect: 'absent', needsParent: true }),
      'missing',
    ],
    'does something else': [put('/other.html', 'other'), put('/d/a.html', 'mine', { expect: 1 }), undefined],
  }
  for (const [what, [change, next, reason]] of Object.entries(meanwhile)) {
    for (const isMet of [false, true]) {
      it(`HTTP-4 does not count when another process ${what}${isMet ? ', of which it has seen commits' : ''}`, async () => {
        const other = (await opened.another()).site('a.example')
        if (isMet) await meet(other)
        await done(other, [change])
        const result = await site.commit({ changes: [next] })
        expect(result.ok ? undefined : result.reason).to.equal(reason)
      })
    }
  }

  it('DAV-8 a commit whose turn comes late is confirmed again, in its transaction', async () => {
    const raw = new pg.Client({ connectionString: opened.url })
    await raw.connect()
    try {
      await raw.query(`SET search_path = ${opened.schema}; BEGIN; SELECT FROM progress FOR UPDATE`)
      let confirmed = 0
      const confirm = () => (++confirmed === 1 ? undefined : Promise.reject(new Error('the lease is lost')))
      const late = site.commit({ changes: [put('/d/a.html', 'late')], confirm }).catch((error: Error) => error.message)
      const isWaiting = `SELECT FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid
        OR NOT granted AND relation = 'progress'::regclass`
      while ((await raw.query(isWaiting)).rowCount === 0);
      await raw.query('SELECT pg_sleep(1.1); COMMIT')
      expect(await late).to.equal('the lease is lost')
      expect(confirmed).to.equal(2)
      expect(await textAt(site, '/d/a.html')).to.equal('A')
    } finally {
      await raw.end()
    }
  })

  it('DAV-52 counters of the site are those of the last commit of anybody', async () => {
    const other = (await opened.another()).site('a.example')
    await site.commit({ changes: [put('/d/a.html', 'B')], requires: { access: 0 }, raises: ['access'] })
    const second = { changes: [put('/d/a.html', 'C')], requires: { access: 1 } }
    expect((await site.commit(second)).ok).to.equal(true)
    await other.commit({ changes: [put('/d/c.html', 'B')], raises: ['access'] })
    expect(await site.commit(second)).to.deep.equal({ ok: false, reason: 'counter', counter: 'access', current: 2 })
  })

  it('DAV-36 says nothing of the times of a path where something was before', async () => {
    opened.clock.now += 5000
    await site.commit({ changes: [put('/d/gone.html', 'x')], events: [{ path: '/d/gone.html', payload: 'x' }] })
    const { now } = opened.clock
    const change: Change = { op: 'delete', path: '/d/gone.html' }
    await site.commit({ changes: [change], events: [{ path: '/d/gone.html', payload: 'x' }] })
    opened.clock.now -= 3000
    await done(site, [put('/d/gone.html', 'y', { expect: 'absent' })])
    expect(await site.find('/d/gone.html')).to.include({ modified: now, sameSecond: true })
  })

  it('RULE-11 nobody has to be told of the commits of this process, unless another commits in between', async () => {
    const other = (await opened.another()).site('a.example')
    const { foreign } = opened.store
    await done(site, [put('/d/a.html', 'B')])
    await done(site, [put('/d/b.html', 'B', { expect: 'absent' }), { op: 'delete', path: '/d/a.html' }])
    expect(await foreign?.waiting()).to.equal(false)
    expect([foreign?.version(), foreign?.newest()]).to.deep.equal([3, 3])
    await done(other, [put('/e.html', 'B')])
    await done(site, [put('/d/b.html', 'C')])
    expect([foreign?.version(), foreign?.newest()]).to.deep.equal([3, 5])
    expect(await foreign?.waiting()).to.equal(true)
    const told = await foreign?.read()
    expect(told?.commits?.map(({ version, paths }) => [version, paths])).to.deep.equal([[4, ['/e.html']]])
    expect(foreign?.version()).to.equal(5)
  })

  it('RULE-11 is told of commits of others one by one, be they many or of many paths', async () => {
    const other = (await opened.another()).site('a.example')
    const { foreign } = opened.store
    const version = async () => (await other.find('/e.html'))?.version ?? 0
    await done(other, [put('/e.html', '0')])
    const first = await version()
    const told = async () => {
      expect(await foreign?.waiting()).to.equal(true)
      return (await foreign?.read())?.commits?.map(({ version, paths }) => [version, paths.length])
    }
    expect(await told()).to.deep.equal([[first, 1]])
    for (let i = 1; i <= 70; i++) await done(other, [put('/e.html', `${i}`)])
    expect(await told()).to.deep.equal(Array.from({ length: 70 }, (_, i) => [first + 1 + i, 1]))
    const many = Array.from({ length: 300 }, (_, i) => put(`/${'long'.repeat(10)}-${i}.html`, 'B'))
    await done(other, many)
    await done(other, [put('/e.html', 'last')])
    expect(await told()).to.deep.equal([
      [first + 71, 300],
      [first + 72, 1],
    ])
  })

  it('RULE-11 is told how others have made an edit, and what it left', async () => {
    const other = (await opened.another()).site('a.example')
    const { foreign } = opened.store
    const edit = { path: '/e.html', what: 'an edit\0' } as PassedEdit
    await done(other, { changes: [put('/e.html', 'B')], edit })
    expect(await foreign?.waiting()).to.equal(true)
    const left = await site.find('/e.html')
    expect((await foreign?.read())?.commits?.map(commit => commit.edit)).to.deep.equal([{ ...edit, left }])
  })

  it('sums that were repaired meanwhile stay as they were repaired', async () => {
    await opened.raw(`UPDATE resource SET members = NULL WHERE name = 'd'`)
    site = (await opened.reopen()).site('a.example')
    await done(site, [put('/d/b.html', 'B')])
    expect((await checkDatabase(opened, { repair: true })).repaired).to.be.above(0)
    await done(site, [put('/d/c.html', 'C', { expect: 'absent' })])
  })
})
