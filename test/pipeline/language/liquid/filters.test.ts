import { expect } from 'chai'
import fc from 'fast-check'
import type { Value } from '../../../../pipeline/language/values.ts'
import { takesLess } from '../../../support/cost.ts'
import { elements, failure, hash, items, rendered } from './rendering.ts'

/** Where text is inserted as it is; most filters are easier to read there. */
const RAW = { kind: 'html', element: 'script' } as const

const NAMES: Record<string, Value> = {
  list: [3n, 1n, 2n],
  words: ['b', 'a', 'c'],
  mixed: ['10', 9n, 'b', true, null, 'a', 1.5, '', '9.5'],
  rows: [
    hash({ n: 'Ada', age: '36', ok: 'true', team: 'x' }),
    hash({ n: 'Bo', age: '9', ok: 'false', team: 'y' }),
    hash({ n: 'cy', age: null, ok: '', team: 'x' }),
    hash({ n: 'Di', team: null }),
  ],
  h: hash({ a: 1n, b: 'x', c: 2.0, d: null, e: [1n, 'y'] }),
  item:
    items(
      '<div itemscope itemtype="urn:x:P" id="i"><b itemprop="k">v</b><i itemprop="m">1</i><i itemprop="m">2</i></div>',
    )[0] ?? null,
  smile: '😀é',
  big: 9223372036854775807n,
}

const cases: [string, string, string][] = [
  ['LIQ-37 downcase upcase', '{{ "aB" | downcase }}{{ "aB" | upcase }}', 'abAB'],
  ['LIQ-37 capitalize', '{{ "hello WORLD" | capitalize }}', 'Hello world'],
  ['LIQ-37 strip and its halves', '[{{ " a " | strip }}][{{ " a " | lstrip }}][{{ " a " | rstrip }}]', '[a][a ][ a]'],
  ['LIQ-37 strip_newlines', '{{ "a\\n\\rb" | strip_newlines }}', 'ab'],
  [
    'LIQ-37 normalize_whitespace and squish',
    '{{ " a\\n  b " | normalize_whitespace }}|{{ " a  b " | squish }}',
    'a b|a b',
  ],
  ['LIQ-37 nil is the empty text', '[{{ nil | upcase }}][{{ nil | append: "x" }}]', '[][x]'],
  ['LIQ-37 numbers are texts for filters of text', '{{ 1.0 | append: 2 }}', '1.02'],
  ['LIQ-37 url_encode', '{{ "a b&c*~é" | url_encode }} {{ "(!)" | cgi_escape }}', 'a+b%26c*~%C3%A9 %28%21%29'],
  ['LIQ-37 url_decode keeps malformed escapes', '{{ "a+b%26c%zz%" | url_decode }}', 'a b&c%zz%'],
  ['LIQ-37 uri_escape', '{{ "a b/[é]?x=1" | uri_escape }}', 'a%20b/[%C3%A9]?x=1'],
  ['LIQ-37 strip_html', '{{ "a<b x=\'>\'>c</b><script>x</script><style>y</style><!-- z -->d" | strip_html }}', "a'>cd"],
  [
    'LIQ-37 strip_html beside letters whose small ones are longer',
    '{{ "İ <b>b</b> İ<!-- z -->c" | strip_html }}',
    'İ b İc',
  ],
  [
    'LIQ-37 replace is literal; nothing is found by an empty text',
    '{{ "a.a" | replace: ".", "$&" }} {{ "ab" | replace: "", "x" }}',
    'a$&a ab',
  ],
  [
    'LIQ-37 replace_first replace_last',
    '{{ "aXbX" | replace_first: "X", "1" }} {{ "aXbX" | replace_last: "X", "1" }}',
    'a1bX aXb1',
  ],
  [
    'LIQ-37 remove and its kin',
    '{{ "axbx" | remove: "x" }} {{ "axbx" | remove_first: "x" }} {{ "axbx" | remove_last: "x" }}',
    'ab abx axb',
  ],
  ['LIQ-37 append prepend', '{{ "b" | append: "c" | prepend: "a" }}', 'abc'],
  [
    'LIQ-38 slice',
    '{{ "hello" | slice: 1, 3 }} {{ "hello" | slice: -3, 2 }} {{ "hello" | slice: 1 }} [{{ "a" | slice: 5 }}] {{ list | slice: 1, 2 | join }}',
    'ell ll e [] 1 2',
  ],
  [
    'LIQ-38 split keeps empty fields',
    '{{ "a,,b," | split: "," | json }} {{ "" | split: "," | json }} {{ smile | split: "" | json }}',
    '["a","","b",""] [""] ["😀","é"]',
  ],
  [
    'LIQ-38 truncate',
    '{{ "The quick brown fox" | truncate: 9 }} {{ "abcd" | truncate: 3, "" }} {{ "ab" | truncate: 2 }}',
    'The qu... abc ab',
  ],
  [
    'LIQ-38 truncatewords',
    '{{ "The quick brown" | truncatewords: 2 }} {{ "a  b" | truncatewords: 2 }}',
    'The quick... a  b',
  ],
  [
    'LIQ-38 size counts characters',
    '{{ smile | size }}{{ list | size }}{{ h | size }}{{ 5 | size }}{{ nil | size }}{{ (1..4) | size }}',
    '235004',
  ],
  ['LIQ-37 number_of_words', '{{ " a b  c " | number_of_words }}', '3'],
  [
    'LIQ-37 default',
    '{{ nil | default: 1 }}{{ "" | default: 2 }}{{ false | default: 3 }}{{ false | default: 4, allow_false: true }}{{ 0 | default: 5 }}',
    '123false0',
  ],
  ['LIQ-37 slugify', '{{ "Hello, Wörld!" | slugify }}', 'hello-wörld'],
  [
    'LIQ-37 array_to_sentence_string',
    '{{ "a" | array_to_sentence_string }}; {{ "a b" | split: " " | array_to_sentence_string }}; {{ words | array_to_sentence_string: "or" }}',
    'a; a and b; b, a, or c',
  ],
  [
    'LIQ-37 base64',
    '{{ "é?>" | base64_encode }} {{ "w6k/Pg==" | base64_decode }} {{ "é?>" | base64_url_safe_encode }} {{ "w6k_Pg==" | base64_url_safe_decode }}',
    'w6k/Pg== é?> w6k_Pg== é?>',
  ],
  [
    'LIQ-37 plus minus times',
    '{{ 1 | plus: 2 }} {{ 10 | plus: 5.0 }} {{ "3" | minus: "1.5" }} {{ 2 | times: 3 }} {{ "x" | plus: 1 }} {{ true | plus: 1 }}',
    '3 15.0 1.5 6 1 1',
  ],
  [
    'LIQ-37 divided_by',
    '{{ 7 | divided_by: 2 }} {{ -7 | divided_by: 2 }} {{ 7 | divided_by: 2.0 }} {{ 7 | divided_by: 0 }}',
    '3 -4 3.5 7',
  ],
  [
    'LIQ-37 modulo',
    '{{ 7 | modulo: 3 }} {{ -7 | modulo: 3 }} {{ 7 | modulo: -3 }} {{ 7.5 | modulo: 2 }} {{ 7 | modulo: 0 }}',
    '1 2 -2 1.5 7',
  ],
  [
    'LIQ-37 abs at_least at_most',
    '{{ -3 | abs }} {{ "-1.5" | abs }} {{ 3 | at_least: 5 }} {{ 3 | at_most: 2.0 }}',
    '3 1.5 5 2.0',
  ],
  [
    'LIQ-37 ceil floor round',
    '{{ 1.2 | ceil }} {{ -1.2 | floor }} {{ 2.5 | round }} {{ -2.5 | round }} {{ 1.005 | round: 2 }} {{ 3 | round: 1 }}',
    '2 -2 3 -3 1.01 3.0',
  ],
  [
    'LIQ-37 to_integer',
    '{{ "3.9" | to_integer }} {{ -3.9 | to_integer }} {{ true | to_integer }} {{ "x" | to_integer }} {{ nil | to_integer }}',
    '3 -3 1 0 0',
  ],
  ['LIQ-37 to_integer saturates', '{{ "99999999999999999999" | to_integer }}', '9223372036854775807'],
  [
    'LIQ-37 first last reverse',
    '{{ list | first }}{{ list | last }}{{ list | reverse | join: "" }}{{ smile | first }}{{ smile | last }}{{ (4..6) | last }}',
    '32213😀é6',
  ],
  [
    'LIQ-37 compact uniq',
    '{{ mixed | compact | size }} {{ "a,b,a" | split: "," | uniq | join: "" }} {{ rows | uniq: "team" | map: "n" | join }}',
    '8 ab Ada Bo Di',
  ],
  ['LIQ-37 concat coerces', '{{ list | concat: words | join: "" }} {{ list | concat: "x" | join: "" }}', '312bac 312x'],
  ['LIQ-39 sort groups kinds', '{{ mixed | sort | json }}', '[1.5,9,"9.5","10","","a","b",true,null]'],
  ['LIQ-39 sort by a field, missing last', '{{ rows | sort: "age" | map: "n" | join }}', 'Bo Ada cy Di'],
  [
    'LIQ-39 sort_natural',
    '{{ "b,A,c,10,9" | split: "," | sort_natural | join }} {{ rows | sort_natural: "n" | map: "n" | join }}',
    '10 9 A b c Ada Bo cy Di',
  ],
  [
    'LIQ-39 map',
    '{{ rows | map: "n" | join }} {{ h | map: "b" | join }} {{ list | map: "x" | json }}',
    'Ada Bo cy Di x [null,null,null]',
  ],
  [
    'LIQ-39 where and reject',
    '{{ rows | where: "ok", true | map: "n" | join }} {{ rows | where: "age", 36 | map: "n" | join }} {{ rows | reject: "age" | map: "n" | join }}',
    'Ada Ada cy Di',
  ],
  ['LIQ-39 nothing but items and hashes matches', '{{ words | where: "size" | size }}', '0'],
  [
    'LIQ-39 find find_index has',
    '{{ rows | find: "n", "Bo" | map: "age" | first }} {{ rows | find_index: "n", "cy" }} {{ rows | has: "n", "No" }} [{{ rows | find: "n", "No" }}]',
    '9 2 false []',
  ],
  [
    'LIQ-39 group_by',
    '{% assign g = rows | group_by: "team" %}{% for t in g %}{{ t.name }}={{ t.items | map: "n" | join: "" }};{% endfor %}',
    'x=Adacy;y=Bo;=Di;',
  ],
  [
    'LIQ-39 sum',
    '{{ rows | sum: "age" }} {{ list | sum }} {{ "1.5 1.5 x" | split: " " | sum }} {{ "0.5" | sum }}',
    '45 6 3 0.5',
  ],
  [
    'LIQ-39 push unshift pop shift',
    '{{ nil | push: 1 | push: 2 | unshift: 0 | join }} {{ list | pop | join }} {{ list | shift | join }} {{ list | join }}',
    '0 1 2 3 1 1 2 3 1 2',
  ],
  ['LIQ-37 sample', '{{ "a" | sample }}{{ list | sample: 3 | sort | join: "" }}', 'a123'],
  [
    'LIQ-43 where_exp tests truthiness',
    '{{ rows | where_exp: "r", "r.age" | map: "n" | join }} {{ rows | where_exp: "r", "r.age >= 10" | map: "n" | join }}',
    'Ada Bo Ada',
  ],
  ['LIQ-43 reject_exp', '{{ rows | reject_exp: "r", "r.age" | map: "n" | join }}', 'cy Di'],
  [
    'LIQ-43 find_exp find_index_exp has_exp',
    '{{ list | find_exp: "x", "x < 3" }} {{ list | find_index_exp: "x", "x == 2" }} {{ list | has_exp: "x", "x > 3" }}',
    '1 2 false',
  ],
  [
    'LIQ-43 group_by_exp with filters',
    '{% assign g = list | group_by_exp: "x", "x | modulo: 2" %}{% for t in g %}{{ t.name }}:{{ t.items | join: "" }} {% endfor %}',
    '1:31 0:2 ',
  ],
  [
    'LIQ-43 outer names are visible, the own one is gone afterwards',
    '{% assign m = 2 %}{{ list | where_exp: "x", "x > m" | join }}[{{ x }}]',
    '3[]',
  ],
  [
    'LIQ-43 predicates inside predicates',
    '{{ list | where_exp: "x", "words | where_exp: \'w\', \'x > 2\'" | size }}',
    '3',
  ],
  [
    'LIQ-44 dates',
    '{{ "2026-07-07" | date: "%d/%m/%Y %H:%M" }} {{ "2026-07-07T13:07:59+02:00" | date: "%H:%M" }} {{ "2026-07-07 13:07" | date: "%H:%M" }} {{ 0 | date }} {{ "86400" | date }}',
    '07/07/2026 00:00 11:07 13:07 1970-01-01 1970-01-02',
  ],
  [
    'LIQ-44 directives',
    '{{ "2026-07-07T03:07:09Z" | date: "%Y %m %d %H %M %S %B %b %A %a %j %p %Z %z %% %e %-d %I %y %s" }}',
    '2026 07 07 03 07 09 July Jul Tuesday Tue 188 AM UTC +0000 %  7 7 03 26 1783393629',
  ],
  [
    'LIQ-44 weeks',
    '{{ "2026-01-01" | date: "%U %W %V %G %u %w" }} {{ "2024-12-30" | date: "%V %G" }}',
    '00 00 01 2026 4 4 01 2025',
  ],
  [
    'LIQ-44 now and today',
    '{{ "now" | date: "%F %T" }} {{ "today" | date: "%F %T" }}',
    '2026-07-07 13:07:59 2026-07-07 00:00:00',
  ],
  ['LIQ-44 nil and the empty text', '[{{ nil | date }}{{ "" | date_to_string }}]', '[]'],
  [
    'LIQ-44 date_add',
    '{{ "2026-07-07" | date_add: 3600 }} {{ "2026-07-07" | date_add: "-1" }}',
    '2026-07-07T01:00:00Z 2026-07-06T23:59:59Z',
  ],
  ['LIQ-44 unix_to_iso', '{{ 1783429679 | unix_to_iso }}', '2026-07-07T13:07:59Z'],
  [
    'LIQ-44 fixed formats',
    '{{ "now" | date_to_string }}|{{ "now" | date_to_long_string }}|{{ "now" | date_to_rfc822 }}|{{ "now" | date_to_xmlschema }}',
    '07 Jul 2026|07 July 2026|Tue, 07 Jul 2026 13:07:59 +0000|2026-07-07T13:07:59+00:00',
  ],
  ['LIQ-45 sha256', '{{ "é" | sha256 }}', '4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c'],
  [
    'LIQ-46 argon2 raw is deterministic',
    '{{ "password" | argon2: format: "raw", salt: "somesalt", memory: 64, time: 1, length: 16 | size }}',
    '32',
  ],
  [
    'LIQ-48 json',
    '{{ h | json }} {{ nil | json }} {{ nosuch | json }} {{ "a\\"<b>&" | json }} {{ (1..3) | jsonify }} {{ 100.0 | inspect }}',
    '{"a":1,"b":"x","c":2.0,"d":null,"e":[1,"y"]} null null "a\\"<b>&" [1,2,3] 100.0',
  ],
  [
    'LIQ-48 json with indent',
    '{{ h | json: 2 }}',
    '{\n  "a": 1,\n  "b": "x",\n  "c": 2.0,\n  "d": null,\n  "e": [\n    1,\n    "y"\n  ]\n}',
  ],
  ['LIQ-48 an item', '{{ item | json }}', '{"@id":"/stored.html#i","@type":"urn:x:P","k":"v","m":["1","2"]}'],
]

describe('Filters of templates', () => {
  for (const [title, source, expected] of cases) {
    it(title, async () => {
      expect(await rendered(source, { names: NAMES, context: RAW })).to.equal(expected)
    })
  }

  const errors: [string, string, string][] = [
    ['LIQ-38 a missing argument', '{{ "a" | append }}', 'append'],
    ['LIQ-38 an argument of the wrong kind', '{{ "a" | slice: "x" }}', 'slice'],
    ['LIQ-63 an unknown filter', '{{ "a" | nosuch }}', 'nosuch'],
    ['LIQ-37 leaving 64 bits', '{{ big | plus: 1 }}', 'plus'],
    ['LIQ-37 bad base64', '{{ "a*b" | base64_decode }}', 'base64_decode'],
    ['LIQ-43 a predicate that is no expression', '{{ list | where_exp: "x", "x >" }}', 'where_exp'],
    ['LIQ-44 what is no date', '{{ "soon" | date }}', 'date'],
    ['LIQ-44 a day that does not exist', '{{ "2026-02-30" | date }}', 'date'],
    ['LIQ-46 a cost above the ceiling', '{{ "a" | bcrypt: 15 }}', 'bcrypt'],
    [
      'LIQ-46 a long input',
      '{{ "0123456789012345678901234567890123456789012345678901234567890123456789abc" | bcrypt: 4 }}',
      'bcrypt',
    ],
    ['LIQ-46 raw without salt', '{{ "a" | argon2: format: "raw" }}', 'argon2'],
    ['LIQ-46 an option that is none', '{{ "a" | argon2: lanes: 4 }}', 'argon2'],
    ['LIQ-47 minimum counts above the length', '{{ 4 | random: upper: 3, lower: 3 }}', 'random'],
    ['LIQ-47 an empty alphabet', '{{ 4 | random: chars: "" }}', 'random'],
    ['LIQ-47 a length out of range', '{{ 0 | random }}', 'random'],
  ]
  for (const [title, source, filter] of errors) {
    it(`${title} is a filter error`, async () => {
      const text = await rendered(`a${source}b`, { names: NAMES })
      expect(text).to.match(/^a<span itemscope itemtype="https:\/\/ns.example\/Error">.*<\/span>b$/)
      expect(text).to.include(filter)
    })
  }

  it('LIQ-43 a predicate that evaluates itself ends at depth 32', async () => {
    const source = `{% assign p = "list | where_exp: 'x', p" %}{{ list | where_exp: "x", p }}`
    const text = await rendered(source, { names: NAMES })
    expect(text).to.include('nested too deeply').and.to.have.length.below(300)
  })

  it('LIQ-46 bcrypt', async () => {
    expect(await rendered('{{ "a" | bcrypt: 4 }}')).to.match(/^\$2[aby]\$04\$[./A-Za-z0-9]{53}$/)
  })

  it('LIQ-46 argon2 in PHC form', async () => {
    const form = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/
    expect(await rendered('{{ "a" | argon2 }}')).to.match(form)
  })

  it('LIQ-47 random', async () => {
    expect(await rendered('{{ 24 | random }}')).to.match(/^[A-Za-z0-9]{24}$/)
    const upper = await rendered('{{ 24 | random: upper: 3 }}')
    expect(upper).to.match(/^[A-Z]{24}$/)
    expect(await rendered('{{ 64 | random: url_safe: true }}')).to.match(/^[\w-]{64}$/)
    expect(await rendered('{{ 8 | random: chars: "xyz" }}')).to.match(/^[xyz]{8}$/)
    const digits = await rendered('{{ 6 | random: lower: true, digits: 2 }}')
    expect(digits.replace(/\D/g, '')).to.have.length.at.least(2)
  })

  it('LIQ-37 SEC-4 a long text of many escapes is decoded as each of them is', async () => {
    const decoded = (text: string) => rendered('{{ a | url_decode }}', { names: { a: text }, context: RAW })
    const escapes = fc.constantFrom(
      'a',
      '\u00e9',
      '\u{1f600}',
      '+',
      '%',
      '%4',
      '%41',
      '%c3',
      '%a9',
      '%E2%82%AC',
      '%zz',
      '%%41',
    )
    const texts = fc.array(escapes, { maxLength: 8 }).map(parts => parts.join(''))
    const each = (run: string) => Buffer.from(run.replaceAll('%', ''), 'hex').toString()
    await fc.assert(
      fc.asyncProperty(texts, async text => {
        expect(await decoded(text)).to.equal(text.replaceAll('+', ' ').replace(/(?:%[\da-f]{2})+/gi, each))
      }),
      { numRuns: 200 },
    )
    const long = 'x%41'.repeat(125_000)
    await takesLess(25, async () => expect(await decoded(long)).to.have.length(250_000))
  })

  it('SEC-12 LIQ-48 an item is read once, however many items it lies in', async () => {
    const list = items(`<div itemscope>${'<div itemprop=a itemscope>'.repeat(90)}<b itemprop=b>v</b>`)
    const leaf = elements(list[0]?.node as never).find(({ tagName }) => tagName === 'b')
    const attrs = leaf?.attrs
    let looks = 0
    Object.defineProperty(leaf, 'attrs', {
      get() {
        looks++
        return attrs
      },
    })
    expect(await rendered('{{ list | json }}', { names: { list }, context: RAW })).to.include('"b":"v"}')
    expect(looks).to.be.within(1, 10)
  })

  it('LIQ-47 diceware', async () => {
    expect(await rendered('{{ nil | diceware }}')).to.match(/^[a-z]+-[a-z]+-[a-z]+$/)
    expect((await rendered('{{ 99 | diceware }}')).split('-')).to.have.length(10)
  })

  it('LIQ-38 filters never change their input', async () => {
    const source = '{{ list | sort | push: 9 | reverse | join }} {{ list | join }}'
    expect(await rendered(source, { names: NAMES })).to.equal('9 3 2 1 3 1 2')
  })

  it('LIQ-60 the message names the filter', async () => {
    expect((await failure(() => rendered('{% if "soon" | date %}{% endif %}'))).message).to.include('date')
  })
})
