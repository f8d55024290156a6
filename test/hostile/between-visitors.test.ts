/** What one visitor brings must not show in what another one gets, and nothing that a request says becomes a field. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { mayMatchRequest } from '../../pipeline/compose/request-document.ts'
import { neededTokens } from '../../pipeline/tree/selector/needs.ts'
import { compileSelector } from '../../pipeline/tree/selector/selector.ts'
import { composed } from '../pipeline/compose/composing.ts'
import { NS, page, put, rulesPage } from '../support/content.ts'
import { type Client, client, connect } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

describe('composed pages between visitors', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/list.html', page('<i>x</i>'))
    await put(server, '/rules.html', rulesPage(['*', 'GET|PUT|POST|MOVE', 'Allow', '/*']))
  })
  after(() => server.close())

  /** Asks with and without a field of the visitor's own, so that a kept answer of the one would reach the other. */
  async function answersTo(path: string) {
    const texts: string[] = []
    for (const value of [undefined, 'gold', undefined, 'tin', 'gold']) {
      const { status, text, headers } = await http('GET', path, value === undefined ? {} : { 'X-Level': value })
      expect(status, text).to.equal(200)
      texts.push(/<b>([^<]*)<\/b>/.exec(text)?.[1] ?? text)
      if (value !== undefined)
        expect(headers['cache-control'], 'of what depends on the visitor').to.match(/private|no-store/)
    }
    return texts
  }

  const EXPECTED = ['', 'gold', '', 'tin', 'gold']
  const pages: [what: string, markup: string][] = [
    ['request.headers in a template', '<b p:template="text/liquid">{{ request.headers["x-level"] }}</b>'],
  ]
  for (const [at, [what, markup]] of pages.entries())
    it(`COMP-22 COMP-114 ${what} is never what another visitor brought`, async () => {
      await put(server, `/p${at}.html`, composed(markup))
      expect(await answersTo(`/p${at}.html`)).to.deep.equal(EXPECTED)
    })

  it('COMP-114 a selector of a template finds what is in the request of its own visitor', async () => {
    const markup = `<div r:x="meta[itemprop='x-level']" p:template="text/liquid"><b>{{ x | size }}</b></div>`
    await put(server, '/template.html', composed(markup))
    expect(await answersTo('/template.html')).to.deep.equal(['0', '1', '0', '1', '1'])
  })

  it('COMP-114 that nothing is found in a request is not kept for the next one, which may hold it', async () => {
    await put(server, '/count.html', composed(`<b e:n="\${meta[itemprop='x-level']}.count()"><p:stamp n/></b>`))
    expect(await answersTo('/count.html')).to.deep.equal(['0', '1', '0', '1', '1'])
  })

  const selectors: [selector: string, mayMatch: boolean][] = [
    ['meta[itemprop="x"]', true],
    ['*', true],
    [':has(> meta)', true],
    [`[itemtype="${NS}/Claims"] meta`, true],
    ['.red', false],
    ['#red, .red', false],
    ['.red, meta', true],
    ['li', false],
    ['[itemtype="https://schema.org/Product"]', false],
  ]
  for (const [selector, mayMatch] of selectors)
    it(`COMP-114 ${selector} ${mayMatch ? 'may find something' : 'finds nothing'} in any request`, () => {
      expect(mayMatchRequest(neededTokens(compileSelector(selector)), NS)).to.equal(mayMatch)
    })

  const lines = ['\r\nX-Injected: 1', '%0d%0aX-Injected:%201', '\u010d\u010aX-Injected: 1', '"\r\n\r\n<script>']
  for (const [at, text] of lines.entries())
    it(`SEC-1 HTTP-1 no line of a request becomes a field of an answer (${at + 1})`, async () => {
      const encoded = encodeURIComponent(text)
      for (const target of [
        `/list.html?${encoded}`,
        `/${encoded}`,
        `/dir${encoded}/`,
        `/-platform/login?return=${encoded}`,
      ]) {
        const { headers } = await http('GET', target)
        expect(Object.keys(headers), target).to.not.include('x-injected')
      }
      for (const field of ['Range', 'Destination', 'If-Match', 'Accept']) {
        const value = field === 'Range' ? `selector=[title="${encoded}"]` : encoded
        const { headers } = await http(field === 'Destination' ? 'MOVE' : 'GET', '/list.html', { [field]: value })
        expect(Object.keys(headers), field).to.not.include('x-injected')
      }
    })

  it('SSN-1 a session that a visitor makes up is not taken over: the answer brings another one', async () => {
    for (const value of ['fixed', 'a.b', `${'A'.repeat(43)}.${'B'.repeat(43)}`, '']) {
      const connection = await connect(server.port)
      connection.send(
        Buffer.from(
          `GET /list.html HTTP/1.1\r\nHost: localhost:${server.port}\r\nCookie: platform_session=${value}\r\nCookie: platform_session=fixed2\r\n\r\n`,
        ),
      )
      const { headers } = await connection.receive()
      const given = /platform_session=([^;]*)/.exec(String(headers['set-cookie']))?.[1]
      if (!/^public/.test(String(headers['cache-control'])))
        expect(given, value).to.be.a('string').and.not.be.oneOf([value, 'fixed2', undefined])
      connection.close()
    }
  })
})
