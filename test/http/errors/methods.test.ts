import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, connect, requestBytes } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

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
    const { status } = await connection.receive()
    expect(status).to.equal(405)
    await connection.ended
  })

  for (const method of ['PURGE', 'SEARCH', 'REPORT', 'SUBSCRIBE', 'LINK', 'MKCALENDAR', 'M-SEARCH']) {
    it(`HTTP-115 ${method} is 501`, async () => {
      expect((await http(method, '/page.html')).status).to.equal(501)
      expect((await http(method, '/open.html')).status).to.equal(501)
    })
  }

  for (const method of ['BREW', 'get', 'G', 'GETT', 'OPTION']) {
    it(`HTTP-115 ${method}, which the parser refuses, is 400 or 501`, async () => {
      const connection = await connect(server.port)
      connection.send(requestBytes(method, '/page.html'))
      expect((await connection.receive()).status).to.be.oneOf([400, 501])
      connection.close()
    })
  }

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
