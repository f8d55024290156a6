import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { composed } from '../../pipeline/compose/composing.ts'
import { movingBetween } from '../../support/between.ts'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client, type Received } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const item = (content: string) => `<main id="m" itemscope itemtype="urn:t"><b itemprop="name">${content}</b></main>`

/** What is read of a page goes by its newest version, also by whether that is one which is put together (COMP-2, HTTP-4). */
describe('A page that is to be put together since it was looked for', () => {
  let server: TestServer
  let http: Client
  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    http = client(server)
    await put(server, '/rules.html', rulesPage(['*', 'QUERY|PUT|DELETE', 'Allow', '/page.html']))
    await put(server, '/parts.html', page('<i id="part">shown</i>'))
  })
  after(() => server.close())

  const css = { 'Content-Type': 'text/css-selector' }
  const element = { Range: 'selector=b' }
  const READS: [what: string, read: () => Promise<Received>, shown: string][] = [
    ['an element', () => http('GET', '/page.html', element), '<b itemprop="name"><i id="part">shown</i></b>'],
    ['the whole as JSON-LD', () => http('GET', '/page.html', { Accept: 'application/ld+json' }), '"name":"shown"'],
    ['what a QUERY finds', () => http('QUERY', '/page.html', css, 'b'), '<i id="part">shown</i>'],
    ['the target of a DELETE', () => http('DELETE', '/page.html', { Range: 'selector=p\\:include' }), 'NoMatch'],
  ]
  for (const [what, read, shown] of READS)
    it(`COMP-2, HTTP-4 ${what} is not that of its source`, async () => {
      await put(server, '/page.html', page(item('stored')))
      const source = composed(item(`<p:include selector="#part" resource="/parts.html"/>`))
      const changed = movingBetween(server.site, '/page.html', () => put(server, '/page.html', source))
      const { text } = await read()
      await changed()
      expect(text).to.include(shown)
      expect(text).to.not.include('<p:include')
    })
})
