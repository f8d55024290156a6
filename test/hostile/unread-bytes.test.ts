/** What is forbidden in any case is refused before anything is looked for: the time of a look would tell what is there. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, putAll, rulesPage } from '../support/content.ts'
import { client, type Fields, type Received } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const RULES: Parameters<typeof rulesPage> = [
  ['*', '*', 'Allow', '/open/*'],
  ['*', 'MOVE', 'Allow', '/moved/*'],
  ['*', 'MOVE', 'Allow', '/moved-out/*'],
  ['*', 'DELETE', 'Allow', '/moved-out/*'],
  ['*', 'MOVE', 'Allow', '/moved-in/*'],
  ['*', 'POST', 'Allow', '/moved-in/*'],
  ['users', '*', 'Allow', '/hidden/*', 'p'],
  ['*', '*', 'Deny', '/hidden/*'],
  ['*', '*', 'Allow', '/hidden/*', 'p'],
]

describe('bytes that somebody may not read', () => {
  const servers: TestServer[] = []
  let server: TestServer

  before(async () => {
    const first = await startServer({ site: { defaultGet: 'deny' } })
    servers.push(first)
    await putAll(first, { '/rules.html': rulesPage(...RULES), '/open/x.html': page('<p>x</p>') })
    for (const folder of ['closed', 'moved', 'moved-out', 'moved-in', 'hidden']) {
      await put(first, `/${folder}/x.html`, page('<p>x</p>'))
      await put(first, `/${folder}/x.bin`, 'x')
    }
    await first.stop()
    // Nothing is in memory any more.
    server = await startServer({ site: { defaultGet: 'deny' }, data: first.data })
    servers.push(server)
  })
  after(() => servers.at(-1)?.close())

  const MOVED = { Range: 'selector=p', 'Destination-Range': 'selector=body; placement=append' }
  const HALVES: [what: string, folder: string, method: string, fields: Fields, body?: string][] = [
    ['who may move, and neither take nor put', 'moved', 'MOVE', MOVED],
    ['who may move and take, and not put', 'moved-out', 'MOVE', MOVED],
    ['who may move and put, and not take', 'moved-in', 'MOVE', MOVED],
    ['who may move, and not replace', 'moved', 'PUT', { Range: 'selector=p' }, '<p>y</p>'],
    ['who may read no element that an Allow could be for', 'hidden', 'GET', { Range: 'selector=p' }],
    ['who may write no element that an Allow could be for', 'hidden', 'PUT', { Range: 'selector=p' }, '<p>y</p>'],
  ]

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
    ['every element', 'GET', { Range: 'selector=p', Accept: 'multipart/mixed' }],
    ['the items of an element', 'GET', { Range: 'selector=p', Accept: 'application/ld+json' }],
    ['a new page by a template', 'POST', { 'Content-Type': 'application/x-www-form-urlencoded' }, 'a=b'],
    ['another element', 'PUT', { Range: 'selector=p' }, '<p>y</p>'],
    ['an element more', 'POST', { Range: 'selector=p' }, '<p>y</p>'],
    ['an element less', 'DELETE', { Range: 'selector=p' }],
    ['a part of an element', 'PATCH', { Range: 'selector=p' }],
  ]
  for (const [what, folder, method, fields, body] of HALVES)
    it(`SEC-6 ${method} by ${what}: refused without a look`, async () => {
      const http = client(server.port)
      for (const name of ['x.html', 'x.bin']) {
        const [path, missing] = [`/${folder}/${name}`, `/${folder}/n.${name.slice(2)}`]
        const to = (at: string) => ({ ...fields, ...(method === 'MOVE' && { Destination: at }) })
        const answer = await http(method, path, to(path), body)
        expect(answer.status).to.equal(401)
        expect(server.site.inMemory(path), path).to.equal(undefined)
        expect(told(answer, path)).to.equal(told(await http(method, missing, to(missing), body), missing))
      }
    })

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
