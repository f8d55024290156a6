/** What templates see, and how values compare and print (LIQ-10 to LIQ-23, LIQ-27 to LIQ-29), as visitors meet it. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { composed, served } from '../../pipeline/compose/composing.ts'
import { NS, put } from '../../support/content.ts'
import { type Case, templates } from './rendering.ts'

const T = 'p:template="text/liquid"'

const cases: Case[] = [
  [
    'LIQ-10 locals come before bindings, bindings before request',
    '{{ n }}{% assign n = 4 %}{{ n }}{{ request.method }}',
    '34GET',
  ],
  ['LIQ-10 loop variables come before all others', '{% for n in (7..8) %}{{ n }}{% endfor %}{{ n }}', '783'],
  ['LIQ-10 counters are found last', '{% increment n %}{{ n }}{% increment c %}{% increment c %}{{ c }}', '03012'],
  [
    'LIQ-10 rule names and Context are no names',
    '[{{ Context }}{{ Context.n }}{{ auth }}{{ method }}{{ path }}{{ query }}]',
    '[]',
  ],
  ['LIQ-11 assign may shadow request for the rest of a render', '{% assign request = 1 %}{{ request }}', '1'],
  [
    'LIQ-12 what is not there is nil',
    '[{{ nosuch.deep }}{{ h.nosuch }}{{ n.a.b }}{{ people[9].name }}{% if nosuch %}x{% endif %}{{ nosuch | size }}]',
    '[0]',
  ],
  ['LIQ-13 names with hyphens and a question mark', "{{ my-list.first }}{% assign ok? = 'y' %}{{ ok? }}", 'xy'],
  [
    'LIQ-14 a literal with a point is a Float',
    '{{ 1.0 }} {{ 1 }} {{ -2.50 }} {{ 9223372036854775807 }}',
    '1.0 1 -2.5 9223372036854775807',
  ],
  [
    'LIQ-15 values of Sessel',
    '{{ h.k }} {{ h["a b"] | plus: 1 }} {{ h.n }} {{ h.list | size }} [{{ h.list[1] }}] {{ day }} {{ ada.name }}',
    'v 2 1.0 2 [] 2026-07-07 Ada',
  ],
  [
    'LIQ-15 values of JavaScript',
    '{{ js.whole }} {{ js.part }} {{ js.big }} [{{ js.no }}] {{ js.list | join: "," }} {{ js.deep.a[0].b }}',
    '3 1.5 1152921504606847000 [] 1,2 1',
  ],
  [
    'LIQ-15 elements by selector, in the order of the site',
    '{{ people.size }} {{ none.size }} {% if none == empty %}empty{% endif %}',
    '2 0 empty',
  ],
  [
    'LIQ-16 properties of items',
    '{{ people[0].name }} {{ people[0]["age"] }} {{ people[0].note | join: "|" }} {{ people[0].url }} {{ people[0].address.city }} [{{ people[1].note }}]',
    'Ada 36 a b|c ../x?a=1&amp;b Rome []',
  ],
  ['LIQ-16 values of items are texts', '{{ people[0].age | json }} {{ people[0].member | json }}', '"36" "true"'],
  [
    'LIQ-16 an element that is no item has no properties',
    '[{{ rules[0].name }}] {{ rules | size }} {{ rules[0].size }}',
    '[] 1 0',
  ],
  [
    'LIQ-17 reserved keys',
    "{{ people[0]['@id'] }} {{ people[1]['@id'] }} {{ people[0]['@type'] }} [{{ rules[0]['@type'] }}] {{ people[1]['@text'] }}",
    '/people.html#ada /people.html urn:x:Person [] Bo9false',
  ],
  [
    'LIQ-18 size, first and last',
    '{{ people.size }}{{ people.first.name }}{{ people.last.name }}{{ emoji.size }}{{ h.size }}{{ people[1].size }}',
    '2AdaBo343',
  ],
  [
    'LIQ-18 indexes and keys',
    '{{ js.list[0] }}{{ js.list[-1] }}{{ h["k"] }}{% assign key = "a b" %}{{ h[key] }}[{{ js.list[9] }}{{ js.list[-9] }}]',
    '12v1[]',
  ],
  [
    'LIQ-18 nothing but own data',
    '[{{ evil.length }}{{ h.constructor }}{{ h.__proto__ }}{{ js.toString }}{{ js.hasOwnProperty }}{{ people[0].node }}{{ people.map }}{{ people.length }}{{ request.constructor }}]',
    '[]',
  ],
  [
    'LIQ-19 how values print',
    '[{{ nil }}] {{ true }} {{ false }} {{ 3 }} {{ 100.0 }} {{ js.list }} {{ h }} {{ (1..3) }} {{ people[1] }}',
    '[] true false 3 100.0 12 {"k":"v","a b":1,"n":1.0,"list":[1,null]} 1..3 Bo9false',
  ],
  [
    'LIQ-19 large and small Floats',
    '{{ 1.0 | times: 1000000000000000 }} {{ 1.0 | divided_by: 3 }} {{ 0.1 | plus: 0.2 }}',
    '1000000000000000.0 0.3333333333333333 0.30000000000000004',
  ],
  [
    'LIQ-20 only nil and false are falsy',
    '{% if "" %}a{% endif %}{% if 0 %}b{% endif %}{% if none %}c{% endif %}{% if nil %}d{% endif %}{% if false %}e{% endif %}',
    'abc',
  ],
  [
    'LIQ-20 empty and blank, on either side',
    '{{ "" == empty }} {{ empty == none }} {{ nil == empty }} {{ " " == blank }} {{ blank == nil }} {{ false == blank }} {{ " " == empty }} {{ n != blank }}',
    'true true false true true true false true',
  ],
  [
    'LIQ-21 request',
    "{{ request.path }} {{ request.method }} {{ request.query.q }} {{ request.query.m | join: ',' }} {{ request.params | size }} [{{ request.body }}]",
    '/page.html GET &lt;b&gt; 1,2 0 []',
  ],
  [
    'LIQ-21 request is data to loop over',
    '{% for pair in request %}{{ pair[0] }} {% endfor %}',
    'path method query params headers auth body ',
  ],
  [
    'LIQ-22 nobody has signed in',
    '[{{ request.auth.username }}{{ request.auth.claims.email }}] {{ request.auth.role | size }}{{ request.auth.roles | size }} {% if request.auth.username %}in{% else %}out{% endif %}',
    '[] 00 out',
  ],
  [
    'LIQ-27 literals',
    `{{ "a\\n\\t\\\\\\"" | json }} {{ '\\'' | size }} {{ true }}{{ null }} {{ -1.5 }}`,
    '"a\\n\\t\\\\\\"" 1 true -1.5',
  ],
  [
    'LIQ-27 ranges',
    '{% for i in (1..n) %}{{ i }}{% endfor %} {% for i in (3..1) %}x{% else %}none{% endfor %} {{ (1..4) | last }} {{ (-1..1) | size }}',
    '123 none 4 3',
  ],
  [
    'LIQ-28 operators',
    '{{ 1 < 2 }} {{ 2 <= 1 }} {{ 1 <> 2 }} {{ 1 != 1 }} {{ 1 == 1.0 }}',
    'true false true false true',
  ],
  [
    'LIQ-28 and and or associate to the right',
    '{{ true or false and false }} {{ false and false or true }}',
    'true false',
  ],
  [
    'LIQ-28 contains',
    '{{ "abc" contains "b" }} {{ js.list contains "2" }} {{ people contains 1 }} {{ nil contains nil }} {{ h contains "k" }} {{ 12 contains 1 }}',
    'true true false false false false',
  ],
  [
    'LIQ-29 numeric texts compare as numbers with numbers',
    '{{ people[0].age >= 18 }} {{ " 34 " == 34.0 }} {{ "10" < "9" }} {{ "x" < 1 }} {{ nil < 1 }} {{ people[0].member == true }} {{ "1" == true }} {{ 2 < "10" }}',
    'true true true false false true false true',
  ],
  [
    'LIQ-29 also where values are told apart',
    '{% case people[0].age %}{% when 9 %}nine{% when 36 %}thirty-six{% endcase %}',
    'thirty-six',
  ],
]

/** What makes a page private: reading who asks. */
const privacy: [title: string, source: string, isPrivate: boolean][] = [
  ['LIQ-23 printing identity', '{{ request.auth.username }}', true],
  ['LIQ-23 a condition on identity', '{% if request.auth.username %}x{% endif %}', true],
  ['LIQ-23 reading a header', "{{ request.headers['accept-language'] }}", true],
  ['LIQ-23 writing out request as a whole', '{{ request | json | size }}', true],
  ['LIQ-23 looping over request', '{% for p in request %}{{ p[1] | size }}{% endfor %}', true],
  ['LIQ-23 a predicate on identity', '{{ people | where_exp: "p", "p.name == request.auth.username" | size }}', true],
  [
    'LIQ-23 method, path, query and params',
    '{{ request.method }}{{ request.path }}{{ request.query.q }}{{ request.params.x }}',
    false,
  ],
  ['LIQ-23 a branch that is not taken', '{% if false %}{{ request.auth.username }}{% endif %}', false],
]

describe('Values of templates, over HTTP', () => {
  const site = templates()

  for (const [title, source, expected] of cases)
    it(title, async () => expect(await site.print(source)).to.equal(expected))

  for (const [title, source, isPrivate] of privacy)
    it(`${title}: ${isPrivate ? 'private' : 'shared'}`, async () => {
      await site.print(source)
      // Who has no cookie yet gets one, which makes any answer private.
      const cookie = (await site.send('GET', '/page.html')).headers['set-cookie']?.split(';')[0]
      const cache = (await site.send('GET', '/page.html', { Cookie: cookie })).headers['cache-control']
      expect(cache).to.match(isPrivate ? /^private/ : /^public, max-age=0, s-maxage=5$/)
    })

  it('LIQ-11 bindings of the host count wherever they stand, those of siblings and of the source do not', async () => {
    const body = `<i e:a="1"></i><p ${T} e:b="2">[{{ a }}{{ b }}{{ c }}<b e:c="3"></b>]</p>`
    expect((await site.show(composed(body))).text).to.equal(served('<i></i><p>[2<b></b>]</p>'))
  })

  it('LIQ-11 nothing that one host assigns is seen by another', async () => {
    const body = `<p ${T}>{% assign a = 1 %}{% increment c %}{{ a }}</p><p ${T}>[{{ a }}{% increment c %}]</p>`
    expect((await site.show(composed(body))).text).to.equal(served('<p>01</p><p>[0]</p>'))
  })

  it('LIQ-13 a name is found as it is written and in lower case', async () => {
    const body = `<p ${T} e:myList="1">{{ myList }}{{ mylist }}[{{ MYLIST }}]</p>`
    expect((await site.show(composed(body))).text).to.equal(served('<p>11[]</p>'))
  })

  it('LIQ-15 LIQ-16 what a schema says counts for instances alone', async () => {
    const property = (name: string, cardinality: string) =>
      `<div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="${name}"><meta itemprop="cardinality" content="${cardinality}"></div>`
    const schema = `<div hidden itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="urn:x:Tagged">${property('tag', '0..n')}</div>`
    await put(
      site.server,
      '/tagged.html',
      composed(`${schema}<p class="tagged" itemscope itemtype="urn:x:Tagged"><b itemprop="tag">a</b></p>`),
    )
    const instances = `e:list="@schema Tagged url('urn:x:Tagged'); Tagged.search()"`
    const body = `<p ${T} ${instances} r:plain=".tagged">{{ list[0].tag | json }} {{ plain[0].tag | json }}</p>`
    expect((await site.show(composed(body))).text).to.equal(served('<p>["a"] "a"</p>'))
  })

  const script = (slot: string, source: string) =>
    `<div itemprop="${slot}" itemscope itemtype="${NS}/JavaScript/Module"><script itemprop="source">export default ${source}</script></div>`
  for (const [rule, fields, expected] of [
    ['MOD-15 a property without cardinality', '', '"a"'],
    ['MOD-15 a property of one value', '<meta itemprop="cardinality" content="1..1">', '"a"'],
    ['MOD-15 a property that spells out several', '<meta itemprop="cardinality" content="1..n">', '["a"]'],
    ['MOD-60 a computed property', '<script type="text/sessel" itemprop="@computed">self.q + "!"</script>', '"b!"'],
    ['MOD-60 one that a script computes', script('@computed', 'function () { return this.q + "?" }'), '"b?"'],
    ['MOD-60 one that is null', '<script type="text/sessel" itemprop="@computed">null</script>', 'null'],
    ['MOD-71 a read resolver', script('@read', "value => value + '…'"), '"a…"'],
  ] as const)
    it(`${rule}, as templates and scripts read it of an instance`, async () => {
      const property = (name: string, more: string) =>
        `<div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="${name}">${more}</div>`
      const declared = `<meta itemprop="type" content="urn:x:Read">${property('p', fields)}${property('q', '')}`
      const item = '<p itemscope itemtype="urn:x:Read"><b itemprop="p">a</b><b itemprop="q">b</b></p>'
      const schema = `<div hidden itemscope itemtype="${NS}/Schema">${declared}</div>`
      await put(site.server, '/read.html', composed(schema + item))
      const instances = `e:it="@schema Read url('urn:x:Read'); Read.search().first()" j:p="it.p"`
      const body = `<p ${T} ${instances}>{{ it.p | json | raw }} {{ p | json | raw }}</p>`
      expect((await site.show(composed(body))).text).to.equal(served(`<p>${expected} ${expected}</p>`))
    })
})
