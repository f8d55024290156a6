import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client, connect, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, leavesAlone, selecting, stateOf, textOf } from '../write-checks.ts'

const MENU = page('<ul id="soups">\n  <li id="miso">Miso</li>\n  <li>Leek</li>\n</ul>\n<p>Open <b>daily</b><br>')
const FEED = '<?xml version="1.0"?>\n<feed xmlns="urn:f"><entry id="a">one</entry><entry/></feed>\n'

describe('PUT', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'PUT', 'Allow', '/*']))
  })
  after(() => server.close())

  describe('of a whole resource', () => {
    it('HTTP-90 creates a document: 201, stored tag, date and the document as stored', async () => {
      const answer = await http('PUT', '/new/a.html', {}, MENU)
      expect(answer.status).to.equal(201)
      expect(answer.text).to.equal(MENU)
      expect(answer.headers['content-type']).to.equal('text/html; charset=utf-8')
      expect(answer.headers['cache-control']).to.equal('no-store')
      const read = await http('GET', '/new/a.html')
      expect(read.text).to.equal(MENU)
      expect(tagOf(read)).to.equal(tagOf(answer))
      expect(read.headers['last-modified']).to.equal(answer.headers['last-modified'])
    })

    it('HTTP-90 replaces: 200, echoed, with another tag', async () => {
      await put(server, '/b.html', page('one'))
      const first = tagOf(await http('GET', '/b.html'))
      const answer = await http('PUT', '/b.html', {}, page('two'))
      expect(answer.status).to.equal(200)
      expect(answer.text).to.equal(page('two'))
      expect(tagOf(answer)).not.to.equal(first)
      expect((await http('GET', '/b.html')).text).to.equal(page('two'))
    })

    it('HTTP-90 a blob is answered empty, created or replaced, with the tag of its bytes', async () => {
      const tags: string[] = []
      for (const [status, bytes] of [
        [201, 'a'],
        [200, 'b'],
        [200, 'a'],
      ] as const) {
        const answer = await http('PUT', '/blob.bin', { 'Content-Type': 'application/x-test' }, bytes)
        expect(answer.status).to.equal(status)
        expect(answer.body).to.have.length(0)
        const read = await http('GET', '/blob.bin')
        expect(read.text).to.equal(bytes)
        expect(tagOf(read)).to.equal(tagOf(answer))
        expect(answer.headers['last-modified']).to.equal(read.headers['last-modified'])
        tags.push(tagOf(answer))
      }
      expect(tags[0]).to.equal(tags[2])
      expect(tags[0]).not.to.equal(tags[1])
    })

    it('HTTP-31 equal bytes have equal tags at another path', async () => {
      const one = await http('PUT', '/same/1.bin', {}, 'same')
      const two = await http('PUT', '/same/2.bin', {}, 'same')
      expect(tagOf(one)).to.equal(tagOf(two))
    })

    it('HTTP-90 an XML document is echoed with its own type', async () => {
      const answer = await http('PUT', '/feed.xml', {}, FEED)
      expect(answer.status).to.equal(201)
      expect(answer.headers['content-type']).to.equal('application/xml')
      expect(answer.text).to.equal(FEED)
    })

    it('HTTP-90 a kind may change: a document becomes a blob and comes back', async () => {
      await http('PUT', '/shift', { 'Content-Type': 'text/html' }, page('x'))
      expect((await http('GET', '/shift', selecting('body'))).status).to.equal(206)
      expect((await http('PUT', '/shift', { 'Content-Type': 'text/plain' }, page('x'))).status).to.equal(200)
      expect((await http('GET', '/shift', selecting('body'))).status).to.equal(422)
      await http('PUT', '/shift', { 'Content-Type': 'text/html' }, page('x'))
      expect((await http('GET', '/shift', selecting('body'))).status).to.equal(206)
    })

    it('HTTP-90 an empty body makes an empty resource', async () => {
      for (const path of ['/empty.html', '/empty.txt']) {
        expect((await http('PUT', path, {}, '')).status).to.equal(201)
        const read = await http('GET', path)
        expect(read.status).to.equal(200)
        expect(read.body).to.have.length(0)
      }
      expect((await http('PUT', '/none.txt', { 'Content-Length': '0' })).status).to.equal(201)
    })

    it('HTTP-23 XML that is not well formed is refused with 422 and nothing is stored', async () => {
      await put(server, '/kept.xml', FEED)
      for (const [path, body] of [
        ['/kept.xml', '<feed><entry></feed>'],
        ['/kept.xml', ''],
        ['/bad.xml', '<a>&nbsp;</a>'],
        ['/bad.xml', '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>'],
        ['/bad.xml', Buffer.from('<a>\xff</a>', 'latin1')],
      ] as const) {
        const answer = await leavesAlone(server, [path], () => http('PUT', path, {}, body))
        expect(failureOf(answer), String(body)).to.equal('422 InvalidFragment')
      }
      expect((await http('GET', '/bad.xml')).status).to.equal(404)
    })

    it('HTTP-13 directories are implicit: nothing needs to be created first', async () => {
      expect((await http('PUT', '/deep/er/than/before.html', {}, page('x'))).status).to.equal(201)
      expect((await http('GET', '/deep/er/than/before.html')).status).to.equal(200)
      expect((await http('GET', '/deep/er/')).status).to.equal(404)
    })

    it('HTTP-14 a path ending in / is the index of that directory', async () => {
      const answer = await http('PUT', '/d1/', { 'Content-Type': 'text/plain' }, page('index'))
      expect(answer.status).to.equal(201)
      expect(answer.headers['content-type']).to.equal('text/html; charset=utf-8')
      expect((await http('GET', '/d1/index.html')).text).to.equal(page('index'))
      expect((await http('PUT', '/d1/index.html', {}, page('again'))).status).to.equal(200)
      expect(await textOf(server, '/d1/index.html')).to.equal(page('again'))
    })

    it('HTTP-14 a file and a directory cannot share a name: 409', async () => {
      await put(server, '/taken/x.html', page('x'))
      expect(failureOf(await http('PUT', '/taken', {}, 'x'))).to.equal('409 Conflict')
      await put(server, '/file', 'x', 'text/plain')
      const answer = await leavesAlone(server, ['/file'], () => http('PUT', '/file/below.html', {}, page('x')))
      expect(failureOf(answer)).to.equal('409 Conflict')
      expect((await http('GET', '/file')).text).to.equal('x')
    })

    it('HTTP-22 multipart/form-data is not unpacked', async () => {
      const body = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--b--\r\n'
      await http('PUT', '/form', { 'Content-Type': 'multipart/form-data; boundary=b' }, body)
      const read = await http('GET', '/form')
      expect(read.text).to.equal(body)
      expect(read.headers['content-type']).to.equal('multipart/form-data; boundary=b')
    })

    it('HTTP-182 a large blob arrives whole, declared or in chunks', async () => {
      const bytes = Buffer.alloc(3_000_000, 'scriptorium ')
      expect((await http('PUT', '/large.bin', {}, bytes)).status).to.equal(201)
      expect((await http('GET', '/large.bin')).body.equals(bytes)).to.equal(true)
      const size = bytes.length.toString(16)
      const chunked = Buffer.concat([Buffer.from(`${size}\r\n`), bytes, Buffer.from('\r\n0\r\n\r\n')])
      const answer = await http('PUT', '/chunked.bin', { 'Transfer-Encoding': 'chunked' }, chunked)
      expect(answer.status).to.equal(201)
      expect(tagOf(answer)).to.equal(tagOf(await http('GET', '/large.bin')))
    })
  })

  describe('of an element', () => {
    beforeEach(async () => {
      await put(server, '/menu.html', MENU)
      await put(server, '/feed.xml', FEED)
    })

    it('HTTP-91 replaces it: 206 with the new element and its tag, as GET and HEAD then say', async () => {
      const markup = '<li id="miso">Miso, large</li>'
      const answer = await http('PUT', '/menu.html', selecting('#miso'), markup)
      expect(answer.status).to.equal(206)
      expect(answer.text).to.equal(markup)
      expect(answer.headers['content-range']).to.equal('selector=#miso')
      expect(answer.headers['content-type']).to.equal('text/html; charset=utf-8')
      expect(answer.headers['cache-control']).to.equal('no-store')
      expect(tagOf(answer)).to.match(/^"[0-9a-f]+-[0-9a-f]+"$/)
      const head = await http('HEAD', '/menu.html', selecting('#miso'))
      expect(tagOf(head)).to.equal(tagOf(answer))
      const read = await http('GET', '/menu.html', selecting('#miso'))
      expect(read.text).to.equal(markup)
      const whole = await http('GET', '/menu.html')
      expect(whole.text).to.equal(MENU.replace('<li id="miso">Miso</li>', markup))
      expect(whole.headers['last-modified']).to.equal(answer.headers['last-modified'])
    })

    it('HTTP-91 only the first match is replaced, in document order also for lists', async () => {
      await http('PUT', '/menu.html', selecting('p, li'), '<li>first</li>')
      expect(await textOf(server, '/menu.html')).to.equal(MENU.replace('<li id="miso">Miso</li>', '<li>first</li>'))
    })

    const counts: [path: string, selector: string, told: string | undefined][] = [
      ['/menu.html', '#soups > li', '2'],
      ['/menu.html', 'p, li', '3'],
      ['/menu.html', '#miso', undefined],
      ['/feed.xml', 'entry', '2'],
      ['/menu.html', `li, ${'li:has(+ li) ~ '.repeat(40)}li`, '2'],
    ]
    for (const [path, selector, told] of counts)
      it(`HTTP-91 a selector that matches ${told ?? 'one'} is answered ${told ? 'with' : 'without'} a count: ${selector.slice(0, 20)}`, async () => {
        const answer = await http('PUT', path, selecting(selector), path === '/feed.xml' ? '<entry/>' : '<li>x</li>')
        expect([answer.status, answer.headers['platform-matches']]).to.deep.equal([206, told])
      })

    it('HTTP-91 a PUT that fails counts nothing', async () => {
      const answer = await http('PUT', '/menu.html', selecting('#soups > li'), '')
      expect(failureOf(answer)).to.equal('400 EmptyBody')
      expect(answer.headers).not.to.have.property('platform-matches')
    })

    it('HTTP-91 what takes too long to count is written without a count', async () => {
      const costly = Array.from({ length: 100 }, (_, at) => `:is(.x${at} .y *)`).join()
      await put(server, '/many.html', page(`<p class="z">1</p><p class="z">2</p>${'<p><b>x</b></p>'.repeat(12_000)}`))
      expect(failureOf(await http('PUT', '/many.html', selecting(costly), '<p>1</p>'))).to.match(/^422 /)
      const answer = await http('PUT', '/many.html', selecting(`.z,${costly}`), '<p>new</p>')
      expect([answer.status, answer.text]).to.deep.equal([206, '<p>new</p>'])
      expect(answer.headers).not.to.have.property('platform-matches')
      expect(await textOf(server, '/many.html')).to.include('<p>new</p><p class="z">2</p>')
    })

    it('HTTP-91 the replacement need not match the selector any more', async () => {
      expect((await http('PUT', '/menu.html', selecting('#miso'), '<li>anonymous</li>')).status).to.equal(206)
      expect(failureOf(await http('PUT', '/menu.html', selecting('#miso'), '<li>x</li>'))).to.equal(
        '416 SelectorNoMatch',
      )
    })

    it('HTTP-91 no upsert: nothing matches 416, document missing 404, blob 422', async () => {
      await put(server, '/b.bin', 'x')
      for (const [path, selector, failure] of [
        ['/menu.html', '#nothing', '416 SelectorNoMatch'],
        ['/feed.xml', 'li', '416 SelectorNoMatch'],
        ['/missing.html', 'body', '404 NotFound'],
        ['/b.bin', 'body', '422 NotHtml'],
      ] as const) {
        const answer = await leavesAlone(server, [path], () => http('PUT', path, selecting(selector), '<li>x</li>'))
        expect(failureOf(answer), path).to.equal(failure)
        expect(answer.headers, path).not.to.have.property('content-range')
      }
    })

    it('HTTP-81 outer white space is trimmed from the answer, and nothing stands around the element', async () => {
      const answer = await http('PUT', '/menu.html', selecting('#miso'), '\n  <li id="miso">M</li>\n\n')
      expect(answer.text).to.equal('<li id="miso">M</li>')
    })

    it('HTTP-81 several nodes come back together; the tag is that of the first element', async () => {
      const answer = await http('PUT', '/menu.html', selecting('#miso'), '<li id="a">A</li>, <li id="b">B</li>')
      expect(answer.text).to.equal('<li id="a">A</li>, <li id="b">B</li>')
      expect(tagOf(answer)).to.equal(tagOf(await http('GET', '/menu.html', selecting('#a'))))
    })

    it('HTTP-81 Content-Range repeats the selector, trimmed, without placement', async () => {
      const answer = await http(
        'PUT',
        '/menu.html',
        { Range: 'SELECTOR=  #soups   >  #miso ; placement=after' },
        '<li>x',
      )
      expect(answer.status).to.equal(206)
      expect(answer.headers['content-range']).to.equal('selector=#soups   >  #miso')
    })

    it('HTTP-49 the selector is UTF-8 on the wire, both ways', async () => {
      await put(server, '/utf.html', page('<p title="caf\u00e9 \u2603">x</p>'))
      const range = Buffer.from('selector=[title="caf\u00e9 \u2603"]').toString('latin1')
      const socket = Buffer.concat([
        Buffer.from(`PUT /utf.html HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\nRange: `),
        Buffer.from(range, 'latin1'),
        Buffer.from('\r\n\r\n<p>y</p>'),
      ])
      const connection = await connect(server.port)
      connection.send(socket)
      const answer = await connection.receive()
      connection.close()
      expect(answer.status).to.equal(206)
      expect(answer.headers['content-range']).to.equal(range)
    })

    it('HTTP-80 the Content-Type of a fragment is not examined', async () => {
      for (const type of ['text/html', 'text/plain;charset=UTF-8', 'application/json', 'image/png', undefined]) {
        const answer = await http(
          'PUT',
          '/menu.html',
          { ...selecting('#miso'), 'Content-Type': type },
          '<li id=miso>x</li>',
        )
        expect(answer.status, type).to.equal(206)
        expect(answer.text, type).to.equal('<li id="miso">x</li>')
      }
    })

    const bodies: [name: string, body: string | Uint8Array, selector: string, failure: string][] = [
      ['empty', '', '#miso', '400 EmptyBody'],
      ['white space only', ' \t\r\n\f ', '#miso', '400 EmptyBody'],
      ['text without any element', 'Miso', '#miso', '422 InvalidFragment'],
      ['a comment without any element', '<!-- Miso -->', '#miso', '422 InvalidFragment'],
      ['an element that the parser drops in this place', '<td>', '#miso', '422 InvalidFragment'],
      ['no UTF-8', Buffer.from('<li>\xff\xfe</li>', 'latin1'), '#miso', '422 InvalidFragment'],
    ]
    for (const [name, body, selector, failure] of bodies) {
      it(`HTTP-80 ${name}: ${failure}`, async () => {
        const answer = await leavesAlone(server, ['/menu.html'], () =>
          http('PUT', '/menu.html', selecting(selector), body),
        )
        expect(failureOf(answer)).to.equal(failure)
      })
    }

    it('HTTP-80 a fragment is parsed in the parent of the target', async () => {
      await put(server, '/t.html', page('<table id="t"><tbody><tr id="r"><td>1</td></tr></tbody></table>'))
      const answer = await http('PUT', '/t.html', selecting('#r'), '<tr id="r"><td>2</td></tr><tr><td>3</td></tr>')
      expect(answer.text).to.equal('<tr id="r"><td>2</td></tr><tr><td>3</td></tr>')
      expect((await http('GET', '/t.html', selecting('#t > tbody > tr:nth-child(2) > td'))).text).to.equal('<td>3</td>')
      // In a row, a row is not allowed; the parser takes its cells.
      const cell = await http('PUT', '/t.html', selecting('#r > td'), '<tr><td>4</td></tr>')
      expect(cell.text).to.equal('<td>4</td>')
    })

    it('HTTP-80 scripts are stored, not run', async () => {
      const script = '<script id="miso">document.title = "<li>"</script>'
      expect((await http('PUT', '/menu.html', selecting('#miso'), script)).text).to.equal(script)
    })

    it('HTTP-80 html, head and body are taken out of a body that is a document', async () => {
      const whole =
        '<!DOCTYPE html><html lang="fr"><head><title>n</title></head><body class="x"><p>new</p></body></html>'
      const cases = [
        ['body', '<body class="x"><p>new</p></body>'],
        ['head', '<head><title>n</title></head>'],
        ['html', '<html lang="fr"><head><title>n</title></head><body class="x"><p>new</p></body></html>'],
      ] as const
      for (const [selector, markup] of cases) {
        await put(server, '/menu.html', MENU)
        const answer = await http('PUT', '/menu.html', selecting(selector), whole)
        expect(answer.status, selector).to.equal(206)
        expect(answer.text, selector).to.equal(markup)
        const read = await http('GET', '/menu.html', selecting(selector))
        expect(tagOf(read), selector).to.equal(tagOf(answer))
        // White space behind the end tags is parsed into the body.
        expect(read.text.replace('\n</body>', '</body>'), selector).to.equal(markup)
        expect(await textOf(server, '/menu.html'), selector).to.match(/^<!DOCTYPE html>\n<html/)
      }
    })

    it('HTTP-80 body content alone replaces the body, too', async () => {
      const answer = await http('PUT', '/menu.html', selecting('body'), '<main><p>new</p></main>')
      expect(answer.status).to.equal(206)
      expect(answer.text).to.equal('<body><main><p>new</p></main></body>')
      expect(await textOf(server, '/menu.html')).to.include('<title>t</title>')
    })

    it('HTTP-23 XML documents are written by selector, and a bad fragment is 422', async () => {
      const answer = await http('PUT', '/feed.xml', selecting('#a'), '<entry id="a">two</entry>')
      expect(answer.status).to.equal(206)
      expect(answer.headers['content-type']).to.equal('application/xml')
      expect(await textOf(server, '/feed.xml')).to.equal(FEED.replace('one', 'two'))
      for (const bad of [
        '<entry>',
        '<entry/></x>',
        '<entry>&nbsp;</entry>',
        '<p:entry/>',
        '<!DOCTYPE a><a/>',
        '<a b=c/>',
      ]) {
        const refused = await leavesAlone(server, ['/feed.xml'], () => http('PUT', '/feed.xml', selecting('#a'), bad))
        expect(failureOf(refused), bad).to.equal('422 InvalidFragment')
      }
      for (const empty of ['', ' \n ']) {
        expect(failureOf(await http('PUT', '/feed.xml', selecting('#a'), empty))).to.equal('400 EmptyBody')
      }
      expect(failureOf(await http('PUT', '/feed.xml', selecting('#a'), 'text'))).to.equal('422 InvalidFragment')
    })

    it('HTTP-23 the root of an XML document may be replaced', async () => {
      expect((await http('PUT', '/feed.xml', selecting('feed'), '<log xmlns="urn:l"/>')).status).to.equal(206)
      expect(await textOf(server, '/feed.xml')).to.equal('<?xml version="1.0"?>\n<log xmlns="urn:l"/>\n')
      const two = await leavesAlone(server, ['/feed.xml'], () => http('PUT', '/feed.xml', selecting('log'), '<a/><b/>'))
      expect(two.status).to.equal(422)
    })

    it('HTTP-13 a directory path names its index', async () => {
      await put(server, '/dir/index.html', MENU)
      expect((await http('PUT', '/dir/', selecting('#miso'), '<li>x</li>')).status).to.equal(206)
      expect(await textOf(server, '/dir/index.html')).to.include('<li>x</li>')
    })

    it('HTTP-37 chains: the tag of a write serves as If-Match of the next one', async () => {
      let tag = tagOf(await http('GET', '/menu.html', selecting('#miso')))
      for (let i = 0; i < 5; i++) {
        const markup = `<li id="miso">Miso ${i}</li>`
        const answer = await http('PUT', '/menu.html', { ...selecting('#miso'), 'If-Match': tag }, markup)
        expect(answer.status).to.equal(206)
        tag = tagOf(answer)
      }
    })

    it('EVT-28 the same element written again is a write with an event', async () => {
      const before = await stateOf(server, '/menu.html')
      await http('PUT', '/menu.html', selecting('#miso'), '<li id="miso">Miso</li>')
      const now = await stateOf(server, '/menu.html')
      expect(now.bytes).to.equal(before.bytes)
      expect(now.events).to.equal(before.events + 1)
    })
  })
})
