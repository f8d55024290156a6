/** Writes through composed pages land where the element is stored (COMP-85 to COMP-91). */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { leavesAlone, selecting, textOf } from '../../http/write-checks.ts'
import { NS, page, put, putAll, type RuleLine, remove, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { parsedDuring } from '../../support/parsed-text.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { composed, PREFIXES } from './composing.ts'

const ARTICLE =
  '<article id="a" itemscope itemtype="urn:demo:Post">\n <h2 itemprop="title">A</h2>\n <ul id="notes" itemprop="notes"></ul>\n</article>'
const DATA = page(`${ARTICLE}<p id="beside">p</p>`)
const POST = composed(
  '<main r:post="#a"><p id="own">own <b>x</b></p><p:stamp post></p:stamp></main><div id="host" p:template="text/liquid"><i id="made">{{ 1 }}</i></div>',
)

describe('Writes through composed pages', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer()
    send = client(server)
  })
  after(() => server.close())
  beforeEach(async () => {
    await putAll(server, { '/data/a.html': DATA, '/post.html': POST })
    await rules(['*', 'GET|PUT|POST|DELETE|MOVE', 'Allow', '/post.html'], ['*', 'PUT', 'Deny', '/data/*'])
  })

  const rules = (...lines: RuleLine[]) => put(server, '/rules.html', rulesPage(...lines))
  const data = () => textOf(server, '/data/a.html')
  const own = () => textOf(server, '/post.html')

  it('COMP-86 COMP-87 the example: an Allow on the page is enough, the origin may be unreadable', async () => {
    await rules(['*', 'POST', 'Allow', '/post.html', '[itemprop=notes]'])
    const answer = await send('POST', '/post.html', selecting('#notes'), '<li>Nice</li>')
    expect(answer.status).to.equal(206)
    expect(answer.text).to.equal('<li>Nice</li>')
    expect(answer.headers['content-range']).to.equal('selector=#notes')
    expect(await data()).to.equal(DATA.replace('></ul>', '><li>Nice</li></ul>'))
    expect(await own()).to.equal(POST)
    await rules(['*', 'GET', 'Allow', '/post.html'])
    expect((await send('GET', '/post.html')).text).to.contain('<ul id="notes" itemprop="notes"><li>Nice</li></ul>')
  })

  it('COMP-86 PUT and DELETE of projected elements change the origin alone', async () => {
    expect((await send('PUT', '/post.html', selecting('#a h2'), '<h2 itemprop="title">B</h2>')).status).to.equal(206)
    expect(await data()).to.equal(DATA.replace('>A</h2>', '>B</h2>'))
    expect((await send('DELETE', '/post.html', selecting('#a'))).status).to.equal(204)
    expect(await data()).to.equal(DATA.replace(ARTICLE, ''))
    expect(await own()).to.equal(POST)
    expect((await send('GET', '/post.html')).text).not.to.contain('article')
  })

  it('COMP-6 a page with closed directives is parsed for no element write, nor for the read behind it', async () => {
    const text = composed(`<p:stamp></p:stamp><p id="k">x</p>${'<p>Some text</p>'.repeat(400)}`)
    await put(server, '/post.html', text)
    const changed = async (to: string) => {
      const element = `<p id="k">${to}</p>`
      expect((await send('PUT', '/post.html', selecting('#k'), element)).status).to.equal(206)
      expect((await send('GET', '/post.html')).text).to.contain(element)
    }
    await changed('first')
    const parsed = await parsedDuring(() => changed('second'))
    expect(parsed).to.be.within(1, text.length / 4)
  })

  it('HTTP-82 one page, three owners: what it includes, what is of a session, and its own', async () => {
    const PAGE = composed(
      '<p:include selector="#a" resource="/data/*"></p:include><ul id="basket" p:transient><li>Empty</li></ul><p id="own">x</p>',
    )
    await put(server, '/owners.html', PAGE)
    await rules(['*', 'GET', 'Allow', '/owners.html'], ['*', 'PUT', 'Allow', '/owners.html', '[itemprop=notes]'])
    const cookie = (await send('GET', '/owners.html')).headers['set-cookie']?.split(';')[0]
    const write = (selector: string, markup: string) =>
      send('PUT', '/owners.html', { ...selecting(selector), Cookie: cookie }, markup)
    expect((await write('#notes', '<ul id="notes" itemprop="notes"><li>n</li></ul>')).status).to.equal(206)
    expect(await data()).to.equal(DATA.replace('></ul>', '><li>n</li></ul>'))
    expect((await write('#basket', '<ul id="basket"><li>Tea</li></ul>')).status).to.equal(206)
    expect((await write('#basket li', `<li>${'x'.repeat(256 * 1024)}</li>`)).status).to.equal(413)
    expect((await write('#own', '<p id="own">y</p>')).status).to.equal(401)
    expect(await textOf(server, '/owners.html')).to.equal(PAGE)
    const { text } = await send('GET', '/owners.html', { Cookie: cookie })
    expect(text).to.contain('<ul id="basket"><li>Tea</li></ul><p id="own">x</p>').and.to.contain('<li>n</li>')
    expect((await send('GET', '/owners.html')).text).to.contain('<li>Empty</li>')
    await remove(server, '/owners.html')
  })

  it('COMP-86 native elements change the page and leave its directives', async () => {
    expect((await send('PUT', '/post.html', selecting('#own b'), '<b>y</b>')).status).to.equal(206)
    expect(await own()).to.equal(POST.replace('<b>x</b>', '<b>y</b>'))
    expect((await send('POST', '/post.html', selecting('main'), '<i>z</i>')).status).to.equal(206)
    expect(await own()).to.contain('<p:stamp post></p:stamp><i>z</i></main>')
    expect(await data()).to.equal(DATA)
  })

  it('COMP-86 before and after a projected root stand beside it in its document', async () => {
    const answer = await send('POST', '/post.html', { Range: 'selector=#a; placement=after' }, '<hr>')
    expect(answer.status).to.equal(206)
    expect(await data()).to.contain('</article><hr><p id="beside">')
  })

  it('COMP-86 what is generated is stored nowhere: 416', () =>
    leavesAlone(server, ['/data/a.html', '/post.html'], async () => {
      // A failed condition hides no 416 (HTTP-1).
      for (const [method, body] of [
        ['PUT', '<i id="made">2</i>'],
        ['POST', '<b>2</b>'],
        ['DELETE', undefined],
      ] as const)
        for (const condition of [{}, { 'If-Match': '"other"' }]) {
          const headers = { ...selecting('#made'), ...condition }
          expect((await send(method, '/post.html', headers, body)).status, method).to.equal(416)
        }
    }))

  it('COMP-86 of a formatting element that the parser repeats the one is changed that was found', async () => {
    const PAGE = composed('<p:include selector="#a" resource="/data/*"></p:include><p><b class="x">1</p><p>2</p>')
    await put(server, '/post.html', PAGE)
    expect((await send('DELETE', '/post.html', selecting('b.x'))).status).to.equal(204)
    expect((await send('GET', '/post.html')).text).to.include('<p></p><p><b class="x">2</b></p>')
  })

  it('COMP-86 a MOVE stays within one document, else 501', async () => {
    const move = (from: string, to: string) =>
      send('MOVE', '/post.html', {
        Range: `selector=${from}`,
        Destination: '/post.html',
        'Destination-Range': `selector=${to}; placement=append`,
      })
    expect((await move('#a h2', '#notes')).status).to.equal(204)
    expect(await data()).to.contain('<ul id="notes" itemprop="notes"><h2 itemprop="title">A</h2></ul>')
    expect((await move('#own', '#notes')).status).to.equal(501)
    expect((await move('#own b', 'main')).status).to.equal(204)
    expect(await own()).to.contain('<p:stamp post></p:stamp><b>x</b></main>')
  })

  it('COMP-6 HTTP-81 a directive without end tag is told, and moves, as it is written', async () => {
    const PART = '<p:include selector="h2" resource="/data/a.html"/>'
    await put(server, '/post.html', composed(`${PART}<div id="d">1</div><ul></ul>`))
    const answer = await send('PUT', '/post.html', selecting('#d'), `<div id="d">${PART}2</div>`)
    expect(answer.text).to.equal(`<div id="d">${PART.replace('/>', '></p:include>')}2</div>`)
    const fields = {
      Range: 'selector=#d',
      Destination: '/post.html',
      'Destination-Range': 'selector=ul; placement=after',
    }
    expect((await send('MOVE', '/post.html', fields)).status).to.equal(204)
    expect(await own()).to.equal(composed(`${PART}<ul></ul><div id="d">${PART}2</div>`))
    const [, shown] = /(<ul>.*)<\/body>/.exec((await send('GET', '/post.html')).text) ?? []
    expect(shown).to.equal('<ul></ul><div id="d"><h2 itemprop="title">A</h2>2</div>')
  })

  it('COMP-90 a page that cannot be composed takes no write', async () => {
    await put(server, '/post.html', composed('<p id="own">x</p><p:include selector="#none"/>'))
    await leavesAlone(server, ['/data/a.html', '/post.html'], async () => {
      expect((await send('PUT', '/post.html', selecting('#own'), '<p id="own">y</p>')).status).to.equal(404)
    })
  })

  it('COMP-91 COMP-126 tags of the page as this requester sees it are good for the next write', async () => {
    const get = (selector: string) => send('GET', '/post.html', selecting(selector))
    const write = (etag: string | undefined) =>
      send('POST', '/post.html', { ...selecting('#notes'), 'If-Match': etag }, '<li>n</li>')
    const element = (await get('#notes')).headers.etag
    const other = (await get('#own')).headers.etag
    const whole = (await send('GET', '/post.html')).headers.etag
    for (const [what, etag] of [
      ['the tag of the element', element],
      ['of another element', other],
      ['of the whole page', whole],
    ] as const) {
      await put(server, '/data/a.html', DATA)
      expect((await write(etag)).status, what).to.equal(206)
      expect((await write(etag)).status, `${what}, a second time`).to.equal(412)
    }
    await put(server, '/data/a.html', DATA)
    const answer = await write(other)
    expect((await write(answer.headers.etag)).status, 'of the answer to a write').to.equal(206)
    await put(server, '/data/a.html', DATA)
    const stored = server.site.inMemory('/data/a.html')?.tag
    expect((await write(stored)).status, 'the stored tag of the origin').to.equal(206)
    expect((await write('"nonsense"')).status).to.equal(412)
  })

  it('COMP-91 a tag stays good while only something else has changed that was merely read', async () => {
    await put(
      server,
      '/post.html',
      composed('<p id="own">x</p><p r:b="#beside" p:template="text/liquid">{{ b.size }}</p>'),
    )
    const { etag } = (await send('GET', '/post.html', selecting('#own'))).headers
    await put(server, '/data/a.html', DATA.replace('>p<', '>q<'))
    const answer = await send('PUT', '/post.html', { ...selecting('#own'), 'If-Match': etag }, '<p id="own">y</p>')
    expect(answer.status).to.equal(206)
  })

  it('COMP-88 shapes of the origin and of the page are judged on the proposed origin', async () => {
    const shape = (resource: string, constraint: string) =>
      `<div hidden itemscope itemtype="${NS}/ShapeConstraint"><meta itemprop="resource" content="${resource}"><meta itemprop="selector" content="#a"><meta itemprop="constraint" content="${constraint}"></div>`
    const post = () => send('POST', '/post.html', selecting('#notes'), '<li>n</li>')
    for (const resource of ['/data/*', '/post.html']) {
      await put(server, '/shapes.html', page(shape(resource, 'h6')))
      await leavesAlone(server, ['/data/a.html', '/post.html'], async () => {
        expect((await post()).status, resource).to.equal(422)
      })
    }
    await put(server, '/shapes.html', page(shape('/elsewhere/*', 'h6')))
    expect((await post()).status).to.equal(206)
    await remove(server, '/shapes.html')
  })

  it('COMP-88 COMP-6 MOD-98 shapes of the page judge where it shows elements, and what was wrong may be deleted', async () => {
    const shape = (fields: string) =>
      `<div hidden itemscope itemtype="${NS}/ShapeConstraint"><meta itemprop="resource" content="/post.html"><meta itemprop="selector" content=".g">${fields}</div>`
    const foreign = 'xmlns:s="http://www.w3.org/2000/svg"'
    const part = (name: string) => `<${name} id="a" class="g"><s:d><div id="l"><b>1</b><b>2</b></div></s:d></${name}>`
    const bad = '<div id="l" class="bad"><b>1</b></div>'
    await put(
      server,
      '/post.html',
      composed('<main><p:include selector="#a"/></main>').replace('<html', `<html ${foreign}`),
    )
    for (const name of ['div', 'p', 'table']) {
      await put(server, '/data/a.html', composed(part(name)).replace('<html', `<html ${foreign}`))
      await put(server, '/shapes.html', page(shape('<meta itemprop="constraint" content=":not(:has(.bad))">')))
      await leavesAlone(server, ['/data/a.html'], async () => {
        expect((await send('PUT', '/post.html', selecting('#l'), bad)).status, name).to.equal(422)
        expect((await send('POST', '/post.html', selecting('#l'), '<i class="bad">x</i>')).status, name).to.equal(422)
      })
      expect((await send('POST', '/post.html', selecting('#l'), '<i>x</i>')).status, name).to.equal(206)
      await put(
        server,
        '/shapes.html',
        page(shape('<meta itemprop="closed" content="true"><meta itemprop="permit" content="i">')),
      )
      expect((await send('DELETE', '/post.html', selecting('#l b'))).status, name).to.equal(204)
      // What is left may not stand there alone.
      const permits = [`${name}[id][class]`, 's\\:d', 'div[id]', 'b', 'b + i']
      await put(
        server,
        '/shapes.html',
        page(shape(permits.map(each => `<meta itemprop="permit" content="${each}">`).join(''))),
      )
      expect((await send('DELETE', '/post.html', selecting('#l b'))).status, name).to.equal(409)
      await remove(server, '/shapes.html')
    }
  })

  it('COMP-89 COMP-30 the event has the path of the origin and finds the element there', async () => {
    await put(server, '/data/a.html', page(`<ul class="n"></ul>${ARTICLE.replace('id="notes"', 'class="n"')}`))
    await send('POST', '/post.html', selecting('main .n'), '<li>1</li>')
    const events = await server.site.store.events('/data/a.html')
    const event = events.at(-1)
    expect(JSON.stringify(event)).to.contain('/data/a.html')
    const selector = /itemprop=\\"selector\\">([^<]*)/.exec(JSON.stringify(event))?.[1]
    expect(selector).not.to.equal('main .n')
    expect((await server.site.store.events('/post.html')).filter(({ id }) => id === event?.id)).to.have.length(0)
    expect(await data()).to.contain('itemprop="notes"><li>1</li>')
  })

  it('COMP-89 appends through many pages all take effect', async () => {
    const pages = Array.from({ length: 5 }, (_, i) => `/p${i}.html`)
    await rules(['*', 'POST', 'Allow', '/p*'])
    for (const path of pages) await put(server, path, composed('<main><p:include selector="#a"/></main>'))
    const sent = Array.from({ length: 60 }, (_, i) =>
      send('POST', pages[i % pages.length] ?? '', selecting('#notes'), `<li>n${i};</li>`),
    )
    for (const answer of await Promise.all(sent)) expect(answer.status).to.equal(206)
    const text = await data()
    for (let i = 0; i < 60; i++) expect(text).to.contain(`<li>n${i};</li>`)
    for (const path of pages) await remove(server, path)
  })

  it('COMP-85 elements in templates of Liquid, in tables, and behind self-closing directives are found where they are stored', async () => {
    const text = `<!doctype html><html ${PREFIXES}><body><table><p:stamp none/><tbody id="t"><tr><td>1</td></tr></tbody></table><p:stamp none/><i id="after">x</i></body></html>`
    await put(server, '/post.html', text)
    expect((await send('PUT', '/post.html', selecting('#after'), '<i id="after">y</i>')).status).to.equal(206)
    expect(await own()).to.contain('<i id="after">y</i></body>')
    expect((await send('GET', '/post.html', selecting('#after'))).text).to.equal('<i id="after">y</i>')
  })

  describe('COMP-147 directives in fragments', () => {
    const fragments: [what: string, selector: string, body: string][] = [
      ['an element with a live prefix', '#own', '<p:include selector="#a"></p:include>'],
      ['an attribute with a live prefix', '#own', '<b e:x="1">x</b>'],
      ['a declaration of a live namespace', '#own', `<b xmlns:q="${NS}/1.0">x</b>`],
      ['inside of a template', '#own', '<template><b e:x="1">x</b></template>'],
      ['text for the source of a template', '#host', '<b>{{ request }}</b>'],
    ]
    for (const [what, selector, body] of fragments)
      it(`${what}: 422 for those who may only add there, stored for those who may PUT the page`, async () => {
        await rules(['*', 'POST', 'Allow', '/post.html'])
        await leavesAlone(server, ['/data/a.html', '/post.html'], async () => {
          expect((await send('POST', '/post.html', selecting(selector), body)).status).to.equal(422)
        })
        await rules(['*', 'POST|PUT', 'Allow', '/post.html'])
        expect((await send('POST', '/post.html', selecting(selector), body)).status).to.equal(206)
      })

    it('into a document without declarations prefixes are ordinary markup', async () => {
      await rules(['*', 'POST', 'Allow', '/post.html'])
      const answer = await send('POST', '/post.html', selecting('#notes'), '<li e:x="1">x</li>')
      expect(answer.status).to.equal(206)
      const live = `<li xmlns:e="${NS}/Binding/Sessel">x</li>`
      expect((await send('POST', '/post.html', selecting('#notes'), live)).status).to.equal(422)
      for (const [path, status] of [
        ['/rules.html', 422],
        ['/post.html', 206],
        ['/data/a.html', 206],
      ] as const) {
        await rules(['*', 'POST', 'Allow', '/post.html'], ['*', 'PUT', 'Allow', path])
        expect((await send('POST', '/post.html', selecting('#notes'), live)).status, path).to.equal(status)
      }
    })
  })

  it('COMP-101 a concrete route path writes to projections alone', async () => {
    await put(server, '/r/:id.html', POST)
    await rules(['*', 'GET|POST|PUT', 'Allow', '/r/*'])
    expect((await send('POST', '/r/7.html', selecting('#notes'), '<li>r</li>')).status).to.equal(206)
    expect(await data()).to.contain('<li>r</li>')
    await leavesAlone(server, ['/r/:id.html'], async () => {
      expect((await send('PUT', '/r/7.html', selecting('#own'), '<p id="own">y</p>')).status).to.equal(416)
      const failing = { ...selecting('#own'), 'If-Match': '"other"' }
      expect((await send('PUT', '/r/7.html', failing, '<p id="own">y</p>')).status).to.equal(416)
      expect((await send('PUT', '/r/7.html', selecting('#nothing'), '<p></p>')).status).to.equal(416)
    })
    expect((await send('PUT', '/r/:id.html', selecting('#own'), '<p id="own">y</p>')).status).to.equal(206)
    await remove(server, '/r/:id.html')
  })

  it('COMP-68 selectors of writes see the page that the query asks for', async () => {
    await put(server, '/post.html', composed('<ul p:paginate="1"><li>1</li><li>2</li></ul>'))
    expect((await send('PUT', '/post.html?paginate:page=2', selecting('li'), '<li>b</li>')).status).to.equal(206)
    expect(await own()).to.contain('<li>1</li><li>b</li>')
  })
})
