import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, putAll, rulesPage } from '../../support/content.ts'
import { type Connection, connect, requestBytes, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const LARGE = Buffer.alloc(2 * 1024 * 1024, 'x')

describe('connections', () => {
  let server: TestServer
  let connection: Connection

  before(async () => {
    server = await startServer()
    await putAll(server, {
      '/page.html': page('<p>x</p>'),
      '/style.css': 'p{}',
      '/large.bin': LARGE,
      '/dir/index.html': page('x'),
      '/rules.html': rulesPage(['*', 'PUT|DELETE', 'Allow', '/w/*']),
    })
  })
  after(() => server.close())
  beforeEach(async () => {
    connection = await connect(server.port)
  })
  afterEach(() => connection.close())

  it('RFC 9112 §9.3 a connection stays for the next request, after answers of every kind', async () => {
    connection.send(requestBytes('GET', '/page.html'))
    const tag = tagOf(await connection.receive())
    const requests: [status: number, method: string, target: string, fields: Record<string, string>, body?: string][] =
      [
        [200, 'GET', '/page.html', {}],
        [200, 'HEAD', '/page.html', {}],
        [304, 'GET', '/page.html', { 'If-None-Match': tag }],
        [304, 'GET', '/page.html', { 'If-None-Match': `W/${tag}` }],
        [206, 'GET', '/page.html', { Range: 'selector=p' }],
        [206, 'GET', '/large.bin', { Range: 'bytes=5-9' }],
        [301, 'GET', '/dir', {}],
        [201, 'PUT', '/w/x.txt', {}, 'x'],
        [204, 'DELETE', '/w/x.txt', {}],
        [204, 'OPTIONS', '*', {}],
        [204, 'OPTIONS', '/page.html', { Accept: 'multipart/mixed' }],
        [400, 'GET', '/%zz', {}],
        [401, 'PUT', '/page.html', {}, 'x'],
        [404, 'HEAD', '/none.html', {}],
        [405, 'LOCK', '/page.html', {}],
        [416, 'GET', '/page.html', { Range: 'selector=h6' }],
        [200, 'GET', '/large.bin', {}],
        [200, 'HEAD', '/large.bin', {}],
      ]
    for (const [status, method, target, fields, body] of requests) {
      connection.send(requestBytes(method, target, fields, body))
      const received = await connection.receive({ head: method === 'HEAD' })
      expect(received.status, `${method} ${target}`).to.equal(status)
      expect(received.headers.connection ?? 'keep-alive', `${method} ${target}`).to.equal('keep-alive')
    }
  })

  it('RFC 9112 §9.3.2 pipelined requests are answered in their order', async () => {
    const requests: [status: number, method: string, target: string, fields: Record<string, string>, body?: string][] =
      [
        [200, 'GET', '/large.bin', {}],
        [404, 'GET', '/w/new.txt', {}],
        [200, 'GET', '/style.css', {}],
        [201, 'PUT', '/w/new.txt', {}, 'new'],
        [200, 'GET', '/w/new.txt', {}],
        [200, 'HEAD', '/page.html', {}],
        [401, 'PUT', '/page.html', {}, 'no'],
        [200, 'PUT', '/w/new.txt', {}, 'newer'],
        [206, 'GET', '/page.html', { Range: 'selector=p' }],
        [200, 'GET', '/w/new.txt', {}],
        [304, 'GET', '/style.css', { 'If-None-Match': '*' }],
        [204, 'DELETE', '/w/new.txt', {}],
        [404, 'GET', '/w/new.txt', {}],
        [200, 'GET', '/page.html', {}],
      ]
    for (let round = 0; round < 3; round++) {
      connection.send(
        Buffer.concat(requests.map(([, method, target, fields, body]) => requestBytes(method, target, fields, body))),
      )
      const texts: string[] = []
      for (const [status, method, target] of requests) {
        const received = await connection.receive({ head: method === 'HEAD' })
        expect(received.status, `${method} ${target}`).to.equal(status)
        if (target === '/w/new.txt' && method === 'GET' && status === 200) texts.push(received.text)
      }
      expect(texts).to.deep.equal(['new', 'newer'])
    }
  })

  it('many of them', async () => {
    connection.send(Buffer.concat(Array.from({ length: 300 }, (_, i) => requestBytes('GET', `/style.css?${i}`))))
    for (let i = 0; i < 300; i++) expect((await connection.receive()).text).to.equal('p{}')
  })

  it('bytes may come one at a time', async () => {
    for (const byte of requestBytes('PUT', '/w/slow.txt', {}, 'abc')) {
      connection.socket.setNoDelay(true)
      connection.send(Buffer.of(byte))
    }
    expect((await connection.receive()).status).to.equal(201)
  })

  it('Connection: close is kept to', async () => {
    for (const target of ['/page.html', '/page.html', '/none.html', '/large.bin']) {
      const other = await connect(server.port)
      other.send(requestBytes('GET', target, { Connection: 'close' }))
      expect((await other.receive()).headers.connection).to.equal('close')
      await other.ended
    }
  })

  it('what cannot be read behind a request is refused after the answer to it', async () => {
    for (const target of ['/page.html', '/large.bin']) {
      const other = await connect(server.port)
      other.send(Buffer.concat([requestBytes('GET', target), Buffer.from('garbage\r\n\r\n')]))
      const answer = await other.receive()
      expect(answer.status).to.equal(200)
      expect((await other.receive()).status).to.equal(400)
      await other.ended
    }
  })

  it('nothing is done behind an answer that ends the connection', async () => {
    connection.send(
      Buffer.concat([
        requestBytes('GET', '/large.bin', { Connection: 'close' }),
        requestBytes('PUT', '/w/behind.txt', {}, 'x'),
      ]),
    )
    expect((await connection.receive()).headers.connection).to.equal('close')
    await connection.ended
    const other = await connect(server.port)
    other.send(requestBytes('GET', '/w/behind.txt'))
    expect((await other.receive()).status).to.equal(404)
    other.close()
  })

  it('an offer to upgrade is not taken, and the connection ends with the answer', async () => {
    for (const Upgrade of ['h2c', 'websocket', 'TLS/1.0']) {
      const other = await connect(server.port)
      other.send(requestBytes('GET', '/page.html', { Upgrade, Connection: 'Upgrade' }))
      const { status, headers } = await other.receive()
      expect(status).to.equal(200)
      expect(headers).not.to.have.property('upgrade')
      await other.ended
    }
  })

  it('HTTP/2 without TLS is refused', async () => {
    connection.send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    expect((await connection.receive()).status).to.be.within(400, 505)
    await connection.ended
  })

  describe('HTTP/1.0', () => {
    const request = (target: string, fields = '') => `GET ${target} HTTP/1.0\r\nHost: localhost\r\n${fields}\r\n`

    it('is answered without chunks, and the connection is closed', async () => {
      for (const target of ['/page.html', '/page.html', '/large.bin', '/none.html']) {
        const other = await connect(server.port)
        other.send(request(target))
        const { headers, body } = await other.receive()
        expect(headers).not.to.have.property('transfer-encoding')
        expect(headers['content-length']).to.equal(String(body.length))
        expect(headers.connection).to.equal('close')
        await other.ended
      }
    })

    it('keeps the connection for who asks for it', async () => {
      for (let i = 0; i < 3; i++) {
        connection.send(request('/page.html', 'Connection: keep-alive\r\n'))
        expect((await connection.receive()).headers.connection).to.equal('keep-alive')
      }
    })

    it('without Host no site can be told: 400', async () => {
      connection.send('GET /page.html HTTP/1.0\r\n\r\n')
      expect((await connection.receive()).status).to.equal(400)
    })

    it('an absolute-form target tells it', async () => {
      connection.send('GET http://localhost/page.html HTTP/1.0\r\n\r\n')
      expect((await connection.receive()).status).to.equal(200)
    })

    it('writes', async () => {
      connection.send('PUT /w/old.txt HTTP/1.0\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc')
      expect((await connection.receive()).status).to.equal(201)
    })
  })

  it('many at once', async () => {
    await put(server, '/many.html', page('many'))
    const all = await Promise.all(Array.from({ length: 200 }, () => connect(server.port)))
    for (const each of all) each.send(requestBytes('GET', '/many.html'))
    const statuses = await Promise.all(all.map(async each => (await each.receive()).status))
    for (const each of all) each.close()
    expect(new Set(statuses)).to.deep.equal(new Set([200]))
  })
})
