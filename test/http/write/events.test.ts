import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { NS, page, put, rulesPage } from '../../support/content.ts'
import { type Client, client, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { eventsOf, moving, selecting } from '../write-checks.ts'

const DOC = page('<ul id="l"><li id="a">a</li><li id="b">b</li></ul>')
const PATH = '/d.html'

/** The payload of EVT-20 with its properties in the order of EVT-21. */
function payload(fields: {
  method: string
  selector?: string
  etag?: string
  path?: string
  host?: string
  body?: string
  placement?: string
  destination?: string
}): string {
  const span = (name: string, value: string | undefined) =>
    value === undefined ? [] : [`  <span itemprop="${name}">${value}</span>`]
  return [
    `<article itemscope itemtype="${NS}/Mutation">`,
    ...span('method', fields.method),
    ...span('selector', fields.selector ?? ''),
    ...span('etag', fields.etag),
    ...span('path', fields.path ?? PATH),
    ...span('host', fields.host ?? 'localhost'),
    `  <div itemprop="body">${fields.body ?? ''}</div>`,
    ...span('placement', fields.placement),
    ...span('destination', fields.destination),
    '</article>',
  ].join('\n')
}

describe('events of writes', () => {
  let server: TestServer
  let http: Client
  let last: string | undefined

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'PUT|POST|DELETE|MOVE', 'Allow', '/*']))
  })
  after(() => server.close())
  beforeEach(async () => {
    await put(server, PATH, DOC)
    const all = await server.site.store.allEvents(undefined, 100_000)
    last = all.at(-1)?.id
  })

  /** Payloads of everything that happened since the test began, whatever the path. */
  const since = async () => (await server.site.store.allEvents(last, 1000)).map(event => event.payload)

  it('EVT-20 EVT-22 PUT by selector', async () => {
    const answer = await http('PUT', PATH, selecting('#a'), '<li id="a">A</li>')
    const etag = tagOf(answer)
    expect(await since()).to.deep.equal([payload({ method: 'PUT', selector: '#a', etag, body: '<li id="a">A</li>' })])
    expect(etag).to.equal(tagOf(await http('GET', PATH, selecting('#a'))))
  })

  it('EVT-22 EVT-26 POST by selector, with its placement in lower case, append where none was named', async () => {
    const tags: string[] = []
    for (const placement of [undefined, 'PREPEND', 'append']) {
      tags.push(tagOf(await http('POST', PATH, selecting('#l', placement), '<li>x</li>')))
    }
    tags.push(tagOf(await http('POST', PATH, selecting('#b', 'Before'), '<li>x</li>')))
    tags.push(tagOf(await http('POST', PATH, selecting('#b', 'after'), '<li>x</li>')))
    const expected = [
      ['#l', 'append'],
      ['#l', 'prepend'],
      ['#l', 'append'],
      ['#b', 'before'],
      ['#b', 'after'],
    ].map(([selector, placement], i) =>
      payload({ method: 'POST', selector, placement, etag: tags[i], body: '<li>x</li>' }),
    )
    expect(await since()).to.deep.equal(expected)
  })

  it('EVT-22 DELETE by selector: no tag, empty body', async () => {
    await http('DELETE', PATH, selecting('#a'))
    expect(await since()).to.deep.equal([payload({ method: 'DELETE', selector: '#a' })])
  })

  it('EVT-22 MOVE of an element: source, moved element, placement, anchor', async () => {
    await http('MOVE', PATH, moving(PATH, '#a', '#b', 'AFTER'))
    const etag = tagOf(await http('GET', PATH, selecting('#a')))
    expect(await since()).to.deep.equal([
      payload({
        method: 'MOVE',
        selector: '#a',
        etag,
        body: '<li id="a">a</li>',
        placement: 'after',
        destination: '#b',
      }),
    ])
  })

  it('EVT-22 whole PUT: empty selector, stored tag, the document', async () => {
    const answer = await http('PUT', PATH, {}, page('new'))
    const created = await http('PUT', '/new.html', {}, page('made'))
    expect(await since()).to.deep.equal([
      payload({ method: 'PUT', etag: tagOf(answer), body: page('new') }),
      payload({ method: 'PUT', etag: tagOf(created), path: '/new.html', body: page('made') }),
    ])
  })

  it('EVT-22 whole DELETE: no tag, empty body', async () => {
    await http('DELETE', PATH)
    expect(await since()).to.deep.equal([payload({ method: 'DELETE' })])
  })

  it('EVT-25 blobs have no body in their events', async () => {
    const answer = await http('PUT', '/b.txt', {}, 'text <b>')
    await http('DELETE', '/b.txt')
    expect(await since()).to.deep.equal([
      payload({ method: 'PUT', etag: tagOf(answer), path: '/b.txt' }),
      payload({ method: 'DELETE', path: '/b.txt' }),
    ])
  })

  it('EVT-28 MOVE of a whole document is DELETE on the old path and PUT on the new one', async () => {
    const etag = tagOf(await http('GET', PATH))
    await http('MOVE', PATH, { Destination: '/moved.html' })
    expect(await since()).to.deep.equal([
      payload({ method: 'DELETE' }),
      payload({ method: 'PUT', etag, path: '/moved.html', body: DOC }),
    ])
    expect((await eventsOf(server, '/moved.html')).at(-1)?.payload).to.include('<span itemprop="method">PUT</span>')
    expect((await eventsOf(server, PATH)).at(-1)?.payload).to.include('<span itemprop="method">DELETE</span>')
  })

  it('EVT-28 MOVE of a blob carries no body, one that makes it a document does', async () => {
    await http('PUT', '/m.txt', {}, DOC)
    last = (await server.site.store.allEvents(last, 1000)).at(-1)?.id
    await http('MOVE', '/m.txt', { Destination: '/m2.txt' })
    await http('MOVE', '/m2.txt', { Destination: '/m2.html' })
    const events = await since()
    expect(events).to.have.length(4)
    expect(events[1]).to.include('<div itemprop="body"></div>')
    expect(events[3]).to.include(`<div itemprop="body">${DOC}</div>`)
  })

  it('EVT-28 an upload under a generated name is a PUT on the new path only', async () => {
    const answer = await http('POST', '/made/', { 'Content-Type': 'text/html' }, page('x'))
    const { location } = answer.headers
    expect(await since()).to.deep.equal([
      payload({ method: 'PUT', etag: tagOf(answer), path: location, body: page('x') }),
    ])
  })

  it('EVT-25 a whole document travels up to 64 KiB, and not beyond', async () => {
    const size = 64 * 1024
    const fitting = page('x').padEnd(size, ' ')
    await http('PUT', PATH, {}, fitting)
    await http('PUT', PATH, {}, `${fitting} `)
    const [fits, exceeds] = await since()
    expect(fits).to.include(`<div itemprop="body">${fitting}</div>`)
    expect(exceeds).to.include('<div itemprop="body"></div>')
  })

  it('EVT-25 64 KiB are bytes, not characters', async () => {
    const wide = page('\u4e2d'.repeat(30_000))
    expect(Buffer.byteLength(wide)).to.be.above(64 * 1024)
    await http('PUT', PATH, {}, wide)
    expect((await since())[0]).to.include('<div itemprop="body"></div>')
  })

  it('EVT-25 elements travel up to 1 MiB; beyond, the event says that the document has changed', async () => {
    const sized = (id: string, size: number, letter = 'x') =>
      `<li id="${id}">${letter.repeat((size - `<li id="${id}"></li>`.length) / Buffer.byteLength(letter))}</li>`
    const room = 1024 * 1024 - '#a'.length
    const fitting = sized('a', room)
    const etags = [tagOf(await http('PUT', PATH, selecting('#a'), fitting))]
    for (const body of [sized('a', room + 1), sized('a', room + 2, '\u00e4')])
      etags.push(tagOf(await http('PUT', PATH, selecting('#a'), body)))
    etags.push(tagOf(await http('POST', PATH, selecting('#l', 'prepend'), sized('c', 2_000_000))))
    await http('MOVE', PATH, moving(PATH, '#a', '#b', 'after'))
    etags.push(tagOf(await http('GET', PATH, selecting('#a'))))
    expect(await since()).to.deep.equal([
      payload({ method: 'PUT', selector: '#a', etag: etags[0], body: fitting }),
      payload({ method: 'PUT', etag: etags[1] }),
      payload({ method: 'PUT', etag: etags[2] }),
      payload({ method: 'POST', etag: etags[3], placement: 'prepend' }),
      payload({ method: 'MOVE', etag: etags[4], placement: 'after' }),
    ])
  })

  it('EVT-25 all nodes of a body are there, the tag is that of the first element', async () => {
    const answer = await http('POST', PATH, selecting('#l'), 'text <li id="x">x</li><!-- c --><li id="y">y</li>')
    expect(await since()).to.deep.equal([
      payload({
        method: 'POST',
        selector: '#l',
        etag: tagOf(await http('GET', PATH, selecting('#x'))),
        body: 'text <li id="x">x</li><!-- c --><li id="y">y</li>',
        placement: 'append',
      }),
    ])
    expect(answer.status).to.equal(206)
  })

  it('EVT-25 EVT-70 white space between words is told, that around a single element is not', async () => {
    await put(server, PATH, page('<p id="p">Hello</p><ul id="l">\n<li>1</li>\n</ul>'))
    last = (await server.site.store.allEvents(last, 1000)).at(-1)?.id
    const bodies = async () => (await since()).map(event => /<div itemprop="body">(.*)<\/div>/s.exec(event)?.[1])
    const sent = [
      ['#p', ' dear'],
      ['#p', ' <b>world</b>'],
      ['#p', '\n<i>and</i> <u>you</u>\n'],
      ['#l', ' <li>2</li>\n'],
    ] as const
    const answers: string[] = []
    for (const [selector, markup] of sent) answers.push((await http('POST', PATH, selecting(selector), markup)).text)
    expect(answers).to.deep.equal(sent.map(([, markup]) => markup.trim()))
    expect(await bodies()).to.deep.equal([...sent.slice(0, 3).map(([, markup]) => markup), '<li>2</li>'])
  })

  it('EVT-21 the body is raw markup: a bare row is not lost, an inner div is no end', async () => {
    await put(server, PATH, page('<table><tbody id="t"></tbody></table><div id="d"></div>'))
    last = (await server.site.store.allEvents(last, 1000)).at(-1)?.id
    await http('POST', PATH, selecting('#t'), '<tr><td>1</td></tr>')
    await http('PUT', PATH, selecting('#d'), '<div id="d"><div>x</div></div>')
    const [row, nested] = await since()
    expect(row).to.include('  <div itemprop="body"><tr><td>1</td></tr></div>\n')
    const text = nested ?? ''
    const start = text.indexOf('<div itemprop="body">') + '<div itemprop="body">'.length
    expect(text.slice(start, text.lastIndexOf('</div>'))).to.equal('<div id="d"><div>x</div></div>')
    expect(text.slice(text.lastIndexOf('</div>') + 6)).to.match(/^\n( {2}<span[^\n]*\n)*<\/article>$/)
  })

  it('EVT-21 text is escaped: & and <, and nothing else', async () => {
    await put(server, '/a&b<c>"d.html', DOC)
    last = (await server.site.store.allEvents(last, 1000)).at(-1)?.id
    await http('PUT', '/a&b%3Cc%3E%22d.html', selecting('li[id="a"]:not([title="<&>"])'), '<li>x</li>')
    const [event] = await since()
    expect(event).to.include('<span itemprop="selector">li[id="a"]:not([title="&lt;&amp;>"])</span>')
    expect(event).to.include('<span itemprop="path">/a&amp;b&lt;c>"d.html</span>')
    expect(event).to.match(/<span itemprop="etag">"[0-9a-f]+-[0-9a-f]+"<\/span>/)
  })

  it('EVT-23 the selector as the writer sent it, trimmed, without unit and placement', async () => {
    await http('PUT', PATH, { Range: 'SELECTOR =x' }, '<li>x</li>')
    await http('PUT', PATH, { Range: 'Selector=  ul   >  li ; placement=after ' }, '<li>x</li>')
    await http('DELETE', PATH, { Range: 'selector=li, #none' })
    const events = await since()
    expect(events).to.have.length(2)
    expect(events[0]).to.include('<span itemprop="selector">ul   >  li</span>')
    expect(events[1]).to.include('<span itemprop="selector">li, #none</span>')
  })

  it('EVT-27 the canonical path and the main host name without port, whatever the request said', async () => {
    await put(server, '/dir/index.html', DOC)
    last = (await server.site.store.allEvents(last, 1000)).at(-1)?.id
    await http('PUT', '/dir/', selecting('#a'), '<li id="a">x</li>')
    await http('PUT', '/%64ir/index.html', selecting('#a'), '<li id="a">x</li>')
    await http('DELETE', 'http://localhost:9/dir/', selecting('#a'))
    for (const event of await since()) {
      expect(event).to.include('<span itemprop="path">/dir/index.html</span>')
      expect(event).to.include('<span itemprop="host">localhost</span>')
    }
    expect(await since()).to.have.length(3)
  })

  it('EVT-24 an unchanged element written again is an event as well', async () => {
    await http('PUT', PATH, selecting('#a'), '<li id="a">a</li>')
    await http('PUT', PATH, {}, DOC)
    expect(await since()).to.have.length(2)
  })

  it('EVT-55 session and connection token of the writer are kept beside the event', async () => {
    const first = await http('PUT', PATH, { 'Platform-Connection': 'tab-1' }, DOC)
    const cookie = /^[^;]+/.exec(first.headers['set-cookie'] ?? '')?.[0] ?? ''
    await http('PUT', PATH, { Cookie: cookie, 'platform-connection': 'tab-2' }, DOC)
    await http('POST', PATH, { Cookie: cookie, ...selecting('#l') }, '<li>x</li>')
    await http('DELETE', PATH)
    const [one, two, three, four] = await server.site.store.allEvents(last, 10)
    expect(one?.token).to.equal('tab-1')
    expect(two?.token).to.equal('tab-2')
    expect(three).not.to.have.property('token')
    expect(one?.session).to.be.a('string').with.length.above(10)
    expect(two?.session).to.equal(one?.session)
    expect(three?.session).to.equal(one?.session)
    expect(four?.session).not.to.equal(one?.session)
    for (const event of [one, two, three, four]) expect(event?.payload).not.to.include(event?.session ?? 'no session')
  })

  it('EVT-28 what failed, was refused or only read is no event', async () => {
    await put(server, '/more.html', rulesPage(['*', '*', 'Deny', '/no.html']))
    last = (await server.site.store.allEvents(last, 1000)).at(-1)?.id
    await http('PUT', '/no.html', {}, DOC)
    await http('PUT', PATH, { 'If-Match': '"x"' }, DOC)
    await http('PUT', PATH, selecting('#x'), '<li>')
    await http('PUT', PATH, selecting('#a'), '')
    await http('DELETE', PATH, selecting('html'))
    await http('DELETE', '/none.html')
    await http('MOVE', PATH, { Destination: PATH })
    await http('MOVE', PATH, { Destination: '/no.html' })
    await http('PUT', '/bad.xml', {}, '<a>')
    await http('PATCH', PATH, {}, 'x')
    await http('GET', PATH)
    await http('OPTIONS', PATH)
    await http('QUERY', PATH, { 'Content-Type': 'text/css-selector' }, 'li')
    expect(await since()).to.deep.equal([])
  })

  it('EVT-45 ids rise in the order of commits, over all paths', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, i) => http('PUT', `/many/${i % 5}.txt`, {}, String(i))))
    const events = await server.site.store.allEvents(last, 100)
    expect(events).to.have.length(20)
    const order = events.map(({ id }) => id.split('-').map(Number))
    for (let i = 1; i < order.length; i++) {
      const [ms = 0, sequence = 0] = order[i] ?? []
      const [before = 0, earlier = 0] = order[i - 1] ?? []
      expect(ms > before || (ms === before && sequence > earlier), events[i]?.id).to.equal(true)
    }
    const versions = events.map(event => event.version)
    expect(versions).to.deep.equal([...versions].sort((a, b) => a - b))
  })
})
