import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { bytesOfBodies, limitBodies } from '../../edge/request-body.ts'
import { writingJsonLd } from '../../pipeline/tree/json-ld.ts'
import { atOnce } from '../../pipeline/tree/steps.ts'
import { trigger } from '../pipeline/react/site.ts'
import { page, put, rulesPage } from '../support/content.ts'
import { eventually } from '../support/eventually.ts'
import { type Client, client, connect, requestBytes } from '../support/http.ts'
import { runsInTime } from '../support/loop-hold.ts'
import { startServer, type TestServer } from '../support/server.ts'

describe('exhaustion: what requests may occupy together', () => {
  let server: TestServer
  let http: Client
  let mount: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    const basic = Buffer.from(`${server.user}:${server.password}`).toString('base64')
    mount = client(Number(new URL(server.mountUrl).port), { Authorization: `Basic ${basic}` })
    await put(server, '/rules.html', rulesPage(['*', 'GET|PUT|POST|MOVE', 'Allow', '/*']))
    await put(server, '/a.html', page('<ul id="list"></ul>'))
  })
  after(() => server.close())

  describe('bodies in memory', () => {
    const query = { 'Content-Type': 'text/css-selector', Expect: '100-continue' }

    it('SEC-12 a QUERY of more than 256 KiB is 413 before 100 Continue, on both faces', async () => {
      const length = String(256 * 1024 + 1)
      expect((await http('QUERY', '/a.html', { ...query, 'Content-Length': length })).status).to.equal(413)
      const port = Number(new URL(server.mountUrl).port)
      const connection = await connect(port)
      const basic = Buffer.from(`${server.user}:${server.password}`).toString('base64')
      const fields = { ...query, Authorization: `Basic ${basic}`, 'Content-Length': '900000000' }
      connection.send(requestBytes('QUERY', '/a.html', fields))
      expect((await connection.receive()).status).to.equal(413)
      connection.close()
      expect((await mount('QUERY', '/a.html', { 'Content-Type': 'text/css-selector' }, 'ul')).status).to.equal(201)
    })

    it('SEC-12 bodies of all requests share one allowance: beyond it 503 with Retry-After, then there is room again', async () => {
      const small = await startServer({ settings: { limits: { bodies: '1MiB', bodyIdle: '5m', leaseWait: '5m' } } })
      try {
        await put(small, '/rules.html', rulesPage(['*', 'POST', 'Allow', '/*']))
        await put(small, '/a.html', page('<ul id="list"></ul>'))
        const post = client(small.port)
        const body = `<li>${'x'.repeat(700_000)}</li>`
        const fields = { Range: 'selector=#list' }
        const first = await connect(small.port)
        first.send(requestBytes('POST', '/a.html', fields, body).subarray(0, -10))
        await eventually(() => expect(bytesOfBodies()).to.equal(body.length - 10))
        const second = await post('POST', '/a.html', fields, body)
        expect([second.status, second.headers['retry-after']]).to.deep.equal([503, '5'])
        first.send(body.slice(-10))
        expect((await first.receive()).status).to.equal(206)
        first.close()
        await eventually(async () => expect((await post('POST', '/a.html', fields, body)).status).to.equal(206))
      } finally {
        await small.close()
        limitBodies(256 * 1024 * 1024)
      }
    })
  })

  it('SEC-12 REA-40 files that code of reactions looks at count as held: 20 at once find room for a few', async () => {
    const small = await startServer({ settings: { limits: { bodies: '4MiB', bodyIdle: '5m', leaseWait: '5m' } } })
    try {
      await put(small, '/rules.html', rulesPage(['*', 'PUT', 'Allow', '/*']))
      await put(
        small,
        '/t.html',
        page(trigger({ resource: '/files/*', when: 'Context.request.body == ""', action: '1' })),
      )
      const body = Buffer.alloc(300_000, 'x')
      const all = await Promise.all(
        Array.from({ length: 20 }, async (_, i) => {
          const connection = await connect(small.port)
          connection.send(
            requestBytes('PUT', `/files/${i}.txt`, { 'Content-Type': 'text/plain' }, body).subarray(0, -10),
          )
          const answer = { status: 0, retry: undefined as string | undefined }
          const answered = connection.receive().then(({ status, headers }) => {
            answer.status = status
            answer.retry = headers['retry-after']
          })
          return { connection, answer, answered }
        }),
      )
      const refused = () => all.filter(({ answer }) => answer.status === 503)
      // Each is held twice: in pieces and as a whole.
      await eventually(async () => expect(refused().length).to.equal(14))
      expect(refused().every(({ answer }) => answer.retry === '5')).to.equal(true)
      for (const { connection, answer } of all) if (answer.status === 0) connection.send(body.subarray(-10))
      await Promise.all(all.map(({ answered }) => answered))
      expect(all.filter(({ answer }) => answer.status === 201).length).to.equal(6)
      for (const { connection } of all) connection.close()
    } finally {
      await small.close()
      limitBodies(256 * 1024 * 1024)
    }
  })

  describe('cyclic itemref as JSON-LD', () => {
    const cyclic = (count: number) => {
      const all = Array.from({ length: count }, (_, i) => `i${i}`).join(' ')
      return page(
        Array.from({ length: count }, (_, i) => `<p id="i${i}" itemprop="p" itemscope itemref="${all}"></p>`).join('') +
          `<div itemscope itemref="${all}"></div>`,
      )
    }
    for (const count of [10, 90])
      it(`HTTP-72 ${count} items that refer to each other leave the loop to others`, async () => {
        await put(server, '/cycle.html', cyclic(count))
        await runsInTime(async () => {
          const answers = await Promise.all(
            Array.from({ length: 10 }, () => http('GET', '/cycle.html', { Accept: 'application/ld+json' })),
          )
          for (const { status } of answers) expect(status).to.equal(422)
        })
      })

    it('HTTP-72 what is written again stays in proportion to what is written once', () => {
      const leaf = { element: undefined as never, types: [], properties: [] as never[] }
      const property = (value: unknown) => ({ name: 'p', element: undefined as never, value: value as never })
      const level = (inner: unknown) => ({ ...leaf, properties: [property(inner), property(inner)] as never[] })
      let item: unknown = { ...leaf, properties: [property('x')] as never[] }
      for (let depth = 0; depth < 20; depth++) item = level(item)
      expect(() => atOnce(writingJsonLd([item as never]))).to.throw()
    })
  })

  it('DAV-82 shared locks on one path are bounded', async () => {
    const body =
      '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:shared/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'
    const statuses = new Map<number, number>()
    for (let i = 0; i < 66; i++) {
      const { status } = await mount('LOCK', '/a.html', { Depth: '0' }, body)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    expect([...statuses]).to.deep.equal([
      [200, 64],
      [507, 2],
    ])
  })

  it('a request pipelined behind one with Upgrade is told to come again: the connection ends', async () => {
    const connection = await connect(server.port)
    const upgrade = { Upgrade: 'websocket', Connection: 'Upgrade' }
    connection.send(Buffer.concat([requestBytes('GET', '/a.html', upgrade), requestBytes('GET', '/a.html')]))
    const answer = await connection.receive()
    expect([answer.status, answer.headers.connection]).to.deep.equal([200, 'close'])
    await connection.ended
  })

  for (const name of ['/._x', '/.DS_Store', '/d/Thumbs.db', '/~$a.docx'])
    it(`DAV-70 the public face knows no helper file: ${name}`, async () => {
      for (const method of ['GET', 'PUT', 'POST', 'DELETE'])
        expect((await http(method, name, {}, method === 'PUT' ? 'x' : undefined)).status, method).to.equal(404)
      await put(server, '/m.txt', 'x')
      expect((await http('MOVE', '/m.txt', { Destination: name })).status).to.equal(404)
    })
})
