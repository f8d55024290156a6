/** Requests that announce no body, as if they had announced an empty one, and bodies that come together with their heads. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mock } from 'node:test'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { requestBody } from '../../../edge/request-body.ts'
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

describe('short bodies', () => {
  /** How often a watch over a silent client was begun while a body was read. */
  async function watches(pieces: readonly string[]): Promise<{ body: string; watches: number }> {
    const begun = mock.method(globalThis, 'setInterval')
    const read = Promise.withResolvers<string>()
    const server = createServer((request, response) => {
      const source = requestBody(
        { stage: () => Promise.reject(new Error('not staged')), idle: 60_000 },
        request,
        response,
      )
      source.bytes(100).then(bytes => {
        response.end()
        read.resolve(Buffer.from(bytes).toString())
      }, read.reject)
      arrived.resolve()
    })
    const arrived = Promise.withResolvers<void>()
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const before = begun.mock.callCount()
    const connection = await connect((server.address() as AddressInfo).port)
    const [first = '', ...others] = pieces
    connection.send(first)
    await arrived.promise
    for (const piece of others) connection.send(piece)
    const body = await read.promise
    begun.mock.restore()
    connection.close()
    server.close()
    return { body, watches: begun.mock.callCount() - before }
  }

  const HEAD = 'PUT / HTTP/1.1\r\nHost: a\r\n'
  const BODIES: [name: string, pieces: string[], watches: number][] = [
    ['that came with the head', [`${HEAD}Content-Length: 5\r\n\r\nhello`], 0],
    ['that came later', [`${HEAD}Content-Length: 5\r\n\r\n`, 'hello'], 1],
    ['of which a part came with the head', [`${HEAD}Content-Length: 5\r\n\r\nhel`, 'lo'], 1],
    [
      'in a chunk as long as something says',
      [`${HEAD}Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n`, '2\r\nlo\r\n0\r\n\r\n'],
      1,
    ],
    ['with the next request behind it', [`${HEAD}Content-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\nHost: a\r\n\r\n`], 0],
  ]
  for (const [name, pieces, expected] of BODIES)
    it(`a body ${name} is read as a whole${expected === 0 ? ', and nobody waits for more' : ''}`, async () => {
      expect(await watches(pieces)).to.deep.equal({ body: 'hello', watches: expected })
    })
})
