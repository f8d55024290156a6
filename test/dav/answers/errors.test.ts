/** Failures on the mount as documents, for readers of HTML and of XML, and the statuses that clients know (DAV-100 to DAV-102). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { SaxesParser } from 'saxes'
import { NS, page } from '../../support/content.ts'
import { readDom } from '../../support/dom.ts'
import type { Client, Fields } from '../../support/http.ts'
import { changesNothing, outcomeOf, startWire, to, type Wire } from '../wire.ts'

const LOCK =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'
const MKCOL =
  '<D:mkcol xmlns:D="DAV:"><D:set><D:prop><D:resourcetype><x xmlns="urn:x"/></D:resourcetype></D:prop></D:set></D:mkcol>'

/** Types of the Microdata items of a document, as a browser sees them. */
function itemsOf(html: string): (string | null)[] {
  const document = readDom(html)
  return Array.from(document.querySelectorAll('[itemscope]'), element => element.getAttribute('itemtype'))
}

/** Name and namespace of the elements of an XML document, in order. @throws where it is not well formed */
function elementsOf(xml: string): string[] {
  const found: string[] = []
  const parser = new SaxesParser({ xmlns: true })
  parser.on('error', error => {
    throw error
  })
  parser.on('opentag', ({ uri, local }) => void found.push(`{${uri}}${local}`))
  parser.write(xml).close()
  return found
}

describe('failures over the wire', () => {
  let wire: Wire
  let dav: Client
  let token = ''
  before(async () => {
    wire = await startWire({ site: { maxBody: '10KiB' } })
    dav = wire.dav
    await dav('PUT', '/a.html', {}, page('a'))
    await dav('MKCOL', '/dir/')
    await dav('PUT', '/locked.html', {}, page('l'))
    token = (await dav('LOCK', '/locked.html', {}, LOCK)).headers['lock-token'] ?? ''
  })
  after(() => wire.server.close())

  const INDEX: [outcome: string, method: string, path: string, fields?: Fields, body?: string][] = [
    ['400 InvalidPath', 'GET', '/a//b'],
    ['400 MalformedXml', 'PROPFIND', '/', {}, '<'],
    ['400 BadRequest', 'PROPFIND', '/', { Depth: '2' }],
    ['400 BadRequest', 'PUT', '/a.html', { If: 'x' }, 'x'],
    ['400 BadRequest', 'MOVE', '/a.html'],
    ['400 BadRequest', 'UNLOCK', '/locked.html'],
    ['400 BadRequest', 'LOCK', '/a.html'],
    ['400 ChecksumMismatch', 'PUT', '/b.txt', { 'OC-Checksum': 'MD5:00' }, 'x'],
    ['401 Unauthorized', 'GET', '/a.html', { Authorization: undefined }],
    ['403 Reserved', 'PUT', '/-platform/x', {}, 'x'],
    ['403 FiniteDepthOnly', 'PROPFIND', '/', { Depth: 'infinity' }],
    ['403 IllegalMove', 'MOVE', '/a.html', to('/a.html')],
    ['403 Forbidden', 'DELETE', '/'],
    ['403 Forbidden', 'MKCOL', '/new/', { 'Content-Type': 'text/xml' }, MKCOL],
    ['404 NotFound', 'GET', '/none'],
    ['404 NotFound', 'DELETE', '/none'],
    ['405 MethodNotAllowed', 'PUT', '/dir', {}, 'x'],
    ['405 MethodNotAllowed', 'MKCOL', '/a.html'],
    ['405 MethodNotAllowed', 'PATCH', '/a.html'],
    ['405 DirectoryAlreadyExists', 'MKCOL', '/dir/'],
    ['406 NotAcceptable', 'QUERY', '/', { 'Content-Type': 'text/css-selector', Accept: 'text/html' }, 'p'],
    ['409 ParentDirectoryMissing', 'MKCOL', '/no/new/'],
    ['409 LockTokenMismatch', 'UNLOCK', '/a.html', { 'Lock-Token': '<opaquelocktoken:none>' }],
    ['412 PreconditionFailed', 'PUT', '/a.html', { 'If-Match': '"x"' }, 'x'],
    ['412 PreconditionFailed', 'COPY', '/a.html', to('/locked.html', { Overwrite: 'F' })],
    ['412 PreconditionFailed', 'GET', '/a.html', { If: '(["x"])' }],
    ['413 PayloadTooLarge', 'PUT', '/b.txt', {}, 'x'.repeat(10_241)],
    ['414 UriTooLong', 'GET', `/${'x'.repeat(1100)}`],
    ['415 UnsupportedMediaType', 'MKCOL', '/new/', { 'Content-Type': 'text/plain' }, 'x'],
    ['415 UnsupportedMediaType', 'PUT', '/b.txt', { 'Content-Encoding': 'gzip' }, 'x'],
    ['416 SelectorNoMatch', 'PUT', '/a.html', { Range: 'selector=video' }, '<p>x</p>'],
    ['422 InvalidRange', 'POST', '/a.html', {}, 'x'],
    ['423 Locked', 'PUT', '/locked.html', {}, 'x'],
    ['423 Locked', 'LOCK', '/locked.html', {}, LOCK],
    ['502 BadGateway', 'COPY', '/a.html', to('http://evil.example/b.html')],
  ]
  for (const [outcome, method, path, fields, body] of INDEX)
    it(`DAV-102 ${outcome}: ${method} ${path.slice(0, 20)} ${Object.keys(fields ?? {}).join(' ')}`, () =>
      changesNothing(wire.server, async () => {
        const answer = await dav(method, path, fields, body)
        expect(outcomeOf(answer)).to.equal(outcome)
        expect(answer.headers['content-type'], 'DAV-100').to.equal('text/html; charset=utf-8')
        const kind = outcome.slice(4)
        expect(itemsOf(answer.text)).to.deep.equal([`${NS}/Error`, `${NS}/error/${kind}`])
        expect(answer.text).to.include(`content="${outcome.slice(0, 3)}"`)
        expect(answer.text).not.to.match(/node_modules|\.ts\b|\bat .*:\d+:\d+/)
        if (outcome.startsWith('405')) expect(answer.headers.allow).to.match(/^OPTIONS, GET/)
      }))

  it('DAV-100 HEAD and 304 have no body', async () => {
    expect((await dav('HEAD', '/none')).body.length).to.equal(0)
    const { etag } = (await dav('HEAD', '/a.html')).headers
    const unchanged = await dav('GET', '/a.html', { 'If-None-Match': etag })
    expect([unchanged.status, unchanged.body.length]).to.deep.equal([304, 0])
  })

  it('DAV-100 what clients sent is escaped in what they are told', async () => {
    for (const path of ['/%3Cscript%3Ealert(1)%3C/script%3E/x/', '/%22%3E%3Cimg%20src=x%3E/y/'])
      expect((await dav('MKCOL', path)).text).not.to.match(/<script|<img/)
  })

  const CODES: [
    code: string,
    href: string | undefined,
    method: string,
    path: string,
    fields?: () => Fields,
    body?: string,
  ][] = [
    ['propfind-finite-depth', undefined, 'PROPFIND', '/', () => ({ Depth: 'infinity' })],
    ['valid-resourcetype', undefined, 'MKCOL', '/new/', () => ({ 'Content-Type': 'application/xml' }), MKCOL],
    ['supported-report', undefined, 'REPORT', '/', undefined, '<x:other xmlns:x="urn:x"/>'],
    ['lock-token-matches-request-uri', undefined, 'UNLOCK', '/a.html', () => ({ 'Lock-Token': token })],
    ['lock-token-matches-request-uri', undefined, 'LOCK', '/locked.html', () => ({ If: '(<opaquelocktoken:none>)' })],
    ['lock-token-submitted', '/locked.html', 'PUT', '/locked.html', undefined, 'x'],
    ['no-conflicting-lock', '/locked.html', 'LOCK', '/locked.html', undefined, LOCK],
  ]
  for (const [code, href, method, path, fields, body] of CODES)
    it(`DAV-101 ${method}: ${code} in the same bytes for both readers`, async () => {
      const asked = { ...fields?.() }
      const html = await dav(method, path, asked, body)
      const xml = await dav(method, path, { ...asked, Accept: 'application/xml, */*;q=0.1' }, body)
      expect(xml.text).to.equal(html.text)
      expect(html.headers['content-type']).to.equal('text/html; charset=utf-8')
      expect(xml.headers['content-type']).to.equal('application/xml; charset=utf-8')
      const elements = elementsOf(xml.text)
      expect(elements.slice(0, 2)).to.deep.equal(['{DAV:}error', `{DAV:}${code}`])
      expect(elements).to.include('{http://www.w3.org/1999/xhtml}article')
      expect(itemsOf(html.text)[0]).to.equal(`${NS}/Error`)
      expect(html.text, 'never self-closing').to.include(`</D:${code}>`)
      if (href !== undefined) expect(html.text).to.include(`<D:${code}><D:href>${href}</D:href></D:${code}>`)
    })

  const ACCEPTS: [accept: string | undefined, xml: boolean][] = [
    [undefined, false],
    ['*/*', false],
    ['application/*', false],
    ['text/xml', true],
    ['application/xml', true],
    ['application/xml;q=0.5, text/html', false],
    ['application/xml, text/html;q=0.9', true],
    ['text/html, application/xml', false],
    ['application/xml;q=0', false],
  ]
  for (const [Accept, xml] of ACCEPTS)
    it(`DAV-101 Accept: ${Accept ?? 'nothing'} gets ${xml ? 'XML' : 'HTML'}`, async () => {
      const { headers } = await dav('PROPFIND', '/', { Depth: 'infinity', Accept })
      expect(headers['content-type']).to.match(xml ? /^application\/xml/ : /^text\/html/)
    })

  it('DAV-38 any other report is 403 with supported-report', async () => {
    const other = '<x:expand-property xmlns:x="DAV:"/>'
    expect(outcomeOf(await dav('REPORT', '/', { Depth: '0' }, other))).to.equal('403 Forbidden')
  })
})
