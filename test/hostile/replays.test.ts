/** Many returning clients of one page, none of which reads: what their replays take together (SEC-12, EVT-37). */

import { Socket } from 'node:net'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { openStream } from '../pipeline/events/stream-client.ts'
import { page, put, rulesPage } from '../support/content.ts'
import { eventually } from '../support/eventually.ts'
import { type Client, type Connection, client, connect, requestBytes } from '../support/http.ts'
import { leavesTheLoop } from '../support/loop-hold.ts'
import { startServer, type TestServer } from '../support/server.ts'

const PATH = '/d.html'
const STREAMS = 250
const EVENTS = 30
const EVENT = 60_000
const MEBIBYTE = 1024 * 1024

describe('replays of many streams at once', function () {
  this.timeout(300_000)
  let server: TestServer
  let http: Client
  let first: string

  before(async () => {
    const events = { streamsPerAddress: 2 * STREAMS, streamsPerSession: 2 * STREAMS, streamsPerSite: 2 * STREAMS }
    server = await startServer({ site: { events } })
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'GET|POST', 'Allow', '/*']))
    await put(server, PATH, page('<ul id="l"></ul>'))
    const stream = await openStream({ port: server.port }, PATH)
    for (let i = 0; i <= EVENTS; i++) {
      const text = `<li>${String(i).padEnd(EVENT, 'x')}</li>`
      expect((await http('POST', PATH, { Range: 'selector=#l' }, text)).status).to.equal(206)
    }
    await stream.until(() => stream.mutations.length > EVENTS)
    first = stream.mutations[0]?.id ?? ''
    stream.close()
  })
  after(() => server.close())

  /** The server's ends of open connections. */
  const sockets = () =>
    (process as unknown as { _getActiveHandles(): unknown[] })
      ._getActiveHandles()
      .filter((handle): handle is Socket => handle instanceof Socket && handle.localPort === server.port)

  it('SEC-12 EVT-37 250 clients that do not read wait with less than 1 MiB each, in short turns', async () => {
    const fields = { Accept: 'text/event-stream', 'Last-Event-ID': first }
    const clients: Connection[] = []
    const before = process.memoryUsage()
    await leavesTheLoop(async () => {
      for (const each of clients.splice(0)) each.close()
      await eventually(() => expect(sockets()).to.have.length(0))
      for (let i = 0; i < STREAMS; i++) {
        const each = await connect(server.port)
        each.socket.pause()
        each.send(requestBytes('GET', PATH, fields))
        clients.push(each)
      }
      // Each has been given what it takes when nothing more is written.
      let last = -1
      await eventually(async () => {
        for (let turns = 0; turns < 2 * STREAMS; turns++) await new Promise(resolve => setImmediate(resolve))
        const written = sockets().reduce((sum, { bytesWritten }) => sum + bytesWritten, 0)
        const isStill = written === last
        last = written
        expect(isStill && sockets().length >= STREAMS).to.equal(true)
      })
    })
    const waiting = sockets().map(({ writableLength }) => writableLength)
    expect(waiting).to.have.length.of.at.least(STREAMS)
    expect(Math.max(...waiting)).to.be.below(MEBIBYTE)
    const { heapUsed, external } = process.memoryUsage()
    expect(heapUsed + external - before.heapUsed - before.external).to.be.below(STREAMS * MEBIBYTE)
    expect((await http('GET', '/rules.html')).status, 'others are served').to.equal(200)

    // Nothing is missing, and nothing comes twice, for whoever reads on.
    const all = Array.from({ length: EVENTS }, (_, i) => String(i + 1))
    for (const { socket } of clients.slice(0, 5)) {
      let text = ''
      socket.on('data', piece => {
        text += piece.toString('latin1')
      })
      socket.resume()
      await eventually(() => {
        expect(text.length).to.be.above(EVENTS * EVENT)
        const found = Array.from(text.matchAll(/<li>(\d+)x/g), ([, i]) => i)
        expect(found).to.deep.equal(all)
      })
    }
    for (const each of clients) each.close()
    await eventually(() => expect(sockets().length).to.be.below(STREAMS))
  })
})
