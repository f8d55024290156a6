import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields, tagOf } from '../../support/http.ts'
import { partsOf } from '../../support/multipart.ts'
import { startServer, type TestServer } from '../../support/server.ts'

describe('QUERY with a CSS selector', () => {
  let server: TestServer
  let http: Client
  const query = (target: string, selector: string, fields: Fields = {}) =>
    http('QUERY', target, { 'Content-Type': 'text/css-selector', ...fields }, selector)

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await putAll(server, {
      '/list.html': page('<h1>Wishes</h1><ul id="l"><li>1</li><li id="two">2</li></ul><p class="ü">ü</p>'),
      '/blog/index.html': page('<h1>Blog</h1>'),
      '/feed.xml': '<feed><entry>1</entry><entry>2</entry></feed>',
      '/style.css': 'p{}',
      '/guarded.html': page('<p>1</p><p class="shut">2</p>'),
      '/shut.html': page('<p>1</p>'),
      '/rules.html': rulesPage(['*', 'GET', 'Deny', '/guarded.html', '.shut'], ['*', 'GET', 'Deny', '/shut.html']),
    })
  })
  after(() => server.close())

  it('HTTP-130 every match in document order, 200, as multipart', async () => {
    const received = await query('/list.html', 'li')
    expect(received.status).to.equal(200)
    const parts = partsOf(received)
    expect(parts.map(({ text }) => text)).to.deep.equal(['<li>1</li>', '<li id="two">2</li>'])
    expect(parts.map(({ headers }) => headers['Content-Range'])).to.deep.equal([
      'selector=#l > li:nth-child(1)',
      'selector=#two',
    ])
    expect(parts[0]?.headers).to.include({ 'Content-Location': '/list.html', 'Content-Length': '10' })
  })

  it('HTTP-130 no match: 200 and no parts', async () => {
    const received = await query('/list.html', 'h6')
    expect(received.status).to.equal(200)
    expect(partsOf(received)).to.deep.equal([])
    expect(received.text).to.match(/^--[A-Za-z0-9]+--\r\n$/)
    expect(received.headers.etag).to.match(/^"[^"]+"$/)
  })

  it('HTTP-130 parameters of the type are ignored, the body is trimmed and UTF-8', async () => {
    for (const type of ['text/css-selector; charset=utf-8', 'TEXT/CSS-Selector', 'text/css-selector ;x=y'])
      expect((await query('/list.html', ' \r\n .ü\t\n', { 'Content-Type': type })).text, type).to.include('>ü</p>')
    expect(partsOf(await query('/list.html', 'li, h1'))).to.have.length(3)
  })

  it('HTTP-130 it changes nothing', async () => {
    const before = tagOf(await http('GET', '/list.html'))
    await query('/list.html', '*')
    expect(tagOf(await http('GET', '/list.html'))).to.equal(before)
  })

  describe('HTTP-131 tags', () => {
    it('made from selector text and matches', async () => {
      const [a, b, again] = [
        await query('/list.html', 'h1'),
        await query('/list.html', 'body h1'),
        await query('/list.html', 'h1'),
      ]
      expect(tagOf(a)).not.to.equal(tagOf(b))
      expect(tagOf(a)).to.equal(tagOf(again))
    })

    it('If-None-Match is 304', async () => {
      for (const selector of ['li', 'h6']) {
        const tag = tagOf(await query('/list.html', selector))
        for (const value of [tag, `"x", W/${tag}`, '*']) {
          const { status, headers, body } = await query('/list.html', selector, { 'If-None-Match': value })
          expect(status).to.equal(304)
          expect(headers.etag).to.equal(tag)
          expect(body.length).to.equal(0)
        }
        expect((await query('/list.html', `${selector}, i`, { 'If-None-Match': tag })).status).to.equal(200)
      }
    })

    it('another element may change, a match may not', async () => {
      await put(server, '/changing.html', page('<p>1</p><i>x</i>'))
      const tag = tagOf(await query('/changing.html', 'p'))
      await put(server, '/changing.html', page('<p>1</p><i>y</i>'))
      expect((await query('/changing.html', 'p', { 'If-None-Match': tag })).status).to.equal(304)
      await put(server, '/changing.html', page('<p>2</p><i>y</i>'))
      expect((await query('/changing.html', 'p', { 'If-None-Match': tag })).status).to.equal(200)
    })

    it('HTTP-36 dates do not count, a failed If-Match is 412', async () => {
      const future = 'Fri, 06 Nov 2093 08:49:37 GMT'
      expect((await query('/list.html', 'li', { 'If-Modified-Since': future })).status).to.equal(200)
      const failed = await query('/list.html', 'li', { 'If-Match': '"x"' })
      expect(failed.status).to.equal(412)
      expect(failed.headers.etag).to.equal(tagOf(await query('/list.html', 'li')))
    })
  })

  describe('HTTP-132 the public host', () => {
    it('a path ending in / is its index only', async () => {
      expect(partsOf(await query('/blog/', 'h1')).map(({ headers }) => headers['Content-Location'])).to.deep.equal([
        '/blog/index.html',
      ])
      expect((await query('/', 'h1')).status).to.equal(404)
    })

    it('a directory without slash is 404', async () => {
      expect((await query('/blog', 'h1')).status).to.equal(404)
    })

    it('XML as well', async () => {
      const received = await query('/feed.xml', 'entry')
      expect(partsOf(received).map(({ text, headers }) => [text, headers['Content-Type']])).to.deep.equal([
        ['<entry>1</entry>', 'application/xml'],
        ['<entry>2</entry>', 'application/xml'],
      ])
    })

    it('404 for a missing document', async () => {
      expect((await query('/none.html', 'p')).status).to.equal(404)
    })

    for (const [accept, status] of [
      ['text/html', 406],
      ['multipart/mixed;q=0', 406],
      ['multipart/mixed;q=0, */*', 406],
      ['application/ld+json', 406],
      ['*/*', 200],
      ['multipart/*', 200],
      ['multipart/mixed', 200],
      ['text/html, */*;q=0.1', 200],
      [undefined, 200],
    ] as const) {
      it(`Accept: ${accept} is ${status}`, async () => {
        expect((await query('/list.html', 'li', { Accept: accept })).status).to.equal(status)
      })
    }

    for (const body of ['', ' \n\t', 'li[', 'a,,b', '#', 'p >']) {
      it(`an empty or unparsable body is 422: ${JSON.stringify(body)}`, async () => {
        expect((await query('/list.html', body)).status).to.equal(422)
      })
    }

    it('a body that is not UTF-8 is 422', async () => {
      const { status } = await http('QUERY', '/list.html', { 'Content-Type': 'text/css-selector' }, Buffer.of(0xff))
      expect(status).to.equal(422)
    })

    it('a blob is 422', async () => {
      expect((await query('/style.css', 'p')).status).to.equal(422)
    })

    it('authorized like GET of the path, and like a read of all matches', async () => {
      expect((await query('/shut.html', 'p')).status).to.equal(401)
      expect((await query('/shut.html', 'h6')).status).to.equal(401)
      expect((await query('/guarded.html', 'p')).status).to.equal(401)
      expect((await query('/guarded.html', 'p:first-child')).status).to.equal(200)
    })
  })

  it('HTTP-134 missing and other content types are 400 where QUERY is granted, refused where it is not', async () => {
    for (const type of [undefined, 'text/plain', 'text/css', 'application/json', 'nonsense']) {
      const { status } = await http('QUERY', '/list.html', { 'Content-Type': type }, 'li')
      expect(status, `${type}: default-GET does not open it (METH-3)`).to.equal(401)
    }
    await put(server, '/query-rules.html', rulesPage(['*', 'QUERY', 'Allow', '/list.html']))
    for (const type of [undefined, 'text/plain', 'text/css', 'application/json', 'nonsense']) {
      const { status, headers } = await http('QUERY', '/list.html', { 'Content-Type': type }, 'li')
      expect(status, type).to.equal(400)
      expect(headers['accept-query'], type).to.include('text/css-selector')
    }
    expect((await http('QUERY', '/none-such.html', {}, 'li')).status).to.equal(401)
  })

  it('HTTP-130 a chunked body', async () => {
    const chunks = '3\r\nul \r\n2\r\nli\r\n0\r\n\r\n'
    const received = await http(
      'QUERY',
      '/list.html',
      { 'Content-Type': 'text/css-selector', 'Transfer-Encoding': 'chunked' },
      chunks,
    )
    expect(partsOf(received)).to.have.length(2)
  })

  it('HTTP-150 cached like a page: private for whom it sets a cookie, no-cache else', async () => {
    const first = await query('/list.html', 'li')
    expect(first.headers['cache-control']).to.equal('private, no-cache')
    const cookie = /^[^;]+/.exec(first.headers['set-cookie'] ?? '')?.[0]
    expect((await query('/list.html', 'li', { Cookie: cookie })).headers['cache-control']).to.equal('no-cache')
  })
})
