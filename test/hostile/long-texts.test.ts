/** Documents that are one long text leave the loop to others: read, written and edited in many short steps, counted (SEC-12). */

import { hash } from 'node:crypto'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { digestingText } from '../../pipeline/http/digest.ts'
import { decodeInTurn, digestingBytes, encode, encoding, joining, parseDocument } from '../../pipeline/tree/document.ts'
import { bodyOf, findingTail } from '../../pipeline/tree/edit/tail.ts'
import { outerMarkup, writingMarkup } from '../../pipeline/tree/serialize.ts'
import type { Steps } from '../../pipeline/tree/steps.ts'

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
      const document = parseDocument('html', `<!doctype html><body>${text.repeat(2 * MEGABYTE)}`)
      const body = bodyOf(document)
      if (!body) throw new Error('no body')
      const { steps, value } = counted(writingMarkup(body, 'html'))
      expect(steps).to.be.at.least((2 * MEGABYTE) / STEP)
      expect(value === outerMarkup(body, 'html')).to.equal(true)
    })

  for (const [what, space, parsed] of [
    ['spaces', ' ', ' '],
    ['lines of Windows', '\r\n', '\n'],
    ['lines of old computers', '\r', '\n'],
    ['all kinds', '\t\f\r\n \r', '\t\f\n \n'],
  ] as const)
    it(`SEC-12 the end of a body before much white space is found in steps: ${what}`, () => {
      const times = Math.floor((2 * MEGABYTE) / space.length)
      const document = parseDocument('html', `<!doctype html><body><p>x</p></body>${space.repeat(times)}`)
      const { steps, value } = counted(findingTail(document))
      expect(steps).to.be.at.least((2 * MEGABYTE) / STEP)
      expect(value.start).to.equal('<!doctype html><body><p>x</p>'.length)
      expect(value.text === parsed.repeat(times)).to.equal(true)
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

  it('SEC-12 a long document is decoded in a turn of its own', async () => {
    const order: string[] = []
    const decoded = decodeInTurn(Buffer.alloc(3 * MEGABYTE, 'a'))
    setImmediate(() => order.push('another'))
    expect((await decoded).text.length).to.equal(3 * MEGABYTE)
    order.push('decoded')
    expect(order).to.deep.equal(['another', 'decoded'])
    expect(decodeInTurn(Buffer.from('a'))).to.not.be.a('promise')
  })
})
