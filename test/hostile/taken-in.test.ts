/**
 * Writes whose markup takes in what stands around it, such as a `plaintext`: the answer shows the new element (HTTP-81), and
 * with it nothing that its sender may not read (SEC-6).
 */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { composed } from '../pipeline/compose/composing.ts'
import { page, put, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const BODY = '<div id="in" title="SECRET">SECRET<b id="b">SECRET</b></div><p>SECRET</p>'
const PAGE = page(BODY)

const WRITES: [method: string, range: string, body: string][] = [
  ['POST', 'html; placement=prepend', '<p>x'],
  ['POST', 'html; placement=prepend', 'x'],
  ['POST', 'head; placement=after', '<a>x'],
  ['POST', 'head; placement=before', '<table>x'],
  ['POST', 'body; placement=prepend', '<plaintext>'],
  ['POST', '#in; placement=before', '<plaintext>'],
  ['PUT', 'title', '<plaintext>'],
  ['PUT', '#b', '<plaintext>'],
]

describe('markup that takes in what stands around it', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' } })
    http = client(server.port)
    await put(server, '/data.html', PAGE)
  })
  after(() => server.close())
  beforeEach(async () => {
    await put(server, '/page.html', PAGE)
    await put(server, '/bare.html', '<html><body title="SECRET"></body></html>')
    await put(
      server,
      '/front.html',
      composed('<p:include selector="#in" resource="/data.html"></p:include>', '<title>t</title>'),
    )
  })
  const allow = (methods: string, resources: string) =>
    put(server, '/rules.html', rulesPage(['*', methods, 'Allow', resources]))

  for (const [method, range, body] of WRITES)
    it(`SEC-6 HTTP-81 ${method} ${body} at ${range} shows nothing of a page that cannot be read`, async () => {
      for (const methods of ['POST', 'PUT|POST']) {
        await allow(methods, '/page.html')
        const { status, text } = await http(method, '/page.html', { Range: `selector=${range}` }, body)
        expect(status, text).to.be.oneOf(methods === 'POST' ? [401, 422] : [422])
        expect(text).to.not.include('SECRET')
        expect((await server.site.find('/page.html'))?.bytes?.toString()).to.equal(PAGE)
      }
    })

  it('SEC-6 nor attributes of the element that its start tag is merged with', async () => {
    await allow('PUT|POST', '/bare.html')
    const sent = { Range: 'selector=html; placement=prepend' }
    const { status, text } = await http('POST', '/bare.html', sent, '<body class="x">')
    expect(status).to.equal(422)
    expect(text).to.not.include('SECRET')
  })

  it('SEC-6 COMP-86 nor what a page that can be read has not taken from the document that is written', async () => {
    await allow('GET|PUT|POST', '/front.html')
    await put(server, '/more.html', rulesPage(['*', 'PUT', 'Allow', '/data.html']))
    const sent = { Range: 'selector=#in; placement=after' }
    const { status, text } = await http('POST', '/front.html', sent, '<plaintext>')
    expect(status).to.equal(422)
    expect(text).to.not.include('SECRET')
    await put(server, '/more.html', page(''))
  })

  it('HTTP-81 whoever may read and write the page gets the element as it is stored', async () => {
    await allow('GET|PUT|POST', '/page.html')
    const sent = { Range: 'selector=body; placement=prepend' }
    const { status, text } = await http('POST', '/page.html', sent, '<plaintext>')
    expect(status, text).to.equal(206)
    expect(text).to.include('SECRET')
  })

  it('ABS-5 markup that the page keeps as it was sent is written without a look at the rest', async () => {
    await allow('POST|PUT', '/page.html')
    for (const body of ['<p>x', '<a>x</a>y', '<li>x', '<b><p></b>x</p>']) {
      const { status, text } = await http('POST', '/page.html', { Range: 'selector=#in' }, body)
      expect(status, body).to.equal(206)
      expect(text).to.not.include('SECRET')
    }
  })
})
