import { expect } from 'chai'
import { after, afterEach, before, describe, it } from 'mocha'
import { localRateLimits } from '../../../pipeline/coordination/local/rate-limits.ts'
import type { RateLimits } from '../../../pipeline/coordination/rate-limits.ts'
import type { RedisConnection } from '../../../pipeline/coordination/redis/connection.ts'
import { redisRateLimits } from '../../../pipeline/coordination/redis/rate-limits.ts'
import { counted, rateLimitsContract } from './rate-limits-contract.ts'
import { startRedis, type TestRedis } from './redis-server.ts'

/** Milliseconds for an answer, on a machine of any speed. */
const PATIENCE = 600_000

const ALLOWANCE = { most: 4, perSecond: 0.001 }

describe('rateLimits in Redis', () => {
  let server: TestRedis
  before(async () => {
    server = await startRedis()
  })
  after(() => server.stop())

  const connections: RedisConnection[] = []
  afterEach(async () => {
    for (const connection of connections.splice(0)) await connection.close()
  })

  /** RateLimits as one more process would have them. */
  async function another(): Promise<RateLimits> {
    const connection = await server.open()
    connections.push(connection)
    return redisRateLimits({ connection, patience: PATIENCE })
  }

  rateLimitsContract(async () => {
    await server.admin.flushall()
    return another()
  })

  it('DAV-3 OIDC-2 are the same for all processes', async () => {
    await server.admin.flushall()
    const [one, other] = await Promise.all([another(), another()])
    await Promise.all([one.add(['a'], 60_000), other.add(['a'], 60_000)])
    for (const each of [one, other]) expect(await counted(each, 'a')).to.deep.equal([2])
    await one.takeBack(['a'])
    expect(await counted(other, 'a')).to.deep.equal([1])
    await other.forget('a')
    expect(await counted(one, 'a')).to.deep.equal([0])
    const waits = await Promise.all([one, other, one, other, one, other].map(each => each.spend('a', ALLOWANCE)))
    expect(waits.filter(wait => wait === undefined)).to.have.length(4)
  })

  it('are asked for a second ahead, of what is gained in a second', async () => {
    await server.admin.flushall()
    const connection = await server.open()
    connections.push(connection)
    let now = 0
    let questions = 0
    const counting = new Proxy(connection.redis, {
      get(target, name) {
        if (name === 'evalsha') questions++
        return Reflect.get(target, name, target)
      },
    })
    const rateLimits = redisRateLimits({
      connection: { ...connection, redis: counting },
      patience: PATIENCE,
      clock: () => now,
    })
    const allowance = { most: 600, perSecond: 10 }
    const [other] = await Promise.all([another()])
    // The script is there from now on.
    await other.spend('b', allowance)
    for (let i = 0; i < 100; i++) expect(await rateLimits.spend('a', allowance)).to.equal(undefined)
    expect(questions).to.equal(10)
    now += 1000
    await rateLimits.spend('a', allowance)
    now += 1000
    await rateLimits.spend('a', allowance)
    expect(questions, 'what was not used within a second is lost').to.equal(12)
    await rateLimits.spend('a', allowance, 40)
    expect(questions, 'many together are one question').to.equal(13)
  })

  it('vanish by themselves', async () => {
    await server.admin.flushall()
    const rateLimits = await another()
    await rateLimits.add(['a'], 60_000)
    await rateLimits.spend('a', { most: 200, perSecond: 2 })
    const keys = await server.admin.keys('*')
    expect(keys).to.have.length(2)
    for (const key of keys) expect(await server.admin.pttl(key), key).to.be.within(1, 100_000)
    const [count = ''] = keys.filter(key => key.includes(':count:'))
    await server.admin.pexpire(count, 1)
    while (await server.admin.exists(count)) await new Promise(setImmediate)
    await rateLimits.takeBack(['a'])
    expect(await server.admin.exists(count), 'nothing is below zero').to.equal(0)
    expect(await counted(rateLimits, 'a')).to.deep.equal([0])
  })

  it('what is taken back makes no count live longer', async () => {
    await server.admin.flushall()
    const rateLimits = await another()
    for (let i = 0; i < 2; i++) await rateLimits.add(['a'], 60_000)
    const [key = ''] = await server.admin.keys('*')
    await server.admin.pexpire(key, 30_000)
    await rateLimits.takeBack(['a'])
    expect(await server.admin.pttl(key)).to.be.within(1, 30_000)
  })

  it('an allowance fills up by itself, and not beyond what it holds', async () => {
    await server.admin.flushall()
    const rateLimits = await another()
    for (let i = 0; i < 4; i++) expect(await rateLimits.spend('a', ALLOWANCE)).to.equal(undefined)
    expect(await rateLimits.spend('a', ALLOWANCE)).to.be.a('number')
    const [key = ''] = await server.admin.keys('*')
    const back = async (milliseconds: number) => {
      await server.admin.hset(key, 'at', Number(await server.admin.hget(key, 'at')) - milliseconds)
    }
    await back(1_000_000)
    expect(await rateLimits.spend('a', ALLOWANCE)).to.equal(undefined)
    expect(await rateLimits.spend('a', ALLOWANCE)).to.be.a('number')
    await back(1_000_000_000)
    for (let i = 0; i < 4; i++) expect(await rateLimits.spend('a', ALLOWANCE)).to.equal(undefined)
    expect(await rateLimits.spend('a', ALLOWANCE)).to.be.a('number')
    await back(-60_000)
    expect(await rateLimits.spend('a', ALLOWANCE), 'a clock that goes back').to.be.a('number')
  })

  it('a Redis that does not answer holds nobody up', async () => {
    const connection = await server.open()
    connections.push(connection)
    const silent = new Proxy(connection.redis, {
      get: (target, name) =>
        ['get', 'del', 'evalsha'].includes(String(name))
          ? () => new Promise(() => {})
          : Reflect.get(target, name, target),
    })
    const rateLimits = redisRateLimits({ connection: { ...connection, redis: silent }, patience: 1 })
    expect(await rateLimits.add(['a'], 60_000)).to.deep.equal([1])
    expect(await rateLimits.add(['a'], 60_000)).to.deep.equal([2])
    await rateLimits.takeBack(['a'])
    expect(await counted(rateLimits, 'a')).to.deep.equal([1])
    await rateLimits.forget('a')
    expect(await counted(rateLimits, 'a')).to.deep.equal([0])
    expect(await rateLimits.spend('a', ALLOWANCE)).to.equal(undefined)
  })

  it('without Redis each process counts for itself, with what it has counted before', async () => {
    const own = await startRedis()
    const connection = await own.open()
    const rateLimits = redisRateLimits({ connection, local: localRateLimits(), patience: PATIENCE })
    await rateLimits.add(['a'], 60_000)
    expect(await rateLimits.spend('a', ALLOWANCE)).to.equal(undefined)
    await own.kill()
    expect(await rateLimits.add(['a', 'b'], 60_000)).to.deep.equal([2, 1])
    await rateLimits.forget('b')
    expect(await counted(rateLimits, 'b')).to.deep.equal([0])
    for (let i = 0; i < 3; i++) expect(await rateLimits.spend('a', ALLOWANCE)).to.equal(undefined)
    expect(await rateLimits.spend('a', ALLOWANCE)).to.be.a('number')
    await own.start()
    await own.until(connection)
    await rateLimits.add(['c'], 60_000)
    expect(Number(await own.admin.dbsize())).to.equal(1)
    await connection.close()
    await own.stop()
  })
})
