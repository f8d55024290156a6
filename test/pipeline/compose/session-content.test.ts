// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions have placeholders of their own
/** What visitors keep in their sessions, through a real server and by the text of the rules. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { inert } from '../../../pipeline/compose/session-copies.ts'
import { Registry } from '../../../pipeline/model/registry.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { Prefixes } from '../../../pipeline/tree/prefixes.ts'
import { selecting, textOf } from '../../http/write-checks.ts'
import { NS, page, rulesPage } from '../../support/content.ts'
import type { Fields } from '../../support/http.ts'
import { waitingFor } from '../../support/long-waits.ts'
import { stepsOf } from '../../support/steps.ts'
import { composed } from './composing.ts'
import { caseSite } from './site-of-one-case.ts'

const ALL = rulesPage(['*', 'GET|PUT|POST|DELETE|MOVE', 'Allow', '/*'])

describe('Session content, by the text of the rules', () => {
  const site = caseSite()
  async function fill(files: Record<string, string>, rules = ALL) {
    await site.fill({ '/rules.html': rules, ...files })
  }
  const visitor = async () => {
    const cookie = (await site.send('GET', '/page.html')).headers['set-cookie']?.split(';')[0] ?? ''
    return (method: string, fields: Fields = {}, body?: string, path = '/page.html') =>
      site.send(method, path, { Cookie: cookie, ...fields }, body)
  }

  describe('transient elements', () => {
    it('COMP-73 COMP-74 the example: a site without any rules', async () => {
      await site.fill({ '/page.html': composed('<ul id="cart" p:transient><li>Empty</li></ul>') })
      const [ada, bob] = [await visitor(), await visitor()]
      expect((await ada('PUT', selecting('#cart'), '<ul id="cart"><li>Pen</li></ul>')).status).to.equal(206)
      const own = await ada('GET')
      expect(own.text).to.contain('<ul id="cart"><li>Pen</li></ul>')
      expect(own.headers['cache-control']).to.equal('private, no-cache')
      expect(own.text).not.to.contain('transient')
      expect((await bob('GET')).text).to.contain('Empty')
    })

    it('COMP-73 a value is ignored, and the default may be made by directives', async () => {
      await site.fill({
        '/page.html': composed('<ul id="cart" p:transient="60" e:n="3"><li><p:stamp n/></li></ul>'),
      })
      const ask = await visitor()
      expect((await ask('GET', selecting('#cart'))).text).to.equal('<ul id="cart"><li>3</li></ul>')
      expect((await ask('POST', selecting('#cart'), '<li>4</li>')).status).to.equal(206)
      expect((await ask('GET', selecting('#cart'))).text).to.equal('<ul id="cart"><li>3</li><li>4</li></ul>')
    })

    it('COMP-75 a PUT that no longer matches is 422, another id or none too, another tag is not', async () => {
      await site.fill({ '/page.html': composed('<ul id="cart" class="c" p:transient><li>d</li></ul>') })
      const ask = await visitor()
      for (const [selector, body, status] of [
        ['ul.c', '<ul id="cart"><li>1</li></ul>', 422],
        ['#cart', '<ul id="other"></ul>', 422],
        ['.c', '<ul class="c"></ul>', 422],
        ['.c', '<ul class="c" id="other"></ul>', 422],
        ['#cart', '<ul id="cart"></ul><p></p>', 422],
        ['#cart', '', 400],
        ['#cart', ' \f', 400],
        ['#cart', '\u00a0<ul id="cart"></ul>', 422],
        ['#cart li', '<b>x</b>', 422],
        ['#cart', '<ol id="cart"><li>1</li></ol>', 206],
        ['#cart li', '<li>2</li>', 206],
      ] as const)
        expect((await ask('PUT', selecting(selector), body)).status, `${selector} ${body}`).to.equal(status)
      expect((await ask('GET', selecting('#cart'))).text).to.equal('<ol id="cart"><li>2</li></ol>')
      expect((await ask('DELETE', selecting('#cart li'))).status).to.equal(204)
      expect((await ask('GET', selecting('#cart'))).text).to.equal('<ol id="cart"></ol>')
      expect((await ask('DELETE', selecting('#cart'))).status).to.equal(204)
      expect((await ask('GET', selecting('#cart'))).text).to.equal('<ul id="cart" class="c"><li>d</li></ul>')
    })

    it('COMP-75 the marker may be in the body, and is kept without', async () => {
      await site.fill({ '/page.html': composed('<ul id="cart" p:transient></ul>') })
      const ask = await visitor()
      expect((await ask('PUT', selecting('#cart'), '<ul id="cart" p:transient><li>1</li></ul>')).status).to.equal(206)
      expect((await ask('POST', selecting('#cart'), '<li>2</li>')).status).to.equal(206)
      expect((await ask('GET', selecting('#cart'))).text).to.equal('<ul id="cart"><li>1</li><li>2</li></ul>')
      expect(await textOf(site.server, '/page.html')).to.contain('<ul id="cart" p:transient></ul>')
    })

    it('COMP-74 the four places inside of it', async () => {
      await site.fill({ '/page.html': composed('<ul id="cart" p:transient><li id="a">a</li></ul>') })
      const ask = await visitor()
      for (const [place, body] of [
        ['#cart', '<li>append</li>'],
        ['#cart; placement=prepend', '<li>prepend</li>'],
        ['#a; placement=before', '<li>before</li>'],
        ['#a; placement=after', '<li>after</li>'],
      ] as const)
        expect((await ask('POST', selecting(place), body)).status, place).to.equal(206)
      expect(
        (await ask('GET', selecting('#cart'))).text
          .replace(/<[^>]*>/g, ' ')
          .split(/\s+/)
          .filter(Boolean),
      ).to.deep.equal(['prepend', 'before', 'a', 'after', 'append'])
    })

    for (const [what, path, stored, shown, wrote] of [
      [
        'an HTML element in XML',
        '/list.xml',
        `<f xmlns:p="${NS}/1.0"><p:include selector="#own" resource="/page.html"/></f>`,
        '<u id="own" xmlns="http://www.w3.org/1999/xhtml">a<br/>b\u00a0</u>',
        '<u id="own">a<br>b&nbsp;</u>',
      ],
      [
        'a row outside of its table',
        '/rows.html',
        composed('<div><p:include selector="#own" resource="/page.html"></p:include></div>'),
        '<div><tr id="own"><td>b</td></tr></div>',
        '<tr id="own"><td>b</td></tr>',
      ],
    ] as const)
      it(`COMP-80 pages of all kinds show one copy as it was written: ${what}`, async () => {
        const tag = wrote.slice(1, 3).trim()
        const marked = `<${tag} id="own" p:transient></${tag}>`
        await site.fill({ '/page.html': composed(tag === 'tr' ? `<table>${marked}</table>` : marked), [path]: stored })
        const ask = await visitor()
        expect((await ask('PUT', selecting('#own'), wrote)).status).to.equal(206)
        expect((await ask('GET', {}, undefined, path)).text).to.contain(shown)
        expect((await ask('POST', selecting('#own'), '<td>c</td>', path)).status).to.equal(206)
      })

    it('COMP-81 what a session holds is inert in every form', async () => {
      await site.fill({
        '/page.html': composed('<div id="c" p:transient e:n="7">d</div>'),
        '/secret.html': page('<b id="secret">secret</b>'),
      })
      const ask = await visitor()
      for (const hostile of [
        '<p:include selector="#secret"></p:include>',
        '<P:INCLUDE selector="#secret"></P:INCLUDE>',
        `<b xmlns:z="${NS}/1.0"><z:include selector="#secret"></z:include></b>`,
        '<b r:x="#secret" p:template="text/liquid">{% for i in x %}{{ i["@text"] }}{% endfor %}</b>',
        '<b e:x="${#secret}.first()"><p:stamp x></p:stamp></b>',
        '<template><p:include selector="#secret"></p:include></template>',
        '<svg><p:include selector="#secret"/></svg>',
        '<b p:paginate="0">x</b>',
        '<b p:transient>y</b>',
      ]) {
        expect((await ask('PUT', selecting('#c'), `<div id="c">${hostile}</div>`)).status, hostile).to.equal(206)
        const answer = await ask('GET')
        expect(answer.status, hostile).to.equal(200)
        expect(answer.text, hostile)
          .not.to.contain('secret</b>')
          .and.not.match(/<p:|p:paginate|p:transient|e:x|r:x/i)
      }
    })

    it('COMP-78 nobody but the session sees its copy: pages that bind, include or query it, QUERY, other sessions', async () => {
      await site.fill({
        '/page.html': composed('<b id="c" class="c" p:transient>default</b>'),
        '/other.html': composed(
          '<i r:x=".c"><p:stamp x/></i><p:include selector="#c" resource="/page.html"/><u e:t="${.c}.first().text()"><p:stamp t/></u>',
        ),
        '/rules.html': ALL,
      })
      const ask = await visitor()
      await ask('PUT', selecting('#c'), '<b id="c" class="c">mine</b>')
      const other = (await ask('GET', {}, undefined, '/other.html')).text
      expect(other).to.contain('<u>default</u>')
      expect((await site.send('GET', '/page.html', selecting('#c'))).text).to.contain('default')
      expect((await ask('QUERY', { 'Content-Type': 'text/css-selector' }, '#c')).text).to.contain('mine')
    })

    it('COMP-79 DEC-8 a Deny refuses, one on the element as well; what may not be read cannot be written', async () => {
      const files = { '/page.html': composed('<b id="c" p:transient>d</b><b id="e" p:transient>e</b>') }
      await fill(files, rulesPage(['*', 'POST', 'Deny', '/page.html', '#c']))
      const ask = await visitor()
      expect((await ask('POST', selecting('#c'), 'x<i></i>')).status).to.equal(401)
      expect((await ask('POST', selecting('#e'), '<i></i>')).status).to.equal(206)
      await fill(files, rulesPage(['*', 'GET', 'Deny', '/page.html']))
      expect((await ask('PUT', selecting('#c'), '<b id="c"></b>')).status).to.equal(401)
    })

    it('SES-213 HTTP-4 a write takes no time of its allowance while it waits for others, of its session or of what is stored', async () => {
      await site.fill({
        '/rules.html': ALL,
        '/page.html': composed(
          `<ul id="cart" p:transient></ul><b id="b">x</b><p p:template="text/liquid">{% for i in (1..1100) %}{% endfor %}</p>`,
        ),
      })
      const ask = await visitor()
      await waitingFor(site.server.site.leases, 6000, async () => {
        for (const [selector, body] of [
          ['#cart', '<li>1</li>'],
          ['#b', '<i>2</i>'],
        ] as const)
          expect((await ask('POST', selecting(selector), body)).status, selector).to.equal(206)
      })
    })

    it('COMP-82 more than the site allows is 413, and the connection may go on', async () => {
      await site.fill({ '/page.html': composed('<div id="c" p:transient>d</div>') })
      const ask = await visitor()
      const answer = await ask('PUT', selecting('#c'), `<div id="c">${'x'.repeat(256 * 1024)}</div>`)
      expect(answer.status).to.equal(413)
      expect(answer.text).to.contain('PayloadTooLarge')
      expect((await ask('GET', selecting('#c'))).text).to.equal('<div id="c">d</div>')
      expect((await ask('PUT', selecting('#c'), `<div id="c">${'x'.repeat(255 * 1024)}</div>`)).status).to.equal(206)
    })

    it('COMP-82 SEC-12 what is too large is known before anybody judges it', async () => {
      await site.fill({ '/page.html': composed('<div id="c" class="a" p:transient>d</div>') })
      const ask = await visitor()
      const large = `<div id="c">${'x'.repeat(256 * 1024)}</div>`
      expect((await ask('PUT', selecting('.a'), large)).status).to.equal(413)
      expect((await ask('PUT', selecting('.a'), '<div id="c"></div>')).status).to.equal(422)
    })

    it('COMP-81 SEC-12 directives are taken out of what a visitor sends in steps', () => {
      const { root } = parseDocument('html', '<i></i>'.repeat(20_000))
      const model = Registry.empty({ ns: NS, schemaHost: 'urn:host' })
      expect(stepsOf(inert(model, root.childNodes, Prefixes.none))).to.be.at.least(40)
    })
  })
})
