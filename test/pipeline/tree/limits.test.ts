import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { TreeError } from '../../../pipeline/tree/limits.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { htmlSoup, provingText, runs } from './samples.ts'

const manyNames = (count: number, name: string) => Array.from({ length: count }, (_, i) => name + i).join(' ')

const isSure = (source: string) => atOnce(provingText(source))

function isRefused(source: string): boolean {
  try {
    parseDocument('html', source)
    return false
  } catch (error) {
    if (error instanceof TreeError) return true
    throw error
  }
}

describe('tree/within-limits', () => {
  describe('HTTP-23 ordinary documents need no parser', () => {
    const cases: [what: string, source: string][] = [
      ['nothing', ''],
      ['a page', '<!doctype html><html><head><title>a < b</title></head><body><p>x<br><img src=a></p></body></html>'],
      ['ends that are left out', '<ul><li>a<li>b</ul><p>a<p>b<table><tr><td>1<td>2<tr><td>3</table>'],
      ['comments', '<!-- <div> --><p><!----></p>'],
      ['scripts and styles', '<script>if (a < b) document.write("</div>")</script><style>a > b {}</style>'],
      ['quotes', `<p title="</p>" lang='>' id=a/>x</p>`],
      ['SVG', '<svg viewBox="0 0 1 1"><title>x</title><path d="M0 0"/><g><circle r=1 /></g></svg>'],
      ['formatting', '<p><b>a <i>b</i></b> <a href="#">c</a></p>'.repeat(1000)],
      ['many paragraphs without ends', '<p>a'.repeat(5000)],
      ['choices', '<select name=a><option value=1 selected>x<option>y</select>'],
      ['a template', '<template><style>a > b {}</style><p>x<br></p></template>'],
      ['stray marks', 'a < b </> </1> <3 &lt;'],
    ]
    for (const [what, source] of cases) it(what, () => expect(isSure(source)).to.equal(true))
  })

  /** Three elements that the parser opens again in 60 paragraphs. */
  const opened = (value: string) =>
    `${['b', 'i', 'u'].map(name => `<${name} class="${value}">`).join('')}${'<p>x'.repeat(60)}`

  it('HTTP-23 short formatting may be opened again', () => expect(isSure(opened('x'))).to.equal(true))

  describe('HTTP-23 what might break a limit is left to the parser', () => {
    const cases: [what: string, source: string][] = [
      ['deep nesting', '<div>'.repeat(600)],
      ['deep nesting behind a script that hides its end', `<script><!--<script></script>${'<div>'.repeat(600)}`],
      ['deep nesting behind a comment that ends early', `<!-->${'<div>'.repeat(600)}-->`],
      ['deep nesting behind a comment that ends with a bang', `<!-- --!>${'<div>'.repeat(600)}-->`],
      ['deep nesting in the title of an SVG', `<svg><title>${'<g>'.repeat(600)}</title></svg>`],
      ['too many attributes', `<p ${manyNames(1001, 'a')}>`],
      ['formatting that is opened again', `${'<b id=a><i id=b>'.repeat(50)}${'<p>x'.repeat(3000)}`],
      ['long formatting that is opened again', opened('x'.repeat(10_000))],
      ['formatting closed from outside', `<p>${'<b id=a>'.repeat(50)}</p>${'<p>x</p>'.repeat(3000)}`],
      ['deep nesting behind a tag inside of a comment', `</<noscript>${'<svg>'.repeat(600)}</noscript>`],
      ['formatting that ends an SVG', `<svg>${'<pre></pre><i/>'.repeat(600)}`],
      ['deep nesting by a name with a letter like one of ASCII', '<lin\u212a>'.repeat(600)],
      ['deep nesting by ends in other letters', '<xÉ></xé>'.repeat(600)],
      ...['<svg><foreignObject>', '<svg><desc>', '<math><mi>', '<math><annotation-xml encoding=text/html>'].map(
        (begin): [string, string] => [`deep nesting in HTML in ${begin}`, begin + '<x/>'.repeat(600)],
      ),
      ['deep nesting in a choice that ends', `<select><svg><input>${'<x/>'.repeat(600)}`],
      ['too many attributes, merged', ['a', 'b'].map(name => `<body ${manyNames(600, name)}></body>`).join('')],
      ['too many comments', '<!>'.repeat(2_000_001)],
      ['too many comments without name', 'a</ >'.repeat(1_000_001)],
      ['formatting around blocks', `<p><b><i><u><s><tt>${'<div>x</div>'.repeat(4000)}</tt></s></u></i></b></p>`],
    ]
    for (const [what, source] of cases) it(what, () => expect(isSure(source)).to.equal(false))
  })

  describe('SEC-12 few tags are read in steps as many are', () => {
    const cases: [what: string, tag: string][] = [
      ['with many attributes', `<p ${manyNames(900, 'attribute')}></p>`],
      ['with many classes', `<p class="${manyNames(900, 'class')}"></p>`],
      ['with many marks in their text', `<xmp>${'<'.repeat(10_000)}</xmp>`],
    ]
    for (const [what, tag] of cases)
      it(what, () => {
        const source = tag.repeat(Math.ceil((4 * 1024 * 1024) / tag.length))
        expect([...provingText(source)]).to.have.lengthOf.within(7, 10)
        expect(isSure(source)).to.equal(true)
      })

    it('and one with many classes in many attributes by the parser', () => {
      expect(isSure(`<p ${`class="${manyNames(900, 'class')}" `.repeat(900)}></p>`)).to.equal(false)
    })
  })

  it('HTTP-23 whatever is said to keep the limits keeps them', () => {
    const repeated = fc
      .array(fc.tuple(htmlSoup, fc.constantFrom(1, 1, 3, 60, 700)), { maxLength: 4 })
      .map(parts => parts.map(([part, times]) => part.slice(0, 120).repeat(times)).join(''))
    let sure = 0
    fc.assert(
      fc.property(repeated, source => {
        if (!isSure(source)) return
        sure++
        expect(isRefused(source), JSON.stringify(source.slice(0, 200))).to.equal(false)
      }),
      runs(600),
    )
    expect(sure).to.be.greaterThan(50)
  })

  it('HTTP-23 nested pairs of tags keep the limits however the parser moves them', () => {
    const names = 'div p b i a ul li table tr td form select option template h1 span button nobr svg g math mi'.split(
      ' ',
    )
    const nested = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(fc.array(nested, { minLength: 1, maxLength: 3 }), fc.nat(120), (groups, times) => {
        const source = groups
          .map(group => {
            const opened = group.map(name => `<${name} id=${name}>`).join('')
            const closed = group.toReversed().map(name => `</${name}>`)
            return `${`${opened}x`.repeat(8)}${closed.join('').repeat(8)}`
          })
          .join('')
          .repeat(times)
        if (isSure(source)) expect(isRefused(source), JSON.stringify(groups)).to.equal(false)
      }),
      runs(300),
    )
  })
})
