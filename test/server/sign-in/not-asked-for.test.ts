/** What looks like signing in or out, but nobody has asked for it. */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { localRateLimits } from '../../../pipeline/coordination/local/rate-limits.ts'
import { takeLogin } from '../../../server/sign-in/endpoints.ts'
import { type Client, client } from '../../support/http.ts'
import { newBrowser } from './browser.ts'
import { COOKIE, LOGIN, LOGOUT, type SignInSite, startSignInSite } from './fixture.ts'

/** What Chromium and Firefox send for `respondWith(fetch(event.request))`, be it for a window or a frame. */
const passedOn = (mode: string) => ({
  'Sec-Fetch-Mode': mode,
  'Sec-Fetch-Dest': 'empty',
  'Sec-Fetch-Site': 'same-origin',
})

describe('signing out', () => {
  let site: SignInSite
  let raw: Client

  before(async () => {
    site = await startSignInSite()
  })
  after(() => site?.close())
  beforeEach(async () => {
    const browser = newBrowser()
    await site.signIn(browser, 'alice')
    raw = client(site.server.port, { Cookie: `${COOKIE}=${browser.cookie('localhost', COOKIE)}` })
  })

  /** Whether the session has gone on. */
  const lasts = async () => !('set-cookie' in (await raw('GET', '/')).headers)

  it('OIDC-7 not by a browser that reads links before they are followed', async () => {
    for (const ahead of [
      { Purpose: 'prefetch' },
      { 'Sec-Purpose': 'prefetch', 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Site': 'same-origin' },
      { 'Sec-Purpose': 'prefetch;prerender', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Site': 'same-origin' },
    ]) {
      const { status, headers } = await raw('GET', LOGOUT, ahead)
      expect([status, headers['cache-control'], headers.location]).to.deep.equal([403, 'no-store', undefined])
      expect(await lasts()).to.equal(true)
    }
  })

  for (const where of ['same-site', 'cross-site'])
    it(`HTTP-167 not by the frame of a ${where} page, passed on by a service worker or not`, async () => {
      for (const dest of ['iframe', 'frame', 'object', 'embed', 'empty']) {
        const fields = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': dest, 'Sec-Fetch-Site': where }
        expect((await raw('GET', LOGOUT, fields)).status).to.equal(302)
        expect(await lasts(), dest).to.equal(true)
      }
    })

  for (const [mode, dests] of [
    ['no-cors', ['image', 'style', 'script', 'video', 'track', 'font', 'empty']],
    ['cors', ['image', 'script']],
    ['navigate', ['iframe', 'frame', 'object', 'embed']],
  ] as const)
    it(`OIDC-7 not by what a visitor has written into a page of the site (${mode})`, async () => {
      for (const dest of dests) {
        const fields = { 'Sec-Fetch-Mode': mode, 'Sec-Fetch-Dest': dest, 'Sec-Fetch-Site': 'same-origin' }
        expect((await raw('GET', LOGOUT, fields)).status).to.equal(302)
        expect(await lasts(), dest).to.equal(true)
      }
    })

  for (const [who, fields] of [
    [
      'a link in a frame of the site',
      {
        'Sec-Fetch-Mode': 'navigate',
        'Sec-Fetch-Dest': 'iframe',
        'Sec-Fetch-Site': 'same-origin',
        'Sec-Fetch-User': '?1',
      },
    ],
    [
      'a link of a foreign page',
      { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document', 'Sec-Fetch-Site': 'cross-site' },
    ],
    ['a script of the site', { 'Sec-Fetch-Mode': 'cors', 'Sec-Fetch-Dest': 'empty', 'Sec-Fetch-Site': 'same-origin' }],
    ...(['navigate', 'same-origin'] as const).map(
      mode => [`a link that a service worker passes on (${mode})`, passedOn(mode)] as const,
    ),
    ['a program', {}],
  ] as const)
    it(`OIDC-7 by ${who}`, async () => {
      expect((await raw('GET', LOGOUT, fields)).status).to.equal(302)
      expect(await lasts()).to.equal(false)
    })
})

describe('signing in', () => {
  let site: SignInSite
  let raw: Client

  before(async () => {
    site = await startSignInSite()
    raw = client(site.server.port)
  })
  after(() => site?.close())

  for (const [name, fields] of [
    ['images', { 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image', 'Sec-Fetch-Site': 'same-origin' }],
    [
      'images of foreign pages',
      { 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image', 'Sec-Fetch-Site': 'cross-site' },
    ],
    ['preloads', { 'Sec-Fetch-Mode': 'cors', 'Sec-Fetch-Dest': 'empty', 'Sec-Fetch-Site': 'same-origin' }],
    ['links read ahead', { 'Sec-Purpose': 'prefetch', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' }],
  ] as const)
    it(`OIDC-2 goes on to its end whatever ${name} a page loads meanwhile`, async () => {
      const browser = newBrowser()
      const callback = await site.untilCallback(browser, 'alice')
      const cookie = { Cookie: `${COOKIE}=${browser.cookie('localhost', COOKIE)}` }
      for (let i = 0; i < 6; i++) {
        const { status, headers } = await raw('GET', LOGIN, { ...cookie, ...fields })
        expect([status, headers['cache-control'], headers.location]).to.deep.equal([403, 'no-store', undefined])
      }
      expect((await browser.get(callback)).status).to.equal(302)
    })

  for (const [dest, click] of [
    ...['iframe', 'frame', 'object', 'embed'].map(each => [each, {}] as const),
    // Chromium says so of lazy frames that come into view within five seconds of a click anywhere in their page.
    ['iframe', { 'Sec-Fetch-User': '?1' }] as const,
  ])
    it(`OIDC-2 goes on to its end whatever a page loads into frames meanwhile (${[dest, ...Object.keys(click)]})`, async () => {
      const browser = newBrowser()
      const callback = await site.untilCallback(browser, 'alice')
      const Cookie = `${COOKIE}=${browser.cookie('localhost', COOKIE)}`
      // As many as a session holds, in other windows.
      for (let i = 1; i < 5; i++) expect((await raw('GET', LOGIN, { Cookie })).status).to.equal(302)
      const fields = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': dest, 'Sec-Fetch-Site': 'same-origin', ...click }
      for (let i = 0; i < 6; i++) expect((await raw('GET', LOGIN, { Cookie, ...fields })).status).to.equal(302)
      expect((await browser.get(callback)).status).to.equal(302)
    })

  for (const mode of ['navigate', 'same-origin'])
    it(`OIDC-2 begins, and ends no other, where a service worker passes it on (${mode})`, async () => {
      const browser = newBrowser()
      const callback = await site.untilCallback(browser, 'alice')
      const Cookie = `${COOKIE}=${browser.cookie('localhost', COOKIE)}`
      for (let i = 0; i < 6; i++) expect((await raw('GET', LOGIN, { Cookie, ...passedOn(mode) })).status).to.equal(302)
      expect((await browser.get(callback)).status).to.equal(302)
    })

  it('OIDC-2 can be begun however many a page has begun in frames', async () => {
    const rateLimits = localRateLimits(() => 0)
    let refused: number | undefined
    while (refused === undefined) refused = await takeLogin(rateLimits, '192.0.2.1', true)
    expect(await takeLogin(rateLimits, '192.0.2.1')).to.equal(undefined)
  })

  it('OIDC-2 begins in a frame of a page that embeds the site', async () => {
    const fields = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'iframe', 'Sec-Fetch-Site': 'cross-site' }
    expect((await raw('GET', LOGIN, fields)).status).to.equal(302)
  })
})
