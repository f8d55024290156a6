// biome-ignore-all lint/suspicious/noTemplateCurlyInString: rules look things up this way
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { createResponseCache } from '../../../server/response-cache.ts'
import { composed } from '../../pipeline/compose/composing.ts'
import { untilCoded } from '../../support/codings.ts'
import { page, put, putAll, remove, rulesPage } from '../../support/content.ts'
import { type Client, client, connect, type Fields, type Received, requestBytes, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

/** The session cookie of a response as a request sends it. */
function cookieOf({ headers }: Received): string {
  const cookie = /^[^;]+/.exec(headers['set-cookie'] ?? '')?.[0]
  if (cookie === undefined) throw new Error('no cookie came')
  return cookie
}

/** Status, field lines and content without what differs from moment to moment. */
function comparable({ status, lines, text }: Received): unknown {
  const stable = lines.map(([name, value]) => [name, /^(Date|Set-Cookie)$/.test(name) ? '' : value].join(': '))
  return { status, lines: stable.sort(), text }
}

const UNDER_TEST = 3

describe('kept answers', () => {
  let server: TestServer
  let http: Client
  let returning: Fields
  const longPage = page(`<h1>Long</h1><ul>${'<li class="item">one more of them</li>'.repeat(100)}</ul>`)

  before(async () => {
    server = await startServer({ settings: { trustProxy: true, defaults: { cors: ['https://app.example'] } } })
    http = client(server.port)
    await putAll(server, {
      '/page.html': longPage,
      '/small.html': page('<p id="p" itemscope itemtype="https://schema.org/Thing">x</p>'),
      '/index.html': page('<h1>Home</h1>'),
      '/feed.xml': '<feed><entry>x</entry></feed>',
      '/style.css': 'p { color: red }\n'.repeat(100),
      '/data.bin': '0123456789'.repeat(5),
      '/large.bin': 'x'.repeat(5 * 1024 * 1024),
    })
    returning = { Cookie: cookieOf(await http('GET', '/index.html')) }
  })
  after(() => server.close())

  describe('a repeated answer is the same as the first', () => {
    const requests: [name: string, target: string, fields: Fields][] = [
      ['page', '/page.html', {}],
      ['directory', '/', {}],
      ['page with query', '/page.html?x=1', {}],
      ['fragment', '/page.html', { Range: 'selector=h1' }],
      ['all matches', '/page.html', { Range: 'selector=li', Accept: 'multipart/mixed' }],
      ['JSON-LD', '/small.html', { Accept: 'application/ld+json' }],
      ['JSON-LD of an element', '/small.html', { Accept: 'application/ld+json', Range: 'selector=#p' }],
      ['XML', '/feed.xml', {}],
      ['stylesheet', '/style.css', {}],
      ['other blob', '/data.bin', {}],
      ['bytes', '/data.bin', { Range: 'bytes=0-9' }],
      ['several ranges of bytes', '/data.bin', { Range: 'bytes=0-9, 20-29' }],
      ['compressed page', '/page.html', { 'Accept-Encoding': 'br' }],
      ['compressed stylesheet', '/style.css', { 'Accept-Encoding': 'gzip' }],
      ['no such page', '/none.html', {}],
      ['no such element', '/page.html', { Range: 'selector=h6' }],
    ]
    for (const [name, target, fields] of requests) {
      it(`HTTP-30 ${name}`, async () => {
        const coding = fields['Accept-Encoding']
        if (coding === 'br' || coding === 'gzip') await untilCoded(http, target, coding)
        for (const visitor of [returning, {}]) {
          const all: Received[] = []
          for (let i = 0; i < UNDER_TEST; i++) all.push(await http('GET', target, { ...visitor, ...fields }))
          const [first, ...others] = all.map(comparable)
          for (const other of others) expect(other).to.deep.equal(first)
          expect(all[0]?.headers).to.have.property('content-length')
        }
      })
    }
  })

  it('HTTP-40 a repeated 304 has all fields of the first', async () => {
    const form = '<p>{{ request.params.name }}</p><ul p:paginate="1"><li>1</li><li>2</li></ul>'
    await putAll(server, {
      '/of/:name.html': composed(`<div p:template="text/liquid">${form}</div>`),
      '/plain/:name.html': page('plain'),
      '/anybody.js': 'x',
      '/anybody.html': rulesPage(['*', 'PUT', 'Allow', '/anybody.js']),
    })
    const asked: [target: string, fields: Fields, field?: string][] = [
      ['/of/me.html', {}, 'route-parameters'],
      ['/of/me.html', {}, 'link'],
      ['/of/me.html', { Range: 'selector=p' }, 'route-parameters'],
      ['/plain/me.html', {}],
      ['/anybody.js', {}, 'service-worker-allowed'],
      ['/small.html', {}],
      ['/small.html', { Accept: 'application/ld+json' }],
      ['/page.html', { Range: 'selector=li', Accept: 'multipart/mixed' }],
      ['/feed.xml', {}],
    ]
    for (const [target, fields, field] of asked) {
      const tag = tagOf(await http('GET', target, { ...returning, ...fields }))
      const ask = (more: Fields) => http('GET', target, { ...returning, ...fields, 'If-None-Match': tag, ...more })
      const made = await ask({ 'If-Unmodified-Since': 'Fri, 31 Dec 2100 23:59:59 GMT' })
      expect(made.status, target).to.equal(304)
      if (field !== undefined) expect(made.headers).to.have.property(field)
      expect(comparable(await ask({})), target).to.deep.equal(comparable(made))
    }
  })

  describe('SSN-1 each visitor has a session', () => {
    it('every new visitor gets a cookie of their own', async () => {
      const cookies = new Set<string>()
      for (let i = 0; i < 5; i++) cookies.add(cookieOf(await http('GET', '/small.html')))
      expect(cookies.size).to.equal(5)
    })

    it('SSN-3 a cookie that is forged, malformed or of another site counts as none', async () => {
      const real = String(returning.Cookie)
      for (const Cookie of [
        `${real.slice(0, -3)}AAA`,
        'platform_session=',
        'platform_session=x',
        `x=${real.slice(17)}`,
      ]) {
        const { headers, status } = await http('GET', '/small.html', { Cookie })
        expect(status).to.equal(200)
        expect(headers['set-cookie'], Cookie).to.match(/^platform_session=/)
      }
    })

    it('HTTP-150 new visitors get private answers, returning ones do not get theirs', async () => {
      for (let i = 0; i < UNDER_TEST; i++) {
        expect((await http('GET', '/small.html')).headers['cache-control']).to.equal('private, no-cache')
        const again = await http('GET', '/small.html', returning)
        expect(again.headers['cache-control']).to.equal('no-cache')
        expect(again.headers).not.to.have.property('set-cookie')
      }
    })

    it('HTTP-151 blobs set none, for new and returning visitors', async () => {
      for (let i = 0; i < UNDER_TEST; i++) {
        for (const visitor of [returning, {}]) {
          const { headers } = await http('GET', '/style.css', visitor)
          expect(headers).not.to.have.property('set-cookie')
          expect(headers['cache-control']).to.equal('public, max-age=300')
        }
      }
    })
  })

  describe('nothing for the wrong request', () => {
    it('rules that look something up are asked every time', async () => {
      await put(server, '/keyed.html', page('<p>keyed</p>'))
      const rules = rulesPage(
        ['*', 'GET', 'Deny', '/keyed.html'],
        ['*', 'GET', 'Deny', '/door-${request.headers.x-door}.html'],
        ['*', 'GET', 'Deny', '/query-${request.query.q}.html'],
      )
      await put(server, '/keys.html', rules)
      await putAll(server, { '/door-shut.html': page('door'), '/query-shut.html': page('query') })
      for (let i = 0; i < UNDER_TEST; i++) {
        expect((await http('GET', '/door-shut.html', { ...returning, 'X-Door': 'open' })).status).to.equal(200)
        expect((await http('GET', '/door-shut.html', { ...returning, 'X-Door': 'shut' })).status).to.equal(401)
        expect((await http('GET', '/query-shut.html?q=open', returning)).status).to.equal(200)
        expect((await http('GET', '/query-shut.html?q=shut', returning)).status).to.equal(401)
        expect((await http('GET', '/keyed.html', returning)).status).to.equal(401)
      }
      await remove(server, '/keys.html')
    })

    it('Accept, Range and Accept-Encoding choose', async () => {
      await untilCoded(http, '/page.html', 'br')
      await untilCoded(http, '/page.html', 'gzip')
      for (let i = 0; i < UNDER_TEST; i++) {
        expect((await http('GET', '/page.html', returning)).text).to.equal(longPage)
        const json = await http('GET', '/page.html', { ...returning, Accept: 'application/ld+json' })
        expect(json.headers['content-type']).to.match(/^application\/ld\+json/)
        expect((await http('GET', '/page.html', { ...returning, Range: 'selector=h1' })).text).to.equal('<h1>Long</h1>')
        expect((await http('GET', '/page.html', { ...returning, Range: 'bytes=0-14' })).text).to.equal(
          '<!DOCTYPE html>',
        )
        for (const coding of ['br', 'gzip']) {
          const { headers } = await http('GET', '/page.html', { ...returning, 'Accept-Encoding': coding })
          expect(headers['content-encoding']).to.equal(coding)
        }
        const none = await http('GET', '/page.html', { ...returning, 'Accept-Encoding': 'identity' })
        expect(none.headers).not.to.have.property('content-encoding')
      }
    })

    const heads: [name: string, target: string, fields: Fields][] = [
      ['page', '/small.html', {}],
      ['fragment', '/small.html', { Range: 'selector=p' }],
      ['part of a blob', '/data.bin', { Range: 'bytes=2-4' }],
      ['large blob', '/large.bin', {}],
    ]
    for (const [name, target, fields] of heads)
      it(`HTTP-56 HEAD of a ${name} has the headers and no content, before and after`, async () => {
        for (const visitor of [returning, {}])
          for (let i = 0; i < UNDER_TEST; i++) {
            const get = await http('GET', target, { ...visitor, ...fields })
            const head = await http('HEAD', target, { ...visitor, ...fields })
            expect(head.body.length).to.equal(0)
            expect(head.headers['content-length']).to.equal(String(get.body.length))
            expect(comparable({ ...head, text: '' })).to.deep.equal(comparable({ ...get, text: '' }))
          }
      })

    it('METH-2 a rule for HEAD is asked for HEAD alone', async () => {
      await put(server, '/heads.html', rulesPage(['*', 'HEAD', 'Deny', '/small.html']))
      for (let i = 0; i < UNDER_TEST; i++) {
        expect((await http('GET', '/small.html', returning)).status).to.equal(200)
        expect((await http('HEAD', '/small.html', returning)).status).to.equal(401)
      }
      await remove(server, '/heads.html')
      expect((await http('HEAD', '/small.html', returning)).status).to.equal(200)
    })

    it('METH-2 one that tells requests apart is asked each time', async () => {
      await put(server, '/heads.html', rulesPage(['*', 'HEAD', 'Deny', '/small.${request.headers.x-name}']))
      for (let i = 0; i < UNDER_TEST; i++) {
        expect((await http('HEAD', '/small.html', returning)).status).to.equal(200)
        expect((await http('HEAD', '/small.html', { ...returning, 'X-Name': 'html' })).status).to.equal(401)
        expect((await http('GET', '/small.html', { ...returning, 'X-Name': 'html' })).status).to.equal(200)
      }
      await remove(server, '/heads.html')
    })

    it('other methods on the same address are themselves', async () => {
      await http('GET', '/small.html', returning)
      expect((await http('OPTIONS', '/small.html', returning)).headers).to.have.property('allow')
      expect((await http('PUT', '/small.html', returning, 'x')).status).to.equal(401)
      const query = await http('QUERY', '/small.html', { ...returning, 'Content-Type': 'text/css-selector' }, 'p')
      expect(query.headers['content-type']).to.match(/^multipart\/mixed/)
    })

    it('HTTP-165 listed origins get their headers, others none', async () => {
      for (let i = 0; i < UNDER_TEST; i++) {
        const mine = await http('GET', '/small.html', { ...returning, Origin: 'https://app.example' })
        expect(mine.headers['access-control-allow-origin']).to.equal('https://app.example')
        const foreign = await http('GET', '/small.html', { ...returning, Origin: 'https://evil.example' })
        expect(foreign.headers).not.to.have.property('access-control-allow-origin')
        const none = await http('GET', '/small.html', returning)
        expect(none.headers).not.to.have.property('access-control-allow-origin')
        expect(none.headers.vary).to.match(/, Origin$/)
      }
    })

    it('HTTP-160 SSN-2 the scheme that a trusted proxy tells counts', async () => {
      for (let i = 0; i < UNDER_TEST; i++) {
        const secure = await http('GET', '/small.html', { 'X-Forwarded-Proto': 'https' })
        expect(secure.headers['strict-transport-security']).to.equal('max-age=31536000')
        expect(secure.headers['set-cookie']).to.match(/; Secure$/)
        const plain = await http('GET', '/small.html')
        expect(plain.headers).not.to.have.property('strict-transport-security')
        expect(plain.headers['set-cookie']).not.to.include('Secure')
      }
    })

    it('a connection that is to be closed is closed', async () => {
      for (let i = 0; i < UNDER_TEST; i++) {
        const connection = await connect(server.port)
        connection.send(requestBytes('GET', '/small.html', { ...returning, Connection: 'close' }))
        expect((await connection.receive()).headers.connection).to.equal('close')
        await connection.ended
      }
    })

    it('an HTTP/1.0 client gets no chunks', async () => {
      for (let i = 0; i < UNDER_TEST; i++) {
        const connection = await connect(server.port)
        connection.send(`GET /small.html HTTP/1.0\r\nHost: localhost\r\nCookie: ${returning.Cookie}\r\n\r\n`)
        const { headers, text } = await connection.receive()
        expect(headers).not.to.have.property('transfer-encoding')
        expect(text).to.include('id="p"')
        await connection.ended
      }
    })

    it('a GET with a body gets its answer, and the next request is read behind the body', async () => {
      const connection = await connect(server.port)
      for (let i = 0; i < UNDER_TEST; i++) {
        connection.send(requestBytes('GET', '/small.html', returning, 'GET /evil HTTP/1.1\r\n\r\n'))
        expect((await connection.receive()).status).to.equal(200)
      }
      connection.close()
    })
  })

  describe('conditions', () => {
    const conditional = (target: string, fields: Fields) => http('GET', target, { ...returning, ...fields })

    for (const [name, target, fields] of [
      ['page', '/small.html', {}],
      ['fragment', '/small.html', { Range: 'selector=p' }],
      ['blob', '/style.css', {}],
      ['JSON-LD', '/small.html', { Accept: 'application/ld+json' }],
    ] as const) {
      it(`HTTP-40 304 of a ${name} is the same from memory as from the application`, async () => {
        const tag = tagOf(await conditional(target, fields))
        const kept = await conditional(target, { ...fields, 'If-None-Match': tag })
        const made = await conditional(target, { ...fields, 'If-None-Match': `W/${tag}` })
        expect(kept.status).to.equal(304)
        expect(comparable(kept)).to.deep.equal(comparable(made))
      })
    }

    it('HTTP-35 lists, weak tags and * are understood after an answer was kept', async () => {
      const tag = tagOf(await conditional('/small.html', {}))
      for (const value of [tag, `"x", ${tag}`, `W/${tag}`, '*', tag.slice(1, -1)]) {
        expect((await conditional('/small.html', { 'If-None-Match': value })).status, value).to.equal(304)
      }
      expect((await conditional('/small.html', { 'If-None-Match': ['"x"', tag] })).status).to.equal(304)
      for (const value of ['"x"', 'W/"x"', '']) {
        expect((await conditional('/small.html', { 'If-None-Match': value })).status, value).to.equal(200)
      }
    })

    it('HTTP-36 other conditions are not forgotten', async () => {
      const fresh = await conditional('/small.html', {})
      const date = fresh.headers['last-modified'] ?? ''
      expect((await conditional('/small.html', { 'If-Match': '"x"' })).status).to.equal(412)
      expect((await conditional('/small.html', { 'If-Match': '"x"', 'If-None-Match': tagOf(fresh) })).status).to.equal(
        412,
      )
      expect((await conditional('/small.html', { 'If-Modified-Since': date })).status).to.equal(304)
      const old = new Date(0).toUTCString()
      expect((await conditional('/small.html', { 'If-Modified-Since': old })).status).to.equal(200)
      expect((await conditional('/small.html', { 'If-Unmodified-Since': old })).status).to.equal(412)
      const range = { Range: 'bytes=0-3' }
      expect((await conditional('/data.bin', range)).status).to.equal(206)
      expect((await conditional('/data.bin', { ...range, 'If-Range': '"x"' })).status).to.equal(200)
    })

    it('a new visitor gets the cookie with the 304 as well', async () => {
      const tag = tagOf(await conditional('/small.html', {}))
      for (let i = 0; i < UNDER_TEST; i++) {
        const { status, headers } = await http('GET', '/small.html', { 'If-None-Match': tag })
        expect(status).to.equal(304)
        expect(headers['set-cookie']).to.match(/^platform_session=/)
        expect(headers['cache-control']).to.equal('private, no-cache')
      }
    })
  })

  it('HTTP-35 304 is repeated where the whole was never asked for, and gives way to it', async () => {
    await put(server, '/only-304.html', page('<p>x</p>'))
    const known = { ...returning, 'If-None-Match': tagOf(await http('GET', '/only-304.html?other', returning)) }
    const first = await http('GET', '/only-304.html', known)
    expect(first.status).to.equal(304)
    for (let i = 0; i < UNDER_TEST; i++)
      expect(comparable(await http('GET', '/only-304.html', known))).to.deep.equal(comparable(first))
    for (let i = 0; i < UNDER_TEST; i++)
      expect((await http('GET', '/only-304.html', returning)).text).to.include('<p>x</p>')
    expect((await http('GET', '/only-304.html', known)).status).to.equal(304)
    await put(server, '/only-304.html', page('<p>y</p>'))
    expect((await http('GET', '/only-304.html', known)).status).to.equal(200)
  })

  it('requests in flight while a page changes see one version or the other, whole', async () => {
    await put(server, '/swap.html', page(`<p>${'a'.repeat(5000)}</p>`))
    const seen = new Set<string>()
    const reads = Array.from({ length: 40 }, async () => {
      const { text } = await http('GET', '/swap.html', returning)
      seen.add(/<p>(a+|b+)<\/p>/.exec(text)?.[1]?.[0] ?? 'neither')
    })
    await put(server, '/swap.html', page(`<p>${'b'.repeat(5000)}</p>`))
    await Promise.all(reads)
    expect([...seen].every(letter => letter === 'a' || letter === 'b')).to.equal(true)
    expect((await http('GET', '/swap.html', returning)).text).to.include('bbb')
  })

  it('answers of a site that was closed and opened anew are gone: nobody brings its rules up to date', async () => {
    await http('GET', '/small.html', returning)
    let open = true
    const kept = createResponseCache(() => open)
    const reuse = { holds: () => true }
    const request = { method: 'GET', url: '/small.html', headers: { host: 'localhost' } } as IncomingMessage
    const response = { writeHead: () => {}, end: () => {} } as unknown as ServerResponse
    const sender = { authority: 'localhost', secure: false, address: '127.0.0.1' }
    kept.keep(request, sender, server.site, { status: 200, headers: {}, body: 'x', reuse }, 'everybody')
    expect(kept.repeat(request, response, sender, () => undefined)).to.equal(200)
    const announcing = (length: string) =>
      ({ ...request, headers: { ...request.headers, 'content-length': length } }) as IncomingMessage
    expect(kept.repeat(announcing('0'), response, sender, () => undefined)).to.equal(200)
    expect(kept.repeat(announcing('1'), response, sender, () => undefined)).to.equal(undefined)
    const head = { ...request, method: 'HEAD' } as IncomingMessage
    expect(kept.repeat(head, response, sender, () => undefined)).to.equal(undefined)
    kept.keep(head, sender, server.site, { status: 200, headers: {}, body: 'x', reuse }, 'everybody')
    expect(kept.repeat(head, response, sender, () => undefined)).to.equal(200)
    open = false
    expect(kept.repeat(head, response, sender, () => undefined)).to.equal(undefined)
    expect(kept.repeat(request, response, sender, () => undefined)).to.equal(undefined)
    expect(kept.size).to.equal(0)
  })
})
