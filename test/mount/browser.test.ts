/** A browser that opens folders of the mount, in windows of several sizes and schemes. */

import { expect } from 'chai'
import type { Browser } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { startServer, type TestServer } from '../support/server.ts'

const AGENTS = {
  mac: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15',
  windows: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36',
  linux: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
  phone: 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148',
}

const WINDOWS: [width: number, scheme: 'light' | 'dark', system: keyof typeof AGENTS, first: RegExp][] = [
  [1280, 'light', 'mac', /^Finder/],
  [1280, 'dark', 'linux', /Linux$/],
  [390, 'light', 'phone', /^Phones/],
  [390, 'dark', 'windows', /Windows$/],
]

const LONG = `${'Minutes of a meeting '.repeat(9)}.html`

describe('A browser on the mount', () => {
  let server: TestServer
  let browser: Browser
  before(async () => {
    server = await startServer({ demo: true })
    browser = await openBrowser()
    const authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
    await fetch(`${server.mountUrl}/articles/${encodeURIComponent(LONG)}`, {
      method: 'PUT',
      headers: { authorization },
      body: '<p>x',
    })
  })
  after(async () => {
    await browser.close()
    await server.close()
  })

  for (const [width, colorScheme, system, first] of WINDOWS)
    it(`DAV-40 lists folders and says how to mount them: ${width} pixels, ${colorScheme}, ${system}`, async () => {
      const context = await browser.newContext({
        viewport: { width, height: 800 },
        colorScheme,
        userAgent: AGENTS[system],
        httpCredentials: { username: server.user, password: server.password },
      })
      try {
        const page = await context.newPage()
        const complaints: string[] = []
        page.on('console', message => complaints.push(message.text()))
        page.on('pageerror', error => complaints.push(String(error)))
        const wide = () => page.evaluate<number>('document.documentElement.scrollWidth')

        await page.goto(`${server.mountUrl}/`)
        expect(await wide()).to.be.at.most(width)
        expect(await page.locator('h3').first().textContent()).to.match(first)
        expect(await page.locator('aside code:visible').first().textContent()).to.include(`//localhost:`)

        await page.getByRole('link', { name: 'articles/' }).click()
        expect(new URL(page.url()).pathname).to.equal('/articles/')
        expect(await page.getByRole('link', { name: LONG.trim() }).isVisible()).to.equal(true)
        expect(await wide()).to.be.at.most(width)
        await page.locator('aside summary').first().click()
        expect(await page.locator('aside details code:visible').count()).to.be.greaterThan(0)
        expect(await page.getByRole('link', { name: 'Open it as a drive' }).isVisible()).to.equal(width < 1024)
        expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).to.equal(
          colorScheme === 'dark' ? 'rgb(18, 21, 28)' : 'rgb(244, 245, 248)',
        )

        await page.getByRole('heading', { level: 1 }).getByRole('link').click()
        expect(new URL(page.url()).pathname).to.equal('/')
        expect(complaints.filter(text => !/favicon/.test(text))).to.deep.equal([])
      } finally {
        await context.close()
      }
    })

  it('DAV-40 forms are carried out where pages tell nobody where they are', async () => {
    const reticent = await startServer({ site: { referrerPolicy: 'no-referrer' } })
    const credentials = { username: reticent.user, password: reticent.password }
    const context = await browser.newContext({ httpCredentials: credentials })
    try {
      const page = await context.newPage()
      expect((await page.goto(`${reticent.mountUrl}/`))?.headers()['referrer-policy']).to.equal('no-referrer')
      await page.getByLabel('Folder').fill('minutes')
      await page.getByRole('button', { name: 'Make' }).click()
      await page.waitForURL(`${reticent.mountUrl}/?done=folder`)
      await page.getByRole('link', { name: 'minutes/' }).waitFor()
    } finally {
      await context.close()
      await reticent.close()
    }
  })
})
