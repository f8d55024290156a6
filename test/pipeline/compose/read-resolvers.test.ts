/** Read resolvers through a real server: what visitors see of values, and what stays as it is stored. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { NS, page, put, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { property, schema } from '../model/markup.ts'

const sessel = (source: string) => `<script itemprop="@read" type="text/sessel">${source}</script>`
const script = (source: string) =>
  `<div itemprop="@read" itemscope itemtype="${NS}/JavaScript/Module"><script itemprop="source" type="module">${source}</script></div>`
const read = (name: string, code: string) => property(name, { '@read': { markup: code } })

const ROOT = 'urn:t:Root'
const LEAF = 'urn:t:Leaf'

const SCHEMAS = page(
  schema(
    ROOT,
    {},
    read('name', script('export default v => Array.isArray(v) ? v.map(n => n + "!") : v + "!"')),
    read('gone', script('export default () => null')),
    read('secret', sessel('self.map(it => it.set_text("***"))')),
    read('link', script('export default v => v + "?x"')),
    read('more', script('export default v => [v, v + "2"]')),
    read('broken', script('export default v => {')),
    read('other', sessel(`let x = (\${b} from "/other.html").first().text().upper(); self.map(it => it.set_text(x))`)),
    read('bold', sessel('new b { self.first().text() }')),
  ) +
    schema(LEAF, { parent: ROOT }, read('name', script('export default v => "<" + v + ">"'))) +
    schema('urn:t:Bad', {}, read('name', script('export default () => { throw new Error("no") }'))) +
    schema(
      'urn:t:Answers',
      {},
      read('name', script(`export default () => { throw { itemtype: "${NS}/HTTPResponse", status: 418 } }`)),
    ) +
    schema('urn:t:Number', {}, read('name', sessel('5'))) +
    schema('urn:t:Endless', {}, read('name', script('export default () => { for (;;); }'))),
)

const item = (type: string, body: string) => `<div id="i" itemscope itemtype="${type}">${body}</div>`
const span = (name: string, text: string) => `<span itemprop="${name}">${text}</span>`

describe('Read resolvers', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' }, settings: { javascript: { time: '300ms' } } })
    send = client(server)
    await put(server, '/schemas.html', SCHEMAS)
    await put(server, '/rules.html', rulesPage(['*', 'GET|PUT|QUERY', 'Allow', '/*']))
    await put(server, '/other.html', page('<b>x</b>'))
  })
  after(() => server.close())

  const mounted = async () => {
    const credentials = Buffer.from(`${server.user}:${server.password}`).toString('base64')
    const response = await fetch(`${server.mountUrl}/page.html`, { headers: { Authorization: `Basic ${credentials}` } })
    return response.text()
  }
  const shown = async (body: string, fields = {}) => {
    await put(server, '/page.html', page(body))
    return send('GET', '/page.html', fields)
  }

  const cases: [title: string, body: string, expected: string][] = [
    ['MOD-71 a value in JavaScript', item(ROOT, span('name', 'a')), span('name', 'a!')],
    [
      'MOD-71 several values',
      item(ROOT, span('name', 'a') + span('name', 'b')),
      span('name', 'a!') + span('name', 'b!'),
    ],
    ['MOD-71 a value in Sessel', item(ROOT, span('secret', 'a')), span('secret', '***')],
    ['MOD-71 null removes', item(ROOT, `x${span('gone', 'a')}y`), 'xy'],
    [
      'MOD-71 surplus values follow the last',
      item(ROOT, `${span('more', 'a')}.`),
      `${span('more', 'a')}${span('more', 'a2')}.`,
    ],
    [
      'MOD-71 values are written where they are read',
      item(ROOT, '<a itemprop="link" href="/p">t</a>'),
      '<a itemprop="link" href="/p?x">t</a>',
    ],
    ['MOD-71 another element', item(ROOT, span('bold', 'a')), '<b itemprop="bold">a</b>'],
    ['MOD-72 root first', item(LEAF, span('name', 'a')), span('name', '&lt;a!&gt;')],
    [
      'MOD-73 what does not compile is skipped',
      item(ROOT, span('broken', 'a') + span('name', 'b')),
      span('broken', 'a') + span('name', 'b!'),
    ],
    [
      'MOD-71 items inside of items',
      item(ROOT, `<div itemprop="name" itemscope itemtype="${LEAF}">${span('secret', 'a')}</div>`).replace(
        'itemprop="name"',
        'itemprop="part"',
      ),
      `<div itemprop="part" itemscope="" itemtype="${LEAF}">${span('secret', '***')}</div>`,
    ],
    [
      'MOD-71 one element with two names',
      item(ROOT, span('more name', 'a')),
      span('more name', 'a!') + span('more name', 'a!2'),
    ],
  ]
  for (const [title, body, expected] of cases)
    it(`${title}`, async () => {
      const { status, text } = await shown(body)
      expect(status).to.equal(200)
      expect(/<div id="i"[^>]*>(.*)<\/div>\n/s.exec(text)?.[1]).to.equal(expected)
    })

  it('COMP-2 COMP-16 a document with such a value is no plain one, without any prefix', async () => {
    const stored = page(item(ROOT, span('name', 'a'))).replace('<div', '<div  ')
    await put(server, '/page.html', stored)
    const whole = await send('GET', '/page.html')
    const head = await send('HEAD', '/page.html')
    expect(whole.text).to.include('a!').and.not.include('<div  ')
    expect(head.headers.etag).to.equal(whole.headers.etag)
    expect((await send('GET', '/page.html', { 'If-None-Match': whole.headers.etag })).status).to.equal(304)
    await put(server, '/page.html', page(item('urn:t:None', span('name', 'a'))))
    expect((await send('GET', '/page.html')).text).to.equal(page(item('urn:t:None', span('name', 'a'))))
  })

  it('MOD-71 selectors, microdata and queries see the same', async () => {
    await put(server, '/page.html', page(item(ROOT, span('name', 'a'))))
    const one = await send('GET', '/page.html', { Range: 'selector=span:contains("a!")' })
    expect([one.status, one.text]).to.deep.equal([206, span('name', 'a!')])
    const data = await send('GET', '/page.html', { Accept: 'application/ld+json' })
    expect(JSON.parse(data.text)).to.have.property('name', 'a!')
    const found = await send('QUERY', '/page.html', { 'Content-Type': 'text/css-selector' }, 'span')
    expect(found.text).to.include(span('name', 'a!'))
  })

  it('MOD-71 a page that includes a value shows it resolved', async () => {
    await put(server, '/part.html', page(item(ROOT, span('name', 'a'))))
    await put(
      server,
      '/page.html',
      `<!doctype html><html xmlns:p="${NS}/1.0"><body><p:include selector="#i" resource="/part.html"></p:include></body></html>`,
    )
    expect((await send('GET', '/page.html')).text).to.include(span('name', 'a!'))
  })

  it('MOD-71 the mount gives what is stored', async () => {
    const stored = page(item(ROOT, span('name', 'a')))
    await put(server, '/page.html', stored)
    expect(await mounted()).to.equal(stored)
  })

  it('MOD-71 a write through the page reaches the stored value', async () => {
    await put(server, '/page.html', page(item(ROOT, `${span('more', 'a')}<i>b</i><i class="k">c</i>`)))
    const range = { Range: 'selector=i.k', 'Content-Type': 'text/html' }
    const outcome = await send('PUT', '/page.html', range, '<i class="k">d</i>')
    expect(outcome.status).to.be.oneOf([200, 204, 206])
    const value = { Range: 'selector=span:first-of-type', 'Content-Type': 'text/html' }
    expect((await send('PUT', '/page.html', value, span('more', 'e'))).status).to.be.oneOf([200, 204, 206])
    const stored = await mounted()
    expect(stored).to.equal(page(item(ROOT, `${span('more', 'e')}<i>b</i><i class="k">d</i>`)))
  })

  it('MOD-74 other documents are seen as they are now', async () => {
    const body = item(ROOT, span('other', 'a'))
    expect((await shown(body)).text).to.include('>X</span>')
    await put(server, '/other.html', page('<b>y</b>'))
    expect((await send('GET', '/page.html')).text).to.include('>Y</span>')
  })

  const failures: [title: string, type: string, status: number][] = [
    ['MOD-73 a resolver that throws', 'urn:t:Bad', 500],
    ['MOD-67 MOD-73 a response is an ordinary failure here', 'urn:t:Answers', 500],
    ['MOD-73 a result that is no element', 'urn:t:Number', 500],
    ['MOD-71 HTTP-172 a resolver without end', 'urn:t:Endless', 503],
  ]
  for (const [title, type, status] of failures)
    it(`${title} is answered with ${status}`, async () => {
      const answer = await shown(item(type, span('name', 'a')))
      expect(answer.status).to.equal(status)
      expect(answer.text).to.not.include('itemprop="name">a<')
    })

  it('MOD-71 many values are resolved together', async () => {
    const body = Array.from({ length: 300 }, (_, i) => `<p itemscope itemtype="${ROOT}">${span('name', `n${i}`)}</p>`)
    const { text } = await shown(body.join(''))
    expect(text.match(/n\d+!/g)).to.have.length(300)
  })
})
