/** Data in templates is never markup (LIQ-31 to LIQ-36), as visitors meet it. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type Case, templates } from './rendering.ts'

const ESCAPED = `&lt;b&gt;&amp;"'`

const cases: Case[] = [
  ['LIQ-31 output is text', '{{ evil }}{{ request.query.q }}', `${ESCAPED}&lt;b&gt;`],
  ['LIQ-31 so is what echo and cycle print', '{% echo evil %}{% cycle evil %}', ESCAPED + ESCAPED],
  ['LIQ-31 text of the template is not escaped', '<i>&amp; {{ 1 }}</i>', '<i>&amp; 1</i>'],
  [
    'LIQ-32 what escape gives is not escaped again',
    '{{ evil | escape }}{% assign e = evil | escape %}{{ e }}',
    ESCAPED + ESCAPED,
  ],
  [
    'LIQ-32 xml_escape and escape_once do the same',
    '{{ "<" | xml_escape }}{{ "&copy; < &" | escape_once }}',
    '&lt;© &lt; &amp;',
  ],
  [
    'LIQ-32 a filter that builds a text drops the mark',
    '{{ "<" | escape | upcase }} {{ "<" | escape | append: "" }} {{ "<" | escape | escape }}',
    '&amp;LT; &amp;lt; &amp;lt;',
  ],
  [
    'LIQ-33 raw prints markup, which may hold directives',
    '{% assign m = "<i e:x=\'4\'><p:stamp x></p:stamp></i>" %}{{ m | raw }}',
    '<i>4</i>',
  ],
  ['LIQ-33 a filter behind raw drops the mark', '{{ "<i>" | raw | downcase }}', '&lt;i&gt;'],
  ['LIQ-34 what capture holds is safe', '{% capture c %}<i>{{ evil }}</i>{% endcapture %}{{ c }}', `<i>${ESCAPED}</i>`],
  ['LIQ-34 newline_to_br', '{{ "<\n>\r\n" | newline_to_br }}', '&lt;<br>\n&gt;<br>\n'],
  [
    'LIQ-35 quoted values',
    `<i title="{{ evil }}" class='{{ evil }}'>x</i>`,
    `<i title="&lt;b&gt;&amp;&quot;'" class="&lt;b&gt;&amp;&quot;'">x</i>`,
  ],
  [
    'LIQ-35 unquoted values',
    '<i title={{ "a b=`c" }} class=x{{ evil }}>x</i>',
    `<i title="a b=\`c" class="x&lt;b&gt;&amp;&quot;'">x</i>`,
  ],
  [
    'LIQ-35 textarea and comments',
    '<textarea>{{ "</textarea>" }}</textarea><!-- {{ "--><b>" }} -->',
    '<textarea>&lt;/textarea&gt;</textarea><!-- &#45;-&gt;&lt;b&gt; -->',
  ],
  [
    'LIQ-35 scripts',
    '<script>const q = {{ request.query.q | json }}, r = "{{ "</script><!--" }}"</script>',
    '<script>const q = "<b>", r = "<\\/script><\\!--"</script>',
  ],
  [
    'LIQ-35 styles',
    '<style>a > b { content: "{{ "</style>" }}" }</style>',
    '<style>a > b { content: "<\\/style>" }</style>',
  ],
  ['LIQ-35 addresses are not vetted', '<a href="{{ "javascript:x" }}">x</a>', '<a href="javascript:x">x</a>'],
  [
    'LIQ-36 data is never evaluated',
    '{{ code }}{% assign d = code %}{{ d }}{% capture c %}{{ d }}{% endcapture %}{{ c }}',
    '{{ 6 | times: 7 }}{% if %}'.repeat(3),
  ],
]

describe('Escaping of templates, over HTTP', () => {
  const site = templates()
  for (const [title, source, expected] of cases)
    it(title, async () => expect(await site.print(source)).to.equal(expected))
})
