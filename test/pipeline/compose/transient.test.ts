/** Elements that each visitor has a version of, through a real server (COMP-73 to COMP-82). */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { leavesAlone, selecting, textOf } from '../../http/write-checks.ts'
import { NS, page, put, putAll, type RuleLine, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { startRedis } from '../coordination/redis-server.ts'
import { composed } from './composing.ts'

const SHOP = composed(
  '<ul id="cart" class="c" p:transient><li id="none">Empty</li></ul><p id="text">text</p><div p:transient><i>unnamed</i></div>',
)

describe('Transient elements', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer({ site: { sessionContentMax: 4096 } })
    send = client(server)
  })
  after(() => server.close())
  beforeEach(async () => {
    await put(server, '/shop.html', SHOP)
    await rules()
  })

  const rules = (...lines: RuleLine[]) => put(server, '/rules.html', rulesPage(...lines))

  /** A visitor with a session of their own. */
  async function visitor() {
    const cookie = (await send('GET', '/shop.html')).headers['set-cookie']?.split(';')[0] ?? ''
    const ask = (method: string, selector?: string, body?: string, fields: Fields = {}, path = '/shop.html') =>
      send(method, path, { Cookie: cookie, ...(selector && selecting(selector)), ...fields }, body)
    return { ask, cart: async () => (await ask('GET', '#cart')).text, cookie }
  }

  it('COMP-73 COMP-74 COMP-75 the example: a session sees its own version, everybody else the default', () =>
    leavesAlone(server, ['/shop.html'], async () => {
      const [ada, bob] = [await visitor(), await visitor()]
      const answer = await ada.ask('PUT', '#cart', '<ul id="cart"><li>Pen</li></ul>')
      expect(answer.status).to.equal(206)
      expect(answer.text).to.equal('<ul id="cart"><li>Pen</li></ul>')
      expect(answer.headers['content-range']).to.equal('selector=#cart')
      expect(await ada.cart()).to.equal('<ul id="cart"><li>Pen</li></ul>')
      expect(await bob.cart()).to.equal('<ul id="cart" class="c"><li id="none">Empty</li></ul>')
      const whole = await ada.ask('GET')
      expect(whole.text).to.contain('Pen').and.contain('<p id="text">text</p>')
      expect(whole.headers['cache-control']).to.equal('private, no-cache')
      expect((await bob.ask('GET')).headers['cache-control'], 'also without content').to.equal('private, no-cache')
      expect((await bob.ask('GET', '#text')).headers['cache-control']).to.equal('private, no-cache')
    }))

  it('COMP-73 HTTP-5 a first request that is a write is carried out in the session that it gets', async () => {
    const answer = await send('POST', '/shop.html', selecting('#cart'), '<li>Ink</li>')
    expect(answer.status).to.equal(206)
    const cookie = answer.headers['set-cookie']?.split(';')[0]
    expect((await send('GET', '/shop.html', { Cookie: cookie, ...selecting('#cart') })).text).to.contain('Ink')
  })

  it('COMP-75 markup that would end the element, and be lost, is 422', async () => {
    await put(
      server,
      '/note.html',
      composed('<p id="note" p:transient>a</p><button id="b" p:transient><p></p></button>'),
    )
    const { ask } = await visitor()
    const at = (method: string, selector: string, body?: string) => ask(method, selector, body, {}, '/note.html')
    const shown = async (selector: string) => (await at('GET', selector)).text
    expect((await at('POST', '#note', '<b>1</b>')).status).to.equal(206)
    for (const [selector, markup] of [
      ['#note', '<div>lost</div>'],
      ['#note b', '<ul><li>lost</li></ul>'],
    ] as const)
      expect((await at('POST', selector, markup)).status).to.equal(422)
    expect((await at('PUT', '#note', '<p id="note"><b><table></table></b></p>')).status).to.be.oneOf([206, 422])
    expect(await shown('#note')).to.equal('<p id="note">a<b>1</b></p>')
    for (const markup of ['<pre>\n\nx</pre>', '<textarea>\n\n1</textarea>', '<table><tr><td>1</table>', ' <i>2</i>\n'])
      expect((await at('POST', '#b', markup)).status, markup).to.equal(206)
    expect(await shown('#b'))
      .to.include('<i>2</i>')
      .and.include('<td>1</td>')
  })

  it('COMP-74 HTTP-91 HTTP-100 where several elements of the own copy match, the first is changed, with their number', async () => {
    const { ask, cart } = await visitor()
    await ask('PUT', '#cart', '<ul id="cart"><li>a</li><li>b</li></ul>')
    const put = await ask('PUT', '#cart li', '<li>c</li>')
    const removed = [await ask('DELETE', '#cart li'), await ask('DELETE', '#cart li')]
    expect([put, ...removed].map(({ status, headers }) => [status, headers['platform-matches']])).to.deep.equal([
      [206, '2'],
      [204, '2'],
      [204, undefined],
    ])
    expect(await cart()).to.not.include('<li>')
  })

  it('COMP-74 COMP-75 POST, PUT and DELETE inside go on from the own copy, DELETE of the element drops it', async () => {
    const { ask, cart } = await visitor()
    expect((await ask('POST', '#cart', '<li id="a">A</li>')).text).to.equal('<li id="a">A</li>')
    expect((await ask('POST', '#a', '<li id="b">B</li>', { Range: 'selector=#a; placement=before' })).status).to.equal(
      206,
    )
    expect((await ask('PUT', '#a', '<li id="a">AA</li>')).status).to.equal(206)
    expect((await ask('DELETE', '#none')).status).to.equal(204)
    expect(await cart()).to.equal('<ul id="cart" class="c"><li id="b">B</li><li id="a">AA</li></ul>')
    expect((await ask('DELETE', '#cart')).status).to.equal(204)
    expect(await cart()).to.equal('<ul id="cart" class="c"><li id="none">Empty</li></ul>')
  })

  it('COMP-75 the tag may change, the id and the match may not', async () => {
    const { ask, cart } = await visitor()
    const bodies: [status: number, selector: string, body: string][] = [
      [206, '#cart', '<ol id="cart"><li>1</li></ol>'],
      [422, '#cart', '<ul><li>1</li></ul>'],
      [422, '#cart', '<ul id="other"><li>1</li></ul>'],
      [422, 'ol[id]', '<ul id="cart"></ul>'],
      [422, '#cart', '<ul id="cart"></ul><p>more</p>'],
      [422, '#cart', 'text'],
      [400, '#cart', '  '],
      [422, '#cart li', '<p>no item</p>'],
      [206, '#cart li', '<li>2</li>'],
    ]
    for (const [status, selector, body] of bodies) {
      const before = await cart()
      expect((await ask('PUT', selector, body)).status, body).to.equal(status)
      if (status >= 400) expect(await cart(), body).to.equal(before)
    }
    expect(await cart()).to.equal('<ol id="cart"><li>2</li></ol>')
  })

  it('COMP-76 MOVE is 405, with what is allowed', async () => {
    await rules(['*', 'MOVE|DELETE|POST|GET', 'Allow', '/shop.html'])
    const { ask } = await visitor()
    const move = (from: string, to: string, placement: string) =>
      ask('MOVE', undefined, undefined, {
        Range: `selector=${from}`,
        Destination: '/shop.html',
        'Destination-Range': `selector=${to}; placement=${placement}`,
      })
    for (const [from, to, placement] of [
      ['#cart', '#text', 'after'],
      ['#none', '#text', 'after'],
      ['#text', '#cart', 'append'],
      ['#text', '#none', 'before'],
    ] as const) {
      const answer = await move(from, to, placement)
      expect(answer.status, `${from} ${to}`).to.equal(405)
      expect(answer.headers.allow).to.equal('GET, HEAD, PUT, POST, DELETE, OPTIONS, QUERY')
    }
    expect((await move('#text', '#cart', 'before')).status).to.equal(204)
  })

  it('COMP-76 DEC-8 MOVE and PATCH are 405 for whoever sees the element, without any rule', async () => {
    const { ask } = await visitor()
    const allow = 'GET, HEAD, PUT, POST, DELETE, OPTIONS, QUERY'
    for (const selector of ['#cart', '#none']) {
      const moved = await ask('MOVE', selector, undefined, {
        Destination: '/shop.html',
        'Destination-Range': 'selector=#text; placement=after',
      })
      const patched = await ask('PATCH', selector, '<li>x</li>')
      for (const answer of [moved, patched]) {
        expect(answer.status, selector).to.equal(405)
        expect(answer.headers.allow).to.equal(allow)
      }
    }
    expect((await ask('PATCH', '#text', 'x')).status, 'no transient element').to.equal(401)
    await rules(['*', 'PATCH', 'Allow', '/shop.html'])
    expect((await ask('PATCH', '#text', 'x')).status).to.equal(501)
    expect((await ask('PATCH', '#none', 'x')).status).to.equal(405)
    await rules(['*', 'GET', 'Deny', '/shop.html'])
    expect((await ask('PATCH', '#none', 'x')).status, 'an element that may not be read').to.equal(401)
  })

  it('COMP-74 before and after the marked element are ordinary writes', async () => {
    const { ask } = await visitor()
    const beside = { Range: 'selector=#cart; placement=after' }
    expect((await ask('POST', undefined, '<p>x</p>', beside)).status).to.equal(401)
    await rules(['*', 'POST|GET', 'Allow', '/shop.html'])
    expect((await ask('POST', undefined, '<p>x</p>', beside)).status).to.equal(206)
    expect(await textOf(server, '/shop.html')).to.contain('</ul><p>x</p>')
  })

  it('COMP-79 DEC-8 what no rule matches is allowed, a Deny refuses', async () => {
    const { ask, cart } = await visitor()
    const before = await cart()
    await rules(['*', 'POST', 'Deny', '/shop.html', '#cart'])
    expect((await ask('POST', '#cart', '<li>x</li>')).status).to.equal(401)
    await rules(['*', 'GET', 'Deny', '/shop.html'])
    expect((await ask('POST', '#cart', '<li>x</li>')).status).to.equal(401)
    await rules()
    expect(await cart()).to.equal(before)
    expect((await ask('POST', '#text', 'x<b>y</b>')).status, 'outside').to.equal(401)
  })

  it('COMP-78 bindings, includes, other pages and the mount see what is stored', async () => {
    const { ask, cookie } = await visitor()
    await ask('PUT', '#cart', '<ul id="cart"><li class="mine">Pen</li></ul>')
    await put(
      server,
      '/other.html',
      composed('<main r:i=".mine, #none" p:template="text/liquid">{{ i | size }}</main>'),
    )
    expect((await send('GET', '/other.html', { Cookie: cookie })).text).to.contain('<main>1</main>')
    const authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
    expect(await (await fetch(`${server.mountUrl}/shop.html`, { headers: { authorization } })).text()).to.equal(SHOP)
    expect(JSON.stringify(await server.site.store.events('/shop.html'))).not.to.contain('mine')
  })

  it('COMP-80 a marked element in an included fragment is shared by the pages that include it', async () => {
    await putAll(server, {
      '/basket.html': composed('<aside id="basket" p:transient>nothing</aside>'),
      '/one.html': composed('<p:include selector="#basket"/>'),
      '/two.html': composed('<div><p:include selector="#basket"/></div>'),
    })
    const { ask } = await visitor()
    expect((await ask('PUT', '#basket', '<aside id="basket">pen</aside>', {}, '/one.html')).status).to.equal(206)
    for (const path of ['/two.html', '/basket.html'])
      expect((await ask('GET', '#basket', undefined, {}, path)).text).to.equal('<aside id="basket">pen</aside>')
  })

  it('COMP-80 COMP-82 through whatever pages a copy is written at once: nothing is lost, and its size stays bounded', async () => {
    await putAll(server, {
      '/basket.html': composed('<aside id="basket" p:transient>0</aside>'),
      '/one.html': composed('<p:include selector="#basket"/>'),
      '/two.html': composed('<div><p:include selector="#basket"/></div>'),
    })
    const { ask } = await visitor()
    const pages = ['/one.html', '/two.html', '/basket.html']
    const some = (text: string) =>
      Promise.all(Array.from({ length: 12 }, (_, i) => ask('POST', '#basket', text, {}, pages[i % 3])))
    const basket = async () => (await ask('GET', '#basket', undefined, {}, '/one.html')).text
    expect((await some('<i></i>')).map(({ status }) => status)).to.deep.equal(Array(12).fill(206))
    expect((await basket()).match(/<i>/g)).to.have.length(12)
    const large = await some(`<b>${'x'.repeat(1000)}</b>`)
    const kept = large.filter(({ status }) => status === 206).length
    expect((await basket()).match(/<b>/g)).to.have.length(kept)
    expect(kept).to.equal(3)
  })

  it('COMP-80 without an id its place among the marked ones counts; whole writes leave copies alone', async () => {
    const { ask } = await visitor()
    expect((await ask('PUT', 'div > i', '<i>mine</i>')).status).to.equal(206)
    await put(server, '/shop.html', SHOP.replace('text</p>', 'other</p>'))
    expect((await ask('GET', 'div')).text).to.equal('<div><i>mine</i></div>')
    await put(server, '/shop.html', composed('<p>gone</p>'))
    expect((await ask('GET')).status).to.equal(200)
  })

  it('COMP-80 COMP-96 a route has copies of its own for each concrete path', async () => {
    await put(server, '/r/:id.html', SHOP)
    const { ask } = await visitor()
    expect((await ask('PUT', '#cart', '<ul id="cart">one</ul>', {}, '/r/1.html')).status).to.equal(206)
    expect((await ask('GET', '#cart', undefined, {}, '/r/1.html')).text).to.equal('<ul id="cart">one</ul>')
    expect((await ask('GET', '#cart', undefined, {}, '/r/2.html')).text).to.contain('Empty')
  })

  it('COMP-74 with nested markers the outermost counts', async () => {
    await put(server, '/shop.html', composed('<div id="outer" p:transient><b id="inner" p:transient>x</b></div>'))
    const { ask } = await visitor()
    expect((await ask('PUT', '#inner', '<b id="inner">y</b>')).status).to.equal(206)
    expect((await ask('GET', '#outer')).text).to.equal('<div id="outer"><b id="inner">y</b></div>')
    expect((await ask('DELETE', '#outer')).status).to.equal(204)
    expect((await ask('GET', '#inner')).text).to.equal('<b id="inner">x</b>')
  })

  it('COMP-81 COMP-145 session content is inert', async () => {
    const { ask, cart } = await visitor()
    const hostile = `<ul id="cart"><li xmlns:q="${NS}/1.0" e:x="request.headers" q:paginate="1" p:transient title="t">a<p:include selector="#text"></p:include><q:stamp x></q:stamp>{{ 1 }}</li></ul>`
    const answer = await ask('PUT', '#cart', hostile)
    expect(answer.status).to.equal(206)
    expect(await cart()).to.equal(
      '<ul id="cart"><li q:paginate="1" title="t">a<q:stamp x=""></q:stamp>{{ 1 }}</li></ul>',
    )
    expect((await ask('GET')).status).to.equal(200)
  })

  it('COMP-82 copies of one document have a size together: 413 changes nothing', async () => {
    const { ask, cart } = await visitor()
    expect((await ask('PUT', '#cart', `<ul id="cart">${'x'.repeat(3000)}</ul>`)).status).to.equal(206)
    const before = await cart()
    for (const [selector, body] of [
      ['#cart', `<li>${'y'.repeat(1200)}</li>`],
      ['div > i', `<b>${'z'.repeat(1200)}</b>`],
    ] as const) {
      const answer = await ask('POST', selector, body)
      expect(answer.status).to.equal(413)
      expect(answer.text).to.contain('4096')
    }
    expect(await cart()).to.equal(before)
    expect((await ask('PUT', '#cart', `<ul id="cart">${'x'.repeat(3500)}</ul>`)).status).to.equal(206)
  })

  it('COMP-79 tags cover the own copies: what was read is good for the next write, once', async () => {
    const [ada, bob] = [await visitor(), await visitor()]
    const etag = (await ada.ask('GET', '#text')).headers.etag
    expect((await bob.ask('POST', '#cart', '<li>bob</li>')).status).to.equal(206)
    const first = await ada.ask('POST', '#cart', '<li>1</li>', { 'If-Match': etag })
    expect(first.status, "another session's copy is not part of it").to.equal(206)
    expect((await ada.ask('POST', '#cart', '<li>2</li>', { 'If-Match': etag })).status).to.equal(412)
    expect((await ada.ask('POST', '#cart', '<li>2</li>', { 'If-Match': first.headers.etag })).status).to.equal(206)
    const own = (await ada.ask('GET', '#cart')).headers.etag
    expect((await ada.ask('GET', '#cart', undefined, { 'If-None-Match': own })).status).to.equal(304)
  })

  it('COMP-79 shapes are checked on what the session would see', async () => {
    await put(
      server,
      '/shapes.html',
      page(
        `<div hidden itemscope itemtype="${NS}/ShapeConstraint"><meta itemprop="resource" content="/shop.html"><meta itemprop="selector" content="#cart"><meta itemprop="constraint" content="li"></div>`,
      ),
    )
    const { ask, cart } = await visitor()
    const before = await cart()
    expect((await ask('PUT', '#cart', '<ul id="cart"></ul>')).status).to.equal(422)
    expect(await cart()).to.equal(before)
    expect((await ask('PUT', '#cart', '<ul id="cart"><li>1</li></ul>')).status).to.equal(206)
    await put(server, '/shapes.html', page(''))
  })

  it('COMP-79 MOD-91 so are those of the document that stores the element, through a page that includes it', async () => {
    const shape = { resource: '/shop.html', selector: 'ul#cart[class]', constraint: ':has(li)', permit: 'li, li[id]' }
    const metas = Object.entries(shape).map(([field, value]) => `<meta itemprop="${field}" content="${value}">`)
    await put(server, '/shapes.html', page(`<div itemscope itemtype="${NS}/ShapeConstraint">${metas.join('')}</div>`))
    const include = `<p:include xmlns:p="${NS}/1.0" selector="#cart" resource="/shop.html"></p:include>`
    await put(server, '/with-cart.html', page(include))
    const { ask, cart } = await visitor()
    const before = await cart()
    const through = (method: string, body?: string, selector = '#cart') =>
      ask(method, selector, body, {}, '/with-cart.html')
    expect((await through('POST', '<u>1</u>')).status).to.equal(422)
    expect((await through('DELETE', undefined, '#cart li')).status).to.equal(409)
    expect(await cart()).to.equal(before)
    expect((await through('POST', '<li>1</li>')).status).to.equal(206)
    await put(server, '/shapes.html', page(''))
  })

  for (const [name, fields, selector, status] of [
    ['what it would break is 409', { constraint: ':has(li)' }, '#cart li', 409],
    ['bad elements go one by one', { permit: 'li[title]' }, '#cart > u', 204],
    ['and nothing may get worse', { permit: 'ul:has(li) > u' }, '#cart li', 409],
  ] as const)
    it(`COMP-79 MOD-98 shapes and DELETE: ${name}`, async () => {
      const { ask, cart } = await visitor()
      const item = '<ul id="cart"><li>1</li><u></u><u></u></ul>'
      expect((await ask('PUT', '#cart', item)).status).to.equal(206)
      const shape = { resource: '/shop.html', selector: '#cart', ...fields }
      const metas = Object.entries(shape).map(([field, value]) => `<meta itemprop="${field}" content="${value}">`)
      const declared = `<div hidden itemscope itemtype="${NS}/ShapeConstraint">${metas.join('')}</div>`
      await put(server, '/shapes.html', page(declared))
      const answer = await ask('DELETE', selector)
      expect(answer.status).to.equal(status)
      if (status === 409) expect(answer.text).to.include('<meta itemprop="statusCode" content="409">')
      if (status === 409) expect(await cart()).to.include(item)
      await put(server, '/shapes.html', page(''))
    })

  it('COMP-75 appends of one session at the same time all take effect', async () => {
    const { ask, cart } = await visitor()
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => ask('POST', '#cart', `<li>n${i};</li>`)))
    for (const answer of answers) expect(answer.status).to.equal(206)
    const text = await cart()
    for (let i = 0; i < 12; i++) expect(text).to.contain(`<li>n${i};</li>`)
  })

  it('COMP-73 COMP-77 content survives a restart of the server', async () => {
    const first = await startServer()
    await put(first, '/shop.html', SHOP)
    const answer = await client(first)('POST', '/shop.html', selecting('#cart'), '<li>kept</li>')
    const cookie = answer.headers['set-cookie']?.split(';')[0]
    await first.stop()
    const second = await startServer({ data: first.data })
    const shown = await client(second)('GET', '/shop.html', { Cookie: cookie, ...selecting('#cart') })
    expect(shown.text).to.contain('kept')
    await second.close()
  })

  it('COMP-118 XML documents have transient elements, too', async () => {
    await put(server, '/shop.xml', `<shop xmlns:p="${NS}/1.0"><cart p:transient=""><item/></cart><rest/></shop>`)
    const { ask } = await visitor()
    expect((await ask('POST', 'cart', '<x/>', {}, '/shop.xml')).status).to.equal(206)
    expect((await ask('GET', 'cart', undefined, {}, '/shop.xml')).text).to.contain('<item/><x/>')
  })
})

describe('Transient elements with Redis', () => {
  it('COMP-73 COMP-78 HTTP-4 copies are shared by all processes of a site, by nobody else, and none overwrites another', async () => {
    const redis = await startRedis()
    const settings = { redis: redis.url }
    const first = await startServer({ settings })
    await put(first, '/shop.html', SHOP)
    const answer = await client(first)('POST', '/shop.html', selecting('#cart'), '<li>shared</li>')
    expect(answer.status).to.equal(206)
    const cookie = answer.headers['set-cookie']?.split(';')[0]
    const second = await startServer({ data: first.data, settings })
    const shown = (fields: Fields) => client(second)('GET', '/shop.html', { ...fields, ...selecting('#cart') })
    expect((await shown({ Cookie: cookie })).text).to.contain('shared')
    expect((await shown({})).text).not.to.contain('shared')

    // As when a process stood still for longer than its lease lives, or another Redis has taken the place of the first.
    const { leases } = first.site
    const { confirm } = leases
    const loseNext = () => {
      leases.confirm = async () => {
        leases.confirm = confirm
        await redis.admin.del(...(await redis.admin.keys('*:lease*')))
        const meanwhile = { Cookie: cookie, ...selecting('#cart') }
        expect((await client(second)('POST', '/shop.html', meanwhile, '<li>meanwhile</li>')).status).to.equal(206)
        return false
      }
    }
    const late = { Cookie: cookie, ...selecting('#cart') }
    loseNext()
    expect((await client(first)('POST', '/shop.html', late, '<li>late</li>')).status).to.equal(206)
    const both = await shown({ Cookie: cookie })
    expect(both.text).to.match(/shared.*meanwhile.*late/)
    loseNext()
    const seen = { ...late, 'If-Match': both.headers.etag }
    expect((await client(first)('DELETE', '/shop.html', seen)).status, 'of what it has not seen').to.equal(412)
    expect((await shown({ Cookie: cookie })).text).to.match(/late.*meanwhile/)
    await second.stop()
    await first.close()
    await redis.stop()
  })
})
