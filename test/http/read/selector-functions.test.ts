import { expect } from 'chai'
import { verdictOf } from '../../pipeline/model/answers.ts'
import { shape } from '../../pipeline/model/markup.ts'
import { NS, page, put, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const TASKS =
  '<h2 data-top="b">2</h2><ul id="tasks"><li class="done" data-k="a">One</li><li data-k="b">Two</li><li class="done" data-k="c">Three</li></ul><meta name="w" content="c">'

const SELECTORS: [selector: string, found: string][] = [
  ['li:nth-child(count(li.done))', 'Two'],
  ['#tasks > li:nth-child(count(h2, h6))', 'One'],
  ['li[data-k=attr-of("data-top", h2)]', 'Two'],
  ["li[data-k=attr-of('data-none', h2)], li.done", 'One'],
  ['li[data-k=value-of([name=w])]', 'Three'],
  ['li:contains(text-of(li:last-child))', 'Three'],
  ['li:contains(text-of(h6)):not(:nth-child(1))', 'Two'],
  ['li:not([data-k=attr-of("data-k", li:has( + li + li))]):nth-child(text-of(h2))', '422'],
  ['li:nth-child(2):not(:less-than(text-of(h2)))', 'Two'],
  ['li.done:nth-child(count(li))', 'Three'],
  ['li:has(+ li[data-k=value-of([name=w])])', 'Two'],
  ['li:contains("count(li)"), li:nth-child(/* count( */ 2)', 'Two'],
  ['li[data-k=text-of(li)]', '422'],
  ['li:nth-child(count(li', '422'],
  ['li:nth-child(count(li[))', '422'],
  ['li:nth-child(count())', '422'],
  ['li[data-k=attr-of(data-k, h2)]', '422'],
  ['li:greater-than(text-of(li:last-child))', '422'],
  ['li:nth-child(count(li:nth-child(count(h2))))', '422'],
]

describe('COMP-139 functions in selectors', () => {
  let server: TestServer
  let http: Client
  let mount: Client
  before(async () => {
    server = await startServer()
    http = client(server.port)
    const Authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
    mount = client(Number(new URL(server.mountUrl).port), { Authorization })
  })
  beforeEach(() =>
    putAll(server, {
      '/tasks.html': page(TASKS),
      '/others.html': page('<h6>elsewhere</h6><p class="done">x</p>'),
      '/rules.html': rulesPage(['*', '*', 'Allow', '/*']),
    }),
  )
  after(() => server.close())

  const selecting = (selector: string) => ({ Range: `selector=${selector}` })

  for (const [selector, found] of SELECTORS)
    it(`COMP-139 a client’s ${selector}: ${found}`, async () => {
      const read = await http('GET', '/tasks.html', selecting(selector))
      expect(read.status === 206 ? /(?<=>)\w+(?=<)/.exec(read.text)?.[0] : String(read.status)).to.equal(found)
      for (const face of [http, mount]) {
        const queried = await face('QUERY', '/tasks.html', { 'Content-Type': 'text/css-selector' }, selector)
        expect(queried.status === 422 ? '422' : /(?<=>)\w+(?=<\/li>)/.exec(queried.text)?.[0]).to.equal(found)
      }
    })

  it('COMP-139 in writes, and in the destination of a move', async () => {
    const put = await http('PUT', '/tasks.html', selecting('li:nth-child(count(li))'), '<li>Last</li>')
    expect(put.status).to.equal(206)
    const added = await http(
      'POST',
      '/tasks.html',
      { Range: 'selector=li:nth-child(count(h2));placement=before' },
      '<li>Zero</li>',
    )
    expect(added.status).to.equal(206)
    const moved = await http('MOVE', '/tasks.html', {
      ...selecting('li:nth-child(count(li))'),
      Destination: '/tasks.html',
      'Destination-Range': 'selector=li:nth-child(count(h2));placement=before',
    })
    expect(moved.status).to.be.oneOf([200, 204, 206])
    const removed = await http('DELETE', '/tasks.html', selecting('li:nth-child(count(li))'))
    expect(removed.status).to.equal(204)
    const { text } = await http('GET', '/tasks.html')
    expect(text.match(/(?<=<li[^>]*>)\w+/g)).to.deep.equal(['Last', 'Zero', 'One'])
  })

  it('COMP-139 SEC-6 they see what the client may read of the addressed page, and nothing else', async () => {
    await put(
      server,
      '/rules.html',
      rulesPage(['*', 'GET', 'Deny', '/tasks.html'], ['*', 'PUT', 'Allow', '/tasks.html', 'li']),
    )
    const status = async (selector: string) =>
      (await http('PUT', '/tasks.html', { ...selecting(selector), 'If-None-Match': '*' }, '<li>x</li>')).status
    const refused = await status('li:nth-child(count(h6))')
    expect(await status('li:nth-child(count(.done))')).not.to.equal(refused)
    // What cannot be read is not there, whatever it says.
    for (const probe of ['h2', 'h2:contains("2")', 'li:contains("One")', '[data-k=a]', 'p.done', 'head > *'])
      expect(await status(`li:nth-child(count(${probe}))`), probe).to.equal(refused)
    for (const probe of ['li[data-k=value-of([name=w])]', '.done:not(:contains(text-of(h2)))'])
      expect(await status(probe), probe).to.equal(await status(probe.replace(/name=w|h2/, 'h6')))
  })

  it('COMP-139 in rules', async () => {
    await put(
      server,
      '/rules.html',
      rulesPage(
        ['*', 'GET', 'Allow', '/*'],
        ['*', 'DELETE', 'Allow', '/tasks.html', 'li:nth-child(count(li))'],
        ['*', 'PUT', 'Allow', '/tasks.html', 'li'],
        // Its result is none: a Deny that cannot be told refuses.
        ['*', 'PUT', 'Deny', '/tasks.html', 'li.done[data-k=text-of(li)]'],
      ),
    )
    const remove = async (selector: string) => (await http('DELETE', '/tasks.html', selecting(selector))).status
    expect(await remove('li:nth-child(2)')).to.equal(401)
    expect(await remove('li:nth-child(3)')).to.equal(204)
    expect((await http('PUT', '/tasks.html', selecting('.done'), '<li>x</li>')).status).to.equal(401)
  })

  it('COMP-139 in shapes', async () => {
    await put(
      server,
      '/shapes.html',
      page(shape({ selector: '#tasks', constraint: 'ul:has(> li:nth-child(count(h2))):not(:has(> li:nth-child(5)))' })),
    )
    const add = () => http('POST', '/tasks.html', selecting('#tasks'), '<li>More</li>')
    expect(verdictOf(await add())).to.equal('206')
    expect(verdictOf(await add())).to.match(/^422 ul:has/)
    await put(server, '/shapes.html', page(''))
  })

  it('COMP-139 an author’s functions see the whole site', async () => {
    await put(
      server,
      '/made.html',
      `<!doctype html><html xmlns:p="${NS}/1.0" xmlns:r="${NS}/Binding/Resource"><body><p:include selector="li:nth-child(count(p.done, h6))"></p:include></body></html>`,
    )
    const { status, text } = await http('GET', '/made.html')
    expect([status, text.includes('Two')]).to.deep.equal([200, true])
    await put(
      server,
      '/bad.html',
      `<!doctype html><html xmlns:p="${NS}/1.0"><body><p:include selector="li[data-k=text-of(li)]"></p:include></body></html>`,
    )
    expect((await http('GET', '/bad.html')).status).to.equal(500)
  })

  it('COMP-139 HTTP-45 many of them are refused, not worked off', async () => {
    await put(server, '/big.html', page(`<ul>${'<li><b>x</b></li>'.repeat(20_000)}</ul>`))
    const selector = `li:is(${Array.from({ length: 200 }, () => ':nth-child(count(li:has(b)))').join(', ')})`
    expect((await http('QUERY', '/big.html', { 'Content-Type': 'text/css-selector' }, selector)).status).to.equal(422)
    const hostile = `li:nth-child(count("${'\\"'.repeat(2_000)}`
    expect((await http('QUERY', '/big.html', { 'Content-Type': 'text/css-selector' }, hostile)).status).to.equal(422)
  })
})
