import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { page, put, putAll, rulesPage } from '../support/content.ts'
import { client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { HANGS } from './live-pages.ts'

/** Answers whatever is asked for in its scope. */
const WORKER = "addEventListener('fetch', event => event.respondWith(new Response('taken over')))"

describe('Service workers in a browser', function () {
  this.timeout(HANGS)

  let server: TestServer
  let browser: Browser
  let visitor: Page

  before(async () => {
    server = await startServer()
    await putAll(server, {
      '/rules.html': rulesPage(['*', 'PUT', 'Allow', '/up/*'], ['editors', 'PUT', 'Allow', '/app/*']),
      '/up/page.html': page('<p>x</p>'),
      '/app/worker.js': WORKER,
    })
    const stored = await client(server.port)('PUT', '/up/worker', { 'Content-Type': 'text/javascript' }, WORKER)
    expect(stored.status).to.equal(201)
    browser = await openBrowser()
    visitor = await (await browser.newContext({ baseURL: server.url })).newPage()
    await visitor.goto('/up/page.html')
  })
  after(async () => {
    await browser?.close()
    await server?.close()
  })

  const register = (script: string, options: RegistrationOptions = {}) =>
    visitor.evaluate(
      ([script, options]) =>
        navigator.serviceWorker.register(script, options).then(
          ({ scope }) => new URL(scope).pathname,
          (error: Error) => error.name,
        ),
      [script, options] as const,
    )

  it('SEC-13 a script that any visitor may store becomes none of its folder, kept by the browser or not', async () => {
    expect(await register('/up/worker')).to.equal('SecurityError')
    await visitor.evaluate(() => fetch('/up/worker').then(answer => answer.text()))
    expect(await register('/up/worker', { updateViaCache: 'all' })).to.equal('SecurityError')
    expect(await register('/up/worker', { scope: '/up/worker' })).to.equal('SecurityError')
    // Whoever is led to an address at which nothing is served would be answered by it there.
    for (const scope of ['/-platform/none/', '/%2F', '/%2fx'])
      expect(await register('/up/worker', { scope }), scope).to.be.oneOf(['SecurityError', 'TypeError'])
  })

  it('SEC-13 a script of the author becomes one', async () => {
    expect(await register('/app/worker.js')).to.equal('/app/')
  })

  it('SEC-13 once any visitor may replace it, it does so no more', async () => {
    await put(server, '/more.html', rulesPage(['users', 'MOVE', 'Allow', '/app/*']))
    await put(server, '/app/other.js', WORKER)
    expect(await register('/app/other.js', { scope: '/app/other/' })).to.equal('SecurityError')
  })
})
