import { hash } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { SplicedBytes, SplicedContent } from '../../../pipeline/tree/spliced-bytes.ts'

const bytes = fc.uint8Array({ maxLength: 40 })
const splice = fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), gone: fc.nat(10), bytes })

describe('bytes that are changed in places', () => {
  it('HTTP-24 are those of a copy with the same changes, with their digest', () => {
    const edits = fc.array(fc.array(splice, { minLength: 1, maxLength: 2 }), { maxLength: 100 })
    fc.assert(
      fc.property(bytes, edits, fc.boolean(), (start, list, looks) => {
        let plain = Buffer.from(start)
        let body = new SplicedBytes([start])
        for (const wanted of list) {
          const places = wanted.map(({ at, gone, bytes }) => {
            const from = Math.floor(at * plain.length)
            return { start: from, end: Math.min(plain.length, from + gone), bytes }
          })
          places.sort((a, b) => a.start - b.start)
          const splices = places.filter(({ start }, i) => i === 0 || start >= (places[i - 1]?.end ?? 0))
          const before = body
          body = before.changed(splices)
          const unchanged = plain
          for (const { start, end, bytes } of splices.toReversed())
            plain = Buffer.concat([plain.subarray(0, start), bytes, plain.subarray(end)])
          expect(body.digest()).to.equal(hash('sha256', plain))
          expect([body.length, Buffer.from(body.first(3))]).to.deep.equal([plain.length, plain.subarray(0, 3)])
          // Whoever reads a version leaves it as it is.
          if (looks) expect(Buffer.from(before.bytes)).to.deep.equal(unchanged)
        }
        const content = new SplicedContent(body, 'digest', undefined)
        expect([Buffer.from(content.bytes), content.size]).to.deep.equal([plain, plain.length])
      }),
      { numRuns: 60 },
    )
  })

  it('HTTP-24 stay in few parts', () => {
    let body = new SplicedBytes([Buffer.alloc(100_000)])
    for (let i = 0; i < 300; i++) {
      const start = (i * 3571) % body.length
      body = body.changed([{ start, end: start + 1, bytes: Buffer.alloc(20) }])
      expect(body.parts.length).to.be.most(64)
    }
    expect(body.length).to.equal(100_000 + 300 * 19)
  })
})
