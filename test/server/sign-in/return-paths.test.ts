import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, putAll } from '../../support/content.ts'
import { newBrowser } from './browser.ts'
import { LOGIN, LOGOUT, type SignInSite, startSignInSite } from './fixture.ts'

/** Values of `redirect-post` as they stand in the address, and where they lead: nowhere but to this site. */
const TARGETS: [name: string, raw: string, leads: string][] = [
  ['a path', '/notes/a.html', '/notes/a.html'],
  ['a path with a query', '%2Fnotes%2Fa.html%3Fpage%3D2', '/notes/a.html?page=2'],
  ['nothing', '', '/'],
  ['another host', 'https://evil.example/', '/'],
  ['another host, encoded', 'https%3A%2F%2Fevil.example%2F', '/'],
  ['a host without scheme', '//evil.example/', '/'],
  ['a host without scheme, encoded', '%2F%2Fevil.example', '/'],
  ['more slashes', '///evil.example', '/'],
  ['a backslash', '/\\evil.example', '/'],
  ['a backslash, encoded', '%2F%5Cevil.example', '/'],
  ['two backslashes', '\\\\evil.example', '/'],
  ['a tab that browsers leave out', '/%09/evil.example', '/'],
  ['a line feed that browsers leave out', '/%0A/evil.example', '/'],
  ['a header of its own', '/%0D%0ASet-Cookie:%20platform_session=x', '/'],
  ['a NUL', '/%00', '/'],
  ['a DEL', '/%7F', '/'],
  ['white space before it', '%20//evil.example', '/'],
  ['dots that end at a host', '/a/..//evil.example', '/'],
  ['dots, encoded', '/%2e//evil.example', '/'],
  ['a scheme that runs code', 'javascript:alert(1)', '/'],
  ['data', 'data:text/html,x', '/'],
  ['a user and a host', '@evil.example', '/'],
  ['a relative path', 'evil.example', '/'],
  ['a query alone', '?a=b', '/'],
  ['an ordinary path with a user in it', '/@evil.example', '/@evil.example'],
  ['slashes that stay encoded', '/%252F%252Fevil.example', '/%2F%2Fevil.example'],
  ['the login', LOGIN, '/'],
  ['the login, its letters encoded', '/-platform/oidc/lo%2567in', '/'],
  ['the logout', `${LOGOUT}%3Fredirect-post=/x`, '/'],
  ['the callback', '/-platform/oidc/callback%3Fcode=x', '/'],
  ['an alias of the login', '/auth/login', '/'],
  ['the login by way of dots', '/a/../auth/login', '/'],
  ['no UTF-8', '/%FF', '/%EF%BF%BD'],
]

describe('OIDC-3 return targets through the whole flow', () => {
  let site: SignInSite

  before(async () => {
    site = await startSignInSite()
    await putAll(site.server, { '/index.html': page('start') })
  })
  after(() => site.close())

  for (const [name, raw, leads] of TARGETS) {
    it(`${name} leads to ${leads}, after signing in and after signing out`, async () => {
      const browser = newBrowser()
      const sent = await browser.get(site.url(`${LOGIN}?redirect-post=${raw}`))
      const back = await browser.get(await site.atProvider(browser, sent, 'alice'))
      expect([back.status, back.headers.get('location')]).to.deep.equal([302, leads])
      expect(back.headers.getSetCookie()).to.have.length(1)
      const out = await browser.get(site.url(`${LOGOUT}?redirect-post=${raw}`))
      expect([out.status, out.headers.get('location')]).to.deep.equal([302, leads])
    })
  }

  it('of several the first counts', async () => {
    const out = await newBrowser().get(site.url(`${LOGOUT}?redirect-post=/a&redirect-post=//evil.example`))
    expect(out.headers.get('location')).to.equal('/a')
    const hostile = await newBrowser().get(site.url(`${LOGOUT}?redirect-post=//evil.example&redirect-post=/a`))
    expect(hostile.headers.get('location')).to.equal('/')
  })
})
