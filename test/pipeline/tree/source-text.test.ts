import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import type { TreeDocument } from '../../../pipeline/tree/nodes.ts'
import { SourceText, setText, textOf } from '../../../pipeline/tree/source-text.ts'

const texts = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.string({ minLength: 900, maxLength: 1200 }))

/** A change by parts of the length of the text that it meets. */
const change = fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), gone: fc.nat(40), text: texts })

describe('texts in pieces', () => {
  it('HTTP-24 read as strings do, whatever was changed in them', () => {
    const edits = fc.array(fc.array(change, { minLength: 1, maxLength: 2 }), { maxLength: 30 })
    const ranges = fc.array(fc.tuple(fc.nat(3000), fc.nat(3000)), { minLength: 3, maxLength: 6 })
    fc.assert(
      fc.property(texts, edits, ranges, (start, list, looks) => {
        let plain = start
        let text = new SourceText([start])
        for (const wanted of list) {
          const places = wanted.map(({ at, gone, text }) => {
            const from = Math.floor(at * plain.length)
            return { start: from, end: Math.min(plain.length, from + gone), text }
          })
          places.sort((a, b) => a.start - b.start)
          const changes = places.filter(({ start }, i) => i === 0 || start >= (places[i - 1]?.end ?? 0))
          const [from, to] = [Math.floor((changes[0]?.start ?? 0) / 2), plain.length]
          let expected = ''
          let end = 0
          for (const each of changes) {
            expected += plain.slice(end, each.start) + each.text
            end = each.end
          }
          expected += plain.slice(end)
          expect(text.changedBetween(changes, from, to)).to.equal(expected.slice(from))
          text = text.changed(changes)
          plain = expected
          for (const [a, b] of looks) {
            expect(text.slice(a, b)).to.equal(plain.slice(a, Math.max(a, b)))
            expect(text.startsWith(plain.slice(a, b), a)).to.equal(a <= b || plain.startsWith('', a))
          }
          expect([text.length, text.slice(0)]).to.deep.equal([plain.length, plain])
        }
        expect(text.source).to.equal(plain)
      }),
      { numRuns: 100 },
    )
  })

  it('HTTP-24 stay in few pieces', () => {
    let text = new SourceText(['x'.repeat(2_000_000)])
    let most = 0
    for (let i = 0; i < 500; i++) {
      const start = (i * 3571) % text.length
      text = text.changed([{ start, end: start + 1, text: 'y'.repeat(2000) }])
      most = Math.max(most, text.pieces)
    }
    expect([text.length, most <= 128]).to.deep.equal([2_000_000 + 500 * 1999, true])
  })

  it('HTTP-24 of a document follow its source', () => {
    const document: TreeDocument = {
      kind: 'html',
      source: 'one',
      root: { nodeName: '#document', childNodes: [] },
      clean: true,
    }
    expect(textOf(document).slice(0)).to.equal('one')
    setText(document, textOf(document).changed([{ start: 1, end: 1, text: '-' }]))
    expect([document.source, textOf(document).slice(0)]).to.deep.equal(['o-ne', 'o-ne'])
    document.source = 'two'
    expect(textOf(document).slice(0)).to.equal('two')
  })
})
