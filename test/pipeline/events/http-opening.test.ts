import { expect } from 'chai'
import { after, afterEach, before, beforeEach, describe, it } from 'mocha'
import { NS, page, put, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { bodyOf, property } from './event-source.ts'
import { listen, type OpenStream } from './stream-client.ts'

const PATH = '/d.html'
const LIST = page('<ul id="l"></ul>')
const SSE = { Accept: 'text/event-stream' }

describe('opening event streams over HTTP', () => {
  let server: TestServer
  let http: Client
  const open: OpenStream[] = []

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(
      server,
      '/rules.html',
      rulesPage(
        ['*', 'GET', 'Allow', '/d.html|/dir/*|/new/*|/ü/*|/a b.html|/dir2/*'],
        ['*', 'PUT|POST|DELETE|MOVE', 'Allow', '/*'],
        ['*', 'GET', 'Deny', '/closed.html|/hidden/*'],
        ['*', 'HEAD', 'Allow', '/*'],
      ),
    )
  })
  after(() => server.close())
  beforeEach(() => put(server, PATH, LIST))
  afterEach(async () => {
    for (const stream of open.splice(0)) {
      stream.close()
      await stream.ended
    }
  })

  const start = async (path: string, headers: Record<string, string> = {}) => {
    const stream = await listen(server, path, headers)
    open.push(stream)
    return stream
  }
  const append = (path = PATH, headers = {}) => http('POST', path, { Range: 'selector=#l', ...headers }, '<li>x</li>')

  it('EVT-5 the head: type, no caching, no buffering in between, a cookie, nothing of a document', async () => {
    const { status, headers, text } = await start(PATH)
    expect(status).to.equal(200)
    expect(headers['content-type']).to.equal('text/event-stream')
    expect(headers['cache-control']).to.equal('no-cache')
    expect(headers['x-accel-buffering']).to.equal('no')
    expect(headers['set-cookie']?.[0]).to.match(/^platform_session=/)
    expect(headers['x-content-type-options']).to.equal('nosniff')
    for (const name of ['content-length', 'etag', 'last-modified', 'content-range', 'content-encoding'])
      expect(headers, name).not.to.have.property(name)
    expect(text).to.match(/^event: platform-connection\ndata: [0-9a-f-]{36}\n\n$/)
  })

  it('EVT-5 who has a session gets no new one, and nothing is compressed', async () => {
    const first = await start(PATH)
    const cookie = /^[^;]+/.exec(first.headers['set-cookie']?.[0] ?? '')?.[0] ?? ''
    const { headers } = await start(PATH, { Cookie: cookie, 'Accept-Encoding': 'gzip, br' })
    expect(headers).not.to.have.property('set-cookie')
    expect(headers).not.to.have.property('content-encoding')
  })

  for (const accept of [
    'text/event-stream',
    'TEXT/Event-Stream',
    'text/html, text/event-stream;q=0.1',
    'text/event-stream;charset=utf-8',
    'text/event-stream; q=0.001, */*',
  ])
    it(`EVT-1 Accept: ${accept} is a subscription`, async () => {
      const { headers } = await start(PATH, { Accept: accept })
      expect(headers['content-type']).to.equal('text/event-stream')
    })

  for (const accept of ['*/*', 'text/*', 'text/event-stream;q=0', 'text/event-streams', 'x/text/event-stream', ''])
    it(`EVT-1 Accept: ${accept || '(empty)'} is none`, async () => {
      const { status, headers } = await http('GET', PATH, { Accept: accept })
      expect([status, headers['content-type']]).to.deep.equal([200, 'text/html; charset=utf-8'])
    })

  it('EVT-1 HEAD with that Accept is an ordinary HEAD, SUBSCRIBE does not exist', async () => {
    const head = await http('HEAD', PATH, SSE)
    expect([head.status, head.headers['content-type']]).to.deep.equal([200, 'text/html; charset=utf-8'])
    expect((await http('SUBSCRIBE', PATH, SSE)).status).to.be.oneOf([400, 501])
  })

  it('EVT-1 Range and conditions are ignored: a stream covers the whole', async () => {
    const etag = (await http('GET', PATH)).headers.etag ?? ''
    const fields = { Range: 'selector=#nothing', 'If-None-Match': etag, 'If-Match': '"x"', 'If-Modified-Since': 'x' }
    const stream = await start(PATH, fields)
    expect(stream.status).to.equal(200)
    await append()
    await stream.until(() => stream.mutations.length === 1)
    await start(PATH, { Range: 'nonsense' })
  })

  it('EVT-2 the query is ignored, and never becomes the token', async () => {
    const stream = await start(`${PATH}?conn=mine&x=%zz`)
    expect(stream.token).not.to.equal('mine')
    await append()
    await stream.until(() => stream.mutations.length === 1)
    expect(property(stream.mutations[0]?.data ?? '', 'path')).to.equal(PATH)
  })

  it('EVT-2 HTTP-13 a directory and its index are one stream', async () => {
    await put(server, '/dir/index.html', LIST)
    const streams = [await start('/dir/'), await start('/dir/index.html'), await start('/%64ir/')]
    await append('/dir/')
    for (const stream of streams) {
      await stream.until(() => stream.mutations.length === 1)
      expect(property(stream.mutations[0]?.data ?? '', 'path')).to.equal('/dir/index.html')
    }
  })

  it('EVT-2 paths are decoded as for any request', async () => {
    await put(server, '/ü/a b.html', LIST)
    const stream = await start('/%C3%BC/a%20b.html')
    await append('/u%CC%88/a%20b.html')
    await stream.until(() => stream.mutations.length === 1)
    expect(property(stream.mutations[0]?.data ?? '', 'path')).to.equal('/ü/a b.html')
  })

  it('EVT-2 HTTP-15 a directory without its slash is redirected as a GET is', async () => {
    await put(server, '/dir2/index.html', LIST)
    const [stream, get] = [await http('GET', '/dir2?x=1', SSE), await http('GET', '/dir2?x=1')]
    expect(stream.status).to.equal(301)
    for (const name of ['location', 'cache-control']) expect(stream.headers[name]).to.equal(get.headers[name])
    expect(stream.headers.location).to.equal('/dir2/?x=1')
  })

  it('EVT-2 ABS-6 no redirect tells of a directory that the visitor may not see', async () => {
    await put(server, '/hidden/index.html', LIST)
    const { status, headers } = await http('GET', '/hidden', SSE)
    expect(status).to.equal(401)
    expect(headers).not.to.have.property('location')
  })

  it('EVT-3 the default admits nobody: the page is readable, the stream refused', async () => {
    await put(server, '/plain.html', LIST)
    expect((await http('GET', '/plain.html')).status).to.equal(200)
    const { status, headers, text } = await http('GET', '/plain.html', SSE)
    expect(status).to.equal(401)
    expect(headers['content-type']).to.equal('text/html; charset=utf-8')
    expect(headers['cache-control']).to.equal('no-store')
    expect(text).to.include(`itemtype="${NS}/1.0/Error"`).and.include('/-platform/oidc/login')
  })

  it('EVT-3 EVT-4 a refusal is the same whether something is stored there or not', async () => {
    await put(server, '/closed.html', LIST)
    const stored = await http('GET', '/closed.html', SSE)
    await http('DELETE', '/closed.html')
    const missing = await http('GET', '/closed.html', SSE)
    expect([stored.status, missing.status]).to.deep.equal([401, 401])
    expect(missing.text).to.equal(stored.text)
    expect((await http('GET', '/nowhere.html', SSE)).status).to.equal(401)
  })

  it('EVT-4 nothing stored there: the stream opens, and carries the creation', async () => {
    const stream = await start('/new/page.html')
    await http('PUT', '/new/page.html', {}, LIST)
    await stream.until(() => stream.mutations.length === 1)
    expect(bodyOf(stream.mutations[0]?.data ?? '')).to.equal(LIST)
  })

  it('EVT-10 data of several lines, whatever their ends, empty lines included', async () => {
    const stream = await start(PATH)
    const markup = '<li>a\r\nb\rc\n\n\nd: e\n: f</li>'
    await http('POST', PATH, { Range: 'selector=#l' }, markup)
    await stream.until(() => stream.mutations.length === 1)
    const [mutation] = stream.mutations
    expect(bodyOf(mutation?.data ?? '')).to.equal('<li>a\nb\nc\n\n\nd: e\n: f</li>')
    expect(stream.text).not.to.include('\r')
    expect(stream.text).to.match(/\n\nid: [0-9]+-[0-9]+\nevent: mutation\ndata: <article /)
    expect(stream.text.endsWith('\ndata: </article>\n\n')).to.equal(true)
  })

  it('EVT-20 an event as the specification shows it', async () => {
    const stream = await start(PATH)
    const answer = await append()
    await stream.until(() => stream.mutations.length === 1)
    expect(stream.mutations[0]?.data.split('\n')).to.deep.equal([
      `<article itemscope itemtype="${NS}/Mutation">`,
      '  <span itemprop="method">POST</span>',
      '  <span itemprop="selector">#l</span>',
      `  <span itemprop="etag">${answer.headers.etag}</span>`,
      `  <span itemprop="path">${PATH}</span>`,
      '  <span itemprop="host">localhost</span>',
      '  <div itemprop="body"><li>x</li></div>',
      '  <span itemprop="placement">append</span>',
      '</article>',
    ])
  })

  it('EVT-23 an edit of which the parser makes something else is told as a change of the whole', async () => {
    await put(server, PATH, page('<p id="p">words</p>'))
    const stream = await start(PATH)
    const answer = await http('POST', PATH, { Range: 'selector=#p' }, '<p>more</p>')
    await stream.until(() => stream.mutations.length === 1)
    const data = stream.mutations[0]?.data ?? ''
    expect([property(data, 'method'), property(data, 'selector')]).to.deep.equal(['PUT', ''])
    expect(bodyOf(data)).to.equal((await http('GET', PATH)).text.replaceAll('\r\n', '\n'))
    expect(answer.status).to.equal(206)
  })

  it('EVT-28 writes on the mount are events, suppressed for nobody', async () => {
    const stream = await start('/new/file.html')
    const basic = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
    const dav = async (method: string, path: string, headers: Record<string, string> = {}, body?: string) => {
      const answer = await fetch(server.mountUrl + path, {
        method,
        headers: { Authorization: basic, ...headers },
        body,
      })
      expect(answer.status, `${method} ${path}`).to.be.below(300)
    }
    await dav('PUT', '/new/file.html', { 'Content-Type': 'text/html' }, LIST)
    await dav('MOVE', '/new/file.html', { Destination: `${server.mountUrl}/new/other.html` })
    await dav('COPY', '/new/other.html', { Destination: `${server.mountUrl}/new/file.html` })
    await dav('DELETE', '/new/file.html')
    await stream.until(() => stream.mutations.length === 4)
    const methods = stream.mutations.map(({ data }) => property(data, 'method'))
    expect(methods).to.deep.equal(['PUT', 'DELETE', 'PUT', 'DELETE'])
  })

  it('EVT-29 whatever is done to a document, its streams carry mutations and nothing else', async () => {
    const stream = await start('/new/every.html')
    const path = '/new/every.html'
    const at = { Range: 'selector=#l > li' }
    const basic = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
    await put(server, path, LIST)
    await append(path)
    await append(path)
    await http('PUT', path, at, '<li>changed <b>text</b></li>')
    await http('MOVE', path, { ...at, Destination: path, 'Destination-Range': 'selector=#l; placement=append' })
    await http('DELETE', path, at)
    await fetch(server.mountUrl + path, { method: 'PUT', headers: { Authorization: basic }, body: LIST })
    await http('PUT', path, { 'Content-Type': 'text/html' }, LIST)
    await http('DELETE', path)
    await stream.until(() => stream.mutations.length === 9)
    expect(stream.events.map(({ event }) => event)).to.deep.equal([
      'platform-connection',
      ...Array.from({ length: 9 }, () => 'mutation'),
    ])
    expect(stream.text).to.not.include('crdt-delta')
  })

  it('EVT-56 the header names the stream that is skipped; without it all of the session are', async () => {
    const first = await start(PATH)
    const cookie = /^[^;]+/.exec(first.headers['set-cookie']?.[0] ?? '')?.[0] ?? ''
    const second = await start(PATH, { Cookie: cookie })
    const other = await start(PATH)
    await append(PATH, { Cookie: cookie })
    await append(PATH, { Cookie: cookie, 'Platform-Connection': first.token })
    await append(PATH, { Cookie: cookie, 'X-Platform-Connection': second.token })
    await http('PUT', PATH, { 'platform-connection': other.token }, LIST)
    await first.until(() => first.mutations.length === 1)
    await second.until(() => second.mutations.length === 2)
    await other.until(() => other.mutations.length === 3)
    const methods = (stream: OpenStream) => stream.mutations.map(({ data }) => property(data, 'method'))
    expect(methods(first)).to.deep.equal(['PUT'])
    expect(methods(second)).to.deep.equal(['POST', 'PUT'])
    expect(methods(other)).to.deep.equal(['POST', 'POST', 'POST'])
  })

  it('EVT-47 an empty Last-Event-ID is none; one that is known continues', async () => {
    const stream = await start(PATH)
    for (let i = 0; i < 3; i++) await append()
    await stream.until(() => stream.mutations.length === 3)
    const [first] = stream.mutations
    const again = await start(PATH, { 'Last-Event-ID': first?.id ?? '' })
    await again.until(() => again.mutations.length === 2)
    expect(again.mutations).to.deep.equal(stream.mutations.slice(1))
    const empty = await start(PATH, { 'Last-Event-ID': '' })
    await append()
    await empty.until(() => empty.mutations.length === 1)
    expect(empty.events).to.have.length(2)
  })

  it('a page that is kept for repetition is not repeated for a subscriber', async () => {
    const { port } = server
    for (let i = 0; i < 3; i++) await client(port)('GET', PATH, { Accept: 'text/html' })
    for (let i = 0; i < 3; i++) {
      const stream = await start(PATH)
      expect(stream.text).to.match(/^event: platform-connection/)
    }
    const plain = await http('GET', PATH)
    expect(plain.headers['content-type']).to.equal('text/html; charset=utf-8')
  })

  it('EVT-39 a client that goes away is forgotten', async () => {
    const streams = await Promise.all(Array.from({ length: 5 }, () => start(PATH)))
    const metric = async () =>
      Number(/^scriptorium_event_streams (\d+)/m.exec((await http('GET', '/-platform/metrics')).text)?.[1])
    const before = await metric()
    for (const stream of streams) stream.close()
    for (let turn = 0; (await metric()) > before - 5; turn++) expect(turn).to.be.below(200)
  })
})
