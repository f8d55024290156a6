import { expect } from 'chai'
import type { Redis } from 'ioredis'
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

  it('DAV-90 a Redis that lost its scripts is given them again', async () => {
    const locks = redisLocks({ redis })
    await redis.script('FLUSH')
    expect(await locks.find(SITE, 'opaquelocktoken:none')).to.equal(undefined)
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
