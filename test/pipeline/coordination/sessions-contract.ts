/** What every keeper of sessions must do, run against each of them. */

import { expect } from 'chai'
import type { Sessions, SignedIn, SignIn } from '../../../pipeline/coordination/sessions.ts'

/** One keeper to be tested; every test has one of its own. */
export interface KeptSessions {
  sessions: Sessions
  /** Lets time pass for the keeper, in milliseconds. */
  advance(ms: number): void
  /** Unix milliseconds by the keeper's clock. */
  now(): number
  /** Another keeper of the same sessions: what a later process finds. */
  restart(): Promise<Sessions>
  end(): Promise<void>
}

const SITE = 'a.example'
const MINUTE = 60_000

const ALICE: SignIn = {
  claims: { sub: 'alice', email: 'alice@example.com', email_verified: true, nested: { deep: ['ä', '😀', null, 1.5] } },
  roles: ['editors', 'writers'],
  at: 1_700_000_000_000,
  idToken: 'a.b.c',
}

/** @param open makes a keeper that holds nothing */
export function sessionsContract(open: () => Promise<KeptSessions>): void {
  let kept: KeptSessions
  let sessions: Sessions
  beforeEach(async () => {
    kept = await open()
    sessions = kept.sessions
  })
  afterEach(() => kept.end())

  const later = (ms: number) => kept.now() + ms
  const signedIn = (ms = 30 * MINUTE): SignedIn => ({ signIn: ALICE, expires: later(ms) })
  const ending = (id: string, ms = 60 * MINUTE) => ({ id, until: later(ms) })
  const value = (name: string, text = `value of ${name}`, ms = 10 * MINUTE) => ({
    name,
    value: text,
    expires: later(ms),
  })

  describe('sign-in', () => {
    it('SSN-6 a sign-in is found under the new id, with all its claims', async () => {
      const session = signedIn()
      expect(await sessions.signIn(SITE, 'new', session, ending('old'))).to.equal(true)
      expect(await sessions.find(SITE, 'new')).to.deep.equal(session)
      expect(await sessions.find(SITE, 'old')).to.equal(undefined)
    })

    it('DEC-6 SSN-6 whoever asks knows at once who is still signed in', async () => {
      await sessions.signIn(SITE, 'new', signedIn(), ending('old'))
      expect(await sessions.isSignedIn(SITE, 'new')).to.equal(true)
      await sessions.end(SITE, ending('new'))
      expect(await sessions.isSignedIn(SITE, 'new')).to.equal(false)
      expect(await (await kept.restart()).isSignedIn(SITE, 'new')).to.equal(false)
    })

    it('SSN-6 the old session is dead at once', async () => {
      expect(sessions.hasEnded(SITE, 'old')).to.equal(false)
      await sessions.signIn(SITE, 'new', signedIn(), ending('old'))
      expect(sessions.hasEnded(SITE, 'old')).to.equal(true)
      expect(sessions.hasEnded(SITE, 'new')).to.equal(false)
    })

    it('SSN-6 what the old session held is held by the new one, with its own time', async () => {
      const values = [value('content/a', 'A'), value('content/b', 'B', 20 * MINUTE)]
      for (const each of values) await sessions.keep(SITE, 'old', each)
      await sessions.keep(SITE, 'older', value('content/a', 'not this'))
      await sessions.signIn(SITE, 'new', signedIn(), ending('old'))
      expect(await sessions.values(SITE, 'new', 'content/')).to.deep.equal(values)
      expect(await sessions.values(SITE, 'old', 'content/')).to.deep.equal([])
      expect(await sessions.value(SITE, 'older', 'content/a')).to.equal('not this')
    })

    it('OIDC-10 a second sign-in replaces the first', async () => {
      await sessions.signIn(SITE, 'one', signedIn(), ending('zero'))
      const bob: SignedIn = { signIn: { claims: { sub: 'bob' }, roles: [], at: 1 }, expires: later(MINUTE) }
      await sessions.signIn(SITE, 'two', bob, ending('one'))
      expect(await sessions.find(SITE, 'one')).to.equal(undefined)
      expect(await sessions.find(SITE, 'two')).to.deep.equal(bob)
    })

    it('SSN-6 a session is followed by one other at most', async () => {
      const outcomes = await Promise.all(
        ['a', 'b', 'c', 'd'].map(id => sessions.signIn(SITE, id, signedIn(), ending('old'))),
      )
      expect(outcomes.filter(Boolean)).to.have.length(1)
      const found = await Promise.all(['a', 'b', 'c', 'd'].map(id => sessions.find(SITE, id)))
      expect(found.map(Boolean)).to.deep.equal(outcomes)
    })

    it('SSN-5 a sign-in is gone at its time', async () => {
      await sessions.signIn(SITE, 'new', signedIn(MINUTE), ending('old'))
      kept.advance(MINUTE - 1)
      expect(await sessions.find(SITE, 'new')).to.not.equal(undefined)
      kept.advance(1)
      expect(await sessions.find(SITE, 'new')).to.equal(undefined)
    })

    it('SSN-5 unless it is prolonged before', async () => {
      await sessions.signIn(SITE, 'new', signedIn(MINUTE), ending('old'))
      await sessions.prolong(SITE, 'new', later(2 * MINUTE))
      kept.advance(2 * MINUTE - 1)
      expect(await sessions.find(SITE, 'new')).to.deep.equal({ signIn: ALICE, expires: later(1) })
      kept.advance(1)
      await sessions.prolong(SITE, 'new', later(MINUTE))
      expect(await sessions.find(SITE, 'new')).to.equal(undefined)
    })

    it('SSN-5 prolonging what is not there makes nothing', async () => {
      await sessions.prolong(SITE, 'none', later(MINUTE))
      expect(await sessions.find(SITE, 'none')).to.equal(undefined)
    })
  })

  describe('ending', () => {
    it('SSN-6 signing out ends the session with everything it holds', async () => {
      await sessions.signIn(SITE, 'new', signedIn(), ending('old'))
      await sessions.keep(SITE, 'new', value('content/a'))
      await sessions.end(SITE, ending('new'))
      expect(await sessions.find(SITE, 'new')).to.equal(undefined)
      expect(await sessions.value(SITE, 'new', 'content/a')).to.equal(undefined)
      expect(sessions.hasEnded(SITE, 'new')).to.equal(true)
    })

    it('SSN-6 a session that has ended keeps nothing and is not followed', async () => {
      await sessions.end(SITE, ending('gone'))
      expect(await sessions.keep(SITE, 'gone', value('a'))).to.equal(false)
      expect(await sessions.value(SITE, 'gone', 'a')).to.equal(undefined)
      expect(await sessions.signIn(SITE, 'new', signedIn(), ending('gone'))).to.equal(false)
      expect(await sessions.find(SITE, 'new')).to.equal(undefined)
    })

    it('SSN-6 what comes while a session ends is kept by nobody or handed over', async () => {
      const [, , held] = await Promise.all([
        sessions.keep(SITE, 'old', value('before')),
        sessions.signIn(SITE, 'new', signedIn(), ending('old')),
        sessions.keep(SITE, 'old', value('after')),
      ])
      expect(held).to.equal(false)
      expect((await sessions.values(SITE, 'new', 'b')).map(({ name }) => name)).to.deep.equal(['before'])
      expect(await sessions.value(SITE, 'old', 'after')).to.equal(undefined)
    })

    it('SSN-3 that it has ended is remembered as long as its cookie looks valid', async () => {
      await sessions.end(SITE, ending('gone', MINUTE))
      kept.advance(MINUTE - 1)
      expect(sessions.hasEnded(SITE, 'gone')).to.equal(true)
      kept.advance(1)
      expect(sessions.hasEnded(SITE, 'gone')).to.equal(false)
    })

    it('SSN-7 listeners are told of every end, once, until they stop', async () => {
      const told: string[] = []
      const stop = sessions.onEnd((site, id) => told.push(`${site} ${id}`))
      await sessions.signIn(SITE, 'new', signedIn(), ending('old'))
      await sessions.signIn(SITE, 'other', signedIn(), ending('old'))
      await sessions.end(SITE, ending('new'))
      expect(told).to.deep.equal([`${SITE} old`, `${SITE} new`])
      stop()
      await sessions.end(SITE, ending('x'))
      expect(told).to.have.length(2)
    })
  })

  describe('values', () => {
    it('OIDC-2 values are kept by name and listed by prefix, in the order of their names', async () => {
      for (const name of ['login/b', 'login/a', 'loginx', 'other']) await sessions.keep(SITE, 's', value(name))
      expect(await sessions.value(SITE, 's', 'login/a')).to.equal('value of login/a')
      expect((await sessions.values(SITE, 's', 'login/')).map(({ name }) => name)).to.deep.equal(['login/a', 'login/b'])
      expect(await sessions.values(SITE, 's', '')).to.deep.equal([])
      await sessions.keep(SITE, 's', value('login/a', 'again'))
      expect(await sessions.value(SITE, 's', 'login/a')).to.equal('again')
    })

    it('OIDC-4 a value is taken once, whoever tries', async () => {
      await sessions.keep(SITE, 's', value('login/a', 'secret'))
      const taken = await Promise.all(Array.from({ length: 8 }, () => sessions.take(SITE, 's', 'login/a')))
      expect(taken.filter(text => text === 'secret')).to.have.length(1)
      expect(taken.filter(text => text === undefined)).to.have.length(7)
      expect(await sessions.value(SITE, 's', 'login/a')).to.equal(undefined)
    })

    it('OIDC-4 a value is gone at its time', async () => {
      await sessions.keep(SITE, 's', value('login/a', 'secret', MINUTE))
      kept.advance(MINUTE)
      expect(await sessions.value(SITE, 's', 'login/a')).to.equal(undefined)
      expect(await sessions.values(SITE, 's', 'login/')).to.deep.equal([])
      expect(await sessions.take(SITE, 's', 'login/a')).to.equal(undefined)
    })

    it('values are text of any kind and size', async () => {
      const text = `${'ä😀\n"\\'.repeat(40_000)}`
      await sessions.keep(SITE, 's', value('content/:a.b_c-1', text))
      expect(await sessions.value(SITE, 's', 'content/:a.b_c-1')).to.equal(text)
    })

    it('sessions and sites are apart', async () => {
      await sessions.keep(SITE, 's', value('a', 'mine'))
      await sessions.keep(SITE, 's2', value('a', 'another'))
      await sessions.keep('b.example', 's', value('a', 'elsewhere'))
      await sessions.signIn(SITE, 'new', signedIn(), ending('s'))
      expect(await sessions.value(SITE, 'new', 'a')).to.equal('mine')
      expect(await sessions.value(SITE, 's2', 'a')).to.equal('another')
      expect(await sessions.value('b.example', 's', 'a')).to.equal('elsewhere')
      expect(await sessions.find('b.example', 'new')).to.equal(undefined)
      expect(sessions.hasEnded('b.example', 's')).to.equal(false)
    })
  })

  describe('restart', () => {
    it('SSN-5 sign-ins, values and ends survive', async () => {
      const session = signedIn()
      await sessions.signIn(SITE, 'new', session, ending('old'))
      await sessions.keep(SITE, 'new', value('content/a', 'A'))
      const again = await kept.restart()
      expect(await again.find(SITE, 'new')).to.deep.equal(session)
      expect(await again.value(SITE, 'new', 'content/a')).to.equal('A')
      expect(again.hasEnded(SITE, 'old')).to.equal(true)
      expect(again.hasEnded(SITE, 'new')).to.equal(false)
    })
  })

  it('SSN-4 sessions that were closed say so', async () => {
    await sessions.close()
    const outcome = await sessions.find(SITE, 'x').catch((error: unknown) => error)
    expect(outcome).to.be.instanceOf(Error).and.to.have.property('name', 'SessionError')
  })
}
