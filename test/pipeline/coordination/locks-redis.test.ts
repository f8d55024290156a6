import { expect } from 'chai'
import type { Redis } from 'ioredis'
import type { Lock } from '../../../pipeline/coordination/locks.ts'
import { redisLocks } from '../../../pipeline/coordination/redis/locks.ts'
import { locksContract } from './locks-contract.ts'
import { startRedis, type TestRedis } from './redis-server.ts'

/** A time that is no whole second. */
const START = Date.UTC(2026, 2, 14, 9, 26, 53, 589)
const SITE = 'a.example'

describe('locks in Redis', () => {
  let server: TestRedis
  let redis: Redis
  before(async () => {
    server = await startRedis()
    redis = server.connect()
  })
  after(() => server.stop())

  locksContract(
    async ({ most } = {}) => {
      let now = START
      const clock = () => now
      await redis.flushall()
      const locks = redisLocks({ redis, clock, most })
      return {
        locks,
        advance: ms => (now += ms),
        now: clock,
        restart: async () => redisLocks({ redis: server.connect(), clock, most }),
        end: () => locks.close(),
      }
    },
    { lasting: true },
  )

  const wish = (path: string, user = 'ann') =>
    ({ path, scope: 'exclusive', depth: 0, owner: '', user, seconds: 600 }) as const

  it('DAV-82 of eight processes exactly one wins', async () => {
    await redis.flushall()
    const keepers = Array.from({ length: 8 }, () => redisLocks({ redis: server.connect() }))
    for (let round = 0; round < 100; round++) {
      const all = await Promise.all(keepers.map((locks, i) => locks.take(SITE, wish('/plan.html', `user${i}`))))
      const winners = all.filter(taken => taken.ok)
      expect(winners).to.have.length(1)
      for (const { lock } of winners) await keepers[round % 8]?.end(SITE, lock.token)
    }
  })

  it('DAV-90 goes by the clock of the server, and every key vanishes by itself', async () => {
    await redis.flushall()
    const locks = redisLocks({ redis, prefix: 'test' })
    const before = Date.now()
    const taken = await locks.take(SITE, wish('/a'))
    // A millisecond that has begun counts as one.
    expect(taken.ok && taken.lock.expires - 600_000).to.be.within(before - 1, Date.now() + 1)
    const hold = await locks.keepAlive(SITE, 'ann', taken.ok ? [taken.lock.token] : [])
    const keys = await redis.keys('*')
    expect(keys).to.have.length(7)
    for (const key of keys) {
      expect(key).to.match(/^test:locks:\{a\.example\}:/)
      expect(await redis.pttl(key), key).to.be.within(3_600_000, 86_400_000)
    }
    await hold.release()
    await locks.endAll(SITE, taken.ok ? [taken.lock.token] : [])
    expect(await redis.keys('*')).to.deep.equal(['test:locks:{a.example}:taken'])
  })

  it('DAV-90 what has expired leaves nothing behind in the indexes', async () => {
    let now = START
    await redis.flushall()
    const locks = redisLocks({ redis, clock: () => now })
    for (let i = 0; i < 30; i++) await locks.take(SITE, wish(`/a/${i}`))
    now += 600_000
    await locks.take(SITE, wish('/b'))
    const sizes = await Promise.all(
      ['paths', 'exclusive', 'expiry'].map(name => redis.zcard(`scriptorium:locks:{${SITE}}:${name}`)),
    )
    expect(sizes).to.deep.equal([1, 1, 1])
    expect(await redis.keys('*:lock:*')).to.have.length(1)
  })

  for (const [what, path, owner, most] of [
    ['far down', '/a'.repeat(500), '', 34],
    ['with a long owner', '', 'o'.repeat(8_192), 20],
  ] as const)
    it(`DAV-82 SEC-12 those that take much count as several where a site holds no more than it may: ${what}`, async () => {
      let now = START
      await redis.flushall()
      const locks = redisLocks({ redis, clock: () => now, most: 100 })
      const take = async (i: number) => (await locks.take(SITE, { ...wish(`/${i}${path}`), owner })).ok
      const fill = async () => {
        let taken = 0
        while (taken <= 100 && (await take(taken))) taken++
        return taken
      }
      expect(await fill()).to.equal(most)
      // What has ended, or expired, counts no more.
      for (const { token } of await locks.below(SITE, '/0')) await locks.end(SITE, token)
      for (const { token } of await locks.on(SITE, '/0')) await locks.end(SITE, token)
      expect([await take(0), await take(most)]).to.deep.equal([true, false])
      now += 600_000
      expect(await fill()).to.equal(most)
      for (const { token } of await locks.below(SITE, '/')) await locks.end(SITE, token)
      expect((await redis.keys('*')).map(key => key.slice(-6))).to.deep.equal([':taken'])
    })

  it('DAV-82 SEC-12 those that take much count no more when a day later only one is left that was refreshed', async () => {
    let now = START
    await redis.flushall()
    const locks = redisLocks({ redis, clock: () => now, most: 10 })
    const take = async (path: string, owner = '') => {
      const taken = await locks.take(SITE, { ...wish(path), owner })
      return taken.ok ? taken.lock.token : undefined
    }
    const refreshed = await take('/a')
    const owner = 'o'.repeat(8_192)
    expect(await take('/b', owner)).to.be.a('string')
    expect(await take('/c', owner)).to.be.a('string')
    for (const key of await redis.keys('*')) await redis.pexpire(key, 3_600_000)
    now += 599_000
    await locks.refresh(SITE, refreshed ?? '', 600)
    // Everything else has outlived its time.
    for (const key of await redis.keys('*')) if ((await redis.pttl(key)) <= 3_600_000) await redis.del(key)
    now += 2_000
    expect(await take('/d')).to.be.a('string')
    expect(await take('/e', owner)).to.be.a('string')
  })

  it('DAV-82 SEC-12 many of one folder, or that have expired, are gone through in scripts of some hundred', async () => {
    const COUNT = 2_100
    let now = START
    await redis.flushall()
    const locks = redisLocks({ redis, clock: () => now })
    const names = Array.from({ length: COUNT }, (_, i) => (i % 3 === 0 ? `/f/in${i}/a` : `/f/${i}`)).sort()
    await Promise.all(names.map(path => locks.take(SITE, wish(path))))
    /** Scripts that Redis carries out for it. */
    const scripts = async <T>(work: () => Promise<T>) => {
      await redis.config('RESETSTAT')
      const result = await work()
      const [, calls] = /cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats')) ?? []
      return { result, scripts: Number(calls) }
    }
    const paths = (found: readonly Lock[]) => found.map(({ path }) => path)
    const below = await scripts(() => locks.below(SITE, '/f/'))
    expect(paths(below.result)).to.deep.equal(names)
    expect(below.scripts).to.be.above(COUNT / 1000)
    expect(paths(await locks.below(SITE, '/f/', 777))).to.deep.equal(names.slice(0, 777))
    const members = await scripts(() => locks.onMembers(SITE, '/f/'))
    expect(paths(members.result)).to.deep.equal(names.filter(path => !path.endsWith('/a')))
    expect(members.scripts).to.be.above(COUNT / 1000)
    now += 600_000
    const none = await scripts(() => locks.below(SITE, '/f/', 1))
    expect(none.result).to.deep.equal([])
    expect(none.scripts).to.be.above(COUNT / 1000)
    const taken = await scripts(() => locks.take(SITE, { ...wish('/f/'), depth: 'infinity' }))
    expect([taken.result.ok, taken.scripts > COUNT / 1000]).to.deep.equal([true, true])
    expect(paths(await locks.below(SITE, '/'))).to.deep.equal(['/f/'])
  })

  it('DAV-90 a Redis that lost its scripts is given them again', async () => {
    const locks = redisLocks({ redis })
    await redis.script('FLUSH')
    expect(await locks.find(SITE, 'opaquelocktoken:none')).to.equal(undefined)
  })

  it('DAV-82 a lock whose taker was told that it could not be had is held by nobody when Redis goes on', async () => {
    const own = await startRedis()
    const [mine, other] = [await own.open(), await own.open()]
    const keepers = [mine, other].map(({ redis }) => redisLocks({ redis }))
    const [locks, others] = keepers
    if (!locks || !others) throw new Error('there are two')
    expect(await locks.on(SITE, '/a')).to.deep.equal([])
    own.hang()
    const refused = Array.from({ length: 20 }, (_, i) => locks.take(SITE, wish(`/${i}`)).catch((error: Error) => error))
    for (const outcome of await Promise.all(refused)) expect(outcome).to.have.property('name', 'LockError')
    own.goOn()
    for (let i = 0; i < 20; i++)
      for (;;) {
        const taken = await others.take(SITE, wish(`/${i}`, 'bob')).catch(() => undefined)
        if (taken?.ok) break
        await new Promise(resolve => setTimeout(resolve, 10))
      }
    for (const keeper of keepers) await keeper.close()
    await Promise.all([mine.close(), other.close()])
    await own.stop()
  })

  it('DAV-82 what was sent before a lock was given up and comes after it takes nothing', async () => {
    await redis.flushall()
    const locks = redisLocks({ redis })
    const held: unknown[][] = []
    const late = redisLocks({
      redis: new Proxy(redis, {
        get(target, name) {
          if (name !== 'evalsha') return Reflect.get(target, name, target)
          return async (...request: Parameters<typeof redis.evalsha>) => {
            if (!request.includes('take')) return redis.evalsha(...request)
            held.push(request)
            throw new Error('hung')
          }
        },
      }),
    })
    expect(await late.take(SITE, wish('/late')).catch((error: Error) => error.name)).to.equal('LockError')
    const [request = []] = held
    while ((await redis.keys('*:given-up:*')).length === 0) await new Promise(resolve => setTimeout(resolve, 10))
    await redis.evalsha(...(request as Parameters<typeof redis.evalsha>))
    expect(await locks.on(SITE, '/late')).to.deep.equal([])
    expect(await redis.keys('*:lock:*')).to.deep.equal([])
    for (const key of await redis.keys('*')) expect(await redis.pttl(key), key).to.be.at.least(1)
    await late.close()
  })

  it('DAV-82 what was never sent, or refused, is not given up; what was sent is, all in one go', async () => {
    await redis.flushall()
    const [AWAY, REFUSED, HUNG] = ['/away/', '/refused/', '/hung/']
    let isAway = true
    const tried: unknown[][] = []
    const given: unknown[][] = []
    const told = Promise.withResolvers<void>()
    const evalsha = async (...request: unknown[]) => {
      if (request.includes('give up')) {
        given.push(request)
        told.resolve()
        return 0
      }
      tried.push(request)
      if (isAway) throw new Error("Stream isn't writeable")
      const error = new Error('OOM command not allowed')
      if (request.some(each => String(each).startsWith(REFUSED))) error.name = 'ReplyError'
      throw error
    }
    const stand: Partial<Record<string | symbol, unknown>> = { evalsha, options: { enableOfflineQueue: false } }
    const locks = redisLocks({
      redis: new Proxy(redis, {
        get: (_, name) => (name === 'status' ? (isAway ? 'reconnecting' : 'ready') : stand[name]),
      }),
    })
    const refusals = (from: string) =>
      Promise.all(Array.from({ length: 20 }, (_, i) => locks.take(SITE, wish(from + i)).catch(({ name }) => name)))
    for (const from of [AWAY, REFUSED, HUNG]) {
      isAway = from === AWAY
      expect(new Set(await refusals(from))).to.deep.equal(new Set(['LockError']))
    }
    await told.promise
    await locks.close()
    const tokensOf = (requests: readonly unknown[][]) =>
      requests.flat().filter(each => String(each).startsWith('opaquelocktoken:'))
    const hung = tried.filter(request => request.some(each => String(each).startsWith(HUNG)))
    expect(given).to.have.length(1)
    expect(tokensOf(given)).to.have.length(20).and.have.members(tokensOf(hung))
  })

  it('DAV-87 more locks are ended at once than a script has room for', async () => {
    await redis.flushall()
    const locks = redisLocks({ redis })
    const taken = await Promise.all(Array.from({ length: 50 }, (_, i) => locks.take(SITE, wish(`/many/${i}`))))
    const tokens = taken.flatMap(each => (each.ok ? [each.lock.token] : []))
    const unknown = Array.from({ length: 20_000 }, (_, i) => `opaquelocktoken:${i}`)
    await locks.endAll(SITE, [...unknown, ...tokens])
    expect(await locks.below(SITE, '/many')).to.deep.equal([])
    expect((await locks.below(SITE, '/many')).length).to.equal(0)
  })

  it('DAV-90 a Redis that is gone is told as such', async () => {
    const own = await startRedis()
    const locks = redisLocks({ redis: own.connect() })
    const taken = await locks.take(SITE, wish('/a'))
    const hold = await locks.keepAlive(SITE, 'ann', taken.ok ? [taken.lock.token] : [])
    await own.stop()
    const outcome = await locks.on(SITE, '/a').catch((error: unknown) => error)
    expect(outcome).to.be.instanceOf(Error).and.to.have.property('name', 'LockError')
    await hold.release()
  })
})
