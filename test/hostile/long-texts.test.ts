/** Documents that are one long text leave the loop to others: read, written and edited in many short steps, counted (SEC-12). */

import { hash } from 'node:crypto'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { digestingBytes, digestingText } from '../../pipeline/http/digest.ts'
import { parseDocument } from '../../pipeline/tree/document.ts'
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
})
