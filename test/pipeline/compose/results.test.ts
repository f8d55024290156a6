// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions have placeholders of their own
/** What becomes of results of methods, and of scripts, through a real server and by the text of the rules. */

import { describe } from 'mocha'
import { NS } from '../../support/content.ts'
import { PREFIXES } from './composing.ts'
import { type Cases, caseSite, casesOf, ELEMENT, type Method, schema } from './site-of-one-case.ts'

const T = 'xmlns:t="urn:t"'
const with_ = (...methods: Method[]) => ({ '/schema.html': schema('urn:t', methods) })
const inside = (body: string) => `<main ${T}>${body}</main>`
const shown = (body: string) => `<main>${body}</main>`

const results: Cases = [
  [
    'COMP-58 a method without implementation gives nothing: the element goes',
    { page: inside('a<t:m>b</t:m>c'), files: with_({ name: 'm' }), is: shown('ac') },
  ],
  [
    'COMP-58 a method without implementation gives nothing: the attribute goes',
    {
      page: inside('<b t:m="1" title="t">c</b>'),
      files: with_({ name: 'm', returns: ELEMENT }),
      is: shown('<b title="t">c</b>'),
    },
  ],
  [
    'COMP-58 MOD-8 a method without implementation is left out, so that of its parent has effect',
    {
      page: inside('<t:m/>x'),
      files: {
        '/p.html': schema('urn:parent', [{ name: 'm', sessel: '"parent"' }]),
        '/s.html': schema('urn:t', [{ name: 'm' }], 'urn:parent'),
      },
      is: shown('parentx'),
    },
  ],
  [
    'COMP-58 null and undefined remove the element, false and nothing-texts do not make a difference to what is around',
    {
      page: inside('[<t:a>x</t:a>][<t:b>x</t:b>][<t:c/>][<t:d/>]'),
      files: with_(
        { name: 'a', sessel: 'null' },
        { name: 'b', javascript: 'export default () => undefined' },
        { name: 'c', sessel: 'false' },
        { name: 'd', sessel: '""' },
      ),
      is: shown('[][][false][]'),
    },
  ],
  [
    'COMP-58 scalars are text: markup in them is escaped',
    {
      page: inside('<t:a/>|<t:b/>|<t:c/>|<t:d/>'),
      files: with_(
        { name: 'a', sessel: '"<b>&amp;</b>"' },
        { name: 'b', sessel: '42' },
        { name: 'c', javascript: 'export default () => 1.5' },
        { name: 'd', javascript: 'export default () => true' },
      ),
      is: shown('&lt;b&gt;&amp;amp;&lt;/b&gt;|42|1.5|true'),
    },
  ],
  [
    'COMP-58 an element is spliced and composition goes on into it',
    {
      page: inside('<t:a/>'),
      files: {
        ...with_({ name: 'a', returns: ELEMENT, sessel: 'Context.n = 7; ${#part}.first()' }),
        '/part.html': `<!doctype html><html ${PREFIXES}><body><b id="part"><p:stamp n/></b></body></html>`,
      },
      is: shown('<b id="part">7</b>'),
    },
  ],
  [
    'COMP-20 what a method element writes to Context is seen in what replaces it, and nowhere else',
    {
      page: inside('<t:a/><i><p:stamp n/></i>'),
      files: {
        ...with_({ name: 'a', sessel: 'Context.n = 7; ${#part}.first()' }),
        '/part.html': `<!doctype html><html ${PREFIXES}><body><b id="part"><p:stamp n/></b></body></html>`,
      },
      is: shown('<b id="part">7</b><i></i>'),
    },
  ],
  [
    'COMP-58 a list: each spliced in order, scalars as text, null skipped',
    {
      page: inside('<t:a/>|<t:b/>'),
      files: with_(
        { name: 'a', sessel: '[new b { 1 }, null, "x<", 2, new i { 3 }]' },
        {
          name: 'b',
          javascript:
            'export default () => [1, 2].map(n => Object.assign(document.createElement("u"), { textContent: n }))',
        },
      ),
      is: shown('<b>1</b>x&lt;2<i>3</i>|<u>1</u><u>2</u>'),
    },
  ],
  [
    'COMP-58 an instance is spliced as its microdata',
    {
      page: inside('<t:a/>'),
      files: {
        ...with_({ name: 'a', sessel: '@schema Card url("urn:demo:Card"); new Card { title: "Hi" }' }),
        '/card.html': `<div hidden itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="urn:demo:Card"><div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="title"></div></div>`,
      },
      has: /<main><\w+ itemscope="" itemtype="urn:demo:Card"><\w+ itemprop="title"[^>]*(content="Hi"|>Hi<)/,
    },
  ],
  [
    'COMP-55 declared to return an element, and it does: the whole host goes, remaining attributes with it',
    {
      page: inside('<b e:n="1" t:a="v" t:bad="x" p:template="text/liquid">{% nonsense %}</b>'),
      files: with_(
        { name: 'a', parameters: ['v'], returns: ELEMENT, sessel: 'new i { v + n }' },
        { name: 'bad', parameters: ['v'], sessel: 'nosuch' },
      ),
      status: 500,
    },
  ],
  [
    'COMP-55 COMP-17 the rest is not dispatched once the host is replaced',
    {
      page: inside('<b t:a="v" t:bad="x" e:x="nosuch" p:template="text/liquid">{% nonsense %}</b>'),
      files: with_(
        { name: 'a', parameters: ['v'], returns: ELEMENT, sessel: 'new i { v }' },
        { name: 'bad', parameters: ['v'], sessel: 'nosuch' },
      ),
      is: shown('<i>v</i>'),
    },
  ],
  [
    'COMP-55 without returns: a list of elements replaces the host, a scalar is discarded',
    {
      page: inside('<b t:a="v">x</b><b t:c="v">y</b>'),
      files: with_(
        { name: 'a', parameters: ['v'], sessel: '[new i { 1 }, new u { 2 }]' },
        { name: 'c', parameters: ['v'], sessel: '"text"' },
      ),
      is: shown('<i>1</i><u>2</u><b>y</b>'),
    },
  ],
  [
    'COMP-55 declared to return something else the result is discarded',
    {
      page: inside('<b t:a="v">x</b>'),
      files: with_({ name: 'a', parameters: ['v'], returns: 'https://schema.example/Text', sessel: 'new i { v }' }),
      is: shown('<b>x</b>'),
    },
  ],
  [
    'COMP-17 bindings and methods run interleaved, as they are written',
    {
      page: inside('<b e:n="1" t:note="x" e:m="noted"><p:stamp m/></b>'),
      files: with_({ name: 'note', parameters: ['v'], sessel: 'Context.noted = "#{v}#{Context.n}"; null' }),
      is: shown('<b>x1</b>'),
    },
  ],
  [
    'COMP-17 the template comes last, wherever it is written, and sees what methods wrote',
    {
      page: inside('<b p:template="text/liquid" t:note="x">{{ noted }}</b>'),
      files: with_({ name: 'note', parameters: ['v'], sessel: 'Context.noted = v + "!"; null' }),
      is: shown('<b>x!</b>'),
    },
  ],
]

const scripts: Cases = [
  [
    'COMP-56 this is the element, document its subtree alone',
    {
      page: inside('<p class="out">o</p><t:m data-x="1"><b class="in">2</b></t:m>'),
      files: with_({
        name: 'm',
        javascript:
          'export default function () { return [this.getAttribute("data-x"), document.querySelector(".in").textContent, document.querySelector(".out"), document.querySelectorAll("b").length].join() }',
      }),
      has: '1,2,,1</main>',
    },
  ],
  [
    'COMP-56 any mutation throws NoModificationAllowedError',
    {
      page: inside('<t:m><b>x</b></t:m>'),
      files: with_({
        name: 'm',
        javascript: `export default function () {
          const tries = [() => this.append("x"), () => document.querySelector("b").remove(), () => { this.innerHTML = "" }, () => { document.querySelector("b").textContent = "y" }, () => this.classList.add("z")]
          return tries.map(each => { try { each(); return "none" } catch (e) { return e.name } }).join()
        }`,
      }),
      is: shown(Array(5).fill('NoModificationAllowedError').join()),
    },
  ],
  [
    'COMP-56 an uncaught mutation is 500',
    {
      page: inside('<t:m/>'),
      files: with_({ name: 'm', javascript: 'export default function () { this.remove() }' }),
      status: 500,
      has: 'BindingFailure',
    },
  ],
  [
    'COMP-56 DOMParser builds nodes, the export may be async',
    {
      page: inside('<t:m who="A"/>'),
      files: with_({
        name: 'm',
        parameters: ['who'],
        returns: ELEMENT,
        javascript:
          'export default async function (who) { await null; return new DOMParser().parseFromString("<p>Hi <b></b></p>", "text/html").querySelector("p") }',
      }),
      is: shown('<p>Hi <b></b></p>'),
    },
  ],
  [
    'COMP-56 Context is there in scripts and expressions',
    {
      page: inside('<div e:n="2"><t:js/><t:se/></div>'),
      files: with_(
        { name: 'js', javascript: 'export default () => Context.n + Context.request.path' },
        { name: 'se', sessel: '"#{Context.n}" + Context.request.method' },
      ),
      has: /2\/page\.html2?/,
    },
  ],
  [
    'COMP-60 what does not compile, throws or rejects is 500: an expression',
    { page: inside('<t:m/>'), files: with_({ name: 'm', sessel: '1 +' }), status: 500, has: 'BindingFailure' },
  ],
  [
    'COMP-60 a script that does not compile',
    {
      page: inside('<t:m/>'),
      files: with_({ name: 'm', javascript: 'export default (' }),
      status: 500,
      has: 'BindingFailure',
    },
  ],
  [
    'COMP-60 a script that rejects',
    {
      page: inside('<t:m/>'),
      files: with_({ name: 'm', javascript: 'export default async () => { throw new Error("why not") }' }),
      status: 500,
      has: 'why not',
    },
  ],
  [
    'COMP-60 a promise that never settles',
    {
      page: inside('<t:m/>'),
      files: with_({ name: 'm', javascript: 'export default () => new Promise(() => {})' }),
      status: 500,
      has: 'BindingFailure',
    },
  ],
  [
    'COMP-60 HTTP-172 a spent budget is 503: a script without end',
    {
      page: inside('<t:m/>'),
      files: with_({ name: 'm', javascript: 'export default () => { for (;;); }' }),
      status: 503,
    },
  ],
  [
    'COMP-149 no network, no files, no writing',
    {
      page: inside('<t:m/>'),
      files: with_({
        name: 'm',
        javascript:
          'export default () => [typeof fetch, typeof XMLHttpRequest, typeof process, typeof require, typeof WebSocket].join()',
      }),
      is: shown(Array(5).fill('undefined').join()),
    },
  ],
]

describe('Results of methods, by the text of the rules', () => {
  const site = caseSite()
  for (const [name, cases] of Object.entries({ results, scripts })) describe(name, () => casesOf(site, cases))
})
