/** Reads that come again in the same bytes on a connection: as they are when they are parsed, and never stale. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { basic, propfindBody } from '../../dav/wire.ts'
import { page, rulesPage } from '../../support/content.ts'
import {
  type Client,
  type Connection,
  client,
  connect,
  type Fields,
  type Received,
  requestBytes,
} from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const CREDENTIALS = [
  { user: 'ann', password: 'a', scope: ['/*'], write: true },
  { user: 'dora', password: 'd', scope: ['/docs/*'], write: true },
]
const ANN = basic('ann', 'a')
const FACTS = propfindBody('getetag', 'getcontentlength')
const PARSED = 'http.server.request.start'

/** Without what differs from answer to answer. */
function comparable({ status, lines, text }: Received): unknown {
  return { status, lines: lines.filter(([name]) => name !== 'Date' && name !== 'Set-Cookie'), text }
}

describe('reads that come again in the same bytes', () => {
  let server: TestServer
  let author: Client
  let ports: Record<'public' | 'mount', number>
  const open: Connection[] = []
  let parsed = 0
  const count = () => void parsed++

  before(async () => {
    // One process with the embedded store, whatever the tests around it use.
    server = await startServer({
      site: { credentials: CREDENTIALS, defaultGet: 'allow' },
      settings: { redis: undefined, postgres: undefined },
    })
    ports = { public: server.port, mount: Number(new URL(server.mountUrl).port) }
    author = client(ports.mount, { Authorization: ANN })
    subscribe(PARSED, count)
  })
  after(async () => {
    unsubscribe(PARSED, count)
    for (const each of open) each.close()
    await server.close()
  })

  /** Whoever asks the same again and again on one connection. */
  async function asker(face: 'public' | 'mount', method: string, path: string, fields: Fields = {}, body?: string) {
    const connection = await connect(ports[face])
    open.push(connection)
    const bytes = requestBytes(method, path, fields, body)
    const ask = async () => {
      connection.send(bytes)
      return await connection.receive({ head: method === 'HEAD' })
    }
    return {
      connection,
      ask,
      /** @returns the answer when it is known, and that it was not parsed */
      async known(): Promise<Received> {
        const first = await ask()
        for (let i = 0; i < 3; i++) await ask()
        const before = parsed
        const last = await ask()
        expect(parsed, 'parsed').to.equal(before)
        expect(comparable(last)).to.deep.equal(comparable(first))
        return last
      },
    }
  }

  type Asking = [name: string, ...Parameters<typeof asker>]
  const own = { Authorization: ANN }
  const ASKING: Asking[] = [
    ['a file', 'public', 'GET', '/docs/a.txt'],
    ['the head of a file', 'public', 'HEAD', '/docs/a.txt'],
    ['a page, each time with a session of its own', 'public', 'GET', '/docs/a.html'],
    ['a file on the mount', 'mount', 'GET', '/docs/a.txt', own],
    ['its head', 'mount', 'HEAD', '/docs/a.txt', own],
    ['a page on the mount', 'mount', 'GET', '/docs/a.html', own],
    ['properties', 'mount', 'PROPFIND', '/docs/a.txt', { ...own, Depth: '0' }, FACTS],
    ['properties without a body', 'mount', 'PROPFIND', '/docs/a.txt', { ...own, Depth: '0' }],
    ['a listing', 'mount', 'PROPFIND', '/docs/', { ...own, Depth: '1' }, FACTS],
  ]
  const CHANGES: [name: string, change: () => Promise<unknown>][] = [
    [
      'the content',
      async () => {
        await author('PUT', '/docs/a.txt', {}, 'another text')
        await author('PUT', '/docs/a.html', {}, page('<p>another</p>'))
      },
    ],
    [
      'what is there',
      async () => {
        await author('DELETE', '/docs/')
      },
    ],
  ]
  for (const [name, ...asking] of ASKING)
    for (const [changed, change] of CHANGES)
      it(`RULE-11 DAV-40 ${name}, until ${changed} changes`, async () => {
        await author('MKCOL', '/docs/')
        await author('PUT', '/docs/a.txt', {}, 'a text')
        await author('PUT', '/docs/a.html', {}, page('<p>one</p>'))
        const { known, ask } = await asker(...asking)
        const before = await known()
        await change()
        const now = await ask()
        expect(comparable(now)).not.to.deep.equal(comparable(before))
        const [face, method, path, fields, body] = asking
        const anew = await client(ports[face])(method, path, fields, body)
        expect([now.status, now.text]).to.deep.equal([anew.status, anew.text])
      })

  it('SSN-1 gives each new visitor a session', async () => {
    await author('PUT', '/docs/a.html', {}, page('<p>one</p>'))
    const { known, ask } = await asker('public', 'GET', '/docs/a.html')
    const cookies = [await known(), await ask(), await ask()].map(({ headers }) => headers['set-cookie'])
    expect(new Set(cookies).size).to.equal(3)
    expect(cookies).not.to.include(undefined)
  })

  it('HTTP-40 answers 304 as long as the tag is that of the file', async () => {
    await author('PUT', '/docs/a.txt', {}, 'a text')
    const { headers } = await author('GET', '/docs/a.txt')
    const { known, ask } = await asker('mount', 'GET', '/docs/a.txt', { ...own, 'If-None-Match': headers.etag })
    expect((await known()).status).to.equal(304)
    await author('PUT', '/docs/a.txt', {}, 'another text')
    expect(await ask()).to.deep.include({ status: 200, text: 'another text' })
  })

  it('RULE-11 asks the rules that are in force', async () => {
    await author('PUT', '/docs/a.txt', {}, 'a text')
    const { known, ask } = await asker('public', 'GET', '/docs/a.txt')
    expect((await known()).status).to.equal(200)
    await author('PUT', '/rules.html', {}, rulesPage(['*', 'GET', 'Deny', '/docs/*']))
    expect((await ask()).status).to.equal(401)
    await author('DELETE', '/rules.html')
    expect((await ask()).status).to.equal(200)
  })

  it('DAV-3 lets nobody in by bytes that somebody else was known by', async () => {
    await author('PUT', '/a.txt', {}, 'a text')
    const { connection, known, ask } = await asker('mount', 'GET', '/a.txt', own)
    expect((await known()).status).to.equal(200)
    for (const field of [basic('dora', 'd'), 'Basic YW5uOmI=', '', `${ANN}x`, 'Bearer b']) {
      connection.send(requestBytes('GET', '/a.txt', { Authorization: field }))
      expect((await connection.receive()).status, field).to.be.oneOf([401, 403, 404])
    }
    connection.send(requestBytes('GET', '/a.txt'))
    expect((await connection.receive()).status).to.equal(401)
    expect((await ask()).status).to.equal(200)
  })

  it('DAV-31 refuses a Depth that says nothing, also where one that is absent is known', async () => {
    await author('PUT', '/docs/a.txt', {}, 'a text')
    const { known } = await asker('mount', 'PROPFIND', '/docs/a.txt', own, FACTS)
    expect((await known()).status).to.equal(207)
    for (const Depth of ['undefined', '']) {
      const { ask } = await asker('mount', 'PROPFIND', '/docs/a.txt', { ...own, Depth }, FACTS)
      expect((await ask()).status, Depth).to.equal(400)
    }
  })

  it('counts them as requests', async () => {
    await author('PUT', '/docs/a.txt', {}, 'a text')
    const { known, ask } = await asker('public', 'GET', '/docs/a.txt')
    await known()
    const figure = async () =>
      /scriptorium_requests_total\{[^}]*method="GET"[^}]*\} (\d+)/.exec(
        (await client(ports.public)('GET', '/-platform/metrics')).text,
      )?.[1]
    const before = Number(await figure())
    for (let i = 0; i < 10; i++) await ask()
    expect(Number(await figure()) - before).to.be.within(10, 12)
  })
})
