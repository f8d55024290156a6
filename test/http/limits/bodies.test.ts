import { readdirSync } from 'node:fs'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { instance, property, schema } from '../../pipeline/model/markup.ts'
import { listPage } from '../../pipeline/model/shelf.ts'
import { page, put, putAll, remove, rulesPage } from '../../support/content.ts'
import { eventually } from '../../support/eventually.ts'
import { type Client, type Connection, client, connect, type Fields, requestBytes, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const CAP = 1024 * 1024
const DOCUMENTS = 64 * 1024
const IDLE = 150

/** Sends the beginning of a request on a connection of its own. */
async function talking(
  { port }: TestServer,
  head: Buffer | string,
  test: (connection: Connection) => Promise<void>,
): Promise<void> {
  const connection = await connect(port)
  try {
    connection.send(head)
    await test(connection)
  } finally {
    connection.close()
  }
}

describe('limits: bodies', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    const site = { maxBody: CAP, maxDocument: DOCUMENTS }
    server = await startServer({ site })
    http = client(server.port)
    await putAll(server, {
      '/page.html': page('<p>x</p>'),
      '/w/page.html': page('<p>x</p><ul></ul>'),
      '/rules.html': rulesPage(['*', '*', 'Allow', '/w/*']),
    })
  })
  after(() => server.close())

  /** Files of the data folder, without those of the database. */
  const files = () =>
    readdirSync(server.data, { recursive: true, encoding: 'utf8' }).filter(name => !/sqlite|\.db/.test(String(name)))

  const sending = (head: Buffer | string, test: (connection: Connection) => Promise<void>) =>
    talking(server, head, test)

  describe('HTTP-180 a declared length above the cap', () => {
    for (const method of ['PUT', 'POST', 'QUERY', 'DELETE', 'MOVE', 'PATCH', 'GET', 'HEAD', 'OPTIONS']) {
      it(`${method} is 413 at once, unread, without 100 Continue, and the connection is closed`, async () => {
        const fields = {
          'Content-Length': String(CAP + 1),
          Expect: '100-continue',
          'Content-Type': 'text/css-selector',
        }
        await sending(requestBytes(method, '/w/big.txt', fields), async connection => {
          const { status, headers } = await connection.receive({ head: method === 'HEAD' })
          expect(status).to.equal(413)
          expect(headers.connection).to.equal('close')
          await connection.ended
        })
      })
    }

    it('also where it is beyond all numbers', async () => {
      for (const length of ['99999999999999999999999', '1e9', '0x10', '-1', '+5', '5,5', ' ']) {
        await sending(requestBytes('PUT', '/w/big.txt', { 'Content-Length': length }), async connection => {
          expect((await connection.receive()).status, length).to.be.oneOf([400, 413])
        })
      }
    })

    it('a client that sends its body all the same can read the answer', async () => {
      const { status } = await http('PUT', '/w/big.txt', {}, Buffer.alloc(CAP + 1))
      expect(status).to.equal(413)
    })
  })

  describe('HTTP-180 a length that is counted', () => {
    const chunk = (bytes: Buffer) =>
      Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
    const head = (target: string, fields: Fields = {}, method = 'PUT') =>
      requestBytes(method, target, { 'Transfer-Encoding': 'chunked', ...fields })

    const writes: [name: string, target: string, cap: number, fields: Fields][] = [
      ['blob', '/w/counted.bin', CAP, {}],
      ['page', '/w/counted.html', DOCUMENTS, {}],
      ['fragment', '/w/page.html', DOCUMENTS, { Range: 'selector=p' }],
    ]
    for (const [name, target, cap, fields] of writes) {
      it(`413 as soon as the count passes the cap, nothing is stored: ${name}`, async () => {
        const before = files()
        const old = await http('GET', target)
        await sending(head(target, fields), async connection => {
          connection.send(chunk(Buffer.alloc(cap, 'x')))
          connection.send(chunk(Buffer.from('x')))
          const { status, headers } = await connection.receive()
          expect({ status, connection: headers.connection }).to.deep.equal({ status: 413, connection: 'close' })
        })
        const now = await http('GET', target)
        expect({ status: now.status, text: now.text }).to.deep.equal({ status: old.status, text: old.text })
        expect(files()).to.deep.equal(before)
      })
    }

    it('exactly at the cap is accepted', async () => {
      await sending(head('/w/exact.bin'), async connection => {
        connection.send(chunk(Buffer.alloc(CAP - 1)))
        connection.send(chunk(Buffer.alloc(1)))
        connection.send('0\r\n\r\n')
        expect((await connection.receive()).status).to.equal(201)
      })
      expect((await http('HEAD', '/w/exact.bin')).headers['content-length']).to.equal(String(CAP))
    })

    it('trailers and extensions of chunks are read over', async () => {
      await sending(head('/w/trailer.txt'), async connection => {
        connection.send('3;x=y\r\nabc\r\n0\r\nX-Trailer: 1\r\n\r\n')
        expect((await connection.receive()).status).to.equal(201)
      })
      expect((await http('GET', '/w/trailer.txt')).text).to.equal('abc')
    })

    it('broken chunks are 400 and store nothing', async () => {
      for (const body of ['zz\r\nabc\r\n0\r\n\r\n', '3\r\nabcdef\r\n0\r\n\r\n', '-1\r\nabc\r\n', '\r\n\r\n']) {
        await sending(head('/w/broken.txt'), async connection => {
          connection.send(body)
          expect((await connection.receive()).status, JSON.stringify(body)).to.equal(400)
        })
      }
      expect((await http('GET', '/w/broken.txt')).status).to.equal(404)
    })
  })

  it('HTTP-180 a declared length exactly at the cap is accepted', async () => {
    expect((await http('PUT', '/w/exact2.bin', {}, Buffer.alloc(CAP))).status).to.equal(201)
  })

  it('HTTP-181 documents have a cap of their own, blobs do not', async () => {
    const html = (size: number) => `<p>${'x'.repeat(size - 3)}`
    expect((await http('PUT', '/w/exact.html', {}, html(DOCUMENTS))).status).to.equal(201)
    expect((await http('PUT', '/w/over.html', {}, html(DOCUMENTS + 1))).status).to.equal(413)
    expect((await http('PUT', '/w/over.xml', {}, `<a>${'x'.repeat(DOCUMENTS)}</a>`)).status).to.equal(413)
    expect((await http('PUT', '/w/over.txt', {}, html(DOCUMENTS + 1))).status).to.equal(201)
    expect((await http('PUT', '/w/page.html', { Range: 'selector=p' }, html(DOCUMENTS + 1))).status).to.equal(413)
  })

  it('HTTP-181 a document that its missing values would make larger than the cap is 413', async () => {
    const long = 'd'.repeat(DOCUMENTS / 2)
    await put(server, '/model.html', page(schema('x:y', {}, property('p', { default: long, cardinality: '1..1' }))))
    const items = (count: number) => listPage(...Array.from({ length: count }, () => instance('x:y')))
    expect((await http('PUT', '/w/filled.html', {}, items(1))).status).to.equal(201)
    expect((await http('PUT', '/w/filled.html', {}, items(2))).status).to.equal(413)
    const fields = { Range: 'selector=#list; placement=append' }
    expect((await http('POST', '/w/filled.html', fields, instance('x:y'))).status).to.equal(413)
    expect((await http('GET', '/w/filled.html')).text)
      .to.include(long)
      .and.have.length.below(DOCUMENTS)
    await remove(server, '/model.html')
  })

  describe('HTTP-181 trees', () => {
    const nested = (depth: number) => '<div>'.repeat(depth)
    it('of 512 levels are stored, deeper ones are 422', async () => {
      expect((await http('PUT', '/w/deep.html', {}, nested(510))).status).to.equal(201)
      expect((await http('PUT', '/w/deep.html', {}, nested(511))).status).to.equal(422)
      expect((await http('PUT', '/w/deep.xml', {}, `${'<a>'.repeat(513)}${'</a>'.repeat(513)}`)).status).to.equal(422)
    })

    it('also when an element makes them so', async () => {
      await put(server, '/w/grow.html', page(`${nested(400)}<p>`))
      const tag = tagOf(await http('GET', '/w/grow.html'))
      expect((await http('PUT', '/w/grow.html', { Range: 'selector=p' }, nested(200))).status).to.equal(422)
      expect((await http('POST', '/w/grow.html', { Range: 'selector=p' }, nested(200))).status).to.equal(422)
      expect(tagOf(await http('GET', '/w/grow.html'))).to.equal(tag)
    })

    it('elements have at most 1,000 attributes', async () => {
      const attributes = (count: number) => `<p ${Array.from({ length: count }, (_, i) => `a${i}`).join(' ')}>`
      expect((await http('PUT', '/w/wide.html', {}, attributes(1000))).status).to.equal(201)
      expect((await http('PUT', '/w/wide.html', {}, attributes(1001))).status).to.equal(422)
    })
  })

  it('a selector that is too costly on a document is 422, at once', async () => {
    await put(server, '/w/costly.html', `<p>${'<b>x</b>'.repeat(7000)}`)
    const costly = Array.from({ length: 100 }, (_, at) => `:nth-child(${at}n+3 of :not(.x${at}))`).join(',')
    for (const [method, fields, body] of [
      ['GET', { Range: `selector=${costly}` }, undefined],
      ['GET', { Range: `selector=${costly}`, Accept: 'multipart/mixed' }, undefined],
      ['PUT', { Range: `selector=${costly}` }, '<p>'],
      ['DELETE', { Range: `selector=${costly}` }, undefined],
      ['QUERY', { 'Content-Type': 'text/css-selector' }, costly],
    ] as const) {
      const { status } = await http(method, '/w/costly.html', fields, body)
      expect(status, method).to.equal(422)
    }
  })

  describe('100 Continue', () => {
    it('is sent when the body is wanted, and the write is made', async () => {
      const fields = { Expect: '100-continue', 'Content-Length': '3' }
      await sending(requestBytes('PUT', '/w/continued.txt', fields), async connection => {
        expect((await connection.receive()).status).to.equal(100)
        connection.send('abc')
        expect((await connection.receive()).status).to.equal(201)
      })
    })

    const refused: [status: number, method: string, target: string, fields: Fields][] = [
      [401, 'PUT', '/page.html', {}],
      [403, 'PUT', '/.platform/x', {}],
      [404, 'PUT', '/w/none.html', { Range: 'selector=p' }],
      [412, 'PUT', '/w/page.html', { 'If-Match': '"x"' }],
      [416, 'PUT', '/w/page.html', { Range: 'selector=h6' }],
      [405, 'PROPFIND', '/w/page.html', {}],
      [415, 'PUT', '/w/x.txt', { 'Content-Encoding': 'gzip' }],
    ]
    for (const [status, method, target, fields] of refused) {
      it(`RFC 9110 §10.1.1 is not sent for a ${status}, after which the connection is closed: nobody knows whether a body follows`, async () => {
        const head = { ...fields, Expect: '100-continue', 'Content-Length': '3' }
        await sending(requestBytes(method, target, head), async connection => {
          const received = await connection.receive()
          expect(received.status).to.equal(status)
          expect(received.headers.connection).to.equal('close')
          await connection.ended
        })
      })
    }

    it('RFC 9110 §10.1.1 another expectation is 417', async () => {
      expect((await http('PUT', '/w/x.txt', { Expect: 'a-miracle' }, 'x')).status).to.equal(417)
    })
  })

  describe('HTTP-83 HTTP-182 bodies that end early', () => {
    /** What is stored when nothing is on its way any more. */
    let settled: string[]
    before(async () => {
      await eventually(() => expect(files().filter(file => file.startsWith('staging/'))).to.deep.equal([]))
      settled = files()
    })
    for (const [name, target, fields] of [
      ['blob', '/w/early.bin', {}],
      ['large blob', '/w/early-large.bin', {}],
      ['page', '/w/early.html', {}],
      ['fragment', '/w/page.html', { Range: 'selector=p' }],
    ] as const) {
      it(`a client that disconnects leaves nothing behind: ${name}`, async () => {
        const old = await http('GET', target)
        const content = Buffer.alloc(name === 'large blob' ? 600_000 : 10, 'x')
        for (const framing of [{ 'Content-Length': String(content.length + 1) }, { 'Transfer-Encoding': 'chunked' }]) {
          const connection = await connect(server.port)
          connection.send(requestBytes('PUT', target, { ...fields, ...framing }))
          if (framing['Transfer-Encoding']) connection.send(`${(content.length + 1).toString(16)}\r\n`)
          connection.send(content)
          await http('GET', '/page.html')
          connection.close()
        }
        // The server hears of the end of a connection by and by.
        await eventually(() => expect(files()).to.deep.equal(settled))
        const now = await http('GET', target)
        expect({ status: now.status, text: now.text }).to.deep.equal({ status: old.status, text: old.text })
      })
    }
  })

  describe('a body that nobody wanted', () => {
    it('is no request: the connection goes on behind it', async () => {
      await sending(
        requestBytes('PUT', '/page.html', {}, 'GET /w/page.html HTTP/1.1\r\nHost: localhost\r\n\r\n'),
        async connection => {
          expect((await connection.receive()).status).to.equal(401)
          connection.send(requestBytes('GET', '/page.html'))
          const { status, text } = await connection.receive()
          expect(status).to.equal(200)
          expect(text).to.equal(page('<p>x</p>'))
        },
      )
    })

    it('and is large, ends the connection after the answer', async () => {
      const body = Buffer.alloc(CAP)
      const received = await http(
        'PUT',
        '/page.html',
        { 'Transfer-Encoding': 'chunked' },
        Buffer.concat([Buffer.from(`${CAP.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]),
      )
      expect(received.status).to.equal(401)
      expect(received.headers.connection).to.equal('close')
    })

    it('RFC 9112 §6.1 length and chunks together are 400', async () => {
      const both = { 'Content-Length': '3', 'Transfer-Encoding': 'chunked' }
      await sending(requestBytes('PUT', '/w/both.txt', both), async connection => {
        connection.send('0\r\n\r\n')
        expect((await connection.receive()).status).to.equal(400)
      })
      await sending(requestBytes('PUT', '/w/both.txt', { 'Content-Length': ['3', '4'] }), async connection => {
        expect((await connection.receive()).status).to.equal(400)
      })
      expect((await http('GET', '/w/both.txt')).status).to.equal(404)
    })
  })
})

describe('HTTP-181 waiting for bodies', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({ settings: { limits: { bodyIdle: `${IDLE}ms` } } })
    http = client(server.port)
    await putAll(server, {
      '/w/page.html': page('<p>x</p><ul></ul>'),
      '/rules.html': rulesPage(['*', '*', 'Allow', '/w/*']),
    })
  })
  after(() => server.close())

  const sending = (head: Buffer | string, test: (connection: Connection) => Promise<void>) =>
    talking(server, head, test)

  for (const [target, fields] of [
    ['/w/slow.bin', {}],
    ['/w/slow.html', {}],
    ['/w/page.html', { Range: 'selector=p' }],
  ] as const) {
    it(`a body that stops is ended with 408, or the connection is: ${target}`, async () => {
      const started = performance.now()
      await sending(requestBytes('PUT', target, { ...fields, 'Content-Length': '10' }), async connection => {
        connection.send('abc')
        const status = await connection.receive().then(
          received => received.status,
          () => 'closed',
        )
        expect(status).to.be.oneOf([408, 'closed'])
        await connection.ended
      })
      expect(performance.now() - started).to.be.at.least(IDLE * 0.9)
    })
  }

  it('a body that arrives while the server is busy with something else is not late', async () => {
    const fields = { Expect: '100-continue', 'Content-Length': '6' }
    await sending(requestBytes('PUT', '/w/waiting.txt', fields), async connection => {
      expect((await connection.receive()).status).to.equal(100)
      for (const half of ['abc', 'def']) {
        connection.send(half)
        for (const end = performance.now() + IDLE * 3; performance.now() < end; );
        await new Promise(resolve => setImmediate(resolve))
      }
      expect((await connection.receive()).status).to.equal(201)
    })
  })

  it('a body that has arrived may take the disk as long as it likes', async () => {
    const { store } = server.running
    const { stage } = store
    store.stage = async (body, options) => {
      store.stage = stage
      const staged = await stage(body, options)
      await new Promise(resolve => setTimeout(resolve, IDLE * 3))
      return staged
    }
    expect((await http('PUT', '/w/slow-disk.bin', {}, 'abc')).status).to.equal(201)
  })

  it('a body that keeps moving may take longer', async () => {
    await sending(requestBytes('PUT', '/w/moving.txt', { 'Content-Length': '6' }), async connection => {
      for (const letter of 'abcdef') {
        connection.send(letter)
        await new Promise(resolve => setTimeout(resolve, IDLE / 3))
      }
      expect((await connection.receive()).status).to.equal(201)
    })
    expect((await http('GET', '/w/moving.txt')).text).to.equal('abcdef')
  })
})
