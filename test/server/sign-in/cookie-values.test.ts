import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { openLocalSessions } from '../../../pipeline/coordination/local/sessions.ts'
import type { Sessions } from '../../../pipeline/coordination/sessions.ts'
import { createSiteSessions, signedSessions } from '../../../server/sessions/site-sessions.ts'
import { cookieValues } from '../../../server/sessions/steps.ts'
import { type Opened, openTemporary } from '../../pipeline/store/fixture.ts'

const DAY = 86_400_000
const secret = randomBytes(32)

/** How many of the first bits of some values are 0 in some and 1 in others. */
function varied(values: readonly string[], bits: number): number {
  const all = values.map(value => Buffer.from(value, 'base64url'))
  const bitOf = (bytes: Buffer, at: number) => ((bytes[at >> 3] ?? 0) >> (at & 7)) & 1
  return Array.from({ length: bits }, (_, at) => new Set(all.map(bytes => bitOf(bytes, at))).size).filter(n => n === 2)
    .length
}

describe('values of session cookies', () => {
  let opened: Opened
  let sessions: Sessions
  before(async () => {
    opened = await openTemporary()
    sessions = await openLocalSessions({ store: opened.store, clock })
  })
  after(() => opened.close())

  const clock = () => opened.clock.now
  const visitors = (idle = 30 * DAY, signedIn = 30 * DAY) =>
    createSiteSessions({
      secret,
      site: 'a.example',
      sessions,
      lifetimes: { idle, signedIn },
      external: false,
      report: () => undefined,
      clock,
    })
  const signIn = async (by = visitors()) => {
    const before = await by.open(undefined)
    const next = await by.signIn(before, { claims: { sub: 'ada' }, roles: [], at: clock() })
    if (!next?.issue || !before.issue) throw new Error('no sign-in')
    return { before: before.issue, id: before.id, next, cookie: next.issue }
  }

  it('SSN-2 all bits are random, 128 of anonymous visitors and 256 of a sign-in', async () => {
    const all = []
    for (let i = 0; i < 40; i++) all.push(await signIn())
    const kept = all.map(({ cookie }) => cookie)
    expect(varied(kept, 256)).to.equal(256)
    expect(
      varied(
        all.map(({ before }) => before),
        128,
      ),
    ).to.equal(128)
    const bytes = kept.map(cookie => new Set(Buffer.from(cookie, 'base64url')).size)
    expect(Math.min(...bytes), 'within one as well').to.be.above(16)
  })

  it('SSN-3 whatever character is another one, the value is good for nothing, nor at another site', () => {
    const made = signedSessions({ secret, site: 'a.example', lifetime: DAY })
    const value = made.create().issue ?? ''
    // The last one holds two bits that stand for nothing.
    for (let at = 0; at < 51; at++) {
      const other = `${value.slice(0, at)}${value[at] === 'Q' ? 'g' : 'Q'}${value.slice(at + 1)}`
      expect(made.find(other), `${at}`).to.equal(undefined)
    }
    expect(made.find(value)).to.have.property('id')
    expect(signedSessions({ secret, site: 'b.example', lifetime: DAY }).find(value)).to.equal(undefined)
    expect(signedSessions({ secret: randomBytes(32), site: 'a.example', lifetime: DAY }).find(value)).to.equal(
      undefined,
    )
  })

  it('DEC-6 SSN-5 a request that began before the end of a sign-in is nobody\u2019s after it', async () => {
    const by = visitors()
    const { cookie } = await signIn(by)
    const session = await by.open(cookie)
    expect(by.isOver(session)).to.equal(false)
    opened.clock.now += 30 * DAY
    expect([by.isOver(session), await by.isOverNow(session)]).to.deep.equal([true, true])
  })

  it('SSN-6 the value from before a sign-in stays dead for as long as it could have lived', async () => {
    const by = visitors(60 * DAY, 10 * DAY)
    const { before, id } = await signIn(by)
    for (let day = 0; day < 60; day++) {
      opened.clock.now += DAY
      expect((await by.open(before)).id, `day ${day}`).not.to.equal(id)
    }
  })

  it('SSN-3 SEC-12 of many of one name 32 are looked at', () => {
    const field = Array.from({ length: 500 }, (_, i) => `s=${i}`).join('; ')
    expect(cookieValues(field, 's')).to.have.length(32)
  })
})
