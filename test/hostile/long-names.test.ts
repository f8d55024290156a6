/** Names that things are found by have a length: V8 tells longer ones apart by going through all of them (SEC-12, HTTP-181). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { readingForm } from '../../pipeline/http/form.ts'
import { parseDocument } from '../../pipeline/tree/document.ts'
import { parseFragment } from '../../pipeline/tree/fragment.ts'
import { LONGEST_NAME, TreeError } from '../../pipeline/tree/limits.ts'
import { type DocumentKind, type ElementNode, HTML_NAMESPACE, isElement } from '../../pipeline/tree/nodes.ts'
import { atOnce } from '../../pipeline/tree/steps.ts'
import { TagTokens } from '../../pipeline/tree/tag-tokens.ts'
import { ANY_TOKEN, TokenCollector, TokenCounts } from '../../pipeline/tree/tokens.ts'
import { became } from '../pipeline/language/sessel/site.ts'
import { provingText } from '../pipeline/tree/samples.ts'
import { takesLess } from '../support/cost.ts'
import { stepsOf } from '../support/steps.ts'

/** Reads a text in every way there is. @returns how often it was refused */
function refusals(kind: DocumentKind, source: string): number {
  const [context] = parseDocument(kind, kind === 'xml' ? '<r/>' : '').root.childNodes.filter(isElement)
  const ways: (() => unknown)[] = [() => parseDocument(kind, source)]
  if (context) ways.push(() => parseFragment(kind, source, context))
  return ways.filter(way => {
    try {
      way()
      return false
    } catch (error) {
      if (error instanceof TreeError && error.reason === 'too-large') return true
      throw error
    }
  }).length
}

describe('long names', () => {
  const cases: [what: string, kind: DocumentKind, markup: (name: string) => string][] = [
    ['of an element', 'html', name => `<${name}>x</${name}>`],
    ['of an attribute', 'html', name => `<p ${name}=x>y</p>`],
    ['of an attribute without value', 'html', name => `<p ${name}>y</p>`],
    ['in an id', 'html', name => `<p id="${name}">y</p>`],
    ['in an id without quotes', 'html', name => `<p id=${name}>y</p>`],
    ['of a namespace', 'html', name => `<p xmlns:a="${name}">y</p>`],
    ['of a property', 'html', name => `<p itemprop="a ${name} b">y</p>`],
    ['of a type', 'html', name => `<p itemscope itemtype="${name}">y</p>`],
    ['of a reference', 'html', name => `<p itemscope itemref="a\n${name}">y</p>`],
    ['of an element', 'xml', name => `<${name}>x</${name}>`],
    ['of an attribute', 'xml', name => `<p ${name}="x">y</p>`],
    ['in an id', 'xml', name => `<p id="${name}">y</p>`],
    ['of a namespace', 'xml', name => `<p xmlns:a="${name}">y</p>`],
  ]
  for (const [what, kind, markup] of cases)
    it(`SEC-12 HTTP-181 a name ${what} in ${kind}: at the limit, and one beyond`, () => {
      const longest = markup('n'.repeat(LONGEST_NAME))
      const longer = markup('n'.repeat(LONGEST_NAME + 1))
      expect(refusals(kind, longest)).to.equal(0)
      expect(refusals(kind, longer)).to.equal(2)
      if (kind === 'xml') return
      // The parser looks at the words of long lists.
      expect(atOnce(provingText(longest))).to.equal(!/item(prop|ref)=/.test(longest))
      expect(atOnce(provingText(longer))).to.equal(false)
    })

  it('SEC-12 HTTP-181 values and lists of short names may be longer', () => {
    const long = 'n'.repeat(4 * LONGEST_NAME)
    const source = `<p class="${long}" title="${long}">${long}</p>`
    expect(refusals('html', source)).to.equal(0)
    expect(atOnce(provingText(source))).to.equal(true)
    expect(refusals('html', `<p itemref="${'a b '.repeat(LONGEST_NAME)}">x</p>`)).to.equal(0)
  })

  it('SEC-12 HTTP-181 many long names in one tag are refused before each is compared with all', async () => {
    const names = Array.from({ length: 900 }, (_, i) => `${'n'.repeat(16_400)}${1_000 + i}`)
    // Made before: it is as long as the reading of it may take, and no work of the server.
    const source = Buffer.from(`<p ${names.join(' ')}>x</p>`).toString('latin1')
    await takesLess(60, () => expect(refusals('html', source)).to.equal(2))
  })

  it('SEC-12 COMP-36 long classes are not kept as what a document holds', () => {
    const element = (value: string): ElementNode => ({
      nodeName: 'p',
      tagName: 'p',
      namespaceURI: HTML_NAMESPACE,
      attrs: [{ name: 'class', value }],
      childNodes: [],
      parentNode: null,
    })
    const long = element('n'.repeat(20_000))
    const [collector, counts, tags] = [new TokenCollector(), new TokenCounts(), new TagTokens()]
    for (const each of [element('a b'), long]) collector.add(each)
    for (const each of [element('a b'), long]) counts.add(each)
    atOnce(provingText(`<p class="a b"><p class="${'n'.repeat(20_000)}">`, tags))
    for (const each of [collector, counts, tags]) expect(each.tokens()).to.deep.equal([ANY_TOKEN])
    counts.remove(long)
    expect(counts.tokens()).to.include.members(['p', '[class]', '.a', '.b'])
  })

  it('SEC-12 COMP-22 a field of a form whose name is longer than 8 KiB is left out, as one in a part', () => {
    const type = 'application/x-www-form-urlencoded'
    const [most, more] = ['n'.repeat(8 * 1024), 'n'.repeat(8 * 1024 + 1)]
    const fields = atOnce(readingForm(type, Buffer.from(`a=1&${most}=2&${more}=3&b=4`)))
    expect([...(fields ?? [])]).to.deep.equal([
      ['a', ['1']],
      [most, ['2']],
      ['b', ['4']],
    ])
  })

  it('SEC-12 COMP-22 a body of what is nearly the boundary of its form is gone through in steps', () => {
    const type = `multipart/form-data; boundary=${'-'.repeat(69)}b`
    expect(stepsOf(readingForm(type, Buffer.alloc(8 * 1024 * 1024, '-')))).to.be.at.least(30)
    const part = `--${'-'.repeat(69)}b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n`
    for (const before of [0, 1, 256 * 1024 - 40, 256 * 1024, 600 * 1024]) {
      const body = `${'x'.repeat(before)}\r\n${part}${part}--${'-'.repeat(69)}b--`
      expect([...(atOnce(readingForm(type, Buffer.from(body))) ?? [])]).to.deep.equal([['a', ['1', '1']]])
    }
  })

  it('SEC-12 SES-144 programs give elements no longer names either', async () => {
    const long = `let a = "${'a'.repeat(LONGEST_NAME)}";let p = new p;`
    expect(await became(`${long}p.attr(a, "x");p.attr("id", a);p.attr("title", a + a);1`)).to.equal('1')
    for (const call of ['p.attr(a + "b", "x")', 'p.attr("id", a + "b")'])
      expect(await became(long + call)).to.match(/more than 8,192 characters/)
  })
})
