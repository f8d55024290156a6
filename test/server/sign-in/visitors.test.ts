import { randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { openLocalSessions } from '../../../pipeline/coordination/local/sessions.ts'
import type { Sessions, SignIn } from '../../../pipeline/coordination/sessions.ts'
import {
  createSiteSessions,
  type Session,
  type SiteSessions,
  type SiteSessionsOptions,
} from '../../../server/sessions/site-sessions.ts'
import { type Opened, openTemporary } from '../../pipeline/store/fixture.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const secret = randomBytes(32)

describe('visitors', () => {
  let opened: Opened
  let sessions: Sessions
  let visitors: SiteSessions
  const reported: string[] = []
  const made: SiteSessions[] = []

  beforeEach(async () => {
    reported.length = 0
    opened = await openTemporary()
    sessions = await openLocalSessions({ store: opened.store, clock })
    visitors = make()
  })
  afterEach(async () => {
    for (const each of made.splice(0)) each.close()
    await opened.close()
  })

  const clock = () => opened.clock.now
  function make(more: Partial<SiteSessionsOptions> = {}): SiteSessions {
    const visitors = createSiteSessions({
      secret,
      site: 'a.example',
      sessions,
      lifetimes: { idle: 30 * DAY, signedIn: 30 * DAY },
      external: false,
      report: message => reported.push(message),
      clock,
      ...more,
    })
    made.push(visitors)
    return visitors
  }
  const alice = (): SignIn => ({ claims: { sub: 'alice' }, roles: ['editors'], at: clock() })
  const pass = (ms: number) => (opened.clock.now += ms)

  /** Somebody signed in: the session and the value of its cookie. */
  async function signedIn(by = visitors): Promise<{ session: Session; cookie: string }> {
    const session = await by.signIn(await by.open(undefined), alice())
    if (session?.issue === undefined) throw new Error('no sign-in')
    return { session, cookie: session.issue }
  }
  const nameOf = async (cookie: string, by = visitors) => (await by.open(cookie)).principal?.sub

  it('SSN-6 whoever brings the cookie of a sign-in is that principal', async () => {
    const { cookie } = await signedIn()
    const { principal, issue } = await visitors.open(cookie)
    expect(principal).to.include({ sub: 'alice' }).and.to.have.property('roles').that.deep.equals(['editors'])
    expect(issue).to.equal(undefined)
  })

  it('SSN-2 SSN-3 a cookie of that form that nobody was given is replaced, and its value not adopted', async () => {
    const forged = randomBytes(32).toString('base64url')
    const session = await visitors.open(forged)
    expect(session.principal).to.equal(undefined)
    expect(session.issue).to.be.a('string').and.not.equal(forged)
    expect(session.id).not.to.include(forged.slice(0, 10))
  })

  it('SSN-3 the cookie of one site is nothing at another', async () => {
    const { cookie } = await signedIn()
    expect(await nameOf(cookie, make({ site: 'b.example' }))).to.equal(undefined)
  })

  it('ACT-1 who signed in at another provider is nobody: its names are not those of this one', async () => {
    const [old, other] = [make({ issuer: 'https://old.example' }), make({ issuer: 'https://new.example' })]
    const session = await old.signIn(await old.open(undefined), { ...alice(), issuer: 'https://old.example' })
    const cookie = session?.issue ?? ''
    expect(await nameOf(cookie, old)).to.equal('alice')
    for (const by of [other, make()]) {
      const { principal, issue } = await by.open(cookie)
      expect(principal).to.equal(undefined)
      expect(issue).to.be.a('string')
    }
    expect(await nameOf((await signedIn()).cookie, other), 'noted by an earlier release').to.equal('alice')
  })

  it('SSN-2 neither ids nor what is at rest show the cookie', async () => {
    const { session, cookie } = await signedIn()
    expect(cookie).not.to.include(session.id).and.not.equal(session.id)
    expect(JSON.stringify(await opened.store.notes('session'))).not.to.include(cookie)
  })

  it('SSN-5 a glance tells of anonymous visitors only', async () => {
    const { cookie } = await signedIn()
    expect(visitors.glance(cookie)).to.equal(undefined)
    const fresh = visitors.glance(undefined)
    expect(fresh?.issue).to.be.a('string')
    expect(visitors.glance(fresh?.issue)).to.deep.equal({ id: fresh?.id })
  })

  it('SSN-3 of several cookies the first one counts that somebody has signed in with, else the first good one', async () => {
    const { session, cookie } = await signedIn()
    const forged = randomBytes(32).toString('base64url')
    const [one = '', two = ''] = [visitors.glance(undefined)?.issue, visitors.glance(undefined)?.issue]
    for (const brought of [
      [forged, cookie],
      [one, cookie],
      [cookie, one],
      ['', one, forged, cookie],
    ]) {
      expect(visitors.glance(brought), 'needs a look at what is kept').to.equal(undefined)
      expect((await visitors.open(brought)).id).to.equal(session.id)
    }
    const { id } = await visitors.open(one)
    for (const brought of [
      [one, two],
      ['x', one, two],
      [forged, one],
      [forged, 'a'.repeat(51), one],
    ])
      expect(await visitors.open(brought), brought.join()).to.deep.equal({ id })
    expect((await visitors.open([forged, 'x'])).issue, 'no good one').to.be.a('string')
    const ends: string[] = []
    const forget = visitors.watch(session, [forged, one, cookie], why => ends.push(why))
    await turn()
    expect(ends, 'a stream goes by the cookie of its own session').to.deep.equal([])
    forget()
  })

  describe('SSN-5 lifetimes', () => {
    it('a session ends 30 days after its last use', async () => {
      visitors = make({ lifetimes: { idle: 30 * DAY, signedIn: 365 * DAY } })
      const { cookie } = await signedIn()
      for (let i = 0; i < 5; i++) {
        pass(30 * DAY - 1)
        expect(await nameOf(cookie), `use ${i}`).to.equal('alice')
        await settled()
      }
      pass(30 * DAY)
      expect(await nameOf(cookie)).to.equal(undefined)
    })

    it('a sign-in ends 30 days after it happened, however much it is used', async () => {
      const { cookie } = await signedIn()
      for (let day = 0; day < 29; day++) {
        pass(DAY)
        expect(await nameOf(cookie)).to.equal('alice')
      }
      pass(DAY - 1)
      expect(await nameOf(cookie)).to.equal('alice')
      pass(1)
      expect(await nameOf(cookie)).to.equal(undefined)
    })

    it('a short time without use ends a sign-in before its time', async () => {
      visitors = make({ lifetimes: { idle: HOUR, signedIn: 30 * DAY } })
      const { cookie } = await signedIn()
      pass(HOUR)
      expect(await nameOf(cookie)).to.equal(undefined)
    })

    it('the settings of now count for those who signed in before: a shorter sign-in is over, a shorter time without use begins', async () => {
      const { cookie } = await signedIn()
      pass(2 * DAY)
      expect(await nameOf(cookie, make({ lifetimes: { idle: 30 * DAY, signedIn: DAY } }))).to.equal(undefined)
      const hasty = make({ lifetimes: { idle: HOUR, signedIn: 30 * DAY } })
      expect(await nameOf(cookie, hasty)).to.equal('alice')
      await settled()
      pass(HOUR)
      expect(await nameOf(cookie, hasty)).to.equal(undefined)
    })

    it('use is written down once a minute, not with every request', async () => {
      visitors = make({ lifetimes: { idle: 30 * DAY, signedIn: 365 * DAY } })
      const { cookie } = await signedIn()
      const { changeNotes } = opened.store
      let written = 0
      opened.store.changeNotes = changes => {
        written += changes.filter(({ op }) => op === 'keep').length
        return changeNotes(changes)
      }
      for (let second = 0; second < 180; second++) {
        pass(1000)
        await visitors.open(cookie)
        await settled()
      }
      expect(written).to.equal(3)
    })

    it('sign-ins survive a restart', async () => {
      const { cookie } = await signedIn()
      const anonymous = (await visitors.open(undefined)).issue
      sessions = await openLocalSessions({ store: await opened.reopen(), clock })
      visitors = make()
      expect(await nameOf(cookie)).to.equal('alice')
      expect((await visitors.open(anonymous)).issue).to.equal(undefined)
    })

    it('so do the ends of sessions', async () => {
      const before = await visitors.open(undefined)
      const next = await visitors.signIn(before, alice())
      if (!next) throw new Error('no sign-in')
      const out = await visitors.signIn(await visitors.open(undefined), alice())
      if (out) await visitors.signOut(out)
      sessions = await openLocalSessions({ store: await opened.reopen(), clock })
      visitors = make()
      expect((await visitors.open(before.issue)).issue).to.be.a('string')
      expect(await nameOf(out?.issue ?? '')).to.equal(undefined)
      expect(await nameOf(next.issue ?? '')).to.equal('alice')
    })

    it('an old cookie never comes back to life, however often it is shown', async () => {
      const before = await visitors.open(undefined)
      await visitors.signIn(before, alice())
      for (let day = 0; day < 70; day++) {
        pass(DAY)
        const { id } = await visitors.open(before.issue)
        expect(id, `day ${day}`).not.to.equal(before.id)
      }
    })

    /** What was begun in the background is done. */
    async function settled(): Promise<void> {
      await opened.store.changeNotes([{ op: 'drop', key: 'none' }])
    }
  })

  describe('SSN-6 in and out', () => {
    it('a session is followed by one other: a second callback gets none', async () => {
      const session = await visitors.open(undefined)
      const both = await Promise.all([visitors.signIn(session, alice()), visitors.signIn(session, alice())])
      expect(both.filter(Boolean)).to.have.length(1)
    })

    it('signing out gives a new anonymous session', async () => {
      const { session, cookie } = await signedIn()
      const next = await visitors.signOut(session)
      expect(next.principal).to.equal(undefined)
      expect(next.issue).to.have.length(51)
      expect(next.id).not.to.equal(session.id)
      expect(await nameOf(cookie)).to.equal(undefined)
    })

    it('what the session holds goes along with a sign-in, and away with signing out', async () => {
      const session = await visitors.open(undefined)
      const content = { name: 'content/a', value: 'mine', expires: clock() + DAY }
      expect(await visitors.keep(session, content)).to.equal(true)
      const next = await visitors.signIn(session, alice())
      if (!next) throw new Error('no sign-in')
      expect(await visitors.values(next, 'content/')).to.deep.equal([content])
      expect(await visitors.keep(session, content), 'the old one keeps nothing').to.equal(false)
      await visitors.signOut(next)
      expect(await visitors.values(next, 'content/')).to.deep.equal([])
    })
  })

  describe('SSN-7 the end of sessions', () => {
    /** Watches a session and collects what is told of it. */
    function watch(session: Session, cookie: string, by = visitors) {
      const told: string[] = []
      let wake = () => {}
      const heard = new Promise<void>(resolve => {
        wake = resolve
      })
      const stop = by.watch(session, cookie, why => {
        told.push(why)
        wake()
      })
      return { told, heard, stop }
    }

    it('signed out: invalidated, at once and once', async () => {
      const { session, cookie } = await signedIn()
      const all = [watch(session, cookie), watch(session, cookie)]
      await visitors.signOut(session)
      expect(all.map(({ told }) => told)).to.deep.equal([['invalidated'], ['invalidated']])
      await visitors.signOut(session)
      expect(all[0]?.told).to.have.length(1)
    })

    it('replaced by a sign-in: invalidated, anonymous sessions as well', async () => {
      const session = await visitors.open(undefined)
      const { told } = watch(session, session.issue ?? '')
      const next = await visitors.signIn(session, alice())
      expect(told).to.deep.equal(['invalidated'])
      if (!next) throw new Error('no sign-in')
      const second = watch(next, next.issue ?? '')
      await visitors.signIn(next, alice())
      expect(second.told).to.deep.equal(['invalidated'])
    })

    it('gone already: invalidated', async () => {
      const { session, cookie } = await signedIn()
      await visitors.signOut(session)
      const { told, heard } = watch(session, cookie)
      await heard
      expect(told).to.deep.equal(['invalidated'])
    })

    it('gone from where it is kept before anybody was told that it was ended: invalidated', async () => {
      const { session, cookie } = await signedIn()
      let looked = () => {}
      const look = new Promise<void>(resolve => (looked = resolve))
      const between = make({
        sessions: {
          ...sessions,
          find: async () => {
            setImmediate(looked)
            return undefined
          },
        },
      })
      const { told, heard } = watch(session, cookie, between)
      await look
      expect(told).to.deep.equal([])
      await visitors.signOut(session)
      await heard
      expect(told).to.deep.equal(['invalidated'])
    })

    it('its time is over: expired', async () => {
      const real = make({ clock: Date.now, lifetimes: { idle: 40, signedIn: DAY } })
      const anonymous = await real.open(undefined)
      const { told, heard } = watch(anonymous, anonymous.issue ?? '', real)
      await heard
      expect(told).to.deep.equal(['expired'])
    })

    it('SSN-5 its time is over by the settings of now: expired', async () => {
      const { session, cookie } = await signedIn()
      const { told, heard } = watch(session, cookie, make({ lifetimes: { idle: DAY, signedIn: 5 } }))
      await turn()
      pass(5)
      await heard
      expect(told).to.deep.equal(['expired'])
    })

    it('time that is used is not over', async () => {
      const { session, cookie } = await signedIn()
      const { told, stop } = watch(session, cookie)
      pass(29 * DAY)
      await visitors.open(cookie)
      await new Promise(resolve => setTimeout(resolve, 5))
      expect(told).to.deep.equal([])
      stop()
    })

    it('who stopped watching is told nothing, and others still are', async () => {
      const { session, cookie } = await signedIn()
      const [one, two] = [watch(session, cookie), watch(session, cookie)]
      one.stop()
      await visitors.signOut(session)
      expect([one.told, two.told]).to.deep.equal([[], ['invalidated']])
    })

    it('sessions of other sites and other visitors are others', async () => {
      const { session, cookie } = await signedIn()
      const other = make({ site: 'b.example' })
      const neighbour = await signedIn(other)
      const { told } = watch(session, cookie)
      await other.signOut(neighbour.session)
      await visitors.signOut((await signedIn()).session)
      expect(told).to.deep.equal([])
    })
  })

  describe('SSN-4 sessions out of reach', () => {
    it('the visitor is anonymous and has none; what needs one is 503', async () => {
      const { session, cookie } = await signedIn()
      await sessions.close()
      const unknown = await visitors.open(cookie)
      expect(unknown).to.deep.equal({ id: '', missing: true, unknown: true })
      expect(reported).to.have.length(1)
      const attempts = [
        () => visitors.signIn(session, alice()),
        () => visitors.signOut(session),
        () => visitors.signOut(unknown),
        () => visitors.keep(session, { name: 'a', value: 'b', expires: 1 }),
        () => visitors.values(session, 'a'),
        () => visitors.take(session, 'a'),
      ]
      for (const attempt of attempts) {
        const error = await attempt().catch((thrown: unknown) => thrown)
        expect(error).to.include({ name: 'Fault', status: 503 })
      }
      expect((await visitors.open(undefined)).issue, 'those who hold nothing need no keeper').to.be.a('string')
    })
  })

  describe('SSN-4 cookies of another edge', () => {
    it('are never replaced; one that stands for a sign-in is honoured', async () => {
      const { cookie } = await signedIn()
      const external = make({ external: true })
      expect(await nameOf(cookie, external)).to.equal('alice')
      for (const value of ['x', randomBytes(32).toString('base64url')]) {
        const session = await external.open(value)
        expect(session.issue).to.equal(undefined)
        expect(session.missing).to.equal(undefined)
        expect((await external.open(value)).id).to.equal(session.id)
      }
      expect(await external.open(undefined)).to.deep.equal({ id: '', missing: true })
    })
  })
})
