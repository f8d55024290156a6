import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { createProvider } from '../../../server/sign-in/provider.ts'
import { ProviderError } from '../../../server/sign-in/provider-error.ts'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { formOf, newBrowser } from './browser.ts'
import { CALLBACK, LOGIN, LOGOUT, type SignInSite, startSignInSite } from './fixture.ts'
import { CLIENT } from './oidc-server.ts'
import { newKey, startStubProvider } from './stub-provider.ts'

const NS = 'https://platform.example/ns'

describe('identity providers', () => {
  const open: { close(): Promise<void> }[] = []
  afterEach(async () => {
    for (const each of open.splice(0).reverse()) await each.close()
  })

  async function serve(oidc: unknown, more: Record<string, unknown> = {}): Promise<TestServer> {
    const server = await startServer({ site: { ...more, ...(oidc !== undefined && { oidc }) } })
    open.push(server)
    return server
  }
  async function signInSite(options: Parameters<typeof startSignInSite>[0] = {}): Promise<SignInSite> {
    const site = await startSignInSite(options)
    open.push(site)
    return site
  }
  async function stubProvider() {
    const stub = await startStubProvider()
    open.push({ close: stub.stop })
    return stub
  }

  describe('OIDC-9 without a provider', () => {
    it('login, callback and logout are 404 and say so', async () => {
      const server = await serve(undefined)
      for (const path of [LOGIN, CALLBACK, LOGOUT, '/auth/login', '/auth/logout', '/auth/callback']) {
        const { status, text, headers } = await newBrowser().get(server.url + path)
        expect(status, path).to.equal(404)
        expect(text, path).to.include('No identity provider is configured').and.include(`${NS}/1.0/Error`)
        expect(headers.get('cache-control')).to.equal('no-store')
      }
    })

    it('DENY-2 a refusal still shows the link, and says what to expect', async () => {
      const server = await serve(undefined)
      await putAll(server, { '/a.html': page('x'), '/rules.html': rulesPage(['*', 'GET', 'Deny', '/a.html']) })
      const { status, text } = await newBrowser().get(`${server.url}/a.html`)
      expect(status).to.equal(401)
      expect(text).to.include(`href="${LOGIN}?redirect-post=%2Fa.html"`)
      expect(text).to.include('no identity provider')
    })
  })

  describe('OIDC-9 an incomplete configuration is 503', () => {
    const incomplete: [name: string, oidc: Record<string, unknown>][] = [
      ['no issuer', { clientId: 'site' }],
      ['no client id', { issuer: 'http://127.0.0.1:9' }],
      [
        'no secret, where one is needed',
        { issuer: 'http://127.0.0.1:9', clientId: 'site', tokenAuth: 'client_secret_post' },
      ],
    ]
    for (const [name, oidc] of incomplete) {
      it(name, async () => {
        const server = await serve(oidc)
        const { status, text, headers } = await newBrowser().get(`${server.url}${LOGIN}?redirect-post=/a.html`)
        expect(status).to.equal(503)
        expect(headers.get('retry-after')).to.not.equal(null)
        expect(text).to.include('redirect-post=%2Fa.html')
      })
    }

    it('a configuration document that lacks what is needed', async () => {
      const stub = await stubProvider()
      stub.lies = { metadata: { authorization_endpoint: undefined } }
      const server = await serve({ issuer: stub.issuer, ...CLIENT })
      expect((await newBrowser().get(server.url + LOGIN)).status).to.equal(503)
    })

    it('a configuration document of another issuer', async () => {
      const stub = await stubProvider()
      stub.lies = { metadata: { issuer: 'https://other.example' } }
      const server = await serve({ issuer: stub.issuer, ...CLIENT })
      expect((await newBrowser().get(server.url + LOGIN)).status).to.equal(503)
    })

    for (const [name, body] of [
      ['no JSON', '<html>'],
      ['a list', '[]'],
      ['nothing', ''],
    ] as const) {
      it(`a configuration document that is ${name}`, async () => {
        const stub = await stubProvider()
        stub.lies = {
          answers: { '/.well-known/openid-configuration': (_request, response) => void response.end(body) },
        }
        const server = await serve({ issuer: stub.issuer, ...CLIENT })
        expect((await newBrowser().get(server.url + LOGIN)).status).to.equal(503)
      })
    }
  })

  describe('a provider that is down', () => {
    it('OIDC-8 OIDC-9 the server starts and serves; login is 503, and works as soon as the provider does', async () => {
      const site = await signInSite()
      await site.oidc.stop()
      const browser = newBrowser()
      await putAll(site.server, { '/index.html': page('open') })
      expect((await browser.get(site.url('/'))).status).to.equal(200)
      for (let i = 0; i < 2; i++) {
        const { status, text, location } = await browser.get(site.url(`${LOGIN}?redirect-post=/x.html`))
        expect([status, location]).to.deep.equal([503, undefined])
        expect(text).to.include(`${NS}/1.0/Error`).and.include('cannot be reached')
        expect(text, 'the way to try again').to.include(`${LOGIN}?redirect-post=%2Fx.html`)
      }
      await site.oidc.start()
      expect((await browser.get(site.url(LOGIN))).status).to.equal(302)
    })

    it('OIDC-6 who comes back while it is down gets 502, and can try again', async () => {
      const site = await signInSite()
      const browser = newBrowser()
      const callback = await site.untilCallback(browser, 'alice', '/x.html')
      await site.oidc.stop()
      const { status, text } = await browser.get(callback)
      expect(status).to.equal(502)
      expect(text).to.include(`${LOGIN}?redirect-post=%2Fx.html`)
      await site.oidc.start()
      await site.signIn(browser, 'alice')
    })

    it('OIDC-7 signing out works all the same', async () => {
      const site = await signInSite({ oidc: { endSession: true } })
      await putAll(site.server, {
        '/in.html': page('in'),
        '/rules.html': rulesPage(['*', 'GET', 'Deny', '/in.html'], ['users', 'GET', 'Allow', '/in.html']),
      })
      const browser = newBrowser()
      expect((await site.signIn(browser, 'alice', '/in.html')).status).to.equal(200)
      await site.oidc.stop()
      await browser.get(site.url(LOGOUT))
      expect((await browser.get(site.url('/in.html'))).status).to.equal(401)
      await site.oidc.start()
    })
  })

  describe('OIDC-8 configuration and keys', () => {
    const count = (requests: string[], path: string) => requests.filter(each => each.endsWith(path)).length
    const CONFIGURATION = '/.well-known/openid-configuration'

    it('are fetched when they are first needed, and kept', async () => {
      const site = await signInSite()
      expect(site.oidc.requests).to.deep.equal([])
      const browsers = [newBrowser(), newBrowser(), newBrowser()]
      await Promise.all(browsers.map(browser => site.signIn(browser, 'alice').catch(() => undefined)))
      expect(count(site.oidc.requests, CONFIGURATION), 'once, also for several at a time').to.equal(1)
      expect(count(site.oidc.requests, '/jwks')).to.be.at.least(1)
      const before = count(site.oidc.requests, '/jwks')
      await site.signIn(newBrowser(), 'alice').catch(() => undefined)
      expect(count(site.oidc.requests, CONFIGURATION)).to.equal(1)
      expect(count(site.oidc.requests, '/jwks')).to.equal(before)
    })

    const reasonOf = (error: unknown) => (error instanceof ProviderError ? error.reason : error)

    /** A provider's client by a clock of its own. */
    async function providerAt(start: number) {
      const stub = await stubProvider()
      const time = { now: start }
      const settings = {
        issuer: stub.issuer,
        ...CLIENT,
        scopes: 'openid',
        rolesClaim: 'roles',
        endSession: false,
        authCallback: false,
      }
      const provider = createProvider({ ...settings, tokenAuth: undefined }, () => time.now)
      const attempt = { state: 's', nonce: 'n', verifier: 'v'.repeat(43) }
      const login = () => provider.authorizationUrl('http://site.example/callback', attempt)
      const identify = (authorization: URL) => provider.identify(stub.callback(authorization), attempt)
      return { stub, time, login, identify }
    }

    it('are fetched again after an hour', async () => {
      const { stub, time, login, identify } = await providerAt(1_000_000)
      const fetched = () => [count(stub.requests, CONFIGURATION), count(stub.requests, '/jwks')]
      const authorization = await login()
      await identify(authorization)
      time.now += 3_599_999
      await identify(authorization)
      expect(fetched()).to.deep.equal([1, 1])
      time.now += 1
      await identify(authorization)
      expect(fetched()).to.deep.equal([2, 2])
    })

    it('OIDC-9 a login makes sure that the provider is still there, unless it was half a minute ago', async () => {
      const { stub, time, login, identify } = await providerAt(1_000_000)
      const authorization = await login()
      time.now += 29_999
      await login()
      expect(count(stub.requests, CONFIGURATION)).to.equal(1)
      time.now += 1
      await login()
      expect(count(stub.requests, CONFIGURATION)).to.equal(2)
      time.now += 30_000
      stub.requests.length = 0
      stub.lies = { answers: { [CONFIGURATION]: (_request, response) => response.writeHead(503).end() } }
      for (const attempt of ['first', 'second'])
        expect(await login().then(String, reasonOf), attempt).to.equal('unreachable')
      expect(count(stub.requests, CONFIGURATION)).to.equal(2)
      // Whoever is on the way needs no more than what is known.
      await identify(authorization)
      expect(count(stub.requests, CONFIGURATION)).to.equal(2)
    })

    it('OIDC-8 whoever is on the way waits for no login that makes sure of the provider', async () => {
      const { stub, time, login, identify } = await providerAt(1_000_000)
      const authorization = await login()
      time.now += 30_000
      const asked = Promise.withResolvers<() => void>()
      const fail = {
        [CONFIGURATION]: (_: unknown, response: ServerResponse) => asked.resolve(() => response.destroy()),
      }
      stub.lies = { answers: fail }
      const outcome = login().then(String, reasonOf)
      const breakOff = await asked.promise
      await identify(authorization)
      breakOff()
      expect(await outcome).to.equal('unreachable')
    })

    it('OIDC-8 a key that took the place of another under the same name is found within a minute', async () => {
      const { stub, time, login, identify } = await providerAt(1_000_000)
      const authorization = await login()
      await identify(authorization)
      const next = newKey(stub.key.kid)
      stub.lies = { key: next, published: [next] }
      const outcome = () => identify(authorization).then(() => 'signed in', reasonOf)
      expect(await outcome()).to.equal('invalid')
      time.now += 59_999
      expect(await outcome()).to.equal('invalid')
      expect(count(stub.requests, '/jwks'), 'refusals have keys fetched once a minute at most').to.equal(1)
      time.now += 1
      expect(await outcome()).to.equal('signed in')
      time.now += 3_599_999
      expect(await outcome()).to.equal('signed in')
      expect(count(stub.requests, '/jwks')).to.equal(2)
    })

    it('a key that was rotated is found at once', async () => {
      const site = await signInSite()
      await site.signIn(newBrowser(), 'alice')
      site.oidc.configure()
      await site.signIn(newBrowser(), 'alice')
      expect(count(site.oidc.requests, '/jwks')).to.equal(2)
    })

    it('access tokens are not kept', async () => {
      const stub = await stubProvider()
      const server = await serve({ issuer: stub.issuer, ...CLIENT })
      const browser = newBrowser()
      const sent = await browser.get(server.url + LOGIN)
      if (sent.location) expect((await browser.get(stub.callback(sent.location))).status).to.equal(302)
      const notes = await server.running.store.notes('session')
      expect(notes).to.have.length.at.least(1)
      const kept = JSON.stringify(notes)
      expect(kept).to.include('u-1').and.not.include('access_token')
      expect(kept, 'nor the ID token, where nobody needs it').not.to.include('idToken')
      expect(kept, 'nor the cookie').not.to.include(browser.cookie('localhost', 'platform_session'))
    })
  })

  describe('as operators set them', () => {
    it('the full address of the configuration document', async () => {
      const stub = await stubProvider()
      const server = await serve({ issuer: `${stub.issuer}/.well-known/openid-configuration`, ...CLIENT })
      const browser = newBrowser()
      const sent = await browser.get(server.url + LOGIN)
      expect(sent.location?.origin).to.equal(stub.issuer)
      if (sent.location) expect((await browser.get(stub.callback(sent.location))).status).to.equal(302)
    })

    for (const tokenAuth of ['client_secret_basic', 'client_secret_post', 'none']) {
      it(`tokenAuth: ${tokenAuth}`, async () => {
        const stub = await stubProvider()
        const server = await serve({ issuer: stub.issuer, ...CLIENT, tokenAuth })
        const browser = newBrowser()
        const sent = await browser.get(server.url + LOGIN)
        if (sent.location) expect((await browser.get(stub.callback(sent.location))).status).to.equal(302)
        const { form, authorization } = stub.tokenRequest
        expect(authorization !== undefined).to.equal(tokenAuth === 'client_secret_basic')
        expect(form.has('client_secret')).to.equal(tokenAuth === 'client_secret_post')
        expect(form.get('client_id')).to.equal(tokenAuth === 'client_secret_basic' ? null : 'site')
      })
    }

    it('a public client: no secret', async () => {
      const site = await signInSite({
        oidc: { clientSecret: undefined },
        provider: { client: { token_endpoint_auth_method: 'none', client_secret: undefined } },
      })
      expect((await site.signIn(newBrowser(), 'alice')).status).to.be.oneOf([200, 404])
    })

    it('scopes', async () => {
      const site = await signInSite({ oidc: { scopes: 'openid' } })
      const { location } = await newBrowser().get(site.url(LOGIN))
      expect(location?.searchParams.get('scope')).to.equal('openid')
    })

    it('OIDC-1 the brand word', async () => {
      const site = await signInSite({
        site: { brand: 'acme' },
        callback: '/-acme/oidc/callback',
        login: '/-acme/oidc/login',
      })
      const browser = newBrowser()
      await site.signIn(browser, 'alice')
      expect(browser.cookie('localhost', 'acme_session')).to.have.length(43)
      expect((await browser.get(site.url(LOGIN))).status).to.equal(404)
    })

    it('OIDC-1 the public URL', async () => {
      const stub = await stubProvider()
      const server = await serve({ issuer: stub.issuer, ...CLIENT }, { publicUrl: 'https://www.example.org' })
      const { location, headers } = await newBrowser().get(server.url + LOGIN)
      expect(location?.searchParams.get('redirect_uri')).to.equal(`https://www.example.org${CALLBACK}`)
      expect(headers.getSetCookie()[0]).to.include('; Secure')
    })

    it('OIDC-1 authCallback: the other redirect URI', async () => {
      const site = await signInSite({ oidc: { authCallback: true }, callback: '/auth/callback' })
      await site.signIn(newBrowser(), 'alice')
    })

    it('OIDC-1 authCallback without aliases: its own address all the same', async () => {
      const site = await signInSite({
        site: { authAliases: false },
        oidc: { authCallback: true },
        callback: '/auth/callback',
      })
      await site.signIn(newBrowser(), 'alice')
      for (const path of ['/auth/login', '/auth/logout'])
        expect((await newBrowser().get(site.url(path))).status, path).to.equal(404)
    })

    it('OIDC-7 endSession: the provider is told, and knows nobody afterwards', async () => {
      const site = await signInSite({ oidc: { endSession: true } })
      const browser = newBrowser()
      await site.signIn(browser, 'alice')
      const out = await browser.get(site.url(`${LOGOUT}?redirect-post=/bye.html`))
      expect(out.status).to.equal(302)
      expect(out.location?.href).to.match(new RegExp(`^${site.oidc.issuer}/session/end\\?`))
      expect(out.location?.searchParams.get('client_id')).to.equal('site')
      expect(out.location?.searchParams.get('post_logout_redirect_uri')).to.equal(site.url('/bye.html'))
      expect(out.location?.searchParams.get('id_token_hint')).to.match(/^[^.]+\.[^.]+\.[^.]+$/)
      const asked = await browser.follow(out)
      const { action, fields } = formOf(asked)
      const back = await browser.post(action, { ...fields, logout: 'yes' })
      expect(back.location?.href).to.equal(site.url('/bye.html'))
      const again = await browser.get(site.url(`${LOGOUT}?redirect-post=/bye.html`))
      expect(again.headers.get('location'), 'nobody is signed in any more').to.equal('/bye.html')
    })

    it('OIDC-7 endSession at a provider that has no such address', async () => {
      const stub = await stubProvider()
      const server = await serve({ issuer: stub.issuer, ...CLIENT, endSession: true })
      const browser = newBrowser()
      const sent = await browser.get(server.url + LOGIN)
      if (sent.location) await browser.get(stub.callback(sent.location))
      const out = await browser.get(`${server.url}${LOGOUT}?redirect-post=/bye.html`)
      expect([out.status, out.headers.get('location')]).to.deep.equal([302, '/bye.html'])
    })

    it('SSN-4 where another edge issues sessions, nobody signs in here, and the page says so', async () => {
      const stub = await stubProvider()
      const server = await serve({ issuer: stub.issuer, ...CLIENT }, { sessions: 'external' })
      for (const headers of [undefined, { Cookie: 'platform_session=x' }]) {
        const { status, text } = await newBrowser().get(server.url + LOGIN, headers)
        expect(status).to.equal(503)
        expect(text).to.include('another server')
      }
    })
  })
})
