import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { parseDocument } from '../../../../pipeline/tree/document.ts'
import { attribute, rootElement } from '../../../../pipeline/tree/nodes.ts'
import { STEPS } from '../../../../pipeline/tree/selector/query.ts'
import {
  additions,
  compileSelector,
  matcherIn,
  matches,
  SelectorError,
  selectAll,
  stepsOf,
} from '../../../../pipeline/tree/selector/selector.ts'
import { occurrences, parted, placeOf } from '../../../../pipeline/tree/selector/substring.ts'
import { readDom } from '../../../support/dom.ts'
import { board, deep, thicket } from './documents.ts'

const PAGE = `<!DOCTYPE html><html><body><section id=s><p id=p1>  One
 <b id=b1> two</b> </p><p id=p2>one</p><p id=p3>Café</p><p id=p4>Cafe\u0301</p></section>
<dl id=n><dt id=n1>7</dt><dt id=n2> -1.5 </dt><dt id=n3>.5</dt><dt id=n4>5.</dt><dt id=n5>1e3</dt><dt id=n6></dt><dt id=n7>12 km</dt></dl>
<div id=v><meta id=v1 content=" KRS "><a id=v2 href="/one">two</a><a id=v3>two</a><data id=v4 value=7>sieben</data><time id=v5 datetime=2031-05-04>4 May</time><time id=v6>4  May</time><img id=v7 src=x.png alt=""></div>
</body></html>`

const SCHEMAS: Record<string, string> = { 'x:buoy': 'x:station', 'x:station': 'x:thing' }
const isa = (type: string, ancestor: string): boolean =>
  type === ancestor || (SCHEMAS[type] !== undefined && isa(SCHEMAS[type], ancestor))

/** Ids of what a selector finds below the body, or `invalid`. */
function find(text: string, markup = PAGE, extensions = additions()): string {
  try {
    const found = selectAll(compileSelector(text, { extensions }), parseDocument('html', markup))
    return found.flatMap(element => attribute(element, 'id') ?? []).join(' ')
  } catch (error) {
    if (error instanceof SelectorError && error.fault === 'syntax') return 'invalid'
    throw error
  }
}

describe('Selectors, additions of the server', () => {
  for (const [rule, cases] of [
    [
      'COMP-135 text',
      [
        [':contains("two")', 's p1 b1 v v2 v3'],
        ['p:contains("One two")', 'p1'],
        [`p:contains('one')`, 'p2'],
        ['p:contains("one", i)', 'p1 p2'],
        ['p:contains("ONE" , I)', 'p1 p2'],
        ['p:contains(one)', 'p2'],
        ['p:contains("")', 'p1 p2 p3 p4'],
        ['p:contains("\\6fne")', 'p2'],
        ['p:equals("One two")', 'p1'],
        ['p:equals("one two", i)', 'p1'],
        ['p:equals("One")', ''],
        [':equals("two")', 'b1 v2 v3'],
        ['dt:equals("")', 'n6'],
        ['section:has(> p:equals("one"))', 's'],
        ['p:not(:contains("o", i))', 'p3 p4'],
      ],
    ],
    [
      'COMP-134 text is compared in NFC, folded in ASCII only',
      [
        ['p:equals("Café")', 'p3 p4'],
        ['p:equals("Cafe\u0301")', 'p3 p4'],
        ['p:equals("CAFé", i)', 'p3 p4'],
        ['p:equals("CAFÉ", i)', ''],
        ['p:contains("é")', 'p3 p4'],
      ],
    ],
    [
      'COMP-134 values',
      [
        ['#v > :value-equals("KRS")', 'v1'],
        ['#v > :value-equals("/one")', 'v2'],
        ['#v > :value-equals("")', 'v3'],
        ['#v > :value-equals("7")', 'v4'],
        ['#v > :value-equals("4 May")', 'v6'],
        ['#v > :value-contains("2031")', 'v5'],
        ['#v > :value-contains("X.PNG", i)', 'v7'],
        ['#v > :value-contains("two")', ''],
        ['p:value-equals("one")', 'p2'],
      ],
    ],
    [
      'COMP-136 numbers',
      [
        ['dt:less-than("7")', 'n2 n3 n4'],
        ['dt:greater-than("5")', 'n1'],
        ['dt:greater-than("-1.5")', 'n1 n3 n4'],
        ['dt:greater-than(" +.4 ")', 'n1 n3 n4'],
        ['dt:less-than(0)', 'n2'],
        ['#v > :value-greater-than("6")', 'v4'],
        ['#v > :value-less-than("6.")', ''],
      ],
    ],
    [
      'COMP-135, COMP-136 arguments that are none',
      [
        [':contains()', 'invalid'],
        [':contains(a b)', 'invalid'],
        [':contains(1)', 'invalid'],
        [':contains("a", x)', 'invalid'],
        [':contains("a", i, i)', 'invalid'],
        [':contains("a" i)', 'invalid'],
        [':contains', 'invalid'],
        [':equals(.a)', 'invalid'],
        [':less-than("many")', 'invalid'],
        [':less-than("1e3")', 'invalid'],
        [':less-than("")', 'invalid'],
        [':less-than(1, i)', 'invalid'],
        [':is(:less-than("many"), #n6)', 'n6'],
        [':isa()', 'invalid'],
        [':isa(a, b)', 'invalid'],
        [':only()', 'invalid'],
      ],
    ],
    [
      'COMP-137 only',
      [
        ['section:only(p, b)', 's'],
        ['section:only(p)', ''],
        ['section:only(> p, b)', 's'],
        ['section:only(> p, > b)', ''],
        ['section:only(p, p > b)', 's'],
        ['section:only(p, p b, > i)', 's'],
        ['section:only(> p, > p > b)', 's'],
        ['body > :only(p, dt, b)', 's n'],
        ['p:only(i)', 'p2 p3 p4'],
        ['#b1:only(i)', 'b1'],
        ['p:not(:only(i))', 'p1'],
        ['section:has(> p:only(i))', 's'],
        ['dl:only(dt:only(b))', 'n'],
        ['dl:only(+ dt)', ''],
      ],
    ],
  ] as const) {
    it(rule, () => {
      expect(cases.map(([text]) => [text, find(text)])).to.deep.equal(cases)
    })
  }

  it('COMP-138 isa: the type itself, or one that descends from it; of several types one is enough', () => {
    const markup = `<body><i id=a itemscope itemtype="x:station"></i><i id=b itemscope itemtype="x:other x:buoy"></i>
      <i id=c itemscope itemtype="x:thing"></i><i id=d itemscope></i><i id=e itemscope itemtype="X:STATION"></i></body>`
    for (const [text, expected] of [
      [':isa("x:station")', 'a b'],
      [`:isa('x:thing')`, 'a b c'],
      ['i:isa("x:buoy")', 'b'],
      [':isa("x:unknown")', ''],
      ['body:has(> :isa("x:buoy")) #d', 'd'],
    ] as const)
      expect(find(text, markup, additions(isa)), text).to.equal(expected)
    expect(find(':isa("x:station")', markup), 'without schemas').to.equal('')
  })

  it('elements in contents of templates have texts, too', () => {
    const document = parseDocument('html', '<template><p id=t>one</p></template><p>one</p>')
    const template = selectAll(compileSelector('template'), document)[0]
    const inside = template?.content?.childNodes[0]
    const matcher = matcherIn(compileSelector(':equals("one")'), document)
    expect(selectAll(compileSelector('p:equals("one")'), document)).to.have.length(1)
    expect(inside && 'tagName' in inside && matcher(inside)).to.equal(true)
  })

  it('COMP-134 find by the text of the whole what they find one by one, and what another engine reads', () => {
    const text = fc.constantFrom('a', 'b', 'a b', ' ', '\n a', 'e', '\u0301', 'A', '\u00a0', '1', '')
    const { node } = fc.letrec<{ node: string }>(tie => ({
      node: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.array(tie('node'), { maxLength: 4 }).map(inside => `<b>${inside.join('')}</b>`),
      ),
    }))
    const normal = (element: Element) => (element.textContent ?? '').normalize('NFC').replace(/\s+/g, ' ').trim()
    const wanted = fc.constantFrom('a', 'b', 'a b', 'e', 'é', 'ab', '1', 'aa')
    fc.assert(
      fc.property(fc.array(node, { minLength: 1, maxLength: 6 }), wanted, fc.boolean(), (nodes, word, fold) => {
        const markup = `<!DOCTYPE html><html><head></head><body>${nodes.join('')}</body></html>`
        const document = parseDocument('html', markup)
        const judge = readDom(markup)
        const lower = (s: string) => (fold ? s.replace(/[A-Z]/g, letter => letter.toLowerCase()) : s)
        const flag = fold ? ', i' : ''
        for (const [name, test] of [
          ['contains', (s: string) => lower(s).includes(word)],
          ['equals', (s: string) => lower(s) === word],
        ] as const) {
          const selector = compileSelector(`:${name}("${word}"${flag})`)
          const expected = [...judge.querySelectorAll('*')].map(element => test(normal(element)))
          const all = selectAll(compileSelector('*'), document)
          expect(all.map(element => matches(selector, element, document))).to.deep.equal(expected)
          // Asked again and again, one query goes over to the text of the whole.
          const matcher = matcherIn(selector, document)
          for (let turn = 0; turn < 4; turn++) expect(all.map(matcher), markup).to.deep.equal(expected)
        }
      }),
      { numRuns: Number(process.env.FUZZ ?? 75), seed: 20311104 },
    )
  })

  it('COMP-137 only agrees with a slow reading of it', () => {
    const { node } = fc.letrec<{ node: string }>(tie => ({
      node: fc
        .tuple(
          fc.constantFrom('b', 'i', 'u'),
          fc.array(fc.oneof({ maxDepth: 4 }, fc.constant(''), tie('node')), { maxLength: 3 }),
        )
        .map(([tag, inside]) => `<${tag}>${inside.join('')}</${tag}>`),
    }))
    const part = fc.constantFrom('b', '> b', 'i', '> i', '> b > i', 'b i', '> i *', 'b + i', '> u', 'u')
    fc.assert(
      fc.property(fc.array(node, { maxLength: 4 }), fc.uniqueArray(part, { minLength: 1 }), (nodes, parts) => {
        const markup = `<!DOCTYPE html><html><head></head><body>${nodes.join('')}</body></html>`
        const document = parseDocument('html', markup)
        const judge = readDom(markup)
        const expected = [...judge.querySelectorAll('*')].map(anchor => {
          const permitted = new Set(parts.flatMap(each => [...anchor.querySelectorAll(`:scope ${each}`)]))
          return [...anchor.querySelectorAll('*')].every(element => permitted.has(element))
        })
        const selector = compileSelector(`:only(${parts.join(', ')})`)
        for (const free of [STEPS.free, 0]) {
          const usual = STEPS.free
          STEPS.free = free
          try {
            const matcher = matcherIn(selector, document)
            expect(selectAll(compileSelector('*'), document).map(matcher), `${selector.text} ${markup}`).to.deep.equal(
              expected,
            )
          } finally {
            STEPS.free = usual
          }
        }
      }),
      { numRuns: Number(process.env.FUZZ ?? 75), seed: 20311104 },
    )
  })

  it('SEC-12 finds and parts long texts by long ones as the engine does', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 17, maxLength: 24 })
    fc.assert(
      fc.property(
        word,
        fc.array(word, { maxLength: 12 }),
        fc.constantFrom('a', 'ab', 'b'),
        (pattern, parts, filling) => {
          const text = parts.join(pattern) + filling.repeat(2048) + parts.join(pattern)
          expect(parted(text, pattern)).to.deep.equal(text.split(pattern))
          expect(placeOf(text, pattern, 'first')).to.equal(text.indexOf(pattern))
          expect(placeOf(text, pattern, 'last')).to.equal(text.lastIndexOf(pattern))
        },
      ),
      { numRuns: 200, seed: 20311104 },
    )
  })

  it('finds every place of a text in another, those that overlap too', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 24 })
    fc.assert(
      fc.property(word, fc.array(word, { maxLength: 12 }), (pattern, parts) => {
        const text = parts.join(pattern)
        const expected = [...text].flatMap((_, at) => (text.startsWith(pattern, at) ? [at] : []))
        expect(occurrences(pattern, text)).to.deep.equal(expected)
      }),
      { numRuns: 300, seed: 20311104 },
    )
  })

  it('HTTP-45 read each text a few times, however deep the elements stand', () => {
    const haystack = `${'a'.repeat(4_000)}b${'a'.repeat(3_000)}`
    for (const make of [board, deep, thicket]) {
      const document = make()
      for (const text of [
        ':contains("no such text")',
        `:contains("${haystack}")`,
        ':contains("x")',
        ':equals("leaf")',
        ':less-than("5")',
        '*:not(:contains("LOREM", i))',
        ':only(div, p, b)',
        ':only(*)',
        ':isa("https://schema.org/Task")',
      ]) {
        const steps = stepsOf(compileSelector(text, { extensions: additions(isa) }), document)
        expect(steps, `${text} ${rootElement(document)?.tagName}`).to.be.lessThan(document.source.length)
      }
    }
  })
})
