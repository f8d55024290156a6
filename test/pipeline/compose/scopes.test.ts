// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions have placeholders of their own
/** Order, budget, names, includes and templates, through a real server and by the text of the rules. */

import { describe } from 'mocha'
import { selecting } from '../../http/write-checks.ts'
import { PREFIXES } from './composing.ts'
import { type Cases, caseSite, casesOf } from './site-of-one-case.ts'

const NAV = { '/parts/nav.html': '<nav id="nav">Menu</nav>' }
const LIQUID = 'p:template="text/liquid"'
const whole = (attributes: string, body: string, head = '<title>T</title>') =>
  `<!doctype html><html ${attributes}><head>${head}</head><body>${body}</body></html>`

const order: Cases = [
  [
    'COMP-17 resource bindings first, templates last, the rest as written',
    {
      page: `<ul ${LIQUID} e:a="navs.count()" e:b="a + 1" r:navs="#nav">{{ a }}{{ b }}</ul>`,
      files: NAV,
      is: '<ul>12</ul>',
    },
  ],
  [
    'COMP-17 a later expression is not seen by an earlier one: 500',
    { page: '<b e:a="b" e:b="1">x</b>', status: 500, has: 'BindingFailure' },
  ],
  [
    'COMP-17 results are walked before the next sibling, with the names around',
    {
      page: '<div e:n="1"><p:include selector="#x" resource="/x.html"/><i><p:stamp n/></i></div>',
      files: { '/x.html': whole(PREFIXES, '<b id="x" e:m="n + 1"><p:stamp n m/></b>') },
      is: '<div><b id="x">12</b><i>1</i></div>',
    },
  ],
  [
    'COMP-19 500 attributes are dispatched',
    { page: `<b ${Array.from({ length: 500 }, (_, i) => `e:n${i}="1"`).join(' ')}>x</b>`, is: '<b>x</b>' },
  ],
  [
    'COMP-19 the 501st attribute is one too many',
    {
      page: `<b ${Array.from({ length: 501 }, (_, i) => `e:n${i}="1"`).join(' ')}>x</b>`,
      status: 503,
      has: 'BudgetExceeded',
      headers: { 'cache-control': 'no-store' },
    },
  ],
  [
    'COMP-19 what is removed, declared or set aside costs nothing',
    {
      page: `${'<b p:nonsense="1" xmlns:u="urn:u" u:x="2">x</b>'.repeat(600)}<i e:n="1"><p:stamp n/></i><u p:transient></u>`,
      hasNot: /nonsense|urn:u/,
      has: '<i>1</i>',
    },
  ],
  [
    'COMP-19 directives inside of results count as well',
    {
      page: '<p:include selector="#many" resource="/many.html"/>'.repeat(3),
      files: { '/many.html': whole(PREFIXES, `<div id="many">${'<b e:x="1">y</b>'.repeat(170)}</div>`) },
      status: 503,
    },
  ],
  ['COMP-19 templates count as well', { page: `<b ${LIQUID}>{{ 1 }}</b>`.repeat(501), status: 503 }],
  [
    'COMP-19 two documents that include each other end with 503',
    {
      page: '<p:include selector="#a" resource="/a.html"/>',
      files: {
        '/a.html': whole(PREFIXES, '<div id="a">x<p:include selector="#b" resource="/b.html"/></div>'),
        '/b.html': whole(PREFIXES, '<div id="b">y<p:include selector="#a" resource="/a.html"/></div>'),
      },
      status: 503,
      has: 'BudgetExceeded',
    },
  ],
]

const names: Cases = [
  [
    'COMP-20 names go down, not to siblings or up; the nearest wins',
    {
      page: '<div e:n="1"><b e:n="2"><i><p:stamp n/></i></b><p:stamp n/><u><p:stamp other/></u><s e:other="3"></s></div><p:stamp n/>',
      is: '<div><b><i>2</i></b>1<u></u><s></s></div>',
    },
  ],
  [
    'COMP-21 an unknown name is an error in an expression',
    { page: '<b e:x="nosuch">y</b>', status: 500, has: 'BindingFailure' },
  ],
  [
    'COMP-21 an unknown name is an error in a script',
    { page: '<b j:x="nosuch">y</b>', status: 500, has: 'BindingFailure' },
  ],
  [
    'COMP-21 an unknown name is nothing in a template',
    { page: `<b ${LIQUID}>[{{ nosuch.deep }}]</b>`, is: '<b>[]</b>' },
  ],
  [
    'COMP-21 Context reads names and request',
    {
      page: `<b e:first-name="1" e:x="Context['first-name']" e:y="Context.request.path" e:z="Context.x"><p:stamp x y z/></b>`,
      is: '<b>1/page.html1</b>',
    },
  ],
  ...['auth', 'method', 'path', 'query'].map((name): Cases[number] => [
    `COMP-21 ${name} of rules is no name of a page`,
    { page: `<b e:x="${name}">y</b>`, status: 500, has: 'BindingFailure' },
  ]),
  [
    'COMP-22 path, method and query are read, and leave the page shared',
    {
      page: `<b ${LIQUID}>{{ request.path }}|{{ request.method }}|{{ request.query.a }}|{{ request.query.b | join: "+" }}|{{ request.query.none }}|{{ request.params.x }}|{{ request.body }}</b>`,
      target: '/page.html?a=%C3%A4+b&b=1&b=2',
      fields: { Cookie: 'x=1' },
      is: '<b>/page.html|GET|ä b|1+2|||</b>',
    },
  ],
  [
    'COMP-22 COMP-124 headers are joined, by lower-case name, and make the page private',
    {
      page: '<b e:x="request.headers[&quot;x-one&quot;]"><p:stamp x/></b>',
      fields: { 'X-One': ['a', 'b'] },
      is: '<b>a, b</b>',
      headers: { 'cache-control': 'private, no-cache', vary: /Cookie, Authorization/ },
    },
  ],
  [
    'COMP-22 everything of auth is empty for nobody in particular',
    {
      page: `<b ${LIQUID}>[{{ request.auth.claims.email }}{{ request.auth.username }}{{ request.auth.role | size }}{{ request.auth.roles | size }}]</b>`,
      is: '<b>[00]</b>',
      headers: { 'cache-control': 'private, no-cache' },
    },
  ],
  [
    'COMP-22 COMP-148 the session cookie of the server is left out of headers',
    {
      page: `<b ${LIQUID}>{{ request.headers.cookie }}</b>`,
      fields: { Cookie: 'a=1; platform_session=secret; b=2' },
      hasNot: 'secret',
      has: /a=1; *b=2/,
    },
  ],
]

const includes: Cases = [
  [
    'COMP-25 * crosses directories',
    {
      page: '<p:include selector="#deep" resource="/a/*.html"/>',
      files: { '/a/b/c/d.html': '<b id="deep">x</b>' },
      is: '<b id="deep">x</b>',
    },
  ],
  [
    'COMP-25 a document outside of the globs is no candidate',
    { page: '<p:include selector="#deep" resource="/a/*"/>', files: { '/b.html': '<b id="deep">x</b>' }, status: 404 },
  ],
  [
    'COMP-25 globs are taken from the directory of the document that holds the include',
    {
      page: '<p:include selector="#outer" resource="/dir/*"/>',
      files: {
        '/dir/a.html': whole(PREFIXES, '<div id="outer"><p:include selector="#x" resource="sub/b.html"/></div>'),
        '/dir/sub/b.html': '<b id="x">dir</b>',
        '/sub/b.html': '<b id="x">root</b>',
      },
      is: '<div id="outer"><b id="x">dir</b></div>',
    },
  ],
  [
    'COMP-25 globs are separated by any white space',
    {
      page: '<p:include selector="#x" resource=" /none/* \n\t/dir/b.html "/>',
      files: { '/dir/b.html': '<b id="x">y</b>' },
      is: '<b id="x">y</b>',
    },
  ],
  [
    'COMP-25 COMP-26 without resource the page itself is a candidate: two matches are 500',
    { page: '<b id="x">own</b><p:include selector="#x"/>', files: { '/o.html': '<b id="x">other</b>' }, status: 500 },
  ],
  [
    'COMP-26 an element of the own page is included',
    { page: '<b id="x">own</b><p:include selector="#x"/>', is: '<b id="x">own</b><b id="x">own</b>' },
  ],
  [
    'COMP-26 only what is stored is matched, not what other directives make',
    { page: '<i e:x="new b#made { 1 }"></i><p:include selector="#made"/>', status: 404 },
  ],
  [
    'COMP-35 COMP-26 contents of templates are not matched',
    {
      page: '<p:include selector=".t"/>',
      files: { '/t.html': '<template><b class="t">x</b></template>' },
      status: 404,
    },
  ],
  ['COMP-27 a missing selector', { page: '<p:include resource="/parts/*"/>', files: NAV, status: 500 }],
  ['COMP-27 an unparsable selector', { page: '<p:include selector="a[" resource="/parts/*"/>', status: 500 }],
  [
    'COMP-28 COMP-124 what an included fragment reads makes the page private',
    {
      page: '<p:include selector="#x" resource="/x.html"/>',
      files: { '/x.html': whole(PREFIXES, `<b id="x" ${LIQUID}>{{ request.headers.accept }}</b>`) },
      fields: { Accept: 'text/html' },
      is: '<b id="x">text/html</b>',
      headers: { 'cache-control': 'private, no-cache' },
    },
  ],
  [
    'COMP-131 COMP-68 an error anywhere fails a selector read, too',
    {
      page: '<b id="x">y</b><p:include selector="#none"/>',
      fields: selecting('#x'),
      status: 404,
      has: 'CompositionError',
    },
  ],
]

const templates: Cases = [
  [
    'COMP-46 everything inside of a host is source, scripts and styles included',
    {
      page: `<div class="c" ${LIQUID}><script>var n = {{ 1 | plus: 1 }}</script><style>.a{width:{{ 3 }}px}</style><!-- {{ 4 }} --></div>{{ 5 }}`,
      is: '<div class="c"><script>var n = 2</script><style>.a{width:3px}</style><!-- 4 --></div>{{ 5 }}',
    },
  ],
  [
    'COMP-47 directives in the output work, and have not run before',
    {
      page: `<div e:n="1" ${LIQUID}>{% for i in (1..2) %}<b e:m="n + {{ i }}"><p:stamp m/></b>{% endfor %}<p:include selector="#nav" resource="/parts/{{ "nav" }}.html"/></div>`,
      files: NAV,
      is: '<div><b>2</b><b>3</b><nav id="nav">Menu</nav></div>',
    },
  ],
  [
    'COMP-48 a template attribute in the output of another host is removed, not run',
    {
      page: `<div ${LIQUID}><b ${LIQUID}>{{ "{{ 1 }}" }}</b></div>`,
      is: '<div><b>{{ 1 }}</b></div>',
    },
  ],
  [
    'COMP-48 an included fragment is fresh source, also in the output of a host',
    {
      page: `<div e:n="5" ${LIQUID}><p:include selector="#x" resource="/x.html"/></div>`,
      files: { '/x.html': whole(PREFIXES, `<b id="x" ${LIQUID}>{{ n }}</b>`) },
      is: '<div><b id="x">5</b></div>',
    },
  ],
  ['COMP-49 another engine is 500', { page: '<b p:template="text/mustache">x</b>', status: 500 }],
  ['COMP-49 no engine is 500', { page: '<b p:template>x</b>', status: 500 }],
  [
    'COMP-49 the name is trimmed and read in any case',
    { page: '<b p:template=" Text/LIQUID ">{{ 1 }}</b>', is: '<b>1</b>' },
  ],
  [
    'COMP-50 COMP-130 an error of the template fails the page',
    { page: `<b ${LIQUID}>{% if %}</b>`, status: 500, has: 'TemplateError' },
  ],
  [
    'COMP-50 an error in one output leaves the page',
    { page: `<b ${LIQUID}>{{ 1 | divided_by: 0 }}ok</b>`, has: 'ok</b>' },
  ],
  [
    'COMP-145 what a value holds is escaped and never a directive',
    {
      page: `<div e:x="'<p:stamp y></p:stamp>{{ 1 }}'" ${LIQUID}>{{ x }}</div>`,
      is: '<div>&lt;p:stamp y&gt;&lt;/p:stamp&gt;{{ 1 }}</div>',
    },
  ],
]

describe('Order and scopes of pages, by the text of the rules', () => {
  const site = caseSite()
  for (const [name, cases] of Object.entries({ order, names, includes, templates }))
    describe(name, () => casesOf(site, cases))
})
