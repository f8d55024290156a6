import { createHash } from 'node:crypto'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { untilCoded } from '../../support/codings.ts'
import { page, put, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields, type Received, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const LONG = page(`<ul>${'<li class="item">one more of them</li>\n'.repeat(100)}</ul>`)
const STYLE = 'p { color: red }\n'.repeat(200)

function decoded({ headers, body }: Received): string {
  const coding = headers['content-encoding']
  const plain = coding === 'br' ? brotliDecompressSync(body) : coding === 'gzip' ? gunzipSync(body) : body
  return plain.toString()
}

describe('compressed answers', () => {
  let server: TestServer
  let http: Client
  const read = (target: string, coding: string | undefined, fields: Fields = {}) =>
    http('GET', target, { 'Accept-Encoding': coding, ...fields })

  async function settle(target: string): Promise<void> {
    await untilCoded(http, target, 'br')
    await untilCoded(http, target, 'gzip')
  }

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await putAll(server, {
      '/page.html': LONG,
      '/style.css': STYLE,
      '/small.css': 'p{}',
      '/feed.xml': `<feed>${'<entry>x</entry>'.repeat(200)}</feed>`,
      '/photo.jpg': Buffer.alloc(5000),
      '/noise.txt': createHash('shake256', { outputLength: 2000 }).update('noise').digest(),
    })
    await put(server, '/rules.html', rulesPage(['*', 'PUT', 'Allow', '/w/*']))
    for (const target of ['/page.html', '/style.css', '/feed.xml']) await settle(target)
  })
  after(() => server.close())

  const choices: [accept: string | undefined, coding: string | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['deflate', undefined],
    ['identity, gzip;q=0.5', undefined],
    ['GZIP', 'gzip'],
  ]
  for (const [accept, coding] of choices) {
    it(`RFC 9110 §12.5.3 Accept-Encoding: ${accept} gives ${coding}`, async () => {
      for (const target of ['/page.html', '/style.css']) {
        const received = await read(target, accept)
        expect(received.status).to.equal(200)
        expect(received.headers['content-encoding']).to.equal(coding)
        expect(decoded(received)).to.equal(target === '/page.html' ? LONG : STYLE)
        expect(received.headers['content-length']).to.equal(String(received.body.length))
      }
    })
  }

  it('HTTP-31 each coding has a tag of its own', async () => {
    const [plain, br, gzip] = await Promise.all([undefined, 'br', 'gzip'].map(coding => read('/page.html', coding)))
    if (!plain || !br || !gzip) throw new Error('three were asked for')
    expect(new Set([tagOf(plain), tagOf(br), tagOf(gzip)]).size).to.equal(3)
    for (const tag of [tagOf(br), tagOf(gzip)]) expect(tag).to.match(/^"[^"]+"$/)
    for (const { headers } of [br, gzip]) expect(headers['last-modified']).to.equal(plain.headers['last-modified'])
  })

  it('HTTP-31 the suffix is stripped when tags are compared', async () => {
    const tags = await Promise.all(
      [undefined, 'br', 'gzip'].map(async coding => tagOf(await read('/page.html', coding))),
    )
    for (const coding of [undefined, 'br', 'gzip']) {
      for (const tag of tags) {
        const { status, headers, body } = await read('/page.html', coding, { 'If-None-Match': tag })
        expect(status).to.equal(304)
        expect(headers).not.to.have.property('content-encoding')
        expect(body.length).to.equal(0)
      }
      expect((await read('/page.html', coding, { 'If-Match': tags[1] })).status).to.equal(200)
    }
  })

  it('HTTP-31 HTTP-37 a tag of a compressed answer is good for a write', async () => {
    await put(server, '/w/page.html', LONG)
    await settle('/w/page.html')
    const tag = tagOf(await read('/w/page.html', 'br'))
    const stale = { 'If-Match': tag.replace(/[0-9a-f]-br"$/, 'x-br"') }
    expect((await http('PUT', '/w/page.html', stale, 'x')).status).to.equal(412)
    expect((await http('PUT', '/w/page.html', { 'If-Match': tag, Range: 'selector=li' }, '<li>new')).status).to.equal(
      206,
    )
    const next = await settle('/w/page.html').then(() => read('/w/page.html', 'gzip'))
    expect(decoded(next)).to.include('<li>new</li>')
    expect((await http('PUT', '/w/page.html', { 'If-Match': tagOf(next) }, LONG)).status).to.equal(200)
  })

  it('HTTP-152 Vary names Accept-Encoding, compressed or not, and only where there are codings', async () => {
    for (const coding of [undefined, 'br', 'gzip', 'identity']) {
      expect((await read('/page.html', coding)).headers.vary).to.match(/^Accept, Range, Accept-Encoding/)
      expect((await read('/style.css', coding)).headers.vary).to.equal('Accept-Encoding')
      expect((await read('/small.css', coding)).headers).not.to.have.property('vary')
    }
    const tag = tagOf(await read('/style.css', 'br'))
    expect((await read('/style.css', 'br', { 'If-None-Match': tag })).headers.vary).to.equal('Accept-Encoding')
  })

  it('what is small, or compressed already, or does not shrink, is sent as it is', async () => {
    for (const target of ['/small.css', '/photo.jpg', '/noise.txt']) {
      for (let i = 0; i < 3; i++) {
        const { headers, status } = await read(target, 'br, gzip')
        expect(status).to.equal(200)
        expect(headers, target).not.to.have.property('content-encoding')
      }
    }
  })

  it('XML is compressed as well', async () => {
    const received = await read('/feed.xml', 'br')
    expect(received.headers).to.include({ 'content-encoding': 'br', 'content-type': 'application/xml' })
    expect(decoded(received)).to.match(/^<feed>/)
  })

  it('HTTP-56 HEAD tells the coding and length that GET would have', async () => {
    for (const coding of ['br', 'gzip', 'identity']) {
      const get = await read('/page.html', coding)
      const head = await http('HEAD', '/page.html', { 'Accept-Encoding': coding })
      expect(head.headers['content-encoding']).to.equal(get.headers['content-encoding'])
      expect(head.headers['content-length']).to.equal(get.headers['content-length'])
      expect(head.headers.etag).to.equal(get.headers.etag)
    }
  })

  it('the first who asks does not wait: plain bytes with their own tag, then a copy', async () => {
    await put(server, '/fresh.css', `/* fresh */${STYLE}`)
    const plain = await read('/fresh.css', undefined)
    const first = await read('/fresh.css', 'br')
    if (first.headers['content-encoding'] === undefined) expect(tagOf(first)).to.equal(tagOf(plain))
    await settle('/fresh.css')
    expect(decoded(await read('/fresh.css', 'br'))).to.equal(`/* fresh */${STYLE}`)
  })

  it('fragments, matches and JSON-LD have tags and bytes of their own, whatever is accepted', async () => {
    for (const fields of [
      { Range: 'selector=ul' },
      { Range: 'selector=li', Accept: 'multipart/mixed' },
      { Accept: 'application/ld+json' },
    ]) {
      const plain = await read('/page.html', undefined, fields)
      const coded = await read('/page.html', 'br, gzip', fields)
      expect(decoded(coded)).to.equal(plain.text)
      if (coded.headers['content-encoding'] === undefined) expect(tagOf(coded)).to.equal(tagOf(plain))
      else expect(tagOf(coded)).not.to.equal(tagOf(plain))
    }
  })
})
