// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions have placeholders of their own
/** Namespaces, parsing and what stays as it is, through a real server and by the text of the rules. */

import { describe } from 'mocha'
import { NS } from '../../support/content.ts'
import { PREFIXES } from './composing.ts'
import { type Cases, caseSite, casesOf, ELEMENT, schema } from './site-of-one-case.ts'

const NAV = { '/parts/nav.html': '<nav id="nav">Menu</nav>' }
const LIQUID = 'p:template="text/liquid"'
const whole = (attributes: string, body: string, head = '<title>T</title>') =>
  `<!doctype html><html ${attributes}><head>${head}</head><body>${body}</body></html>`

const namespaces: Cases = [
  [
    'COMP-15 the example: directives give way, declarations go',
    {
      page: `<!doctype html><html xmlns:p="${NS}/1.0" xmlns:e="${NS}/Binding/Sessel"><head><title>T</title></head>\n<body e:hi="'Hello'"><p:include selector="#nav" resource="/parts/*"/><main><p:stamp hi></p:stamp></main></body></html>`,
      files: NAV,
      has: '<html><head><title>T</title></head>\n<body><nav id="nav">Menu</nav><main>Hello</main></body></html>',
    },
  ],
  [
    'COMP-11 any prefix may be bound to any namespace, several to one',
    {
      page: whole(
        `xmlns:zz="${NS}/1.0" xmlns:platform="${NS}/1.0" xmlns:resource="${NS}/Binding/CSS"`,
        '<zz:include selector="#nav" resource="/parts/*"/><i resource:n="#nav"><platform:stamp n/></i>',
      ),
      files: NAV,
      is: '<nav id="nav">Menu</nav><i><nav id="nav">Menu</nav></i>',
    },
  ],
  ...['1.0/Resource', 'Resource'].map((spelling): Cases[number] => [
    `COMP-11 {ns}/${spelling} is an older spelling of {ns}/Binding/CSS`,
    {
      page: whole(`xmlns:p="${NS}/1.0" xmlns:r="${NS}/${spelling}"`, '<i r:n="#nav"><p:stamp n/></i>'),
      files: NAV,
      is: '<i><nav id="nav">Menu</nav></i>',
    },
  ]),
  ...[`${NS}/1.0/`, `${NS.toUpperCase()}/1.0`, ` ${NS}/1.0`, `${NS}/1`].map((uri): Cases[number] => [
    `COMP-11 matching is exact: ${JSON.stringify(uri)} is not the vocabulary`,
    {
      page: whole(`xmlns:p="${uri}"`, '<b p:template="text/liquid">{{ 1 }}</b>'),
      is: '<b>{{ 1 }}</b>',
    },
  ]),
  [
    'COMP-12 the nearest declaration wins, and an empty one unbinds',
    {
      page: `<div xmlns:q="${NS}/1.0"><div xmlns:q="http://ogp.me/ns#"><q:include selector="#nav"></q:include></div><q:include selector="#nav" resource="/parts/*"/></div><div xmlns:p=""><p:stamp a></p:stamp></div>`,
      files: NAV,
      is: '<div><div><q:include selector="#nav"></q:include></div><nav id="nav">Menu</nav></div><div><p:stamp a=""></p:stamp></div>',
    },
  ],
  [
    'COMP-12 a declaration on the element itself counts for it',
    {
      page: whole('', `<q:include xmlns:q="${NS}/1.0" selector="#nav" resource="/parts/*"/>`),
      files: NAV,
      is: '<nav id="nav">Menu</nav>',
    },
  ],
  [
    'COMP-12 COMP-145 what is brought in without declarations is inert, whatever the page declares',
    {
      page: '<p:include selector="#x" resource="/data.html"/>',
      files: { '/data.html': '<div id="x" e:n="1"><p:stamp n></p:stamp></div>' },
      is: '<div id="x" e:n="1"><p:stamp n=""></p:stamp></div>',
    },
  ],
  ...[
    'http://www.w3.org/1999/xlink',
    'http://www.w3.org/2000/svg',
    'http://ogp.me/ns#',
    'https://ogp.me/ns#',
    'http://opengraphprotocol.org/schema/',
    'http://www.facebook.com/2008/fbml',
    'http://purl.org/dc/terms/',
    'urn:schemas-microsoft-com:vml',
  ].map((uri): Cases[number] => [
    `COMP-13 ${uri} is foreign: elements and attributes stay`,
    {
      page: `<div xmlns:f="${uri}"><f:like f:title="2" p:gone="1">u</f:like></div>`,
      is: '<div><f:like f:title="2">u</f:like></div>',
    },
  ]),
  [
    'COMP-13 COMP-2 a document with foreign namespaces alone is served as stored',
    {
      page: '<!DOCTYPE html><html xmlns:og="http://ogp.me/ns#"><head><meta og:a="1"></head><body>{{ 1 }}<og:x/></body></html>',
      has: /^<!DOCTYPE html><html xmlns:og="http:\/\/ogp\.me\/ns#"><head><meta og:a="1"><\/head><body>\{\{ 1 \}\}<og:x\/><\/body><\/html>$/,
      headers: { 'last-modified': /./ },
    },
  ],
  [
    'COMP-13 a schema with exactly a foreign type makes it live',
    {
      page: '<div xmlns:f="http://ogp.me/ns#"><f:hi/></div>',
      files: { '/s.html': schema('http://ogp.me/ns#', [{ name: 'hi', sessel: '"hi"' }]) },
      is: '<div>hi</div>',
    },
  ],
  [
    'COMP-13 xml and xlink are never directives',
    {
      page: `<svg xmlns:xlink="${NS}/Binding/Sessel" xmlns:xml="${NS}/1.0"><a xlink:href="nosuch" xml:lang="de"></a></svg>`,
      is: '<svg><a xlink:href="nosuch" xml:lang="de"></a></svg>',
    },
  ],
  [
    'COMP-14 prefixes that are not bound are ordinary markup',
    { page: '<x:name a="1">t</x:name><b y:z="2">u</b>', is: '<x:name a="1">t</x:name><b y:z="2">u</b>' },
  ],
  [
    'COMP-14 an element of an unknown namespace is 500',
    {
      page: '<div xmlns:x="urn:unknown"><x:name></x:name></div>',
      status: 500,
      has: 'no method found for x:name and no doesNotUnderstand defined',
    },
  ],
  [
    'COMP-14 an attribute of an unknown namespace goes silently',
    { page: '<div xmlns:x="urn:unknown"><b x:name="v" title="t">y</b></div>', is: '<div><b title="t">y</b></div>' },
  ],
  [
    'COMP-14 a schema without the method: 500 for the element',
    {
      page: '<div xmlns:x="urn:s"><x:name></x:name></div>',
      files: { '/s.html': schema('urn:s', [{ name: 'other', sessel: '1' }]) },
      status: 500,
      has: 'no method found for x:name and no doesNotUnderstand defined',
    },
  ],
  [
    'COMP-14 a schema without the method: the attribute goes silently',
    {
      page: '<div xmlns:x="urn:s"><b x:name="v">y</b></div>',
      files: { '/s.html': schema('urn:s', [{ name: 'other', sessel: '1' }]) },
      is: '<div><b>y</b></div>',
    },
  ],
  [
    'COMP-14 an unknown element of the vocabulary is 500',
    { page: '<p:nonsense></p:nonsense>', status: 500, has: "unknown method 'nonsense'" },
  ],
  ['COMP-14 an unknown attribute of the vocabulary goes', { page: '<b p:nonsense="1">x</b>', is: '<b>x</b>' }],
  ...['r', 'e', 'j'].map((prefix): Cases[number] => [
    `COMP-14 an element of a binding namespace is 500: ${prefix}`,
    { page: `<${prefix}:x></${prefix}:x>`, status: 500, has: 'CompositionError' },
  ]),
  [
    'COMP-15 the default namespace stays, declarations of prefixes go',
    {
      page: whole(`xmlns="http://www.w3.org/1999/xhtml" ${PREFIXES} lang="en"`, 'x'),
      has: '<html xmlns="http://www.w3.org/1999/xhtml" lang="en">',
    },
  ],
]

const plain: Cases = [
  [
    'COMP-1 COMP-2 declarations in text, comments and scripts do not count',
    {
      page: `<!DOCTYPE html><!-- xmlns:p="${NS}/1.0" --><title>xmlns:p="${NS}/1.0"</title><script>var a = '<b xmlns:p="${NS}/1.0">'</script><p p:template="text/liquid">{{ 1 }}`,
      has: '<p p:template="text/liquid">{{ 1 }}',
      headers: { 'last-modified': /./, 'cache-control': /no-cache/ },
    },
  ],
  [
    'COMP-1 declarations are found in any case',
    {
      page: `<!DOCTYPE html><HTML XMLNS:P="${NS}/1.0"><BODY><b P:TEMPLATE="TEXT/LIQUID">{{ 1 }}</b></BODY></HTML>`,
      is: '<b>1</b>',
    },
  ],
  [
    'COMP-10 the doctype, comments, white space and the order of attributes stay',
    {
      page: `<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd"><!-- a --><html xmlns:p="${NS}/1.0"><head></head><body> <b title="1" p:x="" class="2">t</b>\n<!-- b --> </body></html><!-- c -->`,
      has: /<!-- a --><html><head><\/head><body> <b title="1" class="2">t<\/b>\n<!-- b --> <\/body><\/html><!-- c -->$/,
    },
  ],
  [
    'COMP-18 scripts, styles, comments and attributes are not walked',
    {
      page: '<script>"<p:stamp x></p:stamp>"</script><style>p|include{}</style><!-- <p:include/> --><b title="<p:include/>">x</b><textarea><p:include/></textarea>',
      is: '<script>"<p:stamp x></p:stamp>"</script><style>p|include{}</style><!-- <p:include/> --><b title="&lt;p:include/&gt;">x</b><textarea>&lt;p:include/&gt;</textarea>',
    },
  ],
]

const markup: Cases = [
  [
    'COMP-6 a stamp puts rows into the body of a table',
    {
      page: '<table r:rows="tr.row"><tbody><p:stamp rows></p:stamp><tr><td>own</td></tr></tbody></table>',
      files: { '/rows.html': '<table><tr class="row"><td>1</td></tr><tr class="row"><td>2</td></tr></table>' },
      is: '<table><tbody><tr class="row"><td>1</td></tr><tr class="row"><td>2</td></tr><tr><td>own</td></tr></tbody></table>',
    },
  ],
  [
    'COMP-6 a directive in a row, and in a colgroup',
    {
      page: '<table><colgroup><p:include selector="#c" resource="/t.html"/></colgroup><tr><p:include selector="#d" resource="/t.html"/></tr></table>',
      files: { '/t.html': '<table><colgroup><col id="c"></colgroup><tr><td id="d">x</td></tr></table>' },
      is: '<table><colgroup><col id="c"></colgroup><tbody><tr><td id="d">x</td></tr></tbody></table>',
    },
  ],
  [
    'COMP-6 what stands in a directive is parsed where the directive stands',
    {
      page: '<table xmlns:t="urn:t"><tbody><t:inner><tr><td>in</td></tr></t:inner></tbody></table>',
      files: { '/s.html': schema('urn:t', [{ name: 'inner', returns: ELEMENT, sessel: 'self.${tr}.first()' }]) },
      is: '<table><tbody><tr><td>in</td></tr></tbody></table>',
    },
  ],
  [
    'COMP-6 several directives in head, before and after other elements',
    {
      page: '<p>x</p>',
      head: '<p:include selector="meta[name=a]" resource="/m.html"/><title>T</title><p:include selector="link" resource="/m.html"/>',
      files: { '/m.html': '<!doctype html><head><meta name="a"><link rel="icon" href="i"></head>' },
      has: '<head><meta name="a"><title>T</title><link rel="icon" href="i"></head><body><p>x</p></body>',
    },
  ],
  [
    'COMP-7 an element that ends with a slash is empty, also with attributes without quotes',
    {
      page: '<p:include selector=#nav resource=/parts/nav.html /><i>s</i>',
      files: NAV,
      is: '<nav id="nav">Menu</nav><i>s</i>',
    },
  ],
  [
    'COMP-8 loops work around rows, options, in title and in attribute values',
    {
      page: `<table ${LIQUID}>{% for i in (1..2) %}<tr><td>{{ i }}</td></tr>{% endfor %}</table><select ${LIQUID}>{% for i in (1..2) %}<option value="{{ i }}">{{ i }}</option>{% endfor %}</select><div ${LIQUID}><a title="{% if true %}y{% endif %}">z</a></div>`,
      head: `<title ${LIQUID}>{{ "a < b" }}</title>`,
      has: '<head><title>a &lt; b</title></head><body><table><tbody><tr><td>1</td></tr><tr><td>2</td></tr></tbody></table><select><option value="1">1</option><option value="2">2</option></select><div><a title="y">z</a></div></body>',
    },
  ],
  [
    'COMP-8 html as a host gives head and body',
    {
      page: `<!doctype html><html xmlns:p="${NS}/1.0" ${LIQUID}><head><title>{{ request.path }}</title></head><body>{% for i in (1..2) %}<b>{{ i }}</b>{% endfor %}</body></html>`,
      has: '<html><head><title>/page.html</title></head><body><b>1</b><b>2</b></body></html>',
    },
  ],
  [
    'COMP-9 the sign of Kelvin is no k',
    {
      page: '<div e:\u212aey="1" e:key="2"><b p:template="text/liquid">{{ key }}|{{ \u212aey }}</b></div>',
      is: '<div><b>2|1</b></div>',
    },
  ],
  [
    'COMP-9 a binding is read as it is written and in lower case',
    {
      page: `<b e:itemCount="7" e:x="itemCount + itemcount" ${LIQUID}>{{ itemCount }} {{ itemcount }} {{ x }}</b><i e:someName="1"><p:stamp someName/></i>`,
      is: '<b>7 7 14</b><i>1</i>',
    },
  ],
]

describe('Directives of pages, by the text of the rules', () => {
  const site = caseSite()
  for (const [name, cases] of Object.entries({ namespaces, plain, markup })) describe(name, () => casesOf(site, cases))
})
