import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, putAll } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const HTML = 'text/html; charset=utf-8'
const JSON_LD = 'application/ld+json; charset=utf-8'

describe('negotiation', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await putAll(server, {
      '/page.html': page('<p itemscope><b itemprop="n">1</b></p>'),
      '/feed.xml': '<feed/>',
      '/data.json': '{}',
    })
  })
  after(() => server.close())

  const whole: [accept: string | undefined, type: string][] = [
    [undefined, HTML],
    ['', HTML],
    ['*/*', HTML],
    ['text/html', HTML],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', HTML],
    ['application/json', HTML],
    ['image/png', HTML],
    ['application/ld+json', JSON_LD],
    ['APPLICATION/LD+JSON', JSON_LD],
    ['application/ld+json;q=0', HTML],
    ['application/ld+json; profile="http://www.w3.org/ns/json-ld#compacted"', JSON_LD],
    ['application/ld+json, text/html', HTML],
    ['application/ld+json, text/html;q=0.9', JSON_LD],
    ['application/ld+json;q=0.5, text/html;q=0.4', JSON_LD],
    ['application/ld+json, */*', HTML],
    ['application/ld+json, */*;q=0.1', JSON_LD],
    ['application/*', JSON_LD],
    ['application/*, text/*;q=0.5', JSON_LD],
    ['text/html;q=0, */*', JSON_LD],
    ['text/html;q=0', HTML],
    ['multipart/mixed', HTML],
    ['nonsense', HTML],
    [',,;', HTML],
  ]
  for (const [accept, type] of whole) {
    it(`HTTP-57 Accept: ${accept} gives ${type}`, async () => {
      const { status, headers } = await http('GET', '/page.html', { Accept: accept })
      expect(status).to.equal(200)
      expect(headers['content-type']).to.equal(type)
    })
  }

  const selected: [accept: string | undefined, type: RegExp][] = [
    [undefined, /^text\/html/],
    ['*/*', /^text\/html/],
    ['multipart/*', /^text\/html/],
    ['multipart/mixed', /^multipart\/mixed/],
    ['multipart/mixed;q=0', /^text\/html/],
    ['multipart/mixed;q=0.1, text/html', /^multipart\/mixed/],
    ['multipart/mixed, application/ld+json', /^multipart\/mixed/],
    ['multipart/mixed;q=0.5, application/ld+json;q=0.5', /^multipart\/mixed/],
    ['multipart/mixed;q=0.5, application/ld+json', /^application\/ld\+json/],
    ['application/ld+json', /^application\/ld\+json/],
    ['application/ld+json, text/html', /^text\/html/],
  ]
  for (const [accept, type] of selected) {
    it(`HTTP-57 with a selector, Accept: ${accept} gives ${type.source}`, async () => {
      const { status, headers } = await http('GET', '/page.html', { Accept: accept, Range: 'selector=p' })
      expect(status).to.equal(206)
      expect(headers['content-type']).to.match(type)
    })
  }

  it('HTTP-57 several Accept lines are one list', async () => {
    const { headers } = await http('GET', '/page.html', { Accept: ['application/ld+json', 'text/html;q=0.5'] })
    expect(headers['content-type']).to.equal(JSON_LD)
  })

  it('HTTP-57 XML documents and blobs ignore Accept; GET is never 406', async () => {
    for (const Accept of ['application/ld+json', 'image/png', 'multipart/mixed', 'text/html;q=0', '*/*;q=0']) {
      expect((await http('GET', '/feed.xml', { Accept })).headers['content-type'], Accept).to.equal('application/xml')
      expect((await http('GET', '/data.json', { Accept })).headers['content-type'], Accept).to.equal('application/json')
      expect((await http('GET', '/page.html', { Accept })).status, Accept).to.equal(200)
    }
  })
})
