/** Who guesses passwords waits longer every time, and nobody else does (DAV-3). */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { createLoginThrottles, type LoginThrottle, type LoginThrottles } from '../../../dav/access/login-throttle.ts'
import { localRateLimits } from '../../../pipeline/coordination/local/rate-limits.ts'
import { redisRateLimits } from '../../../pipeline/coordination/redis/rate-limits.ts'
import { Fault } from '../../../pipeline/fault.ts'
import { startRedis, type TestRedis } from '../../pipeline/coordination/redis-server.ts'

const wrong = async () => undefined
const right = async () => 'ada'

/** Checks that end when they are told to. */
function heldChecks() {
  const begun: ((found: string | undefined) => void)[] = []
  const check = () => new Promise<string | undefined>(resolve => begun.push(resolve))
  return { begun, check }
}

/** Until nothing goes on any more that needs no event from outside. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise(setImmediate)
}

describe('failed attempts', () => {
  let now: number
  let waited: number[]
  let release: (() => void)[]
  let hold: boolean
  let slowed: string[]
  let throttles: LoginThrottles
  let throttle: LoginThrottle
  beforeEach(() => {
    now = 1_000_000
    waited = []
    release = []
    hold = false
    slowed = []
    throttles = createLoginThrottles({
      slowed: address => slowed.push(address),
      rateLimits: localRateLimits(() => now),
      pause: milliseconds => {
        waited.push(milliseconds)
        return hold ? new Promise(resolve => release.push(resolve)) : Promise.resolve()
      },
    })
    throttle = throttles.of('one.example')
  })

  const fail = async (times: number, address = 'a', user = 'ada') => {
    for (let i = 0; i < times; i++) await throttle.attempt(address, user, wrong)
  }
  const succeed = (address = 'a', user = 'ada') => throttle.attempt(address, user, right)
  /** @returns milliseconds that an attempt waits which is none in the end */
  async function waitOf(address = 'a', user = 'ada'): Promise<number> {
    waited = []
    const gone = new Error('gone')
    const failure = await throttle.attempt(address, user, () => Promise.reject(gone)).catch((error: unknown) => error)
    expect(failure).to.equal(gone)
    return waited[0] ?? 0
  }

  it('each attempt that waits, or finds no room to, is told with its address, and no other', async () => {
    await fail(4)
    await fail(4, 'b')
    expect(slowed).to.deep.equal([])
    hold = true
    const attempts = Array.from({ length: 9 }, () => succeed().catch((error: unknown) => error))
    await settled()
    expect(slowed).to.deep.equal(Array(9).fill('a'))
    for (const go of release) go()
    expect((await Promise.all(attempts)).filter(each => each instanceof Fault)).to.have.length(1)
  })

  const WAITS: [failures: number, milliseconds: number][] = [
    [0, 0],
    [3, 0],
    [4, 250],
    [5, 500],
    [6, 1000],
    [8, 4000],
    [9, 8000],
    [10, 8000],
    [2000, 8000],
  ]
  for (const [failures, milliseconds] of WAITS)
    it(`${failures} failures with a user make the next attempt wait ${milliseconds} ms`, async () => {
      await fail(failures)
      expect(await waitOf()).to.equal(milliseconds)
    })

  it('another address does not wait, nor another user from the same one', async () => {
    await fail(8)
    expect(await waitOf('b', 'ada')).to.equal(0)
    expect(await waitOf('a', 'bob')).to.equal(0)
  })

  it('DAV-3 a user of the same name at another site does not wait, and a success of theirs forgets nothing here', async () => {
    const other = throttles.of('other.example')
    await fail(8)
    expect(await other.attempt('a', 'ada', right)).to.equal('ada')
    expect(waited).to.deep.equal([250, 500, 1000, 2000])
    expect(await waitOf()).to.equal(4000)
  })

  it('DAV-3 at all sites together an address has no more failures than at one', async () => {
    for (let i = 0; i < 24; i++) await throttles.of(`${i}.example`).attempt('a', 'ada', wrong)
    expect(await waitOf()).to.equal(250)
  })

  const places: [name: string, first: string, second: string, same: boolean][] = [
    ['two addresses of one IPv6 network', '2001:db8:0:1::1', '2001:db8::1:ffff:2:3:4', true],
    ['two IPv6 networks', '2001:db8:0:1::1', '2001:db8:0:2::1', false],
    ['an address and the same as IPv6 writes it', '192.0.2.1', '::ffff:192.0.2.1', true],
    ['two addresses', '192.0.2.1', '192.0.2.2', false],
  ]
  for (const [name, first, second, same] of places)
    it(`DAV-3 ${name} ${same ? 'wait' : 'do not wait'} for each other`, async () => {
      await fail(5, first)
      expect(await waitOf(second)).to.equal(same ? 500 : 0)
      await succeed(second)
      expect(await waitOf(first)).to.equal(same ? 0 : 500)
    })

  it('DAV-3 endless names of users cost no more memory than the longest that is told apart', async () => {
    const long = 'x'.repeat(64)
    await fail(4, 'a', `${long}${'y'.repeat(10_000)}`)
    expect(await waitOf('a', `${long}z`)).to.equal(250)
    expect(await waitOf('a', long.slice(1))).to.equal(0)
  })

  it('an address that tries one user after another waits in the end', async () => {
    for (let i = 0; i < 23; i++) await fail(1, 'a', `user-${i}`)
    expect(await waitOf('a', 'new')).to.equal(0)
    await fail(1, 'a', 'user-23')
    expect(await waitOf('a', 'new')).to.equal(250)
    await fail(5, 'a', 'again')
    expect(await waitOf('a', 'new')).to.equal(8000)
    expect(await waitOf('b', 'new')).to.equal(0)
  })

  it('a success forgets the failures with this user, and not those of the address', async () => {
    await fail(8)
    expect(await succeed()).to.equal('ada')
    expect(await waitOf()).to.equal(0)
    await fail(16, 'a', 'bob')
    await succeed('a', 'bob')
    expect(await waitOf('a', 'carl')).to.equal(250)
  })

  it('DAV-3 successes are no failures of their address', async () => {
    for (let i = 0; i < 100; i++) await succeed('a', `user-${i}`)
    expect(await waitOf('a', 'new')).to.equal(0)
  })

  it('failures are forgotten a quarter of an hour after the last attempt', async () => {
    await fail(8)
    now += 15 * 60_000
    expect(await waitOf()).to.equal(4000)
    now += 15 * 60_000 + 1
    expect(await waitOf()).to.equal(0)
    await fail(1)
    expect(await waitOf(), 'they are not added to').to.equal(0)
  })

  it('every failure begins the quarter of an hour anew', async () => {
    await fail(4)
    now += 14 * 60_000
    await fail(1)
    now += 14 * 60_000
    expect(await waitOf()).to.equal(500)
  })

  it('DAV-3 guesses at once are no more than guesses one after another', async () => {
    hold = true
    const { begun, check } = heldChecks()
    const all = Array.from({ length: 66 }, () => throttle.attempt('a', 'ada', check).catch((error: unknown) => error))
    await settled()
    expect(begun, 'as many as are free').to.have.length(4)
    for (const end of begun.splice(0)) end(undefined)
    await settled()
    expect(begun, 'before anybody has waited').to.have.length(0)
    expect(waited).to.deep.equal([250, 500, 1000, 2000, 4000, 8000, 8000, 8000])
    for (const each of release) each()
    await settled()
    while (begun.length > 0) {
      for (const end of begun.splice(0)) end(undefined)
      await settled()
    }
    const results = await Promise.all(all)
    expect(results.filter(each => each === undefined)).to.have.length(12)
    for (const each of results.filter(each => each !== undefined)) expect(each).to.include({ status: 503 })
    hold = false
    expect(await waitOf(), 'those that were refused are not counted').to.equal(8000)
  })

  it('DAV-3 many who sign in at once from one address wait for nothing but each other', async () => {
    const { begun, check } = heldChecks()
    const all = Array.from({ length: 60 }, (_, i) => throttle.attempt('a', `user-${i}`, check))
    await settled()
    while (begun.length > 0) {
      expect(begun).to.have.length(4)
      for (const end of begun.splice(0)) end('somebody')
      await settled()
    }
    expect(await Promise.all(all)).to.deep.equal(Array.from({ length: 60 }, () => 'somebody'))
    expect(waited).to.deep.equal([])
  })

  it('503 with Retry-After for more than are let to wait for each other', async () => {
    const { begun, check } = heldChecks()
    const all = Array.from({ length: 69 }, (_, i) =>
      throttle.attempt('a', `user-${i}`, check).catch((error: unknown) => error),
    )
    await settled()
    const refused = await all[68]
    expect(refused).to.be.instanceOf(Fault).and.include({ status: 503, kind: 'Unavailable' })
    while (begun.length > 0) {
      for (const end of begun.splice(0)) end('somebody')
      await settled()
    }
    expect((await Promise.all(all)).filter(each => each === 'somebody')).to.have.length(68)
  })

  it('503 with Retry-After for more than eight that wait from one address', async () => {
    await fail(6)
    hold = true
    const waiting = Array.from({ length: 8 }, () => throttle.attempt('a', 'ada', wrong))
    await settled()
    const refused = await throttle.attempt('a', 'ada', wrong).catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(Fault).and.include({ status: 503, kind: 'Unavailable' })
    expect((refused as Fault).details.headers).to.deep.equal({ 'Retry-After': '8' })
    hold = false
    await fail(4, 'b')
    hold = true
    const other = throttle.attempt('b', 'ada', wrong)
    while (release.length < 9) await new Promise(setImmediate)
    for (const each of release) each()
    await Promise.all([...waiting, other])
    hold = false
    expect(await waitOf(), 'there is room again').to.equal(8000)
  })

  it('a wait that is broken off makes room, too', async () => {
    let isBroken = false
    const broken = createLoginThrottles({
      rateLimits: localRateLimits(() => now),
      pause: () => (isBroken ? Promise.reject(new Error('gone')) : Promise.resolve()),
    }).of('one.example')
    for (let i = 0; i < 4; i++) await broken.attempt('a', 'ada', wrong)
    isBroken = true
    for (let i = 0; i < 20; i++) {
      const error = await broken.attempt('a', 'ada', wrong).catch((each: unknown) => each)
      expect(error).to.be.instanceOf(Error).and.not.instanceOf(Fault)
    }
  })

  it('remembers a bounded number of addresses: the oldest are forgotten first', async () => {
    await fail(8, 'first')
    await fail(8, 'second')
    for (let i = 0; i < 4_998; i++) await fail(1, `address-${i}`)
    expect(await waitOf('second'), 'full').to.equal(4000)
    await fail(1, 'one more')
    expect(await waitOf('first')).to.equal(0)
    expect(await waitOf('second')).to.equal(4000)
    await fail(1, 'second')
    for (let i = 0; i < 4_000; i++) await fail(1, `later-${i}`)
    expect(await waitOf('second'), 'who goes on is not among the oldest').to.equal(8000)
  })
})

describe('failed attempts in two processes', () => {
  let server: TestRedis
  before(async () => {
    server = await startRedis()
  })
  after(() => server.stop())

  it('DAV-3 guesses at once are no more than guesses one after another, wherever they go', async () => {
    const connections = await Promise.all([server.open(), server.open()])
    const { begun, check } = heldChecks()
    const paused: ((gone: Error) => void)[] = []
    const all = connections.flatMap(connection => {
      const throttle = createLoginThrottles({
        rateLimits: redisRateLimits({ connection, patience: 600_000 }),
        pause: () => new Promise((_, reject) => paused.push(reject)),
      }).of('one.example')
      return Array.from({ length: 20 }, () => throttle.attempt('a', 'ada', check).catch((error: unknown) => error))
    })
    while (begun.length < 4 || paused.length < 8) await new Promise(setImmediate)
    expect(begun).to.have.length(4)
    let isOver = false
    const over = Promise.all(all).then(() => (isOver = true))
    while (!isOver) {
      for (const end of begun.splice(0)) end(undefined)
      for (const end of paused.splice(0)) end(new Error('gone'))
      await new Promise(setImmediate)
    }
    await over
    await Promise.all(connections.map(connection => connection.close()))
  })
})
