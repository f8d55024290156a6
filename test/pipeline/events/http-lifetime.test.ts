import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { page, put, putAll, rulesPage } from '../../support/content.ts'
import { delay } from '../../support/cost.ts'
import { client, connect } from '../../support/http.ts'
import { startServer, type TestServer, type TestServerOptions } from '../../support/server.ts'
import { listen, openStream } from './stream-client.ts'
import { resetOf } from './watching.ts'

const PATH = '/d.html'
const SSE = { Accept: 'text/event-stream' }
const OPEN = rulesPage(['*', 'GET|PUT|POST|DELETE', 'Allow', '/*'])

describe('the life of event streams over HTTP', () => {
  let server: TestServer | undefined
  afterEach(() => server?.close())

  async function serve(options: TestServerOptions = {}): Promise<TestServer> {
    server = await startServer(options)
    await putAll(server, { '/rules.html': OPEN, [PATH]: page('<ul id="l"></ul>') })
    return server
  }

  /** How many streams the server has open. */
  async function openStreams({ port }: TestServer): Promise<number> {
    const { text } = await client(port)('GET', '/-platform/metrics')
    return Number(/^scriptorium_event_streams (\d+)/m.exec(text)?.[1])
  }

  const cookieOf = (headers: { 'set-cookie'?: string[] | undefined }) =>
    /^[^;]+/.exec(headers['set-cookie']?.[0] ?? '')?.[0] ?? ''

  it('EVT-38 too many streams of a session: 503 with Retry-After, and room again when one has gone', async () => {
    const { port } = await serve({ site: { events: { streamsPerSession: 2 } } })
    const first = await listen({ port }, PATH)
    const Cookie = cookieOf(first.headers)
    await listen({ port }, '/other.html', { Cookie })
    const refused = await client(port)('GET', PATH, { ...SSE, Cookie })
    expect([refused.status, refused.headers['retry-after']]).to.deep.equal([503, '5'])
    expect(refused.text).to.include('Unavailable')
    first.close()
    let status = 0
    for (let turn = 0; status !== 200 && turn < 200; turn++) {
      const again = await openStream({ port }, PATH, { Cookie })
      status = again.status
      again.close()
      await again.ended
    }
    expect(status).to.equal(200)
  })

  it('EVT-38 too many streams of an address, as told by a trusted proxy', async () => {
    const { port } = await serve({
      settings: { trustProxy: true },
      site: { events: { streamsPerAddress: 1 } },
    })
    await listen({ port }, PATH, { 'X-Forwarded-For': '203.0.113.7' })
    await listen({ port }, PATH, { 'X-Forwarded-For': '203.0.113.8' })
    const refused = await client(port)('GET', PATH, { ...SSE, 'X-Forwarded-For': '203.0.113.7' })
    expect(refused.status).to.equal(503)
  })

  it('EVT-83 shutdown closes streams within a second, whether their clients read or not', async () => {
    let shortest = Number.POSITIVE_INFINITY
    // Other programs on the machine may hold up one shutdown, not each of several.
    for (let i = 0; i < 5 && shortest >= 1000; i++) shortest = Math.min(shortest, await shutdown())
    expect(shortest).to.be.below(1000 * delay())
  })

  /** Ends a server with open streams. @returns the milliseconds that it took */
  async function shutdown(): Promise<number> {
    const running = await serve()
    const streams = await Promise.all(Array.from({ length: 20 }, () => listen(running, PATH)))
    const stalled = await connect(running.port)
    stalled.socket.pause()
    stalled.send(`GET ${PATH} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`)
    while ((await openStreams(running)) <= streams.length);
    const started = performance.now()
    const closing = running.close()
    server = undefined
    expect(await Promise.all(streams.map(stream => stream.ended))).to.deep.equal(streams.map(() => true))
    await closing
    const took = performance.now() - started
    stalled.close()
    for (const { text } of streams) expect(text).to.match(/\n\nretry: [123]\d{3}\n\n$/)
    return took
  }

  it('EVT-65 permission withdrawn: the connection ends without a word, and the next one is refused', async () => {
    const running = await serve()
    const stream = await listen(running, PATH)
    await put(running, '/rules.html', rulesPage(['*', 'GET', 'Deny', PATH]))
    await put(running, PATH, page('secret'))
    expect(await stream.ended).to.equal(true)
    expect(stream.events).to.have.length(1)
    expect((await client(running.port)('GET', PATH, SSE)).status).to.equal(401)
  })

  it('EVT-50 SSN-7 a session that passes its expiry: reset, and the end', async () => {
    const running = await serve({ site: { sessions: { idle: '150ms' } } })
    const stream = await listen(running, PATH)
    expect(await stream.ended).to.equal(true)
    expect(stream.events.slice(1)).to.deep.equal([resetOf('session-expired')])
  })

  it('EVT-50 SSN-7 a session that is replaced by a sign-in, or signed out: reset, and the end', async () => {
    const running = await serve()
    const { siteSessions } = (await running.running.hosting.open('localhost')) ?? expect.fail('no site')
    const stream = await listen(running, PATH)
    const other = await listen(running, PATH)
    const before = await siteSessions.open(cookieOf(stream.headers).split('=')[1])
    const signedIn = await siteSessions.signIn(before, { claims: { sub: 'ann' }, roles: [], at: Date.now() })
    expect(await stream.ended).to.equal(true)
    expect(stream.events.slice(1)).to.deep.equal([resetOf('session-invalidated')])
    expect(signedIn?.issue).to.be.a('string')

    const Cookie = `platform_session=${signedIn?.issue}`
    const again = await listen(running, PATH, { Cookie })
    await siteSessions.signOut((await siteSessions.open(signedIn?.issue)) ?? expect.fail('nobody is signed in'))
    expect(await again.ended).to.equal(true)
    expect(again.events.slice(1)).to.deep.equal([resetOf('session-invalidated')])
    expect(other.events, 'other sessions are not concerned').to.have.length(1)

    const dead = await listen(running, PATH, { Cookie })
    expect(dead.headers['set-cookie']?.[0], 'a dead cookie gets a new session').to.match(/^platform_session=/)
  })

  it('EVT-37 a client that stops reading is cut off; comes back, it gets everything', async () => {
    const running = await serve({ site: { events: { bufferEvents: 20 } } })
    const slow = await openStream(running, PATH)
    await slow.until(() => slow.events.length > 0)
    slow.pause()
    const http = client(running.port)
    const size = 60_000
    let writes = 0
    while ((await openStreams(running)) > 0) {
      expect(writes++).to.be.below(400)
      await http('PUT', PATH, { Range: 'selector=#l' }, `<ul id="l"><li>${writes} ${'x'.repeat(size)}</li></ul>`)
    }
    slow.resume()
    expect(await slow.ended, 'without farewell').to.equal(false)
    const again = await listen(running, PATH, { 'Last-Event-ID': slow.mutations.at(-1)?.id ?? '1-0' })
    await again.until(() => slow.mutations.length + again.mutations.length === writes)
    const ids = [...slow.mutations, ...again.mutations].map(({ id }) => id)
    expect(new Set(ids).size).to.equal(writes)
    again.close()
  })
})
