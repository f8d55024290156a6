/** The pages of the demo site that are put together, as visitors get them. */

import { expect } from 'chai'
import { JSDOM } from 'jsdom'
import { after, before, describe, it } from 'mocha'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

describe('Demo site, composed pages', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer({ demo: true })
    send = client(server)
  })
  after(() => server.close())

  async function show(path: string) {
    const answer = await send('GET', path)
    expect(answer.status, answer.text).to.equal(200)
    const { document } = new JSDOM(answer.text).window
    const list = (selector: string) =>
      [...document.querySelectorAll(selector)].map(element => element.textContent?.trim())
    return { answer, document, list, text: answer.text }
  }

  it('the archive lists the articles with their authors, two at a time', async () => {
    const first = await show('/archive.html')
    expect(first.list('#articles .title')).to.deep.equal(['A field guide to the bus shelter', 'Eleven clocks'])
    expect(first.list('#articles a:not(.title)')).to.deep.equal(['Ines Kwiatek', 'Tobias Linde'])
    expect(first.document.querySelector('link[rel=next]')?.getAttribute('href')).to.equal('?paginate:page=2')
    const second = await show('/archive.html?paginate:page=2')
    expect(second.list('#articles .title')).to.deep.equal(['Four metres to the left'])
    for (const { text, document } of [first, second]) {
      expect(text).not.to.match(/\{\{|\{%|xmlns:|\sp:|<p:/)
      for (const landmark of ['main', 'body > header nav', 'body > footer', 'h1'])
        expect(document.querySelectorAll(landmark), landmark).to.have.length(1)
      for (const link of document.querySelectorAll('#articles a'))
        expect((await send('GET', link.getAttribute('href') ?? '')).status, link.outerHTML).to.equal(200)
    }
  })

  it('authors have pages by a route', async () => {
    const { list, document } = await show('/by/Tobias%20Linde.html')
    expect(document.title).to.equal('Bench: Tobias Linde')
    expect(list('h1')).to.deep.equal(['Tobias Linde'])
    expect(list('main ul a')).to.deep.equal(['Eleven clocks'])
    expect((await show('/by/Nobody.html')).text).to.contain('Has not written for Bench yet')
  })

  it('the reading list is each visitor’s own', async () => {
    const answer = await send(
      'POST',
      '/archive.html',
      { Range: 'selector=#reading-list' },
      '<li><a href="/">x</a></li>',
    )
    expect(answer.status).to.equal(206)
    const cookie = answer.headers['set-cookie']?.split(';')[0]
    const list = async (own?: string) =>
      (await send('GET', '/archive.html', { Range: 'selector=#reading-list', Cookie: own })).text
    expect(await list(cookie)).to.equal('<ul id="reading-list"><li><a href="/">x</a></li></ul>')
    expect(await list()).to.equal('<ul id="reading-list"></ul>')
  })
})
