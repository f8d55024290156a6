/** What is short in memory and long in markup, as escapes write up to six characters for one. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { Fault } from '../../pipeline/fault.ts'
import { writingView } from '../../pipeline/read/elements.ts'
import { parseDocument } from '../../pipeline/tree/document.ts'
import type { TreeDocument } from '../../pipeline/tree/nodes.ts'
import { selectFirst, selectorFor } from '../../pipeline/tree/selector/selector.ts'
import { atOnce } from '../../pipeline/tree/steps.ts'

const MOST = 4000
const CASES: [kind: TreeDocument['kind'], content: (length: number) => string][] = [
  ['html', length => `<p>${'&'.repeat(length)}</p>`],
  ['html', length => `<p title='${'"'.repeat(length)}'></p>`],
  ['xml', length => `<p><![CDATA[${'<'.repeat(length)}]]></p>`],
]

describe('markup that escapes make long', () => {
  for (const [kind, content] of CASES)
    for (const part of ['page', 'p'] as const)
      it(`SEC-12 HTTP-172 a ${part} of ${content(2)} has a bound`, () => {
        const written = (length: number) => {
          // As where a page stamps what is stored elsewhere.
          const tree = { ...parseDocument(kind, content(length)), source: '' }
          const element = part === 'p' ? selectFirst(selectorFor('p'), tree) : undefined
          return atOnce(writingView({ tree }, element, MOST))
        }
        expect(written(500).length).to.be.within(1500, MOST)
        expect(() => written(2000))
          .to.throw(Fault)
          .with.property('status', 503)
      })
})
