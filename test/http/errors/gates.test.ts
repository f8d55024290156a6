import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, putAll, remove, rulesPage } from '../../support/content.ts'
import { type Client, client, connect, type Fields, requestBytes, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const CAP = 2000
const BIG = 'x'.repeat(CAP + 1)
/** A body of unknown length that passes the cap. */
const CHUNKED = { 'Transfer-Encoding': 'chunked' }
const BIG_CHUNK = `${(CAP + 1).toString(16)}\r\n${BIG}\r\n0\r\n\r\n`

describe('HTTP-1 DEC-5 the order of processing', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    const site = { maxBody: CAP, cors: ['https://app.example'] }
    const sites = [{ host: 'localhost' }, { host: 'external.example', sessions: 'external' }]
    server = await startServer({ site, settings: { sites } })
    http = client(server.port)
    await putAll(server, {
      '/shut.html': page('<p>x</p>'),
      '/open.html': page('<p>x</p><ul><li>1</li></ul><b class="shut">x</b>'),
      '/part.html': page('<p class="open">x</p><p class="shut">y</p>'),
      '/style.css': 'p{}',
      '/w/style.css': 'p{}',
      '/w/page.html': page('<ul><li>1</li></ul>'),
      '/dir/index.html': page('x'),
      '/rules.html': rulesPage(
        ['*', 'GET', 'Deny', '/shut.html|/shut/*'],
        ['*', '*', 'Allow', '/w/*'],
        ['*', 'GET', 'Deny', '/part.html', '.shut'],
        ['*', 'PUT', 'Allow', '/open.html', 'li'],
        ['*', 'PUT', 'Deny', '/w/*', '.guarded'],
      ),
    })
  })
  after(() => server.close())

  /** Of all paths that the requests are about. */
  const events = () => {
    const paths = ['/open.html', '/shut.html', '/part.html', '/w/page.html', '/w/none.html', '/w/x.xml', '/w/style.css']
    return Promise.all(paths.map(path => server.site.store.events(path)))
  }

  /** A request that fails at two gates, and the answer of the earlier one. */
  type Case = [name: string, status: number, method: string, target: string, fields?: Fields, body?: string]
  const NO_MATCH = { Range: 'selector=h6' }
  const FAILED = { 'If-Match': '"x"' }

  const cases: Record<string, Case[]> = {
    'gate 1, declared length, comes before': [
      ['2, the target', 413, 'PUT', '/%zz', {}, BIG],
      ['2, a target too long', 413, 'PUT', `/${'a'.repeat(8192)}`, {}, BIG],
      ['3, the method', 413, 'PROPFIND', '/open.html', {}, BIG],
      ['4, a reserved prefix', 413, 'PUT', '/.platform/x', {}, BIG],
      ['6, the session', 413, 'PUT', '/open.html', { Host: 'external.example' }, BIG],
      ['7, the syntax of Range', 413, 'PUT', '/w/page.html', { Range: 'selector=' }, BIG],
      ['8, authorization', 413, 'PUT', '/shut.html', {}, BIG],
      ['10, existence', 413, 'QUERY', '/none.html', { 'Content-Type': 'text/css-selector' }, BIG],
      ['12, preconditions', 413, 'PUT', '/w/page.html', FAILED, BIG],
    ],
    'gate 2, the target, comes before': [
      ['3, an unknown method', 400, 'PURGE', '/%zz'],
      ['3, an unsupported method', 400, 'LOCK', '/a/../b'],
      ['3, an unsupported method (414)', 414, 'PROPFIND', `/?${'a'.repeat(8192)}`],
      ['4, a reserved prefix', 400, 'PUT', '/.platform/%00', {}, 'x'],
      ['6, the session', 400, 'PUT', '/%zz', { Host: 'external.example' }, 'x'],
      ['8, authorization', 400, 'PUT', '/shut//x', {}, 'x'],
      ['8, authorization of a read (404)', 404, 'GET', '/shut//x'],
    ],
    'gate 3, the method, comes before': [
      ['4, a reserved prefix', 405, 'MKCOL', '/.platform/x'],
      ['4, a reserved prefix (501)', 501, 'PURGE', '/.platform/x'],
      ['6, the session', 405, 'COPY', '/open.html', { Host: 'external.example' }],
      ['7, the syntax of Range', 501, 'PURGE', '/open.html', { Range: 'selector=' }],
      ['8, authorization', 405, 'PROPFIND', '/shut.html'],
      ['10, existence', 405, 'PROPFIND', '/none.html'],
    ],
    'gate 4, reserved prefixes, comes before': [
      ['6, the session', 403, 'PUT', '/.platform/x', { Host: 'external.example' }, 'x'],
      ['7, the syntax of Range', 403, 'PUT', '/.platform/x', { Range: 'selector=' }, 'x'],
      ['7, the syntax of Destination', 403, 'MOVE', '/.platform/x', { Destination: 'nonsense' }],
      [
        '7, the other headers, by Destination',
        403,
        'MOVE',
        '/w/page.html',
        { Destination: '/.platform/x', Range: 'x=' },
      ],
      ['8, authorization', 403, 'PUT', '/.platform/shut', {}, 'x'],
      ['8, authorization, by Destination', 403, 'MOVE', '/shut.html', { Destination: '/-platform/x' }],
      ['12, preconditions', 403, 'PUT', '/.platform/x', FAILED, 'x'],
    ],
    'gate 6, the session, comes before': [
      ['7, the syntax of Range', 409, 'PUT', '/open.html', { Host: 'external.example', Range: 'selector=' }, 'x'],
      ['7, the syntax of Destination', 409, 'MOVE', '/open.html', { Host: 'external.example', Destination: 'x' }],
      ['8, authorization', 409, 'PUT', '/open.html', { Host: 'external.example' }, 'x'],
      ['10, existence', 409, 'DELETE', '/none.html', { Host: 'external.example' }],
    ],
    'gate 7, the syntax of headers, comes before': [
      ['8, authorization: an empty selector', 400, 'GET', '/shut.html', { Range: 'selector=' }],
      ['8, authorization: a selector that does not parse', 422, 'GET', '/shut.html', { Range: 'selector=p[' }],
      ['8, authorization of a write', 400, 'PUT', '/shut.html', { Range: 'selector=' }, 'x'],
      ['8, authorization of a write: the selector', 422, 'DELETE', '/shut.html', { Range: 'selector=p[' }],
      ['8, authorization of a write: the unit', 400, 'PUT', '/shut.html', { Range: 'bytes=0-1' }, 'x'],
      [
        '8, authorization of a POST: the placement',
        400,
        'POST',
        '/shut.html',
        { Range: 'selector=p; placement=x' },
        'x',
      ],
      ['8, authorization of a MOVE: incomplete', 422, 'MOVE', '/shut.html', {}],
      ['8, authorization of a MOVE: Destination', 400, 'MOVE', '/shut.html', { Destination: '/%zz' }],
      [
        '8, authorization of a MOVE: Destination-Range',
        422,
        'MOVE',
        '/shut.html',
        { Destination: '/shut.html', Range: 'selector=p', 'Destination-Range': 'selector=p; placement=x' },
      ],
      ['10, existence', 422, 'GET', '/none.html', { Range: 'selector=p[' }],
      ['10, existence (400)', 400, 'GET', '/none.html', { Range: 'selector=' }],
      ['10, the kind', 400, 'GET', '/style.css', { Range: 'selector=' }],
      ['12, preconditions', 422, 'GET', '/open.html', { Range: 'selector=p[', ...FAILED }],
    ],
    'gate 8, authorization, comes before': [
      ['10, existence', 401, 'GET', '/shut/none.html'],
      ['10, existence, by selector', 401, 'GET', '/shut/none.html', { Range: 'selector=p' }],
      ['10, existence of what is deleted', 401, 'DELETE', '/none.html'],
      ['10, existence of what is moved', 401, 'MOVE', '/none.html', { Destination: '/x.html' }],
      ['10, the kind', 401, 'PUT', '/style.css', { Range: 'selector=p' }, '<p>'],
      ['10, the content type of QUERY', 401, 'QUERY', '/shut.html', { 'Content-Type': 'text/plain' }, 'p'],
      [
        '10, Accept of QUERY',
        401,
        'QUERY',
        '/shut.html',
        { 'Content-Type': 'text/css-selector', Accept: 'text/html' },
        'p',
      ],
      [
        '10, Accept of QUERY, by an element',
        401,
        'QUERY',
        '/part.html',
        { 'Content-Type': 'text/css-selector', Accept: 'text/html' },
        '.shut',
      ],
      ['10, the redirect', 401, 'GET', '/shut'],
      ['11, the match', 401, 'GET', '/shut.html', NO_MATCH],
      ['11, the match of a write', 401, 'PUT', '/shut.html', NO_MATCH, '<p>'],
      ['12, preconditions', 401, 'GET', '/shut.html', FAILED],
      ['12, preconditions of a write', 401, 'PUT', '/open.html', FAILED, 'x'],
      ['12, preconditions of an element write', 401, 'PUT', '/open.html', { ...FAILED, Range: 'selector=p' }, '<p>'],
      ['12, a 304', 401, 'GET', '/shut.html', { 'If-None-Match': '*' }],
      ['13, the body', 401, 'PUT', '/open.html', { Range: 'selector=p' }, ''],
      ['13, the length of a body that is counted', 401, 'PUT', '/shut.html', CHUNKED, BIG_CHUNK],
    ],
    'gate 10, existence and kind, comes before': [
      ['11, the match', 404, 'GET', '/none.html', NO_MATCH],
      ['11, the match of a write', 404, 'PUT', '/w/none.html', NO_MATCH, '<p>'],
      ['11, the match in a blob', 422, 'GET', '/style.css', NO_MATCH],
      ['11, the match of a write in a blob', 422, 'PUT', '/w/style.css', NO_MATCH, '<p>'],
      ['12, preconditions', 404, 'GET', '/none.html', FAILED],
      ['12, preconditions of an element write', 404, 'PUT', '/w/none.html', { ...FAILED, Range: 'selector=p' }, '<p>'],
      ['12, preconditions of DELETE', 404, 'DELETE', '/w/none.html', FAILED],
      ['12, preconditions of MOVE', 404, 'MOVE', '/w/none.html', { ...FAILED, Destination: '/w/x.html' }],
      ['12, preconditions of a directory', 301, 'GET', '/dir', FAILED],
      [
        '12, preconditions of QUERY',
        406,
        'QUERY',
        '/open.html',
        { 'Content-Type': 'text/css-selector', Accept: 'text/html', ...FAILED },
        'p',
      ],
      ['13, the body', 404, 'PUT', '/w/none.html', { Range: 'selector=p' }, ''],
      [
        '13, the length of a body that is counted',
        404,
        'POST',
        '/w/none.html',
        { Range: 'selector=p', ...CHUNKED },
        BIG_CHUNK,
      ],
    ],
    'gate 11, the match, comes before': [
      ['12, preconditions', 416, 'GET', '/open.html', { ...NO_MATCH, ...FAILED }],
      ['12, a 304', 416, 'GET', '/open.html', { ...NO_MATCH, 'If-None-Match': '*' }],
      ['12, preconditions of a write', 416, 'PUT', '/w/page.html', { ...NO_MATCH, ...FAILED }, '<p>'],
      ['13, the body', 416, 'PUT', '/w/page.html', NO_MATCH, ''],
      ['13, the length of a body that is counted', 416, 'PUT', '/w/page.html', { ...NO_MATCH, ...CHUNKED }, BIG_CHUNK],
    ],
    'gate 12, preconditions, comes before': [
      ['13, an empty body', 412, 'PUT', '/w/page.html', { ...FAILED, Range: 'selector=li' }, ''],
      ['13, a body without element', 412, 'PUT', '/w/page.html', { ...FAILED, Range: 'selector=li' }, 'text'],
      ['13, malformed XML', 412, 'PUT', '/w/x.xml', FAILED, '<a>'],
      ['13, the length of a body that is counted', 412, 'PUT', '/w/page.html', { ...FAILED, ...CHUNKED }, BIG_CHUNK],
      [
        '13, the same of an element',
        412,
        'PUT',
        '/w/page.html',
        { ...FAILED, Range: 'selector=li', ...CHUNKED },
        BIG_CHUNK,
      ],
      ['13, placement', 412, 'POST', '/w/page.html', { ...FAILED, Range: 'selector=html; placement=after' }, '<p>'],
    ],
  }
  for (const [gate, rows] of Object.entries(cases)) {
    describe(gate, () => {
      for (const [name, status, method, target, fields, body] of rows) {
        it(`${name}: ${status}`, async () => {
          expect((await http(method, target, fields, body)).status).to.equal(status)
        })
      }
    })
  }

  it('DEC-5 what is refused changes nothing and tells nobody, at whatever gate', async () => {
    const before = tagOf(await http('GET', '/w/page.html'))
    const told = await events()
    for (const rows of Object.values(cases)) {
      for (const [, , method, target, fields, body] of rows) await http(method, target, fields, body)
    }
    expect(tagOf(await http('GET', '/w/page.html'))).to.equal(before)
    expect((await http('GET', '/w/none.html')).status).to.equal(404)
    expect((await http('GET', '/w/x.xml')).status).to.equal(404)
    expect(await events()).to.deep.equal(told)
  })

  it('HTTP-1 an over-long body is 413 without being read, also where the writer would be denied', async () => {
    const connection = await connect(server.port)
    connection.send(requestBytes('PUT', '/shut.html', { 'Content-Length': String(10 ** 12) }))
    const { status, headers } = await connection.receive()
    expect({ status, connection: headers.connection }).to.deep.equal({ status: 413, connection: 'close' })
    connection.close()
  })

  it('HTTP-4 rules that change between the decision and the commit are asked again', async () => {
    await put(server, '/late/page.html', page('<p>x</p>'))
    await put(server, '/late-rules.html', rulesPage(['*', 'PUT', 'Allow', '/late/*']))
    const connection = await connect(server.port)
    connection.send(requestBytes('PUT', '/late/page.html', { 'Content-Length': '9', Expect: '100-continue' }))
    expect((await connection.receive()).status).to.equal(100)
    await remove(server, '/late-rules.html')
    connection.send('<p>late</')
    expect((await connection.receive()).status).to.equal(401)
    connection.close()
    expect((await http('GET', '/late/page.html')).text).to.include('<p>x</p>')
  })

  it('HTTP-4 a document that changes meanwhile is asked again for the target and the conditions', async () => {
    await put(server, '/w/race.html', page('<p id="a">x</p>'))
    const tag = tagOf(await http('GET', '/w/race.html', { Range: 'selector=#a' }))
    const send = async (fields: Fields) => {
      const connection = await connect(server.port)
      connection.send(
        requestBytes('PUT', '/w/race.html', { ...fields, 'Content-Length': '14', Expect: '100-continue' }),
      )
      expect((await connection.receive()).status).to.equal(100)
      return connection
    }
    const conditional = await send({ Range: 'selector=#a', 'If-Match': tag })
    const unconditional = await send({ Range: 'selector=p' })
    const vanished = await send({ Range: 'selector=#a' })
    await put(server, '/w/race.html', page('<p id="b">y</p>'))
    for (const [connection, status] of [
      [vanished, 416],
      [conditional, 416],
      [unconditional, 206],
    ] as const) {
      connection.send('<p id="c">z</p>'.slice(0, 14))
      expect((await connection.receive()).status).to.equal(status)
      connection.close()
    }
  })
})
