/** What a provider may say of somebody at most: it is kept with the session and looked at with each request. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type Browser, newBrowser } from './browser.ts'
import { LOGIN, LOGOUT } from './fixture.ts'
import { type StubSite, startStubSite } from './stub-site.ts'

/** A JSON text of so many lists in each other: too deep to be written by `JSON.stringify`. */
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = [value]
  return value
}

const roles = (count: number) => ({ roles: Array.from({ length: count }, (_, i) => `r${i}`) })

describe('claims of any size and shape', () => {
  let site: StubSite
  before(async () => {
    site = await startStubSite({}, { endSession: true })
    // Known from the first login on.
    const { issuer } = site.stub
    site.stub.lies = { metadata: { end_session_endpoint: `${issuer}/out` } }
  })
  after(() => site.close())

  async function signIn(browser: Browser, claims: Record<string, unknown>, userInfo?: Record<string, unknown>) {
    const sent = await browser.get(site.url(LOGIN))
    site.stub.lies = { claims: { ...claims }, ...(userInfo && { userInfo }) }
    if (!sent.location) throw new Error(sent.text)
    return browser.get(site.stub.callback(sent.location))
  }

  const KEPT: [what: string, claims: Record<string, unknown>, userInfo?: Record<string, unknown>][] = [
    ['1,024 roles', { sub: 'u-1', ...roles(1024) }],
    ['a name of 1,024 characters', { sub: 'u'.repeat(1024) }],
    ['100 KiB of claims', { sub: 'u-1', x: 'x'.repeat(100 * 1024) }],
    ['claims in 500 levels', { sub: 'u-1', x: nested(500) }],
    ['names of properties of objects', JSON.parse('{"sub":"u-1","__proto__":{"roles":["r"]},"constructor":1}')],
  ]
  for (const [what, claims, userInfo] of KEPT)
    it(`OIDC-5 ${what}: signed in`, async () => {
      expect((await signIn(newBrowser(), claims, userInfo)).status).to.equal(302)
    })

  it('OIDC-5 OIDC-6 claims in 300,000 levels in the user info: nobody is signed in, and the page says so', async () => {
    const me = `{"sub":"u-1","x":${deep(300_000)}}`
    const browser = newBrowser()
    const sent = await browser.get(site.url(LOGIN))
    site.stub.lies = {
      answers: { '/me': (_, response) => response.writeHead(200, { 'Content-Type': 'application/json' }).end(me) },
    }
    const { status, text } = await browser.get(site.stub.callback(sent.location ?? new URL(site.url('/'))))
    expect(status).to.equal(400)
    expect(text).to.include('You were not signed in')
  })

  const REFUSED: typeof KEPT = [
    ['1,025 roles', { sub: 'u-1', ...roles(1025) }],
    ['1,025 roles in one text', { sub: 'u-1', roles: roles(1025).roles.join(' ') }],
    ['1,025 roles in the user info', { sub: 'u-1' }, { sub: 'u-1', ...roles(1025) }],
    ['a name of 1,025 characters', { sub: 'u'.repeat(1025) }],
    ['a name with a line end', { sub: 'u-1\r\nX: y' }],
    ['a name with NUL', { sub: 'u\u0000' }],
    ['a name with half a character', { sub: 'u\ud83d' }],
    ['129 KiB of claims', { sub: 'u-1', x: 'x'.repeat(129 * 1024) }],
    ['claims in 2,000 levels', { sub: 'u-1', x: nested(2000) }],
    ['129 KiB in the user info', { sub: 'u-1' }, { sub: 'u-1', x: 'x'.repeat(129 * 1024) }],
  ]
  for (const [what, claims, userInfo] of REFUSED)
    it(`OIDC-5 OIDC-6 ${what}: nobody is signed in, and the page says so`, async () => {
      const browser = newBrowser()
      const { status, text } = await signIn(browser, claims, userInfo)
      expect(status).to.equal(400)
      expect(text).to.include('You were not signed in').and.not.include('xxxx')
    })

  const PADDED: [characters: number, isNamed: boolean][] = [
    [4_000, true],
    [200_000, false],
  ]
  for (const [characters, isNamed] of PADDED)
    it(`OIDC-7 the token of a sign-in with ${characters} characters of padding is ${isNamed ? '' : 'not '}named at signing out`, async () => {
      const browser = newBrowser()
      const sent = await browser.get(site.url(LOGIN))
      site.stub.lies = { header: { pad: 'x'.repeat(characters) } }
      expect((await browser.get(site.stub.callback(sent.location ?? new URL(site.url('/'))))).status).to.equal(302)
      const { location } = await browser.get(site.url(LOGOUT))
      expect([location?.pathname, location?.searchParams.has('id_token_hint')]).to.deep.equal(['/out', isNamed])
    })
})
