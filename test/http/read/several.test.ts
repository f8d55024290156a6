import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields, tagOf } from '../../support/http.ts'
import { partsOf } from '../../support/multipart.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const PAGINATE = 'xmlns:p="https://platform.example/ns/1.0" p:paginate'

describe('reads of every match', () => {
  let server: TestServer
  let http: Client
  const all = (target: string, selector: string, fields: Fields = {}) =>
    http('GET', target, { Range: `selector=${selector}`, Accept: 'multipart/mixed', ...fields })

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await putAll(server, {
      '/list.html': page(
        '<ul id="l"><li>1</li><li id="two">2</li><li>3 &amp; é</li></ul><p>x</p><p id="dup">a</p><p id="dup">b</p>',
      ),
      '/a b.html': page('<p>x</p>'),
      '/feed.xml': '<feed><entry>1</entry><entry>2</entry></feed>',
      '/guarded.html': page('<p class="open">1</p><p class="shut">2</p><p class="open">3</p>'),
      '/long.html': page(
        `<ul id="l" ${PAGINATE}="2"><li>1</li><li>2</li><li class="shut">3</li><li>4</li><li id="five">5</li></ul>`,
      ),
      '/rules.html': rulesPage(
        ['*', 'GET', 'Deny', '/guarded.html|/long.html', '.shut'],
        ['*', 'PUT|DELETE', 'Allow', '/list.html'],
      ),
    })
  })
  after(() => server.close())

  it('HTTP-65 every match in document order, 206', async () => {
    const received = await all('/list.html', 'li')
    expect(received.status).to.equal(206)
    expect(received.headers['content-range']).to.equal('selector=li')
    expect(partsOf(received).map(({ text }) => text)).to.deep.equal([
      '<li>1</li>',
      '<li id="two">2</li>',
      '<li>3 &amp; é</li>',
    ])
  })

  it('HTTP-65 also when there is one match', async () => {
    const received = await all('/list.html', '#two')
    expect(received.status).to.equal(206)
    expect(partsOf(received)).to.have.length(1)
  })

  it('HTTP-65 no match is 416', async () => {
    expect((await all('/list.html', 'h6')).status).to.equal(416)
  })

  it('HTTP-65 a selector list is one set in document order, each element once', async () => {
    const received = await all('/list.html', 'p, li, #two, ul > li')
    expect(partsOf(received).map(({ text }) => text.slice(0, 3))).to.deep.equal([
      '<li',
      '<li',
      '<li',
      '<p>',
      '<p ',
      '<p ',
    ])
  })

  it('HTTP-67 headers of the parts', async () => {
    const [first, second] = partsOf(await all('/list.html', 'li'))
    expect(Object.keys(first?.headers ?? {})).to.deep.equal([
      'Content-Type',
      'Content-Location',
      'Content-Range',
      'ETag',
      'Content-Length',
    ])
    expect(first?.headers).to.include({
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Location': '/list.html',
      'Content-Range': 'selector=#l > li:nth-child(1)',
      'Content-Length': '10',
    })
    expect(second?.headers['Content-Range']).to.equal('selector=#two')
  })

  it('HTTP-67 the range of a part addresses exactly this element, and its tag is that of a read of it', async () => {
    for (const part of partsOf(await all('/list.html', '*'))) {
      const single = await http('GET', '/list.html', { Range: part.headers['Content-Range'] })
      expect(single.text).to.equal(part.text)
      expect(tagOf(single)).to.equal(part.headers.ETag)
      expect(partsOf(await all('/list.html', part.headers['Content-Range']?.slice(9) ?? ''))).to.have.length(1)
    }
  })

  it('HTTP-67 it can be used as the Range of a write that follows', async () => {
    await put(server, '/w.html', page('<ul><li>1</li><li>2</li></ul>'))
    await put(server, '/w-rules.html', rulesPage(['*', 'PUT', 'Allow', '/w.html']))
    const [, second] = partsOf(await all('/w.html', 'li'))
    const { 'Content-Range': Range, ETag } = second?.headers ?? {}
    const written = await http('PUT', '/w.html', { Range, 'If-Match': ETag }, '<li>new</li>')
    expect(written.status).to.equal(206)
    expect(partsOf(await all('/w.html', 'li')).map(({ text }) => text)).to.deep.equal(['<li>1</li>', '<li>new</li>'])
  })

  it('HTTP-49 HTTP-67 what is beyond ASCII is UTF-8 in parts', async () => {
    await put(server, '/käse.html', page('<p id="käse">x</p>'))
    const received = await all('/k%C3%A4se.html', 'p')
    const [part] = partsOf(received)
    expect(part?.headers).to.include({ 'Content-Location': '/k%C3%A4se.html', 'Content-Range': 'selector=#käse' })
    const single = await http('GET', '/k%C3%A4se.html', { Range: part?.headers['Content-Range'] })
    expect(tagOf(single)).to.equal(part?.headers.ETag)
  })

  it('HTTP-67 paths in parts are percent-encoded', async () => {
    const [part] = partsOf(await all('/a%20b.html', 'p'))
    expect(part?.headers['Content-Location']).to.equal('/a%20b.html')
  })

  it('HTTP-57 an XML document ignores Accept: the first match alone', async () => {
    const { status, text, headers } = await all('/feed.xml', 'entry')
    expect({ status, text }).to.deep.equal({ status: 206, text: '<entry>1</entry>' })
    expect(headers['content-type']).to.equal('application/xml')
  })

  describe('HTTP-68 slices', () => {
    const cases: [entries: string, range: string, contents: string[]][] = [
      ['0-0', 'entries 0-0/3', ['<li>1</li>']],
      ['1-2', 'entries 1-2/3', ['<li id="two">2</li>', '<li>3 &amp; é</li>']],
      ['1-99', 'entries 1-2/3', ['<li id="two">2</li>', '<li>3 &amp; é</li>']],
    ]
    for (const [entries, range, contents] of cases) {
      it(`entries=${entries}`, async () => {
        const received = await all('/list.html', `li; entries=${entries}`)
        expect(received.status).to.equal(206)
        expect(received.headers['content-range']).to.equal(range)
        expect(partsOf(received).map(({ text }) => text)).to.deep.equal(contents)
      })
    }

    it('a slice behind the end is 416', async () => {
      expect((await all('/list.html', 'li; entries=3-4')).status).to.equal(416)
    })

    it('slices have tags of their own', async () => {
      const tags = await Promise.all(
        ['li', 'li; entries=0-0', 'li; entries=0-1', 'li; entries=1-1'].map(async s =>
          tagOf(await all('/list.html', s)),
        ),
      )
      expect(new Set(tags).size).to.equal(4)
    })

    it('JSON-LD of a slice', async () => {
      await put(
        server,
        '/items.html',
        page('<p itemscope itemid="a"></p><p itemscope itemid="b"></p><p itemscope itemid="c"></p>'),
      )
      const { status, headers, text } = await all('/items.html', 'p; entries=1-5', { Accept: 'application/ld+json' })
      expect(status).to.equal(206)
      expect(headers['content-range']).to.equal('entries 1-2/3')
      expect(JSON.parse(text)).to.deep.equal({ '@graph': [{ '@id': 'b' }, { '@id': 'c' }] })
    })

    it('a single-match read drops it', async () => {
      const { status, headers, text } = await http('GET', '/list.html', { Range: 'selector=li; entries=1-1' })
      expect({ status, text }).to.deep.equal({ status: 206, text: '<li>1</li>' })
      expect(headers['content-range']).to.equal('selector=li')
    })
  })

  describe('HTTP-59 ALL-1 to ALL-3 which elements are authorized', () => {
    it('one refused match refuses all', async () => {
      const { status, text } = await all('/guarded.html', 'p')
      expect(status).to.equal(401)
      expect(text).not.to.include('class="open"')
    })

    it('as JSON-LD and by QUERY, too', async () => {
      expect((await all('/guarded.html', 'p', { Accept: 'application/ld+json' })).status).to.equal(401)
      const query = await http('QUERY', '/guarded.html', { 'Content-Type': 'text/css-selector' }, 'p')
      expect(query.status).to.equal(401)
    })

    it('without a refused match all are sent', async () => {
      expect(partsOf(await all('/guarded.html', '.open'))).to.have.length(2)
    })

    it('every page of the selector is refused', async () => {
      for (const entries of ['0-0', '1-1', '2-2', '9-9'])
        expect((await all('/guarded.html', `p; entries=${entries}`)).status, entries).to.equal(401)
    })

    const paginated: [selector: string, page: number, status: number][] = [
      ['li', 1, 401],
      ['li', 2, 401],
      ['li', 3, 401],
      ['#l > :nth-child(3)', 1, 401],
      ['.shut', 1, 401],
      ['li:not(.shut)', 1, 206],
      ['#five', 3, 206],
      ['#five', 1, 416],
      ['ul', 1, 206],
    ]
    for (const [selector, number, status] of paginated) {
      it(`every page of a paginated list is refused: ${selector} on page ${number} is ${status}`, async () => {
        const target = `/long.html?paginate:page=${number}`
        expect((await all(target, selector)).status).to.equal(status)
        expect((await all(target, selector, { Accept: 'application/ld+json' })).status).to.equal(status)
        const query = await http('QUERY', target, { 'Content-Type': 'text/css-selector' }, selector)
        expect(query.status).to.equal(status === 401 ? 401 : 200)
        expect(
          (await http('HEAD', target, { Range: `selector=${selector}`, Accept: 'multipart/mixed' })).status,
        ).to.equal(status)
      })
    }

    it('of a paginated list, too, one element is asked about alone', async () => {
      const target = '/long.html?paginate:page=1'
      expect((await http('GET', target, { Range: 'selector=li' })).text).to.equal('<li>1</li>')
    })

    it('a single-match answer asks about the first match only', async () => {
      expect((await http('GET', '/guarded.html', { Range: 'selector=p' })).text).to.equal('<p class="open">1</p>')
      expect(
        (await http('GET', '/guarded.html', { Range: 'selector=p:nth-child(2), .open:last-child' })).status,
      ).to.equal(401)
    })

    it('KEY-3 a whole read has no element to be refused', async () => {
      expect((await http('GET', '/guarded.html')).text).to.include('shut')
    })
  })
})
