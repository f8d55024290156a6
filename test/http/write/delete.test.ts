import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, leavesAlone, selecting, textOf } from '../write-checks.ts'

const LIST = page('<ul id="l">\n  <li id="a">a <b>x</b></li>\n  <li id="b">b</li>\n</ul>')

describe('DELETE', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'DELETE', 'Allow', '/*'], ['*', 'PUT', 'Allow', '/own.html']))
  })
  after(() => server.close())
  beforeEach(async () => {
    await put(server, '/list.html', LIST)
    await put(server, '/feed.xml', '<feed><entry id="a"/><!-- c --><entry id="b"/></feed>')
    await put(server, '/blob.txt', 'blob')
  })

  it('HTTP-100 removes the first match with its descendants and leaves the white space: 204', async () => {
    const answer = await http('DELETE', '/list.html', selecting('li'))
    expect(answer.status).to.equal(204)
    expect(answer.body).to.have.length(0)
    expect(answer.headers).not.to.have.property('content-length')
    expect(answer.headers['cache-control']).to.equal('no-store')
    expect(await textOf(server, '/list.html')).to.equal(LIST.replace('<li id="a">a <b>x</b></li>', ''))
  })

  it('HTTP-81 the answer carries the new stored tag of the document', async () => {
    const before = tagOf(await http('GET', '/list.html'))
    const answer = await http('DELETE', '/list.html', selecting('#a'))
    expect(tagOf(answer)).to.equal(tagOf(await http('GET', '/list.html')))
    expect(tagOf(answer)).not.to.equal(before)
    const next = await http('DELETE', '/list.html', { ...selecting('#b'), 'If-Match': tagOf(answer) })
    expect(next.status).to.equal(204)
  })

  it('HTTP-100 tells how many matched where there are more than one', async () => {
    const told: unknown[] = []
    for (const selector of ['li', 'li']) {
      const { status, headers } = await http('DELETE', '/list.html', selecting(selector))
      told.push([status, headers['platform-matches']])
    }
    expect(told).to.deep.equal([
      [204, '2'],
      [204, undefined],
    ])
  })

  it('HTTP-100 SEC-6 counts only what the requester may know of', async () => {
    const server = await startServer({ site: { defaultGet: 'deny' } })
    try {
      await put(server, '/rules.html', rulesPage(['*', 'DELETE', 'Allow', '/box.html', '.mine']))
      const http = client(server.port)
      for (const [selector, matches] of [
        ['li', '2'],
        ['li.mine, li.hers, b', '2'],
        ['.mine ~ *', undefined],
      ] as const) {
        await put(
          server,
          '/box.html',
          page('<ul><li class="mine">1<li class="mine">2<li class="hers">3<li><b>4</b></ul>'),
        )
        const answer = await http('DELETE', '/box.html', selecting(selector))
        expect([answer.status, answer.headers['platform-matches']], selector).to.deep.equal([204, matches])
      }
    } finally {
      await server.close()
    }
  })

  it('HTTP-100 a repeated DELETE is 416', async () => {
    expect((await http('DELETE', '/list.html', selecting('#a'))).status).to.equal(204)
    const again = await leavesAlone(server, ['/list.html'], () => http('DELETE', '/list.html', selecting('#a')))
    expect(failureOf(again)).to.equal('416 SelectorNoMatch')
  })

  it('HTTP-100 elements of XML go, too', async () => {
    expect((await http('DELETE', '/feed.xml', selecting('#a'))).status).to.equal(204)
    expect(await textOf(server, '/feed.xml')).to.equal('<feed><!-- c --><entry id="b"/></feed>')
  })

  const refused: [name: string, path: string, range: string, failure: string][] = [
    ['no match', '/list.html', 'selector=#x', '416 SelectorNoMatch'],
    ['no document', '/none.html', 'selector=#x', '404 NotFound'],
    ['the root', '/list.html', 'selector=html', '422 IllegalMove'],
    ['the root as the first match', '/list.html', 'selector=*', '422 IllegalMove'],
    ['the root of XML', '/feed.xml', 'selector=feed', '422 IllegalMove'],
    ['a blob', '/blob.txt', 'selector=p', '422 NotHtml'],
    ['a selector that does not parse', '/list.html', 'selector=::nope(', '422 InvalidSelector'],
    ['an empty selector', '/list.html', 'selector=', '400 InvalidRange'],
    ['another unit', '/list.html', 'bytes=0-10', '400 InvalidRange'],
    ['another unit on a blob', '/blob.txt', 'bytes=0-1', '400 InvalidRange'],
    ['a directory without index', '/dir/', 'selector=p', '404 NotFound'],
  ]
  for (const [name, path, range, failure] of refused) {
    it(`HTTP-100 HTTP-46 HTTP-47 HTTP-22 ${name}: ${failure}`, async () => {
      const answer = await leavesAlone(server, [path], () => http('DELETE', path, { Range: range }))
      expect(failureOf(answer)).to.equal(failure)
    })
  }

  it('HTTP-100 implied elements have no bytes of their own, and removing them keeps the rest', async () => {
    await put(server, '/t.html', page('<table id="t"><tr><td>1</td></tr></table><p>rest</p>'))
    expect((await http('DELETE', '/t.html', selecting('tbody'))).status).to.equal(204)
    const text = await textOf(server, '/t.html')
    expect(text).to.include('<p>rest</p>')
    expect(text).not.to.include('<td>')
    expect((await http('GET', '/t.html', selecting('#t'))).text).to.equal('<table id="t"></table>')
  })

  it('HTTP-100 a body without end tag goes with what is white space to JavaScript alone', async () => {
    for (const content of ['\u00a0', '\u3000', '\ufeff', '\v']) {
      await put(server, '/own.html', `<title>t</title><body>${content}`)
      expect((await http('DELETE', '/own.html', selecting('body'))).status).to.equal(204)
      expect(await textOf(server, '/own.html')).to.equal('<title>t</title>')
    }
  })

  for (const path of ['/list.html', '/feed.xml', '/blob.txt']) {
    it(`HTTP-101 the whole of ${path}: 204, then 404`, async () => {
      const answer = await http('DELETE', path)
      expect(answer.status).to.equal(204)
      expect(answer.headers).not.to.have.property('etag')
      expect((await http('GET', path)).status).to.equal(404)
      expect(failureOf(await http('DELETE', path))).to.equal('404 NotFound')
    })
  }

  it('HTTP-101 nothing stored: 404', async () => {
    expect(failureOf(await http('DELETE', '/never.html'))).to.equal('404 NotFound')
  })

  it('HTTP-101 a body is ignored, whatever it is', async () => {
    expect((await http('DELETE', '/list.html', { 'Content-Type': 'application/xml' }, '<a>')).status).to.equal(204)
    expect((await http('DELETE', '/feed.xml', selecting('#a'), 'x'.repeat(100_000))).status).to.equal(204)
  })

  it('HTTP-14 a path ending in / removes the index of the directory and nothing else', async () => {
    await put(server, '/d/index.html', LIST)
    await put(server, '/d/other.html', LIST)
    expect((await http('DELETE', '/d/')).status).to.equal(204)
    expect((await http('GET', '/d/index.html')).status).to.equal(404)
    expect((await http('GET', '/d/other.html')).status).to.equal(200)
    expect(failureOf(await http('DELETE', '/d/'))).to.equal('404 NotFound')
  })

  it('HTTP-14 a directory without its slash is nothing that could be deleted', async () => {
    await put(server, '/d2/x.html', LIST)
    expect(failureOf(await http('DELETE', '/d2'))).to.equal('404 NotFound')
    expect((await http('GET', '/d2/x.html')).status).to.equal(200)
  })
})
