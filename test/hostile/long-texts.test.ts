/** Documents that are one long text leave the loop to others: read, written and edited in many short steps, counted (SEC-12). */

import { hash } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { digestingText } from '../../pipeline/http/digest.ts'
import { cloneTree } from '../../pipeline/tree/clone.ts'
import {
  decode,
  decoding,
  digestingBytes,
  encode,
  encoding,
  joining,
  parseDocument,
  parsingDocument,
} from '../../pipeline/tree/document.ts'
import { bodyOf, findingTail, workingWithoutTail } from '../../pipeline/tree/edit/tail.ts'
import { isShort, LONG } from '../../pipeline/tree/long-text.ts'
import { type ChildNode, isElement } from '../../pipeline/tree/nodes.ts'
import { compileSelector, selectFirst } from '../../pipeline/tree/selector/selector.ts'
import { outerMarkup, serializeDocument, writingDocument, writingMarkup } from '../../pipeline/tree/serialize.ts'
import { SourceText } from '../../pipeline/tree/source-text.ts'
import { done, type Steps } from '../../pipeline/tree/steps.ts'
import { provingText } from '../pipeline/tree/samples.ts'

const MEGABYTE = 1024 * 1024
/** Characters of one step, at most. */
const STEP = 128 * 1024

function counted<T>(work: Steps<T>): { steps: number; value: T } {
  for (let steps = 0; ; steps++) {
    const step = work.next()
    if (step.done) return { steps, value: step.value }
  }
}

describe('documents that are one long text', () => {
  for (const [what, text] of [
    ['characters that are written as references', '<'],
    ['ampersands', '&amp;'],
  ] as const)
    it(`SEC-12 a body without end tag, of ${what}, is written in steps`, () => {
      const document = parseDocument('html', `<!doctype html><body>${text.repeat(MEGABYTE)}`)
      const body = bodyOf(document)
      if (!body) throw new Error('no body')
      const { steps, value } = counted(writingMarkup(body, 'html'))
      expect(steps).to.be.at.least(MEGABYTE / STEP)
      expect(value === outerMarkup(body, 'html')).to.equal(true)
    })

  for (const [what, element, begin, piece, end] of [
    ['a body behind whose end tag space follows', 'body', '<body><p>x</p></body>', ' ', ''],
    ['a body behind whose end tag elements follow', 'body', '<body><p>x</p></body>', '<br>', ''],
    ['a head behind whose end tag elements follow', 'head', '<head></head>', '<meta>', '<body>y'],
    ['a root behind whose end tag space follows', 'html', '<html><body></body></html>', '\n', ''],
    ['a form that ends inside another element', 'form', '<form><div></form>', 'x', '</div>'],
    ['a link that another one ends inside a table', 'a', '<a><table><a>', 'x', ''],
  ] as const)
    it(`SEC-12 ${what} is written in steps`, () => {
      const text = piece.repeat(MEGABYTE / piece.length)
      const document = parseDocument('html', `<!doctype html>${begin}${text}${end}`)
      const found = selectFirst(compileSelector(element), document)
      if (!found) throw new Error('no element')
      const { steps, value } = counted(writingMarkup(found, 'html'))
      expect(steps).to.be.at.least(MEGABYTE / STEP)
      expect(value === outerMarkup(found, 'html')).to.equal(true)
    })

  it('SEC-12 no element is written in one step that is long, whatever its place says', () => {
    const tags = ['<p>', '<form>', '</form>', '<b>', '</b>', '<table>', '<tr>', '<td>', '</table>', '<a>', '</body>']
    const more = [
      '<body>',
      '</html>',
      '<head>',
      '</head>',
      '<style>',
      '</style>',
      '<pre>',
      '<select>',
      '<i>',
      '</p>',
      'x',
    ]
    const markup = fc.array(fc.constantFrom(...tags, ...more), { maxLength: 12 })
    fc.assert(
      fc.property(fc.constantFrom('', '<!doctype html>'), markup, markup, (start, before, behind) => {
        const long = ' x'.repeat(LONG)
        const document = parseDocument('html', start + before.join('') + long + behind.join(''))
        const open: ChildNode[] = [...document.root.childNodes]
        for (let node = open.pop(); node; node = open.pop()) {
          if (!isElement(node)) continue
          if (isShort(node)) expect(outerMarkup(node, 'html').length, node.tagName).to.be.below(2 * LONG)
          open.push(...node.childNodes)
        }
      }),
      { numRuns: 100 },
    )
  })

  it('SEC-12 many short elements are written in steps, also those that stand in no source', () => {
    for (const kind of ['html', 'xml'] as const) {
      const document = parseDocument(kind, `<r>${'<p><i/></p>'.repeat(10_000)}</r>`.replaceAll('<i/>', '<i></i>'))
      const copy = cloneTree(document)
      const open: ChildNode[] = [...copy.root.childNodes]
      for (let node = open.pop(); node; node = open.pop()) {
        delete node.sourceCodeLocation
        if (isElement(node)) open.push(...node.childNodes)
      }
      const { steps, value } = counted(writingDocument(copy))
      expect(steps, kind).to.be.at.least(40)
      expect(value.slice(0) === serializeDocument(document), kind).to.equal(true)
    }
  })

  it('SEC-12 long markup is never put together in one piece for its tag and its bytes', () => {
    const parts = '<p title="&quot;">&lt;</p>\n'.repeat(10_000)
    for (const [kind, source] of [
      ['html', `<!doctype html><body><pre>\n\n<i>${parts}</i></pre>`],
      ['xml', `<r xmlns="urn:a" xmlns:b="urn:b"><c b:d="${'&amp;'.repeat(MEGABYTE / 4)}"/>${parts}</r>`],
    ] as const) {
      const document = parseDocument(kind, source)
      const markup = counted(writingDocument(document)).value
      expect(markup).to.be.instanceOf(SourceText)
      const whole = serializeDocument(document)
      expect(markup.slice(0) === whole).to.equal(true)
      expect(counted(digestingText(markup)).value).to.equal(hash('sha256', whole))
      expect(Buffer.compare(counted(encoding(markup, false)).value, Buffer.from(whole))).to.equal(0)
    }
  })

  for (const [what, space, parsed] of [
    ['spaces', ' ', ' '],
    ['lines of Windows', '\r\n', '\n'],
    ['lines of old computers', '\r', '\n'],
    ['all kinds', '\t\f\r\n \r', '\t\f\n \n'],
  ] as const)
    it(`SEC-12 the end of a body before much white space is found in steps: ${what}`, () => {
      const times = Math.floor(MEGABYTE / space.length)
      const document = parseDocument('html', `<!doctype html><body><p>x</p></body>${space.repeat(times)}`)
      const { steps, value } = counted(findingTail(document))
      expect(steps).to.be.at.least(MEGABYTE / STEP)
      expect(value.start).to.equal('<!doctype html><body><p>x</p>'.length)
      expect(value.text === parsed.repeat(times)).to.equal(true)
      const children = bodyOf(document)?.childNodes ?? []
      const read = counted(workingWithoutTail(children, value, done(outerMarkup(document.root, 'html').length)))
      // The text of the tree and that of the tail are each read in a step of its own.
      expect(read.steps).to.be.at.least(4)
    })

  it('SEC-12 long texts and bytes are hashed in steps', () => {
    const text = `x${'\u{1f375}é'.repeat(2 * MEGABYTE)}`
    const wanted = hash('sha256', text)
    for (const work of [digestingText(text), digestingBytes(Buffer.from(text))]) {
      const { steps, value } = counted(work)
      expect(steps).to.be.at.least(3)
      expect(value).to.equal(wanted)
    }
    for (const short of ['', 'a', '\u{1f375}'])
      expect(counted(digestingText(short)).value).to.equal(hash('sha256', short))
  })

  it('SEC-12 long texts are encoded, and long bytes joined, in steps', () => {
    for (const text of [
      '',
      'a',
      `x${'\u{1f375}é'.repeat(2 * MEGABYTE)}`,
      ' '.repeat(5 * MEGABYTE),
      '\ud83c'.repeat(3 * MEGABYTE),
    ]) {
      for (const bom of [false, true]) {
        const { steps, value } = counted(encoding(text, bom))
        expect(steps).to.be.at.least(Math.floor(text.length / (2 * MEGABYTE)))
        expect(Buffer.compare(value, encode(text, bom))).to.equal(0)
      }
    }
    const parts = [Buffer.alloc(5 * MEGABYTE, 'a'), Buffer.alloc(0), Buffer.from('b'), Buffer.alloc(MEGABYTE, 'c')]
    const { steps, value } = counted(joining(parts))
    expect(steps).to.be.at.least(3)
    expect(Buffer.compare(value, Buffer.concat(parts))).to.equal(0)
  })

  it('SEC-12 long documents are decoded in steps', () => {
    const text = `x${'\u{1f375}é'.repeat(MEGABYTE)}`
    for (const bytes of [
      Buffer.from(text),
      Buffer.from(`\ufeff${text}`),
      Buffer.concat([Buffer.from(text), Buffer.from([0xf0, 0x9f])]),
      Buffer.from('a'),
    ]) {
      const { steps, value } = counted(decoding(bytes))
      expect(steps).to.be.at.least(Math.floor(bytes.length / (2 * MEGABYTE)))
      expect(value).to.deep.equal(decode(bytes))
    }
  })

  for (const [what, begin, piece, end] of [
    ['text', '<p>', 'word ', '</p>'],
    ['text with references', '<p>', '&amp;', '</p>'],
    ['lines of Windows', '<p>', 'a\r\n', '</p>'],
    ['lines of old computers', '<p>', 'a\r', '</p>'],
    ['text of a script', '<script>', 'a<b;', '</script>'],
    ['a comment', '<!--', 'word ', '-->'],
    ['lines in a comment', '<!--', 'a\r\n', '-->'],
    ['an attribute', '<p title="', 'a ', '"></p>'],
    ['an attribute without quotes', '<p title=', 'ab', '></p>'],
    ['text that a table throws out', '<table>', 'a ', '</table>'],
  ] as const)
    it(`SEC-12 ${what} of a megabyte is read in many steps, and every piece of it is there`, () => {
      const short = parseDocument('html', begin + piece.repeat(3) + end)
      const times = Math.floor(MEGABYTE / piece.length)
      const source = begin + piece.repeat(times) + end
      const { steps, value } = counted(parsingDocument('html', source))
      expect(steps).to.be.at.least(MEGABYTE / STEP)
      const written = (piece: string, count: number) => piece.repeat(count)
      const sample = outerMarkup(short.root, 'html')
      const one = [piece, '&amp;', 'a\n'].find(each => sample.includes(written(each, 3))) ?? ''
      expect(one).to.not.equal('')
      const markup = outerMarkup(value.root, 'html')
      expect(markup === sample.replace(written(one, 3), () => written(one, times))).to.equal(true)
    })

  for (const [what, source] of [
    ['comments', '<!--c-->'.repeat(20_000)],
    ['what is no tag', '< '.repeat(20_000)],
    ['text without tags', 'x'.repeat(4 * MEGABYTE)],
  ] as const)
    it(`SEC-12 limits are proved in steps, and in a time that grows with the text alone: ${what}`, () => {
      const { steps, value } = counted(provingText(`<p>${source}</p>`))
      expect(value).to.equal(true)
      expect(steps).to.be.at.least(7)
    })

  for (const [what, source] of [
    ['a tag', `<p ${'a'.repeat(100_000)}>`],
    ['space in a tag', `<p ${' '.repeat(100_000)}>`],
    ['a script', `<script>${'<'.repeat(100_000)}</script>`],
  ] as const)
    it(`SEC-12 ${what} that no step could read is left to the parser, which can be left`, () => {
      expect(counted(provingText(source)).value).to.equal(false)
    })

  it('SEC-12 long values of attributes are written in steps', () => {
    const source = `<r t="${'x&quot;'.repeat(MEGABYTE / 4)}"></r>`
    for (const kind of ['html', 'xml'] as const) {
      const document = parseDocument(kind, source)
      const { steps, value } = counted(writingDocument(document))
      expect(steps).to.be.at.least(MEGABYTE / 2 / STEP)
      expect(value.slice(0) === serializeDocument(document)).to.equal(true)
    }
  })

  it('SEC-12 white space behind many comments is found in steps', () => {
    const document = parseDocument('html', `<!doctype html><body><p>x</p></body>${'<!--c-->\n'.repeat(5000)}`)
    expect(counted(findingTail(document)).steps).to.be.at.least(5)
  })

  it('SEC-12 white space behind many end tags is gone through once', () => {
    const document = parseDocument('html', `<!doctype html><body><p>x</p>${`</body>${'\r'.repeat(20_000)}`.repeat(40)}`)
    const { steps, value } = counted(findingTail(document))
    expect(value.text === '\n'.repeat(800_000)).to.equal(true)
    expect(steps).to.be.at.most(40)
  })
})
