// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions have placeholders of their own
/** Stamps, bindings, caching, the Request document and XML, through a real server and by the text of the rules. */

import { describe } from 'mocha'
import { selecting } from '../../http/write-checks.ts'
import { NS } from '../../support/content.ts'
import { type Cases, caseSite, casesOf } from './site-of-one-case.ts'

const LIQUID = 'p:template="text/liquid"'
const whole = (attributes: string, body: string, head = '<title>T</title>') =>
  `<!doctype html><html ${attributes}><head>${head}</head><body>${body}</body></html>`

const stamps: Cases = [
  [
    'COMP-31 several names in their order, values ignored, no value: gone with its content',
    {
      page: '<div e:a="1" e:b="[2, null, 3]" e:c="null"><p:stamp b="x" c a>old</p:stamp>|<p:stamp c nosuch>old</p:stamp></div>',
      is: '<div>231|</div>',
    },
  ],
  [
    'COMP-31 COMP-58 scalars are text: strings, integers, floats, booleans',
    { page: '<div e:a="[\'<b>\', 1, 1.5, true, false]"><p:stamp a/></div>', is: '<div>&lt;b&gt;11.5truefalse</div>' },
  ],
  [
    'SES-64 SES-246 scalars and dictionaries have the text form that they have in programs',
    {
      page: `<div e:a="[42.0, 2.50, -0.0, 10000000000000000000000.0, 0.0000001]" e:b='{ k: [1, 2.0], n: null }' j:c="({ x: 'y', z: 2 ** 70 })"><p:stamp a/>|<p:stamp b/>|<p:stamp c/></div>`,
      is: '<div>422.5-0100000000000000000000000.0000001|{"k":[1,2.0],"n":null}|{"x":"y","z":1.1805916207174113e+21}</div>',
    },
  ],
  [
    'COMP-32 a stamped element keeps its id and runs by its own prefixes',
    {
      page: '<div r:a="#x"><p:stamp a/></div>',
      files: {
        '/x.html': whole(
          `xmlns:q="${NS}/1.0" xmlns:e="${NS}/Binding/Sessel"`,
          '<b id="x" class="c" e:n="1 + 1"><q:stamp n/></b>',
        ),
      },
      is: '<div><b id="x" class="c">2</b></div>',
    },
  ],
  [
    'COMP-33 a stamp sees nothing that comes later or stands beside',
    { page: '<p:stamp a/><div e:a="1"></div><p:stamp a/>', is: '<div></div>' },
  ],
  [
    'COMP-34 an instance with a key gets it as id',
    {
      page: `<div e:a='@schema Card url("urn:card"); new Card { slug: "s1", title: "Hi" }'><p:stamp a/></div>`,
      files: {
        '/s.html': `<div hidden itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="urn:card"><div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="slug"><meta itemprop="unique" content="true"><meta itemprop="@key" content="true"></div><div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="title"></div></div>`,
      },
      has: /<div><\w+[^>]* id="s1"[^>]*>.*Hi/,
    },
  ],
  [
    'COMP-35 matches in the order of paths by bytes, then of the document',
    {
      page: '<div r:x="i.n"><p:stamp x/></div>',
      files: {
        '/b.html': '<i class="n">b</i>',
        '/a/z.html': '<i class="n">a1</i><i class="n">a2</i>',
        '/Z.html': '<i class="n">Z</i>',
        '/ä.html': '<i class="n">ae</i>',
      },
      is: '<div><i class="n">Z</i><i class="n">a1</i><i class="n">a2</i><i class="n">b</i><i class="n">ae</i></div>',
    },
  ],
  [
    'COMP-35 no match is an empty list',
    {
      page: `<div r:x="#none" e:n="x.count()" ${LIQUID}>{{ n }}{{ x | size }}{% for i in x %}no{% endfor %}</div>`,
      is: '<div>00</div>',
    },
  ],
  [
    'COMP-36 items are objects of their properties',
    {
      page: `<div r:x=".it" ${LIQUID}>{% for i in x %}{{ i.one }}|{{ i.many | join: "," }}|{{ i.none }}|{{ i.link }}|{{ i['@id'] }}|{{ i['@type'] }}{% endfor %}</div>`,
      files: {
        '/x.html':
          '<p class="it" id="k" itemscope itemtype="urn:t"><b itemprop="one">1</b><i itemprop="many">2</i><i itemprop="many">3</i><a itemprop="link" href="../y">z</a></p>',
      },
      is: '<div>1|2,3||../y|/x.html#k|urn:t</div>',
    },
  ],
  ['COMP-37 a selector that cannot be read is 500', { page: '<b r:x="li:nonsense(">y</b>', status: 500 }],
  [
    'COMP-39 self and document are the root of the requested document as stored',
    {
      page: `<i class="c">1</i><div e:a="(\${.c} from self).count()" e:b="(\${.c} from document).count()" e:c="\${.c}.count()" e:d="self.attr('lang')"><p:stamp a/>,<p:stamp b/>,<p:stamp c/>,<p:stamp d/></div>`,
      files: { '/o.html': '<i class="c">2</i>' },
      is: '<i class="c">1</i><div>1,1,2,</div>',
    },
  ],
  [
    'COMP-43 a script: await, promises, undefined, names, Context',
    {
      page: `<div e:n="2" j:a="await Promise.resolve(n * 3)" j:b="new Promise(r => r('p'))" j:c="undefined" j:d="[1, , null].length" j:f="Context.n + request.path"><p:stamp a b c d f/></div>`,
      is: '<div>6p32/page.html</div>',
    },
  ],
  [
    'JS-35 a value that no script can be given around it fails those alone that name it',
    {
      page: `<div e:fmt="x => x + 1" e:most="9223372036854775807" e:deep="{ k: { fmt: [fmt] } }" e:n="1"><b j:x="n + 1" e:y="fmt(x)"><p:stamp x y/></b></div>`,
      is: '<div><b>23</b></div>',
    },
  ],
  ['JS-35 a large integer', { page: '<b e:most="9223372036854775807" j:x="most">y</b>', status: 500, has: 'marshal' }],
  ['JS-35 a lambda', { page: '<b e:fmt="x => x" j:x="Context.fmt">y</b>', status: 500, has: 'marshal' }],
  ['COMP-43 a statement is no expression', { page: '<b j:x="return 1">y</b>', status: 500, has: 'BindingFailure' }],
  [
    'COMP-44 a script that throws',
    { page: '<b j:x="(() => { throw new Error(&quot;no&quot;) })()">y</b>', status: 500 },
  ],
  ['COMP-44 a promise that is rejected', { page: '<b j:x="Promise.reject(1)">y</b>', status: 500 }],
  [
    'COMP-44 the example: bindings of one element, read by its template',
    {
      page: `<ul e:n="\${li.todo}.count()" j:twice="n * 2" ${LIQUID}><li>{{ n }} / {{ twice }}</li></ul>`,
      files: { '/t.html': '<ul><li class="todo">a</li><li class="todo">b</li></ul>' },
      is: '<ul><li>2 / 4</li></ul>',
    },
  ],
]

const caching: Cases = [
  [
    'COMP-124 COMP-125 COMP-127 a shared page for a visitor who has a session: tag, ranges, no date',
    {
      page: '<i e:x="1"><p:stamp x/></i>',
      fields: { Cookie: 'platform_session=none' },
      headers: {
        'accept-ranges': 'selector, bytes',
        etag: /^"[^"]+"$/,
        'last-modified': undefined,
        vary: /Accept.*Range|Range.*Accept/,
      },
    },
  ],
  [
    'COMP-127 the same on a selector answer',
    {
      page: '<i id="x" e:x="1"><p:stamp x/></i>',
      fields: selecting('#x'),
      headers: { 'accept-ranges': 'selector, bytes', 'content-range': 'selector=#x', 'last-modified': undefined },
      has: '<i id="x">1</i>',
    },
  ],
  [
    'COMP-127 errors of composition are not stored',
    { page: '<p:include/>', status: 500, headers: { 'cache-control': 'no-store' } },
  ],
  [
    'COMP-130 COMP-148 an error document names kind and reason, and nothing of other documents',
    {
      page: '<p:include selector=".s"/>',
      files: { '/secret.html': '<b class="s">geheim</b><b class="s">auch</b>' },
      status: 500,
      has: new RegExp(
        `itemtype="${NS}/Error".*itemprop="status" content="500".*itemprop="kind" content="CompositionError".*itemprop="message"`,
        's',
      ),
      hasNot: /geheim|secret/,
    },
  ],
]

const requests: Cases = [
  [
    'COMP-114 COMP-116 the Request document is seen by bindings, queries and includes, and comes last',
    {
      page: '<div r:x="[itemprop=path]"><p:stamp x/></div><p:include selector="[itemprop=headers] > [itemprop=x-mine]"/><b e:n="${[itemprop=query] > [itemprop=a]}.count()"><p:stamp n/></b>',
      files: { '/z.html': '<i itemprop="path">stored</i>' },
      target: '/page.html?a=1&a=2',
      fields: { 'X-Mine': 'm' },
      is: '<div><i itemprop="path">stored</i><meta itemprop="path" content="/page.html"></div><meta itemprop="x-mine" content="m"><b>2</b>',
      headers: { 'cache-control': 'private, no-cache' },
    },
  ],
  [
    'COMP-114 its shape',
    {
      page: `<div r:x='[itemtype="${NS}/Request"]'><p:stamp x/></div>`,
      target: '/page.html?x=1',
      has: new RegExp(
        `<body itemscope="" itemtype="${NS}/Request"><meta itemprop="path" content="/page.html"><meta itemprop="method" content="GET"><meta itemprop="query" content="x=1"><meta itemprop="body" content=""><section itemprop="query" itemscope="" itemtype="${NS}/Request/HTTP/Query"><meta itemprop="x" content="1"></section><section itemprop="headers" itemscope="" itemtype="${NS}/Request/HTTP/Headers">.*</section><section itemprop="auth" itemscope="" itemtype="${NS}/Authorization"><section itemprop="claims" itemscope="" itemtype="${NS}/Claims"></section></section></body>`,
      ),
    },
  ],
  [
    'COMP-115 a template reads an item of it',
    {
      page: `<b r:q='[itemtype="${NS}/Request"]' ${LIQUID}>{{ q[0].path }}</b>`,
      is: '<b>/page.html</b>',
      headers: { 'cache-control': 'private, no-cache' },
    },
  ],
  [
    'COMP-2 COMP-25 files that are no documents, and platform pages, are no candidates',
    { page: '<p:include selector="body" resource="/.platform/*"/>', status: 404 },
  ],
]

const xml: Cases = [
  [
    'COMP-118 COMP-119 an XML page: stored type, empty elements, declarations and instructions stay',
    {
      files: {
        '/feed.xml': `<?xml version="1.0"?><?x y?><f:Feed xmlns:f="urn:f" xmlns:p="${NS}/1.0" xmlns:e="${NS}/Binding/Sessel" e:n="1 + 1"><Empty/><p:stamp n=""/><t p:template="text/liquid">{{ n }} &amp; {{ "&lt;" }}</t></f:Feed>`,
      },
      target: '/feed.xml',
      has: new RegExp(
        `<\\?xml version="1.0"\\?>\\s*<\\?x y\\?>\\s*<f:Feed xmlns:f="urn:f" xmlns:p="${NS}/1.0" xmlns:e="${NS}/Binding/Sessel"><Empty/>2<t>2 &amp; &lt;</t></f:Feed>`,
      ),
      headers: { 'content-type': /xml/ },
    },
  ],
  [
    'COMP-120 COMP-14 prefixes that are not live are data',
    {
      files: { '/x.xml': `<a xmlns:p="${NS}/1.0" xmlns:u="urn:u"><u:b u:c="1"/><p:x/></a>` },
      target: '/x.xml',
      status: 500,
      has: 'unknown method',
    },
  ],
  [
    'COMP-118 output of a template that is not well-formed is 500',
    {
      files: {
        '/x.xml': `<a xmlns:p="${NS}/1.0" p:template="text/liquid">{% if true %}&lt;b>{% endif %}{{ '' }}<b>{% if false %}</b>{% endif %}<c></c></a>`,
      },
      target: '/x.xml',
      status: 500,
    },
  ],
  [
    'COMP-123 the composed view is searched, case included',
    {
      files: { '/x.xml': `<a xmlns:p="${NS}/1.0"><Item p:template="text/liquid">{{ 1 }}</Item></a>` },
      target: '/x.xml',
      fields: selecting('Item'),
      has: '>1</Item>',
    },
  ],
  [
    'COMP-118 an include brings XML into XML',
    {
      files: {
        '/x.xml': `<a xmlns:p="${NS}/1.0"><p:include selector="item" resource="/y.xml"/></a>`,
        '/y.xml': '<?xml version="1.0"?><list><item n="1"/></list>',
      },
      target: '/x.xml',
      has: '<item n="1"/>',
    },
  ],
]

describe('Values and answers of pages, by the text of the rules', () => {
  const site = caseSite()
  for (const [name, cases] of Object.entries({ stamps, caching, requests, xml }))
    describe(name, () => casesOf(site, cases))
})
