import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, putAll } from '../../support/content.ts'
import { type Client, client, connect, requestBytes } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const WAIT = 200

describe('limits: heads of requests', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await putAll(server, { '/page.html': page('x') })
  })
  after(() => server.close())

  it('HTTP-181 a head over 32 KiB is 431, with a document, and the connection is closed', async () => {
    for (const fields of [
      { X: 'a'.repeat(33 * 1024) },
      { X: Array(900).fill('a'.repeat(45)) },
      { Cookie: 'a'.repeat(33 * 1024) },
    ]) {
      const connection = await connect(server.port)
      connection.send(requestBytes('GET', '/page.html', fields))
      const { status, headers, text } = await connection.receive()
      expect(status).to.equal(431)
      expect(headers).to.include({ connection: 'close', 'content-type': 'text/html; charset=utf-8' })
      expect(text).to.include('content="431"')
      await connection.ended
    }
  })

  it('HTTP-181 below it, one long field and many short ones are read', async () => {
    expect((await http('GET', '/page.html', { X: 'a'.repeat(30 * 1024) })).status).to.equal(200)
    expect((await http('GET', '/page.html', { X: Array(3000).fill('a') })).status).to.equal(200)
    const last = await http('GET', '/page.html', { X: Array(3000).fill('a'), 'If-Match': '"x"' })
    expect(last.status, 'also the last of them').to.equal(412)
  })

  const malformed: [name: string, bytes: string][] = [
    ['no request line', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['HTTP/0.9', 'GET /page.html\r\nHost: localhost\r\n\r\n'],
    ['another protocol', 'GET /page.html FTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['white space in the target', 'GET /pa ge.html HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['white space before the colon', 'GET /page.html HTTP/1.1\r\nHost : localhost\r\n\r\n'],
    ['a field without name', 'GET /page.html HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n'],
    ['a folded field', 'GET /page.html HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n'],
    ['NUL in a field', 'GET /page.html HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n'],
    ['a bare line end in a field', 'GET /page.html HTTP/1.1\r\nHost: localhost\r\nX: a\nY: b\r\n\r\n'],
    ['an unknown transfer coding', 'PUT /page.html HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: x\r\n\r\n'],
    ['chunks that are not last', 'PUT /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, gzip\r\n\r\n'],
  ]
  for (const [name, bytes] of malformed) {
    it(`RFC 9112 ${name} is refused and ends the connection`, async () => {
      const connection = await connect(server.port)
      connection.send(bytes)
      const { status, headers } = await connection.receive()
      expect(status).to.be.oneOf([400, 501, 505])
      expect(headers.connection).to.equal('close')
      await connection.ended
    })
  }

  it('a client that vanishes in the middle of anything harms nobody', async () => {
    for (const bytes of [
      '',
      'G',
      'GET /page.html HTTP/1.1\r\n',
      requestBytes('PUT', '/x', { 'Content-Length': '5' }),
      requestBytes('GET', '/page.html'),
    ]) {
      const connection = await connect(server.port)
      connection.send(bytes)
      connection.close()
    }
    expect((await http('GET', '/page.html')).status).to.equal(200)
  })
})

describe('HTTP-181 waiting for heads', () => {
  let server: TestServer

  before(async () => {
    server = await startServer({ settings: { limits: { headerWait: `${WAIT}ms` } } })
    await putAll(server, { '/page.html': page('x') })
  })
  after(() => server.close())

  it('a head that does not come in time is 408, and the connection is closed', async () => {
    const connections = await Promise.all(
      ['GET /page.html HTTP/1.1\r\nHost: local', 'GET ', 'GET / HTTP/1.1\r\n'].map(async text => {
        const connection = await connect(server.port)
        connection.send(text)
        return connection
      }),
    )
    for (const connection of connections) {
      const { status, headers } = await connection.receive()
      expect(status).to.equal(408)
      expect(headers.connection).to.equal('close')
      await connection.ended
    }
  })

  it('a connection between requests is left alone', async () => {
    const connection = await connect(server.port)
    connection.send(requestBytes('GET', '/page.html'))
    expect((await connection.receive()).status).to.equal(200)
    await new Promise(resolve => setTimeout(resolve, WAIT * 2))
    connection.send(requestBytes('GET', '/page.html'))
    expect((await connection.receive()).status).to.equal(200)
    connection.close()
  })
})
