import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import {
  evaluateRead,
  evaluateWrite,
  type Fields,
  preconditionFailed,
  type Representation,
  rangeApplies,
  readConditions,
  type WriteState,
} from '../../../pipeline/http/conditions.ts'
import { parseTagList } from '../../../pipeline/http/entity-tags.ts'
import { codedTag, fragmentTag } from '../../../pipeline/http/tags.ts'
import { RUNS } from './seed.ts'

const F1 = '1'.repeat(32)
const F2 = '2'.repeat(32)
const F3 = '3'.repeat(32)
const D1 = 'a'.repeat(32)
const D2 = 'b'.repeat(32)
const STORED = `"${'c'.repeat(48)}"`
const OTHER = `"${'d'.repeat(48)}"`
const SECOND = Date.parse('2026-11-20T12:00:00Z')
const AT = 'Fri, 20 Nov 2026 12:00:00 GMT'
const BEFORE = 'Fri, 20 Nov 2026 11:59:59 GMT'
const AFTER = 'Fri, 20 Nov 2026 12:00:01 GMT'

const read = (fields: Fields, current: Representation, dates?: boolean) => {
  const conditions = readConditions(fields)
  return conditions ? evaluateRead(conditions, current, dates) : 'proceed'
}

const write = (fields: Fields, state: WriteState) => {
  const conditions = readConditions(fields)
  return conditions ? evaluateWrite(conditions, state) : 'proceed'
}

describe('lists of entity tags', () => {
  const lists: [field: string, tags: string][] = [
    ['*', '*'],
    [' * ', '*'],
    ['*\u00a0', '*\u00a0'],
    ['"a"', 'a'],
    ['"a", "b"', 'a b'],
    ['"a","b"', 'a b'],
    ['W/"a"', 'W/a'],
    ['W/"a", "b" ,W/"c"', 'W/a b W/c'],
    ['a', 'a'],
    ['a , b', 'a b'],
    ['W/a', 'W/a'],
    ['"a,b", c', 'a,b c'],
    ['""', ''],
    ['"a" junk, "b"', 'a b'],
    ['"open', 'open'],
    [',, "a",,', 'a'],
    ['"a", *', '*'],
    ['w/"a"', 'w/"a"'],
    ['W', 'W'],
  ]
  for (const [field, tags] of lists) {
    it(`HTTP-35 ${field}`, () => {
      const list = parseTagList(field)
      expect(list === '*' ? list : list.map(({ opaque, weak }) => (weak ? `W/${opaque}` : opaque)).join(' ')).to.equal(
        tags,
      )
    })
  }

  it('HTTP-35 an empty field lists nothing', () => {
    expect(parseTagList('')).to.deep.equal([])
    expect(parseTagList(' , ')).to.deep.equal([])
  })

  it('HTTP-35 any list of tags is read back', () => {
    const tag = fc.record({ opaque: fc.string({ unit: fc.constantFrom(...'ab,-/W*\\ ') }), weak: fc.boolean() })
    fc.assert(
      fc.property(fc.array(tag), fc.constantFrom(',', ', ', ' ,\t'), (tags, separator) => {
        const field = tags.map(({ opaque, weak }) => `${weak ? 'W/' : ''}"${opaque}"`).join(separator)
        expect(parseTagList(field)).to.deep.equal(tags)
      }),
      RUNS,
    )
  })
})

describe('conditional reads', () => {
  const whole: Representation = { tag: STORED, lastModified: SECOND + 250 }
  const same: Representation = { ...whole, sameSecond: true }
  const undated: Representation = { tag: STORED }
  /** A client has set the time back by a minute. */
  const aged: Representation = { ...whole, lastModified: SECOND - 60_000, committed: SECOND + 250 }
  /** One before it has shown a later time. */
  const overtaken: Representation = { ...whole, committed: SECOND + 250, shownLater: true }
  const fragment: Representation = { tag: fragmentTag(F1, D1), fragmentParts: [F1, F2] }
  const coded: Representation = { tag: codedTag(STORED, 'br') }

  const notModified = (tag: string) => ({ status: 304, tag })
  const cases: [name: string, fields: Fields, current: Representation, verdict: unknown][] = [
    ['HTTP-35 no condition', {}, whole, 'proceed'],
    ['HTTP-37 current tag', { 'if-none-match': STORED }, whole, notModified(STORED)],
    ['HTTP-37 other tag', { 'if-none-match': OTHER }, whole, 'proceed'],
    ['HTTP-37 star', { 'if-none-match': '*' }, whole, notModified(STORED)],
    ['HTTP-35 one of several', { 'if-none-match': `${OTHER}, ${STORED}` }, whole, notModified(STORED)],
    ['HTTP-35 several fields', { 'if-none-match': [OTHER, STORED] }, whole, notModified(STORED)],
    ['HTTP-35 weak comparison', { 'if-none-match': `W/${STORED}` }, whole, notModified(STORED)],
    ['HTTP-35 without quotes', { 'if-none-match': STORED.slice(1, -1) }, whole, notModified(STORED)],
    ['HTTP-35 empty field', { 'if-none-match': '' }, whole, 'proceed'],
    ['HTTP-39 If-Match holds', { 'if-match': STORED }, whole, 'proceed'],
    ['HTTP-39 If-Match star', { 'if-match': '*' }, whole, 'proceed'],
    ['HTTP-39 If-Match fails', { 'if-match': OTHER }, whole, 412],
    ['HTTP-35 If-Match is strong', { 'if-match': `W/${STORED}` }, whole, 412],
    ['HTTP-35 empty If-Match', { 'if-match': '' }, whole, 412],
    ['HTTP-36 If-Match before If-None-Match', { 'if-match': OTHER, 'if-none-match': STORED }, whole, 412],
    ['HTTP-36 both hold', { 'if-match': STORED, 'if-none-match': STORED }, whole, notModified(STORED)],
    ['HTTP-36 unmodified since', { 'if-unmodified-since': AT }, whole, 'proceed'],
    ['HTTP-36 modified since', { 'if-unmodified-since': BEFORE }, whole, 412],
    [
      'HTTP-36 If-Match rules out If-Unmodified-Since',
      { 'if-match': STORED, 'if-unmodified-since': BEFORE },
      whole,
      'proceed',
    ],
    ['HTTP-36 not modified', { 'if-modified-since': AT }, whole, notModified(STORED)],
    ['HTTP-36 not modified, later date', { 'if-modified-since': AFTER }, whole, notModified(STORED)],
    ['HTTP-36 modified', { 'if-modified-since': BEFORE }, whole, 'proceed'],
    [
      'HTTP-36 If-None-Match rules out If-Modified-Since',
      { 'if-none-match': OTHER, 'if-modified-since': AT },
      whole,
      'proceed',
    ],
    ['HTTP-36 no Last-Modified', { 'if-modified-since': AT }, undated, 'proceed'],
    ['HTTP-36 no Last-Modified to be unmodified', { 'if-unmodified-since': BEFORE }, undated, 'proceed'],
    ['HTTP-36 unreadable date', { 'if-modified-since': 'yesterday' }, whole, 'proceed'],
    ['HTTP-36 unreadable date to be unmodified', { 'if-unmodified-since': '0' }, whole, 'proceed'],
    ['DAV-41 same second counts as modified', { 'if-modified-since': AT }, same, 'proceed'],
    ['DAV-41 a later date does not', { 'if-modified-since': AFTER }, same, notModified(STORED)],
    ['DAV-41 same second is not unmodified', { 'if-unmodified-since': AT }, same, 412],
    ['DAV-41 a later date is', { 'if-unmodified-since': AFTER }, same, 'proceed'],
    ['DAV-41 a date before the commit may be of a version before', { 'if-modified-since': AT }, aged, 'proceed'],
    ['DAV-41 and is not unmodified', { 'if-unmodified-since': AT }, aged, 412],
    ['DAV-41 or of one that has shown a later time', { 'if-modified-since': AFTER }, overtaken, 'proceed'],
    ['DAV-41 and is not unmodified either', { 'if-unmodified-since': AFTER }, overtaken, 412],
    ['DAV-41 its own date is of itself', { 'if-modified-since': AT }, overtaken, notModified(STORED)],
    ['DAV-41 a date after the commit is of none', { 'if-modified-since': AFTER }, aged, notModified(STORED)],
    [
      'HTTP-40 fragment, same version',
      { 'if-none-match': fragmentTag(F1, D1) },
      fragment,
      notModified(fragmentTag(F1, D1)),
    ],
    [
      'HTTP-40 fragment, other version: the listed tag',
      { 'if-none-match': fragmentTag(F1, D2) },
      fragment,
      notModified(fragmentTag(F1, D2)),
    ],
    [
      'HTTP-40 fragment, listed weak',
      { 'if-none-match': `W/${fragmentTag(F1, D2)}` },
      fragment,
      notModified(fragmentTag(F1, D2)),
    ],
    [
      'HTTP-40 fragment, exact copy preferred',
      { 'if-none-match': `${fragmentTag(F1, D2)}, ${fragmentTag(F1, D1)}` },
      fragment,
      notModified(fragmentTag(F1, D1)),
    ],
    ['HTTP-40 fragment, star: the current tag', { 'if-none-match': '*' }, fragment, notModified(fragmentTag(F1, D1))],
    [
      'HTTP-32 fragment as before composition',
      { 'if-none-match': fragmentTag(F2, D2) },
      fragment,
      notModified(fragmentTag(F2, D2)),
    ],
    ['HTTP-37 changed fragment of this version', { 'if-none-match': fragmentTag(F3, D1) }, fragment, 'proceed'],
    ['HTTP-37 fragment against a stored tag', { 'if-none-match': STORED }, fragment, 'proceed'],
    ['HTTP-39 fragment, other version', { 'if-match': fragmentTag(F1, D2) }, fragment, 'proceed'],
    ['HTTP-39 changed fragment', { 'if-match': fragmentTag(F3, D1) }, fragment, 412],
    ['HTTP-31 whole page against a fragment tag', { 'if-none-match': fragmentTag(F1, D1) }, whole, 'proceed'],
    [
      'HTTP-31 coding suffix is stripped',
      { 'if-none-match': codedTag(STORED, 'gzip') },
      whole,
      notModified(codedTag(STORED, 'gzip')),
    ],
    ['HTTP-31 plain tag for a compressed answer', { 'if-none-match': STORED }, coded, notModified(STORED)],
    [
      'HTTP-31 the copy of this coding is preferred',
      { 'if-none-match': `${STORED}, ${codedTag(STORED, 'br')}` },
      coded,
      notModified(codedTag(STORED, 'br')),
    ],
    [
      'HTTP-31 compressed fragment',
      { 'if-none-match': codedTag(fragmentTag(F1, D2), 'br') },
      fragment,
      notModified(codedTag(fragmentTag(F1, D2), 'br')),
    ],
    ['HTTP-31 coding suffix in If-Match', { 'if-match': codedTag(STORED, 'br') }, whole, 'proceed'],
  ]
  for (const [name, fields, current, verdict] of cases) {
    it(name, () => expect(read(fields, current)).to.deep.equal(verdict))
  }

  it('HTTP-36 a QUERY has no If-Modified-Since', () => {
    expect(read({ 'if-modified-since': AT }, whole, false)).to.equal('proceed')
    expect(read({ 'if-none-match': STORED }, whole, false)).to.deep.equal(notModified(STORED))
  })

  it('HTTP-35 a request without conditions costs nothing', () => {
    expect(readConditions({ accept: '*/*' })).to.equal(undefined)
  })

  const ranges: [name: string, field: string | undefined, current: Representation, applies: boolean][] = [
    ['absent', undefined, whole, true],
    ['current tag', STORED, whole, true],
    ['without quotes', STORED.slice(1, -1), whole, true],
    ['other tag', OTHER, whole, false],
    ['weak tag', `W/${STORED}`, whole, false],
    ['date', AT, whole, true],
    ['earlier date', BEFORE, whole, false],
    ['later date', AFTER, whole, false],
    ['date without Last-Modified', AT, undated, false],
    ['tag of another coding', codedTag(STORED, 'br'), whole, false],
    ['nonsense', 'x', whole, false],
  ]
  for (const [name, field, current, applies] of ranges) {
    it(`HTTP-58 If-Range: ${name}`, () => expect(rangeApplies(field, current)).to.equal(applies))
  }

  it('DAV-41 If-Range with a second that two versions share', () => expect(rangeApplies(AT, same)).to.equal(false))
})

describe('conditional writes', () => {
  const document: WriteState = { exists: true, tags: [STORED, OTHER], lastModified: SECOND }
  const nothing: WriteState = { exists: false, tags: [] }
  const element: WriteState = {
    exists: true,
    tags: [STORED, OTHER],
    documentParts: [D1],
    fragmentParts: [F1, F2],
    lastModified: SECOND,
  }
  const unlisted = `"${'e'.repeat(48)}"`

  const cases: [name: string, fields: Fields, state: WriteState, verdict: unknown][] = [
    ['no condition', {}, document, 'proceed'],
    ['stored tag', { 'if-match': STORED }, document, 'proceed'],
    ['tag of the whole page as this requester sees it', { 'if-match': OTHER }, document, 'proceed'],
    ['tag of the compressed page', { 'if-match': codedTag(OTHER, 'gzip') }, document, 'proceed'],
    ['unknown tag', { 'if-match': unlisted }, document, 412],
    ['weak tag', { 'if-match': `W/${STORED}` }, document, 412],
    ['star, something stored', { 'if-match': '*' }, document, 'proceed'],
    ['star, nothing stored', { 'if-match': '*' }, nothing, 412],
    ['tag, nothing stored', { 'if-match': STORED }, nothing, 412],
    ['create only, nothing stored', { 'if-none-match': '*' }, nothing, 'proceed'],
    ['create only, something stored', { 'if-none-match': '*' }, document, 412],
    ['blocked by the stored tag', { 'if-none-match': STORED }, document, 412],
    ['blocked by a weak tag', { 'if-none-match': `W/${STORED}` }, document, 412],
    ['not blocked by an unknown tag', { 'if-none-match': unlisted }, document, 'proceed'],
    ['both must pass', { 'if-match': STORED, 'if-none-match': '*' }, document, 412],
    ['unmodified since', { 'if-unmodified-since': AT }, document, 'proceed'],
    ['modified since', { 'if-unmodified-since': BEFORE }, document, 412],
    ['If-Match rules out the date', { 'if-match': STORED, 'if-unmodified-since': BEFORE }, document, 'proceed'],
    ['the date says nothing of what does not exist', { 'if-unmodified-since': BEFORE }, nothing, 'proceed'],
    ['If-Modified-Since is for reads', { 'if-modified-since': AT }, document, 'proceed'],
    ['whole write against a fragment tag', { 'if-match': fragmentTag(F1, D1) }, document, 412],
    ['(a) stored tag', { 'if-match': STORED }, element, 'proceed'],
    ['(b) tag of the page', { 'if-match': OTHER }, element, 'proceed'],
    ['(c) any fragment of the current version', { 'if-match': fragmentTag(F3, D1) }, element, 'proceed'],
    ['(d) this fragment of an older version', { 'if-match': fragmentTag(F1, D2) }, element, 'proceed'],
    ['(d) this fragment before composition', { 'if-match': fragmentTag(F2, D2) }, element, 'proceed'],
    ['another fragment of an older version', { 'if-match': fragmentTag(F3, D2) }, element, 412],
    ['parts in each other’s place', { 'if-match': fragmentTag(D1, F1) }, element, 412],
    ['weak fragment tag', { 'if-match': `W/${fragmentTag(F1, D1)}` }, element, 412],
    ['a list with one that fits', { 'if-match': `${unlisted}, ${fragmentTag(F1, D2)}` }, element, 'proceed'],
    ['blocked by a fragment of the current version', { 'if-none-match': fragmentTag(F3, D1) }, element, 412],
    ['blocked by this fragment', { 'if-none-match': `W/${fragmentTag(F1, D2)}` }, element, 412],
    ['not blocked by an older version of another', { 'if-none-match': fragmentTag(F3, D2) }, element, 'proceed'],
  ]
  for (const [name, fields, state, verdict] of cases) {
    it(`HTTP-37 ${name}`, () => expect(write(fields, state)).to.equal(verdict))
  }

  it('HTTP-38 412 carries the current tag, if there is one', () => {
    const { status, kind, details } = preconditionFailed(STORED)
    expect({ status, kind, details }).to.deep.equal({
      status: 412,
      kind: 'PreconditionFailed',
      details: { headers: { ETag: STORED } },
    })
    expect(preconditionFailed(undefined).details).to.deep.equal({})
  })
})
