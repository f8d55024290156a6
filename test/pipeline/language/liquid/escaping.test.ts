import { expect } from 'chai'
import fc from 'fast-check'
import type { Browser } from 'playwright-core'
import { parseHtml } from '../../../../pipeline/tree/html.ts'
import { type ChildNode, isElement, type ParentNode } from '../../../../pipeline/tree/nodes.ts'
import { parseXml } from '../../../../pipeline/tree/xml.ts'
import { openBrowser } from '../../../support/browser.ts'
import { pick, seeded } from '../../tree/selector/random.ts'
import { rendered } from './rendering.ts'

/** Templates with data `a` and `b` in every kind of place; `title` names the place. */
const PLACES: [string, string][] = [
  ['element content', '<p>{{ a }}<b>{{ b }}</b>{{ a }}{{ b }}</p>'],
  ['title and textarea', '<textarea>{{ a }}{{ b }}</textarea><title>{{ a }}</title>'],
  ['quoted attribute values', `<i title="{{ a }}{{ b }}" class='{{ a }} {{ b }}'>x</i>`],
  ['unquoted attribute values', '<i title={{ a }} class={{ a }}{{ b }} lang=x{{ b }} data-z=1>x</i>'],
  [
    'unquoted values in conditions',
    '<i title={% if a %}{{ a }}{% endif %} class=z>x</i><i {% if a %}title={{ b }}{% endif %} class=z>x</i>',
  ],
  ['comments', '<!--{{ a }}--><!-- {{ a }}{{ b }} --><!--{{ a }}-{{ b }}-->x'],
  ['scripts', '<script>const a = "{{ a }}/{{ b }}", b = {{ a | json }}; // {{ a }}{{ b }}</script><p>x</p>'],
  ['scripts that a comment hides', '<script><!-- {{ a }}{{ b }}> <script></script><b>x</b>\n--></script><p>x</p>'],
  ['scripts behind a comment', '<script><!-- {{ a }}{{ b }}\n--></script><p>x</p>'],
  ['scripts that go on behind data', '<script>load("{{ a }}/script/a.js", "{{ b }}!--")</script><p>x</p>'],
  [
    'parts of a tag behind a comment in a script',
    '<script><!-- {{ a }}{{ b }} <s{{ b }} {{ a }}script </script><p>x</p>',
  ],
  ['angle brackets in title and textarea', '<title>x <{{ a }}><b></b></title><textarea></{{ b }}><b></b></textarea>'],
  ['styles', '<style>p { content: "{{ a }}{{ b }}" }</style><p>x</p>'],
  ['styles of pictures', '<svg><style>{{ a }}</style><title>{{ b }}</title></svg><p>x</p>'],
  ['pictures with a blank behind their slash', '<svg / ><style>{{ a }}</style><title>{{ b }}</title></svg><p>x</p>'],
  ['formulas behind the end of a picture', '<math></svg><style>{{ a }}</style><mi>{{ b }}</mi></math><p>x</p>'],
  ['ends of a picture in what it holds', '<svg><desc><p></svg></p></desc><style>{{ a }}</style></svg><p>x</p>'],
  ['styles in a select', '<select><style>{{ a }}</style><option>{{ b }}</select><style>{{ a }}</style><p>x</p>'],
  ['a text field in a select', '<select><textarea>"<b title="</textarea></select><i title={{ a }}>{{ b }}</i><p>x</p>'],
  ['noscript with what is left open in it', '<noscript><iframe src="x"></noscript><p>{{ a }}</p>'],
  ['a blank that ends no tag', '<style>x</style\u00a0><script></style><p>{{ a }}</p>'],
  ['noscript', '<noscript>{{ a }}<b title="{{ b }}">x</b></noscript><p>x</p>'],
  ['branches that open other places', '{% if no %}<script>{% endif %}<p>{{ a }}</p>{% if no %}</script>{% endif %}'],
  [
    'branches that end in a tag',
    '{% if no %}<i title="{% else %}<i {% endif %}lang="{{ a }}" title=z{{ b }}>{{ a | escape }}</i><!--{{ a }}--><b>{{ b }}</b>',
  ],
  ['pictures that are closed in a branch', '<svg>{% if no %}</svg>{% endif %}<style>{{ a }}</style></svg><p>x</p>'],
  [
    'places that unescaped text opens',
    `{{ '<math>' | raw }}<style>{{ a }}</style></math>{{ '<b ' | raw }}<xmp>{{ b }}</p>`,
  ],
  ['comments that seem to end', '<!--!><xmp>{{ a }}</xmp>--><p>{{ b }}</p>'],
  ['comments whose beginning comes in parts', '<!-{% if no %}x{% endif %}-{{ a }}--><b>{{ b }}</b>'],
  [
    'captured markup in other markup',
    '{% capture c %}<style>{{ a }}</style>{% endcapture %}<math>{{ c }}</math><p title="{{ c }}">{{ b }}</p>',
  ],
  ['loops that end in a comment', '<p>{% for x in list %}y{{ b }}<!-{% endfor %}-{{ a }}--></p>'],
  ['declarations', '<!doctype {{ a }}><p>x</p>'],
  ['text behind an angle bracket', '<p>1 <{{ a }}</p>'.replace('<{{', '< {{')],
  ['captured text', '{% capture c %}{{ a }}{% endcapture %}{{ c }}<i title={{ c }} class=z>{{ c }}</i><!--{{ c }}-->'],
  ['captured text of scripts', '<script>{% capture c %}{{ a }}{% endcapture %}</script><p title="{{ c }}">{{ c }}</p>'],
  ['escaped text', '{% assign e = a | escape %}{{ e }}<i title={{ e }} class=z>x</i>{{ a | newline_to_br | size }}'],
  ['escaped comments', '<!--{{ a | escape }}-{{ b | escape_once }}--><p>x</p>'],
  ['other output', '<p>{% cycle a, b %}{% echo a %}{% for x in list %}{{ x }}{% endfor %}{{ list }}{{ hash }}</p>'],
]

const NEUTRAL = 'x'

const PIECES = [
  '<',
  '>',
  '"',
  "'",
  '&',
  '/',
  '=',
  '`',
  '-',
  '--',
  '!',
  '-->',
  '--!>',
  '<!--',
  '</',
  '</script>',
  '</style',
  '</title>',
  '</textarea>',
  '<script',
  '<script>',
  '<img src=x onerror=alert(1)>',
  ' onclick=alert(1) ',
  '\n',
  '\t',
  '\f',
  ' ',
  '&lt;',
  '&#60;',
  '&quot;',
  '{{ a }}',
  '{% if',
  '\0',
  '\u00a0',
  '\u2028',
  ']]>',
  '<![CDATA[',
  '?>',
  '</svg>',
  '</p>',
  '<b>',
  'script',
  'x',
  '\\',
  '\ud800',
  '%}',
  'javascript:',
]

/** What may end something in HTML, or begin it; no white space, which is nothing in tables. */
const HOSTILE = PIECES.filter(piece => piece.trim() !== '' && !piece.includes('\n'))

/** What may end something in XML. */
const ENDS = ['<b/>', '>', ']]>', ']', '-', '-->', '"', '?>', '<![CDATA[', '</p>', '&', '<!--', ' k="1"', 'x']

const hostile = fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }).map(pieces => pieces.join(''))

/** What of a tree may not depend on data: elements, names of attributes, comments. */
function skeleton(node: ParentNode | ChildNode): string {
  if (node.nodeName === '#comment') return '<!>'
  if (!('childNodes' in node)) return node.nodeName === '#documentType' ? '<!doctype>' : ''
  const inner = node.childNodes.map(skeleton).join('')
  if (!isElement(node)) return inner
  return `<${node.tagName} ${node.attrs.map(a => a.name).join(' ')}>${inner}</>`
}

function values(a: string, b: string) {
  return { a, b, no: false, list: [a, b], hash: new Map([[a, b]]) }
}

describe('Escaping of templates', () => {
  for (const [title, source] of PLACES) {
    it(`LIQ-35 no boundary comes from data: ${title}`, async () => {
      const page = async (a: string, b: string) => skeleton(parseHtml(await rendered(source, { names: values(a, b) })))
      const expected = await page(NEUTRAL, NEUTRAL)
      await fc.assert(
        fc.asyncProperty(hostile, hostile, async (a, b) => {
          expect(await page(a, b)).to.equal(expected)
        }),
        {
          numRuns: 400,
          seed: 35,
          examples: [
            ['', ''],
            ['<', '/script>'],
            ['</', 'script>'],
            ['<!-', '->'],
            ['-', '>'],
            ['<', 'cript '],
            ['<scr', 'ipt '],
            ['/title ', 'textarea '],
          ],
        },
      )
    })
  }

  it('LIQ-35 the same source is read anew for an element called “foreign” and for one of another language', async () => {
    const contexts = [
      { kind: 'html', element: 'foreign' },
      { kind: 'html', element: 'g', foreign: true },
    ] as const
    const shown = new Map<object, Set<string>>(contexts.map(context => [context, new Set()]))
    for (const order of [contexts, contexts.toReversed()])
      for (const context of order) {
        // A source of its own for each order: which one comes first must not matter.
        const source = `<style>{{ a }}</style>${order === contexts ? '' : '<p>x</p>'}`
        const text = await rendered(source, { names: values('</style><img>', ''), context })
        shown.get(context)?.add(text.slice(0, text.indexOf('<p>') < 0 ? undefined : text.indexOf('<p>')))
      }
    const [html, foreign] = contexts.map(context => [...(shown.get(context) ?? [])])
    expect([html?.length, foreign?.length]).to.deep.equal([1, 1])
    expect(html).not.to.deep.equal(foreign)
  })

  it('LIQ-35 no boundary of XML comes from data', async () => {
    const source =
      '<r><a k="{{ a }}" l=\'{{ b }}\'>{{ a }}{{ b }}</a><!-- {{ a }}{{ b }}--><![CDATA[{{ a }}{{ b }}]]><style>{{ a }}</style></r>'
    const page = async (a: string, b: string) => {
      const text = await rendered(source, { names: values(a, b), context: { kind: 'xml', element: 'feed' } })
      return skeleton(parseXml(text))
    }
    const expected = await page(NEUTRAL, NEUTRAL)
    await fc.assert(
      fc.asyncProperty(hostile, hostile, async (a, b) => {
        expect(await page(a, b)).to.equal(expected)
      }),
      { numRuns: 500, seed: 35 },
    )
  })

  const cases: [string, string, string][] = [
    [
      'LIQ-35 a query in a script',
      '<script>const q = {{ q | json }};</script>',
      '<script>const q = "<b>\\"<\\/script><\\!--";</script>',
    ],
    [
      'LIQ-48 JSON in an attribute',
      `<i data-q="{{ q | json }}">`,
      '<i data-q="&quot;&lt;b&gt;\\&quot;&lt;/script&gt;&lt;!--&quot;">',
    ],
    ['LIQ-35 an unquoted value', '<i title={{ u }} lang=x>', '<i title=a&#32;b&#61;c lang=x>'],
    ['LIQ-35 an empty unquoted value', '<i title={{ none }} lang=x>', '<i title="" lang=x>'],
    ['LIQ-35 a host in a script', '{{ q }}', '{{ q }}'],
  ]
  for (const [title, source, expected] of cases.slice(0, 4)) {
    it(title, async () => {
      const names = { q: '<b>"</script><!--', u: 'a b=c', none: '' }
      expect(await rendered(source, { names })).to.equal(expected)
    })
  }

  it('LIQ-35 escaped text is one name at most where tags have names, and no end of a comment', async () => {
    const names = { a: ' onclick=f() href="/x"/b=1', b: '-->' }
    expect(await rendered('<i {{ a | escape }}><{{ a | escape }}><!--{{ b | escape }}-->', { names })).to.equal(
      '<i &#32;onclick&#61;f&#40;&#41;&#32;href&#61;&#38;quot&#59;&#47;x&#38;quot&#59;&#47;b&#61;1>' +
        '<&#32;onclick&#61;f&#40;&#41;&#32;href&#61;&#38;quot&#59;&#47;x&#38;quot&#59;&#47;b&#61;1>' +
        '<!--&#45;-&gt;-->',
    )
  })

  it('LIQ-35 COMP-145 data is no prefix of a name, nor behind one', async () => {
    const names = { a: 'e:x', b: ':template' }
    expect(await rendered('<i {{ a }}="1" p{{ b }} data-{{ a | escape }}><h{{ b }}>', { names })).to.equal(
      '<i e&#58;x="1" p&#58;template data-e&#58;x><h&#58;template>',
    )
  })

  for (const text of ['{{ a }}', '{{ a | escape }}'])
    it(`LIQ-34 LIQ-35 data that was captured as text is one name at most: ${text}`, async () => {
      const source = `{% capture c %}${text}{% endcapture %}<i {{ c }}></i>{{ c }}`
      expect(await rendered(source, { names: { a: ' onclick=f() ' } })).to.equal(
        '<i &#32;onclick&#61;f&#40;&#41;&#32;></i> onclick=f() ',
      )
    })

  for (const [where, hasDirectives, colon] of [
    ['may have directives', true, '&#58;'],
    ['has none', false, ':'],
  ] as const)
    it(`COMP-145 where a page ${where}, data has this for its colons: ${colon}`, async () => {
      const source =
        '{{ a }}<i title="{{ a }}" lang={{ a }}></i><script>{{ a }}</script><!--{{ a }}-->' +
        '{% capture c %}{{ a }}{% endcapture %}{% if c == "e:x" %}{{ c }}{% endif %}'
      expect(await rendered(source, { names: { a: 'e:x' }, scope: { hasDirectives } })).to.equal(
        `e${colon}x<i title="e${colon}x" lang=e&#58;x></i><script>e:x</script><!--e:x-->e${colon}x`,
      )
    })

  for (const [what, source, written] of [
    ['as a name', '{% capture c %}{{ a }}{% endcapture %}<i {{ c }}="1"><{{ c }}>', '<i e&#58;x="1"><e&#58;x>'],
    [
      'among attributes of the author',
      '{% capture c %}e:y="{{ b }}" {{ a }}="2"{% endcapture %}<i {{ c }}></i>{{ c }}',
      '<i e:y="http://x" e&#58;x="2"></i>e:y="http://x" e:x="2"',
    ],
    [
      'captured twice, and escaped',
      '{% capture c %}{{ a | escape }}{% endcapture %}{% capture d %}e:y {{ c }} {{ c | newline_to_br }}{% endcapture %}<i {{ d }}>',
      '<i e:y e&#58;x e&#58;x>',
    ],
    [
      'in many parts',
      '{% capture c %}e:y {% for i in (1..2000) %}{{ a }} {% endfor %}{% endcapture %}<i {{ c }}>',
      `<i e:y ${'e&#58;x '.repeat(2000)}>`,
    ],
  ] as const)
    it(`LIQ-34 LIQ-35 COMP-145 nor is captured data one, ${what}`, async () => {
      expect(await rendered(source, { names: { a: 'e:x', b: 'http://x' } })).to.equal(written)
    })

  for (const [kind, source, a, written] of [
    [
      'html',
      '<script>{% capture c %}{{ a }}{% endcapture %}i<{{ c }}</script>',
      '/script>',
      '<script>i<\\/script></script>',
    ],
    ['html', '<style>{% capture c %}{{ a }}{% endcapture %}<{{ c }}</style>', '/style>', '<style><\\/style></style>'],
    [
      'html',
      '<script>{% capture c %}{{ a }}{% endcapture %}<!--{{ c }}</script>',
      '<script>',
      '<script><!--<\\script></script>',
    ],
    ['html', '<script>i<{{ a | escape }}</script>', '/script ', '<script>i<\\/script </script>'],
    ['xml', '<![CDATA[x]]{{ a }}]]>', '><b/>', '<![CDATA[x]]]]><![CDATA[><b/>]]>'],
    [
      'xml',
      '<![CDATA[x]]{% capture c %}{{ a }}{% endcapture %}{{ c }}]]>',
      '><b/>',
      '<![CDATA[x]]]]><![CDATA[><b/>]]>',
    ],
    [
      'xml',
      '<![CDATA[{% capture c %}{{ a }}{% endcapture %}{{ c }}]]>{{ c }}',
      ']]><b/>',
      '<![CDATA[]]]><![CDATA[]]]><![CDATA[><b/>]]>]]&gt;&lt;b/&gt;',
    ],
    ['xml', '<![CDATA[{{ a | escape }}>]]>', ']]', '<![CDATA[]]]><![CDATA[]]]><![CDATA[>]]>'],
    ['xml', '<?p {% capture c %}{{ a }}{% endcapture %}?>{{ c }}', '\f', '<?p ?>&#65533;'],
  ] as const)
    it(`LIQ-35 ${source}: no data goes on with what stands before it, captured and escaped data included`, async () => {
      expect(await rendered(source, { names: { a }, context: { kind, element: 'div' } })).to.equal(written)
    })

  it('LIQ-35 no boundary comes from data: HTML of any shape', async () => {
    const random = seeded(20_261_201)
    const literals =
      '<script> </script> <b_title=" " > <!-- --> <!--!> <!- - <style> </style> </ < <math> </math> <title> <xmp> </xmp> <i_title= <b_ /> <p> x'
        .split(' ')
        .map(text => text.replace('_', ' '))
    const outputs = ['{{ a }}', '{{ b }}', '{{ a | escape }}', '{{ c }}', '{{ c | newline_to_br }}', '{% echo b %}']
    const piece = (depth: number): string => {
      const inner = () => (depth > 2 ? 'x' : [1, 2, 3].map(() => piece(depth + 1)).join(''))
      switch (pick(random, ['', '', '', '', 'output', 'output', 'output', 'raw', 'if', 'for', 'capture'])) {
        case 'output':
          return pick(random, outputs)
        case 'raw':
          return `{{ '${pick(random, literals)}' | raw }}`
        case 'if':
          return `{% if no %}${inner()}{% else %}${inner()}{% endif %}`
        case 'for':
          return `{% for i in (1..2) %}${inner()}{% endfor %}`
        case 'capture':
          return `{% capture c %}${inner()}{% endcapture %}`
        default:
          return pick(random, literals)
      }
    }
    const shown = (text: string) => skeleton(parseHtml(`<body>x${text}`))
    let compared = 0
    for (let i = 0; i < 600; i++) {
      const source = Array.from({ length: 7 }, () => piece(0)).join('')
      const page = (a: string, b: string) => rendered(source, { names: { a, b, no: false } })
      const neutral = await page('zzz', 'zzz')
      // Data may be a name.
      if (/zzz/.test(shown(neutral)) || /<\/?[a-z]*zzz|<[!?][^>-]*zzz/i.test(neutral)) continue
      for (let j = 0; j < 2; j++) {
        const [a = '', b = ''] = [1, 2].map(() => `${pick(random, HOSTILE)}${pick(random, HOSTILE)}`)
        compared++
        expect(shown(await page(a, b)), `${source} with ${a} and ${b}`).to.equal(shown(neutral))
      }
    }
    expect(compared).to.be.above(400)
  })

  it('LIQ-35 no boundary comes from data: XML of any shape', async () => {
    const random = seeded(20_261_130)
    const hole = () => pick(random, ['{{ a }}', '{{ b }}', '{{ a | escape }}', '{{ a }}{{ b }}', '{{ c }}'])
    const section = () => `${pick(random, ['', 'x', ']', 'x]]', '<'])}${hole()}${pick(random, ['', 'x', 'x>', ']'])}`
    const place = () => pick(random, ['|', '|', '<!-- | -->', '<?p |?>', '<i k="|"/>', '<p>|</p>']).replace('|', hole())
    const context = { kind: 'xml', element: 'div' } as const
    const shown = (text: string) => skeleton(parseXml(`<div>${text}</div>`))
    for (let i = 0; i < 300; i++) {
      const captured = '{% capture c %}{{ a }}{% endcapture %}'
      const [before, within] = pick(random, [
        [captured, ''],
        ['', captured],
      ])
      const source = `${before}<![CDATA[${within}${section()}]]>${place()}${place()}`
      const expected = shown(await rendered(source, { names: { a: 'x', b: 'x' }, context }))
      for (let j = 0; j < 3; j++) {
        const [a = '', b = ''] = [1, 2].map(() => pick(random, ENDS) + pick(random, ENDS))
        const text = await rendered(source, { names: { a, b }, context })
        expect(shown(text), `${source} with ${a} and ${b}`).to.equal(expected)
      }
    }
  })

  for (const [source, written] of [
    [
      '{% capture c %}<i title={{ a }} lang=x>y z</i> <b id=y>{% endcapture %}{{ c }}',
      '<i title=v lang=x>y z</i> <b id=y>',
    ],
    ['{% capture c %}title={{ a }} lang=x{% endcapture %}<i {{ c }}>', '<i title=v lang=x>'],
    ['{% capture c %}{{ a }} lang=x{% endcapture %}<i title={{ c }} id=y>', '<i title=v&#32;lang&#61;x id=y>'],
  ] as const)
    it(`LIQ-34 markup that is captured is printed as it is, and one value in a value: ${source}`, async () => {
      expect(await rendered(source, { names: { a: 'v' } })).to.equal(written)
    })

  for (const element of ['select', 'option', 'noscript'])
    it(`LIQ-35 the host may hold no styles: ${element}`, async () => {
      const context = { kind: 'html', element } as const
      expect(await rendered('<style>{{ a }}</style>', { names: { a: '<b>' }, context })).to.equal(
        '<style>&lt;b&gt;</style>',
      )
    })

  it('LIQ-34 what a template has printed is still markup in a tag', async () => {
    const source = '{% capture c %}title="{{ a }}" hidden{% endcapture %}<i {{ c }}>'
    expect(await rendered(source, { names: { a: '"' } })).to.equal('<i title="&quot;" hidden>')
  })

  it('LIQ-35 escaped text leaves XML well formed', async () => {
    const context = { kind: 'xml', element: 'feed' } as const
    const names = { a: '\u0001<', b: 'a--b-' }
    expect(await rendered('<r>{{ a | escape }}<!--{{ b | escape }}--></r>', { names, context })).to.equal(
      '<r>\ufffd&lt;<!--a&#45;-b&#45;--></r>',
    )
  })

  it('LIQ-35 the host itself may be a script', async () => {
    const context = { kind: 'html', element: 'script' } as const
    expect(await rendered('{{ q }}', { names: { q: '<b></b>' }, context })).to.equal('<b><\\/b>')
  })

  describe('in a browser', () => {
    let browser: Browser

    before(async () => {
      browser = await openBrowser()
    })

    after(() => browser?.close())

    it('LIQ-35 no boundary comes from data, by the rules of a browser', async () => {
      const pairs = fc.sample(fc.tuple(hostile, hostile), { numRuns: 60, seed: 35 })
      const pages: { neutral: string; hostile: string[]; title: string }[] = []
      for (const [title, source] of PLACES) {
        const neutral = await rendered(source, { names: values(NEUTRAL, NEUTRAL) })
        const texts = await Promise.all(pairs.map(([a, b]) => rendered(source, { names: values(a, b) })))
        pages.push({ neutral, hostile: texts, title })
      }
      const page = await browser.newPage()
      const differing = await page.evaluate(all => {
        const shape = (node: Node): string => {
          if (node.nodeType === Node.COMMENT_NODE) return '<!>'
          const inner = [...node.childNodes].map(shape).join('')
          if (!(node instanceof Element)) return inner
          return `<${node.tagName} ${node.getAttributeNames().join(' ')}>${inner}</>`
        }
        const parsed = (text: string) => shape(new DOMParser().parseFromString(text, 'text/html'))
        return all.flatMap(({ neutral, hostile: texts, title }) => {
          const expected = parsed(neutral)
          return texts.filter(text => parsed(text) !== expected).map(text => `${title}: ${text}`)
        })
      }, pages)
      expect(differing).to.deep.equal([])
    })
  })
})
