/** Filters of templates (LIQ-37 to LIQ-48 and the tables of their reference), as visitors meet them. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type Case, templates } from './rendering.ts'

const strings: Case[] = [
  [
    'LIQ-37 case',
    '{{ "hello WORLD" | capitalize }} {{ "aB" | upcase }} {{ "aB" | downcase }} {{ nil | upcase }}{{ 12 | upcase }}',
    'Hello world AB ab 12',
  ],
  [
    'LIQ-37 white space',
    '[{{ " a " | strip }}{{ " a " | lstrip }}{{ " a " | rstrip }}{{ " a  b\n c " | normalize_whitespace }}{{ "a\r\nb" | strip_newlines }}]',
    '[aa  aa b cab]',
  ],
  [
    'LIQ-37 encodings of addresses',
    '{{ "a b&c~*!" | url_encode }} {{ "a b" | cgi_escape }} {{ "%zz+%41%e2%82%ac" | url_decode }} {{ "a[b] ?d=é" | uri_escape }}',
    'a+b%26c~*%21 a+b %zz A€ a[b]%20?d=%C3%A9',
  ],
  ['LIQ-37 strip_html', '{{ "<p>a<script>x<y</script><!-- > --><style>b</style><b>c</b>" | strip_html }}', 'ac'],
  [
    'LIQ-37 replacing and removing',
    '{{ "aXbXc" | replace: "X", "-" }} {{ "aXbXc" | replace: "X" }} {{ "aXbXc" | replace_first: "X", "-" }} {{ "aXbXc" | replace_last: "X", "-" }} {{ "aXbXc" | remove: "X" }} {{ "aXbXc" | remove_first: "X" }} {{ "aXbXc" | remove_last: "X" }} {{ "abc" | replace: "", "-" }}',
    'a-b-c abc a-bXc aXb-c abc abXc aXbc abc',
  ],
  ['LIQ-37 append and prepend', '{{ "b" | append: "c" | prepend: "a" }}{{ nil | append: 1.0 }}', 'abc1.0'],
  [
    'LIQ-37 split',
    '{{ "a,b,,c," | split: "," | size }} {{ "" | split: "," | size }} {{ "a,b" | split: "," | last }}',
    '5 1 b',
  ],
  [
    'LIQ-37 truncating',
    '{{ "The quick brown fox" | truncate: 9 }} {{ "The quick brown fox" | truncatewords: 2 }} {{ "abc" | truncate: 3 }} {{ "abcdef" | truncate: 4, "!" }}',
    'The qu... The quick... abc abc!',
  ],
  [
    'LIQ-37 default',
    '{{ nil | default: 1 }}{{ false | default: 2 }}{{ "" | default: 3 }}{{ none | default: 4 }}{{ 0 | default: 5 }} {{ false | default: 6, allow_false: true }}',
    '12340 false',
  ],
  [
    'LIQ-37 slugify and sentences',
    '{{ "Hello, Wörld! " | slugify }} {{ "a,b" | split: "," | array_to_sentence_string }} {{ "a,b,c" | split: "," | array_to_sentence_string: "or" }}',
    'hello-wörld a and b a, b, or c',
  ],
  [
    'LIQ-37 base64',
    '{{ "é" | base64_encode }} {{ "YWJj" | base64_decode }} {{ "a?>" | base64_url_safe_encode }} {{ "YT8-" | base64_url_safe_decode }}',
    'w6k= abc YT8- a?&gt;',
  ],
  [
    'LIQ-37 counting',
    '{{ "one two  three" | number_of_words }} {{ nil | size }} {{ 12 | size }} {{ people | size }} {{ h | size }}',
    '3 0 0 2 4',
  ],
  [
    'LIQ-38 characters are code points',
    '{{ emoji | size }} {{ emoji | slice: 1 }} {{ emoji | truncate: 2, "" }} {{ emoji | split: "" | join: "," }} {{ emoji | first }}{{ emoji | last }}',
    '3 \u{1f600} a\u{1f600} a,\u{1f600},b ab',
  ],
  [
    'LIQ-38 slices',
    '{{ "abcd" | slice: 1, 2 }} {{ "abcd" | slice: -2, 5 }} [{{ "abcd" | slice: 9 }}] {{ (1..5) | slice: 1, 2 | join }}',
    'bc cd [] 2 3',
  ],
]

const numbers: Case[] = [
  [
    'LIQ-37 what is no number is 0',
    '{{ true | plus: 1 }} {{ "x" | plus: 1 }} {{ h | plus: 1 }} {{ nil | times: 3 }} {{ "3" | plus: "4.5" }}',
    '1 1 1 0 7.5',
  ],
  [
    'LIQ-37 Integers and Floats',
    '{{ 1 | plus: 2 }} {{ 10 | plus: 5.0 }} {{ 7 | minus: 9 }} {{ "1.5" | times: 2 }}',
    '3 15.0 -2 3.0',
  ],
  [
    'LIQ-37 floor division and modulo',
    '{{ 7 | divided_by: 2 }} {{ -7 | divided_by: 2 }} {{ 7 | divided_by: 2.0 }} {{ -7 | modulo: 3 }} {{ 7 | modulo: -3 }}',
    '3 -4 3.5 2 -2',
  ],
  [
    'LIQ-37 by zero the input stays',
    '{{ 7 | divided_by: 0 }} {{ 7 | modulo: 0 }} {{ 7.5 | divided_by: 0.0 }}',
    '7 7 7.5',
  ],
  [
    'LIQ-37 rounding',
    '{{ 2.5 | round }} {{ -2.5 | round }} {{ 1.005 | round: 2 }} {{ 3 | round: 1 }} {{ "1.2" | ceil }} {{ -1.2 | floor }}',
    '3 -3 1.01 3.0 2 -2',
  ],
  ['LIQ-37 bounds', '{{ 5 | at_least: "7" }} {{ 5 | at_most: 2.5 }} {{ "-3" | abs }}', '7 2.5 3'],
  [
    'LIQ-37 to_integer',
    '{{ "3.9" | to_integer }} {{ -3.9 | to_integer }} {{ true | to_integer }} {{ "x" | to_integer }} {{ "99999999999999999999" | to_integer }}',
    '3 -3 1 0 9223372036854775807',
  ],
  [
    'LIQ-38 beyond 64 bits is an error',
    '{{ 9223372036854775807 | plus: 1 }}',
    '!plus: the result does not fit into 64 bits.!',
  ],
]

const arrays: Case[] = [
  [
    'LIQ-37 what is no array is one of one element',
    '{{ 5 | join }} {{ h | map: "k" }} {{ nil | size }} {{ 1 | concat: 2 | join: "," }} {{ (1..3) | reverse | join: "," }}',
    '5 v 0 1,2 3,2,1',
  ],
  [
    'LIQ-37 ends',
    '{{ people | first | map: "name" }}{{ people | last | map: "name" }}{{ nil | push: 1 | push: 2 | join: "," }}{{ (1..3) | unshift: 0 | pop | shift | join: "," }}',
    'AdaBo1,21,2',
  ],
  [
    'LIQ-37 compact, uniq',
    '{{ h.list | compact | size }} {{ people | map: "note" | compact | size }} {{ "1,1,2" | split: "," | uniq | join: "," }} {{ people | uniq: "nosuch" | size }} {{ people | compact: "note" | size }}',
    '1 1 1,2 1 1',
  ],
  ['LIQ-37 sort groups kinds', '{{ "10,9,b,1,,a" | split: "," | sort | join: "|" }}', '1|9|10||a|b'],
  [
    'LIQ-37 sort by a field, what has none last',
    '{{ people | sort: "age" | map: "name" | join }} {{ people | sort: "note" | map: "name" | join }}',
    'Bo Ada Ada Bo',
  ],
  ['LIQ-37 sort_natural', '{{ "b,A,10,9" | split: "," | sort_natural | join }}', '10 9 A b'],
  [
    'LIQ-38 filters do not change their input',
    '{% assign a = "b,a" | split: "," %}{% assign b = a | sort | push: "c" %}{{ a | join }}|{{ b | join }}',
    'b a|a b c',
  ],
  [
    'LIQ-39 fields with a value',
    '{{ people | where: "age", 36 | map: "name" }} {{ people | where: "member", true | map: "name" }} {{ people | reject: "member", "true" | map: "name" }}',
    'Ada Ada Bo',
  ],
  [
    'LIQ-39 fields without a value',
    '{{ people | where: "note" | map: "name" }} {{ people | reject: "note" | map: "name" }}',
    'Ada Bo',
  ],
  [
    'LIQ-39 find, find_index, has',
    '{{ people | find: "age", 9 | map: "name" }} {{ people | find_index: "age", 9 }} {{ people | has: "age", 10 }} [{{ people | find: "age", 10 }}]',
    'Bo 1 false []',
  ],
  [
    'LIQ-39 group_by and sum',
    '{% assign g = people | group_by: "member" %}{% for x in g %}{{ x.name }}:{{ x.items | map: "name" | join }} {% endfor %}{{ people | sum: "age" }} {{ "1.5,1.5" | split: "," | sum }}',
    'true:Ada false:Bo 45 3',
  ],
  [
    'LIQ-39 what has no fields never matches',
    '{{ "a,b" | split: "," | where: "size" | size }} {{ (1..3) | where: "x", nil | size }}',
    '0 0',
  ],
  [
    'LIQ-43 where_exp and reject_exp ask for truth',
    '{{ people | where_exp: "p", "p.age >= 18" | map: "name" }} {{ people | where_exp: "p", "p.note" | size }} {{ people | reject_exp: "p", "p.note" | map: "name" }}',
    'Ada 1 Bo',
  ],
  [
    'LIQ-43 find_exp, find_index_exp, has_exp',
    '{{ people | find_exp: "p", "p.age < 10" | map: "name" }} {{ people | find_index_exp: "p", "p.age < 10" }} {{ people | has_exp: "p", "p.age > 40" }}',
    'Bo 1 false',
  ],
  [
    'LIQ-43 group_by_exp with filters',
    '{% assign g = people | group_by_exp: "p", "p.age | divided_by: 20" %}{{ g | map: "name" | join: "," }}',
    '1,0',
  ],
  [
    'LIQ-43 outer names are seen, predicates may nest',
    `{% assign least = 10 %}{{ people | where_exp: "p", "p.age > least" | map: "name" }} {{ (1..2) | where_exp: "x", "(1..2) | where_exp: 'y', 'y == x'" | join: "," }}`,
    'Ada 1,2',
  ],
  [
    'LIQ-43 a predicate that does not parse is an error',
    '{{ people | where_exp: "p", "p. >" }}',
    '!where_exp: the predicate is no expression.!',
  ],
]

const data: Case[] = [
  [
    'LIQ-44 days and times',
    '{{ "2026-07-07" | date }} {{ "2026-07-07T13:07:59+02:00" | date: "%H:%M:%S" }} {{ "2026-07-07 13:07" | date: "%H:%M %Z %z" }} {{ 0 | date }} {{ "86400" | date: "%j" }}',
    '2026-07-07 11:07:59 13:07 UTC +0000 1970-01-01 002',
  ],
  [
    'LIQ-44 directives',
    '{{ "2026-07-07T13:07:09Z" | date: "%A %a %B %b %d %e %-d %I %y %p %s %% %F %T" }}',
    'Tuesday Tue July Jul 07  7 7 01 26 PM 1783429629 % 2026-07-07 13:07:09',
  ],
  [
    'LIQ-44 other forms',
    '{{ "2026-07-07" | date_to_string }}, {{ "2026-07-07" | date_to_long_string }}, {{ "2026-07-07T13:07:59Z" | date_to_rfc822 }}, {{ "2026-07-07T13:07:59Z" | date_to_xmlschema }}',
    '07 Jul 2026, 07 July 2026, Tue, 07 Jul 2026 13:07:59 +0000, 2026-07-07T13:07:59+00:00',
  ],
  [
    'LIQ-44 adding seconds',
    '{{ 0 | date_add: "-1" }} {{ "2026-02-28T23:59:59Z" | date_add: 1 }} {{ 90 | unix_to_iso }}',
    '1969-12-31T23:59:59Z 2026-03-01T00:00:00Z 1970-01-01T00:01:30Z',
  ],
  ['LIQ-44 nothing gives nothing', '[{{ nil | date }}{{ "" | date_add: 1 }}]', '[]'],
  [
    'LIQ-44 now is one instant, today its midnight',
    '{% assign a = "now" | date: "%s%N" %}{% for i in (1..500) %}{% assign x = i | sha256 %}{% endfor %}{% assign b = "now" | date: "%s%N" %}{{ a == b }} {{ "today" | date: "%T" }}',
    'true 00:00:00',
  ],
  [
    'LIQ-44 a format that is too long is an error',
    `{{ 0 | date: "${'%999Y'.repeat(819)}" | size }}{{ 0 | date: "${'%999Y'.repeat(820)}" | size }}`,
    `${819 * 999}!date: the format is longer than 4096 characters.!`,
  ],
  [
    'LIQ-44 what is no date is an error',
    '{{ "2026-02-30" | date }}{{ "soon" | date_add: 1 }}',
    '!date: the input is no date.!!date_add: the input is no date.!',
  ],
  [
    'LIQ-45 sha256',
    '{{ "abc" | sha256 }} {{ "é" | sha256 | size }}',
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad 64',
  ],
  [
    'LIQ-46 bcrypt',
    '{{ "x" | bcrypt: 4 | size }} {{ "x" | bcrypt: 3 }} {{ "x" | bcrypt: 15 }}',
    '60 !bcrypt: the cost is not in 4 to 14.! !bcrypt: the cost is not in 4 to 14.!',
  ],
  [
    'LIQ-46 a fresh salt each time',
    '{% assign a = "x" | bcrypt: 4 %}{% assign b = "x" | bcrypt: 4 %}{{ a == b }}',
    'false',
  ],
  [
    'LIQ-46 argon2',
    '{{ "x" | argon2: memory: 8, time: 1 | slice: 0, 27 }} {% assign a = "x" | argon2: format: "raw", salt: "12345678", memory: 8, time: 1, length: 4 %}{% assign b = "x" | argon2: format: "raw", salt: "12345678", memory: 8, time: 1, length: 4 %}{{ a | size }} {{ a == b }} {{ "x" | argon2: format: "raw" }} {{ "x" | argon2: memory: 7 }}',
    '$argon2id$v=19$m=8,t=1,p=1$ 8 true !argon2: raw needs a salt.! !argon2: memory is not in 8 to 262144.!',
  ],
  [
    'LIQ-47 random',
    '{{ 24 | random | size }} {{ 3 | random: chars: "x" }} {% assign d = 6 | random: digits: 6 %}{{ d | replace: "0", "1" | to_integer | default: "none" | size }}{{ 0 | random }}{{ 2 | random: upper: 2, digits: 1 }}{{ 2 | random: upper: false }}',
    '24 xxx 0!random: the length is not in 1 to 65536.!!random: the minimum counts exceed the length.!!random: the alphabet is empty.!',
  ],
  [
    'LIQ-47 diceware',
    '{{ nil | diceware | split: "-" | size }} {{ 5 | diceware | split: "-" | size }} {{ 99 | diceware | split: "-" | size }}',
    '3 5 10',
  ],
  [
    'LIQ-48 json',
    '{{ h | json }} {{ nosuch | json }} {{ people[1] | jsonify }} {{ 1.0 | inspect }}',
    '{"k":"v","a b":1,"n":1.0,"list":[1,null]} null {"@id":"/people.html","@type":"urn:x:Person","name":"Bo","age":"9","member":"false"} 1.0',
  ],
  ['LIQ-48 json with an indent', '{{ js.list | json: 2 }}', '[\n  1,\n  2\n]'],
  [
    'LIQ-48 in an attribute it reads back',
    `<i data-x='{{ evil | json }}'>x</i>`,
    '<i data-x="&quot;&lt;b&gt;&amp;\\&quot;\'&quot;">x</i>',
  ],
]

/** What is missing, of the wrong kind, or unknown fails the one expression, whatever its input (LIQ-38). */
const errors: [expression: string, message: string][] = [
  ['"a" | append', 'append: argument 1 is missing.'],
  ['"a" | slice', 'slice: argument 1 is missing.'],
  ['"a" | slice: "x"', 'slice: argument 1 is no number.'],
  ['"a" | truncate: "x"', 'truncate: argument 1 is no number.'],
  ['1 | plus', 'plus: argument 1 is missing.'],
  ['"a" | default', 'default: argument 1 is missing.'],
  ['"a" | split', 'split: argument 1 is missing.'],
  ['nil | map', 'map: argument 1 is missing.'],
  ['nil | where', 'where: argument 1 is missing.'],
  ['nil | reject', 'reject: argument 1 is missing.'],
  ['nil | find', 'find: argument 1 is missing.'],
  ['nil | find_index', 'find_index: argument 1 is missing.'],
  ['nil | has', 'has: argument 1 is missing.'],
  ['nil | group_by', 'group_by: argument 1 is missing.'],
  ['nil | where_exp', 'where_exp: argument 1 is missing.'],
  ['nil | where_exp: "x"', 'where_exp: argument 2 is missing.'],
  ['nil | where_exp: "x", "x. >"', 'where_exp: the predicate is no expression.'],
  ['nil | concat', 'concat: argument 1 is missing.'],
  ['nil | push', 'push: argument 1 is missing.'],
  ['nil | date_add', 'date_add: argument 1 is missing.'],
  ['"!" | base64_decode', 'base64_decode: the input is no base64.'],
]

describe('Filters of templates, over HTTP', () => {
  const site = templates()

  for (const [title, source, expected] of [...strings, ...numbers, ...arrays, ...data])
    it(title, async () => expect(await site.print(source)).to.equal(expected))

  for (const [expression, message] of errors)
    it(`LIQ-38 ${expression} is an error of that expression alone`, async () =>
      expect(await site.print(`a{{ ${expression} }}b`)).to.equal(`a!${message}!b`))
})
