import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { Fault } from '../../../pipeline/fault.ts'
import { bytesContentRange, parseByteRanges, resolveByteRanges } from '../../../pipeline/http/byte-ranges.ts'
import {
  entriesContentRange,
  parseDestinationRange,
  parseRange,
  placementOf,
  resolveEntries,
  selectorContentRange,
} from '../../../pipeline/http/range.ts'
import { faultOf } from './fault.ts'
import { RUNS } from './seed.ts'

describe('Range', () => {
  const selectors: [header: string, selector: string, more?: object][] = [
    ['selector=h1', 'h1'],
    ['SELECTOR=h1', 'h1'],
    ['selector= #soups > li ', '#soups > li'],
    ['  selector=h1\t', 'h1'],
    ['selector=h1;placement=after', 'h1', { placement: 'after' }],
    ['selector=h1 ;\tPlacement = AFTER ', 'h1', { placement: 'after' }],
    ['selector=li[title="a; b"]; placement=after', 'li[title="a; b"]', { placement: 'after' }],
    ['selector=li[title="a; placement=after"]', 'li[title="a; placement=after"]'],
    [
      'selector=li[title="; placement=before"];placement=after',
      'li[title="; placement=before"]',
      { placement: 'after' },
    ],
    ['selector=h1; placement=before; placement=after', 'h1; placement=before', { placement: 'after' }],
    ['selector=h1; placement=inside', 'h1', { placement: 'inside' }],
    ['selector=h1; placement=', 'h1', { placement: '' }],
    ['selector=h1; other=x', 'h1; other=x'],
    ['selector=h1;', 'h1;'],
    ['selector=li; entries=2-4', 'li', { entries: { first: 2, last: 4 } }],
    ['selector=li; entries=0-0; placement=append', 'li', { entries: { first: 0, last: 0 }, placement: 'append' }],
    ['selector=li; placement=append;entries = 0-9', 'li', { entries: { first: 0, last: 9 }, placement: 'append' }],
    ['selector=li; entries=4-2', 'li; entries=4-2'],
    ['selector=li; entries=x', 'li; entries=x'],
    ['selector=a=b', 'a=b'],
  ]
  for (const [header, selector, more = {}] of selectors) {
    it(`HTTP-45 HTTP-68 ${header}`, () => {
      expect(parseRange(header)).to.deep.equal({ unit: 'selector', selector, wire: selector, ...more })
    })
  }

  it('HTTP-45 the field is UTF-8, else ISO 8859-1; HTTP-49 the answer repeats its bytes', () => {
    for (const [text, bytes] of [
      ['#日本', Buffer.from('#日本')],
      ['#voilà', Buffer.from('#voilà')],
      ['#caf\xe9', Buffer.from('#caf\xe9', 'latin1')],
    ] as const) {
      const wire = bytes.toString('latin1')
      const range = parseRange(`selector=${wire}; placement=after`)
      expect(range).to.deep.equal({ unit: 'selector', selector: text, wire, placement: 'after' })
      expect(selectorContentRange(wire)).to.equal(`selector=${wire}`)
    }
  })

  it('HTTP-46 other units', () => {
    for (const header of [
      'rows=1-2',
      'sessel=x',
      'selector h1',
      'selector =h1',
      'h1',
      '',
      '=',
      'entries=',
      'entries=2-1',
    ]) {
      expect(parseRange(header), header).to.deep.equal({ unit: 'other' })
    }
    expect(parseRange(undefined)).to.equal(undefined)
  })

  it('HTTP-47 an empty selector', () => {
    for (const header of ['selector=', 'selector=  ', 'selector=; placement=after', 'selector= ; entries=0-1']) {
      expect(
        faultOf(() => parseRange(header)),
        header,
      ).to.equal('400 InvalidRange')
    }
  })

  it('HTTP-140 entries', () => {
    expect(parseRange('Entries=0-9')).to.deep.equal({ unit: 'entries', first: 0, last: 9 })
    expect(resolveEntries({ first: 0, last: 9 }, 4)).to.deep.equal({ first: 0, last: 3 })
    expect(resolveEntries({ first: 3, last: 3 }, 4)).to.deep.equal({ first: 3, last: 3 })
    expect(resolveEntries({ first: 4, last: 9 }, 4)).to.equal(undefined)
    expect(resolveEntries({ first: 0, last: 9 }, 0)).to.equal(undefined)
    expect(entriesContentRange({ first: 0, last: 3 }, 4)).to.equal('entries 0-3/4')
    expect(entriesContentRange(undefined, 4)).to.equal('entries */4')
  })

  it('HTTP-95 placements of a POST', () => {
    expect(placementOf(undefined)).to.equal('append')
    for (const word of ['append', 'prepend', 'before', 'after']) expect(placementOf(word)).to.equal(word)
    for (const word of ['', 'inside', 'Append']) {
      expect(
        faultOf(() => placementOf(word)),
        word,
      ).to.equal('400 InvalidPlacement')
    }
  })

  it('HTTP-106 Destination-Range', () => {
    expect(parseDestinationRange('selector=#b; placement=Before')).to.deep.equal({
      selector: '#b',
      wire: '#b',
      placement: 'before',
    })
    const refused = {
      'selector=#b': '422 MoveMissingHeaders',
      'selector=#b; placement=near': '422 InvalidPlacement',
      'bytes=0-1': '422 InvalidRange',
      'rows=1': '422 InvalidRange',
      '': '422 InvalidRange',
      'selector=; placement=after': '400 InvalidRange',
    }
    for (const [header, fault] of Object.entries(refused)) {
      expect(
        faultOf(() => parseDestinationRange(header)),
        header,
      ).to.equal(fault)
    }
  })

  it('HTTP-45 any selector and placement come out as they went in', () => {
    const selector = fc.string({ unit: fc.constantFrom(...'ab ;="\'[]:placementries-0\xc3\xa9') })
    fc.assert(
      fc.property(selector, fc.constantFrom('append', 'before'), (text, placement) => {
        const range = parseRange(`selector=a${text}]; placement=${placement}`)
        expect(range).to.deep.include({ unit: 'selector', wire: `a${text}]`, placement })
      }),
      RUNS,
    )
  })

  it('HTTP-45 whatever arrives, the answer is a range or a Fault', () => {
    const unit = fc.constantFrom('selector=', 'bytes=', 'entries=', 'x=', '')
    fc.assert(
      fc.property(unit, fc.string(), (prefix, text) => {
        try {
          parseRange(prefix + text)
        } catch (error) {
          expect(error).to.be.instanceOf(Fault)
        }
      }),
      RUNS,
    )
  })
})

describe('byte ranges', () => {
  const cases: [ranges: string, size: number, result: string][] = [
    ['0-4', 10, '0-4'],
    ['0-', 10, '0-9'],
    ['9-', 10, '9-9'],
    ['0-99', 10, '0-9'],
    ['-3', 10, '7-9'],
    ['-99', 10, '0-9'],
    ['0-0,-1', 10, '0-0,9-9'],
    [' 0-1 ,\t4-5 , ', 10, '0-1,4-5'],
    ['8-9,0-1', 10, '8-9,0-1'],
    ['0-1,20-30', 10, '0-1'],
    ['10-', 10, 'unsatisfiable'],
    ['-0', 10, 'unsatisfiable'],
    ['0-', 0, 'unsatisfiable'],
    ['-0', 0, 'unsatisfiable'],
    ['-5', 0, 'whole'],
    ['0-,-5', 0, 'whole'],
    ['20-30,40-', 10, 'unsatisfiable'],
    [`${'9'.repeat(400)}-`, 10, 'unsatisfiable'],
    [`0-${'9'.repeat(400)}`, 10, '0-9'],
    ['0-9,0-9', 10, 'whole'],
    ['0-,1-,2-', 10, 'whole'],
    ['', 10, 'whole'],
    [',', 10, 'whole'],
    ['5-2', 10, 'whole'],
    ['0-1,x', 10, 'whole'],
    ['1', 10, 'whole'],
    ['-', 10, 'whole'],
    ['--1', 10, 'whole'],
    ['0 - 1', 10, 'whole'],
    ['+0-1', 10, 'whole'],
    ['0x0-1', 10, 'whole'],
    ['1e1-', 10, 'whole'],
    [Array.from({ length: 33 }, (_, i) => `${i}-${i}`).join(), 100, 'whole'],
  ]
  for (const [ranges, size, result] of cases) {
    it(`HTTP-58 bytes=${ranges.slice(0, 40)} of ${size}`, () => {
      const resolved = resolveByteRanges(parseByteRanges(ranges), size)
      const text = Array.isArray(resolved) ? resolved.map(({ first, last }) => `${first}-${last}`).join() : resolved
      expect(text ?? 'whole').to.equal(result)
    })
  }

  it('HTTP-46 malformed bytes are still the unit bytes, which no write may take for nothing', () => {
    expect(parseRange('bytes=x')).to.deep.equal({ unit: 'bytes', ranges: [] })
    expect(parseRange('Bytes=0-1')).to.deep.equal({ unit: 'bytes', ranges: [{ first: 0, last: 1 }] })
  })

  it('HTTP-49 Content-Range', () => {
    expect(bytesContentRange({ first: 0, last: 4 }, 10)).to.equal('bytes 0-4/10')
    expect(bytesContentRange(undefined, 10)).to.equal('bytes */10')
  })

  it('HTTP-58 resolved ranges lie inside, and together are no longer than the whole', () => {
    const number = fc.nat({ max: 60 })
    const range = fc.oneof(
      fc.tuple(number, number).map(([a, b]) => `${a}-${b}`),
      number.map(a => `${a}-`),
      number.map(n => `-${n}`),
    )
    fc.assert(
      fc.property(fc.array(range, { maxLength: 6 }), fc.nat({ max: 50 }), (ranges, size) => {
        const resolved = resolveByteRanges(parseByteRanges(ranges.join(', ')), size)
        if (!Array.isArray(resolved)) return
        let total = 0
        for (const { first, last } of resolved) {
          expect(first).to.be.within(0, size - 1)
          expect(last).to.be.within(first, size - 1)
          total += last - first + 1
        }
        expect(total).to.be.at.most(size)
      }),
      RUNS,
    )
  })
})
