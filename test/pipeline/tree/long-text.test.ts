import { expect } from 'chai'
import { describe, it } from 'mocha'
import { asFault } from '../../../pipeline/failures.ts'
import { AllowanceSpent } from '../../../pipeline/language/allowance.ts'
import { newElement } from '../../../pipeline/language/sessel/dom.ts'
import { ElementValue } from '../../../pipeline/language/values.ts'
import { ResponseValue } from '../../../pipeline/react/context.ts'
import { writingItem } from '../../../pipeline/react/writes.ts'
import { parseFragment } from '../../../pipeline/tree/fragment.ts'
import { parsingHtml } from '../../../pipeline/tree/html.ts'
import { keepingTogether, LongText, testing } from '../../../pipeline/tree/long-text.ts'
import { type ElementNode, isElement, isText, type ParentNode } from '../../../pipeline/tree/nodes.ts'
import { findingExtents } from '../../../pipeline/tree/prefixed-extents.ts'
import { findingPrefixed, parsingPrefixedFragment } from '../../../pipeline/tree/prefixed-parser.ts'
import { writingInnerMarkup, writingMarkup } from '../../../pipeline/tree/serialize.ts'
import { atOnce, done, type Steps } from '../../../pipeline/tree/steps.ts'
import { provingWithinLimits } from '../../../pipeline/tree/tag-limits.ts'
import { parseXml } from '../../../pipeline/tree/xml.ts'
import { collect } from '../../support/collect.ts'
import { stepsOf } from '../../support/steps.ts'
import { unhurried } from '../../support/unhurried.ts'
import { programOn } from '../language/sessel/turns.ts'
import { find } from './samples.ts'

const LONG = 64 * 1024

function textOf(node: ParentNode): string {
  const [text] = node.childNodes
  if (!text || !isText(text)) throw new Error('no text')
  return text.value
}

function parsed(source: string): ElementNode {
  const [node] = parseFragment('html', source, newElement('body'))
  if (!node || !isElement(node)) throw new Error('no element')
  return node
}

function asAnswer(node: ElementNode, allowance = unhurried()): Steps<void> {
  const response = new ResponseValue({ status: 200, headers: {} }, allowance, 'session')
  return response.setting('body', new ElementValue(node)) ?? done(undefined)
}

describe('a text that grows by pieces', () => {
  it('HTTP-183 is no longer than a text can be, and says so with a status', () => {
    const text = new LongText()
    const piece = 'x'.repeat(2 ** 26)
    for (let i = 0; i < 7; i++) text.add(piece)
    expect(text.whole.length).to.equal(7 * piece.length)
    let thrown: unknown
    try {
      text.add(piece)
      expect(text.whole).to.be.a('string')
    } catch (error) {
      thrown = error
    }
    expect(asFault(thrown)).to.include({ status: 507, kind: 'AllowanceExhausted' })
  })
})

describe('tree/long-text', () => {
  it('HTTP-181 a growing text never has many pieces, and is not put together often', () => {
    const piece = 8 * 1024
    let copied = 0
    let joined = 0
    const look = keepingTogether(text => {
      copied += text.length
      joined = text.length
    })
    const length = 8 * 1024 * 1024
    for (let at = piece; at <= length; at += piece) {
      look('x'.repeat(at))
      expect(at - joined).to.be.at.most(Math.max(LONG, at / 8))
    }
    expect(copied).to.be.below(12 * length)
    look('x')
    look('x'.repeat(2 * LONG))
    expect(joined, 'of another text').to.equal(2 * LONG)
  })

  it('SEC-12 HTTP-80 a pattern is found in a long text in steps, also where it looks ahead', () => {
    const other = /<(?!option[ >])[a-z]/i
    const step = 1024 * 1024
    for (const at of [0, step - 9, step - 8, step - 1, step, step + 63, 2 * step - 1])
      for (const [tag, is] of [
        ['<option>', false],
        ['<b>', true],
      ] as const) {
        const text = `${'<'.repeat(at)}${tag}`.padEnd(2 * step + 100, '<')
        expect(atOnce(testing(other, text)), `${tag} at ${at}`).to.equal(is)
        if (!is) expect(stepsOf(testing(other, text))).to.equal(3)
      }
  })

  const megabyte = 1024 * 1024
  const long64 = `<p title='${'"'.repeat(megabyte)}'>`
  const manyValues = `<p ${Array.from({ length: 32 }, (_, i) => `a${i}='${'"'.repeat(megabyte / 32)}'`).join(' ')}>`
  const inEachOther = `<div itemscope>${'<div itemprop=v>'.repeat(300)}${'x'.repeat(LONG / 2)}${'</div>'.repeat(301)}`
  const ofOneLong = `<div itemscope><p itemprop=v>${'x'.repeat(megabyte)}</p></div>`
  const lines = `<x:p>${'\r\n'.repeat(megabyte)}</x:p>`
  const cases: [what: string, least: number, work: () => Steps<unknown>][] = [
    ['REA-62 what a trigger makes of a long value', 16, () => writingItem(parsed(long64), true)],
    ['REA-71 a long element that becomes an answer', 16, () => asAnswer(parsed(long64))],
    ['HTTP-80 an element of many values', 16, () => writingMarkup(parsed(manyValues), 'html')],
    ['HTTP-80 COMP-6 a text of colons', 3, () => findingPrefixed(':'.repeat(megabyte))],
    ['HTTP-80 COMP-6 colons behind the last end tag with a prefix', 4, () => findingExtents(':'.repeat(megabyte))],
    ['HTTP-80 COMP-6 lines within an element with a prefix', 60, () => findingExtents(lines)],
    ['HTTP-80 COMP-6 a long name', 4, () => findingPrefixed(`${'x'.repeat(megabyte)}:`)],
    ['SES-143 short values in each other', 600, () => programOn(parsed(inEachOther), 'self.microdata().count()')],
    ['SES-42 short values of one property', 600, () => programOn(parsed(inEachOther), 'self.v.count()')],
    ['SES-143 long values', 16, () => programOn(parsed(ofOneLong), 'self.microdata().count()')],
    ['SES-42 a long value', 16, () => programOn(parsed(ofOneLong), 'self.v == 1')],
  ]
  for (const [what, least, work] of cases)
    it(`SEC-12 ${what}: ${least} steps at least`, () => {
      expect(stepsOf(work())).to.be.at.least(least)
    })

  const escaped = () => parsed(`<p>${'\u00a0'.repeat(megabyte / 2)}</p>`)
  const written: [what: string, writing: (pay: (units: number) => void) => Steps<string>][] = [
    ['an element', pay => writingMarkup(escaped(), 'html', pay)],
    ['what is in an element', pay => writingInnerMarkup(escaped(), 'html', pay)],
  ]
  for (const [what, writing] of written)
    it(`SEC-12 SES-213 ${what} is paid for while it is written, by what escapes make of it`, () => {
      let told = 0
      expect(atOnce(writing(units => (told += units))).length).to.equal(told)
      const most = megabyte
      told = 0
      const pay = (units: number) => {
        if ((told += units) > most) throw new Error('spent')
      }
      expect(() => atOnce(writing(pay))).to.throw('spent')
      expect(told).to.be.below(1.5 * most)
    })

  it('SEC-12 SES-213 REA-71 what code has built and gives as an answer ends where nothing is left', () => {
    const memory = megabyte
    const given: [most: number, work: Steps<unknown>][] = [
      [5, asAnswer(escaped(), unhurried({ memory }))],
      [5, programOn(escaped(), 'self.getHTML()', unhurried({ memory }))],
    ]
    for (const [most, work] of given) {
      let steps = 0
      const all = () => {
        for (const _ of work) steps++
      }
      expect(all).to.throw(AllowanceSpent)
      expect(steps).to.be.within(1, most)
    }
  })

  it('SEC-12 HTTP-181 a comment that is longer than a step is left to the parser', () => {
    for (const [text, isProved] of [
      ['x', true],
      ['--!'.repeat(megabyte), false],
    ] as const) {
      const source = `<!--${text}-->`
      expect(atOnce(provingWithinLimits(Buffer.from(source), source.length)), text.slice(0, 3)).to.equal(isProved)
    }
  })

  const pieces = 1_000_000
  const few = 300_000
  const xml = (source: string) => textOf(find(parseXml(source), 'r'))
  const fragment = (source: string) => {
    const [node] = parseFragment('html', source, newElement('body'))
    return node && (isElement(node) ? node.attrs[0]?.value : 'data' in node ? node.data : '')
  }
  const prefixed = (source: string) => {
    const [node] = atOnce(parsingPrefixedFragment(source, newElement('body'), () => true))
    return node && isElement(node) ? node.attrs[0]?.value : undefined
  }
  const values = (source: string) =>
    parsed(source)
      .attrs.map(({ value }) => value)
      .join('')
  const repeated = (count: number, part: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => part(i)).join('')
  const texts: [name: string, read: (source: string) => string | undefined, source: string][] = [
    ['brackets in a CDATA section', xml, `<r><![CDATA[${']'.repeat(pieces)}x]]></r>`],
    ['references', xml, `<r>${'&lt;'.repeat(pieces)}</r>`],
    ['references in a value of HTML', fragment, `<p title="${'&lt;'.repeat(few)}">`],
    ['references in many values of HTML', values, `<p ${repeated(20, i => `a${i}="${'&lt;'.repeat(few / 20)}" `)}>`],
    ['references in a value of an element with a prefix', prefixed, `<x:p title="${'&lt;'.repeat(few)}"/>`],
    ['lines in a comment of HTML', fragment, `<!--${'\r\n'.repeat(few)}-->`],
  ]
  for (const [name, begin] of [
    ['a name of a doctype', '<!DOCTYPE '],
    ['an identifier of a doctype', '<!DOCTYPE html PUBLIC "'],
    ['a name of an end tag', '</x'],
    ['a name of an attribute', '<p '],
  ] as const)
    it(`SEC-12 HTTP-181 what is unfinished is not kept as its characters: ${name}`, () => {
      const source = begin + 'x'.repeat(pieces)
      const work = parsingHtml(source)
      collect()
      const before = process.memoryUsage().heapUsed
      for (let step = 0; step < (2 * pieces) / LONG - 1; step++) work.next()
      collect()
      expect((process.memoryUsage().heapUsed - before) / pieces, 'bytes for each character').to.be.below(8)
      work.return(undefined as never)
    })

  for (const [name, read, source] of texts) {
    it(`SEC-4 SEC-12 HTTP-181 a long text is not kept as its characters: ${name}`, () => {
      collect()
      const before = process.memoryUsage().heapUsed
      const text = read(source)
      collect()
      const bytes = process.memoryUsage().heapUsed - before
      expect(bytes / Number(text?.length), 'bytes for each character').to.be.below(8)
      expect(text).to.have.length.at.least(read === xml ? pieces : few)
    })
  }

  const unit = ']]x- ?<>😀é'
  const long = unit.repeat(5 * Math.ceil(LONG / unit.length))
  const constructs: [name: string, before: string, content: string, after: string][] = [
    ['a text', '', long.replace(/[<>]/g, '='), ''],
    ['a CDATA section', '<![CDATA[', long, ']]>'],
    ['a comment', '<!--', long, '-->'],
    ['an instruction', '<?t ', long.replaceAll('?>', '??'), '?>'],
  ]
  for (const declaration of ['', '<?xml version="1.0"?>', '<?xml-stylesheet href="x"?>']) {
    for (const [name, before, content, after] of constructs) {
      it(`HTTP-23 ${name} that is long is read whole, and what follows by itself ${declaration}`, () => {
        const source = `${declaration}<r><a k="${long.replace(/[<>]/g, '=')}">${before}${content}${after}<b/>y</a></r>`
        const a = find(parseXml(source), 'a')
        const [first, b, last] = a.childNodes
        expect(a.attrs[0]?.value === long.replace(/[<>]/g, '=')).to.equal(true)
        const value = first && ('value' in first ? first.value : 'data' in first ? first.data : '')
        expect(value === content, `${value?.length} of ${content.length}`).to.equal(true)
        const place = first?.sourceCodeLocation
        expect(source.slice(place?.startOffset, place?.endOffset) === before + content + after).to.equal(true)
        expect(b?.nodeName).to.equal('b')
        expect(last).to.include({ nodeName: '#text', value: 'y' })
      })
    }
  }
})
