import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, putAll, remove, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const IMF_FIXDATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/
const board = (a: string, b: string) => page(`<div id="board"><p id="a">${a}</p><p id="b">${b}</p></div>`)

describe('validators and conditional reads', () => {
  let server: TestServer
  let http: Client
  const read = (target: string, fields: Fields = {}) => http('GET', target, fields)
  const tag = async (target: string, fields: Fields = {}) => tagOf(await read(target, fields))

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'PUT|POST|DELETE|MOVE', 'Allow', '/w/*']))
    await putAll(server, {
      '/board.html': board('one', 'two'),
      '/data.bin': 'same bytes',
      '/other/data.bin': 'same bytes',
      '/feed.xml': '<feed><entry>x</entry></feed>',
      '/item.html': page('<p itemscope itemtype="https://schema.org/Thing"><span itemprop="name">x</span></p>'),
    })
  })
  after(() => server.close())

  const ALL = { Accept: 'multipart/mixed' }
  const JSON_LD = { Accept: 'application/ld+json' }

  describe('HTTP-30 HTTP-31 tags', () => {
    it('every 200 and 206 has a strong, quoted tag', async () => {
      for (const [target, fields] of [
        ['/board.html', {}],
        ['/board.html', { Range: 'selector=p' }],
        ['/board.html', { Range: 'selector=p', ...ALL }],
        ['/board.html', JSON_LD],
        ['/item.html', { Range: 'selector=p', ...JSON_LD }],
        ['/board.html', { Range: 'bytes=0-3' }],
        ['/data.bin', {}],
        ['/data.bin', { Range: 'bytes=0-3' }],
        ['/feed.xml', {}],
      ] as const) {
        expect((await read(target, fields)).headers.etag, JSON.stringify([target, fields])).to.match(/^"[^"]+"$/)
      }
    })

    it('representations with different bytes have different tags', async () => {
      const tags = await Promise.all([
        tag('/board.html'),
        tag('/board.html', JSON_LD),
        tag('/board.html', { Range: 'selector=#a' }),
        tag('/board.html', { Range: 'selector=#b' }),
        tag('/board.html', { Range: 'selector=p', ...ALL }),
        tag('/board.html', { Range: 'selector=#a', ...ALL }),
        tag('/board.html', { Range: 'selector=p; entries=0-0', ...ALL }),
        tag('/item.html', { Range: 'selector=p', ...JSON_LD }),
        tag('/data.bin'),
      ])
      expect(new Set(tags).size).to.equal(tags.length)
    })

    it('blobs with equal bytes have equal tags, also elsewhere and after they were replaced', async () => {
      expect(await tag('/data.bin')).to.equal(await tag('/other/data.bin'))
      await put(server, '/turn.bin', 'one')
      const first = await tag('/turn.bin')
      await put(server, '/turn.bin', 'two')
      expect(await tag('/turn.bin')).not.to.equal(first)
      await put(server, '/turn.bin', 'one')
      expect(await tag('/turn.bin')).to.equal(first)
    })

    it('the tag of a document changes with its bytes, however they mean the same', async () => {
      await put(server, '/same.html', '<p>x</p>')
      const before = await tag('/same.html')
      await put(server, '/same.html', '<p >x</p>')
      expect(await tag('/same.html')).not.to.equal(before)
    })

    it('a whole PUT answers with the stored tag, which is the tag of the GET', async () => {
      const written = await http('PUT', '/w/stored.html', {}, page('x'))
      expect(await tag('/w/stored.html')).to.equal(tagOf(written))
      expect((await http('HEAD', '/w/stored.html')).headers.etag).to.equal(tagOf(written))
    })

    it('JSON-LD has another tag when the JSON does, and only then', async () => {
      await put(server, '/ld.html', page('<p itemscope><b itemprop="n">1</b></p>'))
      const first = await tag('/ld.html', JSON_LD)
      await put(server, '/ld.html', page('<p itemscope><i itemprop="n">1</i></p>'))
      expect(await tag('/ld.html', JSON_LD)).to.equal(first)
      await put(server, '/ld.html', page('<p itemscope><b itemprop="n">2</b></p>'))
      expect(await tag('/ld.html', JSON_LD)).not.to.equal(first)
    })

    it('a multi-match tag changes with the selector text, the set of matches, and any match', async () => {
      const all = (selector: string) => tag('/many.html', { Range: `selector=${selector}`, ...ALL })
      await put(server, '/many.html', page('<p>1</p><p>2</p><i>x</i>'))
      const first = await all('p')
      expect(await all('body p')).not.to.equal(first)
      await put(server, '/many.html', page('<p>1</p><p>2</p><i>y</i>'))
      expect(await all('p')).to.equal(first)
      await put(server, '/many.html', page('<p>1</p><p>3</p><i>y</i>'))
      expect(await all('p')).not.to.equal(first)
      await put(server, '/many.html', page('<p>1</p><p>2</p><p>2</p>'))
      expect(await all('p')).not.to.equal(first)
    })
  })

  describe('HTTP-32 fragment tags', () => {
    const parts = async (selector: string) => {
      const found = /^"([0-9a-f]+)-([0-9a-f]+)"$/.exec(await tag('/w/parts.html', { Range: `selector=${selector}` }))
      if (!found) throw new Error('no fragment tag')
      return { fragment: found[1], document: found[2] }
    }

    it('the fragment part is that of the element, the document part that of the bytes', async () => {
      await put(server, '/w/parts.html', board('one', 'two'))
      const before = { a: await parts('#a'), b: await parts('#b'), board: await parts('#board') }
      expect(before.a.document).to.equal(before.b.document)
      expect(before.a.fragment).not.to.equal(before.b.fragment)
      expect(await parts('p:first-child')).to.deep.equal(before.a)
      await http('PUT', '/w/parts.html', { Range: 'selector=#b' }, '<p id="b">three</p>')
      const now = { a: await parts('#a'), b: await parts('#b'), board: await parts('#board') }
      expect(now.a.fragment).to.equal(before.a.fragment)
      expect(now.b.fragment).not.to.equal(before.b.fragment)
      expect(now.board.fragment).not.to.equal(before.board.fragment)
      expect(now.a.document).not.to.equal(before.a.document)
    })

    it('the tag of a write is that of a read that follows', async () => {
      await put(server, '/w/parts.html', board('one', 'two'))
      const written = await http('PUT', '/w/parts.html', { Range: 'selector=#a' }, '<p id=a>new')
      expect(await tag('/w/parts.html', { Range: 'selector=#a' })).to.equal(tagOf(written))
    })
  })

  describe('HTTP-30 Last-Modified', () => {
    it('on 200 and HEAD of blobs and plain documents, and on writes', async () => {
      for (const target of ['/board.html', '/data.bin', '/feed.xml']) {
        expect((await read(target)).headers['last-modified'], target).to.match(IMF_FIXDATE)
        expect((await http('HEAD', target)).headers['last-modified'], target).to.match(IMF_FIXDATE)
      }
      const written = await http('PUT', '/w/date.html', {}, page('<p>x</p>'))
      expect(written.headers['last-modified']).to.match(IMF_FIXDATE)
      expect((await read('/w/date.html')).headers['last-modified']).to.equal(written.headers['last-modified'])
      const element = await http('PUT', '/w/date.html', { Range: 'selector=p' }, '<p>y</p>')
      expect(element.headers['last-modified']).to.match(IMF_FIXDATE)
    })

    it('not on fragments, matches and JSON-LD', async () => {
      for (const fields of [{ Range: 'selector=p' }, { Range: 'selector=p', ...ALL }, JSON_LD])
        expect((await read('/board.html', fields)).headers).not.to.have.property('last-modified')
    })
  })

  describe('HTTP-35 HTTP-37 If-None-Match', () => {
    it('one tag, a list, weak, unquoted, *', async () => {
      const current = await tag('/board.html')
      for (const value of [
        current,
        `"other", ${current}`,
        `${current},"other"`,
        `W/"a" ,, W/${current}`,
        `W/${current}`,
        current.slice(1, -1),
        '*',
      ]) {
        expect((await read('/board.html', { 'If-None-Match': value })).status, value).to.equal(304)
        expect((await http('HEAD', '/board.html', { 'If-None-Match': value })).status, value).to.equal(304)
      }
      for (const value of ['"other"', 'W/"other"', 'other', '""', `"${current.slice(1, 9)}"`, ',', '"*"'])
        expect((await read('/board.html', { 'If-None-Match': value })).status, value).to.equal(200)
    })

    for (const [name, target, fields] of [
      ['fragments', '/board.html', { Range: 'selector=#a' }],
      ['all matches', '/board.html', { Range: 'selector=p', ...ALL }],
      ['JSON-LD', '/item.html', JSON_LD],
      ['JSON-LD of elements', '/item.html', { Range: 'selector=p', ...JSON_LD }],
      ['blobs', '/data.bin', {}],
      ['XML', '/feed.xml', {}],
    ] as const) {
      it(`works for ${name}`, async () => {
        const current = await tag(target, fields)
        const { status, body, headers } = await read(target, { ...fields, 'If-None-Match': current })
        expect(status).to.equal(304)
        expect(body.length).to.equal(0)
        expect(headers.etag).to.equal(current)
        expect((await read(target, { ...fields, 'If-None-Match': '"x"' })).status).to.be.oneOf([200, 206])
      })
    }

    it('the tag of one representation says nothing of another', async () => {
      const whole = await tag('/board.html')
      for (const fields of [{ Range: 'selector=#a' }, { Range: 'selector=p', ...ALL }, JSON_LD])
        expect((await read('/board.html', { ...fields, 'If-None-Match': whole })).status).to.be.oneOf([200, 206])
    })

    it('of a fragment tag only the fragment part counts, so a poll stays 304 while others change', async () => {
      await put(server, '/poll.html', board('one', 'two'))
      const polled = await tag('/poll.html', { Range: 'selector=#a' })
      await put(server, '/poll.html', board('one', 'changed'))
      const { status, headers } = await read('/poll.html', { Range: 'selector=#a', 'If-None-Match': polled })
      expect(status).to.equal(304)
      expect(headers.etag, 'HTTP-40 the tag as the client sent it').to.equal(polled)
      const weak = await read('/poll.html', { Range: 'selector=#a', 'If-None-Match': `W/${polled}` })
      expect(weak.headers.etag, 'HTTP-40 but without W/').to.equal(polled)
      const any = await read('/poll.html', { Range: 'selector=#a', 'If-None-Match': '*' })
      expect(any.headers.etag, 'HTTP-40 for * the current one').to.equal(
        await tag('/poll.html', { Range: 'selector=#a' }),
      )
      await put(server, '/poll.html', board('changed', 'changed'))
      expect((await read('/poll.html', { Range: 'selector=#a', 'If-None-Match': polled })).status).to.equal(206)
    })

    it('nothing to compare with: 404 and 416 stay what they are', async () => {
      expect((await read('/none.html', { 'If-None-Match': '*' })).status).to.equal(404)
      expect((await read('/board.html', { Range: 'selector=h6', 'If-None-Match': '*' })).status).to.equal(416)
    })
  })

  describe('HTTP-39 If-Match', () => {
    it('compares strongly, and fails with 412 and the current tag', async () => {
      const current = await tag('/board.html')
      for (const value of [current, '*', `"x", ${current}`, current.slice(1, -1)])
        expect((await read('/board.html', { 'If-Match': value })).status, value).to.equal(200)
      for (const method of ['GET', 'HEAD']) {
        for (const value of ['"x"', `W/${current}`]) {
          const { status, headers } = await http(method, '/board.html', { 'If-Match': value })
          expect(status, value).to.equal(412)
          expect(headers.etag, value).to.equal(current)
        }
      }
    })

    it('with a fragment, the fragment part is enough', async () => {
      const current = await tag('/board.html', { Range: 'selector=#a' })
      const stale = `${current.slice(0, current.indexOf('-') + 1)}${'0'.repeat(32)}"`
      expect((await read('/board.html', { Range: 'selector=#a', 'If-Match': stale })).status).to.equal(206)
      expect((await read('/board.html', { Range: 'selector=#b', 'If-Match': stale })).status).to.equal(412)
    })
  })

  describe('HTTP-36 precedence and dates', () => {
    const PAST = 'Sun, 06 Nov 1994 08:49:37 GMT'
    const FUTURE = 'Fri, 06 Nov 2093 08:49:37 GMT'
    const cases: [name: string, fields: Fields, status: number][] = [
      ['If-Modified-Since in the past', { 'If-Modified-Since': PAST }, 200],
      ['If-Modified-Since in the future', { 'If-Modified-Since': FUTURE }, 304],
      ['an obsolete form: RFC 850', { 'If-Modified-Since': 'Sunday, 06-Nov-94 08:49:37 GMT' }, 200],
      ['an obsolete form: asctime', { 'If-Modified-Since': 'Sun Nov  6 08:49:37 2093' }, 304],
      ['an unparsable If-Modified-Since', { 'If-Modified-Since': 'yesterday' }, 200],
      ['If-Unmodified-Since in the past', { 'If-Unmodified-Since': PAST }, 412],
      ['If-Unmodified-Since in the future', { 'If-Unmodified-Since': FUTURE }, 200],
      ['an unparsable If-Unmodified-Since', { 'If-Unmodified-Since': '2020-01-01' }, 200],
      ['If-Match wins over If-Unmodified-Since', { 'If-Match': '*', 'If-Unmodified-Since': PAST }, 200],
      ['If-None-Match wins over If-Modified-Since', { 'If-None-Match': '"x"', 'If-Modified-Since': FUTURE }, 200],
      ['If-None-Match decides 304', { 'If-None-Match': '*', 'If-Modified-Since': PAST }, 304],
      ['a failed If-Match comes before If-None-Match', { 'If-Match': '"x"', 'If-None-Match': '*' }, 412],
      ['a passed If-Match leaves If-None-Match', { 'If-Match': '*', 'If-None-Match': '*' }, 304],
      ['If-Unmodified-Since comes before If-None-Match', { 'If-Unmodified-Since': PAST, 'If-None-Match': '*' }, 412],
    ]
    for (const [name, fields, status] of cases) {
      it(name, async () => {
        for (const target of ['/board.html', '/data.bin']) {
          expect((await read(target, fields)).status, target).to.equal(status)
          expect((await http('HEAD', target, fields)).status, `HEAD ${target}`).to.equal(status)
        }
      })
    }

    it('the very date of the last change is 304 and no failure', async () => {
      const date = (await read('/board.html')).headers['last-modified']
      expect((await read('/board.html', { 'If-Modified-Since': date })).status).to.equal(304)
      expect((await read('/board.html', { 'If-Unmodified-Since': date })).status).to.equal(200)
    })

    it('DAV-41 a date that two versions share cannot tell them apart', async () => {
      let [first, second]: (string | undefined)[] = ['', undefined]
      while (first !== second) {
        await put(server, '/w/twice.html', page('<p>1</p>'))
        first = (await read('/w/twice.html')).headers['last-modified']
        await put(server, '/w/twice.html', page('<p>2</p>'))
        second = (await read('/w/twice.html')).headers['last-modified']
      }
      const status = async (fields: Fields) => (await read('/w/twice.html', fields)).status
      expect(await status({ 'If-Modified-Since': second })).to.equal(200)
      expect(await status({ 'If-Unmodified-Since': second })).to.equal(412)
      expect(await status({ Range: 'bytes=0-3', 'If-Range': second })).to.equal(200)
      const condition = { 'If-Unmodified-Since': second }
      expect((await http('PUT', '/w/twice.html', condition, page('3'))).status).to.equal(412)
      expect((await http('PUT', '/w/twice.html', { ...condition, Range: 'selector=p' }, '<p>')).status).to.equal(412)
    })

    it('dates are ignored where the answer has none', async () => {
      for (const range of [{ Range: 'selector=#a' }, { Range: 'selector=p', ...ALL }, JSON_LD]) {
        expect((await read('/board.html', { ...range, 'If-Modified-Since': FUTURE })).status).to.be.oneOf([200, 206])
        expect((await read('/board.html', { ...range, 'If-Unmodified-Since': PAST })).status).to.be.oneOf([200, 206])
      }
    })
  })

  it('HTTP-40 a 304 has ETag, Vary, Cache-Control and the date of the 200, and no content', async () => {
    const cookie = /^[^;]+/.exec((await read('/board.html')).headers['set-cookie'] ?? '')?.[0]
    for (const target of ['/board.html', '/data.bin', '/feed.xml']) {
      const whole = await read(target, { Cookie: cookie })
      const unchanged = await read(target, { Cookie: cookie, 'If-None-Match': tagOf(whole) })
      const { etag, vary, 'cache-control': cache, 'last-modified': date } = whole.headers
      expect(unchanged.headers, target).to.include({ etag, 'cache-control': cache, 'last-modified': date })
      expect(unchanged.headers.vary, target).to.equal(vary)
      expect(unchanged.headers, target).not.to.have.any.keys('content-type', 'transfer-encoding', 'content-range')
      expect(unchanged.body.length).to.equal(0)
    }
  })

  it('PRIV-3 a reader who lost the right gets the refusal, not 304 or 412', async () => {
    await put(server, '/lost.html', page('x'))
    const current = await tag('/lost.html')
    await put(server, '/lost-rules.html', rulesPage(['*', 'GET', 'Deny', '/lost.html']))
    expect((await read('/lost.html', { 'If-None-Match': current })).status).to.equal(401)
    expect((await read('/lost.html', { 'If-None-Match': '*' })).status).to.equal(401)
    const failed = await read('/lost.html', { 'If-Match': '"x"' })
    expect(failed.status).to.equal(401)
    expect(failed.headers).not.to.have.property('etag')
    await remove(server, '/lost-rules.html')
  })
})
