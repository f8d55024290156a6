import { expect } from 'chai'
import { describe, it } from 'mocha'
import { localRateLimits } from '../../../pipeline/coordination/local/rate-limits.ts'
import type { RateLimits } from '../../../pipeline/coordination/rate-limits.ts'
import { takeLogin } from '../../../server/sign-in/endpoints.ts'
import { NS } from '../../support/content.ts'
import { startServer } from '../../support/server.ts'
import { newBrowser } from './browser.ts'
import { LOGIN, startSignInSite } from './fixture.ts'

const MOST = 200

async function exhaust(rateLimits: RateLimits, address: string): Promise<void> {
  for (let i = 0; i < MOST; i++) expect(await takeLogin(rateLimits, address), `${i}`).to.equal(undefined)
}

describe('how often a place may begin to sign in', () => {
  it('OIDC-2 two hundred times at once, then two a second', async () => {
    let now = 1_000_000
    const rateLimits = localRateLimits(() => now)
    await exhaust(rateLimits, '192.0.2.1')
    expect(await takeLogin(rateLimits, '192.0.2.1')).to.equal(1)
    now += 500
    expect(await takeLogin(rateLimits, '192.0.2.1')).to.equal(undefined)
    expect(await takeLogin(rateLimits, '192.0.2.1')).to.equal(1)
    now += 3_600_000
    await exhaust(rateLimits, '192.0.2.1')
    expect(await takeLogin(rateLimits, '192.0.2.1'), 'it does not grow beyond that').to.equal(1)
    now -= 60_000
    expect(await takeLogin(rateLimits, '192.0.2.1'), 'a clock that goes back').to.equal(1)
  })

  const same: [name: string, first: string, second: string, same: boolean][] = [
    ['two addresses', '192.0.2.1', '192.0.2.2', false],
    ['an address and the same as IPv6 writes it', '192.0.2.1', '::ffff:192.0.2.1', true],
    ['two addresses of one IPv6 network', '2001:db8:0:1::1', '2001:db8::1:ffff:2:3:4', true],
    ['one address in two spellings', '2001:0DB8:0000:0001::1', '2001:db8:0:1:0:0:0:1', true],
    ['two IPv6 networks', '2001:db8:0:1::1', '2001:db8:0:2::1', false],
    ['the own machine and nobody', '::1', '::', true],
    ['an address with a zone', 'fe80::1%eth0', 'fe80::2', true],
  ]
  for (const [name, first, second, shares] of same) {
    it(`${name} ${shares ? 'share' : 'do not share'} it`, async () => {
      const rateLimits = localRateLimits(() => 0)
      await exhaust(rateLimits, first)
      expect((await takeLogin(rateLimits, second)) !== undefined).to.equal(shares)
    })
  }

  it('forgets the places heard of longest ago, so that many addresses cost no memory', async () => {
    const rateLimits = localRateLimits(() => 0)
    await exhaust(rateLimits, '192.0.2.1')
    for (let i = 0; i < 10_000; i++) await takeLogin(rateLimits, `10.0.${i >> 8}.${i & 255}`)
    expect(await takeLogin(rateLimits, '192.0.2.1')).to.equal(undefined)
  })
})

/**
 * Begins to sign in until somebody is refused: many at once, since some are gained in the time that it takes.
 *
 * @param login begins once, and is told how many began before
 * @returns the first refusal, and how many came through
 */
async function refusal<Answer extends { status: number }>(
  login: (i: number) => Promise<Answer>,
): Promise<{ refused: Answer; through: number }> {
  let through = 0
  for (let begun = 0; ; begun += 50) {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => login(begun + i)))
    const refused = answers.find(({ status }) => status === 429)
    through += answers.filter(({ status }) => status !== 429).length
    if (refused) return { refused, through }
  }
}

describe('too many logins', () => {
  it('OIDC-2 are answered 429 with a page, and cost neither the session store nor the provider anything', async () => {
    const site = await startSignInSite()
    try {
      const browser = newBrowser()
      expect((await browser.get(site.url(LOGIN))).status).to.equal(302)
      const asked = site.oidc.requests.length
      const { refused, through } = await refusal(() => browser.get(site.url(`${LOGIN}?redirect-post=/x.html`)))
      expect(through).to.be.at.least(MOST - 1)
      expect(refused.headers.get('retry-after')).to.equal('1')
      expect(refused.headers.get('cache-control')).to.equal('no-store')
      expect(refused.text).to.include(`itemtype="${NS}/1.0/Error"`).and.include('Too many')
      expect(refused.text, 'the way to try again').to.include(`${LOGIN}?redirect-post=%2Fx.html`)
      expect(site.oidc.requests.length).to.equal(asked)
      expect((await browser.get(site.url('/'))).status, 'the rest of the site').to.equal(404)
    } finally {
      await site.close()
    }
  })

  it('are counted by the client behind a proxy that is believed, whatever it claims to have come through', async () => {
    const server = await startServer({
      site: { oidc: { issuer: 'http://127.0.0.1:9', clientId: 'site' } },
      settings: { trustProxy: ['127.0.0.0/8', '10.0.0.0/8'], sites: [{ host: 'localhost' }, { host: '*.example' }] },
    })
    const login = async (forwarded: string, host = 'localhost') => {
      const headers = { 'x-forwarded-for': forwarded, 'x-forwarded-host': host }
      const { status } = await fetch(server.url + LOGIN, { headers, redirect: 'manual' })
      return { status }
    }
    try {
      // The addresses that the client made up are nothing: else nobody would ever be refused.
      await refusal(i => login(`203.0.113.${i % 250}, 192.0.2.1, 10.0.0.7`))
      const { through } = await refusal(() => login('192.0.2.1', 'other.example'))
      expect(through, 'another site').to.be.below(MOST)
      expect(await login('192.0.2.1, 192.0.2.2'), 'another client').to.deep.equal({ status: 503 })
      for (const strange of ['unknown', '192.0.2.9, nonsense', ',', '[::1]:80', '1.2.3.4.5, 10.0.0.1'])
        expect(await login(strange), strange).to.deep.equal({ status: 503 })
    } finally {
      await server.close()
    }
  })
})
