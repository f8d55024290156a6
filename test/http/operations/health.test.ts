import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type HealthParts, hasRoom, isUsable, type Missing, readiness } from '../../../server/health.ts'
import { page, putAll } from '../../support/content.ts'
import { type Client, client, exchange } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

/** What a proxy adds; with it a request is not one of this machine. */
const STRANGER = { 'X-Forwarded-For': '203.0.113.7' }

const HEALTHY = [
  '/-platform/health',
  '/-acme/health',
  '/-platform/health?x',
  '/-platform/health/live',
  '/-acme/health/live',
  '/-platform/health/ready',
  '/-acme/health/ready',
]

describe('health and metrics', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({ settings: { sites: [{ host: 'localhost' }, { host: 'b.example', brand: 'acme' }] } })
    http = client(server.port)
    await putAll(server, { '/page.html': page('<p>x</p>') })
  })
  after(() => server.close())

  it('health is there for everybody, under every brand and host', async () => {
    for (const fields of [{}, STRANGER, { Host: 'b.example' }, { Host: 'unknown.example' }, { Host: '10.0.0.1:80' }]) {
      for (const target of HEALTHY) {
        const { status, headers, text } = await http('GET', target, fields)
        expect(status).to.equal(200)
        expect(headers).to.include({ 'content-type': 'application/json', 'cache-control': 'no-store' })
        expect(headers).not.to.have.property('set-cookie')
        expect(JSON.parse(text)).to.deep.equal({ status: 'ok' })
      }
    }
  })

  it('HEAD of it has no content', async () => {
    const { status, body } = await http('HEAD', '/-platform/health')
    expect({ status, size: body.length }).to.deep.equal({ status: 200, size: 0 })
  })

  it('nothing else is under the prefix, and it cannot be written', async () => {
    for (const target of [
      '/-platform/',
      '/-platform/healthy',
      '/-platform/health/',
      '/-platform/health/x',
      '/-Platform/health',
      '/x/-platform/health',
      '/-other/health',
    ])
      expect((await http('GET', target)).status, target).to.equal(404)
    for (const method of ['PUT', 'POST', 'DELETE', 'PATCH'])
      expect((await http(method, '/-platform/health', {}, 'x')).status, method).to.equal(403)
  })

  it('metrics are for this machine only', async () => {
    expect((await http('GET', '/-platform/metrics')).status).to.equal(200)
    for (const Host of ['localhost', 'LOCALHOST.:80', '127.0.0.1:8080', '[::1]:80'])
      expect((await http('GET', '/-platform/metrics', { Host })).status, Host).to.equal(200)
    // A name that leads here makes a page of its owner one of the same origin in the browsers of this machine.
    for (const fields of [
      STRANGER,
      { Forwarded: 'for=203.0.113.7' },
      { Host: 'b.example' },
      { Host: 'rebound.example:80' },
      { Host: '127.0.0.1.example' },
    ]) {
      const { status, text } = await http('GET', '/-platform/metrics', fields)
      expect(status).to.equal(404)
      expect(text).not.to.include('scriptorium_')
    }
    // As nginx asks for everybody unless it is told otherwise.
    const request = `GET /-platform/metrics HTTP/1.0\r\nHost: 127.0.0.1:${server.port}\r\nConnection: close\r\n\r\n`
    expect((await exchange(server, request))?.status).to.equal(404)
  })

  it('metrics count every request by face, method and outcome, repeated answers included', async () => {
    const counted = async () => {
      const { text, headers } = await http('GET', '/-platform/metrics')
      expect(headers['content-type']).to.match(/^text\/plain/)
      expect(headers['cache-control']).to.equal('no-store')
      const lines = text.matchAll(
        /^scriptorium_requests_total\{face="public",method="([A-Za-z]+)",outcome="(\dxx)"\} (\d+)$/gm,
      )
      return Object.fromEntries([...lines].map(([, method, outcome, count]) => [`${method} ${outcome}`, Number(count)]))
    }
    const before = await counted()
    for (let i = 0; i < 5; i++) await http('GET', '/page.html')
    await http('GET', '/none.html')
    await http('PUT', '/page.html', {}, 'x')
    await http('PURGE', '/page.html')
    await http('HEAD', '/page.html')
    const now = await counted()
    const grown = (name: string) => (now[name] ?? 0) - (before[name] ?? 0)
    expect(grown('GET 2xx'), 'with the first look at the metrics').to.equal(6)
    expect(grown('GET 4xx')).to.equal(1)
    expect(grown('PUT 4xx')).to.equal(1)
    expect(grown('HEAD 2xx')).to.equal(1)
    expect(grown('other 5xx'), 'unknown methods share one name').to.equal(1)
  })
})

describe('health and metrics as operators set them', () => {
  let server: TestServer

  before(async () => {
    server = await startServer({ settings: { health: { public: false }, metrics: { public: true } } })
  })
  after(() => server.close())

  it('health for this machine only, metrics for everybody', async () => {
    const http = client(server.port)
    expect((await http('GET', '/-platform/health')).status).to.equal(200)
    expect((await http('GET', '/-platform/health', STRANGER)).status).to.equal(404)
    expect((await http('GET', '/-platform/metrics', STRANGER)).text).to.match(
      /^scriptorium_request_duration_seconds_count/m,
    )
  })
})

describe('readiness', () => {
  const folder = tmpdir()
  const [there, away] = [() => true, () => false]
  const CASES: [what: string, parts: HealthParts, missing: Missing[], usable?: boolean][] = [
    ['all is well', { isServing: there, services: { redis: there, postgres: there, blobs: there }, folder }, [], true],
    ['starting', { isServing: away, services: {}, folder }, ['start']],
    ['no PostgreSQL', { isServing: there, services: { postgres: away }, folder }, ['postgres']],
    ['no Redis', { isServing: there, services: { redis: away, postgres: there }, folder }, ['redis']],
    ['no object store', { isServing: there, services: { postgres: there, blobs: away }, folder }, ['blobs'], true],
    ['a write was refused', { isServing: there, services: {}, takesWrites: away, folder }, ['writes'], true],
    ['writes are taken', { isServing: there, services: {}, takesWrites: there, folder }, [], true],
    ['nowhere to write', { isServing: there, services: {}, folder: '/nowhere' }, ['disk']],
    [
      'nothing',
      { isServing: away, services: { redis: away, postgres: away, blobs: away }, folder: '/nowhere' },
      ['start', 'redis', 'postgres', 'blobs', 'disk'],
    ],
  ]
  for (const [what, parts, missing, usable = false] of CASES)
    it(what, async () => {
      const found = await readiness(parts)()
      expect(found).to.deep.equal(missing)
      expect(isUsable(found)).to.equal(usable)
    })

  it('a disk with less room than is asked for has none', async () => {
    expect([await hasRoom(folder, 1), await hasRoom(folder, Number.MAX_SAFE_INTEGER)]).to.deep.equal([true, false])
  })

  it('a server without room is alive and not ready', async () => {
    const server = await startServer()
    try {
      await rm(server.data, { recursive: true, force: true })
      const http = client(server.port)
      const answers = await Promise.all(
        ['live', 'ready', ''].map(which => http('GET', `/-platform/health${which && `/${which}`}`)),
      )
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 503, 200])
      expect(answers[1]?.headers).to.include({ 'retry-after': '5' })
      expect(JSON.parse(answers[1]?.text ?? '')).to.deep.equal({ status: 'unavailable', missing: ['disk'] })
    } finally {
      await server.close()
    }
  })
})
