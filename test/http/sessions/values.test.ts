import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { externalSessions, signedSessions } from '../../../server/sessions/site-sessions.ts'
import { cookieValues, sessionCookie } from '../../../server/sessions/steps.ts'

const secret = randomBytes(32)
const HOUR = 3_600_000

describe('signed sessions', () => {
  /** Sessions whose clock a test moves. */
  function sessionsAt(start: number, parts: { secret?: Uint8Array; site?: string; lifetime?: number } = {}) {
    const clock = { now: start }
    const sessions = signedSessions({ secret, site: 'a.example', lifetime: HOUR, clock: () => clock.now, ...parts })
    return { clock, sessions }
  }

  function issue(sessions: ReturnType<typeof signedSessions>): { id: string; value: string } {
    const { id, issue: value } = sessions.open(undefined)
    if (value === undefined) throw new Error('a new session has a cookie')
    return { id, value }
  }

  it('SSN-1 the value of a session opens it again', () => {
    const { sessions } = sessionsAt(0)
    const { id, value } = issue(sessions)
    expect(sessions.open(value)).to.deep.equal({ id })
  })

  it('SSN-5 also after a restart, with the secret that was kept', () => {
    const { id, value } = issue(sessionsAt(0).sessions)
    expect(sessionsAt(HOUR - 1).sessions.open(value)).to.deep.equal({ id })
  })

  it('SSN-5 it ends its lifetime after the last use', () => {
    const { sessions, clock } = sessionsAt(1000)
    const { id, value } = issue(sessions)
    for (const use of [1000 + HOUR - 1, 1000 + 2 * HOUR - 2]) {
      clock.now = use
      expect(sessions.open(value).id).to.equal(id)
    }
    clock.now += HOUR
    const after = sessions.open(value)
    expect(after.id).not.to.equal(id)
    expect(after.issue, 'SSN-3 it is replaced').to.not.equal(undefined)
  })

  it('SSN-5 where no use is remembered, after its issue', () => {
    const { id, value } = issue(sessionsAt(1000).sessions)
    expect(sessionsAt(1000 + HOUR - 1).sessions.open(value).id).to.equal(id)
    expect(sessionsAt(1000 + HOUR).sessions.open(value).id).not.to.equal(id)
  })

  it('SSN-5 its last use is forgotten for 10,000 others that are used, and for none that are only issued', () => {
    const { sessions, clock } = sessionsAt(0)
    const isOpen = (value: string, at: number) => {
      clock.now = at
      return sessions.expiry(value) !== undefined
    }
    const { value } = issue(sessions)
    const others = Array.from({ length: 10_000 }, () => issue(sessions).value)
    clock.now = HOUR / 2
    sessions.open(value)
    for (let i = 0; i < 10_001; i++) issue(sessions)
    expect(isOpen(value, HOUR + 1), 'issued').to.equal(true)
    clock.now = HOUR / 2
    for (const other of others.slice(1)) sessions.open(other)
    expect(isOpen(value, HOUR + 1), '9,999 used').to.equal(true)
    clock.now = HOUR / 2
    sessions.open(others[0])
    expect(isOpen(value, HOUR + 1), '10,000 used').to.equal(false)
    expect(isOpen(others[1] ?? '', HOUR + 1), 'the next oldest').to.equal(true)
  })

  it('SSN-3 a change of any character makes it another, unknown one', () => {
    const { sessions } = sessionsAt(0)
    const { id, value } = issue(sessions)
    const fresh = sessionsAt(0).sessions
    for (let i = 0; i < value.length; i++) {
      const forged = `${value.slice(0, i)}${value[i] === 'A' ? 'Q' : 'A'}${value.slice(i + 1)}`
      const opened = fresh.open(forged)
      expect(opened.issue, `character ${i}`).to.not.equal(undefined)
      expect(opened.id).not.to.equal(id)
    }
  })

  it('SSN-3 of another site or another installation it is nothing', () => {
    const { value } = issue(sessionsAt(0).sessions)
    expect(sessionsAt(0, { site: 'b.example' }).sessions.open(value).issue).to.not.equal(undefined)
    expect(sessionsAt(0, { secret: randomBytes(32) }).sessions.open(value).issue).to.not.equal(undefined)
  })

  it('ids never repeat', () => {
    const { sessions } = sessionsAt(0)
    const ids = new Set(Array.from({ length: 20_000 }, () => issue(sessions).id))
    expect(ids.size).to.equal(20_000)
  })
})

describe('sessions of another edge', () => {
  it('SSN-4 the same cookie is the same session, no cookie none', () => {
    const sessions = externalSessions()
    expect(sessions.open('x')).to.deep.equal(sessions.open('x'))
    expect(sessions.open('x').id).not.to.equal(sessions.open('y').id)
    expect(sessions.open('x').id, 'SSN-3 never the client’s own value').not.to.include('x')
    for (const cookie of [undefined, '']) expect(sessions.open(cookie)).to.deep.equal({ id: '', missing: true })
  })
})

describe('cookies', () => {
  const fields: [field: string | undefined, value: string | string[] | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['s=1', '1'],
    ['a=b; s=1', '1'],
    ['a=b;s=1;c=d', '1'],
    ['s=1; s=2', ['1', '2']],
    ['s=1;s=2; a=b;s=;xs=3', ['1', '2', '']],
    ['s=1; '.repeat(500), new Array<string>(32).fill('1')],
    ['s=', ''],
    ['s', undefined],
    ['xs=1', undefined],
    ['sx=1', undefined],
    ['S=1', undefined],
    ['s=a=b', 'a=b'],
    ['s= 1 ', '1'],
    [`${'a=b; '.repeat(2000)}s=1`, '1'],
    [`${' '.repeat(5000)}s=1`, '1'],
    [';;;s=1', '1'],
  ]
  for (const [field, value] of fields) {
    it(`RFC 6265 §4.2 ${JSON.stringify(field?.slice(0, 20))}`, () => {
      expect(cookieValues(field, 's')).to.deep.equal(value)
    })
  }

  it('SSN-2 attributes', () => {
    const policy = { lifetime: 90_500, secure: false, embedded: false }
    expect(sessionCookie('n', 'v', policy)).to.equal('n=v; Path=/; Max-Age=90; HttpOnly; SameSite=Lax')
    expect(sessionCookie('n', 'v', { ...policy, secure: true })).to.match(/; SameSite=Lax; Secure$/)
    expect(sessionCookie('n', 'v', { ...policy, embedded: true })).to.match(/; SameSite=None; Secure; Partitioned$/)
  })
})
