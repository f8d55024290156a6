/** Texts of leaves that are kept for the next answer (DAV-37). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { LeafResponses } from '../../../dav/listings/leaf-responses.ts'
import { createListingCache } from '../../../dav/listings/listing-cache.ts'
import type { Leaf } from '../../../dav/listings/listings.ts'

const page = (size: number): LeafResponses => ({
  bytes: Buffer.alloc(size),
  ends: new Uint32Array(),
  windows: new Set(),
  locked: new Set(),
})
const one = (size: number): [Leaf, ReadonlyMap<Leaf, LeafResponses>] => {
  const leaf: Leaf = []
  return [leaf, new Map([[leaf, page(size)]])]
}

describe('kept pages', () => {
  it('are those of the newest answer to a question', () => {
    const pages = createListingCache()
    const [first, older] = one(1)
    const [second, newer] = one(2)
    pages.keep('a', older)
    pages.keep('a', newer)
    pages.keep('b', older)
    expect(pages.of('a').has(first)).to.equal(false)
    expect(pages.of('a').get(second)?.bytes.length).to.equal(2)
    expect(pages.of('b').has(first)).to.equal(true)
    expect(pages.of('c').size).to.equal(0)
  })

  it('take a bounded number of bytes: those of the question that was answered longest ago go first', () => {
    const pages = createListingCache(2024)
    for (const question of ['a', 'b', 'a', 'c']) pages.keep(question, one(400)[1])
    expect(['a', 'b', 'c'].map(question => pages.of(question).size)).to.deep.equal([1, 0, 1])
    pages.keep('d', one(2000)[1])
    expect(['a', 'c', 'd'].map(question => pages.of(question).size)).to.deep.equal([0, 0, 0])
    pages.keep('e', one(900)[1])
    expect(pages.of('e').size).to.equal(1)
  })

  it('are not kept for questions that would fill the memory themselves', () => {
    const pages = createListingCache()
    const long = 'x'.repeat(5000)
    pages.keep(long, one(1)[1])
    expect(pages.of(long).size).to.equal(0)
  })
})
