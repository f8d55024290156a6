// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions have placeholders of their own
/** Writes that go through pages to where elements are stored, by the text of the rules. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { eventsOf, leavesAlone, selecting, textOf } from '../../http/write-checks.ts'
import { NS, page, put, rulesPage } from '../../support/content.ts'
import { composed } from './composing.ts'
import { caseSite, schema } from './site-of-one-case.ts'

const ALL = rulesPage(['*', 'GET|PUT|POST|DELETE|MOVE', 'Allow', '/*'])

describe('Writes through pages, by the text of the rules', () => {
  const site = caseSite()
  async function fill(files: Record<string, string>, rules = ALL) {
    await site.fill({ '/rules.html': rules, ...files })
  }
  describe('write-through', () => {
    const DATA = page('<article id="a"><h2>T</h2><ul id="notes"></ul></article><p id="after">z</p>')
    it('COMP-86 COMP-89 COMP-30 every way of projecting an element leads to its origin, and tells its subscribers alone', async () => {
      for (const [way, body] of [
        ['include', '<p:include selector="#a" resource="/data.html"/>'],
        ['stamp of a resource binding', '<div r:x="#a"><p:stamp x/></div>'],
        ['stamp of an expression', '<div e:x="${#a}.first()"><p:stamp x/></div>'],
        ['a method', '<div xmlns:t="urn:t"><t:give/></div>'],
        [
          'an include in the output of a template',
          '<div p:template="text/liquid">{% if true %}<p:include selector="#a" resource="/data.html"/>{% endif %}</div>',
        ],
        ['a paginated list', '<div p:paginate="1"><p:include selector="#a" resource="/data.html"/><p>2</p></div>'],
      ] as const) {
        await fill({
          '/data.html': DATA,
          '/page.html': composed(body),
          '/s.html': page(schema('urn:t', [{ name: 'give', sessel: '${#a}.first()' }])),
        })
        const stored = await textOf(site.server, '/page.html')
        const before = (await eventsOf(site.server, '/data.html')).length
        const pages = (await eventsOf(site.server, '/page.html')).length
        expect((await site.send('POST', '/page.html', selecting('#notes'), '<li>n</li>')).status, way).to.equal(206)
        expect((await site.send('PUT', '/page.html', selecting('#a h2'), '<h2>U</h2>')).status, way).to.equal(206)
        expect(await textOf(site.server, '/data.html'), way).to.equal(
          DATA.replace('></ul>', '><li>n</li></ul>').replace('>T<', '>U<'),
        )
        expect((await site.send('DELETE', '/page.html', selecting('#notes li'))).status, way).to.equal(204)
        expect(await textOf(site.server, '/page.html'), way).to.equal(stored)
        expect((await eventsOf(site.server, '/data.html')).length - before, way).to.equal(3)
        expect((await eventsOf(site.server, '/page.html')).length, way).to.equal(pages)
      }
    })

    it('COMP-86 416 for whatever is generated: template output, constructed elements, page links, XML alike', async () => {
      await fill({
        '/page.html': composed(
          '<div p:template="text/liquid"><i id="t">x</i></div><div e:x="new i#c { 1 }"><p:stamp x/></div><ul p:paginate="1"><li>1</li><li>2</li></ul>',
        ),
        '/x.xml': `<a xmlns:p="${NS}/1.0"><b p:template="text/liquid"><c/></b></a>`,
      })
      await leavesAlone(site.server, ['/page.html', '/x.xml'], async () => {
        for (const [path, selector, body] of [
          ['/page.html', '#t', '<i id="t">y</i>'],
          ['/page.html', '#c', '<i id="c">y</i>'],
          ['/page.html', 'link[rel=next]', '<link>'],
          ['/x.xml', 'c', '<c/>'],
        ] as const)
          for (const method of ['PUT', 'POST', 'DELETE'])
            expect((await site.send(method, path, selecting(selector), body)).status, `${method} ${selector}`).to.equal(
              416,
            )
      })
    })

    it('COMP-86 COMP-87 an element is found as the page shows it, by the rules of the page alone', async () => {
      const files = {
        '/data.html': DATA,
        '/page.html': composed('<main class="m"><p:include selector="#a" resource="/data.html"/></main>'),
      }
      await fill(
        files,
        rulesPage(['*', 'POST', 'Allow', '/page.html', '.m #notes'], ['*', 'GET|POST', 'Deny', '/data.html']),
      )
      expect((await site.send('GET', '/data.html')).status).to.equal(401)
      expect((await site.send('POST', '/page.html', selecting('.m > article > ul'), '<li>n</li>')).status).to.equal(206)
      expect(await textOf(site.server, '/data.html')).to.contain('<ul id="notes"><li>n</li></ul>')
      expect((await site.send('POST', '/page.html', selecting('#a'), '<li>n</li>')).status).to.equal(401)
      await fill(files, rulesPage(['*', 'POST', 'Allow', '/data.html']))
      expect(
        (await site.send('POST', '/page.html', selecting('#notes'), '<li>n</li>')).status,
        'the origin alone',
      ).to.equal(401)
    })

    it('COMP-29 the page shows what its reader may not open', async () => {
      await fill(
        {
          '/hidden/data.html': DATA,
          '/page.html': composed(
            '<p:include selector="#after" resource="/hidden/*"/><b r:x="#a h2"><p:stamp x/></b><i e:n="${#a h2}.first().text()"><p:stamp n/></i>',
          ),
        },
        rulesPage(['*', 'GET', 'Deny', '/hidden/*'], ['*', 'GET', 'Allow', '/page.html']),
      )
      expect((await site.send('GET', '/hidden/data.html')).status).to.equal(401)
      expect((await site.send('GET', '/page.html')).text).to.contain('<p id="after">z</p><b><h2>T</h2></b><i>T</i>')
    })

    it('COMP-5 who may not read the page sees no error of its composition', async () => {
      await fill({ '/page.html': composed('<p:include/>') }, rulesPage(['*', 'GET', 'Deny', '/page.html']))
      expect((await site.send('GET', '/page.html')).status).to.equal(401)
      expect((await site.send('GET', '/page.html', selecting('b'))).status).to.equal(401)
      const query = { 'Content-Type': 'text/css-selector' }
      expect((await site.send('QUERY', '/page.html', query, 'b')).status).to.equal(401)
      for (const method of ['PUT', 'POST', 'DELETE', 'PATCH'])
        expect((await site.send(method, '/page.html', selecting('b'), '<b></b>')).status, method).to.equal(401)
      expect((await site.send('POST', '/page.html', {}, 'x')).status).to.equal(401)
    })

    it('COMP-5 DEC-8 who would need a rule to write sees no error of the composition', async () => {
      await fill({ '/page.html': composed('<b>x</b><p:include/>') }, rulesPage(['*', 'GET', 'Allow', '/page.html']))
      expect((await site.send('GET', '/page.html', selecting('b'))).status, 'who may read does').to.equal(500)
      for (const method of ['PUT', 'POST', 'DELETE', 'PATCH'])
        expect((await site.send(method, '/page.html', selecting('b'), '<b></b>')).status, method).to.equal(401)
    })

    it('COMP-88 schemas of the origin judge what is written through a page', async () => {
      const type = `<div hidden itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="urn:post"><div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="title"><meta itemprop="cardinality" content="1..1"></div></div>`
      const data = page('<article id="a" itemscope itemtype="urn:post"><h2 itemprop="title">T</h2></article>')
      await fill({
        '/s.html': page(type),
        '/data.html': data,
        '/page.html': composed('<p:include selector="#a" resource="/data.html"/>'),
      })
      await leavesAlone(site.server, ['/data.html', '/page.html'], async () => {
        expect((await site.send('DELETE', '/page.html', selecting('#a h2'))).status).to.equal(422)
      })
    })

    it('COMP-89 appends through pages and directly, at once, all take effect', async () => {
      const pages = Object.fromEntries(
        Array.from({ length: 5 }, (_, i) => [
          `/p${i}.html`,
          composed('<p:include selector="#notes" resource="/data.html"/>'),
        ]),
      )
      await fill({ '/data.html': DATA, ...pages })
      const paths = [...Object.keys(pages), '/data.html']
      const all = Array.from({ length: 48 }, (_, i) => i)
      const answers = await Promise.all(
        all.map(i => site.send('POST', paths[i % paths.length] ?? '', selecting('#notes'), `<li>n${i};</li>`)),
      )
      for (const { status } of answers) expect(status).to.equal(206)
      const text = await textOf(site.server, '/data.html')
      for (const i of all) expect(text).to.contain(`<li>n${i};</li>`)
    })

    it('COMP-91 COMP-126 every tag of the same state is good for one write, of a changed target for none', async () => {
      const files = {
        '/data.html': DATA,
        '/page.html': composed(
          '<p id="own">o</p><p:include selector="#a" resource="/data.html"/><i r:x="#after" p:template="text/liquid">{{ x.size }}</i>',
        ),
      }
      for (const [what, read] of [
        ['the element', selecting('#notes')],
        ['a native one', selecting('#own')],
        ['the whole', {}],
      ] as const) {
        await fill(files)
        const { etag } = (await site.send('GET', '/page.html', read)).headers
        const write = () => site.send('POST', '/page.html', { ...selecting('#notes'), 'If-Match': etag }, '<li>n</li>')
        expect((await write()).status, what).to.equal(206)
        expect((await write()).status, `${what} again`).to.equal(412)
      }
      await fill(files)
      const { etag } = (await site.send('GET', '/page.html', selecting('#notes'))).headers
      await put(site.server, '/data.html', DATA.replace('>T<', '>U<'))
      const kept = await site.send('POST', '/page.html', { ...selecting('#notes'), 'If-Match': etag }, '<li>n</li>')
      expect(kept.status, 'something else of the origin changed').to.equal(206)
      const conditional = (etag?: string) =>
        site.send('GET', '/page.html', { ...selecting('#notes'), 'If-None-Match': etag })
      const now = (await site.send('GET', '/page.html', selecting('#notes'))).headers.etag
      expect((await conditional(now)).status).to.equal(304)
      expect((await conditional(etag)).status).to.equal(206)
    })

    it('COMP-147 a fragment with directives needs the right to write the whole', async () => {
      const files = { '/page.html': composed('<div id="d">x</div>'), '/plain.html': page('<div id="d">x</div>') }
      const hostile = [
        ['/page.html', '<p:include selector="#x"></p:include>'],
        ['/page.html', '<b><i e:x="1">y</i></b>'],
        ['/plain.html', `<b xmlns:q="${NS}/1.0">y</b>`],
        ['/plain.html', `<b xmlns:q="${NS}/Binding/Sessel" q:x="1">y</b>`],
      ] as const
      await fill(files, rulesPage(['*', 'POST|PUT', 'Allow', '/*', '#d'], ['*', 'GET', 'Allow', '/*']))
      for (const [path, body] of hostile)
        await leavesAlone(site.server, [path], async () => {
          expect((await site.send('POST', path, selecting('#d'), body)).status, body).to.equal(422)
          expect((await site.send('PUT', path, selecting('#d'), `<div id="d">${body}</div>`)).status, body).to.equal(
            422,
          )
        })
      expect(
        (await site.send('POST', '/plain.html', selecting('#d'), '<p:x e:y="1"></p:x>')).status,
        'no prefix there',
      ).to.equal(206)
      await fill(files, rulesPage(['*', 'POST|PUT', 'Allow', '/*']))
      for (const [path, body] of hostile) {
        await fill({ ...files, '/x.html': page('<b id="x">x</b>') }, rulesPage(['*', 'POST|PUT', 'Allow', '/*']))
        expect((await site.send('POST', path, selecting('#d'), body)).status, body).to.equal(206)
      }
    })
  })
})
