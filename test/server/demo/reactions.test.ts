/** The reactions of the demo site, as a visitor meets them. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { eventually } from '../../support/eventually.ts'
import { startServer, type TestServer } from '../../support/server.ts'

describe('Demo site, reactions', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ demo: true })
  })
  after(() => server.close())

  const sign = (text: string) =>
    fetch(`${server.url}/guestbook.html`, {
      method: 'POST',
      headers: { Range: 'selector=#entries' },
      body: `<li class="entry" id="entry-t"><p class="by"><b class="name">T</b> <time datetime="2026-11-09">9 November 2026</time></p><p>${text}</p></li>`,
    })

  it('REA-50 the guest book does not take entries that are mostly addresses', async () => {
    const refused = await sign('http://a.example http://b.example http://c.example')
    expect([refused.status, await refused.text()]).to.deep.equal([422, '<p>Please sign with fewer addresses.</p>'])
  })

  it('REA-88 takes others, and calls itself afterwards', async () => {
    expect((await sign('A good bench. See http://a.example')).status).to.equal(206)
    await eventually(() => expect(server.running.outbound.figures().delivered).to.equal(1))
  })

  it('REA-71 an article that is not there is a page of the site', async () => {
    const missing = await fetch(`${server.url}/articles/none.html`)
    expect([missing.status, await missing.text()].join()).to.match(/^404,.*Not in this number/)
    expect((await fetch(`${server.url}/articles/eleven-clocks.html`)).status).to.equal(200)
  })
})
