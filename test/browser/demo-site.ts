/** The demo site in Chromium: visitors with sessions of their own, whose pages must not complain. */

import { expect } from 'chai'
import { after, afterEach, before } from 'mocha'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { PATIENCE } from '../support/eventually.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { COUNT_LOOKS, comes } from './live-pages.ts'

export interface DemoSite {
  /** Origin of the site. */
  readonly url: string
  /**
   * A visitor with a session of their own. A refusal that a test provokes is on the console of every browser: `expected`.
   * Who is deaf hears nothing of what others do meanwhile; all others hear it from now on.
   */
  visit(path: string, expected?: RegExp, hearing?: 'hears' | 'deaf'): Promise<Page>
}

/** Serves the demo site to a suite, by hooks of it. */
export function demoSite(): DemoSite {
  let server: TestServer | undefined
  let browser: Browser | undefined
  const contexts: BrowserContext[] = []
  let complaints: string[] = []

  before(async () => {
    server = await startServer({ demo: true })
    browser = await openBrowser()
  })

  after(async () => {
    await browser?.close()
    await server?.close()
  })

  afterEach(async () => {
    await Promise.all(contexts.splice(0).map(context => context.close()))
    const found = complaints
    complaints = []
    expect(found, 'errors on the console').to.deep.equal([])
  })

  return {
    get url() {
      if (!server) throw new Error('The site is not open yet.')
      return server.url
    },
    async visit(path, expected, hearing = 'hears') {
      if (!browser) throw new Error('The browser is not open yet.')
      const context = await browser.newContext({ baseURL: this.url, reducedMotion: 'reduce' })
      contexts.push(context)
      await context.addInitScript(
        hearing === 'deaf' ? 'window.EventSource = class extends EventTarget {}' : COUNT_LOOKS,
      )
      const page = await context.newPage()
      page.setDefaultTimeout(PATIENCE)
      page.on('pageerror', error => complaints.push(`${path}: ${error.message}`))
      page.on('console', message => {
        const text = message.text()
        if (message.type() === 'error' && !expected?.test(text)) complaints.push(`${path}: ${text}`)
      })
      await page.goto(path)
      // Each list to write into is followed, and is looked at as soon as it is.
      const lists = await page.locator('#comment-form, #sign-form, #event-form').count()
      if (hearing === 'hears' && lists > 0) await comes(page, `looks.done >= ${lists}`)
      return page
    },
  }
}

/** Makes a window so wide, and waits until its page knows. */
export async function widen(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 800 })
  await comes(page, `innerWidth === ${width}`)
}

export const press = (within: Locator, name: string | RegExp) => within.getByRole('button', { name }).click()
