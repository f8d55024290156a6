/** Requests that announce no body, on a server that reads none: as if they had announced an empty one. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, connect, type Fields } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const HTML = { 'Content-Type': 'text/html' }

describe('requests without a body', () => {
  let server: TestServer
  let visitors: Client
  let mount: Client
  let authorization: string

  before(async () => {
    server = await startServer()
    authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
    visitors = client(server.port)
    mount = client(Number(new URL(server.mountUrl).port), { Authorization: authorization })
    await putAll(server, { '/rules.html': rulesPage(['*', '*', 'Allow', '/**']) })
  })
  after(() => server.close())

  const REQUESTS: [face: 'public' | 'mount', method: string, target: string, fields?: Fields][] = [
    ['public', 'PUT', '/w/blob.txt', { 'Content-Type': 'text/plain' }],
    ['public', 'PUT', '/w/page.html', HTML],
    ['public', 'PUT', '/w/list.html', { ...HTML, Range: 'selector=ul' }],
    ['public', 'POST', '/w/list.html', HTML],
    ['public', 'POST', '/w/list.html', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['public', 'POST', '/w/list.html', { 'Content-Type': 'multipart/form-data; boundary=b' }],
    ['public', 'QUERY', '/w/list.html', { 'Content-Type': 'text/css-selector' }],
    ['public', 'DELETE', '/w/list.html', { Range: 'selector=ul' }],
    ['public', 'GET', '/w/list.html'],
    ['mount', 'PUT', '/w/blob.txt', { 'Content-Type': 'text/plain' }],
    ['mount', 'PUT', '/w/page.html', HTML],
    ['mount', 'POST', '/w/', { 'Content-Type': 'multipart/form-data; boundary=b' }],
    ['mount', 'POST', '/w/list.html', HTML],
    ['mount', 'PROPFIND', '/w/', { Depth: '0' }],
    ['mount', 'PROPPATCH', '/w/list.html'],
    ['mount', 'REPORT', '/w/', { Depth: '0' }],
    ['mount', 'MKCOL', '/w/made/'],
    ['mount', 'LOCK', '/w/list.html', { Timeout: 'Second-10' }],
  ]
  for (const [face, method, target, fields = {}] of REQUESTS)
    it(`${face}: ${method} ${target}, ${fields['Content-Type'] ?? 'of no type'}`, async () => {
      const ask = face === 'mount' ? mount : visitors
      const seen: unknown[] = []
      for (const length of [{ 'Content-Length': '0' }, {}, { Expect: '100-continue' }]) {
        await put(server, '/w/list.html', page('<ul><li>x</li></ul>'))
        const { status, text } = await ask(method, target, { ...fields, ...length })
        seen.push([status >= 200 && status < 300 ? 'done' : status, status === 422 ? text : ''])
        if (method === 'MKCOL') await mount('DELETE', target)
      }
      expect(seen[1]).to.deep.equal(seen[0])
      expect(seen[2]).to.deep.equal(seen[0])
    })

  it('PUT stores nothing, and the connection goes on', async () => {
    const connection = await connect(server.port)
    connection.send('PUT /w/none.txt HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n\r\n')
    expect((await connection.receive()).status).to.equal(201)
    connection.send('GET /w/none.txt HTTP/1.1\r\nHost: localhost\r\n\r\n')
    const { status, body } = await connection.receive()
    expect([status, body.length]).to.deep.equal([200, 0])
    connection.close()
  })
})
