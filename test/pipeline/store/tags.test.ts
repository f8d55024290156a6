import { createHash } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import type { Property, Resource } from '../../../pipeline/store/resource.ts'
import {
  addTo,
  bodyTag,
  contentTag,
  fileTag,
  line,
  listTag,
  memberSum,
  propertySum,
  propertyWeight,
  shownSeconds,
  statTag,
  ZERO,
} from '../../../pipeline/store/tags.ts'

const digest = (text: string) => createHash('sha256').update(text).digest('hex')

function file(path: string, text: string, type: string, seconds: number, more: Partial<Resource> = {}): Resource {
  const bytes = Buffer.from(text)
  return {
    path,
    kind: 'document',
    version: 1,
    digest: digest(text),
    size: bytes.length,
    type,
    created: seconds * 1000,
    modified: seconds * 1000 + 123,
    sameSecond: false,
    properties: ZERO,
    ...more,
  }
}

function collection(path: string, members = ZERO): Resource {
  return { ...file(path, '', '', 0), digest: '', kind: 'collection', members }
}

const a = file('/docs/a.html', '<p>A</p>\n', 'text/html', 1773480413)
const b = file('/docs/b.css', 'h1{color:red}\n', 'text/css', 1773480414)
const img = collection('/docs/img/')

describe('tags', () => {
  describe('DAV-52 worked example', () => {
    const docs = collection('/docs/', memberSum([a, b, img]))
    const table: [string, string, string][] = [
      ['H(a.html)', a.digest, '8206af590130802332e4b8b4b2dc23151d78c0513d800ccdda617d018af39160'],
      ['content tag', contentTag(a.digest), '"8206af590130802332e4b8b4b2dc23151d78c0513d800ccd"'],
      ['tag of the same text, not stored', bodyTag('<p>A</p>\n'), contentTag(a.digest)],
      ['tag of the same bytes, not stored', bodyTag(Buffer.from('<p>A</p>\n')), contentTag(a.digest)],
      ['p- (a.html)', fileTag(a), 'p-51eb5e674510dcc535d197bde9dd4b4d079ef8ed4f94707f4a50492d35133aeb'],
      ['b.css line', digest(line(b)), 'a238bfe8e5b8b04133b77112c8ec7b64bfb3612c95c09277008a40fdd2d6541e'],
      ['empty img stat', statTag(img), 'd0-1e3ca84315ae5cd20d0f0c67a28a30686d95aa625ef8d318f98beac1b82bfa84'],
      ['empty img list', listTag(img), 'd1-7009c189712fb5cd7eba5aa60cd298a21a2a71b7acee055a6f16059153d4bfd4'],
      ['K', docs.members ?? '', 'd4e047bf8e118a5ed4fc005f85295076d985fa0d99eeb0e4fa77ed988f267778'],
      ['d0-', statTag(docs), 'd0-499778bf7e57bfc1c6bad9b532c2e964988a5f7afe32e1f2825dae94ed71b15d'],
      ['d1-', listTag(docs), 'd1-db09e76c59f1915e21d1fc960ca60f46899ec9b5455477efeb9a7eae60fb5363'],
    ]
    for (const [name, actual, expected] of table) it(name, () => expect(actual).to.equal(expected))
  })

  it('DAV-52 a line names the file, its bytes, type, second and properties', () => {
    expect(line(a)).to.equal(`F\ta.html\t${a.digest}\t9\ttext/html\t1773480413\t${ZERO}\n`)
    expect(line(collection('/docs/img/'))).to.match(/^D\timg\t[0-9a-f]{64}\n$/)
  })

  it('DAV-36 a time set by a client stands in for that of the commit', () => {
    expect(shownSeconds({ modified: 1999, shown: undefined })).to.equal(1)
    expect(shownSeconds({ modified: 1999, shown: 7 })).to.equal(7)
    expect(line({ ...a, shown: 7 })).to.contain('\ttext/html\t7\t')
  })

  it('DAV-51 any difference in bytes, type, time or properties changes the tag of the property answer', () => {
    const others: Partial<Resource>[] = [
      { digest: digest('x') },
      { size: 10 },
      { type: 'text/plain' },
      { shown: 1 },
      { properties: propertySum([{ namespace: 'u', name: 'n', value: 'v' }]) },
    ]
    const tags = new Set([fileTag(a), ...others.map(other => fileTag({ ...a, ...other }))])
    expect(tags.size).to.equal(others.length + 1)
    expect(fileTag(a)).to.not.contain(a.digest)
  })

  it('DAV-52 P is the sum of SHA-256(ns LF local LF value) modulo 2^256, 64 zeros without properties', () => {
    const properties: Property[] = [
      { namespace: 'urn:x', name: 'author', value: 'Ann' },
      { namespace: '', name: 'note', value: '<b xmlns="">x</b>' },
    ]
    const sum = properties
      .map(({ namespace, name, value }) => BigInt(`0x${digest(`${namespace}\n${name}\n${value}`)}`))
      .reduce((x, y) => x + y)
    expect(propertySum(properties)).to.equal((sum % 2n ** 256n).toString(16).padStart(64, '0'))
    expect(propertySum([])).to.equal(ZERO)
  })

  it('DAV-52 sums do not depend on the order, and what is added can be taken away', () => {
    const property = fc.record({ namespace: fc.string(), name: fc.string(), value: fc.string() })
    fc.assert(
      fc.property(fc.array(property, { maxLength: 12 }), properties => {
        const forwards = propertySum(properties)
        expect(propertySum([...properties].reverse())).to.equal(forwards)
        expect(properties.reduce((sum, each) => addTo(sum, -propertyWeight(each)), forwards)).to.equal(ZERO)
      }),
      { seed: 52, numRuns: 100 },
    )
  })
})
