import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { ALLOW } from '../../../dav/methods/options.ts'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, connect, requestBytes } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const OF_THE_MOUNT = { dav: '1, 2, 3, extended-mkcol', 'ms-author-via': 'DAV' }
const OFFERED = 'GET, HEAD, PUT, DELETE, POST, MOVE, PATCH, QUERY, OPTIONS'

describe('methods', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await putAll(server, {
      '/page.html': page('<p>x</p>'),
      '/open.html': page('<p>x</p>'),
      '/rules.html': rulesPage(['*', '*', 'Allow', '/open.html']),
    })
  })
  after(() => server.close())

  for (const method of ['PROPFIND', 'PROPPATCH', 'MKCOL', 'COPY', 'LOCK', 'UNLOCK', 'TRACE']) {
    it(`HTTP-115 ${method} is 405 with Allow, whatever is there and whatever rules say`, async () => {
      for (const target of ['/page.html', '/open.html', '/none.html', '/', '/.platform/x']) {
        const { status, headers, text } = await http(method, target, { 'X-Echo': 'do-not-echo', Cookie: 'a=secret' })
        expect(status, target).to.equal(405)
        expect(headers.allow, target).to.equal(OFFERED)
        expect(text).not.to.match(/do-not-echo|secret/)
      }
    })
  }

  it('HTTP-115 CONNECT is 405, and the connection ends', async () => {
    const connection = await connect(server.port)
    connection.send('CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n')
    const { status, headers } = await connection.receive()
    expect(status).to.equal(405)
    expect(headers.allow).to.equal(OFFERED)
    await connection.ended
  })

  for (const method of ['PURGE', 'SEARCH', 'REPORT', 'SUBSCRIBE', 'LINK', 'MKCALENDAR', 'M-SEARCH']) {
    it(`HTTP-115 ${method} is 501`, async () => {
      expect((await http(method, '/page.html')).status).to.equal(501)
      expect((await http(method, '/open.html')).status).to.equal(501)
    })
  }

  for (const method of ['BREW', 'get', 'G', 'GETT', 'OPTION', 'VERSION-CONTROL']) {
    it(`HTTP-115 ${method}, which the parser does not know, is 501 with Allow`, async () => {
      const connection = await connect(server.port)
      connection.send(requestBytes(method, '/page.html'))
      const { status, headers } = await connection.receive()
      expect(status).to.equal(501)
      expect(headers.allow).to.equal(OFFERED)
      connection.close()
    })
  }

  it('HTTP-115 a method that the parser does not know is 501 behind other requests, too', async () => {
    const connection = await connect(server.port)
    connection.send(requestBytes('PUT', '/open.html', {}, '<p>y</p>'))
    expect((await connection.receive()).status).to.equal(200)
    connection.send(requestBytes('BREW', '/page.html'))
    expect((await connection.receive()).status).to.equal(501)
    connection.close()
  })

  for (const [name, bytes] of [
    ['a greeting of TLS', '\x16\x03\x01\x02\x00\x01'],
    ['words', 'Hello there\r\n\r\n'],
    ['a method with a character that none has', 'BR(W /page.html HTTP/1.1\r\nHost: x\r\n\r\n'],
  ] as const)
    it(`HTTP-115 ${name}: 400`, async () => {
      const connection = await connect(server.port)
      connection.send(Buffer.from(bytes, 'latin1'))
      expect((await connection.receive()).status).to.equal(400)
      connection.close()
    })

  for (const method of ['CONNECT', 'VERSION-CONTROL', 'BREW', 'PATCH', 'SEARCH'])
    it(`DAV-20 ${method} on the port of the mount is 405 with Allow and the class of WebDAV`, async () => {
      const { port, host } = new URL(server.mountUrl)
      const authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
      const connection = await connect(Number(port))
      connection.send(
        requestBytes(method, method === 'CONNECT' ? host : '/page.html', { Authorization: authorization }),
      )
      const { status, headers, text } = await connection.receive()
      expect(status).to.equal(405)
      expect(headers).to.include({ ...OF_THE_MOUNT, allow: ALLOW })
      expect(text).to.include('<meta itemprop="kind" content="MethodNotAllowed">')
      connection.close()
    })

  it('DAV-20 what is no request names the class of WebDAV, too', async () => {
    const connection = await connect(Number(new URL(server.mountUrl).port))
    connection.send('Hello there\r\n\r\n')
    const { status, headers } = await connection.receive()
    expect(status).to.equal(400)
    expect(headers).to.include(OF_THE_MOUNT)
    connection.close()
  })

  it('HTTP-115 PATCH is 501 after authorization, 401 without', async () => {
    expect((await http('PATCH', '/open.html', {}, 'x')).status).to.equal(501)
    expect((await http('PATCH', '/page.html', {}, 'x')).status).to.equal(401)
    expect((await http('OPTIONS', '/open.html')).headers.allow).to.match(/PATCH/)
  })

  it('HTTP-115 methods that are objects of JavaScript are no methods', async () => {
    for (const method of ['constructor', '__proto__', 'toString']) {
      const connection = await connect(server.port)
      connection.send(requestBytes(method, '/page.html'))
      expect((await connection.receive()).status).to.be.oneOf([400, 501])
      connection.close()
    }
  })
})
