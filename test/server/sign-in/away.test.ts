/** Signing out while the place where sessions are kept is out of reach. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { startRedis, type TestRedis } from '../../pipeline/coordination/redis-server.ts'
import { put, rulesPage } from '../../support/content.ts'
import { newBrowser } from './browser.ts'
import { COOKIE, LOGIN, LOGOUT } from './fixture.ts'
import { type StubSite, startStubSite } from './stub-site.ts'

describe('sessions in a Redis that hangs', () => {
  let redis: TestRedis
  let site: StubSite
  before(async () => {
    redis = await startRedis()
    site = await startStubSite({ defaultGet: 'deny' }, {}, { redis: redis.url })
    await put(site.server, '/rules.html', rulesPage(['users', 'GET', 'Allow', '/none.html']))
  })
  after(async () => {
    redis.goOn()
    await site.close()
    await redis.stop()
  })

  it('SSN-4 SSN-6 OIDC-7 nobody is told to be signed out who is not: 503, and the sign-in stands until a sign-out succeeds', async () => {
    const browser = await site.as({ sub: 'ann' })
    const cookie = browser.cookie('localhost', COOKIE)
    const read = async () => (await browser.get(site.url('/none.html'))).status
    expect(await read()).to.equal(404)
    redis.hang()
    const anonymous = newBrowser()
    for (const method of ['GET', 'POST']) {
      const { status, headers } = await browser.send(method, site.url(LOGOUT))
      expect(status, method).to.equal(503)
      expect(headers.get('retry-after'), method).to.match(/^\d+$/)
      expect((await anonymous.send(method, site.url(LOGOUT))).status, `${method}, nobody`).to.be.oneOf([302, 303])
    }
    expect((await browser.get(site.url(LOGIN))).status).to.equal(503)
    expect(await read()).to.equal(401)
    redis.goOn()
    while ((await read()) !== 404) await new Promise(resolve => setTimeout(resolve, 20))
    expect(browser.cookie('localhost', COOKIE)).to.equal(cookie)
    expect((await browser.get(site.url(LOGOUT))).status).to.equal(302)
    expect(await read()).to.equal(401)
    browser.setCookie('localhost', COOKIE, cookie ?? '')
    expect(await read()).to.equal(401)
  })
})
