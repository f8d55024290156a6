import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { CALLBACK, COOKIE, LOGIN, LOGOUT } from '../server/sign-in/fixture.ts'
import { type StubProvider, startStubProvider } from '../server/sign-in/stub-provider.ts'
import { put, rulesPage, type Shelf } from '../support/content.ts'
import { type Client, client, type Fields, type Received } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const RULES = rulesPage(['*', 'GET', 'Deny', '/m.css'], ['users', 'GET', 'Allow', '/m.css'])
const [A, B, X, Y] = ['a.example', 'b.example', 'x.wild.example', 'y.wild.example'] as const

/** One server, sites of different owners, each with people of its own. */
describe('two sites of one server with identity providers of their own', () => {
  let server: TestServer
  let http: Client
  let ours: StubProvider
  let theirs: StubProvider

  before(async () => {
    ours = await startStubProvider()
    theirs = await startStubProvider()
    const at = ({ issuer }: StubProvider) => ({ oidc: { issuer, clientId: 'site' } })
    const sites = [
      { host: A, ...at(ours), publicUrl: `https://${A}` },
      { host: B, ...at(theirs) },
      { host: '*.wild.example', ...at(ours) },
    ]
    server = await startServer({ settings: { sites: [...sites, { host: 'localhost' }] } })
    http = client(server.port)
    for (const host of [A, B, X, Y]) {
      const hosted = await server.running.hosting.open(host)
      if (!hosted) throw new Error(`no site for ${host}`)
      const shelf: Shelf = { running: server.running, site: hosted.site }
      await put(shelf, '/rules.html', RULES)
      await put(shelf, '/m.css', host)
    }
  })
  after(async () => {
    await server.close()
    await ours.stop()
    await theirs.stop()
  })

  const at = (host: string, path: string, cookie?: string, more: Fields = {}, method = 'GET') =>
    http(method, path, { Host: host, ...(cookie !== undefined && { Cookie: `${COOKIE}=${cookie}` }), ...more })
  const cookieOf = ({ headers }: Received) => /^platform_session=([^;]*)/.exec(headers['set-cookie'] ?? '')?.[1]
  const isIn = async (host: string, cookie: string | undefined) => (await at(host, '/m.css', cookie)).status === 200

  /** A login under way. */
  async function begun(host: string, provider: StubProvider, cookie?: string) {
    const sent = await at(host, `${LOGIN}?redirect-post=/m.css`, cookie)
    expect(sent.status, sent.text).to.equal(302)
    const back = provider.callback(new URL(sent.headers.location ?? ''))
    return { cookie: cookieOf(sent) ?? cookie ?? '', back, path: back.pathname + back.search }
  }

  async function signedIn(host: string, provider: StubProvider): Promise<string> {
    const { cookie, path } = await begun(host, provider)
    const done = await at(host, path, cookie)
    expect(done.status, done.text).to.equal(302)
    const next = cookieOf(done) ?? ''
    expect(await isIn(host, next)).to.equal(true)
    return next
  }

  it('MNT-4 SSN-3 the cookie of one site is nobody at any other, and is replaced there', async () => {
    const cookies = [await signedIn(A, ours), cookieOf(await at(A, '/')) ?? '', await signedIn(X, ours)]
    for (const [i, cookie] of cookies.entries())
      for (const host of [B, X, Y].filter(other => !(i === 2 && other === X))) {
        const { status, headers } = await at(host, '/m.css', cookie)
        expect([status, headers['set-cookie'] !== undefined], host).to.deep.equal([401, true])
        expect(headers['set-cookie']).not.to.include(cookie)
      }
  })

  it('OIDC-4 a state of one site is unknown at the other, whoever brings it, and stays good at its own', async () => {
    const one = await begun(A, ours)
    const other = await begun(B, theirs)
    const asked = theirs.requests.length
    for (const cookie of [undefined, one.cookie, other.cookie]) {
      const { status, headers } = await at(B, one.path, cookie)
      expect([status, headers.location]).to.deep.equal([400, undefined])
    }
    expect(theirs.requests.length, 'the provider is left alone').to.equal(asked)
    expect((await at(A, one.path, one.cookie)).status).to.equal(302)
    expect((await at(B, other.path, other.cookie)).status).to.equal(302)
  })

  it('RFC 9207 OIDC-4 a code of one provider is of no use in a login at the other', async () => {
    for (const iss of [undefined, () => ours.issuer]) {
      const one = await begun(A, ours)
      const other = await begun(B, theirs)
      const mixed = new URLSearchParams(other.back.search)
      mixed.set('code', new URLSearchParams(one.back.search).get('code') ?? '')
      if (iss) mixed.set('iss', iss())
      // It answers whatever code it gets, with a token for somebody, as one that is hostile would.
      theirs.lies = { claims: { nonce: 'of the other login' } }
      const asked = theirs.requests.length
      const { status, headers } = await at(B, `${CALLBACK}?${mixed}`, other.cookie)
      expect([status, headers['set-cookie']]).to.deep.equal([400, undefined])
      if (iss) expect(theirs.requests.slice(asked), 'the code goes to nobody').to.deep.equal([])
      expect(await isIn(B, other.cookie)).to.equal(false)
      theirs.lies = {}
    }
  })

  it('OIDC-4 tokens that name the other provider, or are signed by it, sign nobody in', async () => {
    for (const lies of [{ claims: { iss: ours.issuer } }, { key: ours.key }, { claims: { aud: 'another' } }]) {
      const { cookie, path } = await begun(B, theirs)
      theirs.lies = lies
      expect((await at(B, path, cookie)).status).to.equal(400)
      theirs.lies = {}
      expect(await isIn(B, cookie)).to.equal(false)
    }
  })

  it('OIDC-4 RFC 9207 a provider that says it names itself has to', async () => {
    const named = await startStubProvider()
    named.lies = { metadata: { authorization_response_iss_parameter_supported: true } }
    const other = await startServer({ site: { oidc: { issuer: named.issuer, clientId: 'site' } } })
    const ask = client(other.port)
    for (const [iss, status] of [
      [undefined, 400],
      [theirs.issuer, 400],
      [named.issuer, 302],
    ] as const) {
      const sent = await ask('GET', LOGIN)
      const back = named.callback(new URL(sent.headers.location ?? ''))
      if (iss) back.searchParams.set('iss', iss)
      const done = await ask('GET', back.pathname + back.search, { Cookie: `${COOKIE}=${cookieOf(sent)}` })
      expect(done.status, iss).to.equal(status)
    }
    await other.close()
    await named.stop()
  })

  it('OIDC-6 nobody is signed in as somebody else: codes and states of another visitor, used ones, guessed ones', async () => {
    const attacker = await begun(A, ours)
    const victim = await begun(A, ours)
    const foreign = new URLSearchParams(attacker.back.search)
    const own = new URLSearchParams(victim.back.search)
    const guesses = [
      attacker.path,
      `${CALLBACK}?code=${foreign.get('code')}&state=`,
      `${CALLBACK}?code=${foreign.get('code')}&state=__proto__`,
      `${CALLBACK}?code=x&state=${'a'.repeat(43)}`,
      `${CALLBACK}?code=${foreign.get('code')}&state=${foreign.get('state')}&state=${own.get('state')}`,
    ]
    for (const path of guesses) expect((await at(A, path, victim.cookie)).status, path).to.equal(400)
    expect((await at(A, victim.path, victim.cookie)).status).to.equal(302)
    for (const cookie of [victim.cookie, undefined])
      expect((await at(A, victim.path, cookie)).status, 'used').to.equal(400)
  })

  it('SSN-6 a session that an attacker has planted is not the one that is signed in', async () => {
    const planted = cookieOf(await at(A, '/')) ?? ''
    for (const cookie of [planted, 'A'.repeat(43), 'A'.repeat(51), 'x', '']) {
      const { cookie: used, path } = await begun(A, ours, cookie)
      const done = await at(A, path, used)
      const next = cookieOf(done) ?? ''
      expect(next).not.to.be.oneOf([cookie, used, ''])
      expect(await isIn(A, next)).to.equal(true)
      expect(await isIn(A, cookie)).to.equal(false)
      expect(await isIn(A, used)).to.equal(false)
    }
  })

  it('SSN-6 signing out ends every tab of a session, and no other session of the same person', async () => {
    const [one, two] = [await signedIn(A, ours), await signedIn(A, ours)]
    const gone = await at(A, LOGOUT, one)
    expect(cookieOf(gone)).not.to.equal(one)
    expect([await isIn(A, one), await isIn(A, cookieOf(gone)), await isIn(A, two)]).to.deep.equal([false, false, true])
  })

  it('OIDC-3 nothing leads to the other site after signing in or out', async () => {
    for (const target of [
      `//${B}/`,
      `/\\${B}`,
      `https://${B}/`,
      `/.//${B}/`,
      `/%2f%2f${B}`,
      `/\t/${B}`,
      `/x/..//${B}/`,
    ]) {
      const sent = await at(A, `${LOGIN}?redirect-post=${encodeURIComponent(target)}`)
      const back = ours.callback(new URL(sent.headers.location ?? ''))
      const done = await at(A, back.pathname + back.search, cookieOf(sent))
      const out = await at(A, `${LOGOUT}?redirect-post=${encodeURIComponent(target)}`, cookieOf(done))
      for (const { headers } of [done, out])
        expect(new URL(headers.location ?? '', `https://${A}/`).host, target).to.equal(A)
    }
  })

  it('OIDC-1 HTTP-11 no spelling of a host sends a code elsewhere, or opens another site', async () => {
    const redirectOf = ({ headers }: Received) =>
      new URL(headers.location ?? '').searchParams.get('redirect_uri') ?? 'none'
    const forwarded = { 'X-Forwarded-Host': B, 'X-Forwarded-Proto': 'https', Forwarded: `host=${B};proto=https` }
    for (const host of [A, 'A.Example', `${A}.`, `${A}:8080`])
      expect(redirectOf(await at(host, LOGIN, undefined, forwarded)), host).to.equal(`https://${A}${CALLBACK}`)
    expect(redirectOf(await at(B, LOGIN, undefined, forwarded))).to.equal(`http://${B}${CALLBACK}`)
    for (const host of [
      `${A}@${B}`,
      `${A}, ${B}`,
      `${A}/${B}`,
      `${A}#${B}`,
      `${A}\\${B}`,
      `${A}:80@${B}`,
      '',
      ` ${B}:x`,
    ])
      expect((await at(host, LOGIN)).status, host).to.equal(400)
    expect((await http('GET', LOGIN, { Host: [A, B] })).status, 'two of them').to.equal(400)
    const absolute = await http('GET', `http://${A}${LOGIN}`, { Host: B })
    expect(redirectOf(absolute), 'the target counts').to.equal(`https://${A}${CALLBACK}`)
  })

  it('SSN-2 the cookie is Secure where the public URL is, HttpOnly, for its host alone', async () => {
    for (const [host, secure] of [
      [A, true],
      [B, false],
    ] as const) {
      const field = (await at(host, '/')).headers['set-cookie'] ?? ''
      expect(field)
        .to.match(/; HttpOnly/)
        .and.match(/; SameSite=Lax/)
      expect(field).not.to.match(/domain/i)
      expect(/; Secure/.test(field), host).to.equal(secure)
    }
  })
})
