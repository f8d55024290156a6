/**
 * Where one request ends and the next begins, on both surfaces (RFC 9112): each request is sent with another one behind it,
 * and it is either answered as what it is, the other one after it, or refused, and the connection ends.
 */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { basic } from '../../dav/wire.ts'
import { putAll, rulesPage } from '../../support/content.ts'
import { connect } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const CHUNKED = 'Transfer-Encoding: chunked'
const ABC = '3\r\nabc\r\n0\r\n\r\n'
const trailer = (lines: string) => `3\r\nabc\r\n0\r\n${lines}\r\n\r\n`

interface Sent {
  fields?: string
  body?: string
  target?: string
  version?: string
}

/** Statuses of all answers that come; `end` where the connection ends behind them. */
type Told = (number | 'end')[]

const STORED: Told = [204, 200]
const REFUSED: Told = [400, 'end']

const CASES: [what: string, sent: Sent, told: Told][] = [
  ['chunks', { body: ABC }, STORED],
  ['a trailer', { body: trailer('X-A: b') }, STORED],
  ['a trailer with another host', { body: trailer('Host: other.example') }, STORED],
  ['a trailer with a condition', { body: trailer('If-Match: "nope"') }, STORED],
  ['a trailer with If-None-Match', { body: trailer('If-None-Match: *') }, STORED],
  ['a trailer with Range', { body: trailer('Range: selector=p') }, STORED],
  ['a trailer with a type', { body: trailer('Content-Type: text/html') }, STORED],
  ['a trailer with Depth and Destination', { body: trailer('Destination: /other\r\nDepth: 0') }, STORED],
  ['a trailer with Upgrade', { body: trailer('Connection: upgrade\r\nUpgrade: x') }, [204, 'end']],
  ['a trailer with Connection', { body: trailer('Connection: close') }, [204, 'end']],
  ['a trailer with Content-Length', { body: trailer('Content-Length: 9') }, REFUSED],
  ['a trailer with Transfer-Encoding', { body: trailer(CHUNKED) }, REFUSED],
  ['a trailer without a colon', { body: trailer('x') }, REFUSED],
  ['a trailer with a blank in its name', { body: trailer('X A: b') }, REFUSED],
  ['a trailer of two lines', { body: trailer('X-A: b\r\n c') }, REFUSED],
  ['a trailer of 100 kB', { body: trailer(`X-A: ${'b'.repeat(100_000)}`) }, [431, 'end']],
  ['a trailer of 20,000 fields', { body: trailer('X-A: b\r\n'.repeat(20_000).trimEnd()) }, [431, 'end']],
  ['an extension', { body: `3;a=b${ABC.slice(1)}` }, STORED],
  ['a quoted extension', { body: `3;a="b;c"${ABC.slice(1)}` }, STORED],
  ['a line end in a quoted extension', { body: '3;a="\r\nabc\r\n0\r\n\r\n"' }, REFUSED],
  ['an extension that ends in LF', { body: '3;a\nabc\r\n0\r\n\r\n' }, REFUSED],
  ['CR in an extension', { body: '3;a\rb\r\nabc\r\n0\r\n\r\n' }, REFUSED],
  ['an extension of 20 kB', { body: `3;${'a'.repeat(20_000)}${ABC.slice(1)}` }, REFUSED],
  ...['3\nabc\r\n0\r\n\r\n', '3\r\nabc\n0\r\n\r\n', '3\r\nabc\r\n0\n\n', '3\r\nabc\r\n0\r\n\n'].map(
    (body): [string, Sent, Told] => [`LF alone: ${JSON.stringify(body)}`, { body }, REFUSED],
  ),
  ...['0003', '3;'].map((size): [string, Sent, Told] => [
    `a size of ${size}`,
    { body: size + ABC.slice(1) },
    size === '3;' ? REFUSED : STORED,
  ]),
  ...['0x3', '+3', '-3', ' 3', '3 ', '3\t;a', '', '10000000000000003', '3_0', '\u00b3', '3,3', '3.0', '3g'].map(
    (size): [string, Sent, Told] => [`a size of ${JSON.stringify(size)}`, { body: size + ABC.slice(1) }, REFUSED],
  ),
  ...[
    '3, 3',
    '+3',
    '0x3',
    '',
    '18446744073709551619',
    '3\r\nContent-Length: 3',
    '3\r\nContent-Length: 4',
    '\r\n 3',
  ].map((length): [string, Sent, Told] => [
    `a length of ${JSON.stringify(length)}`,
    { fields: `Content-Length: ${length}`, body: 'abc' },
    REFUSED,
  ]),
  ['a length with a blank before the colon', { fields: 'Content-Length : 3', body: 'abc' }, REFUSED],
  ['chunks and a length', { fields: `${CHUNKED}\r\nContent-Length: 3`, body: ABC }, REFUSED],
  ['a length and chunks', { fields: `Content-Length: 3\r\n${CHUNKED}`, body: ABC }, REFUSED],
  ['chunks twice', { fields: `${CHUNKED}\r\n${CHUNKED}`, body: ABC }, REFUSED],
  ['chunks in capitals', { fields: 'Transfer-Encoding: CHUNKED', body: ABC }, STORED],
  ...['\u000bchunked', 'chunked,', '', 'chunked\0', ', chunked, '].map((coding): [string, Sent, Told] => [
    `a coding of ${JSON.stringify(coding)}`,
    { fields: `Transfer-Encoding: ${coding}`, body: ABC },
    REFUSED,
  ]),
  ['chunks of HTTP/1.0', { fields: `${CHUNKED}\r\nConnection: keep-alive`, body: ABC, version: '1.0' }, REFUSED],
  ['HTTP/1.2', { body: ABC, version: '1.2' }, REFUSED],
  ['HTTP/2.0', { body: ABC, version: '2.0' }, [505, 'end']],
  ['a CR too many', { fields: 'Content-Length: 3\r', body: 'abc' }, REFUSED],
  ['CR in a field', { fields: 'X-A: a\rContent-Length: 3', body: 'abc' }, REFUSED],
]

describe('RFC 9112 the end of a request', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    await putAll(server, { '/rules.html': rulesPage(['*', 'PUT', 'Allow', '/f.txt']), '/next.txt': 'next' })
  })
  after(() => server.close())

  const SURFACES: [name: string, port: () => number][] = [
    ['public', () => server.port],
    ['mount', () => Number(new URL(server.mountUrl).port)],
  ]
  const head = (line: string, host = 'Host: localhost\r\n') =>
    `${line}\r\n${host}Authorization: ${basic(server.user, server.password)}\r\n`

  /** What comes back for bytes with another request behind them. */
  async function told(port: number, bytes: string): Promise<Told> {
    const connection = await connect(port)
    const next = head('GET /next.txt HTTP/1.1')
    connection.send(Buffer.from(`${bytes}${next}\r\n${next}Connection: close\r\n\r\n`, 'latin1'))
    const answers: Told = []
    for (;;) {
      const answer = await connection.receive().catch(() => undefined)
      if (!answer) break
      answers.push(answer.status)
      if (answer.text === 'next' && answer.headers.connection === 'close') break
    }
    await connection.ended
    // The very last request says only that the one before it has left the connection as it was.
    return answers.length > 2 ? answers.slice(0, -1) : [...answers, 'end']
  }

  for (const [name, port] of SURFACES) {
    for (const [what, { fields = CHUNKED, body = '', target = '/f.txt', version = '1.1' }, expected] of CASES)
      it(`${name}: ${what}`, async () => {
        await putAll(server, { '/f.txt': 'before' })
        const first = `${head(`PUT ${target} HTTP/${version}`)}Content-Type: text/plain\r\n${fields}\r\n\r\n${body}`
        const answers = await told(port(), first)
        const isStored = expected[0] === 204
        // A public PUT over a file is 200.
        if (isStored) expect(answers.shift()).to.be.oneOf([200, 204])
        expect(answers).to.deep.equal(isStored ? expected.slice(1) : expected)
        const stored = await server.site.find('/f.txt')
        expect(stored?.resource.size, 'stored').to.equal(isStored ? 3 : 6)
      })

    it(`${name}: RFC 9112 §9.6 nothing is answered behind a trailer that ends the connection after its answer`, async () => {
      const connection = await connect(port())
      connection.send(`${head('PUT /none/f.txt HTTP/1.1').replace(/Authorization.*\r\n/, '')}${CHUNKED}\r\n\r\n1\r\na`)
      expect((await connection.receive()).status).to.equal(401)
      connection.send(`\r\n0\r\nConnection: close\r\n\r\n${head('GET /next.txt HTTP/1.1')}\r\n`)
      await connection.ended
      expect(await connection.receive().catch((error: Error) => error.message)).to.match(/: ""$/)
    })

    for (const [what, lines] of [
      ['a control character in its target', ['HEAD /\x01 HTTP/1.1']],
      ['a target that is none', ['HEAD x HTTP/1.1']],
      ['a version that is none', ['HEAD / HTTP/9.1']],
      ['a field whose name has a blank', ['HEAD / HTTP/1.1', 'Host: x', 'A B: c']],
      ['two lengths', ['HEAD / HTTP/1.1', 'Host: x', 'Content-Length: 3', 'Content-Length: 4']],
    ] as const)
      it(`${name}: HTTP-56 HEAD with ${what} has no content either`, async () => {
        for (const isFirst of [true, false]) {
          const connection = await connect(port())
          if (!isFirst) {
            connection.send(`${head('GET /next.txt HTTP/1.1')}\r\n`)
            expect((await connection.receive()).status).to.equal(200)
          }
          connection.send(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'))
          const { status, headers } = await connection.receive({ head: true })
          expect(status).to.equal(400)
          expect(Number(headers['content-length'])).to.be.greaterThan(0)
          await connection.ended
          expect(await connection.receive().catch((error: Error) => error.message)).to.match(/: ""$/)
        }
      })

    it(`${name}: RFC 9112 §3.2 HTTP/1.1 without a host is 400, whatever its target`, async () => {
      for (const target of ['/next.txt', 'http://localhost/next.txt'])
        expect(await told(port(), `${head(`GET ${target} HTTP/1.1`, '')}\r\n`), target).to.deep.equal(REFUSED)
    })
  }
})
