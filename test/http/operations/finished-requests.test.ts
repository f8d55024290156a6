/** Who changes what, as the log and the record of changes tell it. */

import { once } from 'node:events'
import fs from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Histogram, Registry } from 'prom-client'
import { FACES, gatherRequests, logRequest, toldOf } from '../../../server/finished-requests.ts'
import { createLog } from '../../../server/log.ts'
import { createMetrics } from '../../../server/metrics.ts'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { eventually } from '../../support/eventually.ts'
import { client, connect } from '../../support/http.ts'
import { startProcess } from '../../support/process.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { withEmail } from '../../support/visitors.ts'

const BASIC = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

describe('what is counted and logged of every request', () => {
  it('the times of requests read as the library for metrics writes them', async () => {
    const metrics = createMetrics()
    const registry = new Registry()
    const name = 'scriptorium_request_duration_seconds'
    const buckets = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]
    const theirs = new Histogram({ name, help: '?', labelNames: ['face'], buckets, registers: [registry] })
    for (const face of FACES)
      for (const seconds of [0, 0.0001, ...buckets, 0.0011, 0.3, 10.1]) {
        metrics.requests.add(face, 'GET', 200, seconds)
        theirs.observe({ face }, seconds)
      }
    const samples = (text: string) => text.split('\n').filter(line => line.startsWith(name))
    expect(samples((await metrics.told()).text)).to.have.members(samples(await registry.metrics()))
    metrics.close()
  })

  it('a line tells the moment to the millisecond, as pino does', () => {
    const log = createLog({ level: 'info', format: 'json' })
    let lines = ''
    gatherRequests(log, more => void (lines += more), 1)
    const now = Date.now
    const moments = [0, 7, 42, 999, 1000, 61_023].map(more => Date.parse('2026-02-28T23:59:59Z') + more)
    try {
      for (const moment of moments) {
        Date.now = () => moment
        logRequest(log, { face: 'public', host: 'a', method: 'GET', url: '/', status: 200, milliseconds: 1 })
      }
    } finally {
      Date.now = now
    }
    const told = lines
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).time)
    expect(told).to.deep.equal(moments.map(moment => new Date(moment).toISOString()))
  })
})

describe('what is logged of whoever writes', () => {
  const person = { user: 'ada', address: '203.0.113.7', range: 'selector=#a' }
  const CASES: [what: string, clients: 'address' | 'network' | 'none', users: boolean, more: object, told: object][] = [
    ['everything', 'address', true, {}, { user: 'ada', client: '203.0.113.7', selector: '#a' }],
    ['no names', 'address', false, {}, { client: '203.0.113.7', selector: '#a' }],
    ['an IPv4 network', 'network', true, {}, { user: 'ada', client: '203.0.113.0/24', selector: '#a' }],
    [
      'an IPv4 network in IPv6',
      'network',
      false,
      { address: '::ffff:203.0.113.7' },
      { client: '203.0.113.0/24', selector: '#a' },
    ],
    [
      'an IPv6 network',
      'network',
      false,
      { address: '2001:db8:1:2::9' },
      { client: '2001:db8:1::/48', selector: '#a' },
    ],
    ['a short IPv6 network', 'network', false, { address: '::1' }, { client: '0:0:0::/48', selector: '#a' }],
    ['no address that is none', 'network', false, { address: 'x' }, { selector: '#a' }],
    ['nothing', 'none', false, { range: undefined }, {}],
    ['no range of bytes', 'none', false, { range: 'bytes=0-1' }, {}],
    [
      'the beginning of a long name',
      'none',
      true,
      { user: 'a'.repeat(100_000) },
      { user: 'a'.repeat(1_024), selector: '#a' },
    ],
    [
      'the beginning of a long selector',
      'none',
      false,
      { range: `selector=${'a'.repeat(900)}` },
      { selector: 'a'.repeat(200) },
    ],
  ]
  for (const [what, clients, users, more, told] of CASES)
    it(what, () => {
      const settings = { level: 'info', format: 'json', clients, users } as const
      expect(toldOf(settings, { ...person, ...more })).to.deep.equal(told)
    })

  it('stands in the lines of writes, and not in those of reads', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'scriptorium-writers-'))
    const sites = [{ host: 'localhost', credentials: [{ user: 'ada', password: 'a password' }] }]
    const server = await startProcess(folder, { data: folder, sites, log: { format: 'json' } })
    try {
      const http = client(server.port)
      const mountPort = Number(/ mount http:\/\/[^:]+:(\d+)\//.exec(server.output())?.[1])
      const authorization = BASIC('ada', 'a password')
      await client(mountPort)('PUT', '/page.html', { authorization }, page('<p>x</p>'))
      await client(mountPort)('PROPFIND', '/', { authorization, Depth: '0' })
      await http('GET', '/page.html')
      await http('PUT', '/page.html', { Range: 'selector=p' }, '<p>y</p>')
      const lines = () =>
        server
          .output()
          .split('\n')
          .filter(line => line.includes('"request"'))
          .map(line => JSON.parse(line) as Record<string, unknown>)
          // The server tries its own address at start.
          .filter(({ path }) => !String(path).startsWith('/-platform/'))
      await eventually(() => expect(lines()).to.have.length(4))
      const told = lines().map(({ face, method, user, client, selector }) => ({ face, method, user, client, selector }))
      const nobody = { user: undefined, client: undefined, selector: undefined }
      expect(told).to.deep.equal([
        { face: 'mount', method: 'PUT', user: 'ada', client: '127.0.0.1', selector: undefined },
        { face: 'mount', method: 'PROPFIND', ...nobody },
        { face: 'public', method: 'GET', ...nobody },
        { face: 'public', method: 'PUT', user: undefined, client: '127.0.0.1', selector: 'p' },
      ])
      expect(lines().every(({ ms }) => typeof ms === 'number')).to.equal(true)
    } finally {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    }
  })
})

describe('clients that go away', () => {
  it('are no failures in the log', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'scriptorium-gone-'))
    const credentials = [{ user: 'ada', password: 'a password' }]
    const sites = [{ host: 'localhost', defaultGet: 'allow', credentials }]
    const server = await startProcess(folder, { data: folder, sites, log: { format: 'json' } })
    try {
      const mountPort = Number(/ mount http:\/\/[^:]+:(\d+)\//.exec(server.output())?.[1])
      const authorization = BASIC('ada', 'a password')
      await client(mountPort)('PUT', '/page.html', { authorization }, page('<p>x</p>'))
      const begun: [port: number, request: string][] = [
        [server.port, 'GET /page.html HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n'],
        [
          mountPort,
          `PUT /other.html HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nContent-Length: 999\r\nExpect: 100-continue\r\n\r\n`,
        ],
      ]
      for (const [port, request] of begun) {
        const { socket, send } = await connect(port)
        send(request)
        await once(socket, 'data')
        socket.resetAndDestroy()
      }
      await client(server.port)('GET', '/last.html')
      await eventually(() => expect(server.output()).to.include('/other.html').and.include('/last.html'))
      expect(server.output()).to.not.include('"level":50')
    } finally {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    }
  })
})

describe('the record of changes', () => {
  let folder: string
  let file: string
  let server: TestServer
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scriptorium-audit-'))
    file = join(folder, 'changes.jsonl')
    server = await startServer({ settings: { log: { level: 'silent', audit: file } } })
    await putAll(server, {
      '/page.html': page('<ul id="l"></ul>'),
      '/rules.html': rulesPage(['*', 'POST', 'Allow', '/page.html']),
    })
  })
  after(async () => {
    await server.close()
    await rm(folder, { recursive: true, force: true })
  })

  const recorded = async () =>
    (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Record<string, unknown>)

  it('has a line for each change, with who asked for it and how', async () => {
    const before = (await recorded()).length
    const authorization = BASIC(server.user, server.password)
    const mount = client(Number(new URL(server.mountUrl).port))
    expect((await client(server.port)('POST', '/page.html', { Range: 'selector=#l' }, '<li>x</li>')).status).to.equal(
      206,
    )
    expect((await mount('PUT', '/new.css', { authorization }, 'p{}')).status).to.equal(201)
    expect((await mount('MOVE', '/new.css', { authorization, Destination: '/b.css' })).status).to.equal(201)
    expect((await client(server.port)('PUT', '/page.html', {}, 'refused')).status).to.equal(401)
    const lines = (await recorded()).slice(before).map(({ time, version, ...rest }) => {
      expect(Date.parse(String(time))).to.be.greaterThan(0)
      expect(version).to.be.a('number')
      return rest
    })
    expect(lines).to.deep.equal([
      {
        site: 'localhost',
        changes: [{ op: 'put', path: '/page.html' }],
        face: 'public',
        method: 'POST',
        path: '/page.html',
        client: '127.0.0.1',
        selector: '#l',
      },
      {
        site: 'localhost',
        changes: [{ op: 'put', path: '/new.css' }],
        face: 'mount',
        method: 'PUT',
        path: '/new.css',
        user: 'editor',
        client: '127.0.0.1',
      },
      {
        site: 'localhost',
        changes: [{ op: 'move', path: '/new.css', to: '/b.css' }],
        face: 'mount',
        method: 'MOVE',
        path: '/new.css',
        user: 'editor',
        client: '127.0.0.1',
      },
    ])
  })

  it('has none for what is kept unpublished', async () => {
    const before = (await recorded()).length
    const authorization = BASIC(server.user, server.password)
    const mount = client(Number(new URL(server.mountUrl).port))
    expect((await mount('PUT', '/.DS_Store', { authorization }, 'x')).status).to.equal(201)
    expect(await recorded()).to.have.length(before)
  })

  it('is for its owner alone, and says no character that a terminal would show as another order of text', async () => {
    const authorization = BASIC(server.user, server.password)
    const mount = client(Number(new URL(server.mountUrl).port))
    expect((await mount('PUT', '/a%E2%80%AEtxt.b', { authorization }, 'x')).status).to.equal(201)
    expect((await recorded()).at(-1)).to.include({ path: '/a\u202etxt.b' })
    expect(await readFile(file, 'utf8')).not.to.include('\u202e')
    expect(fs.statSync(file).mode & 0o077).to.equal(0)
  })

  it('tells neither names nor addresses where the log does not', async () => {
    const unnamed = join(folder, 'unnamed.jsonl')
    const discreet = await startServer({
      settings: { log: { level: 'silent', audit: unnamed, users: false, clients: 'none' } },
    })
    await putAll(discreet, {
      '/page.html': page('<ul id="l"></ul>'),
      '/r.html': rulesPage(['users', 'POST', 'Allow', '/*']),
    })
    const fields = { Range: 'selector=#l', ...(await withEmail(discreet, 'ada@bench.example')) }
    expect((await client(discreet.port)('POST', '/page.html', fields, '<li>x</li>')).status).to.equal(206)
    const authorization = BASIC(discreet.user, discreet.password)
    const mount = client(Number(new URL(discreet.mountUrl).port))
    expect((await mount('PUT', '/new.css', { authorization }, 'p{}')).status).to.equal(201)
    await discreet.close()
    const lines = (await readFile(unnamed, 'utf8')).trimEnd().split('\n').slice(-2)
    expect(lines.map(line => Object.keys(JSON.parse(line)).slice(4).join())).to.deep.equal([
      'face,method,path,selector',
      'face,method,path',
    ])
  })

  it('changes that no request asked for have nobody', async () => {
    await putAll(server, { '/imported.html': page('') })
    const last = (await recorded()).at(-1)
    expect([last?.changes, last?.user, last?.face]).to.deep.equal([
      [{ op: 'put', path: '/imported.html' }],
      undefined,
      undefined,
    ])
  })

  it('a line of which a full disk took a part spoils none behind it', async () => {
    const { writeSync } = fs
    const cut = (descriptor: number, line: Uint8Array) => writeSync(descriptor, line.subarray(0, line.length / 2))
    Object.assign(fs, { writeSync: cut })
    syncBuiltinESMExports()
    try {
      await putAll(server, { '/cut.css': 'a{}' })
    } finally {
      Object.assign(fs, { writeSync })
      syncBuiltinESMExports()
    }
    await putAll(server, { '/whole.css': 'b{}' })
    const [half = '', last = ''] = (await readFile(file, 'utf8')).trimEnd().split('\n').slice(-2)
    expect(() => JSON.parse(half)).to.throw()
    expect(JSON.parse(last)).to.deep.include({ changes: [{ op: 'put', path: '/whole.css' }] })
  })
})
