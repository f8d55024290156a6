// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selector literals of programs look like templates
/** What code makes of texts: a name with a prefix is that of a directive only where it stands in the code (COMP-145). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { NOWHERE, OwnNames } from '../../pipeline/language/own-names.ts'
import { notingNames, StoredNames } from '../../pipeline/language/stored-names.ts'
import { composed, PREFIXES } from '../pipeline/compose/composing.ts'
import { property, schema } from '../pipeline/model/markup.ts'
import { NS, page, put, putAll, remove, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const TYPE = 'https://tides.example/Made'
const INCLUDE = '<p:include selector="#secret" resource="/secret.html"></p:include>'
const LEAK = '(${#secret} from "/secret.html").first().text()'
const asText = (markup: string) => markup.replaceAll('<', '&lt;').replaceAll('"', '&quot;')
const IN_TEXT = asText(INCLUDE)
/** It binds its prefixes itself; `https:` stands in the code of whoever has an address there. */
const DECLARED = asText(
  `<div>${INCLUDE.replace(' ', ` xmlns:p="${NS}/1.0" `)}<b xmlns:e="${NS}/Binding/Sessel" e:x='${LEAK}'></b>` +
    `<i xmlns:https="${NS}/1.0">${INCLUDE.replaceAll('p:', 'https:')}</i></div>`,
)
const NAMED =
  `<b class="entry" title="${IN_TEXT}" data-own="${DECLARED}" data-tag="p:include" data-name="e:x" data-e:x='${LEAK}' ` +
  `data-p:template="text/liquid" data-declares="xmlns:e" data-selected="${asText('<p:first-child></p:first-child><p:last-child.x/>')}" data-as="${NS}/Binding/Sessel">${IN_TEXT}</b>`

const script = (slot: string, source: string) => ({
  markup: `<div itemprop="${slot}" itemscope itemtype="${NS}/JavaScript/Module"><script itemprop="source" type="module">${source}</script></div>`,
})
const sessel = (slot: string, source: string) => ({
  markup: `<script itemprop="${slot}" type="text/sessel">${source}</script>`,
})

/** Expressions of a page: what they make of an element `e` that a visitor has written. */
const MADE: [language: 'JavaScript' | 'Sessel', what: string, code: string][] = [
  ['JavaScript', 'its text as markup', 'let d = document.createElement("div"); d.innerHTML = e.textContent; return d'],
  [
    'JavaScript',
    'its text beside markup',
    'let d = document.createElement("div"); d.innerHTML = `<i></i>${e.title}`; return d',
  ],
  ['JavaScript', 'its text, parsed', 'return new DOMParser().parseFromString(e.title, "text/html").body.firstChild'],
  [
    'JavaScript',
    'its text, beside an element',
    'let d = document.createElement("b"); d.append(document.createElement("i")); d.firstChild.insertAdjacentHTML("afterend", e.title); return d',
  ],
  [
    'JavaScript',
    'a value as the name of an element',
    'let d = document.createElement(e.getAttribute("data-tag")); d.setAttribute("selector", "#secret"); d.setAttribute("resource", "/secret.html"); return d',
  ],
  [
    'JavaScript',
    'parts of names of attributes',
    'let d = document.createElement("b"); for (let a of [...e.attributes]) d.setAttribute(a.name.replace("data-", ""), a.value); d.textContent = "{{ x }}"; return d',
  ],
  ['Sessel', 'its text as an element', 'Element.fromString(e.text())'],
  ['Sessel', 'its text as a document', 'Document.parse(e.attr("title"))'],
  ['Sessel', 'its text as a whole one', 'Document.parse("<html><body>" + e.text() + "</body></html>")'],
  ['Sessel', 'its text as content', '(new div).setHTML(e.text())'],
  [
    'JavaScript',
    'its text, which declares prefixes',
    'let d = document.createElement("div", "https://x.example"); d.innerHTML = e.getAttribute("data-own"); return d',
  ],
  [
    'JavaScript',
    'a value as the name of a declaration',
    'let d = document.createElement("b"); d.setAttribute(e.getAttribute("data-declares"), e.getAttribute("data-as")); d.setAttribute(e.getAttribute("data-name"), e.getAttribute("data-e:x")); d.setAttribute("p:template", "text/liquid"); d.textContent = "{{ x }}"; return d',
  ],
  [
    'JavaScript',
    'its text, in a script with selectors like names',
    'let d = document.createElement("div"); d.innerHTML = e.textContent + e.getAttribute("data-selected"); d.querySelector("p:first-child"); d.querySelector("ul p:last-child.x, p:only-of-type~b"); return d',
  ],
  [
    'JavaScript',
    'its text, in a script with keys and labels like prefixes',
    'let o = {p:"",\n e:[0]}; e:for(;;) break e; let [p, x, include] = [0, 1, 2]; switch (3) { case p:include=1; break; case e:x=2 } x? p:include; let t = 1; x?t=p:include; x?t+p:include; x?t>p:include; x?typeof p:include; x?t && p:include; if (x)p:for(;;) break p; {}p:{}{}e:for(;;)break e; 0?new p:include; x?p:[x]; x?t/p:include; x?t%p:include; let d = document.createElement("div"); d.innerHTML = e.textContent; return d',
  ],
  ['Sessel', 'its text, which declares prefixes', 'Element.fromString(e.attr("data-own") + " https://x.example")'],
  [
    'Sessel',
    'a value as the name of a declaration',
    `(new b).attr(e.attr("data-declares"), e.attr("data-as")).attr(e.attr("data-name"), e.attr("data-e:x")).attr("p:template", "text/liquid").setHTML("{{ x }}")`,
  ],
  [
    'Sessel',
    'a value as the name of an attribute of a copy',
    `(\${.own} from "/own.html").first().clone().attr(e.attr("data-name"), e.attr("data-e:x")).attr("p:template", "text/liquid").setHTML("{{ x }}")`,
  ],
  [
    'Sessel',
    'a value as the name of an attribute',
    `(new b { new i }).attr(e.attr("data-name"), e.attr("data-e:x")).attr("p:template", "text/liquid").setHTML("{{ x }}")`,
  ],
]

const binding = (language: string, code: string) =>
  language === 'Sessel'
    ? `e:m='(\${.entry} from "/data.html").map(e => ${code})'`
    : `r:all=".entry" j:m='[all].flat().map(e => { ${code} })'`

describe('markup that code makes of texts', () => {
  let server: TestServer
  let http: Client
  /** Has a PUT of `/go.html` store another page. @param made what the action makes it of */
  async function storing(made: string): Promise<void> {
    const action = sessel('action', `@schema Site url("${NS}/1.0"); Site.PUT(${made}, "/made.html")`).markup
    const where = '<meta itemprop="resource" content="/go.html"><meta itemprop="method" content="PUT">'
    await put(server, '/trigger.html', page(`<div itemscope itemtype="${NS}/Trigger">${where}${action}</div>`))
    await put(server, '/more.html', rulesPage(['*', 'GET|PUT', 'Allow', '/made.html|/go.html']))
  }
  before(async () => {
    server = await startServer()
    http = client(server.port)
    const reads = 'new DOMParser("https://x.example").parseFromString(String(v), "text/html").body.firstElementChild'
    const parsed = { '@write': script('@write', `export default v => ${reads}`) }
    const read = { '@write': sessel('@write', 'Element.fromString(self.first().text() + " https://x.example")') }
    const lending = (text: string) => ({
      default: sessel('default', `Element.fromString((\${.entry} from "/data.html").first().${text})`),
    })
    const html = `<div itemprop="parameter" itemscope itemtype="${NS}/Parameter"><meta itemprop="name" content="html"></div>`
    const card = `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="card"><meta itemprop="static" content="true">${html}${sessel('implementation', 'new p { Element.fromString(html) }').markup}</div>`
    const outer = `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="outer"><meta itemprop="static" content="true">${sessel('implementation', `@schema T url("${TYPE}"); T.card("<p:stamp own></p:stamp>")`).markup}</div>`
    await putAll(server, {
      '/secret.html': page('<div id="secret"><b>TOPSECRET</b></div>'),
      '/data.html': page('<ul id="c"></ul>'),
      '/own.html': composed('<b class="own"></b>'),
      '/types.html': page(
        schema(TYPE, {}, card, outer) +
          schema(`${TYPE}/parsed`, {}, property('written', parsed)) +
          schema(`${TYPE}/read`, {}, property('written', read)) +
          schema(`${TYPE}/lent`, {}, property('missing', lending('text()'))) +
          schema(`${TYPE}/lent2`, {}, property('missing', lending('attr("data-own") + " https://x.example"'))),
      ),
      '/rules.html': rulesPage(
        ['*', 'POST', 'Allow', '/data.html|/page.html|/twin.html', '#c'],
        ['*', 'GET', 'Allow', '/show.html|/page.html'],
        ['*', 'GET', 'Deny', '/secret.html'],
      ),
    })
    expect((await http('POST', '/data.html', { Range: 'selector=#c' }, NAMED)).status).to.equal(206)
  })
  after(() => server.close())

  const shown = async (markup: string) => {
    await put(server, '/show.html', composed(markup))
    const { status, text } = await http('GET', '/show.html')
    expect(status, text).to.equal(200)
    return text
  }

  for (const [language, what, code] of MADE)
    it(`COMP-145 ${language} makes no directive of what a visitor has written: ${what}`, async () => {
      const text = await shown(`<div ${binding(language, code)}><p:stamp m></p:stamp></div>`)
      expect(text)
        .to.match(/p:include|e:x/)
        .and.not.include('TOPSECRET')
    })

  for (const [what, host] of [
    ['an expression', `j:m='[all].flat().map(a => { CODE })'`],
    ['one that looks at the document', `j:m='[all].flat().map(a => { document.querySelector("i"); CODE })'`],
    ['a method', `xmlns:t="${TYPE}/shown" t:made="1"`],
  ] as const)
    it(`COMP-12 COMP-145 nor by names of directives that stand where it is asked: ${what}`, async () => {
      const code = 'let d = document.createElement("div"); d.innerHTML = a.textContent; return d'
      const made = `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="made">${script('implementation', `export default () => [Context.all].flat().map(a => { ${code} })`).markup}</div>`
      await put(server, '/shown.html', page(schema(`${TYPE}/shown`, {}, made)))
      await put(server, '/twin.html', page('<ul id="c"></ul>'))
      const twin = `<li class="twin">${asText('<b r:all="#secret"><p:stamp all></p:stamp></b>')}</li>`
      expect((await http('POST', '/twin.html', { Range: 'selector=#c' }, twin)).status).to.equal(206)
      const text = await shown(`<div r:all=".twin" ${host.replace('CODE', code)}><p:stamp m></p:stamp></div>`)
      expect(text).to.include('<b r:all="#secret">').and.not.include('TOPSECRET')
    })

  for (const way of ['closest("section")', 'parentElement', 'previousSibling.parentNode'])
    it(`COMP-12 a method has the directives around an element that it is handed: ${way}`, async () => {
      const code = `export default () => [Context.all].flat()[0].${way}.cloneNode(true)`
      const made = `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="made">${script('implementation', code).markup}</div>`
      await put(server, '/shown.html', page(schema(`${TYPE}/shown`, {}, made)))
      const around = '<section e:x="5"><i></i><b class="within"></b><p:stamp x></p:stamp></section>'
      const text = await shown(
        `<div r:all=".within" xmlns:t="${TYPE}/shown" t:made="1">${around}<p:stamp made></p:stamp></div>`,
      )
      expect(text).to.include('<section><i></i><b class="within"></b>5</section>').and.not.include('e:x')
    })

  for (const [type, what, written] of [
    ['parsed', 'alone', IN_TEXT],
    ['parsed', 'with prefixes that it declares', DECLARED],
    ['read', 'alone', IN_TEXT],
    ['read', 'with prefixes that it declares', DECLARED],
    ['lent', 'alone', ''],
    ['lent2', 'with prefixes that it declares', ''],
  ] as const)
    it(`COMP-145 COMP-147 MOD-32 MOD-70 nor does it store one of a text, ${what}: ${type}`, async () => {
      await put(server, '/page.html', composed('<ul id="c"></ul>'))
      const item = `<li itemscope itemtype="${TYPE}/${type}"><b itemprop="written">${written}</b></li>`
      expect((await http('POST', '/page.html', { Range: 'selector=#c' }, item)).status).to.equal(206)
      const { status, text } = await http('GET', '/page.html')
      expect(status, text).to.equal(200)
      expect(text).to.include('<p:include').and.not.include('TOPSECRET')
    })

  for (const [what, name] of [
    ['', '<b {{ request.query.name }}'],
    [', also of captured text', '{% capture c %}{{ request.query.name }}{% endcapture %}<b {{ c }}'],
    [
      ', also behind branches that end in different places',
      '{% if no %}<i title="{% else %}<i lang="{% endif %}a">4</i><b {{ request.query.name }}',
    ],
    [
      ', also where only one of two branches ends in a tag',
      '{% if request.query.name %}<b {% else %}<i>4</i>{% endif %}{{ request.query.name }}',
    ],
  ])
    it(`COMP-145 LIQ-35 nor does a template of a value that it prints as the name of an attribute${what}`, async () => {
      const named = `${name}="{{ request.query.value }}"><p:stamp x></p:stamp></b>`
      await put(server, '/show.html', composed(`<div p:template="text/liquid" e:x="5">${named}</div>`))
      const { text } = await http('GET', `/show.html?${new URLSearchParams({ name: 'e:x', value: LEAK })}`)
      expect(text).to.match(/<b e&#58;x="[^"]+">5<\/b>/)
    })

  const VALUE = '{{ request.query.name }}="{{ request.query.value }}"'
  const STAMPED = '><p:stamp x></p:stamp></b>'
  for (const [what, markup] of [
    ['a loop begins once more in a tag', `{% for i in (1..2) %}${VALUE}${STAMPED}<b {% endfor %}>`],
    [
      'a loop goes on in a tag',
      `{% for i in (1..2) %}${VALUE}${STAMPED}<b {% if i == 1 %}{% continue %}{% endif %}>{% endfor %}`,
    ],
    ['a loop is left in a tag', `{% for i in (1..2) %}<b {% break %}>{% endfor %}${VALUE}${STAMPED}`],
    ['a branch begins a value', `<b title {% if no %}={% endif %}${VALUE}${STAMPED}`],
    [
      'a branch begins a value, of captured text',
      `{% capture c %}{{ request.query.name }}{% endcapture %}<b title {% if no %}={% endif %}{{ c }}="{{ request.query.value }}"${STAMPED}`,
    ],
    [
      'a loop begins with a value',
      `<b {% for i in (1..2) %}{% if i == 1 %}x={% endif %}${VALUE} {% endfor %}${STAMPED}`,
    ],
  ] as const)
    it(`COMP-145 LIQ-35 nor does a template where ${what}`, async () => {
      await put(server, '/show.html', composed(`<div p:template="text/liquid" e:x="5">${markup}</div>`))
      const { text } = await http('GET', `/show.html?${new URLSearchParams({ name: 'e:x', value: LEAK })}`)
      expect(text)
        .to.match(/e(?:&#58;|:)x=/)
        .and.not.include('TOPSECRET')
    })

  for (const [what, before] of [
    ['in a branch', 'title={% if no %}long{% endif %}'],
    ['in one of several', 'title={% case no %}{% when 1 %}{{ no }}{% when 2 %}long{% endcase %}'],
    ['in a loop', 'title={% for i in no %}long{% endfor %}'],
    ['in what is captured', 'title={% capture c %}long{% endcapture %}'],
    ['before a branch', 'title={{ no }}{% if no %} id="long"{% endif %}'],
    ['in one of two branches', '{% unless no %}title={{ no }}{% else %}id="long"{% endunless %}'],
    ['before a branch that goes on with it', 'title={{ no }}{% if no %}long id=a{% else %}{% endif %}'],
  ])
    it(`COMP-145 LIQ-35 nor does a template behind an unquoted value that is empty as it stands ${what}`, async () => {
      const markup = `<b ${before} lang="{{ request.query.value }}"${STAMPED}`
      await put(server, '/show.html', composed(`<div p:template="text/liquid" e:x="5">${markup}</div>`))
      const value = `y e:x=${LEAK.replaceAll('"', "'").replaceAll(' ', '')} `
      const { text } = await http('GET', `/show.html?${new URLSearchParams({ value })}`)
      expect(text).to.include('<b title="" lang="y e:x=(').and.include('>5</b>')
    })
  for (const [what, quote] of [
    ['of captured text', '{% capture q %}"{% endcapture %}<b title="a{{ q }}'],
    ['that the author vouches for', '<b title="a{{ \'"\' | raw }}'],
  ])
    it(`COMP-145 LIQ-35 nor does a template in which a value ends by a quote ${what}`, async () => {
      const markup = `${quote} lang={{ request.query.value }}${STAMPED}`
      await put(server, '/show.html', composed(`<div p:template="text/liquid" e:x="5">${markup}</div>`))
      const value = `y e:x=${LEAK.replaceAll('"', "'").replaceAll(' ', '')}`
      const { status, text } = await http('GET', `/show.html?${new URLSearchParams({ value })}`)
      expect(status, text).to.equal(200)
      expect(text).to.not.include('TOPSECRET')
      expect(text).to.include('>5</b>')
    })

  for (const [what, markup] of [
    [
      'a script by captured text',
      `{% capture end %}</script>{% endcapture %}<script>1{{ end }}<b lang="{{ request.query.value }}"`,
    ],
    ['a script by what its author vouches for', `<script>1{{ "</script>" | raw }}<b lang="{{ request.query.value }}"`],
    ['a comment', `{% capture end %}-->{% endcapture %}<!-- {{ end }}<b lang={{ request.query.value }}`],
    ['a comment in part', `{% capture end %}--{% endcapture %}<!-- {{ end }}><b lang={{ request.query.value }}`],
  ] as const)
    it(`COMP-145 LIQ-35 nor does a template that ends ${what}`, async () => {
      await put(server, '/show.html', composed(`<div p:template="text/liquid" e:x="5">${markup}${STAMPED}</div>`))
      const value = `${markup.endsWith('"') ? '"' : 'y'} e:x=${LEAK.replaceAll('"', "'").replaceAll(' ', '')} y="`
      const { status, text } = await http('GET', `/show.html?${new URLSearchParams({ value })}`)
      expect(status, text).to.equal(200)
      expect(text).to.not.include('TOPSECRET')
    })

  it('COMP-145 LIQ-35 nor where a loop begins once more behind such a value', async () => {
    const markup = `<b{% for i in (1..2) %} lang="{{ request.query.value }}" title={{ no }}{% endfor %}${STAMPED}`
    await put(server, '/show.html', composed(`<div p:template="text/liquid" e:x="5">${markup}</div>`))
    const { text } = await http('GET', `/show.html?${new URLSearchParams({ value: 'y e:x=1 ' })}`)
    expect(text).to.include('<b lang="y e:x=1 " title="">5</b>')
  })

  for (const [language, code] of [
    ['JavaScript', 'let d = document.createElement("p"); d.innerHTML = "<p:stamp own></p:stamp>"; return d'],
    [
      'JavaScript',
      'let d = document.createElement("p"); d.append(document.createElement("p:stamp")); d.firstChild.setAttribute("own", ""); return d',
    ],
    [
      'JavaScript',
      'let d = document.createElement("p"); d.innerHTML = ["stamp"].map(n => `<p:${n} own>`).join(); return d',
    ],
    [
      'JavaScript',
      'let d = document.createElement("p"); d.setAttribute("e:" + "y", "5"); d.innerHTML = "<P:STAMP y/>"; return d',
    ],
    [
      'JavaScript',
      'let d = document.createElement("div"); d.innerHTML = `<i width=100% e:y="5"><p><p:stamp y></p:stamp></p></i>`; return d',
    ],
    ['Sessel', 'Element.fromString("<p><p:stamp own></p:stamp></p>")'],
    ['Sessel', '(new p).attr("e:y", "5").setHTML("<p:stamp y></p:stamp>")'],
  ] as const)
    it(`COMP-12 what stands in the code itself runs: ${language} ${code}`, async () => {
      const text = await shown(`<div e:own="5" ${binding(language, code)}><p:stamp m></p:stamp></div>`)
      expect(text).to.include('<p>5</p>')
    })

  it('COMP-12 so does what code has built that it is handed by other code', async () => {
    const made = `e:m='new p { Element.fromString("<p:stamp own></p:stamp>") }'`
    const copied = `j:n='(() => { let d = document.createElement("div"); d.innerHTML = m.outerHTML; return d.firstChild })()'`
    expect(await shown(`<div e:own="5" ${made} ${copied}><p:stamp n></p:stamp></div>`)).to.include('<p>5</p>')
  })

  it('COMP-145 markup of a stored element means what it means there, also where its names stand in the code', async () => {
    const literal = `<i e:y="2"><p:stamp y></p:stamp></i>`.replaceAll('"', '\\"')
    const markup = (selector: string, path: string) =>
      `e:m='(\${${selector}} from "${path}").map(e => new p { Element.fromString("<div>" + e.getHTML() + "</div>"), "${literal} e:x" })'`
    const [entry, own] = [`<b e:x='${LEAK}'><p:stamp x></p:stamp></b>`, `<b e:x="5"><p:stamp x></p:stamp></b>`]
    await putAll(server, {
      '/list.html': page(`<div class="entry">${entry}</div>`),
      '/page.html': composed(`<div class="own">${own}</div>`),
    })
    const data = await shown(`<div ${markup('.entry', '/list.html')}><p:stamp m></p:stamp></div>`)
    expect(data).to.include('e:x=').and.include('p:stamp x').and.not.include('TOPSECRET')
    expect(await shown(`<div ${markup('.own', '/page.html')}><p:stamp m></p:stamp></div>`)).to.include('<b>5</b>')
  })

  it('COMP-12 COMP-145 and what a method makes of a text that stands in what has called it, but of no other', async () => {
    const calls = (text: string) => `e:m='@schema T url("${TYPE}"); T.card(${text})'`
    const own = await shown(`<div e:own="5" ${calls('"<p:stamp own></p:stamp>"')}><p:stamp m></p:stamp></div>`)
    expect(own).to.include('<p>5</p>')
    const within = `e:m='@schema T url("${TYPE}"); T.outer()'`
    expect(await shown(`<div e:own="5" ${within}><p:stamp m></p:stamp></div>`)).to.include('<p>5</p>')
    const entry = '(${.entry} from "/data.html").first().text()'
    const data = await shown(`<div ${calls(entry)}><p:stamp m></p:stamp></div>`)
    expect(data).to.include('<p:include').and.not.include('TOPSECRET')
  })

  for (const code of [
    'e:m=\'Element.fromString("<div>" + ${#t}.first().getHTML() + "</div>")\'',
    "e:m='${#t}.first().content().map(each => each.clone())'",
    `j:m='(() => { let d = document.createElement("div"); d.innerHTML = document.querySelector("#t").innerHTML; return d })()'`,
  ])
    it(`COMP-12 COMP-147 what a template of HTML holds means in a copy what it means in its page, where no visitor has it: ${code}`, async () => {
      const holding = (markup: string, id = 't') => `<template id="${id}"><p>${markup}</p></template>`
      const stamp = '<p:stamp m></p:stamp>'
      const text = await shown(`<div e:own="5" ${code}>${holding('<p:stamp own></p:stamp>')}${stamp}</div>`)
      expect(text).to.include('<p>5</p>')
      await putAll(server, { '/list.html': page(holding(INCLUDE, 'u')), '/page.html': composed('<ul id="c"></ul>') })
      const other = code.replace('${#t}', '(${#u} from "/list.html")').replace('document.querySelector("#t")', 't[0]')
      const data = await shown(`<div r:t="#u" ${other}>${stamp}</div>`)
      expect(data).to.include('<p:include').and.not.include('TOPSECRET')
      expect((await http('POST', '/page.html', { Range: 'selector=#c' }, holding(INCLUDE))).status).to.equal(422)
    })

  it('COMP-145 SEC-12 names are looked for in turns, however few elements have them', () => {
    const attrs = Array.from({ length: 500 }, (_, i) => ({ name: `p:${i}`, value: '' }))
    const elements = Array.from({ length: 20 }, () => ({ ...NOWHERE, attrs }))
    expect([...notingNames(elements, new StoredNames(new OwnNames('')))]).to.have.lengthOf(20)
  })

  for (const [where, html, body] of [
    ['on both', PREFIXES, PREFIXES],
    ['on the root', PREFIXES, ''],
    ['on the body', `xmlns:e="${NS}/Binding/Sessel"`, PREFIXES],
  ] as const)
    it(`COMP-145 COMP-147 REA-60 nor is one that HTML gives to the body of a page, or moves into it, where an action stores it: prefixes are declared ${where}`, async () => {
      const own = `<!DOCTYPE html><html ${html} e:who='"own"'><head><title>t</title></head><body ${body}><p><p:stamp who></p:stamp></p></body></html>`
      await putAll(server, { '/own-body.html': own, '/made.html': page('') })
      const made =
        '(${html} from "/own-body.html").first().clone().append(new div { Document.parse(Context.request.body) })'
      await storing(made)
      const sent = await http('PUT', '/go.html', {}, `<body e:who='${LEAK}' p:y=""><i>1</i>${INCLUDE}</body>`)
      expect(sent.status, sent.text).to.be.oneOf([200, 201])
      await remove(server, '/trigger.html')
      const { text } = await http('GET', '/made.html')
      expect(text).not.to.include('TOPSECRET')
      expect(text).to.include('<p>own</p>').and.include('<i>1</i>')
    })

  for (const [what, sent] of [
    ['plaintext', '<plaintext>x'],
    ['a script that holds its own end', '<script><!--<script>'],
    ['a frameset', '<!DOCTYPE html><frameset></frameset>'],
  ])
    it(`COMP-147 REA-60 nor are directives of an author text, or gone, behind ${what} of a visitor that an action stores`, async () => {
      const own = `<p e:own='"SOURCE"'></p>${INCLUDE.replace('secret.html', 'data.html')}`
      await putAll(server, { '/own-page.html': composed(own), '/made.html': page('') })
      const made =
        '(${html} from "/own-page.html").first().clone().prepend(new div { Document.parse(Context.request.body) })'
      await storing(made)
      const { status } = await http('PUT', '/go.html', {}, sent)
      await remove(server, '/trigger.html')
      const { text } = await http('GET', '/made.html')
      expect(text).not.to.include('SOURCE')
      expect(status).to.equal(500)
    })

  it('COMP-107 COMP-147 nor is one that HTML moves into the body of a page that a POST makes', async () => {
    const head = `<head r:l=".moved"><title>t</title><base href="/made.html"><q:stamp l></q:stamp></head>`
    const made = `<!DOCTYPE html><html xmlns:q="${NS}/1.0" xmlns:r="${NS}/Binding/CSS">${head}<body ${PREFIXES}></body></html>`
    await putAll(server, { '/make.html': made, '/list.html': page(`<ul><li class="moved">${INCLUDE}</li></ul>`) })
    await put(server, '/more.html', rulesPage(['*', 'GET|PUT|POST', 'Allow', '/made.html|/make.html']))
    expect((await http('POST', '/make.html', {}, 'x')).status).to.equal(301)
    const { text } = await http('GET', '/made.html')
    expect(text).to.include('<li class="moved">').and.not.include('TOPSECRET')
  })

  for (const around of ['svg', 'math', 'div'])
    it(`COMP-107 COMP-147 nor is one in a template of a visitor that a page which a POST makes has in a ${around}`, async () => {
      const made = `<div r:l=".inert"><${around}><p:stamp l></p:stamp></${around}></div>`
      await putAll(server, {
        '/make.html': composed(made, '<title>t</title><base href="/made.html">'),
        '/list.html': page(`<ul><li><template class="inert">${INCLUDE}</template></li></ul>`),
        '/more.html': rulesPage(['*', 'GET|PUT|POST', 'Allow', '/made.html|/make.html']),
      })
      expect((await http('POST', '/make.html', {}, 'x')).status).to.equal(301)
      const { text } = await http('GET', '/made.html')
      expect(text).to.include('<template class="inert">').and.not.include('TOPSECRET')
    })

  for (const get of [
    'document.querySelector(".entry")',
    'document.querySelector(".entry").cloneNode(true)',
    '(() => { let d = document.createElement("div"); d.innerHTML = document.querySelector(".entry").outerHTML; return d })()',
    // `http:` stands in it, by which a visitor calls an element that another value of theirs declares for HTML alone.
    '(() => { let [v, d] = [document.querySelector(".entry"), document.createElementNS("http://www.w3.org/2000/svg", "svg")]; d.setAttribute(v.title, v.id); d.innerHTML = v.lang; d.setAttribute("class", "entry"); return d })()',
  ])
    it(`COMP-145 COMP-147 REA-60 nor does an action store what a script has found in the document of the request: ${get}`, async () => {
      const own = `<i class="own" e:y='"own"'><p:stamp y></p:stamp></i>`
      const list = `<ul id="c"><li class="entry" title="xmlns:HTTP" id="${NS}/1.0" lang="${asText(INCLUDE.replaceAll('p:', 'http:'))}"><b e:x='${LEAK}'><p:stamp x></p:stamp></b></li></ul>`
      await putAll(server, { '/list.html': page(list), '/page.html': composed(own) })
      const script = `// e:x p:stamp\nexport default () => { Context.x = ${get}; return true }`
      const when = `<div itemprop="when" itemscope itemtype="${NS}/JavaScript/Module"><script itemprop="source" type="module">${script}</script></div>`
      const made = '(${html} from "/page.html").first().clone().append(new div { Context.x })'
      const action = sessel('action', `@schema Site url("${NS}/1.0"); Site.PUT(${made}, "/made.html")`).markup
      const where = '<meta itemprop="resource" content="/list.html"><meta itemprop="method" content="POST">'
      await put(server, '/trigger.html', page(`<div itemscope itemtype="${NS}/Trigger">${where}${when}${action}</div>`))
      await put(
        server,
        '/more.html',
        rulesPage(['*', 'POST', 'Allow', '/list.html', '#c'], ['*', 'GET|PUT', 'Allow', '/made.html']),
      )
      expect((await http('POST', '/list.html', { Range: 'selector=#c' }, '<li>1</li>')).status).to.equal(206)
      await remove(server, '/trigger.html')
      const { status, text } = await http('GET', '/made.html')
      expect(status, text).to.equal(200)
      expect(text).to.include('<i class="own">own</i>').and.include('class="entry"').and.not.include('TOPSECRET')
    })
})
