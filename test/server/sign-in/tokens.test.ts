import { expect } from 'chai'
import { after, afterEach, before, beforeEach, describe, it } from 'mocha'
import { asProviderError, oidc } from '../../../server/sign-in/provider-error.ts'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { type Browser, newBrowser, type Page } from './browser.ts'
import { LOGIN } from './fixture.ts'
import { hmacJwt, jwt, type Lies, newKey, type StubProvider, startStubProvider, unsignedJwt } from './stub-provider.ts'

const SECRET = 'a secret of the tests, long enough for anybody'

describe('tokens of a provider', () => {
  let stub: StubProvider
  let server: TestServer
  let browser: Browser

  before(async () => {
    stub = await startStubProvider()
    const oidc = { issuer: stub.issuer, clientId: 'site', clientSecret: SECRET }
    server = await startServer({ site: { oidc } })
    await putAll(server, {
      '/in.html': page('in'),
      '/rules.html': rulesPage(['*', 'GET', 'Deny', '/in.html'], ['users', 'GET', 'Allow', '/in.html']),
    })
  })
  after(async () => {
    await server.close()
    await stub.stop()
  })
  beforeEach(() => {
    browser = newBrowser()
  })
  afterEach(() => {
    stub.lies = {}
  })

  /** Begins a login and comes back with what the stub says. */
  async function comeBack(lies: Lies = {}, change: (callback: URL) => void = () => undefined): Promise<Page> {
    const sent = await browser.get(`${server.url}${LOGIN}?redirect-post=/in.html`)
    if (!sent.location) throw new Error(`no login: ${sent.status} ${sent.text}`)
    stub.lies = lies
    const callback = stub.callback(sent.location)
    change(callback)
    return browser.get(callback)
  }
  const signedIn = async () => (await browser.get(`${server.url}/in.html`)).status === 200

  const now = () => Math.floor(Date.now() / 1000)
  const other = newKey('other')
  const impostor = { ...newKey('first') }

  const good: [name: string, lies: () => Lies][] = [
    ['an honest token', () => ({})],
    ['a token that expired less than a minute ago', () => ({ claims: { exp: now() - 20, iat: now() - 320 } })],
    ['a token from less than a minute in the future', () => ({ claims: { iat: now() + 50 } })],
    ['one audience in a list', () => ({ claims: { aud: ['site'] } })],
    ['several audiences with azp', () => ({ claims: { aud: ['other', 'site'], azp: 'site' } })],
    ['an elliptic key', () => ecLies('ES256')],
    ['an Edwards key', () => ecLies('EdDSA')],
    ['a key without kid, where there is only one', () => ({ header: { kid: undefined } })],
  ]
  function ecLies(alg: 'ES256' | 'EdDSA'): Lies {
    const key = newKey(`key of ${alg}`, alg)
    return { key, published: [key, stub.key] }
  }
  for (const [name, lies] of good) {
    it(`OIDC-4 ${name} is accepted`, async () => {
      const back = await comeBack(lies())
      expect([back.status, back.headers.get('location')], back.text).to.deep.equal([302, '/in.html'])
      expect(await signedIn()).to.equal(true)
    })
  }

  const bad: [name: string, lies: () => Lies][] = [
    ['another issuer', () => ({ claims: { iss: 'https://evil.example' } })],
    ['another audience', () => ({ claims: { aud: 'other' } })],
    ['several audiences without azp', () => ({ claims: { aud: ['site', 'other'] } })],
    ['several audiences with another azp', () => ({ claims: { aud: ['site', 'other'], azp: 'other' } })],
    ['no audience', () => ({ claims: { aud: [] } })],
    ['expired more than a minute ago', () => ({ claims: { exp: now() - 61 } })],
    ['from more than a minute in the future', () => ({ claims: { iat: now() + 120 } })],
    ['without exp', () => ({ claims: { exp: undefined } })],
    ['without iat', () => ({ claims: { iat: undefined } })],
    ['exp as text', () => ({ claims: { exp: String(now() + 300) } })],
    ['without sub', () => ({ claims: { sub: undefined } })],
    ['an empty sub', () => ({ claims: { sub: '' } })],
    ['sub that is no text', () => ({ claims: { sub: 7 } })],
    ['without nonce', () => ({ claims: { nonce: undefined } })],
    ['another nonce', () => ({ claims: { nonce: 'replayed' } })],
    ['no signature', () => ({ token: unsignedJwt })],
    [
      'a signature cut off',
      () => ({ token: claims => jwt({ alg: 'RS256', kid: 'first' }, claims, stub.key).replace(/[^.]*$/, '') }),
    ],
    ['an HMAC with the client secret', () => ({ token: claims => hmacJwt(claims, SECRET) })],
    [
      'an HMAC with the public key as secret',
      () => ({
        token: claims => hmacJwt(claims, stub.key.publicKey.export({ type: 'spki', format: 'pem' }).toString()),
      }),
    ],
    ['signed by somebody else under the known kid', () => ({ key: impostor })],
    ['signed by a key that is not published', () => ({ key: other })],
    ['a changed payload', () => ({ token: forged })],
    ['an unknown critical header', () => ({ header: { crit: ['x'], x: 1 } })],
    ['no token at all', () => ({ token: () => '' })],
    ['no JSON', () => ({ token: () => 'a.b.c' })],
  ]
  function forged(claims: Record<string, unknown>): string {
    const [header, , signature] = jwt({ alg: 'RS256', kid: 'first' }, claims, stub.key).split('.')
    const payload = Buffer.from(JSON.stringify({ ...claims, sub: 'admin' })).toString('base64url')
    return `${header}.${payload}.${signature}`
  }
  for (const [name, lies] of bad) {
    it(`OIDC-4 OIDC-6 a token is refused: ${name}`, async () => {
      const back = await comeBack(lies())
      expect(back.status, back.headers.get('location') ?? '').to.equal(400)
      expect(back.text).to.include('/ns/1.0/Error').and.include('redirect-post=%2Fin.html')
      expect(await signedIn()).to.equal(false)
    })
  }

  it('OIDC-4 a login is good for ten minutes, and for one answer of the provider, be that refused', async () => {
    const sent = await browser.get(`${server.url}${LOGIN}`)
    const state = sent.location?.searchParams.get('state') ?? ''
    const notes = await server.running.store.notes('session-value')
    const pending = notes.find(({ key }) => key.endsWith(`/login/${state}`))
    expect((pending?.expires ?? 0) - Date.now()).to.be.within(1, 600_000)
    if (!sent.location) throw new Error(sent.text)
    const callback = stub.callback(sent.location)
    stub.lies = { claims: { nonce: 'another' } }
    expect((await browser.get(callback)).status).to.equal(400)
    stub.lies = {}
    const again = await browser.get(callback)
    expect(again.status, again.headers.get('location') ?? '').to.equal(400)
    expect(await signedIn()).to.equal(false)
  })

  it('OIDC-4 the code is exchanged with the verifier of this login', async () => {
    await comeBack()
    const { form, authorization } = stub.tokenRequest
    expect(Object.fromEntries(form)).to.include({
      grant_type: 'authorization_code',
      redirect_uri: `${server.url}/-platform/oidc/callback`,
    })
    expect(form.get('code_verifier')).to.match(/^[A-Za-z0-9_-]{43}$/)
    const credentials = Buffer.from(authorization?.replace('Basic ', '') ?? '', 'base64').toString()
    expect(decodeURIComponent(credentials.replaceAll('+', ' '))).to.equal(`site:${SECRET}`)
  })

  it('OIDC-4 the issuer in the response has to match where it is given', async () => {
    const back = await comeBack({}, callback => callback.searchParams.set('iss', stub.issuer))
    expect(back.status).to.equal(302)
    browser = newBrowser()
    expect((await comeBack({}, callback => callback.searchParams.set('iss', 'https://x.example'))).status).to.equal(400)
  })

  it('OIDC-8 keys are fetched once, and once more for an unknown key: those that were withdrawn are no good any more', async () => {
    const fetched = () => stub.requests.filter(request => request === 'GET /jwks').length
    const before = fetched()
    expect((await comeBack()).status).to.equal(302)
    expect(fetched() - before, 'known from before').to.equal(0)
    const next = newKey('next')
    const rotated: Lies = { key: next, published: [next] }
    for (let i = 0; i < 3; i++) expect((await comeBack(rotated)).status).to.equal(302)
    expect(fetched() - before).to.equal(1)
    expect((await comeBack({ published: [next] })).status, 'the old key').to.equal(400)
    expect(fetched() - before).to.equal(2)
    expect((await comeBack()).status, 'and back again').to.equal(302)
  })

  describe('user info', () => {
    it('OIDC-4 is merged when it is about the same person', async () => {
      const roles = rulesPage(['*', 'GET', 'Deny', '/info.html'], ['boss', 'GET', 'Allow', '/info.html'])
      await putAll(server, { '/info.html': page('x'), '/info-rules.html': roles })
      await comeBack({ userInfo: { sub: 'u-1', roles: ['boss'] } })
      expect((await browser.get(`${server.url}/info.html`)).status).to.equal(200)
    })

    const ignored: [name: string, lies: Lies][] = [
      ['somebody else', { userInfo: { sub: 'u-2', roles: ['boss'] } }],
      ['nobody', { userInfo: { roles: ['boss'] } }],
      ['that cannot be had', {}],
      ['that is no JSON', { answers: { '/me': (_request, response) => void response.end('boss') } }],
      ['that breaks off', { answers: { '/me': request => void request.socket.destroy() } }],
    ]
    for (const [name, lies] of ignored) {
      it(`OIDC-4 is ignored otherwise: ${name}`, async () => {
        expect((await comeBack(lies)).status).to.equal(302)
        expect(await signedIn()).to.equal(true)
        expect((await browser.get(`${server.url}/info.html`)).status).to.equal(403)
      })
    }
  })

  describe('ACT-2 OIDC-4 whether an address is verified is said of that address alone', () => {
    const [boss, other] = ['boss@example.org', 'other@example.org']
    before(() =>
      putAll(server, {
        '/mail.html': page('x'),
        '/mail-rules.html': rulesPage(['*', 'GET', 'Deny', '/mail.html'], [boss, 'GET', 'Allow', '/mail.html']),
      }),
    )
    const SAID: [token: Record<string, unknown>, userInfo: Record<string, unknown>, status: number][] = [
      [{ email: other, email_verified: true }, { email: boss }, 403],
      [{ email: other, email_verified: true }, { email: boss, email_verified: false }, 403],
      [{ email: other, email_verified: true }, { email: boss, email_verified: true }, 200],
      [{ email: boss, email_verified: false }, { email_verified: true }, 403],
      [{ email_verified: true }, { email: boss }, 200],
      [{ email: boss, email_verified: true }, { email: boss }, 200],
      [{ email: boss, email_verified: true }, { email: '' }, 403],
      [{ email: boss, email_verified: true }, {}, 200],
      [{ email: boss }, { email_verified: true }, 200],
      [{}, { email: boss, email_verified: true }, 200],
    ]
    for (const [claims, userInfo, status] of SAID)
      it(`${JSON.stringify(claims)} and ${JSON.stringify(userInfo)}: ${status}`, async () => {
        expect((await comeBack({ claims, userInfo: { sub: 'u-1', ...userInfo } })).status).to.equal(302)
        expect((await browser.get(`${server.url}/mail.html`)).status).to.equal(status)
      })
  })

  describe('OIDC-6 a provider that is out of reach while the code is exchanged is 502', () => {
    const outages: [name: string, lies: Lies][] = [
      ['the token endpoint breaks off', { answers: { '/token': request => void request.socket.destroy() } }],
      [
        'the token endpoint is broken',
        { answers: { '/token': (_request, response) => void response.writeHead(500).end() } },
      ],
      [
        'the keys are out of reach',
        { key: newKey('unheard of'), answers: { '/jwks': request => void request.socket.destroy() } },
      ],
      [
        'an answer without end',
        {
          answers: {
            '/token': (_request, response) => {
              response.writeHead(200, { 'Content-Type': 'application/json' })
              const block = Buffer.alloc(64 * 1024, ' ')
              const more = () => {
                while (!response.destroyed && response.write(block));
              }
              response.on('drain', more)
              more()
            },
          },
        },
      ],
    ]
    for (const [name, lies] of outages) {
      it(name, async () => {
        const back = await comeBack(lies)
        expect(back.status).to.equal(502)
        expect(back.text).to.include('/ns/1.0/Error').and.include('redirect-post=%2Fin.html')
        expect(await signedIn()).to.equal(false)
        expect((await comeBack()).status, 'the next try works').to.equal(302)
      })
    }

    it('a token endpoint that says no is 400', async () => {
      const refuse: Lies = {
        answers: {
          '/token': (_request, response) => {
            response.writeHead(400, { 'Content-Type': 'application/json' }).end('{"error":"invalid_grant"}')
          },
        },
      }
      expect((await comeBack(refuse)).status).to.equal(400)
    })

    it('SEC-12 of what it says then, the log tells as much as such a word has', () => {
      const said = (error: string) => {
        const cause = { error }
        const refused = new (oidc().ResponseBodyError)('no', { cause, response: new Response() as never })
        return asProviderError(refused, false).message
      }
      expect(said('invalid_grant')).to.equal('The identity provider takes no code: invalid_grant')
      expect(said('x'.repeat(1024 * 1024))).to.equal(`The identity provider takes no code: ${'x'.repeat(100)}`)
    })
  })
})
