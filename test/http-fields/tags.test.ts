import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import {
  codedTag,
  documentPart,
  fragmentPart,
  fragmentTag,
  splitFragmentTag,
  taggingMatches,
  withoutCoding,
} from '../../pipeline/http/tags.ts'
import { atOnce } from '../../pipeline/tree/steps.ts'
import { RUNS } from './seed.ts'

const DIGEST = '8206af590130802332e4b8b4b2dc23151d78c0513d800ccdda617d018af39160'

/** The tag of matches, made at once. */
const matchesTag = (...asked: Parameters<typeof taggingMatches>) => atOnce(taggingMatches(...asked))

describe('entity tags', () => {
  it('HTTP-32 two parts, lower-case hex', () => {
    const tag = fragmentTag(fragmentPart('<li>é</li>'), documentPart(DIGEST))
    expect(tag).to.match(/^"[0-9a-f]{32}-[0-9a-f]{32}"$/)
    expect(splitFragmentTag(tag.slice(1, -1))).to.deep.equal({
      fragment: fragmentPart('<li>é</li>'),
      document: documentPart(DIGEST),
    })
  })

  it('HTTP-32 the document part covers all that was projected', () => {
    const other = DIGEST.replace('8', '9')
    const parts = [
      documentPart(DIGEST),
      documentPart(other),
      documentPart(DIGEST, [other]),
      documentPart(DIGEST, [DIGEST]),
      documentPart(other, [DIGEST]),
      documentPart(DIGEST, [other, DIGEST]),
    ]
    expect(new Set(parts).size).to.equal(parts.length)
    for (const part of parts) expect(part).to.match(/^[0-9a-f]{32}$/)
    expect(documentPart(DIGEST, [])).to.equal(documentPart(DIGEST))
  })

  it('HTTP-31 other tags are no fragment tags', () => {
    const hex = '0'.repeat(32)
    for (const opaque of [
      '',
      hex,
      `${hex}-`,
      `${hex}-${hex}0`,
      `${hex}_${hex}`,
      `${hex}-${'A'.repeat(32)}`,
      `d0-${DIGEST}`,
    ]) {
      expect(splitFragmentTag(opaque), opaque).to.equal(undefined)
    }
  })

  it('HTTP-31 HTTP-131 selector text, set, order, place and parts of matches count', () => {
    const a = { place: '/a.html html > body', part: fragmentPart('a') }
    const b = { place: '/b.html html > body', part: fragmentPart('b') }
    const tags = [
      matchesTag('h1', [a, b]),
      matchesTag('body h1', [a, b]),
      matchesTag('h1', [b, a]),
      matchesTag('h1', [a]),
      matchesTag('h1', []),
      matchesTag('h1', [{ ...a, part: b.part }, b]),
      matchesTag('h1', [{ ...a, place: b.place }, b]),
    ]
    expect(new Set(tags).size).to.equal(tags.length)
    for (const tag of tags) expect(tag).to.match(/^"m-[0-9a-f]{48}"$/)
    expect(matchesTag('h1', [a, b])).to.equal(tags[0])
  })

  it('HTTP-31 the suffix of a coding comes off again, and nothing else does', () => {
    const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdef-'), maxLength: 70 })
    fc.assert(
      fc.property(hex, fc.constantFrom('br' as const, 'gzip' as const), (opaque, coding) => {
        expect(withoutCoding(opaque)).to.equal(opaque)
        const coded = codedTag(`"${opaque}"`, coding)
        expect(coded).to.equal(`"${opaque}-${coding}"`)
        expect(withoutCoding(coded.slice(1, -1))).to.equal(opaque)
      }),
      RUNS,
    )
  })
})
