/** What is forbidden in any case is refused before anything is looked for: the time of a look would tell what is there. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, putAll, rulesPage } from '../support/content.ts'
import { client, type Fields, type Received } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

describe('bytes that somebody may not read', () => {
  const servers: TestServer[] = []
  let server: TestServer

  before(async () => {
    const first = await startServer({ site: { defaultGet: 'deny' } })
    servers.push(first)
    await putAll(first, { '/rules.html': rulesPage(['*', '*', 'Allow', '/open/*']), '/open/x.html': page('<p>x</p>') })
    await put(first, '/closed/x.html', page('<p>x</p>'))
    await put(first, '/closed/x.bin', 'x')
    await first.stop()
    // Nothing is in memory any more.
    server = await startServer({ site: { defaultGet: 'deny' }, data: first.data })
    servers.push(server)
  })
  after(() => servers.at(-1)?.close())

  const REQUESTS: [what: string, method: string, fields: Fields, body?: string][] = [
    ['the whole', 'GET', {}],
    ['its head', 'HEAD', {}],
    ['an element', 'GET', { Range: 'selector=p' }],
    ['bytes', 'GET', { Range: 'bytes=0-1' }],
    ['its items', 'GET', { Accept: 'application/ld+json' }],
    ['a condition', 'GET', { 'If-None-Match': '"x"' }],
    ['events', 'GET', { Accept: 'text/event-stream' }],
    ['a selector', 'QUERY', { 'Content-Type': 'text/css-selector' }, 'p'],
    ['a program', 'QUERY', { 'Content-Type': 'text/sessel' }, '1'],
    ['another content', 'PUT', {}, 'x'],
    ['a condition of a write', 'PUT', { 'If-Match': '"x"' }, 'x'],
    ['nothing', 'DELETE', {}],
    ['another place', 'MOVE', { Destination: '/open/y.html' }],
    ['the place of another one', 'MOVE', { Destination: '/closed/y.html' }],
  ]
  const told = ({ status, headers, text }: Received, path: string) => {
    const { 'set-cookie': _, date: __, ...rest } = headers
    return JSON.stringify([status, rest, text]).replaceAll(path, '').replaceAll(encodeURIComponent(path), '')
  }
  for (const [what, method, fields, body] of REQUESTS)
    it(`SEC-6 ${method}, ${what}: refused without a look`, async () => {
      const http = client(server.port)
      for (const path of ['/closed/x.html', '/closed/x.bin']) {
        const answer = await http(method, path, fields, body)
        expect(answer.status).to.equal(401)
        expect(server.site.inMemory(path), path).to.equal(undefined)
        const missing = path.replace('x.', 'n.')
        expect(told(answer, path)).to.equal(told(await http(method, missing, fields, body), missing))
      }
    })

  it('what may be read is found', async () => {
    expect((await client(server.port)('GET', '/open/x.html')).status).to.equal(200)
    expect(server.site.inMemory('/open/x.html')).not.to.equal(undefined)
  })
})
