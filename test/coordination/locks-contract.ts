/** What every keeper of locks must do, run against each of them. */

import { expect } from 'chai'
import fc from 'fast-check'
import { covers, type Lock, type LockRequest, type Locks, type Taken } from '../../pipeline/coordination/locks.ts'

/** One keeper to be tested; every test has one of its own. */
export interface Kept {
  locks: Locks
  /** Lets time pass for the keeper, in milliseconds. */
  advance(ms: number): void
  /** Unix milliseconds by the keeper's clock. */
  now(): number
  /** Another keeper of the same locks: what a later process finds. */
  restart?: () => Promise<Locks>
  end(): Promise<void>
}

export type Opened = (options?: { most?: number }) => Promise<Kept>

const SITE = 'a.example'
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'

function wish(path: string, more: Partial<LockRequest> = {}): LockRequest {
  return { path, scope: 'exclusive', depth: 0, owner: '', user: 'ann', seconds: 600, ...more }
}

function granted(taken: Taken): Lock {
  if (!taken.ok) throw new Error(`refused: ${taken.reason}`)
  return taken.lock
}

function tokens(locks: readonly Lock[]): string[] {
  return locks.map(lock => lock.token)
}

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

  const take = async (locks: Locks, path: string, more?: Partial<LockRequest>) =>
    granted(await locks.take(SITE, wish(path, more)))

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
      expect((await locks.take(other, wish('/', { depth: 'infinity' }))).ok).to.equal(true)
      expect(await locks.find(other, lock.token)).to.equal(undefined)
      expect(await locks.refresh(other, lock.token, 60)).to.equal(undefined)
      expect(await locks.end(other, lock.token)).to.equal(false)
      await locks.endUnder(other, '/', 'all')
      expect(await locks.on(SITE, '/x')).to.deep.equal([lock])
      expect(await locks.on(other, '/x')).to.deep.equal([])
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

  describe('time', () => {
    it('DAV-83 an expired lock is gone at once, for its token, its path and for conflicts', async () => {
      const { locks, advance } = await opened()
      const lock = await take(locks, '/a/b', { seconds: 10 })
      advance(9_999)
      expect(await locks.find(SITE, lock.token)).to.deep.equal(lock)
      advance(1)
      expect(await locks.find(SITE, lock.token)).to.equal(undefined)
      expect(await locks.on(SITE, '/a/b')).to.deep.equal([])
      expect(await locks.onMembers(SITE, '/a/')).to.deep.equal([])
      expect(await locks.below(SITE, '/')).to.deep.equal([])
      expect(await locks.refresh(SITE, lock.token, 10)).to.equal(undefined)
      expect(await locks.end(SITE, lock.token)).to.equal(false)
      await take(locks, '/', { depth: 'infinity' })
    })

    it('DAV-84 a refresh restarts the timer, to longer or shorter', async () => {
      const { locks, advance, now } = await opened()
      const lock = await take(locks, '/a', { seconds: 10 })
      advance(9_000)
      const longer = await locks.refresh(SITE, lock.token, 20)
      expect(longer).to.deep.equal({ ...lock, expires: now() + 20_000 })
      advance(19_000)
      expect(await locks.find(SITE, lock.token)).to.deep.equal(longer)
      await locks.refresh(SITE, lock.token, 1)
      advance(1_000)
      expect(await locks.find(SITE, lock.token)).to.equal(undefined)
    })

    it('DAV-83 a request that holds the token keeps the lock alive until it ends', async () => {
      const { locks, advance } = await opened()
      const lock = await take(locks, '/a', { seconds: 10 })
      const hold = await locks.keepAlive(SITE, 'ann', [lock.token, 'opaquelocktoken:unknown'])
      advance(3_600_000)
      expect(await locks.on(SITE, '/a')).to.deep.equal([lock])
      expect(await locks.take(SITE, wish('/a', { user: 'bob' }))).to.deep.include({ reason: 'conflict', holder: lock })
      await hold.release()
      expect(await locks.on(SITE, '/a')).to.deep.equal([])
    })

    it('DAV-83 the last of several requests decides', async () => {
      const { locks, advance } = await opened()
      const lock = await take(locks, '/a', { seconds: 10 })
      const first = await locks.keepAlive(SITE, 'ann', [lock.token])
      const second = await locks.keepAlive(SITE, 'ann', [lock.token])
      advance(60_000)
      await first.release()
      await first.release()
      expect(await locks.find(SITE, lock.token)).to.deep.equal(lock)
      await second.release()
      expect(await locks.find(SITE, lock.token)).to.equal(undefined)
    })

    it('DAV-83 the timer goes on where a request ends in time', async () => {
      const { locks, advance } = await opened()
      const lock = await take(locks, '/a', { seconds: 10 })
      await (await locks.keepAlive(SITE, 'ann', [lock.token])).release()
      advance(9_999)
      expect(await locks.find(SITE, lock.token)).to.deep.equal(lock)
      advance(1)
      expect(await locks.find(SITE, lock.token)).to.equal(undefined)
    })

    it('DAV-83 a refresh under a request that outlived the timer counts', async () => {
      const { locks, advance } = await opened()
      const lock = await take(locks, '/a', { seconds: 10 })
      const hold = await locks.keepAlive(SITE, 'ann', [lock.token])
      advance(20_000)
      const fresh = await locks.refresh(SITE, lock.token, 30)
      await hold.release()
      advance(29_999)
      expect(await locks.find(SITE, lock.token)).to.deep.equal(fresh)
      advance(1)
      expect(await locks.find(SITE, lock.token)).to.equal(undefined)
    })

    it('DAV-86 the token of another credential keeps nothing alive', async () => {
      const { locks, advance } = await opened()
      const lock = await take(locks, '/a', { seconds: 10 })
      await locks.keepAlive(SITE, 'bob', [lock.token])
      advance(10_000)
      expect(await locks.find(SITE, lock.token)).to.equal(undefined)
    })

    it('a lock that is kept alive can be ended all the same', async () => {
      const { locks, advance } = await opened()
      const lock = await take(locks, '/a', { seconds: 10 })
      const hold = await locks.keepAlive(SITE, 'ann', [lock.token])
      advance(20_000)
      expect(await locks.end(SITE, lock.token)).to.equal(true)
      const next = await take(locks, '/a')
      await hold.release()
      expect(await locks.on(SITE, '/a')).to.deep.equal([next])
    })
  })

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

    for (const [what, left] of [
      ['all', ['/a.b', '/ab', '/b']],
      ['below', ['/a', '/a.b', '/ab', '/b']],
    ] as const) {
      it(`DAV-87 what was deleted or moved takes its locks along (${what})`, async () => {
        const { locks } = await opened()
        const shared = { scope: 'shared' } as const
        const root = await take(locks, '/', { ...shared, depth: 'infinity' })
        for (const path of ['/a', '/a/x', '/a/y/z', '/a.b', '/ab', '/b']) await take(locks, path, shared)
        await locks.endUnder(SITE, '/a/', what)
        const remaining = (await locks.below(SITE, '/')).map(lock => lock.path)
        expect(remaining.sort()).to.deep.equal(left)
        expect(await locks.on(SITE, '/a/x')).to.deep.equal([root])
        await locks.endUnder(SITE, '/none', what)
      })
    }
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
    await take(locks, '/e/f')
    const fresh = await locks.refresh(SITE, refreshed.token, 60)
    await locks.end(SITE, gone.token)
    await locks.endUnder(SITE, '/e/', 'all')
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

  it('DAV-82 answers as a plain list of locks would, for any sequence of requests', async function () {
    this.timeout(60_000)
    const path = fc.constantFrom('/', '/a', '/a/', '/a/b', '/a/b/', '/a/b/c', '/a/c', '/ab', '/b/a', '/b')
    const step = fc.oneof(
      {
        arbitrary: fc.record({
          op: fc.constant('take' as const),
          path,
          scope: fc.constantFrom('shared' as const, 'exclusive' as const),
          depth: fc.constantFrom(0 as const, 'infinity' as const),
          seconds: fc.integer({ min: 1, max: 30 }),
        }),
        weight: 5,
      },
      { arbitrary: fc.record({ op: fc.constant('end' as const), nth: fc.nat(20) }), weight: 1 },
      {
        arbitrary: fc.record({
          op: fc.constant('refresh' as const),
          nth: fc.nat(20),
          seconds: fc.integer({ min: 1, max: 30 }),
        }),
        weight: 1,
      },
      {
        arbitrary: fc.record({
          op: fc.constant('endUnder' as const),
          path,
          what: fc.constantFrom('all' as const, 'below' as const),
        }),
        weight: 1,
      },
      { arbitrary: fc.record({ op: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 8_000 }) }), weight: 2 },
      { arbitrary: fc.record({ op: fc.constant('look' as const), path }), weight: 3 },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
        const { locks, advance, now } = await opened()
        let list: Lock[] = []
        const inEffect = () => (list = list.filter(lock => lock.expires > now()))
        const isBelow = (lock: Lock, at: string) =>
          covers({ path: at, depth: 'infinity' }, lock.path) && !covers({ path: at, depth: 0 }, lock.path)
        for (const each of steps) {
          inEffect()
          if (each.op === 'take') {
            const inTheWay = (lock: Lock) => lock.scope === 'exclusive' || each.scope === 'exclusive'
            const above = list.some(lock => inTheWay(lock) && covers(lock, each.path))
            const below = each.depth === 'infinity' && list.some(lock => inTheWay(lock) && isBelow(lock, each.path))
            const taken = await locks.take(SITE, wish(each.path, each))
            if (taken.ok) list.push(taken.lock)
            expect(taken.ok ? 'granted' : taken.reason === 'conflict' && (taken.below ? 'below' : 'held')).to.equal(
              above ? 'held' : below ? 'below' : 'granted',
            )
          } else if (each.op === 'end' || each.op === 'refresh') {
            const lock = list[each.nth]
            const token = lock?.token ?? 'opaquelocktoken:none'
            if (each.op === 'end') {
              expect(await locks.end(SITE, token)).to.equal(lock !== undefined)
              list = list.filter(other => other !== lock)
            } else {
              const fresh = await locks.refresh(SITE, token, each.seconds)
              expect(fresh).to.deep.equal(lock && { ...lock, expires: now() + each.seconds * 1000 })
              if (fresh) list = list.map(other => (other === lock ? fresh : other))
            }
          } else if (each.op === 'endUnder') {
            await locks.endUnder(SITE, each.path, each.what)
            list = list.filter(
              lock =>
                !isBelow(lock, each.path) && !(each.what === 'all' && covers({ path: each.path, depth: 0 }, lock.path)),
            )
          } else if (each.op === 'wait') advance(each.ms)
          else {
            expect(tokens(await locks.on(SITE, each.path))).to.have.members(
              tokens(list.filter(lock => covers(lock, each.path))),
            )
            expect(tokens(await locks.below(SITE, each.path))).to.have.members(
              tokens(list.filter(lock => isBelow(lock, each.path))),
            )
          }
        }
      }),
      { numRuns: Number(process.env.FUZZ ?? 100), ...(process.env.FUZZ ? {} : { seed: 20260314 }) },
    )
  })
}
