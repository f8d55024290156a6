import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, leavesAlone, selecting, stateOf, textOf } from '../write-checks.ts'

const LIST = page('<ul id="l">\n  <li id="a">a</li>\n  <li id="b">b</li>\n</ul>\n<hr>')
const FEED = '<feed xmlns="urn:f"><entry id="a"/><x:y xmlns:x="urn:x"/></feed>'

describe('POST', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(
      server,
      '/rules.html',
      rulesPage(
        ['*', 'POST', 'Allow', '/*'],
        ['*', 'PUT', 'Allow', '/made/*|/shut/*'],
        ['*', 'POST', 'Deny', '/shut/*'],
      ),
    )
  })
  after(() => server.close())
  beforeEach(async () => {
    await put(server, '/list.html', LIST)
    await put(server, '/feed.xml', FEED)
  })

  const places: [placement: string | undefined, selector: string, expected: string][] = [
    [undefined, '#l', '<li id="b">b</li>\n<li>new</li></ul>'],
    ['append', '#l', '<li id="b">b</li>\n<li>new</li></ul>'],
    ['prepend', '#l', '<ul id="l"><li>new</li>\n  <li id="a">'],
    ['before', '#b', '<li id="a">a</li>\n  <li>new</li><li id="b">b</li>'],
    ['after', '#a', '<li id="a">a</li><li>new</li>\n  <li id="b">'],
    ['AFTER', '#a', '<li id="a">a</li><li>new</li>\n  <li id="b">'],
    ['after', 'li', '<li id="a">a</li><li>new</li>\n  <li id="b">'],
    ['append', 'li, ul', '<li id="b">b</li>\n<li>new</li></ul>'],
  ]
  for (const [placement, selector, expected] of places) {
    it(`HTTP-95 ${placement ?? 'without a word'} at ${selector}`, async () => {
      const answer = await http('POST', '/list.html', selecting(selector, placement), '<li>new</li>')
      expect(answer.status).to.equal(206)
      expect(answer.headers).not.to.have.property('platform-matches')
      expect(answer.text).to.equal('<li>new</li>')
      const text = await textOf(server, '/list.html')
      expect(text).to.include(expected)
      expect(text.replace('<li>new</li>', '')).to.equal(LIST)
    })
  }

  it('HTTP-81 Content-Range names the anchor, body and tag are those of the new element', async () => {
    const answer = await http('POST', '/list.html', selecting('#l', 'append'), ' <li id="c">c</li>\n')
    expect(answer.status).to.equal(206)
    expect(answer.text).to.equal('<li id="c">c</li>')
    expect(answer.headers['content-range']).to.equal('selector=#l')
    expect(answer.headers['content-type']).to.equal('text/html; charset=utf-8')
    expect(answer.headers['cache-control']).to.equal('no-store')
    const read = await http('GET', '/list.html', selecting('#c'))
    expect(tagOf(read)).to.equal(tagOf(answer))
    const whole = await http('GET', '/list.html')
    expect(whole.headers['last-modified']).to.equal(answer.headers['last-modified'])
    const next = { ...selecting('#c', 'after'), 'If-Match': tagOf(answer) }
    expect((await http('POST', '/list.html', next, '<li>d</li>')).status).to.equal(206)
  })

  it('HTTP-81 all new nodes are answered when several were sent', async () => {
    const answer = await http('POST', '/list.html', selecting('#l'), '<li id="c">c</li><li id="d">d</li>')
    expect(answer.text).to.equal('<li id="c">c</li><li id="d">d</li>')
    expect(tagOf(answer)).to.equal(tagOf(await http('GET', '/list.html', selecting('#c'))))
  })

  it('HTTP-80 text is inserted, too; its answer carries the stored tag', async () => {
    const answer = await http('POST', '/list.html', selecting('#a'), ' and more')
    expect(answer.status).to.equal(206)
    expect(await textOf(server, '/list.html')).to.include('<li id="a">a and more</li>')
    expect(tagOf(answer)).to.equal(tagOf(await http('GET', '/list.html')))
  })

  it('HTTP-80 the fragment is parsed in its future parent: the anchor, or the parent of the anchor', async () => {
    await put(server, '/t.html', page('<table id="t"><tbody id="y"><tr id="r"><td>1</td></tr></tbody></table>'))
    const cases = [
      ['#y', 'append', '<tr><td>2</td></tr>', '<tr><td>2</td></tr>'],
      ['#r', 'before', '<tr><td>0</td></tr>', '<tr><td>0</td></tr>'],
      ['#r', 'append', '<td>1b</td>', '<td>1b</td>'],
      ['#t', 'append', '<tr><td>3</td></tr>', '<tbody><tr><td>3</td></tr></tbody>'],
    ] as const
    for (const [selector, placement, body, stored] of cases) {
      const answer = await http('POST', '/t.html', selecting(selector, placement), body)
      expect(answer.text, selector).to.equal(stored)
    }
    const rows = await http('GET', '/t.html', { ...selecting('#t > tbody > tr'), Accept: 'multipart/mixed' })
    expect(rows.text.match(/Content-Location/g)).to.have.length(4)
  })

  it('HTTP-80 implied elements are anchors like others', async () => {
    await put(server, '/soup.html', '<title>t</title><p>one')
    expect((await http('POST', '/soup.html', selecting('body'), '<p>two</p>')).status).to.equal(206)
    expect(await textOf(server, '/soup.html')).to.match(/<p>one(<\/p>)?<p>two<\/p>/)
    expect((await http('POST', '/soup.html', selecting('head'), '<meta name="x">')).status).to.equal(206)
    expect((await http('GET', '/soup.html', selecting('head > meta'))).text).to.equal('<meta name="x">')
  })

  const refused: [name: string, path: string, range: string, body: string | Uint8Array, failure: string][] = [
    ['an unknown placement', '/list.html', 'selector=#l; placement=inside', '<li>', '400 InvalidPlacement'],
    ['an empty placement', '/list.html', 'selector=#l; placement=', '<li>', '400 InvalidPlacement'],
    ['before the root', '/list.html', 'selector=html; placement=before', '<p>', '400 InvalidPlacement'],
    ['after the root', '/list.html', 'selector=html; placement=after', '<p>', '400 InvalidPlacement'],
    ['after the root of XML', '/feed.xml', 'selector=feed; placement=after', '<p/>', '400 InvalidPlacement'],
    ['no document', '/none.html', 'selector=#l', '<li>', '404 NotFound'],
    ['no document, before', '/none.html', 'selector=#l; placement=before', '<li>', '404 NotFound'],
    ['no match, append', '/list.html', 'selector=#x', '<li>', '416 SelectorNoMatch'],
    ['no match, prepend', '/list.html', 'selector=#x; placement=prepend', '<li>', '416 SelectorNoMatch'],
    ['no match, before', '/list.html', 'selector=#x; placement=before', '<li>', '401 /list.html'],
    ['no match, after', '/list.html', 'selector=#x; placement=after', '<li>', '401 /list.html'],
    ['a blob', '/blob.txt', 'selector=p', '<p>', '422 NotHtml'],
    ['a blob, before', '/blob.txt', 'selector=p; placement=before', '<p>', '422 NotHtml'],
    ['an empty body', '/list.html', 'selector=#l', '', '400 EmptyBody'],
    ['white space only', '/list.html', 'selector=#l', ' \n\t ', '400 EmptyBody'],
    ['a void anchor, append', '/list.html', 'selector=hr', '<p>x</p>', '422 InvalidPlacement'],
    ['a void anchor, prepend', '/list.html', 'selector=hr; placement=prepend', '<p>x</p>', '422 InvalidPlacement'],
    ['an XML fragment that is not well formed', '/feed.xml', 'selector=feed', '<entry>', '422 InvalidFragment'],
    ['an XML fragment with an unbound prefix', '/feed.xml', 'selector=feed', '<q:entry/>', '422 InvalidFragment'],
    ['a fragment that is not UTF-8', '/list.html', 'selector=#l', Buffer.of(0x3c, 0x70, 0xff), '422 InvalidFragment'],
    ['a selector that does not parse', '/list.html', 'selector=li:[', '<li>', '422 InvalidSelector'],
    ['an empty selector', '/list.html', 'selector= ; placement=append', '<li>', '400 InvalidRange'],
    ['another unit', '/list.html', 'bytes=0-1', '<li>', '400 InvalidRange'],
    ['an unknown unit', '/list.html', 'rows=1', '<li>', '400 InvalidRange'],
    ['no unit', '/list.html', '#l', '<li>', '400 InvalidRange'],
    ['a range on a directory without index', '/nothing/', 'selector=#l', '<li>', '404 NotFound'],
  ]
  for (const [name, path, range, body, failure] of refused) {
    it(`HTTP-95 HTTP-80 HTTP-46 HTTP-47 ${name}: ${failure}`, async () => {
      await put(server, '/blob.txt', 'blob', 'text/plain')
      const answer = await leavesAlone(server, [path], () => http('POST', path, { Range: range }, body))
      expect(failureOf(answer)).to.equal(failure)
    })
  }

  it('HTTP-80 beside a void element there is room', async () => {
    const answer = await http('POST', '/list.html', selecting('hr', 'after'), '<p>x</p>')
    expect(answer.status).to.equal(206)
    expect(await textOf(server, '/list.html')).to.include('<hr><p>x</p>')
  })

  it('HTTP-95 into XML: prefixes in scope count, empty elements open', async () => {
    expect((await http('POST', '/feed.xml', selecting('entry'), '<t>x</t>')).status).to.equal(206)
    expect(await textOf(server, '/feed.xml')).to.equal(
      FEED.replace('<entry id="a"/>', '<entry id="a"><t>x</t></entry>'),
    )
    const answer = await http('POST', '/feed.xml', selecting('feed > :last-child'), '<x:z/>')
    expect(answer.status).to.equal(206)
    expect(await textOf(server, '/feed.xml')).to.include('<x:y xmlns:x="urn:x"><x:z/></x:y>')
  })

  describe('without a range', () => {
    it('HTTP-97 to an HTML document that is no template, to XML and to a blob: 422', async () => {
      await put(server, '/b.css', 'p {}')
      for (const [path, failure] of [
        ['/list.html', '422 CompositionError'],
        ['/feed.xml', '422 InvalidRange'],
        ['/b.css', '422 NotHtml'],
      ] as const) {
        const answer = await leavesAlone(server, [path], () => http('POST', path, {}, '<p>x</p>'))
        expect(failureOf(answer), path).to.equal(failure)
      }
    })

    it('HTTP-97 nothing stored: 404, and nothing is afterwards', async () => {
      const answer = await leavesAlone(server, ['/none.html'], () => http('POST', '/none.html', {}, '<p>x</p>'))
      expect(failureOf(answer)).to.equal('404 NotFound')
    })

    const created: [type: string | undefined, extension: string, body: string | Uint8Array][] = [
      ['text/html', 'html', page('made')],
      ['text/html; charset=utf-8', 'html', page('made')],
      ['application/json', 'json', '{}'],
      ['image/png', 'png', Buffer.of(0x89, 0x50)],
      ['image/jpeg', 'jpg', 'x'],
      ['text/plain', 'txt', 'x'],
      ['application/xml', 'xml', '<a/>'],
      ['text/xml', 'xml', '<a/>'],
      ['image/svg+xml', 'svg', '<svg/>'],
      ['application/x-unknown', 'bin', 'x'],
      ['multipart/form-data; boundary=b', 'bin', '--b--'],
      [undefined, 'bin', 'x'],
    ]
    for (const [type, extension, body] of created) {
      it(`COMP-108 ${type ?? 'no type'} to a directory gets a name with .${extension}`, async () => {
        const answer = await http('POST', '/made/', { 'Content-Type': type }, body)
        expect(answer.status).to.equal(201)
        const { location = '' } = answer.headers
        expect(location).to.match(new RegExp(`^/made/[a-z0-9]{12,}\\.${extension}$`))
        const read = await http('GET', location)
        expect(read.status).to.equal(200)
        expect(read.body.equals(Buffer.from(body))).to.equal(true)
        expect(tagOf(read)).to.equal(tagOf(answer))
        expect(answer.headers['last-modified']).to.equal(read.headers['last-modified'])
        expect(answer.headers['cache-control']).to.equal('no-store')
      })
    }

    it('COMP-108 names differ, also when they are made at once', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => http('POST', '/made/', {}, 'same')))
      expect(answers.every(answer => answer.status === 201)).to.equal(true)
      expect(new Set(answers.map(answer => answer.headers.location)).size).to.equal(20)
    })

    it('COMP-108 Location is path-absolute and encoded again', async () => {
      const answer = await http('POST', '/made/caf%C3%A9%20%3F/', { 'Content-Type': 'text/plain' }, 'x')
      expect(answer.status).to.equal(201)
      expect(answer.headers.location).to.match(/^\/made\/caf%C3%A9%20%3F\/[a-z0-9]{12,}\.txt$/)
      expect((await http('GET', answer.headers.location ?? '')).text).to.equal('x')
    })

    it('COMP-108 both permits are needed: POST on the directory, PUT on the new path', async () => {
      const noPut = await http('POST', '/other/', { 'Content-Type': 'text/plain' }, 'x')
      expect(noPut.status).to.equal(401)
      expect(failureOf(noPut)).to.equal('401 /other/')
      expect(failureOf(await http('POST', '/shut/', {}, 'x'))).to.equal('401 /shut/')
      expect(await server.site.store.list('/other/')).to.deep.equal([])
      expect(await server.site.store.list('/shut/')).to.deep.equal([])
    })

    it('COMP-108 bodies are checked as by PUT: XML that is not well formed is 422', async () => {
      const before = await server.site.store.list('/made/')
      const answer = await http('POST', '/made/', { 'Content-Type': 'application/xml' }, '<a>')
      expect(failureOf(answer)).to.equal('422 InvalidFragment')
      expect(await server.site.store.list('/made/')).to.have.length(before.length)
    })

    it('HTTP-13 with a range a directory is its index', async () => {
      await put(server, '/d/index.html', LIST)
      expect((await http('POST', '/d/', selecting('#l'), '<li>x</li>')).status).to.equal(206)
      expect(await textOf(server, '/d/index.html')).to.include('<li>x</li>')
      expect((await server.site.store.list('/d/')).map(resource => resource.path)).to.deep.equal(['/d/index.html'])
    })

    it('COMP-108 a directory without any name under it is fine, one that is a file is 409', async () => {
      expect((await http('POST', '/made/fresh/er/', {}, 'x')).status).to.equal(201)
      await put(server, '/made/file', 'x', 'text/plain')
      const answer = await leavesAlone(server, ['/made/file'], () => http('POST', '/made/file/', {}, 'x'))
      expect(failureOf(answer)).to.equal('409 Conflict')
    })
  })

  it('EVT-28 a failed insertion leaves no version and no event', async () => {
    const before = await stateOf(server, '/list.html')
    await http('POST', '/list.html', selecting('#x'), '<li>')
    await http('POST', '/list.html', selecting('#l'), '')
    expect(await stateOf(server, '/list.html')).to.deep.equal(before)
  })
})
