/** What every keeper of locks must do, run against each of them. */

import { expect } from 'chai'
import { type LockRequest, MOST_SHARED } from '../../../pipeline/coordination/locks.ts'
import { type Opened, SITE, take, tokens, wish } from './locks-kept.ts'
import { answersLikeAList } from './locks-oracle.ts'
import { locksOverTime } from './locks-time.ts'

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'

/**
 * @param open makes a keeper without locks
 * @param lasting locks outlive the keeper, so it can be restarted
 */
export function locksContract(open: Opened, { lasting }: { lasting: boolean }): void {
  const ended: (() => Promise<void>)[] = []
  const opened: Opened = async options => {
    const kept = await open(options)
    ended.push(kept.end)
    return kept
  }
  afterEach(async () => {
    for (const end of ended.splice(0)) await end()
  })

  describe('taking', () => {
    it('DAV-81 gives back what was asked for, with a token of its own', async () => {
      const { locks, now } = await opened()
      const owner = '<D:owner><D:href>mailto:ann@a.example</D:href>&amp; é 😀</D:owner>'
      const before = now()
      const lock = await take(locks, '/docs/ä b.html', { scope: 'shared', depth: 'infinity', owner, seconds: 77 })
      expect(lock).to.include({ path: '/docs/ä b.html', scope: 'shared', depth: 'infinity', owner, user: 'ann' })
      expect(lock.token).to.match(new RegExp(`^opaquelocktoken:${UUID}$`))
      expect(lock.expires).to.be.within(before + 77_000, now() + 77_000)
      expect(await locks.find(SITE, lock.token)).to.deep.equal(lock)
      expect(await locks.on(SITE, '/docs/ä b.html')).to.deep.equal([lock])
    })

    type Case = [
      held: Partial<LockRequest> & { path: string },
      wanted: Partial<LockRequest> & { path: string },
      'granted' | 'held' | 'below',
    ]
    const deep = { depth: 'infinity' } as const
    const shared = { scope: 'shared' } as const
    const cases: Case[] = [
      [{ path: '/a' }, { path: '/a' }, 'held'],
      [{ path: '/a' }, { path: '/a', ...shared }, 'held'],
      [{ path: '/a', ...shared }, { path: '/a' }, 'held'],
      [{ path: '/a', ...shared }, { path: '/a', ...shared }, 'granted'],
      [{ path: '/a' }, { path: '/b' }, 'granted'],
      [{ path: '/a/' }, { path: '/a' }, 'held'],
      [{ path: '/a' }, { path: '/a/', ...deep }, 'held'],
      [{ path: '/a/' }, { path: '/a/b' }, 'granted'],
      [{ path: '/a/', ...deep }, { path: '/a/b' }, 'held'],
      [{ path: '/a/', ...deep }, { path: '/a/b/c', ...shared }, 'held'],
      [{ path: '/a/', ...deep, ...shared }, { path: '/a/b/c' }, 'held'],
      [{ path: '/a/', ...deep, ...shared }, { path: '/a/b/c', ...shared }, 'granted'],
      [{ path: '/a', ...deep }, { path: '/ab' }, 'granted'],
      [{ path: '/a', ...deep }, { path: '/a.txt' }, 'granted'],
      [{ path: '/', ...deep }, { path: '/a' }, 'held'],
      [{ path: '/' }, { path: '/a' }, 'granted'],
      [{ path: '/a/b/c' }, { path: '/a/' }, 'granted'],
      [{ path: '/a/b/c' }, { path: '/a/', ...deep }, 'below'],
      [{ path: '/a/b/c' }, { path: '/', ...deep }, 'below'],
      [{ path: '/a/b/c' }, { path: '/', ...deep, ...shared }, 'below'],
      [{ path: '/a/b/c', ...shared }, { path: '/a/', ...deep }, 'below'],
      [{ path: '/a/b/c', ...shared }, { path: '/a/', ...deep, ...shared }, 'granted'],
      [{ path: '/a.b' }, { path: '/a', ...deep }, 'granted'],
      [{ path: '/a0' }, { path: '/a/', ...deep }, 'granted'],
      [{ path: '/a/b' }, { path: '/a/', ...deep, user: 'ann' }, 'below'],
    ]
    for (const [held, wanted, outcome] of cases) {
      const name = ({ path, scope = 'exclusive', depth = 0 }: Partial<LockRequest>) => `${scope} ${path} depth ${depth}`
      it(`DAV-82 over ${name(held)}: ${name(wanted)} is ${outcome === 'granted' ? outcome : `refused (${outcome})`}`, async () => {
        const { locks } = await opened()
        const holder = await take(locks, held.path, { user: 'bob', ...held })
        const taken = await locks.take(SITE, wish(wanted.path, wanted))
        if (outcome === 'granted') expect(taken.ok).to.equal(true)
        else expect(taken).to.deep.equal({ ok: false, reason: 'conflict', holder, below: outcome === 'below' })
      })
    }

    it('DAV-82 names the holder on the path or above before one below', async () => {
      const { locks } = await opened()
      await take(locks, '/a/b/c', { scope: 'shared' })
      const above = await take(locks, '/a/', { scope: 'shared' })
      const taken = await locks.take(SITE, wish('/a/', { depth: 'infinity' }))
      expect(taken).to.deep.equal({ ok: false, reason: 'conflict', holder: above, below: false })
    })

    it('DAV-82 finds the one exclusive lock among shared ones below', async () => {
      const { locks } = await opened()
      for (let i = 0; i < 20; i++) await take(locks, `/a/${i}/x`, { scope: 'shared' })
      const holder = await take(locks, '/a/11/y')
      const taken = await locks.take(SITE, wish('/', { scope: 'shared', depth: 'infinity' }))
      expect(taken).to.deep.equal({ ok: false, reason: 'conflict', holder, below: true })
    })

    it('DAV-82 of eight simultaneous exclusive requests exactly one wins, in 200 rounds', async () => {
      const { locks } = await opened()
      for (let round = 0; round < 200; round++) {
        const all = await Promise.all(
          Array.from({ length: 8 }, (_, i) => locks.take(SITE, wish('/plan.html', { user: `user${i}` }))),
        )
        const winners = all.filter(taken => taken.ok)
        expect(winners).to.have.length(1)
        for (const { lock } of winners) {
          for (const taken of all) if (!taken.ok) expect(taken).to.deep.include({ reason: 'conflict', holder: lock })
          expect(await locks.end(SITE, lock.token)).to.equal(true)
        }
      }
    })

    it('sites know nothing of each other', async () => {
      const { locks } = await opened()
      const lock = await take(locks, '/', { depth: 'infinity' })
      const other = 'b.example'
      const theirs = await locks.take(other, wish('/', { depth: 'infinity' }))
      expect(theirs.ok).to.equal(true)
      expect(await locks.find(other, lock.token)).to.equal(undefined)
      expect(await locks.refresh(other, lock.token, 60)).to.equal(undefined)
      expect(await locks.end(other, lock.token)).to.equal(false)
      await locks.endAll(other, [lock.token, ...(theirs.ok ? [theirs.lock.token] : [])])
      expect(await locks.on(SITE, '/x')).to.deep.equal([lock])
      expect(await locks.on(other, '/x')).to.deep.equal([])
    })

    it('DAV-82 a path has no more shared locks than it may, counted in the step that takes one', async () => {
      const { locks, advance } = await opened()
      const shared = { scope: 'shared', seconds: 10 } as const
      await take(locks, '/a/', { ...shared, depth: 'infinity' })
      const all = await Promise.all(Array.from({ length: 200 }, () => locks.take(SITE, wish('/a/b', shared))))
      expect(all.filter(({ ok }) => ok)).to.have.length(MOST_SHARED - 1)
      expect(all.filter(taken => !taken.ok && taken.reason === 'full')).to.have.length(201 - MOST_SHARED)
      expect(await locks.on(SITE, '/a/b')).to.have.length(MOST_SHARED)
      expect((await locks.take(SITE, wish('/a/c', shared))).ok).to.equal(true)
      advance(10_000)
      expect((await locks.take(SITE, wish('/a/b', shared))).ok).to.equal(true)
    })

    it('a site holds no more locks than it may', async () => {
      const { locks, advance } = await opened({ most: 3 })
      await take(locks, '/a', { seconds: 10 })
      const kept = await take(locks, '/b')
      await take(locks, '/c')
      expect(await locks.take(SITE, wish('/d'))).to.deep.equal({ ok: false, reason: 'full' })
      expect(await locks.take(SITE, wish('/b'))).to.deep.include({ reason: 'conflict', holder: kept })
      expect((await locks.take('b.example', wish('/d'))).ok).to.equal(true)
      advance(10_000)
      expect((await locks.take(SITE, wish('/d'))).ok).to.equal(true)
    })
  })

  describe('finding', () => {
    it('DAV-88 shows inherited locks first, then those of the path', async () => {
      const { locks } = await opened()
      const shared = { scope: 'shared' } as const
      const root = await take(locks, '/', { ...shared, depth: 'infinity' })
      await take(locks, '/a/', shared)
      const deep = await take(locks, '/a/', { ...shared, depth: 'infinity' })
      const first = await take(locks, '/a/b', shared)
      const second = await take(locks, '/a/b', shared)
      expect(await locks.on(SITE, '/a/b')).to.deep.equal([root, deep, first, second])
      expect(await locks.on(SITE, '/a/b/')).to.deep.equal([root, deep, first, second])
      expect(await locks.on(SITE, '/a/not/there')).to.deep.equal([root, deep])
      expect(await locks.on(SITE, '/z')).to.deep.equal([root])
    })

    it('tells the locks of members from those of everything below', async () => {
      const { locks } = await opened()
      await take(locks, '/a/')
      const file = await take(locks, '/a/f')
      const folder = await take(locks, '/a/d/')
      const deeper = await take(locks, '/a/d/g')
      await take(locks, '/ab')
      await take(locks, '/a.d')
      expect(tokens(await locks.onMembers(SITE, '/a/'))).to.have.members(tokens([file, folder]))
      expect(tokens(await locks.below(SITE, '/a'))).to.have.members(tokens([file, folder, deeper]))
      expect(tokens(await locks.below(SITE, '/a/d/'))).to.deep.equal([deeper.token])
      expect(await locks.below(SITE, '/a/f')).to.deep.equal([])
      expect(await locks.onMembers(SITE, '/none/')).to.deep.equal([])
      expect(tokens(await locks.onMembers(SITE, '/'))).to.have.length(3)
    })

    it('stops below after so many locked paths, with all locks of each', async () => {
      const { locks } = await opened()
      for (const path of ['/a/1', '/a/2', '/a/3']) {
        for (let i = 0; i < 4; i++) await take(locks, path, { scope: 'shared' })
      }
      const found = await locks.below(SITE, '/a/', 2)
      expect(found).to.have.length(8)
      expect(new Set(found.map(lock => lock.path))).to.have.property('size', 2)
      expect(await locks.below(SITE, '/a/', 0)).to.deep.equal([])
    })

    it('paths of any characters are kept apart', async () => {
      const { locks } = await opened()
      const paths = [
        '/a*',
        '/a?',
        '/[a]',
        '/a%2Fb',
        '/a b',
        "/a'b",
        '/ä',
        '/😀',
        '/\u{10ffff}',
        '/a\\b',
        '/"',
        '/:',
        '/{a}',
      ]
      for (const path of paths) await take(locks, path)
      for (const path of paths) expect((await locks.on(SITE, path)).map(lock => lock.path)).to.deep.equal([path])
      expect(await locks.below(SITE, '/')).to.have.length(paths.length)
    })
  })

  describe('time', () => locksOverTime(opened))

  describe('ending', () => {
    it('DAV-85 a lock ends once, and with it its path is free', async () => {
      const { locks } = await opened()
      const lock = await take(locks, '/a')
      expect(await locks.end(SITE, lock.token)).to.equal(true)
      expect(await locks.end(SITE, lock.token)).to.equal(false)
      expect(await locks.on(SITE, '/a')).to.deep.equal([])
      await take(locks, '/a')
    })

    it('DAV-85 one of several shared locks ends alone', async () => {
      const { locks } = await opened()
      const first = await take(locks, '/a', { scope: 'shared' })
      const second = await take(locks, '/a', { scope: 'shared' })
      await locks.end(SITE, first.token)
      expect(await locks.on(SITE, '/a')).to.deep.equal([second])
      expect((await locks.take(SITE, wish('/a'))).ok).to.equal(false)
    })

    it('DAV-87 several locks end together; tokens that are unknown or named twice change nothing', async () => {
      const { locks } = await opened()
      const shared = { scope: 'shared' } as const
      const root = await take(locks, '/', { ...shared, depth: 'infinity' })
      const gone: string[] = []
      for (const path of ['/a', '/a/x', '/a/y/z']) gone.push((await take(locks, path, shared)).token)
      for (const path of ['/a.b', '/ab', '/b']) await take(locks, path, shared)
      await locks.endAll(SITE, [...gone, ...gone, 'opaquelocktoken:none'])
      const remaining = (await locks.below(SITE, '/')).map(lock => lock.path)
      expect(remaining.sort()).to.deep.equal(['/a.b', '/ab', '/b'])
      expect(await locks.on(SITE, '/a/x')).to.deep.equal([root])
      await locks.endAll(SITE, [])
      await locks.endAll(SITE, gone)
    })
  })

  it('DAV-90 a keeper that was closed refuses to answer', async () => {
    const { locks } = await opened()
    const lock = await take(locks, '/a')
    await locks.close()
    const calls = [
      () => locks.take(SITE, wish('/b')),
      () => locks.find(SITE, lock.token),
      () => locks.on(SITE, '/a'),
      () => locks.end(SITE, lock.token),
    ]
    for (const call of calls) {
      const outcome = await call().then(
        () => 'answered',
        (error: unknown) => (error instanceof Error ? error.name : 'thrown'),
      )
      expect(outcome).to.equal('LockError')
    }
  })

  const itLasts = lasting ? it : () => undefined
  itLasts('DAV-90 what was acknowledged is there after a restart, what ended is not', async () => {
    const { locks, restart, advance } = await opened()
    if (!restart) throw new Error('this keeper must be able to restart')
    const shared = { scope: 'shared', depth: 'infinity' } as const
    const kept = await take(locks, '/a/', { ...shared, owner: '<D:owner>Ann\n</D:owner>' })
    const refreshed = await take(locks, '/b', { seconds: 10 })
    const gone = await take(locks, '/c')
    const brief = await take(locks, '/d', { seconds: 10 })
    const together = [await take(locks, '/e/f'), await take(locks, '/e/g')].map(({ token }) => token)
    const fresh = await locks.refresh(SITE, refreshed.token, 60)
    await locks.end(SITE, gone.token)
    await locks.endAll(SITE, together)
    advance(10_000)
    const later = await restart()
    expect(await later.on(SITE, '/a/x')).to.deep.equal([kept])
    expect(await later.on(SITE, '/b')).to.deep.equal([fresh])
    for (const { token } of [gone, brief]) expect(await later.find(SITE, token)).to.equal(undefined)
    expect(tokens(await later.below(SITE, '/'))).to.have.members(tokens([kept, refreshed]))
    expect(await later.take(SITE, wish('/a/b'))).to.deep.include({ reason: 'conflict', holder: kept })
    expect(await later.end(SITE, kept.token)).to.equal(true)
    expect((await later.take(SITE, wish('/a/b'))).ok).to.equal(true)
  })

  answersLikeAList(opened)
}
