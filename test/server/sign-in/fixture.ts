/** A site with an identity provider, and people who sign in. */

import { expect } from 'chai'
import { startServer, type TestServer, type TestServerOptions } from '../../support/server.ts'
import { type Browser, formOf, type Page } from './browser.ts'
import { CLIENT, type OidcServer, type OidcServerOptions, startOidcServer } from './oidc-server.ts'

export interface SignInSite {
  server: TestServer
  oidc: OidcServer
  /** Absolute address of a path of the site. */
  url(path: string): string
  /** Goes through the whole flow as somebody; ends with the answer at the return target. */
  signIn(browser: Browser, name: string, target?: string): Promise<Page>
  /** The same up to the answer of the provider: the address of the callback. */
  untilCallback(browser: Browser, name: string, target?: string): Promise<URL>
  /** From the answer of a login up to the answer of the provider. */
  atProvider(browser: Browser, sent: Page, name: string): Promise<URL>
  close(): Promise<void>
}

export interface SignInSiteOptions extends TestServerOptions {
  /** Settings beside issuer and client. */
  oidc?: Record<string, unknown>
  provider?: Partial<OidcServerOptions>
  /** Path of the redirect URI, and of the login. */
  callback?: string
  login?: string
}

export const LOGIN = '/-platform/oidc/login'
export const CALLBACK = '/-platform/oidc/callback'
export const LOGOUT = '/-platform/oidc/logout'
export const COOKIE = 'platform_session'

export async function startSignInSite(options: SignInSiteOptions = {}): Promise<SignInSite> {
  const { oidc: more, provider, callback = CALLBACK, login = LOGIN, ...rest } = options
  // Who comes first needs the address of the other: the provider is told when the site has its port.
  const redirectUris = ['http://localhost/not-yet']
  const postLogoutRedirectUris: string[] = []
  const oidc = await startOidcServer({ redirectUris, postLogoutRedirectUris, ...provider })
  const site = { ...rest.site, oidc: { issuer: oidc.issuer, ...CLIENT, ...more } }
  const server = await startServer({ ...rest, site })
  redirectUris[0] = server.url + callback
  postLogoutRedirectUris.push(`${server.url}/`, `${server.url}/bye.html`)
  oidc.configure()
  const url = (path: string) => server.url + path

  async function untilCallback(browser: Browser, name: string, target?: string): Promise<URL> {
    const query = target === undefined ? '' : `?redirect-post=${encodeURIComponent(target)}`
    return atProvider(browser, await browser.get(url(login + query)), name)
  }

  async function atProvider(browser: Browser, sent: Page, name: string): Promise<URL> {
    expect(sent.status, sent.text).to.equal(302)
    let page = sent
    for (let i = 0; i < 10; i++) {
      if (page.location?.pathname === callback) return page.location
      if (page.location) page = await browser.get(page.location)
      else page = await browser.post(formOf(page).action, { login: name })
    }
    throw new Error(`no callback came: ${page.status} ${page.text}`)
  }

  return {
    server,
    oidc,
    url,
    untilCallback,
    atProvider,
    async signIn(browser, name, target) {
      const back = await browser.get(await untilCallback(browser, name, target))
      expect(back.status, back.text).to.equal(302)
      return browser.follow(back)
    },
    async close() {
      await server.close()
      await oidc.stop()
    },
  }
}
