import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const EXPOSED = 'ETag, Last-Modified, Location, Link, Content-Range, Accept-Ranges, Allow, Accept-Query'
const LISTED = 'https://app.example'
const FILES = {
  '/page.html': page('<p>x</p>'),
  '/style.css': 'p{}',
  '/rules.html': rulesPage(['*', 'PUT|POST|DELETE|MOVE|PATCH', 'Allow', '/w/*']),
}

function access({ headers }: { headers: Readonly<Record<string, string>> }): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')))
}

describe('headers: CORS', () => {
  const REQUESTS: [name: string, method: string, target: string, fields: Fields, body?: string][] = [
    ['page', 'GET', '/page.html', {}],
    ['HEAD', 'HEAD', '/page.html', {}],
    ['fragment', 'GET', '/page.html', { Range: 'selector=p' }],
    ['unchanged', 'GET', '/page.html', { 'If-None-Match': '*' }],
    ['blob', 'GET', '/style.css', {}],
    ['write', 'PUT', '/w/x.txt', {}, 'x'],
    ['query', 'QUERY', '/page.html', { 'Content-Type': 'text/css-selector' }, 'p'],
    ['not found', 'GET', '/none.html', {}],
    ['refused', 'PUT', '/page.html', {}, 'x'],
    ['capabilities', 'OPTIONS', '/page.html', {}],
  ]

  describe('without a list', () => {
    let server: TestServer
    let http: Client

    before(async () => {
      server = await startServer()
      http = client(server.port)
      await putAll(server, FILES)
    })
    after(() => server.close())

    it('HTTP-165 no Access-Control header, whoever asks, and no Vary: Origin', async () => {
      for (const [name, method, target, fields, body] of REQUESTS) {
        for (const Origin of [LISTED, `http://localhost:${server.port}`, 'null', undefined]) {
          const received = await http(method, target, { ...fields, Origin }, body)
          expect(access(received), name).to.deep.equal({})
          expect(received.headers.vary ?? '', name).not.to.include('Origin')
        }
      }
      const preflight = { Origin: LISTED, 'Access-Control-Request-Method': 'PUT' }
      expect(access(await http('OPTIONS', '/page.html', preflight))).to.deep.equal({})
    })
  })

  describe('with a list', () => {
    let server: TestServer
    let http: Client

    before(async () => {
      server = await startServer({ site: { cors: [LISTED, 'http://localhost:3000'], brand: 'acme' } })
      http = client(server.port)
      await putAll(server, FILES)
    })
    after(() => server.close())

    for (const [name, method, target, fields, body] of REQUESTS) {
      it(`HTTP-165 a listed origin is echoed with credentials: ${name}`, async () => {
        for (const Origin of [LISTED, 'http://localhost:3000']) {
          const received = await http(method, target, { ...fields, Origin }, body)
          expect(access(received)).to.deep.equal({
            'access-control-allow-origin': Origin,
            'access-control-allow-credentials': 'true',
            'access-control-expose-headers': EXPOSED,
          })
        }
      })

      it(`HTTP-165 other origins get nothing: ${name}`, async () => {
        for (const Origin of [
          'https://app.example.evil.example',
          'http://app.example',
          'https://APP.example',
          'null',
          '*',
          undefined,
        ])
          expect(access(await http(method, target, { ...fields, Origin }, body)), Origin).to.deep.equal({})
      })

      it(`HTTP-152 Vary has Origin for everybody: ${name}`, async () => {
        for (const Origin of [LISTED, 'https://other.example', undefined]) {
          const { headers } = await http(method, target, { ...fields, Origin }, body)
          expect(
            headers.vary?.split(', ').filter(member => member === 'Origin'),
            Origin,
          ).to.have.length(1)
        }
      })
    }

    it('HTTP-165 HTTP-91 a field of the server itself is shown where an answer has it', async () => {
      const Range = 'selector=li'
      const shelf = '<!DOCTYPE html><title>t</title><ol><li>a</li><li>b</li></ol>'
      await putAll(server, { '/w/shelf.html': shelf })
      const { headers } = await http('PUT', '/w/shelf.html', { Range, Origin: LISTED }, '<li>c</li>')
      expect(headers['access-control-expose-headers']).to.equal(`${EXPOSED}, Acme-Matches`)
    })

    it('HTTP-165 CAP-10 a preflight is the ordinary OPTIONS answer with more headers', async () => {
      const plain = await http('OPTIONS', '/page.html')
      const preflight = await http('OPTIONS', '/page.html', { Origin: LISTED, 'Access-Control-Request-Method': 'PUT' })
      expect(preflight.status).to.equal(200)
      expect(preflight.headers.allow).to.equal(plain.headers.allow)
      expect(access(preflight)).to.deep.equal({
        'access-control-allow-origin': LISTED,
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': EXPOSED,
        'access-control-allow-methods': 'GET, HEAD, PUT, DELETE, POST, MOVE, PATCH, QUERY, OPTIONS',
        'access-control-allow-headers':
          'Accept, Authorization, Content-Type, Destination, Destination-Range, If-Match, If-None-Match, Last-Event-ID, Overwrite, Prefer, Range, Acme-Connection',
        'access-control-max-age': '600',
      })
    })

    it('HTTP-165 a preflight of a foreign origin gets the ordinary answer alone', async () => {
      const fields = { Origin: 'https://other.example', 'Access-Control-Request-Method': 'PUT' }
      expect(access(await http('OPTIONS', '/page.html', fields))).to.deep.equal({})
    })

    it('HTTP-165 never * together with credentials', async () => {
      for (const [, method, target, fields, body] of REQUESTS) {
        const received = await http(method, target, { ...fields, Origin: LISTED }, body)
        expect(Object.values(access(received))).not.to.include('*')
      }
    })
  })
})

describe('headers: writes from foreign pages', () => {
  let server: TestServer
  let http: Client
  let cookie: string

  before(async () => {
    server = await startServer({ site: { cors: [LISTED] }, settings: { trustProxy: true } })
    http = client(server.port)
    await putAll(server, FILES)
    cookie = /^[^;]+/.exec((await http('GET', '/page.html')).headers['set-cookie'] ?? '')?.[0] ?? ''
  })
  after(() => server.close())

  /** The session in which a write was made: its event tells. */
  async function sessionOf(fields: Fields, to = { http, server, cookie }): Promise<string | undefined> {
    const { status } = await to.http('PUT', '/w/page.txt', { Cookie: to.cookie, ...fields }, 'x')
    expect(status).to.be.oneOf([200, 201])
    const events = await to.server.site.store.allEvents(undefined, 1000)
    return events.at(-1)?.session
  }

  const cases: [name: string, fields: () => Fields, keeps: boolean][] = [
    ['no Origin and no Sec-Fetch-Site', () => ({}), true],
    ['the own origin', () => ({ Origin: `http://localhost:${server.port}` }), true],
    ['a listed origin', () => ({ Origin: LISTED }), true],
    ['the own origin wins over Sec-Fetch-Site', () => ({ Origin: LISTED, 'Sec-Fetch-Site': 'cross-site' }), true],
    ['another origin', () => ({ Origin: 'https://evil.example' }), false],
    ['null', () => ({ Origin: 'null' }), false],
    ['the own host under another scheme', () => ({ Origin: `https://localhost:${server.port}` }), false],
    ['the own host under another port', () => ({ Origin: 'http://localhost:1' }), false],
    ['a neighbour under one domain', () => ({ Origin: `http://x.localhost:${server.port}` }), false],
    ['Sec-Fetch-Site: cross-site', () => ({ 'Sec-Fetch-Site': 'cross-site' }), false],
    ['Sec-Fetch-Site: same-site', () => ({ 'Sec-Fetch-Site': 'same-site' }), false],
    ['Sec-Fetch-Site: same-origin', () => ({ 'Sec-Fetch-Site': 'same-origin' }), true],
    ['Sec-Fetch-Site: none', () => ({ 'Sec-Fetch-Site': 'none' }), true],
    [
      'the own origin, as a trusted proxy tells it',
      () => ({
        Origin: 'https://www.example.org',
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-Host': 'www.example.org',
      }),
      true,
    ],
    [
      'the origin behind the proxy is not the own one',
      () => ({
        Origin: `http://localhost:${server.port}`,
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-Host': 'www.example.org',
      }),
      false,
    ],
  ]
  for (const [name, fields, keeps] of cases) {
    it(`HTTP-167 SEC-3 ${name}: ${keeps ? 'the session it came with' : 'anonymous, in a fresh session'}`, async () => {
      const own = await sessionOf({})
      const session = await sessionOf(fields())
      expect(session).to.match(/^[A-Za-z0-9_-]{20,}$/)
      if (keeps) expect(session).to.equal(own)
      else
        expect(session)
          .not.to.equal(own)
          .and.not.to.equal(await sessionOf(fields()))
    })
  }

  it('SSN-1 HTTP-167 whatever a foreign page does, the visitor keeps the own session', async () => {
    for (const method of ['PUT', 'POST', 'DELETE', 'MOVE', 'PATCH']) {
      const fields = { Cookie: cookie, Origin: 'https://evil.example', Destination: '/w/y.txt' }
      const { headers } = await http(method, '/w/page.txt', fields, method === 'PUT' ? 'x' : undefined)
      expect(headers, method).not.to.have.property('set-cookie')
    }
    const first = await http('PUT', '/w/page.txt', { Origin: 'https://evil.example' }, 'x')
    expect(first.headers['set-cookie']).to.match(/^platform_session=/)
  })

  // Browsers keep a cookie with SameSite=Lax back there, and would take a new one in its place.
  for (const [name, target, from] of [
    ['refused', '/page.html', { Origin: 'https://evil.example' }],
    ['allowed', '/w/', { Origin: 'null' }],
    ['known by Sec-Fetch-Site', '/none.html', { 'Sec-Fetch-Site': 'cross-site' }],
  ] as const)
    it(`SSN-1 HTTP-167 a form of a foreign page that brings no cookie gets none: ${name}`, async () => {
      const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
      const { headers } = await http('POST', target, { ...form, ...from }, 'a=b')
      expect(headers).not.to.have.property('set-cookie')
      expect((await http('POST', target, form, 'a=b')).headers['set-cookie']).to.match(/^platform_session=/)
    })

  it('HTTP-167 a foreign write that everybody may make is made', async () => {
    const { status } = await http('PUT', '/w/foreign.txt', { Cookie: cookie, Origin: 'https://evil.example' }, 'x')
    expect(status).to.equal(201)
  })

  it('HTTP-167 reads are not affected', async () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'QUERY']) {
      const fields = { Cookie: cookie, Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }
      const type = { 'Content-Type': 'text/css-selector' }
      const received = await http(method, '/page.html', { ...fields, ...type }, method === 'QUERY' ? 'p' : undefined)
      expect(received.status, method).to.equal(200)
      expect(received.headers, method).not.to.have.property('set-cookie')
    }
  })

  it('HTTP-167 publicUrl tells the own origin', async () => {
    const other = await startServer({ site: { publicUrl: 'https://www.example.org' } })
    try {
      await putAll(other, FILES)
      const there = client(other.port)
      const to = {
        http: there,
        server: other,
        cookie: /^[^;]+/.exec((await there('GET', '/page.html')).headers['set-cookie'] ?? '')?.[0] ?? '',
      }
      const own = await sessionOf({}, to)
      expect(await sessionOf({ Origin: 'https://www.example.org' }, to)).to.equal(own)
      expect(await sessionOf({ Origin: `http://localhost:${other.port}` }, to)).not.to.equal(own)
    } finally {
      await other.close()
    }
  })
})
