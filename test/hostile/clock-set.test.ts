/** Somebody sets the clock of the system while a server runs: what lasts a while lasts as long as before. */

import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { createGatekeeper } from '../../dav/access/credentials.ts'
import { createLoginThrottles } from '../../dav/access/login-throttle.ts'
import { localRateLimits } from '../../pipeline/coordination/local/rate-limits.ts'
import { WaitingCalls } from '../../pipeline/react/outbound/waiting.ts'
import { clockOfAnother } from '../../pipeline/store/postgres/watch.ts'
import { sessionExpiry } from '../../server/sessions/session-expiry.ts'
import { createProvider } from '../../server/sign-in/provider.ts'
import { CLIENT } from '../server/sign-in/oidc-server.ts'
import { startStubProvider } from '../server/sign-in/stub-provider.ts'
import { eventually } from '../support/eventually.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const YEAR = 365 * 24 * HOUR

const system = { date: Date.now, passed: performance.now }
let ahead = 0
let passed = 0

/** @param milliseconds by which the clock of the system is ahead */
function setClock(milliseconds: number): void {
  ahead = milliseconds
}

function letPass(milliseconds: number): void {
  passed = milliseconds
}

/** What was begun in a year, when the clock is set right, and a while has passed. */
async function laterBy(milliseconds: number, begin: () => Promise<unknown>): Promise<void> {
  setClock(YEAR)
  await begin()
  setClock(0)
  letPass(milliseconds)
}

describe('a clock that is set', () => {
  beforeEach(() => {
    ahead = passed = 0
    Date.now = () => system.date() + ahead
    performance.now = () => system.passed.call(performance) + passed
  })
  afterEach(() => {
    Date.now = system.date
    performance.now = system.passed
  })

  it('DAV-3 failed attempts are forgotten as ever', async () => {
    const rateLimits = localRateLimits()
    const add = () => rateLimits.add(['a'], HOUR)
    await laterBy(HOUR - MINUTE, add)
    expect(await add()).to.deep.equal([2])
    letPass(3 * HOUR)
    expect(await add()).to.deep.equal([1])
  })

  it('DAV-3 a verdict on a password lasts a minute', async () => {
    const credential = { user: 'x', password: 'y', scope: ['/*'], write: true }
    const gatekeeper = createGatekeeper([credential], createLoginThrottles({ rateLimits: localRateLimits() }).of(''))
    const field = `Basic ${Buffer.from('x:y').toString('base64')}`
    await laterBy(0.9 * MINUTE, async () => gatekeeper.author(field, '127.0.0.1'))
    expect(gatekeeper.remembered(field, {})?.user).to.equal('x')
    letPass(1.1 * MINUTE)
    expect(gatekeeper.remembered(field, {})).to.equal(undefined)
  })

  it("OIDC-8 a provider's configuration lasts an hour, and OIDC-9 a login makes sure of it", async () => {
    const stub = await startStubProvider()
    const { issuer } = stub
    const settings = {
      issuer,
      ...CLIENT,
      scopes: 'openid',
      rolesClaim: 'roles',
      endSession: false,
      authCallback: false,
    }
    const provider = createProvider({ ...settings, tokenAuth: undefined })
    const login = () =>
      provider.authorizationUrl('http://site.example/', { state: 's', nonce: 'n', verifier: 'v'.repeat(43) })
    await laterBy(MINUTE, login)
    await login()
    await stub.stop()
    expect(stub.requests).to.have.length(2)
  })

  it('EVT-45 that of the database goes on', () => {
    const clock = clockOfAnother()
    const before = clock.now()
    setClock(YEAR)
    expect(clock.now() - before).to.be.below(HOUR)
  })

  it('EVT-50 a session that has passed its end takes its streams along', async () => {
    const ended: string[] = []
    const end = Date.now() + HOUR
    const expiry = async () => (Date.now() < end ? end : undefined)
    const ends = sessionExpiry({
      site: 's',
      sessions: { hasEnded: () => false, onEnd: () => () => undefined },
      clock: () => Date.now(),
      again: HOUR,
      every: 5,
    })
    const stops = ['a', 'b'].map(id => ends.watch(id, expiry, why => ended.push(id + why)))
    stops[1]?.()
    await new Promise(resolve => setTimeout(resolve, 10))
    setClock(2 * HOUR)
    await eventually(() => expect(ended).to.deep.equal(['aexpired']))
    ends.close()
  })

  it('REA-84 outbound requests wait no longer than ever', () => {
    const waiting = new WaitingCalls()
    const call = (id: string, due: number) => ({ id, site: 's', host: 'h', bytes: 1, due })
    for (const [i, due] of [1000, YEAR, 2 * YEAR, 20_000].entries()) waiting.add(call(`${i}`, due), 0)
    waiting.hasten(20_000)
    const taken = () => waiting.take(20_000)?.id
    expect([taken(), taken(), taken(), taken(), taken()]).to.deep.equal(['0', '3', '1', '2', undefined])
  })
})
