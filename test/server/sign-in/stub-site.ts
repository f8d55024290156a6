/** A site whose provider says whatever a test wants of whoever comes: for tests of what follows from a sign-in. */

import { startServer, type TestServer } from '../../support/server.ts'
import { type Browser, newBrowser } from './browser.ts'
import { LOGIN } from './fixture.ts'
import { type StubProvider, startStubProvider } from './stub-provider.ts'

export interface StubSite {
  server: TestServer
  stub: StubProvider
  url(path: string): string
  /** A browser in which somebody with these claims is signed in. */
  as(claims: Record<string, unknown>, browser?: Browser): Promise<Browser>
  close(): Promise<void>
}

export async function startStubSite(
  site: Record<string, unknown> = {},
  oidc: Record<string, unknown> = {},
  settings: Record<string, unknown> = {},
): Promise<StubSite> {
  const stub = await startStubProvider()
  const server = await startServer({
    settings,
    site: { ...site, oidc: { issuer: stub.issuer, clientId: 'site', ...oidc } },
  })
  return {
    server,
    stub,
    url: path => server.url + path,
    async as(claims, browser = newBrowser()) {
      await signInAt(server.url, stub, browser, claims)
      return browser
    },
    async close() {
      await server.close()
      await stub.stop()
    },
  }
}

/** @param origin of the site */
export async function signInAt(
  origin: string,
  stub: StubProvider,
  browser: Browser,
  claims: Record<string, unknown>,
): Promise<void> {
  const sent = await browser.get(origin + LOGIN)
  stub.lies = { claims }
  const back = sent.location && (await browser.get(stub.callback(sent.location)))
  if (back?.status !== 302) throw new Error(`the sign-in failed: ${(back ?? sent).text}`)
}
