import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { composed } from '../../pipeline/compose/composing.ts'
import { movingBetween } from '../../support/between.ts'
import { page, put, putAll } from '../../support/content.ts'
import { type Client, client, connect, type Fields, requestBytes, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const menu = page(
  '<main><h1>Menu</h1><ul id="soups"><li id="miso">Miso</li>\n  <li title="a; b">Leek</li></ul>' +
    '<p id="käse" data-x="; placement=after">Käse</p><h2>End</h2><template><b>inert</b></template></main>',
)

describe('reads by selector', () => {
  let server: TestServer
  let http: Client
  const select = (selector: string, fields: Fields = {}, method = 'GET') =>
    http(method, '/menu.html', { Range: `selector=${selector}`, ...fields })

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await putAll(server, {
      '/menu.html': menu,
      '/feed.xml': '<?xml version="1.0"?><f:feed xmlns:f="urn:f"><f:Entry id="e">one</f:Entry><entry/></f:feed>',
      '/table.html': page('<table><tr><td>x</td></tr></table>'),
      '/raw.html': "<P ID=a  CLASS='b'>one<P>two & three<br/>",
      '/logo.png': Buffer.from([0x89, 0x50, 0x4e, 0x47]),
      '/style.css': 'p { color: red }',
    })
  })
  after(() => server.close())

  it('HTTP-55 the example of the specification', async () => {
    const { status, reason, headers, text } = await select('#soups > li')
    expect({ status, reason }).to.deep.equal({ status: 206, reason: 'Partial Content' })
    expect(headers).to.include({
      'content-type': 'text/html; charset=utf-8',
      'content-range': 'selector=#soups > li',
      'accept-ranges': 'selector, bytes',
    })
    expect(headers.etag).to.match(/^"[0-9a-f]+-[0-9a-f]+"$/)
    expect(headers.vary?.split(', ').slice(0, 2)).to.deep.equal(['Accept', 'Range'])
    expect(headers).not.to.have.property('last-modified')
    expect(text).to.equal('<li id="miso">Miso</li>')
  })

  describe('COMP-3 COMP-148 a page that comes while the version before it is parsed is put together', () => {
    const template = '{% if request.auth.username == "ann" %}for Ann{% endif %}for all'
    const later = composed(`<main p:template="text/liquid">${template}</main>`)
    const item = `<main itemscope itemtype="x:Note"><b itemprop="text" p:template="text/liquid">${template}</b></main>`
    const cases: [name: string, later: string, method: string, fields: Fields, body: string][] = [
      ['one element', later, 'GET', { Range: 'selector=main' }, ''],
      ['all matches', later, 'GET', { Range: 'selector=main', Accept: 'multipart/mixed' }, ''],
      ['a query', later, 'QUERY', { 'Content-Type': 'text/css-selector' }, 'main'],
      ['JSON-LD', composed(item), 'GET', { Accept: 'application/ld+json' }, ''],
    ]
    for (const [name, text, method, fields, body] of cases)
      it(name, async () => {
        await put(server, '/raced.html', page('<main itemscope itemtype="x:Note"><b itemprop="text">before</b></main>'))
        const came = movingBetween(server.site, '/raced.html', () => put(server, '/raced.html', text))
        const answer = await http(method, '/raced.html', fields, body)
        await came()
        expect(answer.text).to.include('for all').and.not.include('Ann').and.not.include('template')
      })
  })

  it('HTTP-55 without a selector the whole, 200', async () => {
    const { status, headers, text } = await http('GET', '/menu.html')
    expect(status).to.equal(200)
    expect(text).to.equal(menu)
    expect(headers).not.to.have.property('content-range')
  })

  it('HTTP-55 nothing matches: 416 without ETag and Content-Range', async () => {
    const { status, headers } = await select('h6')
    expect(status).to.equal(416)
    expect(headers).not.to.have.any.keys('etag', 'content-range', 'last-modified')
  })

  it('HTTP-55 nothing stored: 404 with and without a selector', async () => {
    expect((await http('GET', '/none.html')).status).to.equal(404)
    expect((await http('GET', '/none.html', { Range: 'selector=h1' })).status).to.equal(404)
  })

  const grammar: [rule: string, range: string, content: string, echoed: string][] = [
    ['HTTP-45 the unit in any case', 'SELECTOR=h1', '<h1>Menu</h1>', 'selector=h1'],
    ['HTTP-45 white space around the selector', 'selector=  h1\t ', '<h1>Menu</h1>', 'selector=h1'],
    ['HTTP-45 a placement is dropped by reads', 'selector=h1; placement=before', '<h1>Menu</h1>', 'selector=h1'],
    ['HTTP-45 so is an unknown one', 'selector=h1 ;PLACEMENT = sideways', '<h1>Menu</h1>', 'selector=h1'],
    [
      'HTTP-45 a semicolon in quotes',
      'selector=li[title="a; b"]',
      '<li title="a; b">Leek</li>',
      'selector=li[title="a; b"]',
    ],
    [
      'HTTP-45 a semicolon in quotes before a placement',
      'selector=li[title="a; b"]; placement=after',
      '<li title="a; b">Leek</li>',
      'selector=li[title="a; b"]',
    ],
    [
      'HTTP-45 a placement in quotes is part of the selector',
      'selector=[data-x="; placement=after"]',
      '<p id="käse" data-x="; placement=after">Käse</p>',
      'selector=[data-x="; placement=after"]',
    ],
    ['HTTP-45 UTF-8', 'selector=#käse', '<p id="käse" data-x="; placement=after">Käse</p>', 'selector=#käse'],
    ['HTTP-48 elements of the head', 'selector=title', '<title>t</title>', 'selector=title'],
    ['HTTP-48 the first in document order, also of a list', 'selector=h2, h1', '<h1>Menu</h1>', 'selector=h2, h1'],
    ['HTTP-48 nothing inside a template', 'selector=b, h2', '<h2>End</h2>', 'selector=b, h2'],
  ]
  for (const [rule, range, content, echoed] of grammar) {
    it(`${rule}: ${range}`, async () => {
      const { status, headers, text } = await http('GET', '/menu.html', { Range: range })
      expect(status).to.equal(206)
      expect(text).to.equal(content)
      expect(Buffer.from(headers['content-range'] ?? '', 'latin1').toString()).to.equal(echoed)
    })
  }

  it('HTTP-45 bytes that are not UTF-8 are read as ISO 8859-1', async () => {
    const connection = await connect(server.port)
    const request = requestBytes('GET', '/menu.html', { Range: 'selector=#k?se' }).toString('latin1')
    connection.send(Buffer.from(request.replace('k?se', 'k\xe4se'), 'latin1'))
    const { status, headers } = await connection.receive()
    expect(status).to.equal(206)
    expect(headers['content-range']).to.equal('selector=#k\xe4se')
    connection.close()
  })

  for (const range of ['rows=1-2', 'sessel=self', 'selector', 'selector =h1', 'x', '', 'entries=0-1']) {
    it(`HTTP-46 a read ignores "${range}"`, async () => {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers } = await http(method, '/menu.html', { Range: range })
        expect(status).to.equal(200)
        expect(headers['content-length']).to.equal(String(Buffer.byteLength(menu)))
        expect(headers).not.to.have.property('content-range')
      }
    })
  }

  for (const range of ['selector=', 'selector=  ', 'selector=; placement=after']) {
    it(`HTTP-47 "${range}" is 400`, async () => {
      for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'])
        expect((await http(method, '/menu.html', { Range: range }, 'x')).status, method).to.equal(400)
    })
  }

  for (const selector of ['li[', '#', 'p >', '> p', 'p..x', ':nonsense', 'a,,b', '::', 'p:nth-child(x)', '"']) {
    it(`HTTP-47 a selector that does not parse is 422: ${selector}`, async () => {
      for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'])
        expect((await http(method, '/menu.html', { Range: `selector=${selector}` }, 'x')).status, method).to.equal(422)
      const query = await http('QUERY', '/menu.html', { 'Content-Type': 'text/css-selector' }, selector)
      expect(query.status).to.equal(422)
    })
  }

  it('HTTP-48 a pseudo-element parses and matches nothing', async () => {
    expect((await select('p::before')).status).to.equal(416)
  })

  it('HTTP-50 Accept-Ranges on 200, 206 and 304 of documents and blobs', async () => {
    const answers = async (target: string, range?: string) => {
      const whole = await http('GET', target)
      const part = await http('GET', target, { Range: range })
      const unchanged = await http('GET', target, { 'If-None-Match': tagOf(whole) })
      expect([whole.status, part.status, unchanged.status]).to.deep.equal([200, 206, 304])
      return [whole, part, unchanged].map(({ headers }) => headers['accept-ranges'])
    }
    expect(await answers('/menu.html', 'selector=h1')).to.deep.equal(Array(3).fill('selector, bytes'))
    expect(await answers('/feed.xml', 'selector=entry')).to.deep.equal(Array(3).fill('selector, bytes'))
    expect(await answers('/logo.png', 'bytes=0-1')).to.deep.equal(Array(3).fill('bytes'))
  })

  const heads: Fields[] = [
    {},
    { Range: 'selector=#soups' },
    { Range: 'selector=h6' },
    { Range: 'selector=li', Accept: 'multipart/mixed' },
    { Accept: 'application/ld+json' },
    { Range: 'bytes=0-9' },
    { Range: 'selector=' },
    { 'If-Match': '"x"' },
    { 'If-None-Match': '*' },
  ]
  for (const fields of heads) {
    it(`HTTP-56 HEAD is GET without content: ${JSON.stringify(fields)}`, async () => {
      const get = await http('GET', '/menu.html', fields)
      const head = await http('HEAD', '/menu.html', fields)
      expect(head.body.length).to.equal(0)
      const { date: _, 'set-cookie': __, ...expected } = get.headers
      expect(head.status).to.equal(get.status)
      expect(head.headers).to.include(expected)
    })
  }

  it('HTTP-22 a selector on a blob is 422, on every method', async () => {
    for (const method of ['GET', 'HEAD'])
      expect((await http(method, '/logo.png', { Range: 'selector=p' })).status, method).to.equal(422)
    expect((await http('GET', '/style.css', { Range: 'selector=p', Accept: 'multipart/mixed' })).status).to.equal(422)
  })

  it('HTTP-23 the tree is that of the HTML standard', async () => {
    const read = (selector: string) => http('GET', '/table.html', { Range: `selector=${selector}` })
    expect((await read('table > tr')).status).to.equal(416)
    expect((await read('table > tbody > tr')).text).to.equal('<tr><td>x</td></tr>')
    expect((await http('GET', '/raw.html', { Range: 'selector=html > head' })).text).to.equal('<head></head>')
  })

  it('HTTP-24 fragments are serialized by the standard, whole documents never', async () => {
    expect((await http('GET', '/raw.html')).text).to.equal("<P ID=a  CLASS='b'>one<P>two & three<br/>")
    const { text } = await http('GET', '/raw.html', { Range: 'selector=p' })
    expect(text).to.equal('<p id="a" class="b">one</p>')
    expect((await http('GET', '/raw.html', { Range: 'selector=p + p' })).text).to.equal('<p>two &amp; three<br></p>')
  })

  it('HTTP-23 XML is case-sensitive, and fragments are XML', async () => {
    const read = (selector: string) => http('GET', '/feed.xml', { Range: `selector=${selector}` })
    expect((await read('#e')).text).to.equal('<f:Entry id="e" xmlns:f="urn:f">one</f:Entry>')
    expect((await read('Entry')).text).to.equal('<f:Entry id="e" xmlns:f="urn:f">one</f:Entry>')
    expect((await read('entry')).text).to.equal('<entry/>')
    expect((await read('ENTRY')).status).to.equal(416)
    expect((await read('#e')).headers['content-type']).to.equal('application/xml')
  })

  it('HTTP-2 the decision for 416 is made on the newest version', async () => {
    await put(server, '/newest.html', page('<p>x</p>'))
    expect((await http('GET', '/newest.html', { Range: 'selector=#late' })).status).to.equal(416)
    await put(server, '/newest.html', page('<p id="late">x</p>'))
    expect((await http('GET', '/newest.html', { Range: 'selector=#late' })).status).to.equal(206)
    await put(server, '/newest.html', page('<p>x</p>'))
    expect((await http('GET', '/newest.html', { Range: 'selector=#late' })).status).to.equal(416)
  })
})
