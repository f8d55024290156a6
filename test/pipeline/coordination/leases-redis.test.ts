import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { after, afterEach, before, describe, it } from 'mocha'
import { LeaseTimeout } from '../../../pipeline/coordination/leases.ts'
import type { RedisConnection } from '../../../pipeline/coordination/redis/connection.ts'
import { type RedisLeases, redisLeases } from '../../../pipeline/coordination/redis/leases.ts'
import { held, leasesContract } from './leases-contract.ts'
import { startRedis, type TestRedis } from './redis-server.ts'

const SITE = 'a.example'

/** What a turn of the event loop has to say to Redis goes out at its end. */
const sent = () => new Promise(setImmediate)

describe('leases in Redis', () => {
  let server: TestRedis
  before(async () => {
    server = await startRedis()
  })
  after(() => server.stop())

  const opened: { leases: RedisLeases; connection: RedisConnection }[] = []
  afterEach(async () => {
    for (const { leases, connection } of opened.splice(0)) {
      leases.close()
      await connection.close()
    }
  })

  /** Leases as one more process would have them. */
  async function another(
    options: { patience?: number; life?: number; newest?: () => number } = {},
  ): Promise<RedisLeases> {
    const connection = await server.open()
    const leases = redisLeases({ connection, ...options })
    opened.push({ leases, connection })
    return leases
  }

  leasesContract(async options => {
    await server.admin.flushall()
    return { leases: await another(options), end: async () => undefined }
  })

  it('HTTP-4 writers of several processes come one at a time, and each process has its turn', async () => {
    const processes = await Promise.all([another(), another(), another()])
    let running = 0
    let most = 0
    const order: number[] = []
    await Promise.all(
      Array.from({ length: 150 }, (_, i) =>
        processes[i % 3]?.hold(SITE, ['/hot'], async () => {
          most = Math.max(most, ++running)
          order.push(i % 3)
          await new Promise(setImmediate)
          running--
        }),
      ),
    )
    expect(most).to.equal(1)
    expect(order).to.have.length(150)
    // Nobody has all its turns before another one has its first.
    for (const each of [0, 1, 2]) expect(order.indexOf(each)).to.be.below(60)
    await sent()
    expect(await server.admin.keys('*:lease*')).to.deep.equal([])
  })

  it('HTTP-4 whoever takes a lease learns of the newest commit that those knew who had leases of the site before', async () => {
    await server.admin.flushall()
    let version = 7
    const [one, other] = await Promise.all([another({ newest: () => version }), another({ newest: () => 5 })])
    const told = async (leases: RedisLeases, ...paths: string[]) => {
      const newest = await leases.hold(SITE, paths, async newest => newest)
      await sent()
      return newest
    }
    expect(await told(one, '/a')).to.equal(undefined)
    expect(await told(other, '/b')).to.equal(7)
    version = 9
    expect(await told(one, '/b', '/c')).to.equal(7)
    expect(await told(other, '/c')).to.equal(9)
    expect(await other.hold('b.example', ['/a'], async newest => newest)).to.equal(undefined)
  })

  it('HTTP-4 what the writers of one turn ask is one script', async () => {
    const leases = await another()
    const before = Number(/evalsha:calls=(\d+)/.exec(await server.admin.info('commandstats'))?.[1] ?? 0)
    await leases.hold(SITE, ['/first'], async () => undefined)
    await Promise.all(Array.from({ length: 30 }, (_, i) => leases.hold(SITE, [`/${i}`], async () => undefined)))
    await sent()
    const calls = Number(/evalsha:calls=(\d+)/.exec(await server.admin.info('commandstats'))?.[1] ?? 0) - before
    expect(calls).to.be.at.most(4)
  })

  it('DAV-90 word that comes before the answer to the question is not lost', async () => {
    await server.admin.flushall()
    const first = held(await another(), '/w')
    await first.begun
    const connection = await server.open()
    const word = Promise.withResolvers<void>()
    const { redis } = connection
    const slow = new Proxy(redis, {
      get(target, name) {
        if (name !== 'evalsha') return Reflect.get(target, name, target)
        return async (...request: Parameters<typeof redis.evalsha>) => {
          const answer = await redis.evalsha(...request)
          const operation = request.at(-2)
          if (operation !== 'take' || (answer as unknown[])[1] !== 0) return answer
          first.end()
          await word.promise
          return answer
        }
      },
    })
    const told: typeof connection = {
      ...connection,
      redis: slow,
      hear: (channel, listener) =>
        connection.hear(channel, message => {
          listener(message)
          word.resolve()
        }),
    }
    const leases = redisLeases({ connection: told, lookAgain: 600_000, patience: 600_000 })
    opened.push({ leases, connection })
    expect(await leases.hold(SITE, ['/w'], async () => 'had')).to.equal('had')
    await first.ended
  })

  it('DAV-90 a lease is kept while the work runs, and ends with its process', async () => {
    const [mine, other] = await Promise.all([another(), another({ patience: 50 })])
    const work = held(mine, '/long')
    await work.begun
    const [key = ''] = await server.admin.keys('*:lease:*')
    expect(await server.admin.pttl(key)).to.be.within(1, 5000)
    await server.admin.pexpire(key, 2500)
    await mine.keep()
    expect(await server.admin.pttl(key)).to.be.within(2501, 5000)
    const outcome = await other.hold(SITE, ['/long'], async () => 'never').catch((error: unknown) => error)
    expect(outcome).to.be.instanceOf(LeaseTimeout)
    await server.admin.pexpire(key, 0)
    const next = await another()
    expect(await next.hold(SITE, ['/long'], async () => 'free')).to.equal('free')
    work.end()
    await work.ended
  })

  it('DAV-90 a process that has lost its lease does not end that of another', async () => {
    const [mine, other] = await Promise.all([another(), another()])
    const lost = held(mine, '/lost')
    await lost.begun
    const [key = ''] = await server.admin.keys('*:lease:*')
    await server.admin.del(key)
    const theirs = held(other, '/lost')
    await theirs.begun
    const name = await server.admin.get(key)
    await mine.keep()
    lost.end()
    await lost.ended
    expect(await server.admin.get(key)).to.equal(name)
    theirs.end()
    await theirs.ended
  })

  it('DAV-90 somebody who waits and has gone holds nobody up for long', async () => {
    await server.admin.flushall()
    const [mine, other] = await Promise.all([another(), another()])
    const first = held(mine, '/q')
    await first.begun
    await server.admin.rpush(`scriptorium:lease-queue:{${SITE}}:/q`, 'somebody who has gone')
    const second = held(other, '/q')
    first.end()
    await first.ended
    await second.begun
    second.end()
    await second.ended
    await sent()
    expect(await server.admin.keys('*')).to.deep.equal([])
  })

  describe('after Redis hung', () => {
    /** Asks until Redis stands still no longer for a process: those who were refused come again at once. */
    async function had(leases: RedisLeases, path: string): Promise<void> {
      while (!(await leases.hold(SITE, [path], async () => true).catch(() => false)))
        await new Promise(resolve => setTimeout(resolve, 5))
    }
    /** Settles when what was under way is refused: connections to what does not answer are given up. */
    const refused = (work: Promise<unknown>) => work.catch((error: Error) => error.name)

    it('DAV-90 busy paths are free at once for the process whose writers were refused, and for others', async () => {
      await server.admin.flushall()
      // Leases of the dead would last longer than this test may take.
      const [mine, other] = await Promise.all([another({ life: 600_000 }), another({ life: 600_000 })])
      const paths = Array.from({ length: 20 }, (_, i) => `/busy${i}`)
      for (const path of paths) for (const leases of [mine, other]) await had(leases, path)
      // What is held while Redis hangs cannot be given back then.
      const work = paths.slice(0, 5).map(path => held(mine, path))
      await Promise.all(work.map(({ begun }) => begun))
      server.hang()
      let hangs = true
      const asking = paths.map(async path => {
        while (hangs) {
          await refused(mine.hold(SITE, [path], async () => undefined))
          await new Promise(resolve => setTimeout(resolve, 5))
        }
      })
      for (const each of work) each.end()
      await new Promise(resolve => setTimeout(resolve, 5_000))
      server.goOn()
      hangs = false
      await Promise.all(asking)
      await Promise.all(paths.flatMap(path => [had(mine, path), had(other, path)]))
      await sent()
      expect(await server.admin.keys('scriptorium:lease:*')).to.deep.equal([])
    })

    it('DAV-90 two writers never hold at once, however often it hangs', async () => {
      const processes = await Promise.all([another(), another(), another()])
      let running = 0
      let most = 0
      let done = 0
      let over = false
      const writers = Array.from({ length: 12 }, async (_, i) => {
        while (!over) {
          const work = async () => {
            most = Math.max(most, ++running)
            await new Promise(setImmediate)
            running--
            done++
          }
          await refused(processes[i % 3]?.hold(SITE, ['/hot'], work) ?? Promise.resolve())
          await new Promise(setImmediate)
        }
      })
      for (const pause of [50, 2_500, 300]) {
        const before = done
        server.hang()
        await new Promise(resolve => setTimeout(resolve, pause))
        server.goOn()
        while (done < before + 200) await new Promise(resolve => setTimeout(resolve, 5))
      }
      over = true
      await Promise.all(writers)
      expect(most).to.equal(1)
    })

    const keys = ['lease', 'lease-queue', 'lease-given-up'].map(name => `scriptorium:${name}:{${SITE}}:/late`)
    const script = readFileSync(new URL('../../../pipeline/coordination/redis/leases.lua', import.meta.url), 'utf8')
    const newest = `scriptorium:lease-newest:{${SITE}}`
    const run = async (operation: string, process: string, attempt: number) => {
      const parameters = [process, 'channel', 5_000, 0, operation, attempt]
      const said = await server.admin.eval(script, 1 + keys.length, newest, ...keys, ...parameters)
      return (said as unknown[])[1]
    }

    it('DAV-90 what was sent before an attempt was given up and comes after it changes nothing', async () => {
      await server.admin.flushall()
      expect(await run('give up', 'one', 7)).to.equal(0)
      for (const attempt of [6, 7]) expect(await run('take', 'one', attempt)).to.equal(0)
      expect(await server.admin.exists(...keys.slice(0, 2))).to.equal(0)
      expect(await run('take', 'two', 7)).to.equal(1)
      expect(await run('take', 'one', 8)).to.equal(0)
      expect(await run('give up', 'one', 8)).to.equal(0)
      expect(await run('leave', 'two', 7)).to.equal(0)
      expect(await server.admin.exists(...keys.slice(0, 2))).to.equal(0)
    })

    it('DAV-90 a process takes over from its own attempts, never from another process nor from a later attempt', async () => {
      await server.admin.flushall()
      expect(await run('take', 'one', 1)).to.equal(1)
      expect(await run('take', 'one', 2)).to.equal(1)
      expect(await run('take', 'one', 1), 'came late').to.equal(0)
      expect(await run('take', 'on', 3), 'another name that begins alike').to.equal(0)
      expect(await run('leave', 'one', 1)).to.equal(0)
      expect(await server.admin.get(keys[0] ?? '')).to.equal('one:2')
      await run('leave', 'one', 2)
      expect(await server.admin.get(keys[0] ?? '')).to.equal('on:3')
    })
  })

  it('DAV-90 the last attempt is given up, in whatever order Redis has refused to hear of their ends', async () => {
    const refusals: (() => void)[] = []
    const given = Promise.withResolvers<unknown>()
    const redis = {
      async evalsha(...request: unknown[]) {
        const [operation, attempt] = request.slice(-2)
        if (operation === 'give up') given.resolve(attempt)
        if (operation !== 'leave') return ['', operation === 'take' ? 1 : 0]
        return new Promise((_, reject) => refusals.push(() => reject(new Error('hung'))))
      },
    }
    const connection = {
      redis,
      hear: () => undefined,
      onLost: () => undefined,
      isUp: () => true,
      close: async () => undefined,
    }
    const leases = redisLeases({ connection: connection as unknown as RedisConnection })
    try {
      for (const _ of [1, 2]) {
        await leases.hold(SITE, ['/a'], async () => undefined)
        await sent()
      }
      for (const refuse of refusals.reverse()) {
        refuse()
        await new Promise(setImmediate)
      }
      expect(await given.promise).to.equal(2)
    } finally {
      leases.close()
    }
  })

  it('DAV-8 whoever holds a lease asks again, before a commit, whether a Redis that came back still knows of it', async () => {
    const own = await startRedis()
    const [connection, another] = [await own.open(), await own.open()]
    const [mine, other] = [connection, another].map(each => redisLeases({ connection: each, life: 600_000 }))
    if (!mine || !other) throw new Error('there are two')
    const work = held(mine, '/a')
    await work.begun
    expect(mine.confirm(SITE, ['/a'])).to.equal(true)
    await own.kill()
    await own.start()
    await Promise.all([own.until(connection), own.until(another)])
    expect(await other.hold(SITE, ['/a'], async () => mine.confirm(SITE, ['/a']))).to.equal(false)
    work.end()
    await work.ended
    for (const leases of [mine, other]) leases.close()
    await Promise.all([connection.close(), another.close()])
    await own.stop()
  })

  it('DAV-90 without Redis nobody gets a lease, at once; with it everybody does again', async () => {
    const own = await startRedis()
    const connection = await own.open()
    const leases = redisLeases({ connection })
    const work = held(leases, '/a')
    await work.begun
    await own.kill()
    work.end()
    await work.ended
    const outcome = await leases.hold(SITE, ['/b'], async () => 'never').catch((error: unknown) => error)
    expect(outcome).to.be.instanceOf(Error).and.to.have.property('name', 'LeaseError')
    await own.start()
    await own.until(connection)
    expect(await leases.hold(SITE, ['/a', '/b'], async () => 'back')).to.equal('back')
    leases.close()
    await connection.close()
    await own.stop()
  })
})
