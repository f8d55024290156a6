import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { RedisConnection } from '../../../pipeline/coordination/redis/connection.ts'
import { openRedisSessions } from '../../../pipeline/coordination/redis/sessions.ts'
import type { SignedIn } from '../../../pipeline/coordination/sessions.ts'
import { startRedis, type TestRedis } from './redis-server.ts'
import { sessionsContract } from './sessions-contract.ts'

/** A time that is no whole second. */
const START = Date.UTC(2026, 2, 14, 9, 26, 53, 589)
const SITE = 'a.example'
const MINUTE = 60_000

describe('sessions in Redis', () => {
  let server: TestRedis
  const connections: RedisConnection[] = []
  before(async () => {
    server = await startRedis()
  })
  after(async () => {
    for (const connection of connections) await connection.close()
    await server.stop()
  })

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
    const own = await startRedis()
    const [one, two] = [await another(clock, own), await another(clock, own)]
    const heard = new Promise<string>(resolve => {
      two.sessions.onEnd((_site, id) => resolve(id))
    })
    await own.admin.zadd(`scriptorium:sessions:{${SITE}}:ended`, START + MINUTE, 'gone')
    await own.admin.sadd('scriptorium:sessions:sites', SITE)
    await own.admin.client('KILL', 'TYPE', 'PUBSUB')
    expect(await heard).to.equal('gone')
    expect(two.sessions.hasEnded(SITE, 'gone')).to.equal(true)
    for (const { connection } of [one, two]) await connection.close()
    await own.stop()
  })

  it('SSN-4 a Redis that is gone is told as such, and found again when it is back', async () => {
    const own = await startRedis()
    const { sessions, connection } = await another(clock, own)
    await own.kill()
    const outcome = await sessions.find(SITE, 'x').catch((error: unknown) => error)
    expect(outcome).to.be.instanceOf(Error).and.to.have.property('name', 'SessionError')
    await own.start()
    await own.until(connection)
    expect(await sessions.keep(SITE, 'x', { name: 'a', value: 'A', expires: START + MINUTE })).to.equal(true)
    await connection.close()
    await own.stop()
  })
})
