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
} from '../../../pipeline/http/tags.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { RUNS } from './seed.ts'

const DIGEST = '8206af590130802332e4b8b4b2dc23151d78c0513d800ccdda617d018af39160'

const KEY = Buffer.alloc(32, 'k')
const part = (digest: string, projected?: string[]) => documentPart(KEY, { path: '/a.html', digest }, projected)

/** The tag of matches, made at once. */
const matchesTag = (...asked: Parameters<typeof taggingMatches>) => atOnce(taggingMatches(...asked))

describe('entity tags', () => {
  it('HTTP-32 two parts, lower-case hex', () => {
    const tag = fragmentTag(fragmentPart('<li>é</li>'), part(DIGEST))
    expect(tag).to.match(/^"[0-9a-f]{32}-[0-9a-f]{32}"$/)
    expect(splitFragmentTag(tag.slice(1, -1))).to.deep.equal({
      fragment: fragmentPart('<li>é</li>'),
      document: part(DIGEST),
    })
  })

  it('HTTP-32 the document part covers all that was projected', () => {
    const other = DIGEST.replace('8', '9')
    const parts = [
      part(DIGEST),
      part(other),
      part(DIGEST, [other]),
      part(DIGEST, [DIGEST]),
      part(other, [DIGEST]),
      part(DIGEST, [other, DIGEST]),
    ]
    expect(new Set(parts).size).to.equal(parts.length)
    for (const part of parts) expect(part).to.match(/^[0-9a-f]{32}$/)
    expect(part(DIGEST, [])).to.equal(part(DIGEST))
  })

  it('SEC-11 the document part tells nothing to whoever lacks the key, nor by the same bytes elsewhere', () => {
    const parts = [
      part(DIGEST),
      documentPart(Buffer.alloc(32, 'l'), { path: '/a.html', digest: DIGEST }),
      documentPart(KEY, { path: '/b.html', digest: DIGEST }),
      DIGEST.slice(0, 32),
    ]
    expect(new Set(parts).size).to.equal(parts.length)
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
