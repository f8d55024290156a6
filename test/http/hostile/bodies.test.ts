import { readdir } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect as connectTo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { connections } from '../../../server/connections.ts'
import { ENDLESS } from '../../../server/descriptors.ts'
import { page, put, rulesPage } from '../../support/content.ts'
import { eventually } from '../../support/eventually.ts'
import { type Client, client, connect, exchange, type Fields, type Received, requestBytes } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, leavesAlone, selecting, stateOf } from '../write-checks.ts'

const DOC = page('<ul id="l"><li id="a">a</li></ul>')
const IDLE = 150
const PATHS = ['/d.html', '/blob.bin', '/new.html', '/new.bin']

/** Whole and element writes: a body for each must arrive in order before anything changes. */
const TARGETS: [name: string, method: string, target: string, fields: Fields][] = [
  ['PUT of a document', 'PUT', '/d.html', {}],
  ['PUT of a new document', 'PUT', '/new.html', {}],
  ['PUT of a blob', 'PUT', '/blob.bin', {}],
  ['PUT of a new blob', 'PUT', '/new.bin', {}],
  ['PUT of an element', 'PUT', '/d.html', selecting('#a')],
  ['POST into an element', 'POST', '/d.html', selecting('#l')],
  ['creation by POST', 'POST', '/made/', {}],
]

const made = (server: TestServer) => server.site.store.list('/made/')

/** Everything that could be left behind on disk by an upload that did not end well. */
async function staged(server: TestServer): Promise<string[]> {
  const folders = await readdir(server.data, { recursive: true })
  return folders.filter(name => /stag|tmp/i.test(name) && !name.endsWith('/') && name.includes('/'))
}

/** The failure came, nothing is any different, nothing is left over, and the server goes on. */
async function harmless(server: TestServer, run: () => Promise<Received | undefined>): Promise<string> {
  const [list, files] = [await made(server), await staged(server)]
  const answer = await leavesAlone(server, PATHS, run)
  expect(await made(server)).to.deep.equal(list)
  // What a client has broken off is cleared away when its connection is gone.
  await eventually(async () => expect(await staged(server)).to.deep.equal(files))
  expect((await client(server.port)('GET', '/d.html')).text).to.equal(DOC)
  return answer ? failureOf(answer) : 'closed'
}

async function furnish(server: TestServer): Promise<void> {
  await put(server, '/d.html', DOC)
  await put(server, '/blob.bin', 'blob')
}

describe('hostile bodies', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({
      site: { maxBody: '300KiB', maxDocument: '100KiB' },
    })
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'PUT|POST|DELETE|MOVE', 'Allow', '/*']))
  })
  after(() => server.close())
  beforeEach(() => furnish(server))

  for (const [name, method, target, fields] of TARGETS) {
    const head = (more: Fields) => requestBytes(method, target, { ...fields, ...more })

    it(`HTTP-83 ${name}: a body shorter than its Content-Length writes nothing`, async () => {
      const bytes = Buffer.concat([head({ 'Content-Length': '5000' }), Buffer.from('<li>cut off')])
      expect(await harmless(server, () => exchange(server, bytes, true))).to.be.oneOf(['closed', '400 BadRequest'])
    })

    it(`HTTP-182 ${name}: a client that disconnects leaves nothing behind`, async () => {
      expect(
        await harmless(server, async () => {
          const connection = await connect(server.port)
          connection.send(head({ 'Content-Length': '200000' }))
          connection.send('<li>'.repeat(10_000))
          connection.socket.resetAndDestroy()
          await connection.ended
          // Until the server has seen it, too: a round trip of its own.
          await http('GET', '/d.html')
          return undefined
        }),
      ).to.equal('closed')
    })

    it(`HTTP-83 ${name}: chunks that end early or are none write nothing`, async () => {
      for (const chunks of [
        '4\r\n<li>\r\n',
        '4\r\n<li>\r\n8\r\n',
        'zz\r\n<li>\r\n0\r\n\r\n',
        '-1\r\n\r\n',
        '4\r\n<li>xx\r\n0\r\n\r\n',
      ]) {
        const bytes = Buffer.concat([head({ 'Transfer-Encoding': 'chunked' }), Buffer.from(chunks)])
        expect(await harmless(server, () => exchange(server, bytes, true)), chunks).to.be.oneOf([
          'closed',
          '400 BadRequest',
        ])
      }
    })

    it(`RFC 9112 ${name}: contradictory lengths are 400`, async () => {
      const lengths: Fields[] = [
        { 'Content-Length': '4', 'Transfer-Encoding': 'chunked' },
        { 'Content-Length': ['4', '5'] },
        { 'Content-Length': '4, 5' },
        { 'Content-Length': '-4' },
        { 'Content-Length': '0x4' },
        { 'Content-Length': 'four' },
        { 'Content-Length': '4 4' },
        { 'Content-Length': '+4' },
        { 'Content-Length': '99999999999999999999999' },
        { 'Transfer-Encoding': 'chunked, gzip' },
        { 'Transfer-Encoding': 'chunked, chunked' },
        { 'Transfer-Encoding': 'xchunked' },
      ]
      for (const more of lengths) {
        const bytes = Buffer.concat([head(more), Buffer.from('4\r\n<li>\r\n0\r\n\r\n')])
        const failure = await harmless(server, () => exchange(server, bytes, true))
        expect(failure, JSON.stringify(more)).to.be.oneOf(['400 BadRequest', '413', 'closed', '501 NotImplemented'])
      }
    })

    it(`RFC 9112 ${name}: a transfer coding that nobody undoes is 501`, async () => {
      for (const coding of ['gzip, chunked', 'deflate, Chunked', 'identity, chunked'])
        for (const end of ['\r\n0\r\n\r\n', '']) {
          const bytes = Buffer.concat([head({ 'Transfer-Encoding': coding }), Buffer.from(`4\r\n<li>${end}`)])
          const failure = await harmless(server, () => exchange(server, bytes, true))
          expect(failure, coding).to.equal('501 NotImplemented')
        }
    })

    it(`HTTP-180 HTTP-181 ${name}: over its cap, declared or in chunks, is 413 and the connection ends`, async () => {
      const cap = target === '/d.html' || target === '/new.html' ? 100 * 1024 : 300 * 1024
      const declared = await harmless(server, async () => {
        const connection = await connect(server.port)
        connection.send(head({ 'Content-Length': String(cap + 1) }))
        connection.send(Buffer.alloc(cap + 1, '<li>'))
        const answer = await connection.receive()
        await connection.ended
        return answer
      })
      expect(declared).to.equal('413')
      const chunked = await harmless(server, async () => {
        const connection = await connect(server.port)
        connection.send(head({ 'Transfer-Encoding': 'chunked' }))
        const chunk = Buffer.concat([Buffer.from('4000\r\n'), Buffer.alloc(0x4000, '<li>'), Buffer.from('\r\n')])
        connection.socket.on('error', () => {})
        for (let sent = 0; sent <= cap + 0x4000; sent += 0x4000) connection.send(chunk)
        const answer = await connection.receive()
        connection.send('0\r\n\r\n')
        await connection.ended
        return answer
      })
      expect(chunked).to.equal('413')
    })
  }

  it('HTTP-180 exactly at the cap is accepted', async () => {
    const exact = (size: number) => page('x').padEnd(size, ' ')
    expect((await http('PUT', '/full.html', {}, exact(100 * 1024))).status).to.equal(201)
    expect((await http('PUT', '/full.bin', {}, Buffer.alloc(300 * 1024))).status).to.equal(201)
    expect(failureOf(await http('PUT', '/full.html', {}, exact(100 * 1024 + 1)))).to.equal('413')
    expect(failureOf(await http('PUT', '/full.bin', {}, Buffer.alloc(300 * 1024 + 1)))).to.equal('413')
  })

  it('HTTP-181 many small fragments cannot push a document beyond its cap', async () => {
    await put(server, '/grow.html', page('<ul id="l"></ul>'))
    const item = `<li>${'x'.repeat(30_000)}</li>`
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) {
      const answer = await http('POST', '/grow.html', selecting('#l'), item)
      statuses.push(answer.status)
      if (answer.status !== 206) expect(failureOf(answer)).to.equal('413')
    }
    expect(statuses).to.deep.equal([206, 206, 206, 413, 413])
    const { bytes } = await stateOf(server, '/grow.html')
    expect(bytes?.length).to.be.below(100 * 1024)
  })

  it('HTTP-83 a body longer than its Content-Length is stored up to there; the rest is no request', async () => {
    const connection = await connect(server.port)
    connection.send(requestBytes('PUT', '/short.bin', { 'Content-Length': '4' }, 'abcdGARBAGE\r\n\r\n'))
    expect((await connection.receive()).status).to.equal(201)
    expect((await connection.receive()).status).to.equal(400)
    await connection.ended
    expect((await http('GET', '/short.bin')).text).to.equal('abcd')
  })

  it('HTTP-83 chunk extensions and trailers are no content', async () => {
    const body = '3;name="va;lue"\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: x\r\n\r\n'
    const answer = await exchange(
      server,
      Buffer.concat([requestBytes('PUT', '/ext.bin', { 'Transfer-Encoding': 'chunked' }), Buffer.from(body)]),
    )
    expect(answer?.status).to.equal(201)
    expect((await http('GET', '/ext.bin')).text).to.equal('abcde')
  })

  it('HTTP-83 a chunked body of single bytes is the same as one piece', async () => {
    const chunks = [...DOC].map(char => `${Buffer.byteLength(char)}\r\n${char}\r\n`).join('')
    const bytes = Buffer.concat([
      requestBytes('PUT', '/d.html', { 'Transfer-Encoding': 'chunked' }),
      Buffer.from(`${chunks}0\r\n\r\n`),
    ])
    expect((await exchange(server, bytes))?.status).to.equal(200)
    expect((await http('GET', '/d.html')).text).to.equal(DOC)
  })

  for (const path of ['/single.html', '/single.bin'])
    it(`HTTP-83 SEC-12 of a body of single bytes no more pieces are kept than short ones may be: ${path}`, async () => {
      const { concat } = Buffer
      let most = 0
      Buffer.concat = (list, ...rest) => {
        most = Math.max(most, list.length)
        return concat(list, ...rest)
      }
      try {
        const head = requestBytes('PUT', path, { 'Transfer-Encoding': 'chunked' })
        const body = `${'1\r\nx\r\n'.repeat(20_000)}0\r\n\r\n`
        expect((await exchange(server, concat([head, Buffer.from(body)])))?.status).to.equal(201)
      } finally {
        Buffer.concat = concat
      }
      expect(most).to.be.within(1, 1_000)
      expect((await http('GET', path)).text).to.equal('x'.repeat(20_000))
    })

  it('HTTP-83 SEC-12 of a body of single bytes that nobody reads yet, few wait, and the rest comes when it is read', async () => {
    const { promise, resolve } = Promise.withResolvers<IncomingMessage>()
    const brokenDocument = () => ({ headers: {}, body: '' })
    const own = createServer(connections({ handler: resolve, brokenDocument, room: ENDLESS }, undefined).handle)
    await new Promise<void>(done => own.listen(0, '127.0.0.1', done))
    const socket = connectTo((own.address() as AddressInfo).port, '127.0.0.1')
    try {
      socket.write(requestBytes('PUT', '/d', { 'Transfer-Encoding': 'chunked' }))
      socket.write(`${'1\r\nx\r\n'.repeat(40_000)}0\r\n\r\n`)
      const request = await promise
      await eventually(async () => expect(request.readableLength).to.be.above(256))
      for (let turn = 0; turn < 50; turn++) await setImmediate()
      expect(request.readableLength).to.be.below(25_000)
      let size = 0
      for await (const piece of request) size += (piece as Buffer).length
      expect(size).to.equal(40_000)
    } finally {
      socket.destroy()
      own.close()
    }
  })

  it('HTTP-180 a flood of refused uploads leaves nothing, and the server answers', async () => {
    await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const connection = await connect(server.port)
        connection.socket.on('error', () => {})
        connection.send(requestBytes('PUT', `/flood/${i}.bin`, { 'Content-Length': String(1e9) }))
        connection.send(Buffer.alloc(100_000))
        expect((await connection.receive()).status).to.equal(413)
        connection.close()
      }),
    )
    expect(await server.site.store.list('/flood/')).to.deep.equal([])
    expect((await http('GET', '/d.html')).status).to.equal(200)
  })

  describe('heads', () => {
    it('HTTP-181 more than 32 KiB of header fields is 431', async () => {
      for (const fields of [
        { 'X-Long': 'x'.repeat(40_000) },
        { 'X-Many': Array.from({ length: 4_000 }, (_, i) => `value ${i}`) },
        { Range: `selector=${'a'.repeat(40_000)}` },
        { Cookie: 'a=b; '.repeat(8_000) },
      ]) {
        const answer = await leavesAlone(server, ['/d.html'], () => http('PUT', '/d.html', fields, DOC))
        expect(failureOf(answer)).to.equal('431 HeaderTooLarge')
        expect(answer.headers.connection).to.equal('close')
      }
    })

    it('HTTP-181 thousands of short fields under the limit are read', async () => {
      const fields = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`X-${i}`, 'x']))
      expect((await http('PUT', '/d.html', fields, DOC)).status).to.equal(200)
    })

    const broken: [name: string, bytes: string][] = [
      ['no HTTP at all', 'hello\r\n\r\n'],
      ['another version', 'PUT /d.html HTTP/9.9\r\nHost: localhost\r\n\r\n'],
      ['HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
      ['no target', 'PUT HTTP/1.1\r\nHost: localhost\r\n\r\n'],
      ['a space before the colon', 'PUT /d.html HTTP/1.1\r\nHost: localhost\r\nContent-Length : 4\r\n\r\nabcd'],
      ['a folded field', 'PUT /d.html HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\nContent-Length: 4\r\n\r\nabcd'],
      [
        'a control character in a value',
        'PUT /d.html HTTP/1.1\r\nHost: localhost\r\nX: a\u0001b\r\nContent-Length: 4\r\n\r\nabcd',
      ],
      ['NUL in a value', 'PUT /d.html HTTP/1.1\r\nHost: localhost\r\nX: a\u0000b\r\nContent-Length: 4\r\n\r\nabcd'],
      ['bare CR', 'PUT /d.html HTTP/1.1\rHost: localhost\r\r'],
      ['a field without a colon', 'PUT /d.html HTTP/1.1\r\nHost: localhost\r\nnonsense\r\n\r\n'],
      ['an empty field name', 'PUT /d.html HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n'],
      ['two hosts', 'PUT /d.html HTTP/1.1\r\nHost: localhost\r\nHost: other\r\nContent-Length: 4\r\n\r\nabcd'],
      ['no host', 'PUT /d.html HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcd'],
      ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
    ]
    for (const [name, text] of broken) {
      it(`RFC 9112 ${name}: an answer or the end of the connection, and nothing is written`, async () => {
        const failure = await harmless(server, () => exchange(server, Buffer.from(text, 'latin1'), true))
        expect(failure).to.match(/^(400 BadRequest|505 \w+|closed)$/)
      })
    }

    it('RFC 9112 a request hidden in the body of another is no request', async () => {
      const hidden = 'DELETE /d.html HTTP/1.1\r\nHost: localhost\r\n\r\n'
      const connection = await connect(server.port)
      connection.send(requestBytes('PUT', '/carrier.bin', {}, hidden))
      expect((await connection.receive()).status).to.equal(201)
      connection.send(requestBytes('GET', '/d.html'))
      expect((await connection.receive()).status).to.equal(200)
      connection.close()
      expect((await http('GET', '/carrier.bin')).text).to.equal(hidden)
    })

    it('RFC 9112 requests sent without waiting are answered in order, writes included', async () => {
      const connection = await connect(server.port)
      const requests = Array.from({ length: 20 }, (_, i) => requestBytes('PUT', `/pipe/${i}.txt`, {}, String(i)))
      connection.send(Buffer.concat([...requests, requestBytes('GET', '/pipe/7.txt')]))
      for (let i = 0; i < 20; i++) expect((await connection.receive()).status).to.equal(201)
      expect((await connection.receive()).text).to.equal('7')
      connection.close()
    })

    it('RFC 9110 an expectation that cannot be met is 417', async () => {
      const answer = await leavesAlone(server, ['/d.html'], () => http('PUT', '/d.html', { Expect: 'wonders' }, DOC))
      expect(failureOf(answer)).to.equal('417 BadRequest')
    })
  })
})

describe('bodies and heads that stop arriving', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({ settings: { limits: { bodyIdle: `${IDLE}ms`, headerWait: '300ms' } } })
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'PUT|POST|DELETE|MOVE', 'Allow', '/*']))
  })
  after(() => server.close())
  beforeEach(() => furnish(server))

  for (const [name, method, target, fields] of TARGETS) {
    const head = (more: Fields) => requestBytes(method, target, { ...fields, ...more })

    it(`HTTP-181 ${name}: a body that stops arriving is 408`, async () => {
      const bytes = Buffer.concat([head({ 'Content-Length': '500' }), Buffer.from('<li>slow')])
      expect(await harmless(server, () => exchange(server, bytes))).to.equal('408 Timeout')
    })

    it(`HTTP-181 ${name}: chunks that stop arriving are 408`, async () => {
      const bytes = Buffer.concat([head({ 'Transfer-Encoding': 'chunked' }), Buffer.from('4\r\n<li>\r\n5\r\nsl')])
      expect(await harmless(server, () => exchange(server, bytes))).to.equal('408 Timeout')
    })
  }

  it('HTTP-181 slow bodies that keep moving are read', async () => {
    const connection = await connect(server.port)
    const body = 'slow and steady'
    connection.send(requestBytes('PUT', '/steady.bin', { 'Content-Length': String(body.length) }))
    for (const letter of body) {
      connection.send(letter)
      await new Promise(resolve => setTimeout(resolve, IDLE / 5))
    }
    expect((await connection.receive()).status).to.equal(201)
    connection.close()
    expect((await http('GET', '/steady.bin')).text).to.equal(body)
  })

  it('HTTP-181 a head that does not arrive is 408 or the end of the connection', async () => {
    for (const head of ['', 'PUT /d.html HT', 'PUT /d.html HTTP/1.1\r\nHost: localhost\r\nX: ']) {
      const answer = await leavesAlone(server, ['/d.html'], async () => {
        const connection = await connect(server.port)
        connection.send(head)
        const received = await Promise.race([connection.receive().catch(() => undefined), connection.ended])
        connection.close()
        return received ?? undefined
      })
      if (answer) expect(failureOf(answer)).to.equal('408 Timeout')
    }
  })
})
