import { once } from 'node:events'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { RedisConnection } from '../../../pipeline/coordination/redis/connection.ts'
import { openRedisSessions } from '../../../pipeline/coordination/redis/sessions.ts'
import type { Sessions, SignedIn } from '../../../pipeline/coordination/sessions.ts'
import { startRedis, type TestRedis } from './redis-server.ts'
import { sessionsContract } from './sessions-contract.ts'

/** A time that is no whole second. */
const START = Date.UTC(2026, 2, 14, 9, 26, 53, 589)
const SITE = 'a.example'
const MINUTE = 60_000

describe('sessions in Redis', () => {
  let server: TestRedis
  const connections: RedisConnection[] = []
  const servers: TestRedis[] = []
  before(async () => {
    server = await startRedis()
  })
  after(async () => {
    for (const connection of connections) await connection.close()
    for (const each of [server, ...servers]) await each.stop()
  })

  /** A Redis for one test, which may disturb it. */
  async function ownRedis(): Promise<TestRedis> {
    const own = await startRedis()
    servers.push(own)
    return own
  }

  async function another(clock: () => number, from = server) {
    const connection = await from.open()
    connections.push(connection)
    return { connection, sessions: await openRedisSessions({ connection, clock }) }
  }

  sessionsContract(async () => {
    await server.admin.flushall()
    let now = START
    const clock = () => now
    const { sessions } = await another(clock)
    return {
      sessions,
      advance: ms => (now += ms),
      now: clock,
      restart: async () => (await another(clock)).sessions,
      end: () => sessions.close(),
    }
  })

  const session = (): SignedIn => ({ signIn: { claims: { sub: 'ann' }, roles: [], at: 1 }, expires: START + MINUTE })
  const clock = () => START

  it('SSN-7 what ends while a process begins to listen is known to it', async () => {
    const own = await ownRedis()
    const { sessions } = await another(clock, own)
    await sessions.signIn(SITE, 'one', session(), { id: 'before', until: START + MINUTE })
    const slow = await own.open()
    connections.push(slow)
    const opened = await openRedisSessions({
      clock,
      connection: {
        ...slow,
        async hear(...of) {
          // Word of it goes to nobody, and it has not ended before.
          await new Promise(resolve => setTimeout(resolve, 50))
          await sessions.end(SITE, { id: 'one', until: START + MINUTE })
          return slow.hear(...of)
        },
      },
    })
    expect(opened.hasEnded(SITE, 'one')).to.equal(true)
  })

  it('SSN-6 a part of Redis that goes with what it held is told again who has signed out', async () => {
    const own = await ownRedis()
    const connection = await own.open()
    connections.push(connection)
    const lost: (() => void)[] = []
    const sessions = await openRedisSessions({
      clock,
      connection: { ...connection, onLost: listener => void lost.push(listener) },
    })
    await sessions.end(SITE, { id: 'one', until: START + MINUTE })
    await own.admin.flushall()
    for (const listener of lost) listener()
    while ((await own.admin.keys('*:ended')).length === 0) await new Promise(resolve => setTimeout(resolve, 10))
  })

  /** How a process signs what it tells the others. */
  async function senderOf(redis: TestRedis, { end }: Sessions): Promise<string> {
    const listening = redis.connect()
    await listening.subscribe('scriptorium:sessions')
    const first = once(listening, 'message')
    await end(SITE, { id: 'somebody', until: START + MINUTE })
    const [, message] = await first
    return JSON.parse(String(message))[0]
  }

  it('SSN-6 SSN-7 what one process ends, the others know within a second, and tell of it once', async () => {
    await server.admin.flushall()
    const [one, two] = [await another(clock), await another(clock)]
    const told: string[] = []
    const heard = new Promise<void>(resolve => {
      two.sessions.onEnd((site, id) => {
        told.push(`${site} ${id}`)
        resolve()
      })
    })
    expect(await one.sessions.signIn(SITE, 'new', session(), { id: 'old', until: START + MINUTE })).to.equal(true)
    expect(await two.sessions.find(SITE, 'new')).to.deep.equal(session())
    await heard
    expect(two.sessions.hasEnded(SITE, 'old')).to.equal(true)
    expect(await two.sessions.signIn(SITE, 'other', session(), { id: 'old', until: START + MINUTE })).to.equal(false)
    expect(told).to.deep.equal([`${SITE} old`])
  })

  it('SSN-6 of eight processes that follow one session exactly one does', async () => {
    await server.admin.flushall()
    const all = await Promise.all(Array.from({ length: 8 }, () => another(clock)))
    const outcomes = await Promise.all(
      all.map(({ sessions }, i) => sessions.signIn(SITE, `n${i}`, session(), { id: 'old', until: START + MINUTE })),
    )
    expect(outcomes.filter(Boolean)).to.have.length(1)
  })

  it('SSN-5 what is no session signs nobody in, and what is no message is passed over', async () => {
    await server.admin.flushall()
    const { sessions } = await another(clock)
    const key = `scriptorium:sessions:{${SITE}}:signed:ann`
    for (const value of ['', '{', 'null', '[]', '{}', '{"claims":{}}', '{"claims":null,"roles":[]}']) {
      await server.admin.set(key, `${START + MINUTE} ${value}`)
      expect(await sessions.find(SITE, 'ann'), value).to.equal(undefined)
      await server.admin.publish('scriptorium:sessions', value)
    }
    const heard = new Promise<string>(resolve => {
      sessions.onEnd((_site, id) => resolve(id))
    })
    await server.admin.publish('scriptorium:sessions', JSON.stringify(['x', SITE, 'gone', START + MINUTE]))
    expect(await heard).to.equal('gone')
  })

  it('SSN-5 every key vanishes by itself', async () => {
    await server.admin.flushall()
    const { sessions } = await another(clock)
    await sessions.keep(SITE, 'old', { name: 'a', value: 'A', expires: START + 2 * MINUTE })
    await sessions.keep(SITE, 'old', { name: 'b', value: 'B', expires: START + MINUTE })
    await sessions.signIn(SITE, 'new', session(), { id: 'old', until: START + MINUTE })
    const keys = (await server.admin.keys('*')).sort()
    expect(keys).to.deep.equal([
      'scriptorium:sessions:sites',
      'scriptorium:sessions:{a.example}:ended',
      'scriptorium:sessions:{a.example}:held:new',
      'scriptorium:sessions:{a.example}:signed:new',
    ])
    for (const key of keys.slice(1)) expect(await server.admin.pttl(key), key).to.be.within(1000, 2 * MINUTE)
    expect(await server.admin.pttl(keys[2] ?? '')).to.be.above(MINUTE)
  })

  it('SSN-7 what ended while a process was cut off is learned when it is back', async () => {
    const own = await ownRedis()
    const two = await another(clock, own)
    const heard = new Promise<string>(resolve => {
      two.sessions.onEnd((_site, id) => resolve(id))
    })
    await own.admin.zadd(`scriptorium:sessions:{${SITE}}:ended`, START + MINUTE, 'gone')
    await own.admin.sadd('scriptorium:sessions:sites', SITE)
    await own.admin.client('KILL', 'TYPE', 'PUBSUB')
    expect(await heard).to.equal('gone')
    expect(two.sessions.hasEnded(SITE, 'gone')).to.equal(true)
  })

  it('SSN-7 it is asked again until it is learned: the connection for commands may come back behind the other one', async () => {
    const own = await ownRedis()
    const connection = await own.open()
    connections.push(connection)
    let failures = 0
    const redis = new Proxy(connection.redis, {
      get(target, name) {
        if (name === 'smembers' && failures > 0) return () => Promise.reject(new Error(`away ${failures--}`))
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const told: unknown[] = []
    const sessions = await openRedisSessions({
      connection: { ...connection, redis },
      clock,
      again: 1,
      failed: error => told.push(error),
    })
    const heard = new Promise<string>(resolve => {
      sessions.onEnd((_site, id) => resolve(id))
    })
    await own.admin.zadd(`scriptorium:sessions:{${SITE}}:ended`, START + MINUTE, 'gone')
    await own.admin.sadd('scriptorium:sessions:sites', SITE)
    failures = 3
    await own.admin.client('KILL', 'TYPE', 'PUBSUB')
    expect(await heard).to.equal('gone')
    expect(told.map(String)).to.deep.equal(['Error: away 3'])
    await sessions.close()
  })

  it('SSN-7 SEC-12 however many have ended, each answer tells some of them', async () => {
    const own = await ownRedis()
    const marks = Array.from({ length: 3000 }, (_, i) => [START + MINUTE, `gone-${i}`]).flat()
    await own.admin.zadd(`scriptorium:sessions:{${SITE}}:ended`, ...marks, START - MINUTE, 'expired')
    await own.admin.sadd('scriptorium:sessions:sites', SITE)
    const connection = await own.open()
    connections.push(connection)
    let longest = 0
    const lengthsIn = (told: unknown): number[] =>
      Array.isArray(told) ? [told.length, ...told.flatMap(lengthsIn)] : []
    const redis = new Proxy(connection.redis, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return (...asked: unknown[]) => {
          const answer: unknown = value.apply(target, asked)
          if (answer instanceof Promise)
            answer.then(
              told => {
                longest = Math.max(longest, ...lengthsIn(told))
              },
              () => undefined,
            )
          return answer
        }
      },
    })
    const sessions = await openRedisSessions({ connection: { ...connection, redis }, clock })
    for (const id of ['gone-0', 'gone-1500', 'gone-2999']) expect(sessions.hasEnded(SITE, id), id).to.equal(true)
    expect(sessions.hasEnded(SITE, 'expired')).to.equal(false)
    expect(longest).to.be.within(2, 1500)
    await sessions.close()
  })

  it('SSN-6 SSN-7 a sign-out whose answer is lost is known to its own process, too, once it is carried out', async () => {
    const own = await ownRedis()
    const { sessions } = await another(clock, own)
    await sessions.signIn(SITE, 'ann', session(), { id: 'old', until: START + MINUTE })
    const sender = await senderOf(own, sessions)
    const heard = new Promise<string>(resolve => {
      sessions.onEnd((_site, id) => resolve(id))
    })
    // All that comes back of the command is its word to everybody.
    await own.admin.publish('scriptorium:sessions', JSON.stringify([sender, SITE, 'ann', START + MINUTE]))
    expect(await heard).to.equal('ann')
    expect(sessions.hasEnded(SITE, 'ann')).to.equal(true)
  })

  it('SSN-6 who was signed out stays out when Redis falls back to an older state, as after a fail-over', async () => {
    const own = await ownRedis()
    const [one, two] = [await another(clock, own), await another(clock, own)]
    await one.sessions.signIn(SITE, 'ann', session(), { id: 'old', until: START + MINUTE })
    const base = `scriptorium:sessions:{${SITE}}`
    const before = (await own.admin.get(`${base}:signed:ann`)) ?? ''
    const told = new Promise(resolve => two.sessions.onEnd((_site, id) => id === 'ann' && resolve(id)))
    await one.sessions.end(SITE, { id: 'ann', until: START + MINUTE })
    await told
    await own.admin.flushall()
    await own.admin.set(`${base}:signed:ann`, before)
    for (const { sessions } of [one, two]) {
      expect(await sessions.find(SITE, 'ann')).to.equal(undefined)
      expect(await sessions.isSignedIn(SITE, 'ann')).to.equal(false)
    }
    await own.admin.client('KILL', 'TYPE', 'PUBSUB')
    while ((await own.admin.zcard(`${base}:ended`)) < 2) await new Promise(resolve => setTimeout(resolve, 5))
    const later = await another(clock, own)
    expect(await later.sessions.find(SITE, 'ann')).to.equal(undefined)
    expect(later.sessions.hasEnded(SITE, 'ann')).to.equal(true)
    expect(await later.sessions.keep(SITE, 'old', { name: 'a', value: 'A', expires: START + MINUTE })).to.equal(false)
  })

  it('SSN-5 values whose time is over do not stay because of others that last', async () => {
    await server.admin.flushall()
    let now = START
    const { sessions } = await another(() => now)
    await sessions.keep(SITE, 'x', { name: 'basket', value: 'B', expires: START + 100 * MINUTE })
    for (let i = 0; i < 20; i++) {
      await sessions.keep(SITE, 'x', { name: `login/${i}`, value: 'L', expires: now + MINUTE })
      expect((await sessions.values(SITE, 'x', 'login/')).map(({ name }) => name)).to.deep.equal([`login/${i}`])
      now += 2 * MINUTE
    }
    expect(await sessions.values(SITE, 'x', 'login/')).to.deep.equal([])
    expect(await server.admin.hkeys(`scriptorium:sessions:{${SITE}}:held:x`)).to.deep.equal(['basket'])
  })

  it('SSN-5 nor do those that nobody reads any more', async () => {
    await server.admin.flushall()
    let now = START
    const { sessions } = await another(() => now)
    const most: number[] = []
    for (let i = 0; i < 100; i++) {
      await sessions.keep(SITE, 'x', { name: `page/${i}`, value: 'P'.repeat(100), expires: now + MINUTE })
      most.push(await server.admin.hlen(`scriptorium:sessions:{${SITE}}:held:x`))
      now += 2 * MINUTE
    }
    expect(Math.max(...most)).to.be.at.most(30)
  })

  it('SEC-12 whoever reads some values of a session is sent no others: it may hold content for any number of pages', async () => {
    await server.admin.flushall()
    const { sessions } = await another(clock)
    const sent = async () => Number(/total_net_output_bytes:(\d+)/.exec(await server.admin.info('stats'))?.[1])
    const value = 'x'.repeat(64 * 1024)
    for (const name of ['a/1', 'a/2', 'b/1', 'b/2', 'b/3', 'c'])
      await sessions.keep(SITE, 'x', { name, value, expires: START + MINUTE })
    const before = await sent()
    expect((await sessions.values(SITE, 'x', 'a/')).map(({ name }) => name)).to.deep.equal(['a/1', 'a/2'])
    expect(await sessions.values(SITE, 'x', 'd/')).to.deep.equal([])
    expect((await sent()) - before).to.be.within(2 * value.length, 3 * value.length)
  })

  it('SSN-4 a Redis that is gone is told as such, and found again when it is back', async () => {
    const own = await ownRedis()
    const { sessions, connection } = await another(clock, own)
    await own.kill()
    const outcome = await sessions.find(SITE, 'x').catch((error: unknown) => error)
    expect(outcome).to.be.instanceOf(Error).and.to.have.property('name', 'SessionError')
    await own.start()
    await own.until(connection)
    expect(await sessions.keep(SITE, 'x', { name: 'a', value: 'A', expires: START + MINUTE })).to.equal(true)
  })
})
