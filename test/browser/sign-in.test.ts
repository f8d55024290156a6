import { expect } from 'chai'
import { after, afterEach, before, describe, it } from 'mocha'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { type SignInSite, startSignInSite } from '../server/sign-in/fixture.ts'
import { openBrowser } from '../support/browser.ts'
import { PATIENCE } from '../support/eventually.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { widen } from './demo-site.ts'
import { HANGS } from './live-pages.ts'

/** Contrast of the text that stands out least (WCAG 2.2, 1.4.3); runs in the page. */
function leastContrast(): number {
  const channels = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number)
  const light = (color: string) => {
    const [red = 0, green = 0, blue = 0] = channels(color).map(value => {
      const share = value / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const backOf = (element: Element | null): string => {
    if (!element) return 'rgb(255, 255, 255)'
    const { backgroundColor } = getComputedStyle(element)
    return channels(backgroundColor)[3] === 0 ? backOf(element.parentElement) : backgroundColor
  }
  const contrasts = [...document.querySelectorAll('h1, p, dt, dd, a')].map(element => {
    const [one, other] = [light(getComputedStyle(element).color), light(backOf(element))]
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
  })
  return Math.min(...contrasts)
}

describe('Signing in with a browser', function () {
  this.timeout(HANGS)

  let site: SignInSite
  let browser: Browser
  const contexts: BrowserContext[] = []

  before(async () => {
    const accounts = {
      marit: { email: 'marit@bench.example', email_verified: true, name: 'Marit Osei' },
      hanne: { email: 'hanne@example.com', email_verified: true, name: 'Hanne Tvedt' },
    }
    site = await startSignInSite({ demo: true, provider: { accounts } })
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await site?.close()
  })
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map(context => context.close()))
  })

  async function visit(path: string, baseURL = site.server.url): Promise<Page> {
    const context = await browser.newContext({ baseURL })
    contexts.push(context)
    const page = await context.newPage()
    page.setDefaultTimeout(PATIENCE)
    await page.goto(path)
    return page
  }
  /** Waits until the page with a heading is there: the one before it is shown until then. */
  const shows = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

  async function signIn(page: Page, name: string): Promise<void> {
    await page.getByRole('textbox').fill(name)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  it('OIDC-2 OIDC-6 from the refusal through the provider to the page asked for, and out again', async () => {
    const page = await visit('/members/')
    await shows(page, '401 Unauthorized')
    await page.getByRole('link', { name: 'Sign in' }).click()
    await shows(page, 'Who are you?')
    expect(new URL(page.url()).origin).to.equal(site.oidc.issuer)
    await signIn(page, 'hanne')
    await page.waitForURL(site.url('/members/'))
    await shows(page, 'Members’ corner')
    const [cookie] = await page.context().cookies(site.server.url)
    expect(cookie).to.include({ name: 'platform_session', httpOnly: true, sameSite: 'Lax', path: '/' })

    await page.getByRole('link', { name: 'editors’ desk' }).click()
    await shows(page, '403 Forbidden')
    expect(await page.getByRole('link', { name: 'Sign in', exact: true }).count()).to.equal(0)

    await page.goto('/members/')
    await page.getByRole('link', { name: 'Sign out' }).click()
    await page.waitForURL(site.url('/'))
    await page.goto('/members/')
    await shows(page, '401 Unauthorized')
  })

  it('SSN-1 HTTP-167 whoever is signed in stays so when a foreign page sends a form', async () => {
    const page = await visit('/-platform/oidc/login?redirect-post=/members/')
    await signIn(page, 'hanne')
    await page.waitForURL(site.url('/members/'))
    for (const path of ['/members/', '/-platform/oidc/logout']) {
      await page.goto(`data:text/html,<form method="post" action="${site.url(path)}"><button>Win</button></form>`)
      await page.getByRole('button').click()
      await page.waitForURL(url => url.protocol === 'http:')
      expect((await page.goto('/members/'))?.status(), path).to.equal(200)
    }
  })

  it('GRP-2 the group of editors opens their desk to those who are in it', async () => {
    const page = await visit('/editors/')
    await shows(page, '401 Unauthorized')
    await page.getByRole('link', { name: 'Sign in' }).click()
    await signIn(page, 'marit')
    await page.waitForURL(site.url('/editors/'))
    await shows(page, 'Editors’ desk')
    const allowed = await page.evaluate(async () => {
      const notice = await fetch('/members/', {
        method: 'PUT',
        headers: { Range: 'selector=#notice', 'Content-Type': 'text/html' },
        body: '<p id="notice">No walk this month.</p>',
      })
      const whole = await fetch('/members/', { method: 'PUT', body: 'x' })
      return [notice.status, whole.status]
    })
    expect(allowed).to.deep.equal([206, 403])
    await page.goto('/members/')
    expect(await page.locator('#notice').textContent()).to.equal('No walk this month.')
  })

  it('shows what is behind the doors without a complaint, in both schemes and narrow', async () => {
    const page = await visit('/editors/')
    await page.getByRole('link', { name: 'Sign in' }).click()
    await signIn(page, 'marit')
    await page.waitForURL(site.url('/editors/'))
    const complaints: string[] = []
    page.on('pageerror', error => complaints.push(error.message))
    page.on('console', message => message.type() === 'error' && complaints.push(message.text()))
    for (const path of ['/members/', '/editors/', '/rules.html', '/']) {
      await page.goto(path)
      for (const [width, colorScheme] of [
        [1440, 'light'],
        [320, 'dark'],
      ] as const) {
        await widen(page, width)
        await page.emulateMedia({ colorScheme })
        expect(await page.evaluate('document.documentElement.scrollWidth'), `${path} at ${width}`).to.be.at.most(width)
      }
    }
    expect(complaints).to.deep.equal([])
  })

  it('DENY-2 DENY-3 pages of failures are readable: narrow and wide, light and dark, whatever the address', async () => {
    const page = await visit('/')
    const long = `${'x'.repeat(200)}/${'a-long-name-'.repeat(18)}.html`
    for (const [path, title] of [
      [`/members/${long}`, '401 Unauthorized'],
      [`/${long}`, '404 Not Found'],
      ['/-platform/oidc/callback?state=none', '400 Bad Request'],
    ] as const) {
      await page.goto(path)
      await shows(page, title)
      expect(await page.locator('main').count(), `cards of ${path}`).to.equal(1)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        for (const width of [320, 1280]) {
          await widen(page, width)
          expect(await page.evaluate('document.documentElement.scrollWidth'), `${path} at ${width}`).to.be.at.most(
            width,
          )
        }
        expect(await page.evaluate(leastContrast), `${path}, ${colorScheme}`).to.be.at.least(4.5)
      }
    }
  })

  it('OIDC-6 who cancels is told what happened, and can try again', async () => {
    const page = await visit('/members/')
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('You were not signed in').waitFor()
    await page.getByRole('link', { name: 'Try again' }).click()
    await signIn(page, 'hanne')
    await page.waitForURL(site.url('/members/'))
    await shows(page, 'Members’ corner')
  })

  describe('without a provider', () => {
    let plain: TestServer
    before(async () => {
      plain = await startServer({ demo: true })
    })
    after(() => plain?.close())

    it('OIDC-9 DENY-2 the members’ corner says why nobody comes in, and the door says it again', async () => {
      const page = await visit('/members/', plain.url)
      await shows(page, '401 Unauthorized')
      await page.getByText('no identity provider yet').waitFor()
      expect(await page.getByRole('link', { name: 'Sign in', exact: true }).count()).to.equal(0)
      await page.getByRole('link', { name: 'why nobody can sign in' }).click()
      await shows(page, '404 Not Found')
      await page.getByText('No identity provider is configured').waitFor()
      await page.getByRole('link', { name: 'Go to the start page' }).click()
      await page.waitForURL(`${plain.url}/`)
    })
  })
})
