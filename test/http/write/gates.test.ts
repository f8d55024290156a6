import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { page, put, remove, rulesPage } from '../../support/content.ts'
import { type Client, client, connect, type Fields } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, leavesAlone, moving, selecting } from '../write-checks.ts'

const DOC = page('<ul id="l"><li id="a">a</li></ul>')
const OPEN = rulesPage(['*', 'PUT|POST|DELETE|MOVE|PATCH', 'Allow', '/*'], ['*', '*', 'Deny', '/shut/*'])
const WRITES = ['PUT', 'POST', 'DELETE', 'MOVE', 'PATCH']

describe('gates of writes', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({ site: { maxBody: '100KiB', maxDocument: '50KiB' } })
    http = client(server.port)
  })
  after(() => server.close())
  beforeEach(async () => {
    await put(server, '/rules.html', OPEN)
    await put(server, '/d.html', DOC)
    await put(server, '/shut/d.html', DOC)
    await put(server, '/blob.txt', 'blob')
  })

  /** Requests that would fail at two gates: the first one answers (HTTP-1). */
  const orders: [name: string, method: string, target: string, fields: Fields, failure: string][] = [
    ['1 before 2: length, bad target', 'PUT', '/%zz', { 'Content-Length': '200000' }, '413'],
    ['1 before 8: length, denied', 'PUT', '/shut/d.html', { 'Content-Length': '200000' }, '413'],
    ['1 before 4: length, reserved', 'PUT', '/.platform/x', { 'Content-Length': '200000' }, '413'],
    ['2 before 3: bad target, unknown method', 'REPORT', '/%zz', {}, '400 InvalidPath'],
    ['2 before 4: bad target, reserved', 'PUT', '/.platform/%00', {}, '400 InvalidPath'],
    ['2 before 8: bad target, denied', 'PUT', '/shut/../d.html', {}, '400 InvalidPath'],
    ['3 before 8: method not offered, denied', 'MKCOL', '/shut/d.html', {}, '405 MethodNotAllowed'],
    ['4 before 7: reserved, bad Range', 'PUT', '/.platform/x', { Range: 'bytes=0-1' }, '403 Reserved'],
    [
      '4 before 7: reserved Destination, bad Range',
      'MOVE',
      '/d.html',
      { Destination: '/.platform/x', Range: 'x' },
      '403 Reserved',
    ],
    ['4 before 8: reserved, nothing allowed', 'DELETE', '/.platform/x', {}, '403 Reserved'],
    ['7 before 8: bad Range, denied', 'PUT', '/shut/d.html', { Range: 'bytes=0-1' }, '400 InvalidRange'],
    ['7 before 8: empty selector, denied', 'PUT', '/shut/d.html', { Range: 'selector=' }, '400 InvalidRange'],
    ['7 before 8: unparsable selector, denied', 'PUT', '/shut/d.html', { Range: 'selector=:[' }, '422 InvalidSelector'],
    ['7 before 8: unparsable Destination, denied', 'MOVE', '/shut/d.html', { Destination: 'x' }, '400 InvalidPath'],
    ['7 before 8: incomplete MOVE, denied', 'MOVE', '/shut/d.html', { Range: 'selector=p' }, '422 MoveMissingHeaders'],
    ['8 before 10: denied, missing', 'PUT', '/shut/none.html', selecting('p'), '401 /shut/none.html'],
    ['8 before 10: denied, blob', 'PUT', '/shut/d.html', selecting('p'), '401 /shut/d.html'],
    ['8 before 12: denied, failed condition', 'PUT', '/shut/d.html', { 'If-Match': '"x"' }, '401 /shut/d.html'],
    ['10 before 11: a blob has no match', 'PUT', '/blob.txt', selecting('p'), '422 NotHtml'],
    ['10 before 12: missing, failed condition', 'DELETE', '/none.html', { 'If-Match': '"x"' }, '404 NotFound'],
    [
      '11 before 12: no match, failed condition',
      'DELETE',
      '/d.html',
      { ...selecting('#x'), 'If-Match': '"x"' },
      '416 SelectorNoMatch',
    ],
    ['11 before 13: no match, empty body', 'PUT', '/d.html', selecting('#x'), '416 SelectorNoMatch'],
    [
      '12 before 13: failed condition, empty body',
      'PUT',
      '/d.html',
      { ...selecting('#a'), 'If-Match': '"x"' },
      '412 PreconditionFailed',
    ],
    [
      '12 before 13: failed condition, root',
      'DELETE',
      '/d.html',
      { ...selecting('html'), 'If-None-Match': '*' },
      '412 PreconditionFailed',
    ],
  ]
  for (const [name, method, target, fields, failure] of orders) {
    it(`HTTP-1 ${name}: ${failure}`, async () => {
      const answer = await leavesAlone(server, ['/d.html', '/shut/d.html', '/blob.txt'], () =>
        http(method, target, fields),
      )
      expect(failureOf(answer)).to.equal(failure)
    })
  }

  it('HTTP-3 denials are 401 for anonymous requesters, reserved prefixes 403 for everybody', async () => {
    for (const method of WRITES) {
      const fields = method === 'MOVE' ? { Destination: '/x.html' } : {}
      expect(failureOf(await http(method, '/shut/d.html', fields)), method).to.equal('401 /shut/d.html')
    }
  })

  describe('HTTP-16 reserved prefixes', () => {
    before(() => put(server, '/rules.html', rulesPage(['*', '*', 'Allow', '/*'])))
    for (const path of [
      '/.platform/',
      '/.platform/x.html',
      '/%2Eplatform/x',
      '/.%70latform/x',
      '/-platform/x',
      '/%2dplatform/y',
      '/-platform/oidc/login',
    ]) {
      it(`every write to ${path} is 403 under every rule`, async () => {
        await put(server, '/rules.html', rulesPage(['*', '*', 'Allow', '/*']))
        for (const method of WRITES) {
          expect(failureOf(await http(method, path, { Destination: '/x.html' }, 'x')), method).to.equal('403 Reserved')
          expect(failureOf(await http(method, path, selecting('p'), '<p>')), method).to.equal('403 Reserved')
        }
        expect(failureOf(await http('MOVE', '/d.html', { Destination: path }))).to.equal('403 Reserved')
        expect((await http('GET', '/d.html')).status).to.equal(200)
      })
    }

    it('only the prefix at the root is reserved, and only this word', async () => {
      for (const path of [
        '/x/.platform/y.html',
        '/.platformer/y.html',
        '/platform/y.html',
        '/.Platform/y.html',
        '/-platforms/x',
      ]) {
        expect((await http('PUT', path, {}, DOC)).status, path).to.equal(201)
        await remove(server, decodeURIComponent(path))
      }
    })

    it('the brand is a setting', async () => {
      const other = await startServer({ site: { brand: 'acme' } })
      try {
        const ask = client(other.port)
        await put(other, '/rules.html', rulesPage(['*', '*', 'Allow', '/*']))
        expect(failureOf(await ask('PUT', '/.acme/x', {}, 'x'))).to.equal('403 Reserved')
        expect(failureOf(await ask('PUT', '/-acme/x', {}, 'x'))).to.equal('403 Reserved')
        expect((await ask('PUT', '/.platform/x', {}, 'x')).status).to.equal(201)
      } finally {
        await other.close()
      }
    })
  })

  describe('HTTP-46 units that a write does not know', () => {
    for (const range of [
      'bytes=0-1',
      'bytes=',
      'rows=1-2',
      'sessel=self',
      'entries=0-1',
      'selector',
      'selector #a',
      '#a',
      '=x',
      '',
    ]) {
      it(`"${range}" is 400 and nothing happens`, async () => {
        for (const method of ['PUT', 'POST', 'DELETE']) {
          for (const path of ['/d.html', '/blob.txt']) {
            const answer = await leavesAlone(server, [path], () => http(method, path, { Range: range }, DOC))
            expect(failureOf(answer), `${method} ${path}`).to.equal('400 InvalidRange')
          }
        }
      })
    }
  })

  describe('HTTP-83 bodies that are not stored as they are', () => {
    it('a Content-Encoding other than identity is 415', async () => {
      for (const coding of ['gzip', 'br', 'GZIP', 'gzip, identity', 'x']) {
        for (const [method, path, fields] of [
          ['PUT', '/d.html', {}],
          ['PUT', '/blob.txt', {}],
          ['PUT', '/new.bin', {}],
          ['PUT', '/d.html', selecting('#a')],
          ['POST', '/d.html', selecting('#l')],
          ['POST', '/dir/', {}],
        ] as const) {
          const answer = await leavesAlone(server, [path], () =>
            http(method, path, { ...fields, 'Content-Encoding': coding }, '<li>x</li>'),
          )
          expect(failureOf(answer), `${coding} ${method} ${path}`).to.equal('415 UnsupportedMediaType')
        }
      }
      expect((await http('PUT', '/d.html', { 'Content-Encoding': 'identity' }, DOC)).status).to.equal(200)
    })

    it('Content-Range on PUT is 400', async () => {
      for (const fields of [{}, selecting('#a')]) {
        const answer = await leavesAlone(server, ['/d.html'], () =>
          http('PUT', '/d.html', { ...fields, 'Content-Range': 'bytes 0-3/10' }, '<p>x'),
        )
        expect(failureOf(answer)).to.equal('400 BadRequest')
      }
    })
  })

  describe('HTTP-115 other methods', () => {
    it('PATCH is 501 after authorization, whatever is there', async () => {
      for (const path of ['/d.html', '/none.html', '/blob.txt', '/dir/']) {
        expect(failureOf(await http('PATCH', path, {}, 'x')), path).to.equal('501 NotImplemented')
        expect(failureOf(await http('PATCH', path, selecting('#a'), 'x')), path).to.equal('501 NotImplemented')
      }
      expect(failureOf(await http('PATCH', '/shut/d.html', {}, 'x'))).to.equal('401 /shut/d.html')
      expect(failureOf(await http('PATCH', '/shut/none.html', {}, 'x'))).to.equal('401 /shut/none.html')
    })

    it('methods of HTTP and WebDAV that are not offered are 405 with Allow', async () => {
      for (const method of ['PROPFIND', 'PROPPATCH', 'MKCOL', 'COPY', 'LOCK', 'UNLOCK', 'TRACE']) {
        const answer = await http(method, '/d.html', { 'X-Secret': 'echo-me' })
        expect(failureOf(answer), method).to.equal('405 MethodNotAllowed')
        expect(answer.headers.allow, method).to.equal('GET, HEAD, PUT, DELETE, POST, MOVE, PATCH, QUERY, OPTIONS')
        expect(answer.text, method).not.to.include('echo-me')
      }
    })

    it('CONNECT is refused', async () => {
      const connection = await connect(server.port)
      connection.send('CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n')
      expect((await connection.receive()).status).to.equal(405)
      connection.close()
    })

    it('unrecognized methods are 501, also those that the parser does not know', async () => {
      for (const method of ['REPORT', 'SEARCH', 'PURGE', 'BIND', 'LINK', 'ACL']) {
        expect((await http(method, '/d.html')).status, method).to.equal(501)
      }
      for (const method of ['FOO', 'get', 'PUTT', 'X-Y'])
        expect((await http(method, '/d.html')).status, method).to.equal(501)
    })
  })

  it('HTTP-45 placement and entries are dropped where they mean nothing', async () => {
    const put206 = await http('PUT', '/d.html', { Range: 'selector=#a; placement=nonsense' }, '<li id="a">A</li>')
    expect(put206.status).to.equal(206)
    expect(put206.headers['content-range']).to.equal('selector=#a')
    expect((await http('DELETE', '/d.html', { Range: 'selector=#a; entries=0-1' })).status).to.equal(204)
  })

  it('HTTP-47 an empty selector is 400, one that does not parse 422, in every write', async () => {
    for (const method of ['PUT', 'POST', 'DELETE']) {
      for (const text of ['', ' ', '\t', '; placement=append']) {
        const answer = await leavesAlone(server, ['/d.html'], () =>
          http(method, '/d.html', { Range: `selector=${text}` }, '<p>'),
        )
        expect(failureOf(answer), `${method} "${text}"`).to.equal('400 InvalidRange')
      }
      for (const text of [
        '[',
        'a:',
        '..x',
        'li >',
        '> li',
        'li,',
        ':nth-child(',
        ':unknown',
        'a|b|c',
        '"x"',
        '#1',
        'p{}',
      ]) {
        const answer = await leavesAlone(server, ['/d.html'], () => http(method, '/d.html', selecting(text), '<p>'))
        expect(failureOf(answer), `${method} "${text}"`).to.equal('422 InvalidSelector')
      }
    }
    expect(failureOf(await http('MOVE', '/d.html', moving('/d.html', '..', '#a', 'after')))).to.equal(
      '422 InvalidSelector',
    )
  })
})
