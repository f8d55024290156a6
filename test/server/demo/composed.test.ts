/** The pages of the demo site that are put together, as visitors get them. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { put, remove } from '../../support/content.ts'
import { readDom } from '../../support/dom.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { atomFaults } from './atom.ts'
import { pages, text } from './pages.ts'

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
    const document = readDom(answer.text)
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

  it('every page has the frame, with the page that one is on marked in it', async () => {
    for (const { path, document: expected } of pages) {
      if (/^\/(members|editors)\//.test(path)) continue
      const { document, text } = await show(path)
      expect(text, path).not.to.match(/\{\{|\{%|xmlns:|\sp:|<p:/)
      for (const part of ['.masthead', '.foot'])
        expect(document.querySelector(part)?.outerHTML, `${path} ${part}`).to.equal(
          expected.querySelector(part)?.outerHTML,
        )
    }
  })

  it('authors have pages by a route', async () => {
    const { list, document } = await show('/by/Tobias%20Linde.html')
    expect(document.title).to.equal('Bench: Tobias Linde')
    expect(list('h1')).to.deep.equal(['Tobias Linde'])
    expect(list('main ul a')).to.deep.equal(['Eleven clocks'])
    expect((await show('/by/Nobody.html')).text).to.contain('Has not written for Bench yet')
  })

  it('the front page leads with the newest article, and shows the others below', async () => {
    const { document, list, text } = await show('/')
    expect(list('h1')).to.deep.equal(['Four metres to the left'])
    expect(list('.teaser h2')).to.deep.equal(['Eleven clocks', 'A field guide to the bus shelter'])
    expect(list('main .byline')).to.deep.equal([
      'Marit Osei, 2 November 2026',
      'Tobias Linde, 1 November 2026',
      'Ines Kwiatek, 31 October 2026',
    ])
    expect(text).not.to.match(/\{\{|\{%|xmlns:|\sp:|<p:/)
    for (const link of document.querySelectorAll('main [href], main [src], head [href]')) {
      const [address = ''] = (link.getAttribute('href') ?? link.getAttribute('src') ?? '').split('#')
      expect((await send('GET', address)).status, address).to.equal(address === '/members/' ? 401 : 200)
    }
  })

  it('the feed is Atom, and what it lists is there', async () => {
    const { answer, document, list } = await show('/feed.xml')
    expect(answer.headers['content-type']).to.contain('xml')
    expect(atomFaults(answer.text)).to.deep.equal([])
    expect(list('entry > title')).to.deep.equal([
      'Four metres to the left',
      'Eleven clocks',
      'A field guide to the bus shelter',
    ])
    for (const link of document.querySelectorAll('link'))
      expect((await send('GET', link.getAttribute('href') ?? '')).status, link.outerHTML).to.equal(200)
  })

  it('a new article is on the front page and in the feed with the next request, whatever its words are', async () => {
    const article = text('/articles/eleven-clocks.html')
      .replace('2026-11-01T07:00:00Z', '2026-11-12T07:00:00Z')
      .replace('<h1 itemprop="headline">Eleven clocks', '<h1 itemprop="headline">Clocks &amp; &lt;b&gt; "cats" ]]&gt;')
    await put(server, '/articles/new & old.html', article)
    const title = 'Clocks & <b> "cats" ]]>'
    expect((await show('/')).list('h1')).to.deep.equal([title])
    const feed = await send('GET', '/feed.xml')
    expect(atomFaults(feed.text)).to.deep.equal([])
    const document = readDom(feed.text, 'application/xml')
    expect(document.querySelector('entry > title')?.textContent).to.equal(title)
    const address = document.querySelector('entry > link')?.getAttribute('href') ?? ''
    expect(address).to.equal('/articles/new%20&%20old.html')
    expect((await send('GET', address)).status).to.equal(200)
    await remove(server, '/articles/new & old.html')
  })

  const broken: [fault: string, change: (feed: string) => string][] = [
    ['4.1.2 entry has 0 times id', feed => feed.replace(/<entry>([\s\S]*?)<id>.*?<\/id>/, '<entry>$1')],
    ['4.2.6 no absolute IRI: /x', feed => feed.replace(/<id>.*?<\/id>/, '<id>/x</id>')],
    ['3.3 no date: 2 November', feed => feed.replace(/<updated>.*?<\/updated>/, '<updated>2 November</updated>')],
    ['4.1.2 an entry has no author', feed => feed.replace(/<author>.*?<\/author>/, '')],
    ['4.1.1 feed has 2 times title', feed => feed.replace('<subtitle>', '<title>x</title><subtitle>')],
    ['3.1.1 markup in summary', feed => feed.replace('<summary>', '<summary><b/>')],
    ['4.1.1 there is no link to the feed itself', feed => feed.replace('rel="self"', 'rel="via"')],
  ]
  for (const [fault, change] of broken)
    it(`a feed is not Atom where ${fault}`, async () => {
      expect(atomFaults(change((await send('GET', '/feed.xml')).text))).to.include(fault)
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
