import { expect } from 'chai'
import { AllowanceSpent } from '../../../../pipeline/language/allowance.ts'
import {
  compileTemplate,
  inDocument,
  renderTemplate,
  TemplateError,
} from '../../../../pipeline/language/liquid/liquid.ts'
import { ElementValue, NamedValue, type Value } from '../../../../pipeline/language/values.ts'
import { unhurried } from '../../../support/unhurried.ts'
import { failure, hash, items, rendered, scopeOf, Watched } from './rendering.ts'

class Day extends NamedValue {
  readonly typeName = 'Temporal.PlainDate'
  text(): string {
    return '2026-07-07'
  }
}

const PEOPLE = `<div itemscope itemtype="urn:x:Person" id="ada"><b itemprop="name">Ada</b> <i itemprop="age">36</i>
<a itemprop="url" href="../x?a=1&amp;b">u</a><p itemprop="note">a  b</p><p itemprop="note">c</p>
<div itemprop="address" itemscope itemtype="urn:x:Address"><b itemprop="city">Rome</b></div></div>
<div itemscope itemtype="urn:x:Person"><b itemprop="name">Bo</b><i itemprop="age">9</i></div>`

function names(): Record<string, Value> {
  return {
    people: items(PEOPLE, '/people.html'),
    n: 3n,
    f: 100.0,
    s: 'a<b>&"\'',
    list: [1n, 2n, 3n],
    none: [],
    nothing: null,
    h: hash({ k: 'v', 'a b': 1n }),
    sized: hash({ size: 'own' }),
    day: new Day(),
    'my-list': ['x'],
    yes: true,
    no: false,
    age: '34',
    request: hash({
      method: 'GET',
      headers: hash({ 'accept-language': 'de' }),
      auth: hash({ username: null, roles: [] }),
    }),
  }
}

const cases: [string, string, string][] = [
  ['LIQ-4 the example', '{{ 2 | plus: 3 }}', '5'],
  ['LIQ-7 references in spans are decoded', '{% if n &gt; 0 %}y{% endif %}{{ "a &amp; b" | size }}', 'y5'],
  ['LIQ-7 in attribute values', `<p title="{{ 'a&amp;b' | size }}">`, '<p title="3">'],
  [
    'LIQ-7 in title and textarea',
    "<title>{{ '&lt;' | size }}</title><textarea>{{ '&lt;' | size }}</textarea>",
    '<title>1</title><textarea>1</textarea>',
  ],
  [
    'LIQ-7 not in script, style, comments',
    "<script>{{ '&lt;' | size }}</script><style>{{ '&lt;' | size }}</style><!--{{ '&lt;' | size }}-->",
    '<script>4</script><style>4</style><!--4-->',
  ],
  ['LIQ-7 not in raw blocks, nor outside spans', '{% raw %}{{ a &gt; b }}{% endraw %}&gt;', '{{ a &gt; b }}&gt;'],
  ['LIQ-7 references form no delimiter', '&#123;&#123; 1 }}', '&#123;&#123; 1 }}'],
  ['LIQ-8 hyphens strip white space, newlines included', 'a \n {{- n -}} \n b', 'a3b'],
  ['LIQ-8 of tags', 'a {%- if yes -%} b {%- endif -%} c', 'abc'],
  ['LIQ-8 without hyphens text stays byte for byte', ' a\n  {% if yes %}\n b\n  {% endif %}\n', ' a\n  \n b\n  \n'],
  ['LIQ-8 a dollar is text', '$' + '{{ n }} $ {', '$3 $ {'],
  ['LIQ-9 text between spans is copied', '<b>{{ n }}</b>&copy;\r\n', '<b>3</b>&copy;\r\n'],
  [
    'LIQ-10 locals, Context, request, counters',
    '{{ n }}{% assign n = 4 %}{{ n }}{{ request.method }}{% increment c %}{{ c }}',
    '34GET01',
  ],
  ['LIQ-10 there is no Context', '[{{ Context.n }}{{ Context }}]', '[]'],
  ['LIQ-11 assign shadows bindings and request', '{% assign request = 1 %}{{ request }}', '1'],
  [
    'LIQ-12 undefined is nil',
    '[{{ nosuch.deep }}{% if nosuch %}x{% endif %}{{ nosuch | size }}{{ nothing.a.b }}{{ n.a }}]',
    '[0]',
  ],
  ['LIQ-13 names with hyphens and question marks', '{{ my-list.first }}{% assign ok? = 1 %}{{ ok? }}', 'x1'],
  ['LIQ-14 a literal with a point is a Float', '{{ 1.0 }} {{ 1 }} {{ -2.50 }}', '1.0 1 -2.5'],
  ['LIQ-15 a time is its ISO text', '{{ day }} {{ day | date: "%Y" }}', '2026-07-07 2026'],
  [
    'LIQ-16 properties of items',
    '{% assign p = people[0] %}{{ p.name }} {{ p["age"] | plus: 1 }} {{ p.url }} {{ p.note | join: "|" }} {{ p.address.city }} [{{ p.none }}]',
    'Ada 37 ../x?a=1&amp;b a b|c Rome []',
  ],
  [
    'LIQ-17 reserved keys',
    "{{ people[0]['@id'] }} {{ people[1]['@id'] }} {{ people[0]['@type'] }} {{ people[1]['@text'] }}",
    '/people.html#ada /people.html urn:x:Person Bo9',
  ],
  [
    'LIQ-18 members',
    '{{ list.size }}{{ list.first }}{{ list.last }}{{ s.size }}{{ h.size }}{{ sized.size }}{{ people[1].size }}',
    '31372own2',
  ],
  [
    'LIQ-18 indexes and keys',
    '{{ list[0] }}{{ list[-1] }}{{ h["k"] }}{% assign k = "a b" %}{{ h[k] }}[{{ list[9] }}]',
    '13v1[]',
  ],
  [
    'LIQ-18 only own data',
    '[{{ s.length }}{{ s.constructor }}{{ h.__proto__ }}{{ h.get }}{{ list.length }}{{ people[0].node }}{{ people.constructor }}]',
    '[]',
  ],
  [
    'LIQ-19 as text',
    '[{{ nothing }}] {{ yes }} {{ n }} {{ f }} {{ list }} {{ h }} {{ (1..3) }} {{ people[1] }}',
    '[] true 3 100.0 123 {&quot;k&quot;:&quot;v&quot;,&quot;a b&quot;:1} 1..3 Bo9',
  ],
  [
    'LIQ-20 only nil and false are falsy',
    '{% if "" %}a{% endif %}{% if 0 %}b{% endif %}{% if none %}c{% endif %}{% if nothing %}d{% endif %}{% if no %}e{% endif %}',
    'abc',
  ],
  [
    'LIQ-20 empty and blank',
    '{{ "" == empty }} {{ empty == none }} {{ nothing == empty }} {{ " " == blank }} {{ nothing == blank }} {{ no == blank }} {{ list != empty }}',
    'true true false true true true true',
  ],
  [
    'LIQ-21 request is data',
    "{{ request.headers['accept-language'] }}{% for p in request %}{{ p[0] }} {% endfor %}",
    'demethod headers auth ',
  ],
  [
    'LIQ-22 anonymous',
    '[{{ request.auth.username }}{{ request.auth.claims.name }}]{% if request.auth.username %}in{% else %}out{% endif %}',
    '[]out',
  ],
  ['LIQ-24 if elsif else', '{% if n == 1 %}a{% elsif n == 3 %}b{% else %}c{% endif %}', 'b'],
  ['LIQ-24 unless', '{% unless yes %}a{% elsif yes %}b{% else %}c{% endunless %}', 'b'],
  ['LIQ-24 filters in conditions', '{% if list | first %}a{% endif %}', 'a'],
  ['LIQ-24 case', '{% case n %} x {% when 1, 2 %}a{% when 4 or "3" %}b{% else %}c{% endcase %}', 'b'],
  [
    'LIQ-24 for with options',
    '{% for i in (1..6) limit:2 offset: 1 %}{{ i }}{% endfor %} {% for i in (1..5) reversed limit:2 %}{{ i }}{% endfor %}',
    '23 21',
  ],
  [
    'LIQ-24 offset: continue',
    '{% for i in list limit:2 %}{{ i }}{% endfor %}-{% for i in list offset: continue %}{{ i }}{% endfor %}',
    '12-3',
  ],
  [
    'LIQ-24 break continue else',
    '{% for i in list %}{% if i == 2 %}{% continue %}{% endif %}{{ i }}{% endfor %}{% for i in list %}{% break %}{% endfor %}{% for i in none %}{% else %}e{% endfor %}{% for i in nothing %}{% else %}n{% endfor %}',
    '13en',
  ],
  [
    'LIQ-24 forloop',
    '{% for i in list %}{{ forloop.index }}{{ forloop.index0 }}{{ forloop.rindex }}{{ forloop.rindex0 }}{{ forloop.first }}{{ forloop.last }}{{ forloop.length }} {% endfor %}',
    '1032truefalse3 2121falsefalse3 3210falsetrue3 ',
  ],
  [
    'LIQ-24 parentloop',
    '{% for i in list %}{% for j in (1..2) %}{{ forloop.parentloop.index }}{{ j }} {% endfor %}{% endfor %}',
    '11 12 21 22 31 32 ',
  ],
  [
    'LIQ-24 cycle',
    '{% for i in list %}{% cycle "a", "b" %}{% cycle "g": 1, 2 %}{% cycle "g": 1, 2 %}{% endfor %}',
    'a12b12a12',
  ],
  [
    'LIQ-24 tablerow',
    '{% tablerow i in list cols:2 %}{{ i }}{{ tablerowloop.col }}{% endtablerow %}',
    '<tr class="row1"><td class="col1">11</td><td class="col2">22</td></tr><tr class="row2"><td class="col1">31</td></tr>',
  ],
  [
    'LIQ-24 increment decrement echo',
    '{% increment a %}{% increment a %}{% decrement b %}{% decrement b %}{% echo n | plus: 1 %}{% echo s %}',
    '01-1-24a&lt;b&gt;&amp;&quot;&#39;',
  ],
  ['LIQ-24 capture', '{% capture c %}<b>{{ s }}</b>{% endcapture %}{{ c }}', '<b>a&lt;b&gt;&amp;&quot;&#39;</b>'],
  [
    'LIQ-24 raw, comment, liquid, inline comments',
    '{% raw %}{{ n }}{% if %}{% endraw %}{% comment %}{{ n | }}{% if %}{% endcomment %}{% # note %}{% liquid\n assign x = 1\n if x == 1\n echo "y"\n endif\n%}',
    '{{ n }}{% if %}y',
  ],
  [
    'LIQ-25 looping over texts, items, hashes',
    '{% for c in s %}[{{ c }}]{% endfor %}{% for p in people[1] %}{{ p.name }}{% endfor %}{% for e in h %}{{ e[0] }}={{ e[1] }};{% endfor %}',
    '[a&lt;b&gt;&amp;&quot;&#39;]Bok=v;a b=1;',
  ],
  [
    'LIQ-27 literals',
    '{{ "a\\n\\t\\\\\\"" | json }}{{ \'\\\'\' | size }}{{ true }}{{ nil }}{{ null }}{{ -1.5 }}',
    '&quot;a\\n\\t\\\\\\&quot;&quot;1true-1.5',
  ],
  ['LIQ-27 ranges', '{% for i in (1..n) %}{{ i }}{% endfor %}{% for i in (3..1) %}x{% else %}e{% endfor %}', '123e'],
  [
    'LIQ-28 operators',
    '{{ 1 < 2 }}{{ 2 <= 2 }}{{ 1 > 2 }}{{ 1 >= 2 }}{{ 1 <> 2 }}{{ 1 != 1 }}',
    'truetruefalsefalsetruefalse',
  ],
  ['LIQ-28 and/or associate to the right', '{{ true or false and false }} {{ false and false or true }}', 'true false'],
  [
    'LIQ-28 contains',
    '{{ s contains "<b" }} {{ list contains 2 }} {{ list contains "2" }} {{ h contains "k" }} {{ nothing contains 1 }}',
    'true true true false false',
  ],
  [
    'LIQ-29 numeric texts compare as numbers with numbers',
    '{{ "34" >= 18 }} {{ "34" == 34 }} {{ " 34 " == 34.0 }} {{ "10" < "9" }} {{ "x" < 1 }} {{ nothing < 1 }} {{ "true" == true }} {{ "1" == true }}',
    'true true true true false false true false',
  ],
  ['LIQ-30 keyword arguments alone', '{{ 4 | random: lower: 4 | size }}', '4'],
  ['LIQ-31 output is escaped', '{{ s }}', 'a&lt;b&gt;&amp;&quot;&#39;'],
  [
    'LIQ-32 safe texts',
    '{% assign e = s | escape %}{{ e }} {{ "<" | escape | escape }} {{ "<" | escape | upcase }} {{ "&amp;&copy;<" | raw | escape_once }}',
    'a&lt;b&gt;&amp;&quot;&#39; &amp;lt; &amp;LT; &amp;©&lt;',
  ],
  ['LIQ-33 raw', '{{ "<i>" | raw }}', '<i>'],
  ['LIQ-34 newline_to_br', '{{ "<\n>\r\n" | newline_to_br }}', '&lt;<br />\n&gt;<br />\n'],
  [
    'LIQ-36 data is never evaluated',
    '{% assign d = "{{ n }}" %}{{ d }}{% capture c %}{{ d }}{% endcapture %}{{ c }}',
    '{{ n }}{{ n }}',
  ],
  [
    'LIQ-60 local errors in content, none elsewhere',
    '<a title="{{ "x" | date }}">{{ "x" | date }}</a><!--{{ "x" | date }}--><title>{{ "x" | date }}</title><script>{{ "x" | date }}</script>',
    '<a title=""><span itemscope itemtype="https://ns.example/Error"><meta itemprop="kind" content="TemplateError"><span itemprop="message">date: the input is no date.</span></span></a><!----><title></title><script></script>',
  ],
  [
    'LIQ-61 inside capture an output degrades',
    '{% capture c %}a{{ "x" | date }}{% endcapture %}{{ c | strip_html }}',
    'adate: the input is no date.',
  ],
]

describe('Templates', () => {
  for (const [title, source, expected] of cases) {
    it(title, async () => {
      expect(await rendered(source, { names: names() })).to.equal(expected)
    })
  }

  const failures: [string, string, number][] = [
    ['LIQ-26 include', '{% include "package.json" %}', 1],
    ['LIQ-26 render', '{% render "x" %}', 1],
    ['LIQ-26 layout', '\n{% layout "x" %}', 2],
    ['LIQ-26 block', '{% block x %}{% endblock %}', 1],
    ['LIQ-26 an unknown tag', 'a\nb{% nosuch %}', 2],
    ['LIQ-24 a filter behind the collection of a loop', '{% for x in list | sort %}{% endfor %}', 1],
    ['LIQ-64 an output that is not closed', 'a\n\n{{ n', 3],
    ['LIQ-64 a tag that is not closed', '{% if n', 1],
    ['LIQ-64 a raw block that is not closed', '{% raw %}', 1],
    ['LIQ-64 a block that is not closed', '\n{% if n %}', 2],
    ['LIQ-64 an end tag without block', '{% endif %}', 1],
    ['LIQ-64 an end tag of another block', '{% if n %}\n{% endfor %}', 2],
    ['LIQ-64 else behind else', '{% if n %}{% else %}{% else %}{% endif %}', 1],
    ['LIQ-64 two values without operator', '{{ a b }}', 1],
    ['LIQ-64 a missing operand', '{{ a == }}', 1],
    ['LIQ-64 a string that is not closed', '{% assign a = "x %}', 1],
    ['LIQ-64 a filter without name', '{{ a | }}', 1],
    ['LIQ-64 an empty output', '{{ }}', 1],
    ['LIQ-64 blocks that are nested too deeply', '{% if n %}'.repeat(101), 1],
    ['LIQ-64 brackets that are nested too deeply', `{{ a${'[a'.repeat(100)} }}`, 1],
    ['LIQ-61 a condition', 'a\n{% if "x" | date %}{% endif %}', 2],
    ['LIQ-61 elsif', '{% if no %}\n{% elsif "x" | date %}{% endif %}', 2],
    ['LIQ-61 unless', '{% unless "x" | date %}{% endunless %}', 1],
    ['LIQ-61 case', '{% case "x" | date %}{% when 1 %}{% endcase %}', 1],
    ['LIQ-61 assign', '{% assign a = "x" | nosuch %}', 1],
  ]
  for (const [title, source, line] of failures) {
    it(`${title} fails the template with its line`, async () => {
      const error = await failure(() => rendered(source, { names: names() }))
      expect(error).to.be.instanceOf(TemplateError)
      if (error instanceof TemplateError) expect(error.line).to.equal(line)
      expect(error.message).to.have.length.below(200)
    })
  }

  it('LIQ-64 lines are counted in the document', () => {
    expect(inDocument(new TemplateError('x', 2), 10).line).to.equal(11)
  })

  it('LIQ-11 each render begins with a fresh scope', async () => {
    expect(await rendered('{{ a }}{% assign a = 1 %}{% increment c %}')).to.equal('0')
    expect(await rendered('{{ a }}{% assign a = 1 %}{% increment c %}')).to.equal('0')
  })

  it('LIQ-15 a property of an Instance is read through its schema, and may come later', async () => {
    const [item] = items('<div itemscope itemtype="urn:x:T"></div>')
    if (!item) throw new Error('There is no item.')
    const asked: string[] = []
    const list = Array.from({ length: 50 }, () => new ElementValue(item.node, item.source, 'urn:x:T'))
    const property = async (_: ElementValue, name: string): Promise<Value> => {
      asked.push(name)
      return name === 'tags' ? ['a'] : name === 'n' ? BigInt(asked.length) : null
    }
    const scope = { property, propertyNames: async () => ['tags', 'n'] }
    const source =
      '{{ list | map: "tags" | first }}{{ list[0].tags | size }}{{ list | where: "tags" | size }}{{ list[0].no }}'
    expect(await rendered(source, { names: { list }, scope })).to.equal('a150')
    expect(asked).to.have.length(51)
    const json = await rendered('{{ list[0] | json }}', {
      names: { list },
      scope,
      context: { kind: 'html', element: 'script' },
    })
    expect(json).to.equal('{"@id":"/stored.html","@type":"urn:x:T","tags":["a"],"n":53}')
  })

  it('LIQ-15 a failing schema fails the page', async () => {
    const [item] = items('<div itemscope itemtype="urn:x:T"></div>')
    if (!item) throw new Error('There is no item.')
    const scope = { property: () => Promise.reject(new Error('schema')) }
    const error = await failure(() =>
      rendered('{{ x.a }}', { names: { x: new ElementValue(item.node, item.source, 'urn:x:T') }, scope }),
    )
    expect(error.message).to.equal('schema')
  })

  it('LIQ-23 what is not evaluated is not read of request', async () => {
    const request = new Watched({ method: 'GET', auth: hash({ username: null }) })
    await rendered('{% if no %}{{ request.auth.username }}{% endif %}{{ request.method }}', {
      names: { request, no: false },
    })
    expect(request.read).to.deep.equal(['method'])
    await rendered('{{ request | json }}', { names: { request } })
    expect(request.read).to.include('*').and.to.include('auth')
  })

  it('LIQ-10 a name is asked for once', async () => {
    const asked: string[] = []
    const lookup = async (name: string): Promise<Value> => {
      asked.push(name)
      return 1n
    }
    expect(await rendered('{{ a }}{{ a }}{% if a == b %}y{% endif %}', { scope: { lookup } })).to.equal('11y')
    expect(asked).to.deep.equal(['a', 'b'])
  })

  it('LIQ-60 a message has at most 300 characters', async () => {
    const text = await rendered(`{{ 1 | ${'x'.repeat(1000)} }}`)
    expect(text.replace(/<[^>]*>/g, '')).to.have.length.below(301)
  })

  it('LIQ-70 a template is parsed once', () => {
    const source = `{{ once }}${'x'.repeat(100_000)}`
    const context = { kind: 'html', element: 'div' } as const
    expect(compileTemplate(source, context)).to.equal(compileTemplate(source, context))
  })

  const spent: [string, string][] = [
    ['LIQ-71 an endless range', '{% for i in (1..100000000) %}{% endfor %}'],
    ['LIQ-71 a range as an array', '{{ (1..9999999999999) | size }}{% assign a = (1..9999999999999) | reverse %}'],
    [
      'LIQ-71 a text that doubles',
      `{% assign a = "${'x'.repeat(100)}" %}{% for i in (1..40) %}{% assign a = a | append: a %}{% endfor %}`,
    ],
    [
      'LIQ-71 an array that doubles',
      '{% assign a = "x" | split: "" %}{% for i in (1..40) %}{% assign a = a | concat: a %}{% endfor %}',
    ],
    [
      'LIQ-71 arrays inside arrays',
      '{% assign a = "x" | split: "" %}{% for i in (1..60) %}{% assign b = a %}{% assign a = nil | push: b | push: b %}{% endfor %}{% if a == b %}{% endif %}{% capture c %}{{ a | json }}{% endcapture %}',
    ],
    [
      'LIQ-71 a replacement that grows',
      `{% assign a = "${'x'.repeat(3000)}" %}{% assign b = a | replace: "x", a %}{% assign b = b | replace: "x", a %}`,
    ],
    ['LIQ-71 loops in loops', '{% for a in (1..2000) %}{% for b in (1..2000) %}{% endfor %}{% endfor %}'],
    ['LIQ-71 printing', `{% for a in (1..200000) %}${'x'.repeat(1000)}{% endfor %}`],
    ['LIQ-71 predicates', '{% assign a = (1..2000) | where_exp: "x", "big | where_exp: \'y\', \'y > x\'" %}'],
  ]
  for (const [title, source] of spent) {
    it(`${title} ends with the allowance`, async () => {
      const big = Array.from({ length: 2000 }, (_, i) => BigInt(i))
      expect(await failure(() => rendered(source, { names: { big } }))).to.be.instanceOf(AllowanceSpent)
    })
  }

  it('LIQ-71 an error of the allowance passes through outputs', async () => {
    const error = await failure(() => rendered('{{ (1..100000) | join }}', { allowance: unhurried({ steps: 1000 }) }))
    expect(error).to.be.instanceOf(AllowanceSpent)
  })

  it('LIQ-70 all templates of a request print 16 MiB together at most', async () => {
    const allowance = unhurried()
    const source = `{% for a in (1..9000) %}${'x'.repeat(1000)}{% endfor %}`
    await rendered(source, { allowance })
    expect(await failure(() => rendered(source, { allowance }))).to.be.instanceOf(AllowanceSpent)
  })

  it('LIQ-71 a long render takes turns with other work', async () => {
    const list = Array.from({ length: 150_000 }, (_, i) => BigInt(150_000 - i))
    const template = compileTemplate('{{ list | sort | join: "," | size }}', { kind: 'html', element: 'div' })
    let turns = 0
    let done = false
    const count = (): void => {
      turns++
      if (!done) setImmediate(count)
    }
    setImmediate(count)
    const text = renderTemplate(template, scopeOf({ list }), unhurried())
    expect(text).to.be.instanceOf(Promise)
    expect(await text).to.equal('938894')
    done = true
    expect(turns).to.be.above(3)
  })

  it('LIQ-71 a short render is done at once', () => {
    const template = compileTemplate('{{ 1 }}', { kind: 'html', element: 'div' })
    expect(renderTemplate(template, scopeOf({}), unhurried())).to.equal('1')
  })

  it('section 16: a list from another document', async () => {
    const source = `
  {%- assign adults = people | where_exp: "p", "p.age >= 18" | sort: "name" -%}
  {%- for p in adults %}<li><a href="{{ p['@id'] }}">{{ p.name }}</a></li>{% else %}<li>none</li>{% endfor -%}
`
    const markup =
      '<p itemscope><b itemprop="name">Ada</b><i itemprop="age">36</i></p><p itemscope><b itemprop="name">Bo</b><i itemprop="age">9</i></p>'
    const people = items(markup, '/people.html')
    expect(await rendered(source, { names: { people } })).to.equal('<li><a href="/people.html">Ada</a></li>')
  })
})
