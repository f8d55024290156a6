/** Who guesses passwords waits longer every time, and nobody else does (DAV-3). */

import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { createLoginThrottle, type LoginThrottle } from '../../../dav/access/login-throttle.ts'
import { localRateLimits } from '../../../pipeline/coordination/local/rate-limits.ts'
import { Fault } from '../../../pipeline/fault.ts'

describe('failed attempts', () => {
  let now: number
  let waited: number[]
  let release: (() => void)[]
  let hold: boolean
  let attempts: LoginThrottle
  beforeEach(() => {
    now = 1_000_000
    waited = []
    release = []
    hold = false
    attempts = createLoginThrottle({
      rateLimits: localRateLimits(() => now),
      pause: milliseconds => {
        waited.push(milliseconds)
        return hold ? new Promise(resolve => release.push(resolve)) : Promise.resolve()
      },
    })
  })

  const fail = async (times: number, address = 'a', user = 'ada') => {
    for (let i = 0; i < times; i++) await attempts.failed(address, user)
  }
  /** @returns milliseconds */
  async function waitOf(address = 'a', user = 'ada'): Promise<number> {
    waited = []
    await attempts.wait(address, user)
    return waited[0] ?? 0
  }

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
      attempts.succeeded(second, 'ada')
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
    await attempts.succeeded('a', 'ada')
    expect(await waitOf()).to.equal(0)
    await fail(16, 'a', 'bob')
    await attempts.succeeded('a', 'bob')
    expect(await waitOf('a', 'carl')).to.equal(250)
  })

  it('failures are forgotten a quarter of an hour after the last one', async () => {
    await fail(8)
    now += 15 * 60_000
    expect(await waitOf()).to.equal(4000)
    now += 1
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

  it('503 with Retry-After for more than eight that wait from one address', async () => {
    await fail(6)
    hold = true
    const waiting = Array.from({ length: 8 }, () => attempts.wait('a', 'ada'))
    const refused = await attempts.wait('a', 'ada').catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(Fault).and.include({ status: 503, kind: 'Unavailable' })
    expect((refused as Fault).details.headers).to.deep.equal({ 'Retry-After': '1' })
    await fail(4, 'b')
    const other = attempts.wait('b', 'ada')
    while (release.length < 9) await new Promise(setImmediate)
    for (const each of release) each()
    await Promise.all([...waiting, other])
    hold = false
    expect(await waitOf(), 'there is room again').to.equal(1000)
  })

  it('a wait that is broken off makes room, too', async () => {
    const broken = createLoginThrottle({
      rateLimits: localRateLimits(() => now),
      pause: () => Promise.reject(new Error('gone')),
    })
    for (let i = 0; i < 4; i++) await broken.failed('a', 'ada')
    for (let i = 0; i < 20; i++) {
      const error = await broken.wait('a', 'ada').catch((each: unknown) => each)
      expect(error).to.be.instanceOf(Error).and.not.instanceOf(Fault)
    }
  })

  it('remembers a bounded number of addresses: the oldest are forgotten first', async () => {
    await fail(8, 'first')
    await fail(8, 'second')
    for (let i = 0; i < 4_998; i++) await fail(1, `address-${i}`)
    expect(await waitOf('first'), 'full').to.equal(4000)
    await fail(1, 'one more')
    expect(await waitOf('first')).to.equal(0)
    expect(await waitOf('second')).to.equal(4000)
    await fail(1, 'second')
    for (let i = 0; i < 4_000; i++) await fail(1, `later-${i}`)
    expect(await waitOf('second'), 'who goes on is not among the oldest').to.equal(8000)
  })
})
