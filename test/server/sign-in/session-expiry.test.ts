/** When those who watch a session are told of its end, by a clock of the test's own (SSN-7, EVT-50). */

import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { type SessionExpiry, sessionExpiry } from '../../../server/sessions/session-expiry.ts'

const MINUTE = 60_000
const YEAR = 365 * 24 * 60 * MINUTE
/** The longest time that a timer takes. */
const LONGEST = 2 ** 31 - 1

describe('the end of a watched session', () => {
  const passedFor = performance.now
  let ends: SessionExpiry
  let told: string[]
  let asked: number
  /** How far the clock of the system is ahead of the time that has passed. */
  let ahead: number
  let passed: number
  let expiry: () => Promise<number | undefined>
  let hasEnded: boolean
  let end: (site: string, id: string) => void

  const clock = () => 50 * YEAR + passed + ahead
  const settled = () => turn().then(() => turn())

  /** Lets time pass, in steps as long as the longest pause between two looks. */
  async function pass(milliseconds: number, step = milliseconds): Promise<void> {
    for (let left = milliseconds; left > 0; left -= step) {
      passed += Math.min(step, left)
      mock.timers.tick(Math.min(step, left))
      await settled()
    }
  }

  async function watch(name: string, id = 'a'): Promise<() => void> {
    const stop = ends.watch(
      id,
      () => {
        asked++
        return expiry()
      },
      why => told.push(`${name} ${why}`),
    )
    await pass(1)
    return stop
  }

  function listens(listener: typeof end): () => void {
    end = listener
    return () => undefined
  }

  function begin(every: number): void {
    ends = sessionExpiry({
      site: 's',
      sessions: { hasEnded: () => hasEnded, onEnd: listens },
      clock,
      again: MINUTE,
      every,
    })
  }

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
    performance.now = () => passed
    told = []
    asked = ahead = 0
    passed = YEAR
    hasEnded = false
    begin(MINUTE)
  })
  afterEach(() => {
    ends.close()
    performance.now = passedFor
    mock.timers.reset()
  })

  it('its time is over: it is asked for once more, and again where it was used meanwhile', async () => {
    let until: number | undefined = clock() + 2 * MINUTE
    expiry = async () => until
    await watch('one')
    await pass(MINUTE)
    expect([asked, told]).to.deep.equal([1, []])
    until = clock() + 5 * MINUTE
    await pass(2 * MINUTE)
    expect([asked, told], 'used').to.deep.equal([2, []])
    until = undefined
    await pass(3 * MINUTE)
    expect([asked, told]).to.deep.equal([3, ['one expired']])
    await pass(YEAR, YEAR / 4)
    expect([asked, told], 'nobody watches any more').to.deep.equal([3, ['one expired']])
  })

  it('somebody has ended it, and says so within a second or never', async () => {
    expiry = async () => undefined
    await watch('one')
    await pass(500)
    end('s', 'a')
    expect(told).to.deep.equal(['one invalidated'])
    await watch('two')
    await pass(999)
    expect(told).to.have.length(1)
    await pass(1)
    expect(told[1]).to.equal('two expired')
    hasEnded = true
    await watch('three')
    expect(told[2]).to.equal('three invalidated')
    expect(told).to.have.length(3)
  })

  it('is told to those who watch it on this site, and to nobody twice', async () => {
    expiry = async () => clock() + YEAR
    await watch('one')
    const stop = await watch('two')
    await watch('three')
    await watch('other', 'b')
    stop()
    end('t', 'a')
    expect(told).to.deep.equal([])
    end('s', 'a')
    end('s', 'a')
    expect(told).to.deep.equal(['one invalidated', 'three invalidated'])
    await watch('four')
    end('s', 'a')
    expect(told[2], 'another one of that id').to.equal('four invalidated')
  })

  it('whoever has stopped hears nothing, whatever was asked, and whoever sets the clock', async () => {
    let found = (_: number | undefined) => {}
    expiry = () => new Promise(resolve => (found = resolve))
    const stop = await watch('one')
    stop()
    found(undefined)
    await pass(MINUTE)
    ahead = YEAR
    const before = asked
    expiry = async () => clock() + YEAR
    const two = await watch('two')
    ahead = 0
    await pass(2 * MINUTE)
    expect([asked - before, told]).to.deep.equal([1, []])
    two()
  })

  it('a time beyond every timer is not over when the timer is', async () => {
    ends.close()
    begin(LONGEST)
    expiry = async () => Number.POSITIVE_INFINITY
    await watch('one')
    await pass(LONGEST)
    expect([asked, told]).to.deep.equal([2, []])
  })

  it('what cannot be reached is asked for later', async () => {
    let isAway = true
    const until = clock() + YEAR
    expiry = async () => {
      if (isAway) throw new Error('away')
      return until
    }
    await watch('one')
    await pass(MINUTE - 1)
    expect(asked).to.equal(1)
    await pass(1)
    expect(asked).to.equal(2)
    isAway = false
    await pass(10 * MINUTE)
    expect([asked, told]).to.deep.equal([3, []])
  })

  it('a clock that is set has it asked for at the next look, one that is moved a little does not', async () => {
    const until = clock() + 10 * MINUTE
    expiry = async () => (clock() < until ? until : undefined)
    await watch('one')
    ahead = 500
    await pass(MINUTE)
    expect(asked).to.equal(1)
    ahead = 20 * MINUTE
    await pass(MINUTE)
    expect([asked, told]).to.deep.equal([2, ['one expired']])
    ahead = 0
    await pass(10 * MINUTE, MINUTE)
    expect([asked, told]).to.deep.equal([2, ['one expired']])
  })

  it('the clock is looked at once for all who watch, and not when nobody does', async () => {
    expiry = async () => clock() + YEAR
    const [begun, over] = [mock.method(globalThis, 'setInterval'), mock.method(globalThis, 'clearInterval')]
    const stops = [await watch('one'), await watch('two')]
    expect(begun.mock.callCount()).to.equal(1)
    stops[0]?.()
    expect(over.mock.callCount()).to.equal(0)
    stops[1]?.()
    expect(over.mock.callCount()).to.equal(1)
    await watch('three')
    expect(begun.mock.callCount()).to.equal(2)
    begun.mock.restore()
    over.mock.restore()
  })
})
