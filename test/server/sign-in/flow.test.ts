import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, putAll, remove, rulesPage } from '../../support/content.ts'
import { client } from '../../support/http.ts'
import { type Browser, newBrowser } from './browser.ts'
import { CALLBACK, COOKIE, LOGIN, LOGOUT, type SignInSite, startSignInSite } from './fixture.ts'

const HOST = 'localhost'

describe('signing in', () => {
  let site: SignInSite
  let browser: Browser

  before(async () => {
    site = await startSignInSite()
    await putAll(site.server, {
      '/members.html': page('<p>for members</p>'),
      '/open.html': page('<p>for everybody</p>'),
      '/rules.html': rulesPage(['*', 'GET', 'Deny', '/members.html'], ['users', 'GET', 'Allow', '/members.html']),
    })
  })
  after(() => site.close())
  beforeEach(() => {
    browser = newBrowser()
  })

  const get = (path: string, headers?: Record<string, string>) => browser.get(site.url(path), headers)
  const loginTo = (target: string) => get(`${LOGIN}?redirect-post=${encodeURIComponent(target)}`)

  describe('login', () => {
    it('OIDC-2 sends the browser to the provider with everything that the flow needs', async () => {
      const { status, location, headers } = await get(LOGIN)
      expect(status).to.equal(302)
      expect(headers.get('cache-control')).to.equal('no-store')
      expect(location?.href).to.match(new RegExp(`^${site.oidc.issuer}/auth\\?`))
      const parameters = Object.fromEntries(location?.searchParams ?? [])
      expect(parameters).to.include({
        response_type: 'code',
        client_id: 'site',
        redirect_uri: site.url(CALLBACK),
        scope: 'openid email profile',
        code_challenge_method: 'S256',
      })
      for (const name of ['state', 'nonce', 'code_challenge'])
        expect(Buffer.from(parameters[name] ?? '', 'base64url').length * 8, name).to.be.at.least(128)
    })

    it('OIDC-2 sets the cookie of a visitor who had none, and no other', async () => {
      const first = await get(LOGIN)
      expect(first.headers.getSetCookie()).to.have.length(1)
      expect(browser.cookie(HOST, COOKIE)).to.have.length(51)
      expect((await get(LOGIN)).headers.getSetCookie()).to.have.length(0)
    })

    it('OIDC-2 no two logins are alike', async () => {
      const seen = new Set<string>()
      for (let i = 0; i < 5; i++) {
        const { location } = await get(LOGIN)
        for (const name of ['state', 'nonce', 'code_challenge']) seen.add(location?.searchParams.get(name) ?? '')
      }
      expect(seen.size).to.equal(15)
    })

    it('OIDC-2 five logins may be under way; the oldest is dropped', async () => {
      const sent = []
      for (let i = 0; i < 6; i++) sent.push(await loginTo(`/open.html?${i}`))
      const [oldest, second] = sent
      if (!oldest || !second) throw new Error('no logins')
      expect((await browser.get(await site.atProvider(browser, oldest, 'alice'))).status).to.equal(400)
      const done = await browser.get(await site.atProvider(browser, second, 'alice'))
      expect([done.status, done.location?.search]).to.deep.equal([302, '?1'])
    })

    it('OIDC-2 HEAD is answered like GET', async () => {
      const { status, location } = await browser.send('HEAD', site.url(LOGIN))
      expect([status, location?.pathname]).to.deep.equal([302, '/auth'])
    })

    it('OIDC-1 METH-5 the address takes no other method', async () => {
      for (const method of ['PUT', 'POST', 'DELETE', 'PATCH'])
        expect((await browser.send(method, site.url(LOGIN), {}, 'x')).status, method).to.equal(403)
    })
  })

  describe('the whole way', () => {
    it('DENY-2 OIDC-6 from the refusal through the provider to the page asked for', async () => {
      const refused = await get('/members.html?a=1')
      expect(refused.status).to.equal(401)
      const link = /<a class="action" href="([^"]+)"/.exec(refused.text)?.[1]
      expect(link).to.equal(`${LOGIN}?redirect-post=%2Fmembers.html%3Fa%3D1`)
      const shown = await site.signIn(browser, 'alice', '/members.html?a=1')
      expect([shown.status, shown.url.href]).to.deep.equal([200, site.url('/members.html?a=1')])
      expect(shown.text).to.include('for members')
    })

    it('SSN-6 signing in gives a new session; the old one is dead at once', async () => {
      const callback = await site.untilCallback(browser, 'alice', '/members.html')
      const before = browser.cookie(HOST, COOKIE)
      const back = await browser.get(callback)
      const after = browser.cookie(HOST, COOKIE)
      expect(after)
        .to.match(/^[A-Za-z0-9_-]{43}$/)
        .and.not.equal(before)
      expect(back.headers.get('cache-control')).to.equal('no-store')
      const [cookie] = back.headers.getSetCookie()
      expect(cookie).to.match(/; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/)
      const thief = newBrowser()
      thief.setCookie(HOST, COOKIE, before ?? '')
      const tried = await thief.get(site.url('/members.html'))
      expect(tried.status).to.equal(401)
      expect(tried.headers.getSetCookie(), 'it is replaced').to.have.length(1)
      const open = await thief.get(site.url('/open.html'))
      thief.setCookie(HOST, COOKIE, before ?? '')
      expect((await thief.get(site.url('/open.html'))).headers.getSetCookie()).to.have.length(1)
      expect(open.status).to.equal(200)
    })

    it('SSN-1 a signed-in visitor gets no new cookie', async () => {
      await site.signIn(browser, 'alice')
      for (const path of ['/open.html', '/members.html', '/none.html', '/open.html'])
        expect((await get(path)).headers.getSetCookie(), path).to.have.length(0)
    })

    it('OIDC-10 a second login replaces the principal', async () => {
      await site.signIn(browser, 'alice', '/members.html')
      const before = browser.cookie(HOST, COOKIE) ?? ''
      // The provider knows alice still; another browser at the provider is another person.
      browser.forget('127.0.0.1')
      const back = await browser.get(await site.untilCallback(browser, 'bob', '/members.html'))
      expect(back.headers.get('clear-site-data'), 'pages of alice').to.equal('"cache"')
      const old = newBrowser()
      old.setCookie(HOST, COOKIE, before)
      expect((await old.get(site.url('/members.html'))).status).to.equal(401)
      expect((await get('/members.html')).status).to.equal(200)
    })

    it('OIDC-6 a person who is signed in and still may not is told so, and not sent around', async () => {
      await putAll(site.server, {
        '/own.html': page('x'),
        '/own-rules.html': rulesPage(['*', 'GET', 'Deny', '/own.html']),
      })
      const shown = await site.signIn(browser, 'alice', '/own.html')
      expect(shown.status).to.equal(403)
      expect(shown.text).not.to.include('oidc/login')
    })
  })

  describe('OIDC-3 return targets', () => {
    const targets: [wanted: string, reached: string][] = [
      ['/open.html', '/open.html'],
      ['/open.html?a=b&c=d#part', '/open.html?a=b&c=d#part'],
      ['/ä b', '/%C3%A4%20b'],
      ['//evil.example/', '/'],
      ['/\\evil.example/', '/'],
      ['https://evil.example/', '/'],
      ['javascript:alert(1)', '/'],
      ['open.html', '/'],
      ['/a\r\nSet-Cookie: x=y', '/'],
      ['/\t/evil.example', '/'],
      ['/.//evil.example', '/'],
      ['/x/..//evil.example', '/'],
      [LOGIN, '/'],
      [LOGOUT, '/'],
      ['/auth/logout', '/'],
      ['/x/../-platform/oidc/logout', '/'],
      ['/%2Dplatform/oidc/logout', '/'],
      ['', '/'],
    ]
    for (const [wanted, reached] of targets) {
      it(`${JSON.stringify(wanted)} leads to ${reached}`, async () => {
        const back = await browser.get(await site.untilCallback(browser, 'alice', wanted))
        expect([back.status, back.headers.get('location')]).to.deep.equal([302, reached])
        const out = await get(`${LOGOUT}?redirect-post=${encodeURIComponent(wanted)}`)
        expect([out.status, out.headers.get('location')]).to.deep.equal([302, reached])
      })
    }
  })

  describe('OIDC-6 failures', () => {
    const failed = (status: number, text: string) => {
      expect(status).to.equal(400)
      expect(text).to.include('itemscope itemtype="https://platform.example/ns/1.0/Error"')
      expect(text).to.include('itemprop="message"')
      expect(text).to.match(/href="\/-platform\/oidc\/login[^"]*"/)
    }

    it('a state that is unknown, missing or malformed', async () => {
      await get(LOGIN)
      for (const query of [
        '',
        '?code=x',
        '?code=x&state=',
        '?code=x&state=unknown',
        `?state=${'a'.repeat(5000)}`,
        '?state=login/x',
        '?state=%00',
      ]) {
        const { status, text } = await get(CALLBACK + query)
        failed(status, text)
      }
      expect((await get('/members.html')).status).to.equal(401)
    })

    it('a state that was used', async () => {
      const callback = await site.untilCallback(browser, 'alice', '/members.html')
      await browser.get(callback)
      const again = await browser.get(callback)
      failed(again.status, again.text)
      expect((await get('/members.html')).status, 'the sign-in stands').to.equal(200)
    })

    it('a state of another session: nobody can be signed in as somebody else', async () => {
      const callback = await site.untilCallback(browser, 'alice', '/members.html')
      const victim = newBrowser()
      await victim.get(site.url('/open.html'))
      for (let i = 0; i < 2; i++) {
        const { status, text } = await victim.get(callback)
        failed(status, text)
      }
      expect((await victim.get(site.url('/members.html'))).status).to.equal(401)
      expect((await browser.get(callback)).status, 'and it is not used up').to.equal(302)
    })

    it('two at the same time: one of them', async () => {
      const callback = await site.untilCallback(browser, 'alice', '/members.html')
      const both = await Promise.all([browser.get(callback), browser.get(callback)])
      expect(both.map(({ status }) => status).sort()).to.deep.equal([302, 400])
    })

    it('an error from the provider, which is not repeated to the visitor', async () => {
      const { location } = await loginTo('/members.html')
      const state = location?.searchParams.get('state') ?? ''
      const { status, text } = await get(
        `${CALLBACK}?error=access_denied&error_description=${encodeURIComponent('<script>x</script>')}&state=${state}&iss=${encodeURIComponent(site.oidc.issuer)}`,
      )
      failed(status, text)
      expect(text).not.to.include('script>')
      expect(text).to.include('redirect-post=%2Fmembers.html')
    })

    it('the visitor cancels at the provider', async () => {
      const asked = await browser.follow(await loginTo('/members.html'))
      const sent = await browser.post(asked.url, { cancel: '1' })
      const back = await browser.follow(sent)
      failed(back.status, back.text)
    })

    it('a code that the provider does not know', async () => {
      const { location } = await loginTo('/members.html')
      const state = location?.searchParams.get('state') ?? ''
      const { status, text } = await get(
        `${CALLBACK}?code=made-up&state=${state}&iss=${encodeURIComponent(site.oidc.issuer)}`,
      )
      failed(status, text)
    })

    it('another issuer in the response', async () => {
      const callback = await site.untilCallback(browser, 'alice', '/members.html')
      callback.searchParams.set('iss', 'https://evil.example')
      const { status, text } = await browser.get(callback)
      failed(status, text)
    })

    it('no half sign-in: the session keeps what it had', async () => {
      await site.signIn(browser, 'alice', '/members.html')
      const cookie = browser.cookie(HOST, COOKIE)
      const { location } = await loginTo('/members.html')
      await get(`${CALLBACK}?error=access_denied&state=${location?.searchParams.get('state')}`)
      expect(browser.cookie(HOST, COOKIE)).to.equal(cookie)
      expect((await get('/members.html')).status).to.equal(200)
    })
  })

  describe('logout', () => {
    it('SSN-6 OIDC-7 ends the session and gives a new anonymous one', async () => {
      await site.signIn(browser, 'alice', '/members.html')
      const before = browser.cookie(HOST, COOKIE) ?? ''
      const out = await get(`${LOGOUT}?redirect-post=/open.html`)
      expect([out.status, out.headers.get('location')]).to.deep.equal([302, '/open.html'])
      expect(out.headers.get('cache-control')).to.equal('no-store')
      expect(out.headers.get('clear-site-data'), 'pages that a step back would show').to.equal('"cache"')
      expect(browser.cookie(HOST, COOKIE)).to.have.length(51)
      expect((await get('/members.html')).status).to.equal(401)
      browser.setCookie(HOST, COOKIE, before)
      const old = await get('/members.html')
      expect(old.status, 'the refusal of an old cookie is that of an anonymous visitor').to.equal(401)
      expect(old.headers.getSetCookie()).to.have.length(1)
    })

    it('OIDC-7 after POST it is 303, with the target in the address or in the form', async () => {
      for (const inForm of [true, false]) {
        await site.signIn(browser, 'alice')
        const out = inForm
          ? await browser.post(site.url(LOGOUT), { 'redirect-post': '/open.html' })
          : await browser.post(site.url(`${LOGOUT}?redirect-post=/open.html`), {})
        expect([out.status, out.headers.get('location')]).to.deep.equal([303, '/open.html'])
        expect((await get('/members.html')).status).to.equal(401)
      }
    })

    it('OIDC-7 when nobody is signed in it is no error, and the session stays', async () => {
      await get('/open.html')
      const before = browser.cookie(HOST, COOKIE)
      const out = await get(LOGOUT)
      expect([out.status, out.headers.get('location')]).to.deep.equal([302, '/'])
      expect(out.headers.get('clear-site-data')).to.equal(null)
      expect(browser.cookie(HOST, COOKIE)).to.equal(before)
      expect((await newBrowser().get(site.url(LOGOUT))).status).to.equal(302)
    })

    it('OIDC-7 without endSession the provider is left alone', async () => {
      await site.signIn(browser, 'alice')
      const out = await get(LOGOUT)
      expect(out.location?.host).to.equal(new URL(site.server.url).host)
    })

    it('HTTP-167 a form of a foreign page signs nobody out', async () => {
      await site.signIn(browser, 'alice')
      const cookie = browser.cookie(HOST, COOKIE)
      const out = await browser.post(site.url(LOGOUT), {}, { Origin: 'https://evil.example' })
      expect(out.status).to.equal(303)
      expect(browser.cookie(HOST, COOKIE)).to.equal(cookie)
      expect((await get('/members.html')).status).to.equal(200)
    })

    it('HTTP-167 an image or script of a foreign page signs nobody out, a link does', async () => {
      await site.signIn(browser, 'alice')
      const Cookie = `${COOKIE}=${browser.cookie(HOST, COOKIE)}`
      const raw = client(site.server.port, { Cookie, 'Sec-Fetch-Site': 'cross-site' })
      for (const mode of ['no-cors', 'cors', 'navigate']) {
        const { headers } = await raw('GET', LOGOUT, { 'Sec-Fetch-Mode': mode })
        expect('set-cookie' in headers, mode).to.equal(mode === 'navigate')
        expect((await raw('GET', '/members.html')).status, mode).to.equal(mode === 'navigate' ? 401 : 200)
      }
    })

    it('a form that is too large is refused', async () => {
      await site.signIn(browser, 'alice')
      const out = await browser.post(site.url(LOGOUT), { 'redirect-post': `/${'a'.repeat(20_000)}` })
      expect(out.status).to.equal(413)
    })

    it('OIDC-6 OIDC-7 HEAD neither finishes a login nor signs out', async () => {
      const callback = await site.untilCallback(browser, 'alice', '/members.html')
      expect((await browser.send('HEAD', callback)).status).to.equal(405)
      expect((await browser.get(callback)).status).to.equal(302)
      const out = await browser.send('HEAD', site.url(LOGOUT))
      expect([out.status, out.headers.get('allow')]).to.deep.equal([405, 'GET, POST'])
      expect((await get('/members.html')).status).to.equal(200)
    })
  })

  describe('OIDC-1 addresses', () => {
    it('they come before rules and before everything stored', async () => {
      await putAll(site.server, { '/deny.html': rulesPage(['*', '*', 'Deny', '/*']) })
      try {
        expect((await get('/open.html')).status).to.equal(401)
        for (const path of [LOGIN, LOGOUT, '/auth/login', '/auth/logout'])
          expect((await get(path)).status, path).to.equal(302)
        expect((await get(CALLBACK)).status).to.equal(400)
      } finally {
        await remove(site.server, '/deny.html')
      }
    })

    it('/auth/login, /auth/logout and /auth/callback are aliases', async () => {
      const sent = await get('/auth/login?redirect-post=/members.html')
      expect([sent.status, sent.location?.pathname]).to.deep.equal([302, '/auth'])
      expect(sent.location?.searchParams.get('redirect_uri')).to.equal(site.url(CALLBACK))
      const callback = await site.untilCallback(browser, 'alice', '/members.html')
      const back = await browser.get(callback.href.replace(CALLBACK, '/auth/callback'))
      expect(back.status, 'the redirect URI is another one, so the provider refuses').to.be.oneOf([302, 400])
      await site.signIn(browser, 'alice')
      expect((await get('/auth/logout?redirect-post=/open.html')).headers.get('location')).to.equal('/open.html')
      expect((await get('/members.html')).status).to.equal(401)
    })

    it('an alias gives way to what is stored at exactly that path', async () => {
      await putAll(site.server, { '/auth/login': 'a blob', '/auth/logout': 'another' })
      try {
        expect((await get('/auth/login')).text).to.equal('a blob')
        expect((await get('/auth/logout')).text).to.equal('another')
        expect((await get(LOGIN)).status).to.equal(302)
      } finally {
        await remove(site.server, '/auth/login')
        await remove(site.server, '/auth/logout')
      }
      await putAll(site.server, { '/auth/index.html': page('x'), '/auth/login/index.html': page('y') })
      expect((await get('/auth/login')).status, 'a directory is not stored at that path').to.equal(302)
    })

    it('nothing else below the prefix is served', async () => {
      for (const path of ['/-platform/oidc', '/-platform/oidc/', '/-platform/oidc/x', `${LOGIN}/`, `${LOGIN}/x`])
        expect((await get(path)).status, path).to.equal(404)
    })

    it('OPTIONS is answered as for any address', async () => {
      expect((await browser.send('OPTIONS', site.url(LOGIN))).status).to.equal(200)
    })
  })
})
