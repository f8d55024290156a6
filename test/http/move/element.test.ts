import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, leavesAlone, moving, selecting, stateOf, textOf } from '../write-checks.ts'

const BOARD = page(
  '<section id="todo">\n  <p id="a" class="card x">a <b>1</b></p>\n  <p id="b">b</p>\n</section>\n' +
    '<section id="done">\n  <p id="c">c</p>\n</section>\n<hr id="hr">',
)
const PATH = '/board.html'
const A = '<p id="a" class="card x">a <b>1</b></p>'

describe('MOVE of an element', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'MOVE|DELETE|POST', 'Allow', '/*']))
    await put(server, '/other.html', BOARD)
    await put(server, '/blob.txt', 'blob')
  })
  after(() => server.close())
  beforeEach(async () => {
    await put(server, PATH, BOARD)
    await put(server, '/f.xml', '<f xmlns:p="urn:p"><a id="a"/><b id="b"><p:c/></b></f>')
  })

  const places: [placement: string, anchor: string, old: string, now: string][] = [
    ['append', '#done', '<p id="c">c</p>\n</section>', `<p id="c">c</p>\n${A}</section>`],
    ['prepend', '#done', '<section id="done">', `<section id="done">${A}`],
    ['before', '#c', '<p id="c">', `${A}<p id="c">`],
    ['after', '#c', '<p id="c">c</p>', `<p id="c">c</p>${A}`],
    ['BEFORE', '#c', '<p id="c">', `${A}<p id="c">`],
    ['after', '#b', '<p id="b">b</p>', `<p id="b">b</p>${A}`],
    ['append', '#todo', '<p id="b">b</p>\n</section>', `<p id="b">b</p>\n${A}</section>`],
    ['after', 'section, #done', '</section>\n<section id="done">', `</section>${A}\n<section id="done">`],
    ['before', '#hr', '<hr id="hr">', `${A}<hr id="hr">`],
    ['append', 'body', '<hr id="hr">\n</body>', `<hr id="hr">\n${A}</body>`],
  ]
  for (const [placement, anchor, old, now] of places) {
    it(`HTTP-106 ${placement} ${anchor}: the same node with its bytes, white space stays`, async () => {
      const answer = await http('MOVE', PATH, moving(PATH, '#a', anchor, placement))
      expect(answer.status).to.equal(204)
      expect(answer.body).to.have.length(0)
      const expected = BOARD.replace(A, '').replace(old.replace(A, ''), () => now)
      expect(await textOf(server, PATH)).to.equal(expected)
      expect(tagOf(answer)).to.equal(tagOf(await http('GET', PATH)))
      expect(answer.headers['cache-control']).to.equal('no-store')
    })
  }

  it('HTTP-106 the first match of both selectors counts', async () => {
    expect((await http('MOVE', PATH, moving(PATH, 'p', 'section + section', 'append'))).status).to.equal(204)
    expect((await http('GET', PATH, selecting('#done > p:last-child'))).text).to.equal(A)
  })

  it('HTTP-105 removal and insertion are one commit with one event', async () => {
    const events = await server.site.store.events(PATH)
    await http('MOVE', PATH, moving(PATH, '#a', '#done', 'append'))
    expect(await server.site.store.events(PATH)).to.have.length(events.length + 1)
  })

  it('HTTP-23 in XML, with prefixes that stay bound', async () => {
    expect((await http('MOVE', '/f.xml', moving('/f.xml', '#b > :first-child', '#a', 'append'))).status).to.equal(204)
    const moved = await textOf(server, '/f.xml')
    expect(moved).to.match(/^<f xmlns:p="urn:p"><a id="a"><p:c\/><\/a><b id="b">(<\/b>)?/)
    expect(failureOf(await http('MOVE', '/f.xml', moving('/f.xml', 'f', '#a', 'append')))).to.equal('422 IllegalMove')
  })

  it('HTTP-105 Destination may be a URL of this host, another spelling of the path, with query and fragment', async () => {
    const spellings = [
      `http://localhost:${server.port}${PATH}`,
      `https://localhost:${server.port}${PATH}`,
      '/%62oard.html',
      `${PATH}?x=1`,
      `${PATH}#part`,
    ]
    for (const destination of spellings) {
      await put(server, PATH, BOARD)
      const fields = { ...moving(PATH, '#a', '#done', 'append'), Destination: destination }
      expect((await http('MOVE', PATH, fields)).status, destination).to.equal(204)
    }
  })

  it('HTTP-105 /d/ equals /d/index.html, either way round', async () => {
    for (const [path, destination] of [
      ['/d/', '/d/index.html'],
      ['/d/index.html', '/d/'],
      ['/d/', '/d/'],
    ] as const) {
      await put(server, '/d/index.html', BOARD)
      expect((await http('MOVE', path, moving(destination, '#a', '#done', 'append'))).status, path).to.equal(204)
    }
  })

  it('HTTP-45 selectors with semicolons and placements with white space', async () => {
    await put(server, PATH, BOARD.replace('id="c"', 'id="c" title="x; y"'))
    const fields = {
      Range: 'selector=#a; placement=after',
      Destination: PATH,
      'Destination-Range': 'Selector=[title="x; y"] ;  placement  =  Before  ',
    }
    expect((await http('MOVE', PATH, fields)).status).to.equal(204)
    expect((await http('GET', PATH, selecting('#done > :first-child'))).text).to.equal(A)
  })

  it('HTTP-106 EVT-28 anchor is the source, before or after: 204, nothing changes, and it is told', async () => {
    for (const placement of ['before', 'after']) {
      const before = await stateOf(server, PATH)
      const answer = await http('MOVE', PATH, moving(PATH, '#a', '#a', placement))
      expect(await stateOf(server, PATH)).to.deep.equal({ ...before, events: before.events + 1 })
      expect(answer.status).to.equal(204)
      expect(tagOf(answer)).to.equal(tagOf(await http('GET', PATH)))
      const { payload = '' } = (await server.site.store.events(PATH)).at(-1) ?? {}
      const told = (name: string) => new RegExp(`itemprop="${name}">(.*)</`).exec(payload)?.[1]
      expect(['method', 'selector', 'destination', 'placement', 'body'].map(told)).to.deep.equal([
        'MOVE',
        '#a',
        '#a',
        placement,
        A,
      ])
      expect(told('etag')).to.equal(tagOf(await http('GET', PATH, selecting('#a'))))
    }
  })

  type Lines = Record<string, string | undefined>
  const base = moving(PATH, '#a', '#done', 'append')
  const refused: [name: string, path: string, fields: Lines, failure: string][] = [
    ['Range without Destination-Range', PATH, { ...base, 'Destination-Range': undefined }, '422 MoveMissingHeaders'],
    ['Destination-Range without Range', PATH, { ...base, Range: undefined }, '422 MoveMissingHeaders'],
    ['no Destination', PATH, { ...base, Destination: undefined }, '422 MoveMissingHeaders'],
    ['no placement', PATH, { ...base, 'Destination-Range': 'selector=#done' }, '422 MoveMissingHeaders'],
    ['unknown placement', PATH, moving(PATH, '#a', '#done', 'inside'), '422 InvalidPlacement'],
    ['another unit of Range', PATH, { ...base, Range: 'bytes=0-1' }, '422 InvalidRange'],
    ['an unknown unit of Range', PATH, { ...base, Range: '#a' }, '422 InvalidRange'],
    [
      'another unit of Destination-Range',
      PATH,
      { ...base, 'Destination-Range': 'rows=1; placement=after' },
      '422 InvalidRange',
    ],
    ['an empty source selector', PATH, moving(PATH, ' ', '#done', 'append'), '400 InvalidRange'],
    ['an empty anchor selector', PATH, moving(PATH, '#a', ' ', 'append'), '400 InvalidRange'],
    ['another document', PATH, moving('/other.html', '#a', '#done', 'append'), '501 MoveCrossResource'],
    ['another host', PATH, moving('http://elsewhere.example/board.html', '#a', '#done', 'append'), '502 BadGateway'],
    ['a Destination that is no path', PATH, moving('board.html', '#a', '#done', 'append'), '400 InvalidPath'],
    ['a Destination with dots', PATH, moving('/x/../board.html', '#a', '#done', 'append'), '400 InvalidPath'],
    [
      'a Destination with an escaped slash',
      PATH,
      moving('/x%2Fboard.html', '#a', '#done', 'append'),
      '400 InvalidPath',
    ],
    ['a source selector that does not parse', PATH, moving(PATH, 'p[', '#done', 'append'), '422 InvalidSelector'],
    ['an anchor selector that does not parse', PATH, moving(PATH, '#a', 'p[', 'append'), '422 InvalidSelector'],
    ['no document', '/none.html', moving('/none.html', '#a', '#done', 'append'), '404 NotFound'],
    ['no source', PATH, moving(PATH, '#x', '#done', 'append'), '416 SelectorNoMatch'],
    ['no anchor, append', PATH, moving(PATH, '#a', '#x', 'append'), '416 SelectorNoMatch'],
    ['no anchor, prepend', PATH, moving(PATH, '#a', '#x', 'prepend'), '416 SelectorNoMatch'],
    ['no anchor, before', PATH, moving(PATH, '#a', '#x', 'before'), '416 SelectorNoMatch'],
    ['no anchor, after', PATH, moving(PATH, '#a', '#x', 'after'), '416 SelectorNoMatch'],
    ['into itself', PATH, moving(PATH, '#a', '#a', 'append'), '422 IllegalMove'],
    ['into a descendant', PATH, moving(PATH, '#a', '#a b', 'prepend'), '422 IllegalMove'],
    ['beside a descendant', PATH, moving(PATH, '#a', '#a b', 'after'), '422 IllegalMove'],
    ['the root', PATH, moving(PATH, 'html', '#done', 'append'), '422 IllegalMove'],
    ['beside the root', PATH, moving(PATH, '#a', 'html', 'after'), '400 InvalidPlacement'],
    ['before the root of XML', '/f.xml', moving('/f.xml', '#a', 'f', 'before'), '400 InvalidPlacement'],
    ['into a void element', PATH, moving(PATH, '#a', '#hr', 'append'), '422 InvalidPlacement'],
    ['a blob', '/blob.txt', moving('/blob.txt', '#a', '#b', 'append'), '422 NotHtml'],
    ['a reserved Destination', PATH, moving('/.platform/x.html', '#a', '#done', 'append'), '403 Reserved'],
    ['a reserved path', '/.platform/x.html', moving(PATH, '#a', '#done', 'append'), '403 Reserved'],
  ]
  for (const [name, path, fields, failure] of refused) {
    it(`HTTP-105 HTTP-106 ${name}: ${failure}`, async () => {
      const answer = await leavesAlone(server, [PATH, '/f.xml', '/other.html', '/blob.txt'], () =>
        http('MOVE', path, fields),
      )
      expect(failureOf(answer)).to.equal(failure)
    })
  }

  it('HTTP-109 a vanished source is 416', async () => {
    expect((await http('DELETE', PATH, selecting('#a'))).status).to.equal(204)
    expect(failureOf(await http('MOVE', PATH, moving(PATH, '#a', '#done', 'append')))).to.equal('416 SelectorNoMatch')
  })

  it('HTTP-80 a node stays the node it was, also where its markup alone would not', async () => {
    await put(
      server,
      '/t.html',
      page('<table id="t"><tbody id="y"><tr id="r1"><td>1</td></tr><tr id="r2"><td>2</td></tr></tbody></table>'),
    )
    expect((await http('MOVE', '/t.html', moving('/t.html', '#r2', '#y', 'prepend'))).status).to.equal(204)
    expect((await http('GET', '/t.html', selecting('#y > tr:first-child'))).text).to.equal(
      '<tr id="r2"><td>2</td></tr>',
    )
  })
})
