import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { run } from '../support/program.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { HANGS } from './live-pages.ts'

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

/** The commands of the tour that begin so, as they stand there. */
function command(begin: string): string {
  const [found] = [...README.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .map(([, text = '']) => text)
    .filter(text => text.startsWith(begin))
  if (found === undefined) throw new Error(`the README has no command ${begin}`)
  return found
}

describe('the tour of the README, with two browser windows open', function () {
  this.timeout(HANGS)
  let server: TestServer
  let browser: Browser
  before(async () => {
    server = await startServer({ demo: true })
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await server?.close()
  })

  /** A window of a visitor of its own, whose stream is open. */
  async function open(): Promise<Page> {
    const page = await (await browser.newContext()).newPage()
    const listening = page.waitForResponse(answer => answer.headers()['content-type'] === 'text/event-stream')
    await page.goto(`${server.url}/guestbook.html`)
    await listening
    return page
  }

  /** Runs a command of the tour against this server. @returns the status it was answered with */
  async function follow(begin: string): Promise<number> {
    const { output } = await run('sh', ['-c', command(begin).replaceAll('http://localhost:8080', server.url)])
    return Number(/^HTTP\/1\.1 (\d{3})/m.exec(output)?.[1])
  }

  it('EVT-35 each command changes both by itself', async () => {
    const pages = [await open(), await open()]
    const entry = (page: Page) => page.locator('#entry-ada')
    expect(await follow("curl -i -X POST -H 'Range: selector=#entries'")).to.equal(206)
    for (const page of pages) await entry(page).getByText('Was here.').waitFor()
    expect(await follow('curl -i -X PUT')).to.equal(412)
    expect(await follow('curl -i -X MOVE')).to.equal(204)
    for (const page of pages) await page.locator('#entries > li#entry-ada:first-child').waitFor()
    expect(
      await entry(pages[0] as Page)
        .getByText('Was here.')
        .count(),
    ).to.equal(1)
  })
})
