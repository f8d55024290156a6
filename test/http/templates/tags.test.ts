/** Tags of templates (LIQ-24 to LIQ-26, LIQ-30), as visitors meet them. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { composed, served } from '../../pipeline/compose/composing.ts'
import { type Case, templates } from './rendering.ts'

const cases: Case[] = [
  ['LIQ-24 if, elsif, else', '{% if n == 1 %}a{% elsif n == 3 %}b{% else %}c{% endif %}', 'b'],
  ['LIQ-24 unless', '{% unless n == 3 %}a{% else %}b{% endunless %}', 'b'],
  [
    'LIQ-24 filters behind a condition apply to the whole of it',
    '{% if people | has: "age", 9 %}y{% endif %}{% if 1 == 2 | default: "x" %}z{% endif %}',
    'yz',
  ],
  ['LIQ-24 case with lists', '{% case n %} x {% when 1, 2 %}a{% when 4 or 3 %}b{% else %}c{% endcase %}', 'b'],
  ['LIQ-24 for with limit and offset', '{% for i in (1..6) limit: 2 offset:1 %}{{ i }}{% endfor %}', '23'],
  ['LIQ-24 the slice is taken first, then reversed', '{% for i in (1..5) reversed limit:2 %}{{ i }}{% endfor %}', '21'],
  [
    'LIQ-24 a limit that is not there limits nothing',
    '{% for i in (1..3) limit: request.query.none offset: nosuch %}{{ i }}{% endfor %}',
    '123',
  ],
  [
    'LIQ-24 offset: continue',
    '{% for i in js.list limit:1 %}{{ i }}{% endfor %}-{% for i in js.list offset:continue %}{{ i }}{% endfor %}',
    '1-2',
  ],
  [
    'LIQ-24 break and continue',
    '{% for i in (1..9) %}{% if i == 2 %}{% continue %}{% elsif i == 4 %}{% break %}{% endif %}{{ i }}{% endfor %}',
    '13',
  ],
  [
    'LIQ-24 else where there is nothing, nil included',
    '{% for i in none %}x{% else %}a{% endfor %}{% for i in nil %}x{% else %}b{% endfor %}',
    'ab',
  ],
  [
    'LIQ-24 forloop',
    '{% for i in (1..2) %}{{ forloop.index }}{{ forloop.index0 }}{{ forloop.rindex }}{{ forloop.rindex0 }}{{ forloop.first }}{{ forloop.last }}{{ forloop.length }} {% endfor %}',
    '1021truefalse2 2110falsetrue2 ',
  ],
  [
    'LIQ-24 parentloop',
    '{% for i in (1..2) %}{% for j in (1..2) %}{{ forloop.parentloop.index }}{{ j }} {% endfor %}{% endfor %}',
    '11 12 21 22 ',
  ],
  [
    'LIQ-24 cycle, with and without a group',
    '{% for i in (1..3) %}{% cycle "a", "b" %}{% cycle "g": 1, 2, 3 %}{% endfor %}',
    'a1b2a3',
  ],
  [
    'LIQ-24 increment, decrement, echo',
    '{% increment a %}{% increment a %}{% decrement b %}{% decrement b %}{% echo n | plus: 1 %}',
    '01-1-24',
  ],
  [
    'LIQ-24 assign and capture',
    '{% assign a = "x" | append: "y" %}{% capture c %}<b>{{ a }}</b>{% endcapture %}{{ c }}{{ c }}',
    '<b>xy</b><b>xy</b>',
  ],
  [
    'LIQ-24 raw and comments',
    '{% raw %}{{ n }}{% if %}{% endraw %}{% comment %}{{ n | }}{% if %}{% endcomment %}{% # a note %}.',
    '{{ n }}{% if %}.',
  ],
  ['LIQ-24 liquid', '{% liquid\n  assign a = 2\n  for i in (1..a)\n    echo i\n  endfor\n  # done\n%}', '12'],
  [
    'LIQ-25 looping over a text, an item, a hash, a number',
    '{% for c in "ab" %}[{{ c }}]{% endfor %}{% for p in people[1] %}{{ p.name }}{% endfor %}{% for e in h limit: 2 %}{{ e[0] }}={{ e[1] }};{% endfor %}{% for x in 5 %}{{ x }}{% endfor %}',
    '[ab]Bok=v;a b=1;5',
  ],
  [
    'LIQ-30 keyword arguments alone',
    '{{ 4 | random: lower: 4 | size }}{{ 4 | random: chars: "z", chars_min: 1 }}',
    '4zzzz',
  ],
]

/** No tag reaches beyond the scope, and none but those above exists. */
const refused = [
  'include "/people.html"',
  'render "package.json"',
  'layout "x"',
  'block x',
  'section "x"',
  'ifchanged',
  'form "x"',
  'paginate x by 2',
  'schema',
  'javascript',
  'constructor',
  '__proto__',
]

describe('Tags of templates, over HTTP', () => {
  const site = templates()

  for (const [title, source, expected] of cases)
    it(title, async () => expect(await site.print(source)).to.equal(expected))

  it('LIQ-24 tablerow', async () => {
    const table = `<table p:template="text/liquid"><tbody>{% tablerow i in (1..3) cols:2 %}{{ i }}{{ tablerowloop.col }}{% endtablerow %}</tbody></table>`
    const rows =
      '<tr class="row1"><td class="col1">11</td><td class="col2">22</td></tr><tr class="row2"><td class="col1">31</td></tr>'
    expect((await site.show(composed(table))).text).to.equal(served(`<table><tbody>${rows}</tbody></table>`))
  })

  for (const tag of refused)
    it(`LIQ-26 there is no tag ${tag}`, async () =>
      expect(await site.print(`\n{% ${tag} %}`)).to.match(/^500 TemplateError: Line 2 /))
})
