import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields, type Received } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const FILES = {
  '/page.html': page('<p>x</p>'),
  '/style.css': 'p{}',
  '/dir/index.html': page('x'),
  '/rules.html': rulesPage(['*', 'PUT|POST|DELETE|MOVE|PATCH', 'Allow', '/w/*']),
}

/** Values of the session cookies that a response sets. */
function issued({ lines }: Received, name = 'platform_session'): string[] {
  return lines.flatMap(([field, value]) =>
    field === 'Set-Cookie' && value.startsWith(`${name}=`) ? [value.slice(name.length + 1, value.indexOf(';'))] : [],
  )
}

describe('sessions', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({ settings: { trustProxy: true } })
    http = client(server.port)
    await putAll(server, FILES)
  })
  after(() => server.close())

  async function newCookie(): Promise<string> {
    const [value] = issued(await http('GET', '/page.html'))
    if (value === undefined) throw new Error('no cookie')
    return `platform_session=${value}`
  }

  const firsts: [
    name: string,
    method: string,
    target: string,
    fields: Fields,
    body: string | undefined,
    status: number,
  ][] = [
    ['page', 'GET', '/page.html', {}, undefined, 200],
    ['HEAD', 'HEAD', '/page.html', {}, undefined, 200],
    ['fragment', 'GET', '/page.html', { Range: 'selector=p' }, undefined, 206],
    ['unchanged', 'GET', '/page.html', { 'If-None-Match': '*' }, undefined, 304],
    ['capabilities', 'OPTIONS', '/page.html', {}, undefined, 200],
    ['query', 'QUERY', '/page.html', { 'Content-Type': 'text/css-selector' }, 'p', 200],
    ['redirect', 'GET', '/dir', {}, undefined, 301],
    ['created', 'PUT', '/w/new.html', {}, page('<ul></ul>'), 201],
    ['inserted', 'POST', '/w/new.html', { Range: 'selector=ul' }, '<li>x</li>', 206],
    ['moved', 'MOVE', '/w/new.html', { Destination: '/w/moved.html' }, undefined, 204],
    ['removed', 'DELETE', '/w/moved.html', {}, undefined, 204],
    ['not found', 'GET', '/none.html', {}, undefined, 404],
    ['refused', 'PUT', '/page.html', {}, 'x', 401],
    ['patch', 'PATCH', '/w/x', {}, 'x', 501],
  ]
  for (const [name, method, target, fields, body, status] of firsts) {
    it(`SSN-1 SSN-4 HTTP-5 a first request gets a session, and is carried out in it: ${name}`, async () => {
      const received = await http(method, target, fields, body)
      expect(received.status).to.equal(status)
      expect(issued(received)).to.have.length(1)
    })
  }

  it('SSN-1 a request with a valid cookie gets no new one, whatever it asks', async () => {
    const Cookie = await newCookie()
    for (const [name, method, target, fields, body] of firsts) {
      const received = await http(method, target, { ...fields, Cookie }, body)
      expect(received.headers, name).not.to.have.property('set-cookie')
    }
  })

  it('SSN-2 the cookie: opaque, unguessable, for the whole site, closed to scripts and to other sites', async () => {
    const { headers } = await http('GET', '/page.html')
    const [value, ...attributes] = headers['set-cookie']?.split('; ') ?? []
    expect(attributes).to.have.members(['Path=/', 'Max-Age=2592000', 'HttpOnly', 'SameSite=Lax'])
    const text = value?.slice('platform_session='.length) ?? ''
    expect(text).to.match(/^[A-Za-z0-9_-]+$/)
    expect(Buffer.from(text, 'base64url').length * 8).to.be.at.least(128)
  })

  it('SSN-2 no two are alike', async () => {
    const cookies = await Promise.all(Array.from({ length: 50 }, newCookie))
    expect(new Set(cookies).size).to.equal(50)
    const starts = cookies.map(cookie => cookie.slice('platform_session='.length, 'platform_session='.length + 20))
    expect(new Set(starts).size).to.equal(50)
  })

  it('SSN-2 Secure behind a trusted proxy that speaks HTTPS', async () => {
    const { headers } = await http('GET', '/page.html', { 'X-Forwarded-Proto': 'https' })
    expect(headers['set-cookie']?.split('; ')).to.include('Secure')
  })

  it('SSN-3 malformed, forged and unknown cookies are replaced, never adopted and never an error', async () => {
    const real = (await newCookie()).slice('platform_session='.length)
    const flipped = `${real.slice(0, 5)}${real[5] === 'A' ? 'B' : 'A'}${real.slice(6)}`
    const values = [
      '',
      'x',
      '0',
      flipped,
      `${real}A`,
      real.slice(1),
      `"${real}"`,
      'a'.repeat(51),
      'a'.repeat(8000),
      '\u00e9',
      '%00',
      '../../etc',
      '[object Object]',
    ]
    for (const value of values) {
      for (const [method, target] of [
        ['GET', '/page.html'],
        ['PUT', '/w/forged.txt'],
      ] as const) {
        const received = await http(
          method,
          target,
          { Cookie: `platform_session=${value}` },
          method === 'PUT' ? 'x' : undefined,
        )
        expect(received.status, value).to.be.oneOf([200, 201])
        const [fresh] = issued(received)
        expect(fresh, value).to.match(/^[A-Za-z0-9_-]{51}$/)
        expect(fresh).not.to.equal(value)
      }
    }
  })

  it('SSN-3 it is found among others', async () => {
    const Cookie = await newCookie()
    for (const field of [
      `a=b; ${Cookie}`,
      `${Cookie}; a=b`,
      `a="x; y";${Cookie};`,
      `xplatform_session=1; ${Cookie}`,
      ` ${Cookie} `,
    ])
      expect(issued(await http('GET', '/page.html', { Cookie: field })), field).to.have.length(0)
    for (const field of [`x${Cookie}`, Cookie.replace('=', '-x='), Cookie.toUpperCase()])
      expect(issued(await http('GET', '/page.html', { Cookie: field })), field).to.have.length(1)
  })

  it('SSN-3 cookies that a neighbouring host adds cost the visitor nothing', async () => {
    const Cookie = await newCookie()
    const others = ['x', 'a'.repeat(51), 'b'.repeat(43), ''].map(value => `platform_session=${value}`)
    for (const other of [...others, others.join('; ')])
      for (const field of [`${other}; ${Cookie}`, `${Cookie}; ${other}`])
        for (const [name, method, target, fields, body] of firsts) {
          const received = await http(method, target, { ...fields, Cookie: field }, body)
          expect(received.headers, `${name} ${field}`).not.to.have.property('set-cookie')
        }
    expect(issued(await http('GET', '/page.html', { Cookie: others.join('; ') }))).to.have.length(1)
  })

  it('SSN-8 HTTP-151 a public answer never sets a cookie, and one that sets it is private', async () => {
    for (const [, method, target, fields, body] of firsts) {
      const received = await http(method, target, fields, body)
      if (received.status < 300) expect(received.headers['cache-control']).to.match(/^private|^no-store/)
    }
    const asset = await http('GET', '/style.css')
    expect(asset.headers['cache-control']).to.match(/^public/)
    expect(issued(asset)).to.have.length(0)
  })

  it('ACT-1 nothing but the session makes a principal', async () => {
    await put(server, '/members.html', page('x'))
    await put(
      server,
      '/member-rules.html',
      rulesPage(['*', 'GET', 'Deny', '/members.html'], ['users|admin|editor', 'GET', 'Allow', '/members.html']),
    )
    const tries: Fields[] = [
      { Authorization: 'Basic ZWRpdG9yOmVkaXRvcg==' },
      { Authorization: 'Bearer editor' },
      { 'X-Forwarded-User': 'editor', 'Remote-User': 'editor', 'X-Platform-User': 'editor' },
      { Cookie: 'user=editor; username=editor; platform_user=editor' },
    ]
    for (const fields of tries) expect((await http('GET', '/members.html', fields)).status).to.equal(401)
    expect((await http('GET', '/members.html?user=editor&auth=editor')).status).to.equal(401)
  })
})

describe('sessions as operators set them', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    const sites = [
      { host: 'localhost', sessions: { idle: '2h' }, brand: 'acme' },
      { host: 'framed.example', sessions: { embedded: true } },
      { host: 'public.example', publicUrl: 'https://www.example.org' },
      { host: 'external.example', sessions: 'external' },
    ]
    server = await startServer({ settings: { sites } })
    http = client(server.port)
    for (const { host } of sites) {
      const hosted = await server.running.hosting.open(host)
      if (hosted) await putAll({ running: server.running, site: hosted.site }, FILES)
    }
  })
  after(() => server.close())

  const attributes = async (Host: string) =>
    (await http('GET', '/page.html', { Host })).headers['set-cookie']?.split('; ').slice(1)

  it('SSN-2 SSN-5 its lifetime and its name', async () => {
    const received = await http('GET', '/page.html')
    expect(issued(received, 'acme_session')).to.have.length(1)
    expect(received.headers['set-cookie']).to.include('; Max-Age=7200;')
  })

  it('SSN-2 a site in frames of others', async () => {
    for (let i = 0; i < 3; i++)
      expect(await attributes('framed.example')).to.include.members(['SameSite=None', 'Secure', 'Partitioned'])
  })

  it('SSN-2 Secure where the public URL is HTTPS', async () => {
    for (let i = 0; i < 3; i++) expect(await attributes('public.example')).to.include('Secure')
  })

  describe('SSN-4 sessions: external', () => {
    const Host = 'external.example'
    const write = (fields: Fields, method = 'PUT') => http(method, '/w/x.txt', { Host, ...fields }, 'x')

    it('a change without the cookie is 409, and nothing is changed', async () => {
      for (const method of ['PUT', 'POST', 'DELETE', 'MOVE', 'PATCH']) {
        const { status, text } = await write({}, method)
        expect(status, method).to.equal(409)
        expect(text, method).to.include('content="NoSession"')
      }
      expect((await write({ Cookie: 'platform_session=' })).status).to.equal(409)
      expect((await write({ Cookie: 'other=x' })).status).to.equal(409)
      expect((await http('GET', '/w/x.txt', { Host })).status).to.equal(404)
    })

    it('with a cookie, whatever it says, it is made', async () => {
      expect((await write({ Cookie: 'platform_session=from-the-edge' })).status).to.equal(201)
    })

    it('a write of a foreign page has no session to be made in', async () => {
      expect((await write({ Cookie: 'platform_session=x', Origin: 'https://evil.example' })).status).to.equal(409)
    })

    it('reads and OPTIONS never answer 409, and no answer sets a cookie', async () => {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'QUERY']) {
        for (let i = 0; i < 2; i++) {
          const received = await http(
            method,
            '/page.html',
            { Host, 'Content-Type': 'text/css-selector' },
            method === 'QUERY' ? 'p' : undefined,
          )
          expect(received.status, method).to.equal(200)
          expect(received.headers, method).not.to.have.property('set-cookie')
        }
      }
      expect((await write({ Cookie: 'platform_session=x' })).headers).not.to.have.property('set-cookie')
    })
  })
})
