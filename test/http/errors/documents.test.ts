import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { type Item, topLevelItems } from '../../../pipeline/tree/microdata.ts'
import { type AnyNode, type ElementNode, isElement } from '../../../pipeline/tree/nodes.ts'
import { compileSelector, selectAll, selectFirst } from '../../../pipeline/tree/selector/selector.ts'
import { textContent } from '../../../pipeline/tree/serialize.ts'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, connect, type Fields, type Received } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const NS = 'https://vocabulary.test/v'
const ERROR_NS = 'https://errors.test/e'

/** What a client reads from an error document. */
interface Failure {
  /** Element that carries the one top-level item. */
  on: string
  type: string
  heading: string
  properties: Record<string, string | Failure['type'][]>
}

function failureOf({ text }: Received): Failure {
  const document = parseDocument('html', text)
  const all = (selector: string) => selectAll(compileSelector(selector), document)
  const items = topLevelItems(document.root)
  const [item] = items
  const [carrier] = all('[itemscope]:not([itemprop])')
  if (items.length !== 1 || !item || !carrier) throw new Error(`${items.length} top-level items`)
  return {
    on: carrier.tagName,
    type: item.types.join(' '),
    heading: all('h1').map(textContent).join('|'),
    properties: Object.fromEntries(
      item.properties.map(({ name, value }) => [name, typeof value === 'string' ? value : (value as Item).types]),
    ),
  }
}

describe('error documents', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    const site = { ns: NS, errorNs: ERROR_NS, brand: 'acme', maxBody: 4096 }
    server = await startServer({ site })
    http = client(server.port)
    const rules = rulesPage(
      ['*', 'GET', 'Deny', '/shut/*'],
      ['*', 'PUT|POST|DELETE', 'Allow', '/w/*'],
      ['*', 'MOVE', 'Allow', '/w/*'],
      ['*', 'PATCH|QUERY', 'Allow', '/*'],
      ['*', 'MOVE', 'Deny', '/w/locked/*'],
    ).replaceAll('https://platform.example/ns', NS)
    await putAll(server, {
      '/page.html': page('<p id="p">x</p>'),
      '/w/page.html': page('<ul><li id="a"></li></ul><br>'),
      '/style.css': 'p{}',
      '/shut/page.html': page('x'),
      '/rules.html': rules,
    })
  })
  after(() => server.close())

  it('HTTP-56 HEAD tells the headers of what GET gets, whatever has failed', async () => {
    const targets: [target: string, fields?: Fields][] = [
      ['/shut/page.html'],
      ['/shut/page.html?q=1', { Range: 'selector=p', Accept: 'multipart/mixed' }],
      ['/none.html', { Accept: 'application/json' }],
      ['/none.html'],
      ['/page.html', { Range: 'selector=h6' }],
    ]
    for (const [target, fields] of targets) {
      const [get, head] = [await http('GET', target, fields), await http('HEAD', target, fields)]
      expect(get.status, target).to.be.above(400)
      expect(head.body.length, target).to.equal(0)
      const { date: _, 'set-cookie': __, ...expected } = get.headers
      expect(head.headers, target).to.include(expected)
    }
  })

  /** Every kind that this surface answers by itself, with a request that meets it. */
  const kinds: [kind: string, status: number, method: string, target: string, fields?: Fields, body?: string][] = [
    ['InvalidPath', 400, 'GET', '/%zz'],
    ['UriTooLong', 414, 'GET', `/?${'a'.repeat(8192)}`],
    ['UriTooLong', 414, 'PUT', `/w/${'a'.repeat(256)}`, {}, 'x'],
    ['InvalidRange', 400, 'GET', '/page.html', { Range: 'selector=' }],
    ['InvalidRange', 400, 'PUT', '/w/page.html', { Range: 'bytes=0-1' }, 'x'],
    ['InvalidSelector', 422, 'GET', '/page.html', { Range: 'selector=p[' }],
    ['InvalidPlacement', 400, 'POST', '/w/page.html', { Range: 'selector=ul; placement=within' }, '<li>'],
    ['InvalidPlacement', 400, 'POST', '/w/page.html', { Range: 'selector=html; placement=after' }, '<li>'],
    ['InvalidPlacement', 422, 'POST', '/w/page.html', { Range: 'selector=br' }, '<li>'],
    ['EmptyBody', 400, 'PUT', '/w/page.html', { Range: 'selector=ul' }, ' '],
    ['EmptyBody', 422, 'QUERY', '/page.html', { 'Content-Type': 'text/css-selector' }, ''],
    ['InvalidFragment', 422, 'PUT', '/w/page.html', { Range: 'selector=ul' }, 'text'],
    ['NotFound', 404, 'GET', '/none.html'],
    ['SelectorNoMatch', 416, 'GET', '/page.html', { Range: 'selector=h6' }],
    ['PreconditionFailed', 412, 'GET', '/page.html', { 'If-Match': '"x"' }],
    ['PreconditionFailed', 412, 'PUT', '/w/none.html', { 'If-Match': '*' }, 'x'],
    ['NotAcceptable', 406, 'QUERY', '/page.html', { 'Content-Type': 'text/css-selector', Accept: 'text/html' }, 'p'],
    ['UnsupportedMediaType', 415, 'PUT', '/w/x.html', { 'Content-Encoding': 'gzip' }, 'x'],
    ['BadRequest', 400, 'PUT', '/w/x.html', { 'Content-Range': 'bytes 0-0/1' }, 'x'],
    ['NotHtml', 422, 'GET', '/style.css', { Range: 'selector=p' }],
    ['MoveMissingHeaders', 422, 'MOVE', '/w/page.html', {}],
    ['MoveMissingHeaders', 422, 'MOVE', '/w/page.html', { Destination: '/w/page.html', Range: 'selector=li' }],
    [
      'MoveCrossResource',
      501,
      'MOVE',
      '/w/page.html',
      { Destination: '/w/x.html', Range: 'selector=li', 'Destination-Range': 'selector=ul; placement=append' },
    ],
    ['IllegalMove', 403, 'MOVE', '/w/page.html', { Destination: '/w/page.html' }],
    ['BadGateway', 502, 'MOVE', '/w/page.html', { Destination: 'http://elsewhere.example/w/x.html' }],
    ['Reserved', 403, 'PUT', '/.acme/x', {}, 'x'],
    ['MethodNotAllowed', 405, 'LOCK', '/page.html'],
    ['NotImplemented', 501, 'PATCH', '/page.html', {}, 'x'],
    ['NotImplemented', 501, 'PURGE', '/page.html'],
    ['Conflict', 409, 'PUT', '/w/page.html/below.html', {}, 'x'],
  ]
  for (const [kind, status, method, target, fields, body] of kinds) {
    it(`HTTP-170 ${status} ${kind}: ${method} ${target.slice(0, 30)} ${JSON.stringify(fields ?? {})}`, async () => {
      const received = await http(method, target, fields, body)
      expect(received.status).to.equal(status)
      expect(received.headers['content-type']).to.equal('text/html; charset=utf-8')
      expect(received.headers['content-length']).to.equal(String(received.body.length))
      const { on, type, heading, properties } = failureOf(received)
      expect({ on, type }).to.deep.equal({ on: 'article', type: `${NS}/Error` })
      expect(heading).to.match(new RegExp(`^${status} [A-Z]`))
      expect(properties.status).to.equal(String(status))
      expect(properties.kind).to.equal(kind)
      expect(properties.type).to.deep.equal([`${ERROR_NS}/${kind}`])
      expect(properties.message).to.match(/^[A-Z].*\.$/)
      if (status !== 412) expect(received.headers).not.to.have.property('etag')
    })
  }

  const READERS: [who: string, accept: string | undefined, styled: boolean][] = [
    ['a browser', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
    ['curl', '*/*', false],
    ['a program', undefined, false],
  ]
  for (const [who, accept, styled] of READERS)
    it(`HTTP-170 each is a complete page in English that reads well, for ${who} ${styled ? 'with' : 'without'} style`, async () => {
      const { text } = await http('GET', '/none.html', { Accept: accept })
      const document = parseDocument('html', text)
      const one = (selector: string) => selectFirst(compileSelector(selector), document)
      expect(text.startsWith('<!DOCTYPE html>')).to.equal(true)
      expect(one('html[lang=en] > head > meta[charset]'), 'charset').to.not.equal(undefined)
      expect(textContent(one('title') as AnyNode)).to.equal('404 Not Found')
      expect(one('script, link, iframe, img, [onclick]'), 'nothing to load or run').to.equal(undefined)
      expect(selectAll(compileSelector('h1'), document)).to.have.length(1)
      expect(selectAll(compileSelector('style'), document)).to.have.length(styled ? 1 : 0)
    })

  it('HTTP-170 DENY-2 401 of rules: an item on body, status line, message, resource, link', async () => {
    const received = await http('PUT', '/plan.html', {}, 'x')
    expect(received.status).to.equal(401)
    expect(failureOf(received)).to.deep.equal({
      on: 'body',
      type: `${NS}/1.0/Error`,
      heading: '401 Unauthorized',
      properties: { message: 'Authentication required to PUT this resource.', resource: '/plan.html' },
    })
    expect(linksOf(received)).to.deep.equal(['/-acme/oidc/login'])
  })

  it('DENY-2 the login link of a GET comes back to the requested address', async () => {
    const received = await http('GET', '/shut/caf%C3%A9.html?a=b&c=%zz')
    expect(linksOf(received)).to.deep.equal([
      '/-acme/oidc/login?redirect-post=%2Fshut%2Fcaf%25C3%25A9.html%3Fa%3Db%26c%3D%25zz',
      '/',
    ])
    expect(failureOf(received).properties.resource).to.equal('/shut/café.html')
  })

  it('HTTP-170 of a refused Destination the document names the Destination', async () => {
    const received = await http('MOVE', '/w/page.html', { Destination: '/w/locked/x.html' })
    expect(received.status).to.equal(401)
    expect(failureOf(received).properties.resource).to.equal('/w/locked/x.html')
    const source = await http('MOVE', '/page.html', { Destination: '/w/x.html' })
    expect(failureOf(source).properties.resource).to.equal('/page.html')
  })

  it('HTTP-170 413: status and message, and the connection is closed', async () => {
    const received = await http('PUT', '/w/big.txt', {}, 'x'.repeat(4097))
    expect(received.status).to.equal(413)
    expect(received.headers.connection).to.equal('close')
    const { type, heading, properties } = failureOf(received)
    expect({ type, heading, status: properties.status }).to.deep.equal({
      type: `${NS}/Error`,
      heading: '413 Payload Too Large',
      status: '413',
    })
    expect(properties.message).to.match(/4096/)
  })

  it('HTTP-170 HEAD without content, with the length a GET would have', async () => {
    for (const [target, fields] of [
      ['/none.html', {}],
      ['/shut/page.html', {}],
      ['/page.html', { Range: 'selector=h6' }],
      ['/%zz', {}],
    ] as const) {
      const head = await http('HEAD', target, fields)
      expect(head.status).to.be.at.least(400)
      expect(head.body.length).to.equal(0)
      expect(head.headers['content-type']).to.equal('text/html; charset=utf-8')
    }
  })

  it('HTTP-38 412 of a write names the current tag', async () => {
    const current = await http('GET', '/w/page.html')
    const whole = await http('PUT', '/w/page.html', { 'If-Match': '"x"' }, 'x')
    expect(whole.headers.etag).to.equal(current.headers.etag)
    const element = await http('PUT', '/w/page.html', { Range: 'selector=ul', 'If-Match': '"x"' }, '<ul></ul>')
    const fragment = await http('GET', '/w/page.html', { Range: 'selector=ul' })
    expect(element.headers.etag).to.equal(fragment.headers.etag)
    expect((await http('PUT', '/w/none.html', { 'If-Match': '*' }, 'x')).headers).not.to.have.property('etag')
  })

  it('DENY-4 a refusal carries nothing of its target', async () => {
    for (const fields of [{}, { Range: 'selector=p' }, { Range: 'bytes=0-1' }, { 'If-None-Match': '*' }]) {
      const { status, headers, text } = await http('GET', '/shut/page.html', fields)
      expect(status).to.equal(401)
      expect(headers).not.to.have.any.keys('etag', 'last-modified', 'content-range', 'accept-ranges', 'location')
      expect(headers['cache-control']).to.equal('no-store')
      expect(text).not.to.include('rules.html')
    }
  })

  describe('HTTP-171 headers', () => {
    it('401 challenges with a scheme that browsers ignore', async () => {
      for (const [method, target] of [
        ['GET', '/shut/page.html'],
        ['HEAD', '/shut/page.html'],
        ['PUT', '/page.html'],
        ['MOVE', '/page.html'],
      ] as const) {
        const { headers } = await http(method, target, { Destination: '/x.html' }, method === 'PUT' ? 'x' : undefined)
        expect(headers['www-authenticate'], method).to.equal('Session realm="site"')
      }
    })

    it('DENY-5 also for somebody who sends credentials, which make no principal here', async () => {
      for (const Authorization of ['Basic ZWRpdG9yOmVkaXRvcg==', 'Bearer x', 'Session x', 'x']) {
        const { status, headers } = await http('GET', '/shut/page.html', { Authorization })
        expect({ status, challenge: headers['www-authenticate'] }).to.deep.equal({
          status: 401,
          challenge: 'Session realm="site"',
        })
      }
    })

    it('405 has Allow', async () => {
      const { headers } = await http('PROPFIND', '/page.html')
      expect(headers.allow).to.equal('GET, HEAD, PUT, DELETE, POST, MOVE, PATCH, QUERY, OPTIONS')
    })
  })

  it('HTTP-160 request data is escaped', async () => {
    const evil = '/shut/%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E'.replace('%2F', '')
    for (const [method, target, fields] of [
      ['GET', `${evil}?"><script>`, {}],
      ['GET', '/page.html', { Range: 'selector=<script>[' }],
      ['GET', '/page.html', { Range: 'selector="\'><img src=x>[' }],
      ['MOVE', '/page.html', { Destination: '/<script>x' }],
    ] as const) {
      const { text, status } = await http(method, target, fields)
      expect(status).to.be.at.least(400)
      const document = parseDocument('html', text)
      const injected = selectAll(compileSelector('script, img'), document)
      expect(injected, text).to.have.length(0)
    }
  })

  it('HTTP-170 messages carry no traces and no other content', async () => {
    for (const [, , method, target, fields, body] of kinds) {
      const { text } = await http(method, target, fields, body)
      expect(text).not.to.match(/\bat [A-Za-z.]+ \(|node:|\.ts:\d|\/tmp\/|<li id="a">/)
    }
  })

  it('what the parser refuses gets a document too', async () => {
    for (const [bytes, status, kind] of [
      ['GET /\x01 HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'BadRequest'],
      [`GET / HTTP/1.1\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`, 431, 'HeaderTooLarge'],
    ] as const) {
      const connection = await connect(server.port)
      connection.send(bytes)
      const received = await connection.receive()
      expect(received.status).to.equal(status)
      expect(received.headers.connection).to.equal('close')
      expect(failureOf(received).properties.kind).to.equal(kind)
      await connection.ended
    }
  })
})

function linksOf({ text }: Received): string[] {
  const document = parseDocument('html', text)
  return selectAll(compileSelector('a[href]'), document).map(
    (element: ElementNode) => (isElement(element) && element.attrs.find(({ name }) => name === 'href')?.value) || '',
  )
}
