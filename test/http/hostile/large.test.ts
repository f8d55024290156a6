import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client, type Received, tagOf } from '../../support/http.ts'
import { leavesTheLoop, runsInTime } from '../../support/loop-hold.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, selecting, textOf } from '../write-checks.ts'

const MEGABYTE = 1024 * 1024

/** Pairs of small requests that are answered while a large one is under way, at least. */
const BETWEEN = 3
/** Milliseconds between pairs after those: more of them would work more than the large request itself. */
const PAUSE = 20

/** A document of some size, filled with one piece again and again between two elements that can be found. */
const filled = (piece: string, size: number) =>
  page(`<i id="first">x</i>${piece.repeat(Math.floor(size / piece.length))}<i id="last">y</i>`)

const CARD =
  '<div itemscope itemtype="https://schema.org/CreativeWork"><h3 itemprop="name">A title</h3><p>Some <b>text</b> and <a href="/x">a link</a></p><ul><li>one<li>two</ul></div>\n'
const XML = `<r><first/>${'<card kind="x"><name>A title</name><text>Some text</text></card>\n'.repeat(12_500)}</r>`

describe('large documents', function () {
  this.timeout(300_000)

  let server: TestServer
  let http: Client
  let mount: Client
  let authorization: string
  before(async () => {
    server = await startServer()
    http = client(server.port)
    authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
    mount = client(Number(new URL(server.mountUrl).port), { Authorization: authorization })
    await put(server, '/rules.html', rulesPage(['*', '*', 'Allow', '/*']))
    await put(server, '/small.html', page('<p>small</p>'))
  })
  after(() => server.close())

  /**
   * Makes one request, and small ones meanwhile: they are answered in between, and no turn of the event loop is long.
   *
   * @param measure `leavesTheLoop` for a request that can be repeated
   * @returns the answer of the large one
   */
  async function amongOthers(request: () => Promise<Received>, measure = runsInTime): Promise<Received> {
    const tag = tagOf(await http('GET', '/small.html'))
    let answer: Received | undefined
    await measure(async () => {
      let between = 0
      let pending = true
      const large = request().finally(() => {
        pending = false
      })
      while (pending) {
        expect((await http('GET', '/small.html')).status).to.equal(200)
        expect((await http('GET', '/small.html', { 'If-None-Match': tag })).status).to.equal(304)
        if (++between >= BETWEEN) await new Promise(resolve => setTimeout(resolve, PAUSE))
      }
      answer = await large
      expect(between, 'pairs of small requests meanwhile').to.be.at.least(BETWEEN)
    })
    return answer as Received
  }

  const documents: [name: string, path: string, body: string][] = [
    ['cards', '/cards.html', filled(CARD, MEGABYTE)],
    ['paragraphs that are not closed', '/paragraphs.html', filled('<p>some words', MEGABYTE / 2)],
    [
      'elements that tables throw out',
      '/fostered.html',
      filled('<b></b>x', MEGABYTE / 2).replace('<i id', '<table><i id'),
    ],
    ['misnested formatting', '/misnested.html', filled('<p><b>1<i>2</b>3</i>4', MEGABYTE / 2)],
    ['one text', '/text.html', filled('word ', 4 * MEGABYTE)],
    ['one comment', '/comment.html', filled(`<!--${'- '.repeat(2 * MEGABYTE)}-->`, 4 * MEGABYTE + 100)],
    ['XML', '/cards.xml', XML],
  ]
  for (const [name, path, body] of documents) {
    it(`SEC-4 HTTP-181 others are answered while a large document is written or first read: ${name}`, async () => {
      const create = async () => {
        await http('DELETE', path)
        return http('PUT', path, {}, body)
      }
      expect((await amongOthers(create, leavesTheLoop)).status).to.equal(201)
      let written = body
      const replace = () => {
        written += '\n'
        return mount('PUT', path, {}, written)
      }
      expect((await amongOthers(replace, leavesTheLoop)).status).to.equal(204)
      const first = path.endsWith('.xml') ? 'first' : '#first'
      const moved = `/moved${path}`
      await runsInTime(() => http('MOVE', path, { Destination: moved }))
      expect((await amongOthers(() => http('GET', moved, selecting(first)))).status).to.equal(206)
      const element = path.endsWith('.xml') ? '<first>new</first>' : '<i id="first">new</i>'
      const old = path.endsWith('.xml') ? '<first/>' : '<i id="first">x</i>'
      await runsInTime(async () => {
        expect((await http('PUT', moved, selecting(first), element)).status).to.equal(206)
      })
      expect((await textOf(server, moved)) === written.replace(old, element), 'all other bytes are kept').to.equal(true)
      await http('DELETE', moved)
    })
  }

  it('SEC-4 HTTP-80 others are answered while a large element is written', async () => {
    await put(server, '/place.html', page('<div id="place"></div><p>x</p>'))
    for (const piece of [CARD, '<p>some words', '<p><b>1<i>2</b>3</i>4']) {
      const element = `<div id="place">${piece.repeat(MEGABYTE / 2 / piece.length)}</div>`
      expect(
        (await amongOthers(() => http('PUT', '/place.html', selecting('#place'), element), leavesTheLoop)).status,
      ).to.equal(206)
    }
  })

  it('HTTP-4 HTTP-96 writes to a large document all land, those that were proved on a copy too', async () => {
    await put(
      server,
      '/busy.html',
      filled('<p><b>1<i>2</b>3</i>4', MEGABYTE / 4).replace('<i id="last">', '<ul></ul>$&'),
    )
    const appends = Array.from({ length: 6 }, (_, i) => http('POST', '/busy.html', selecting('ul'), `<li>n${i}</li>`))
    const whole = http('PUT', '/busy.html', selecting('#first'), '<i id="first">changed</i>')
    for (const answer of await Promise.all([...appends, whole])) expect(answer.status).to.equal(206)
    const text = await textOf(server, '/busy.html')
    for (let i = 0; i < 6; i++) expect(text.includes(`<li>n${i}</li>`), `n${i}`).to.equal(true)
    expect(text.includes('<i id="first">changed</i>')).to.equal(true)
    const list = await http('GET', '/busy.html', { ...selecting('ul > li'), Accept: 'multipart/mixed' })
    expect(list.text.match(/<li>n\d<\/li>/g)).to.have.length(6)
  })

  it('SEC-4 HTTP-55 HTTP-65 HTTP-70 others are answered while much is read from a large document', async () => {
    await put(server, '/read.html', filled(CARD, 2 * MEGABYTE))
    const css = { 'Content-Type': 'text/css-selector' }
    const reads: [name: string, status: number, run: () => Promise<Received>][] = [
      ['all of it', 206, () => http('GET', '/read.html', selecting('html'))],
      ['every match', 206, () => http('GET', '/read.html', { ...selecting('li'), Accept: 'multipart/mixed' })],
      ['items', 200, () => http('GET', '/read.html', { Accept: 'application/ld+json' })],
      ['a query', 200, () => http('QUERY', '/read.html', css, 'h3')],
      ['a query on the mount', 201, () => mount('QUERY', '/read.html', css, 'h3')],
    ]
    for (const [name, status, run] of reads)
      await leavesTheLoop(async () => expect((await run()).status, name).to.equal(status))
  })

  it('HTTP-4 what is read in turns is of one version, while elements are written', async () => {
    const counter = (id: string) => `<div><i id="${id}">0</i></div>`
    await put(server, '/pair.html', page(counter('first') + '<p>some words</p>'.repeat(20_000) + counter('last')))
    const set = (id: string, value: number) =>
      http('PUT', '/pair.html', selecting(`#${id}`), `<i id="${id}">${value}</i>`)
    let writing = true
    const writes = (async () => {
      for (let value = 1; writing; value++) for (const id of ['first', 'last']) await set(id, value)
    })()
    for (let i = 0; i < 4; i++) {
      const { text } = await http('GET', '/pair.html', { ...selecting('div, p'), Accept: 'multipart/mixed' })
      const [first, last] = [...text.matchAll(/<i id="\w+">(\d+)<\/i>/g)].map(([, value]) => Number(value))
      // Every value comes to the first element before it comes to the last one.
      expect((first ?? Number.NaN) - (last ?? Number.NaN), `${first} and ${last}`).to.be.oneOf([0, 1])
    }
    writing = false
    await writes
  })

  it('HTTP-133 a query over several documents finds any number of elements', async () => {
    await put(server, '/many/a.html', page('<i></i>'))
    await put(server, '/many/b.html', page('<i></i>'.repeat(140_000)))
    const headers = { 'Content-Type': 'text/css-selector', Authorization: authorization }
    const answer = await fetch(`${server.mountUrl}/many/`, { method: 'QUERY', headers, body: 'i' })
    expect(answer.status).to.equal(201)
    expect((await answer.text()).split('\r\n<i></i>\r\n')).to.have.length(140_002)
  })

  it('SEC-4 HTTP-65 matches inside each other cannot repeat the document without end', async () => {
    const deep = page('<div>'.repeat(400) + 'x'.repeat(500_000) + '</div>'.repeat(400))
    await put(server, '/deep.html', deep)
    const css = { 'Content-Type': 'text/css-selector' }
    const reads: [name: string, run: () => Promise<Received>][] = [
      ['GET', () => http('GET', '/deep.html', { ...selecting('div'), Accept: 'multipart/mixed' })],
      ['QUERY', () => http('QUERY', '/deep.html', css, 'div')],
      ['QUERY on the mount', () => mount('QUERY', '/deep.html', css, 'div')],
    ]
    for (const [name, run] of reads) {
      await leavesTheLoop(async () => expect(failureOf(await run()), name).to.equal('422 InvalidSelector'))
    }
    await put(server, '/leaves.html', page('<div>'.repeat(400) + '<i></i>'.repeat(20_000)))
    const leaves = () => http('GET', '/leaves.html', { ...selecting('i'), Accept: 'multipart/mixed' })
    await leavesTheLoop(async () => expect(failureOf(await leaves()), 'long addresses').to.equal('422 InvalidSelector'))
    const few = await http('GET', '/deep.html', { ...selecting('div; entries=0-9'), Accept: 'multipart/mixed' })
    expect(few.status).to.equal(206)
    expect(few.body.length).to.be.above(5_000_000)
  })

  it('HTTP-2 a read that began before a large document was replaced tells of one version', async () => {
    const version = (n: number) => filled(`<p>version ${n}</p>`, MEGABYTE).replace('>x<', `>${n}<`)
    await put(server, '/versions.html', version(1))
    await http('MOVE', '/versions.html', { Destination: '/unread.html' })
    const reads = Array.from({ length: 3 }, () => http('GET', '/unread.html', selecting('#first')))
    const replaced = http('PUT', '/unread.html', {}, version(2))
    for (const answer of await Promise.all(reads)) expect(answer.text).to.match(/^<i id="first">[12]<\/i>$/)
    expect((await replaced).status).to.equal(200)
    expect((await http('GET', '/unread.html', selecting('#first'))).text).to.equal('<i id="first">2</i>')
  })
})
