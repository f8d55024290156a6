import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, connect, type Fields } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const SERVER_PAGE =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const REQUESTS: [name: string, method: string, target: string, fields: Fields, body?: string][] = [
  ['page', 'GET', '/page.html', {}],
  ['page again', 'GET', '/page.html', {}],
  ['HEAD', 'HEAD', '/page.html', {}],
  ['fragment', 'GET', '/page.html', { Range: 'selector=p' }],
  ['unchanged', 'GET', '/page.html', { 'If-None-Match': '*' }],
  ['blob', 'GET', '/style.css', {}],
  ['redirect', 'GET', '/dir', {}],
  ['capabilities', 'OPTIONS', '/page.html', {}],
  ['server capabilities', 'OPTIONS', '*', {}],
  ['query', 'QUERY', '/page.html', { 'Content-Type': 'text/css-selector' }, 'p'],
  ['written', 'PUT', '/w/x.txt', {}, 'x'],
  ['removed', 'DELETE', '/w/x.txt', {}],
  ['health', 'GET', '/-platform/health', {}],
]
const FAILURES: typeof REQUESTS = [
  ['bad path', 'GET', '/%zz', {}],
  ['refused', 'PUT', '/page.html', {}, 'x'],
  ['not found', 'GET', '/none.html', {}],
  ['no match', 'GET', '/page.html', { Range: 'selector=h6' }],
  ['method', 'TRACE', '/page.html', {}],
  ['no host', 'GET', '/page.html', { Host: 'a b' }],
  ['expectation', 'PUT', '/w/x.txt', { Expect: 'more' }, 'x'],
]

describe('headers: security', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({ settings: { trustProxy: ['127.0.0.1'] } })
    http = client(server.port)
    await putAll(server, {
      '/page.html': page('<p>x</p>'),
      '/dir/index.html': page('x'),
      '/style.css': 'p{}',
      '/rules.html': rulesPage(['*', '*', 'Allow', '/w/*']),
    })
  })
  after(() => server.close())

  for (const [name, method, target, fields, body] of [...REQUESTS, ...FAILURES]) {
    it(`HTTP-160 every response: ${name}`, async () => {
      const { headers, status } = await http(method, target, fields, body)
      expect(headers).to.include({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'strict-origin-when-cross-origin',
      })
      const failed = FAILURES.some(([each]) => each === name)
      expect(status >= 400).to.equal(failed)
      if (failed) expect(headers['content-security-policy']).to.equal(SERVER_PAGE)
      else expect(headers).not.to.have.any.keys('content-security-policy', 'x-frame-options')
    })

    it(`HTTP-160 no software name or version: ${name}`, async () => {
      const { lines, text } = await http(method, target, fields, body)
      expect(lines.map(([each]) => each.toLowerCase())).not.to.include.members(['server', 'x-powered-by', 'via'])
      // Sessions and tags are random: they may spell anything.
      for (const [field, value] of lines)
        expect(`${field}: ${value.replace(/[\w-]{22,}/g, '')}`).not.to.match(/node|koa|express|scriptorium/i)
      if (name !== 'health') expect(text).not.to.match(/node\.?js|koa|scriptorium|\/home\/|\.ts\b/i)
    })

    it(`HTTP-160 Strict-Transport-Security only over HTTPS, as a trusted proxy tells: ${name}`, async () => {
      const plain = await http(method, target, fields, body)
      expect(plain.headers).not.to.have.property('strict-transport-security')
      const secure = await http(method, target, { ...fields, 'X-Forwarded-Proto': 'https' }, body)
      expect(secure.headers['strict-transport-security']).to.equal('max-age=31536000')
    })
  }

  it('HTTP-160 what the parser refuses has them as well', async () => {
    for (const bytes of [
      'GET / HTTP/9.9\r\n\r\n',
      'nonsense\r\n\r\n',
      `GET / HTTP/1.1\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`,
    ]) {
      const connection = await connect(server.port)
      connection.send(bytes)
      const { headers, status } = await connection.receive()
      expect(status).to.be.oneOf([400, 431, 505])
      expect(headers).to.include({ 'x-content-type-options': 'nosniff', 'content-security-policy': SERVER_PAGE })
      connection.close()
    }
  })
})

describe('headers: security as operators set it', () => {
  const HSTS = 'max-age=60; includeSubDomains'
  const FRAMES: [host: string, frame: unknown, policy: string][] = [
    ['none.example', 'none', "frame-ancestors 'none'"],
    ['self.example', 'self', "frame-ancestors 'self'"],
    ['list.example', ['https://a.example', 'https://b.example'], 'frame-ancestors https://a.example https://b.example'],
  ]
  let server: TestServer
  let http: Client

  before(async () => {
    const sites = [
      { host: 'localhost', referrerPolicy: 'no-referrer', hsts: HSTS },
      { host: 'off.example', hsts: 'off' },
      ...FRAMES.map(([host, frame]) => ({ host, frame })),
    ]
    server = await startServer({ settings: { sites, trustProxy: ['10.0.0.0/8', '127.0.0.2'] } })
    http = client(server.port)
    for (const { host } of sites) {
      const hosted = await server.running.hosting.open(host)
      if (hosted) await putAll({ running: server.running, site: hosted.site }, { '/page.html': page('x') })
    }
  })
  after(() => server.close())

  /** The same from the application, from memory, and of a failure. */
  async function three(Host: string, from: Client = http): Promise<Readonly<Record<string, string>>[]> {
    const targets = ['/page.html', '/page.html', '/none.html']
    const all = []
    for (const target of targets) all.push((await from('GET', target, { Host, 'X-Forwarded-Proto': 'https' })).headers)
    return all
  }
  const proxy = () => client({ port: server.port, from: '127.0.0.2' })

  it('HTTP-160 Referrer-Policy', async () => {
    for (const headers of await three('localhost')) expect(headers['referrer-policy']).to.equal('no-referrer')
  })

  it('HTTP-160 Strict-Transport-Security', async () => {
    for (const headers of await three('localhost', proxy())) expect(headers['strict-transport-security']).to.equal(HSTS)
    for (const headers of await three('off.example', proxy()))
      expect(headers).not.to.have.property('strict-transport-security')
  })

  it('HTTP-160 forwarding headers of strangers are not believed', async () => {
    for (const headers of await three('localhost')) {
      expect(headers).not.to.have.property('strict-transport-security')
      expect(headers['set-cookie']).not.to.include('Secure')
    }
    for (let i = 0; i < 3; i++) {
      expect((await http('GET', '/page.html', { 'X-Forwarded-Host': 'nowhere.example' })).status).to.equal(200)
      expect((await proxy()('GET', '/page.html', { 'X-Forwarded-Host': 'nowhere.example' })).status).to.equal(404)
    }
  })

  for (const [host, frame, policy] of FRAMES) {
    it(`HTTP-160 pages of the site get a frame policy where it is configured: ${frame}`, async () => {
      const [first, second, missing] = await three(host)
      expect(first?.['content-security-policy']).to.equal(policy)
      expect(second?.['content-security-policy']).to.equal(policy)
      expect(missing?.['content-security-policy']).to.equal(SERVER_PAGE)
    })
  }
})

describe('headers: files that any visitor may have stored', () => {
  const RULES = rulesPage(
    ['*', 'PUT', 'Allow', '/any/*'],
    ['authenticated', '*', 'Allow', '/users/*'],
    [`\${request.auth.sub}`, 'MOVE', 'Allow', '/own/*'],
    ['*', 'GET|POST|DELETE', 'Allow', '/read/*'],
    ['ada|role:editors', 'PUT|MOVE', 'Allow', '/named/*'],
    ['*', 'PUT', 'Allow', '/element/*', 'p'],
  )
  let server: TestServer
  before(async () => {
    server = await startServer()
    const folders = ['any', 'users', 'own', 'read', 'named', 'element']
    await putAll(server, { '/rules.html': RULES, '/any/p.html': page('') })
    await putAll(server, Object.fromEntries(folders.map(name => [`/${name}/x.js`, 'x'])))
  })
  after(() => server.close())

  for (const [folder, limited] of Object.entries({ any: 1, users: 1, own: 1, read: 0, named: 0, element: 0 }))
    it(`SEC-13 of /${folder}/ ${limited ? 'are no' : 'may be'} service workers`, async () => {
      const http = client(server.port)
      const forms: [string, Fields, number][] = [
        ['GET', {}, 200],
        ['GET', {}, 200],
        ['HEAD', {}, 200],
        ['GET', { Range: 'bytes=0-0' }, 206],
      ]
      for (const [method, fields, status] of forms) {
        const answer = await http(method, `/${folder}/x.js`, fields)
        expect(answer.status).to.equal(status)
        expect(answer.headers['service-worker-allowed']).to.equal(limited ? '/%2F' : undefined)
      }
    })

  it('SEC-13 pages are none in any case', async () => {
    const { headers } = await client(server.port)('GET', '/any/p.html')
    expect(headers).not.to.have.property('service-worker-allowed')
  })
})
