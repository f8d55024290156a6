import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { formatHttpDate, parseHttpDate } from '../../../pipeline/http/conditions.ts'
import { RUNS } from './seed.ts'

describe('HTTP dates', () => {
  const now = Date.parse('2026-11-20T00:00:00Z')
  const cases: [text: string, iso: string | undefined][] = [
    ['Sun, 06 Nov 1994 08:49:37 GMT', '1994-11-06T08:49:37Z'],
    ['Sunday, 06-Nov-94 08:49:37 GMT', '1994-11-06T08:49:37Z'],
    ['Sun Nov  6 08:49:37 1994', '1994-11-06T08:49:37Z'],
    ['Mon Nov 16 08:49:37 1994', '1994-11-16T08:49:37Z'],
    ['Thursday, 01-Jan-76 00:00:00 GMT', '2076-01-01T00:00:00Z'],
    ['Saturday, 01-Jan-77 00:00:00 GMT', '1977-01-01T00:00:00Z'],
    ['Tue, 29 Feb 2028 00:00:00 GMT', '2028-02-29T00:00:00Z'],
    ['Fri, 30 Jun 2017 23:59:60 GMT', '2017-07-01T00:00:00Z'],
    ['Sat, 01 Jan 0050 00:00:00 GMT', '0050-01-01T00:00:00Z'],
    ['Mon, 29 Feb 2027 00:00:00 GMT', undefined],
    ['Mon, 31 Apr 2026 00:00:00 GMT', undefined],
    ['Mon, 00 Jan 2026 00:00:00 GMT', undefined],
    ['Mon, 01 Foo 2026 00:00:00 GMT', undefined],
    ['Mon, 01 Jan 2026 24:00:00 GMT', undefined],
    ['Mon, 01 Jan 2026 00:60:00 GMT', undefined],
    ['Mon, 01 Jan 2026 00:00:61 GMT', undefined],
    ['Mon, 01 Jan 2026 00:00:00 UTC', undefined],
    ['Mon, 01 Jan 2026 00:00:00 +0100', undefined],
    ['2026-01-01T00:00:00Z', undefined],
    ['1767225600', undefined],
    ['', undefined],
  ]
  for (const [text, iso] of cases) {
    it(`HTTP-36 ${text || 'empty'}`, () => {
      expect(parseHttpDate(text, now)).to.equal(iso === undefined ? undefined : Date.parse(iso) / 1000)
    })
  }

  it('HTTP-30 what is written is read back, without fractions', () => {
    expect(formatHttpDate(784111777999)).to.equal('Sun, 06 Nov 1994 08:49:37 GMT')
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4102444800000 }), time => {
        expect(parseHttpDate(formatHttpDate(time))).to.equal(Math.floor(time / 1000))
      }),
      RUNS,
    )
  })
})
