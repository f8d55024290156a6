/** Which elements are templates and what their source is (LIQ-1 to LIQ-9), as visitors meet it. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { composed, served } from '../../pipeline/compose/composing.ts'
import { NS, put } from '../../support/content.ts'
import { failureOf, templates } from './rendering.ts'

const T = 'p:template="text/liquid"'
const URI = `${NS}/1.0`

/** Whole documents, and what is served of them. */
const documents: [title: string, stored: string, expected: string][] = [
  [
    'LIQ-1 any prefix that is bound to the vocabulary',
    `<!doctype html><html xmlns:tpl="${URI}"><head></head><body><p tpl:template="text/liquid">{{ 1 }}</p></body></html>`,
    '<!DOCTYPE html><html><head></head><body><p>1</p></body></html>',
  ],
  [
    'LIQ-1 the declaration may stand on the host',
    `<!doctype html><p xmlns:q="${URI}" q:template="text/liquid">{{ 1 }}</p>`,
    '<!DOCTYPE html><html><head></head><body><p>1</p></body></html>',
  ],
  [
    'LIQ-1 the value is trimmed and compared without case',
    composed('<p p:template=" Text/LIQUID\n">{{ 1 }}</p>'),
    served('<p>1</p>'),
  ],
  ['LIQ-1 the attribute is found in any case', composed('<p P:TEMPLATE="text/liquid">{{ 1 }}</p>'), served('<p>1</p>')],
  [
    'LIQ-2 a prefix that is not bound declares nothing',
    composed('<p x:template="text/liquid">{{ 1 }}</p>'),
    served('<p x:template="text/liquid">{{ 1 }}</p>'),
  ],
  [
    'LIQ-2 a prefix that is bound to something else declares nothing',
    `<!doctype html><html xmlns:p="urn:else"><head></head><body><p ${T}>{{ 1 }}</p></body></html>`,
    '<!DOCTYPE html><html><head></head><body><p>{{ 1 }}</p></body></html>',
  ],
  [
    'LIQ-2 nor does the attribute without prefix',
    composed('<p template="text/liquid">{{ 1 }}</p>'),
    served('<p template="text/liquid">{{ 1 }}</p>'),
  ],
  [
    'LIQ-2 text outside of hosts stays, behind them too',
    composed(`{{ a }}<p ${T}>{{ 1 }}</p>{% if x %}<i title="{{ b }}"></i>`),
    served('{{ a }}<p>1</p>{% if x %}<i title="{{ b }}"></i>'),
  ],
  [
    'LIQ-3 attributes of the host are no template',
    composed(`<p class="{{ c }}" ${T} title="{% if %}">{{ 1 }}</p>`),
    served('<p class="{{ c }}" title="{% if %}">1</p>'),
  ],
  [
    'LIQ-3 nor are values of bindings',
    composed(`<p j:x="'{{ 1 }}'" r:y="[title='{{ 1 }}']" e:z="'{% if %}'" ${T}>{{ x }}{{ y.size }}{{ z }}</p>`),
    served('<p>{{ 1 }}0{% if %}</p>'),
  ],
  [
    'LIQ-3 nor are scripts, styles and comments outside of hosts',
    composed('<script>{{ a }}</script><style>{{ b }}</style><!--{{ c }}-->'),
    served('<script>{{ a }}</script><style>{{ b }}</style><!--{{ c }}-->'),
  ],
  [
    'LIQ-4 the host stays with its attributes, its content is replaced',
    composed(`<main class="calc" ${T} id="m">{{ 2 | plus: 3 }}</main>`),
    served('<main class="calc" id="m">5</main>'),
  ],
  ['LIQ-4 a host without content', composed(`<p ${T}></p>`), served('<p></p>')],
  [
    'LIQ-5 rows of a table',
    composed(`<table ${T}><tbody>{% for n in (1..2) %}<tr><td>{{ n }}</td></tr>{% endfor %}</tbody></table>`),
    served('<table><tbody><tr><td>1</td></tr><tr><td>2</td></tr></tbody></table>'),
  ],
  [
    'LIQ-5 a body of a table, and its text is not moved',
    composed(`<table><tbody ${T}>{% for n in (1..2) %}<tr><td>{{ n }}</td></tr>{% endfor %}</tbody></table>`),
    served('<table><tbody><tr><td>1</td></tr><tr><td>2</td></tr></tbody></table>'),
  ],
  [
    'LIQ-5 cells of a row',
    composed(`<table><tbody><tr ${T}>{% for n in (1..2) %}<td>{{ n }}</td>{% endfor %}</tr></tbody></table>`),
    served('<table><tbody><tr><td>1</td><td>2</td></tr></tbody></table>'),
  ],
  [
    'LIQ-5 options of a select',
    composed(
      `<select ${T}>{% for n in (1..2) %}<option value="{{ n }}"{% if n == 2 %} selected{% endif %}>{{ n }}</option>{% endfor %}</select>`,
    ),
    served('<select><option value="1">1</option><option value="2" selected="">2</option></select>'),
  ],
  [
    'LIQ-5 items of a list',
    composed(`<ul ${T}>{% for n in (1..2) %}<li>{{ n }}{% endfor %}</ul>`),
    served('<ul><li>1</li><li>2</li></ul>'),
  ],
  [
    'LIQ-5 values of attributes, and whole attributes',
    composed(`<p ${T}><i title="{{ 1 }}-{{ 2 }}" {% if 1 == 1 %}hidden{% endif %} class={{ 3 }}>x</i></p>`),
    served('<p><i title="1-2" hidden="" class="3">x</i></p>'),
  ],
  ['LIQ-5 title', composed('', `<title ${T}>{{ request.path }}</title>`), served('', '<title>/page.html</title>')],
  ['LIQ-5 textarea', composed(`<textarea ${T}><b>{{ 1 }}</textarea>`), served('<textarea>&lt;b&gt;1</textarea>')],
  [
    'LIQ-5 a script as a host',
    composed(`<script ${T}>const q = {{ request.query.q | json }}</script>`),
    served('<script>const q = "<b>"</script>'),
  ],
  [
    'LIQ-5 a style as a host',
    composed(`<style ${T}>a > b { width: {{ 3 }}px }</style>`),
    served('<style>a > b { width: 3px }</style>'),
  ],
  [
    'LIQ-5 scripts, styles and comments inside a host',
    composed(`<div ${T}><script>let a = {{ 1 }} < 2</script><style>i{{ "{" }}}</style><!--{{ 2 }}--></div>`),
    served('<div><script>let a = 1 < 2</script><style>i{}</style><!--2--></div>'),
  ],
  [
    'LIQ-5 the whole head',
    `<!doctype html><html xmlns:p="${URI}"><head ${T}><title>{{ 1 }}</title><meta name="a" content="{{ 2 }}"></head><body>b</body></html>`,
    '<!DOCTYPE html><html><head><title>1</title><meta name="a" content="2"></head><body>b</body></html>',
  ],
  [
    'LIQ-5 html itself',
    `<!doctype html><html xmlns:p="${URI}" ${T} lang="en"><head><title>{{ 1 }}</title></head><body>{% for n in (1..2) %}<p>{{ n }}</p>{% endfor %}</body></html>`,
    '<!DOCTYPE html><html lang="en"><head><title>1</title></head><body><p>1</p><p>2</p></body></html>',
  ],
  [
    'LIQ-6 markup in spans opens and closes nothing',
    composed(`<div ${T}>{% if a <b %}x{% else %}y{% endif %}{{ "</div><i>" | escape }}</div><p>z</p>`),
    served('<div>y&lt;/div&gt;&lt;i&gt;</div><p>z</p>'),
  ],
  [
    'LIQ-6 neither in values of attributes nor in comments',
    composed(`<div ${T}><i title="{{ '</div>' }}">x</i><!-- {{ "-->" | size }} --></div><p>z</p>`),
    served('<div><i title="&lt;/div&gt;">x</i><!-- 3 --></div><p>z</p>'),
  ],
  [
    'LIQ-6 an end tag in a raw block is one',
    composed(`<div ${T}>{% raw %}<div>{{ a }}</div>{% endraw %}</div><p>z</p>`),
    served('<div><div>{{ a }}</div></div><p>z</p>'),
  ],
  [
    'LIQ-7 references in spans are decoded',
    composed(`<p ${T}>{% if 2 &gt; 1 and 1 &lt; 2 %}{{ "a &amp; b" | size }}{{ &quot;q&#34; }}{% endif %}</p>`),
    served('<p>5q</p>'),
  ],
  [
    'LIQ-7 in values of attributes too',
    composed(`<p ${T}><i title="{{ 'a&amp;b' | size }}{{ &quot;x&quot; }}">y</i></p>`),
    served('<p><i title="3x">y</i></p>'),
  ],
  [
    'LIQ-7 in title and textarea too',
    composed(`<div ${T}><textarea>{{ "&lt;" | size }}</textarea></div>`, `<title ${T}>{{ "&lt;" | size }}</title>`),
    served('<div><textarea>1</textarea></div>', '<title>1</title>'),
  ],
  [
    'LIQ-7 not in scripts, styles, comments and raw blocks',
    composed(
      `<div ${T}><script>{{ "&lt;" | size }}</script><style>{{ "&lt;" | size }}</style><!--{{ "&lt;" | size }}-->{% raw %}{{ a &gt; b }}{% endraw %}</div>`,
    ),
    served('<div><script>4</script><style>4</style><!--4-->{{ a &gt; b }}</div>'),
  ],
  [
    'LIQ-7 references outside of spans stay, and form no delimiter',
    composed(`<p ${T}>&copy; &#123;&#123; 1 }} &lbrace;{ 2 }}</p>`),
    served('<p>© {{ 1 }} {{ 2 }}</p>'),
  ],
  [
    'LIQ-8 hyphens strip white space and newlines',
    composed(`<pre ${T}>a \n {{- 1 -}} \n b {%- if 1 == 1 -%} c {%- endif -%} d</pre>`),
    served('<pre>a1bcd</pre>'),
  ],
  [
    'LIQ-8 without hyphens each byte of text stays',
    composed(`<pre ${T}>a\n  {% assign x = 1 %}\n  {{ x }}\n</pre>`),
    served('<pre>a\n  \n  1\n</pre>'),
  ],
  [
    'LIQ-8 a dollar before braces is text',
    composed(`<p ${T}>\${{ 5 }} $ { } %} }}</p>`),
    served('<p>$5 $ { } %} }}</p>'),
  ],
  [
    'LIQ-9 what is rendered never closes the host',
    composed(`<div ${T}></p></span>{{ "</div><b>" | raw }}x</div><p>z</p>`),
    served('<div><p></p><b>x</b></div><p>z</p>'),
  ],
  [
    'LIQ-9 elements left open end with the host',
    composed(`<div ${T}><b><i>{{ 1 }}</div><p>z</p>`),
    served('<div><b><i>1</i></b></div><p>z</p>'),
  ],
  ['LIQ-9 two hosts beside each other', composed(`<p ${T}>{{ 1 }}</p><p ${T}>{{ 2 }}</p>`), served('<p>1</p><p>2</p>')],
]

describe('Hosts and sources of templates, over HTTP', () => {
  const site = templates()

  for (const [title, stored, expected] of documents) {
    it(title, async () => {
      const answer = await site.show(stored)
      expect([answer.status, answer.text]).to.deep.equal([200, expected])
    })
  }

  for (const value of ['text/html', '', 'liquid', 'text/liquid; charset=utf-8'])
    it(`LIQ-1 another value fails the page: ${JSON.stringify(value)}`, async () => {
      expect(failureOf(await site.show(composed(`<p p:template="${value}">x</p>`)))).to.match(/^500 /)
    })

  it('LIQ-3 blobs hold no templates', async () => {
    await put(site.server, '/blob.txt', `<p xmlns:p="${URI}" ${T}>{{ 1 }}</p>`)
    expect((await site.send('GET', '/blob.txt')).text).to.contain('{{ 1 }}')
  })

  it('LIQ-3 the mount shows the source', async () => {
    const stored = composed(`<p ${T}>{{ 1 }}</p>`)
    await put(site.server, '/page.html', stored)
    const { mountUrl, user, password } = site.server
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
    expect(await (await fetch(`${mountUrl}/page.html`, { headers: { authorization } })).text()).to.equal(stored)
  })

  it('LIQ-3 rules hold no templates: what looks like one is an actor of that name', async () => {
    const meta = (name: string, value: string) => `<meta itemprop="${name}" content="${value}">`
    const rule = `<div itemscope itemtype="${NS}/AuthorizationRule">${meta('actor', '*')}${meta('method', 'PUT')}${meta('resource', "/{{ 'open' }}.html")}${meta('action', 'Allow')}</div>`
    await put(site.server, '/rules.html', composed(rule))
    expect((await site.send('PUT', '/open.html', {}, '<p>x</p>')).status).to.equal(401)
    await put(site.server, '/rules.html', composed(rule.replace("{{ 'open' }}", 'open')))
    expect((await site.send('PUT', '/open.html', {}, '<p>x</p>')).status).to.equal(201)
  })

  const xml: [title: string, stored: string, expected: string][] = [
    [
      'LIQ-5 the root of an XML document',
      `<list xmlns:p="${URI}" ${T}>{% for n in (1..2) %}<n>{{ n }}</n>{% endfor %}</list>`,
      '<list XMLNS><n>1</n><n>2</n></list>',
    ],
    [
      'LIQ-7 references in spans of XML are decoded',
      `<a xmlns:p="${URI}"><b ${T} c="1">{% if 2 &gt; 1 and 1 &lt; 2 %}{{ &quot;&#x3c;&quot; | size }}{% endif %}</b></a>`,
      '<a XMLNS><b c="1">1</b></a>',
    ],
    [
      'LIQ-5 several hosts of an XML document, some at the end of others, some empty',
      `<a xmlns:p="${URI}"><b><c ${T}>{{ 1 }}</c></b><d ${T}/><e ${T}>{% if 1 == 1 %}<e>{{ 2 }}</e>{% endif %}</e></a>`,
      '<a XMLNS><b><c>1</c></b><d/><e><e>2</e></e></a>',
    ],
    [
      'LIQ-35 data is text in XML',
      `<a xmlns:p="${URI}" ${T}><b c="{{ request.query.q }}">{{ request.query.q }}</b></a>`,
      '<a XMLNS><b c="&lt;b&gt;">&lt;b&gt;</b></a>',
    ],
  ]
  for (const [title, stored, expected] of xml)
    it(title, async () => {
      await put(site.server, '/list.xml', stored)
      const answer = await site.send('GET', '/list.xml?q=%3Cb%3E')
      expect([answer.status, answer.text.replace(`xmlns:p="${URI}"`, 'XMLNS')]).to.deep.equal([200, expected])
    })
})
