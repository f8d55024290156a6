/** Requests that come again in the same bytes: what the parser would see, and nothing else, is answered before it. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { expect } from 'chai'
import fc from 'fast-check'
import { after, describe, it } from 'mocha'
import { KnownRequests, noteRequest } from '../../edge/known-requests.ts'
import { Fault } from '../../pipeline/fault.ts'
import { connections } from '../../server/connections.ts'
import { ENDLESS } from '../../server/descriptors.ts'
import { listen } from '../../server/listen.ts'
import { connect as open } from '../support/http.ts'

const MANY = 1 << 20

/** A server that says what it was asked, and answers reads of known bytes without their being parsed. */
class Echo {
  readonly known = new KnownRequests(MANY)
  readonly server: Server
  isInStep = true
  /** Lets what is being sent come to its end. */
  readonly close: () => Promise<void>
  /** What known answers have behind them. */
  padding = ''
  parsed = 0
  repeated = 0

  constructor(isDirect = true) {
    const { handle, refused, watch, close } = connections(
      { handler: this.#answer, brokenDocument: () => ({ headers: {}, body: '' }), room: ENDLESS },
      { known: this.known, isInStep: () => this.isInStep, trusts: () => !isDirect },
    )
    this.server = createServer(handle)
    watch(this.server, false)
    this.server.on('clientError', (_error, socket) => void refused(socket))
    this.close = () => close(this.server, 150_000)
  }

  readonly #answer: RequestListener = (request, response) => {
    this.parsed++
    let body = ''
    request.setEncoding('latin1').on('data', more => (body += more))
    request.once('end', () => {
      const content = told(request, body)
      response.setHeader('Content-Length', content.length).end(content)
    })
    if (request.method === 'GET' || request.method === 'PROPFIND')
      request.once('end', () =>
        noteRequest(request, () => (socket, authorization = '') => {
          this.repeated++
          const content = this.padding + line(`${request.method} ${request.url} ${authorization}`, body)
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${content.length}\r\n\r\n${content}`)
          return true
        }),
      )
  }

  async listen(): Promise<this> {
    this.server.listen(0, '127.0.0.1')
    await once(this.server, 'listening')
    echoes.push(this)
    return this
  }

  /** A connection on which each piece has been read before the next is sent. */
  async connect(): Promise<{ client: Socket; send(piece: string): Promise<void> }> {
    const { port } = this.server.address() as AddressInfo
    const accepted = once(this.server, 'connection')
    const client = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
    const [side] = (await accepted) as [Socket]
    sockets.push(client, side)
    let sent = 0
    return {
      client,
      async send(piece) {
        client.write(piece, 'latin1')
        sent += piece.length
        while (side.bytesRead < sent && !side.destroyed) await new Promise(resolve => setImmediate(resolve))
      },
    }
  }

  /** Sends pieces one after another. @returns what was told of each request, when so many were answered */
  async ask(pieces: readonly string[], requests: number): Promise<string[]> {
    const { client, send } = await this.connect()
    let text = ''
    const heard = new Promise<void>(resolve => {
      client.on('data', more => {
        text += more
        if (text.split('HTTP/1.1 ').length > requests && text.endsWith('.')) resolve()
      })
      client.once('close', resolve)
    })
    for (const piece of pieces) {
      await send(piece)
      if (piece.startsWith('GET') || piece.startsWith('PROPFIND')) await turns()
    }
    await heard
    client.destroy()
    return text.split(/HTTP\/1\.1 200 OK\r\n(?:[^\r\n]+\r\n)*\r\n/).slice(1)
  }
}

const echoes: Echo[] = []
const sockets: Duplex[] = []

/** What was written has been read, and answered, after so many turns. */
async function turns(): Promise<void> {
  for (let i = 0; i < 4; i++) await new Promise(resolve => setImmediate(resolve))
}

/** Content is told so that no answer looks like two. */
function line(asked: string, body: string): string {
  return `${asked} ${Buffer.from(body, 'latin1').toString('base64')}.`
}

function told({ method, url, headers }: IncomingMessage, body: string): string {
  return line(`${method} ${url} ${headers.authorization ?? ''}`, body)
}

const head = (line: string, ...fields: string[]) => [`${line} HTTP/1.1`, 'Host: a', ...fields, '', ''].join('\r\n')
const withBody = (line: string, body: string, ...fields: string[]) =>
  head(line, ...fields, `Content-Length: ${body.length}`) + body
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

const PLAIN = head('GET /plain')
const ASKED = withBody('PROPFIND /asked', '<propfind/>', 'Authorization: Basic YTpi')
/** Requests with what is told of them. Bodies look like requests that are known. */
const REQUESTS: [bytes: string, asked: string, body?: string][] = [
  [PLAIN, 'GET /plain '],
  [`\r\n${PLAIN}`, 'GET /plain '],
  [head('GET /own', 'Authorization: Basic YTpi'), 'GET /own Basic YTpi'],
  [head('GET /own', 'Authorization: Basic Yzpk'), 'GET /own Basic Yzpk'],
  [ASKED, 'PROPFIND /asked Basic YTpi', '<propfind/>'],
  [withBody('POST /whole', PLAIN), 'POST /whole ', PLAIN],
  [withBody('POST /two', PLAIN + ASKED), 'POST /two ', PLAIN + ASKED],
  [withBody('PUT /lines', 'x\r\n\r\n'), 'PUT /lines ', 'x\r\n\r\n'],
  [`${head('PUT /parts', 'Transfer-Encoding: chunked')}${chunk(PLAIN)}0\r\n\r\n`, 'PUT /parts ', PLAIN],
  [`${head('PUT /trailer', 'Transfer-Encoding: chunked')}${chunk(ASKED)}0\r\nX: y\r\n\r\n`, 'PUT /trailer ', ASKED],
  [withBody('GET /odd', PLAIN), 'GET /odd ', PLAIN],
]

/** @param cuts places, as parts of the whole, where bytes come apart */
function cutAt(bytes: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.map(cut => Math.floor(cut * bytes.length)))].filter(Boolean).sort((a, b) => a - b)
  return [0, ...places].map((place, i) => bytes.slice(place, places[i]))
}

describe('requests that come again in the same bytes', () => {
  after(() => {
    for (const socket of sockets) socket.destroy()
    for (const { server } of echoes) {
      server.close()
      server.closeAllConnections()
    }
  })

  const requests = fc.array(fc.constantFrom(...REQUESTS), { minLength: 1, maxLength: 12 })
  const cut = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })

  it('are answered in their turn, however the bytes of a connection come apart (RFC 9112 §9.3)', async () => {
    const echo = await new Echo().listen()
    await fc.assert(
      fc.asyncProperty(requests, fc.array(cut, { maxLength: 8 }), fc.boolean(), async (sent, cuts, whole) => {
        const pieces = whole ? sent.map(([bytes]) => bytes) : cutAt(sent.map(([bytes]) => bytes).join(''), cuts)
        expect(await echo.ask(pieces, sent.length)).to.deep.equal(sent.map(([, asked, body = '']) => line(asked, body)))
      }),
      { numRuns: 300 },
    )
    expect(echo.repeated).to.be.greaterThan(100)
  })

  it('are not parsed again, each on any connection that has asked before', async () => {
    const echo = await new Echo().listen()
    expect(await echo.ask([PLAIN, PLAIN, PLAIN], 3)).to.have.length(3)
    expect([echo.parsed, echo.repeated]).to.deep.equal([1, 2])
    expect(await echo.ask([PLAIN, PLAIN, ASKED, ASKED], 4)).to.have.length(4)
    expect([echo.parsed, echo.repeated]).to.deep.equal([3, 4])
  })

  const PARSED: [name: string, bytes: string[], echo?: Echo, prepare?: (echo: Echo) => void][] = [
    ['those with a cookie', [head('GET /', 'Cookie: a=b')]],
    ['those with a secret in another spelling', [head('GET /', 'AUTHORIZATION: Basic YTpi')]],
    ['those with a secret in a second field', [head('GET /', 'authorization: a b', 'Authorization: c d')]],
    ['those with one behind it', [head('GET /', 'Authorization: a b', 'authorization:c d')]],
    ['those with a secret for a proxy', [head('GET /', 'Proxy-Authorization: Basic YTpi')]],
    ['those of HTTP/1.0', ['GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n']],
    ['those that are long', [head('GET /', `X: ${'x'.repeat(4096)}`)]],
    ['those that come in pieces', ['GET / HTTP/1.1\r\nHost: a\r\n', '\r\n']],
    ['writes', [withBody('PUT /', 'x')]],
    ['those from a proxy', [PLAIN], new Echo(false)],
    ['those that have to wait for others', [PLAIN], new Echo(), echo => (echo.isInStep = false)],
  ]
  for (const [name, bytes, echo = new Echo(), prepare] of PARSED)
    it(`are parsed: ${name}`, async () => {
      prepare?.(echo)
      await echo.listen()
      await echo.ask([...bytes, ...bytes, ...bytes], 3)
      expect([echo.parsed, echo.repeated]).to.deep.equal([3, 0])
    })

  it('are no longer known when others were asked since, and keep no secret', async () => {
    const echo = await new Echo().listen()
    const asked = (user: number) => head(`GET /${user}`, `Authorization: Basic secret-${user}`)
    for (let user = 0; user < 2000; user++) await echo.ask([asked(user)], 1)
    expect(echo.known.bytes).to.be.within(MANY / 2, MANY)
    expect(echo.known.find(asked(1999))).to.equal(undefined)
    expect(echo.known.find(asked(1999).replace('Basic secret-1999', ''))).not.to.equal(undefined)
    expect(echo.known.find(asked(0).replace('Basic secret-0', ''))).to.equal(undefined)
  })

  it('are looked at now and then where none has come again for long: clients may number their requests', async () => {
    const echo = await new Echo().listen()
    const { send } = await echo.connect()
    const ask = async (bytes: string) => {
      await send(bytes)
      await turns()
    }
    for (let i = 0; i < 640; i++) await ask(head(`GET /numbered/${1000 + i}`))
    const each = new KnownRequests(MANY)
    each.add(head('GET /numbered/1000'), () => true)
    expect(echo.known.bytes / each.bytes).to.be.within(64, 74)
    for (let i = 0; i < 128; i++) await ask(PLAIN)
    const before = echo.repeated
    for (let i = 0; i < 10; i++) await ask(PLAIN)
    expect(echo.repeated - before).to.equal(10)
  })

  it('that look alike up to where a line ends are refused by the parser, which decides (RFC 9112 §2.2)', async () => {
    const BROKEN = ['A: b\nC: d\r\n\r\n', 'A: b\n\n', 'A: b\n\r\n', 'A: b\rC: d\r\n\r\n', 'A: b\r\n\n\r\n']
    for (const rest of BROKEN) {
      const echo = await new Echo().listen()
      const { send } = await echo.connect()
      await send(`GET / HTTP/1.1\r\nHost: a\r\n${rest}`)
      await turns()
      expect(echo.parsed, JSON.stringify(rest)).to.equal(0)
    }
  })

  it('are not answered behind one that the parser has refused', async () => {
    const echo = await new Echo().listen()
    const { send } = await echo.connect()
    await send(PLAIN)
    await turns()
    await send('NO REQUEST\r\n\r\n')
    await send(PLAIN)
    await turns()
    expect([echo.parsed, echo.repeated]).to.deep.equal([1, 0])
  })

  it('that are refused are judged by their own bytes, whatever comes on other connections meanwhile', async () => {
    const waiting: ServerResponse[] = []
    const listener = await listen((_request, response) => waiting.push(response), {
      host: '127.0.0.1',
      port: 0,
      headers: 32_768,
      headerWait: 60_000,
      brokenDocument: ({ message }) => ({ headers: {}, body: message }),
      notOffered: method => new Fault(501, 'NotImplemented', method),
      byBytes: { known: new KnownRequests(MANY), isInStep: () => true, trusts: () => false },
    })
    const port = Number(new URL(listener.origin).port)
    const [own, other] = [await open(port), await open(port)]
    own.send(PLAIN)
    while (waiting.length === 0) await turns()
    own.send('OWNWORD /mine HTTP/1.1\r\nHost: a\r\n\r\n')
    await turns()
    other.send('HEADXYZ /other HTTP/1.1\r\nHost: a\r\n\r\n')
    expect(await other.receive()).to.deep.include({ status: 501, text: 'HEADXYZ' })
    waiting[0]?.end('first')
    expect((await own.receive()).text).to.equal('first')
    expect(await own.receive()).to.deep.include({ status: 501, text: 'OWNWORD' })
    for (const each of [own, other]) each.close()
    await listener.close(0)
  })

  it('have their answers sent to the end when the server ends', async () => {
    const echo = await new Echo().listen()
    const { client, send } = await echo.connect()
    await send(PLAIN)
    await once(client, 'data')
    client.pause()
    echo.padding = 'x'.repeat(1 << 24)
    await send(PLAIN)
    const closed = echo.close()
    await turns()
    let length = 0
    client.on('data', more => (length += more.length)).resume()
    await closed
    await once(client, 'close')
    expect([echo.repeated, length > 1 << 24]).to.deep.equal([1, true])
  })

  it('are followed no longer when the connection belongs to nobody who parses', async () => {
    const echo = await new Echo().listen()
    const taken: Duplex[] = []
    echo.server.on('connect', (_request, socket) => taken.push(socket))
    const { send } = await echo.connect()
    await send(head('CONNECT a:1'))
    await turns()
    await send(PLAIN)
    await turns()
    expect([taken.length, echo.parsed, echo.repeated]).to.deep.equal([1, 0, 0])
  })
})
