/** Listings for credentials that open a part of the site: each member is held against all patterns (DAV-3). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { listing } from '../../../dav/access/visibility.ts'

/** Milliseconds that all patterns of the scope take for one member. */
const SLOW = 1

describe('members and patterns of a scope', () => {
  it('SEC-12 DAV-3 others have their turn while members are held against many patterns', async () => {
    const members = Array.from({ length: 30 }, (_, i) => ({
      resource: { path: `/f/${i}.txt`, kind: 'blob' },
      place: {},
    }))
    const scope = {
      whole: false,
      coversBelow: () => false,
      leads: () => false,
      covers() {
        for (const end = performance.now() + SLOW; performance.now() < end; );
        return false
      },
    }
    const site = { underWay: { ahead: () => [], aheadIn: () => [], at: () => [] }, inStep: async () => undefined }
    const view = { members: async () => ({ leaves: [members], sum: '1' }), find: async () => collection }
    const collection = { resource: { path: '/f/', kind: 'collection' }, place: { isPublished: true } }
    let turns = 0
    let next = setImmediate(function count() {
      turns++
      next = setImmediate(count)
    })
    try {
      await listing({ author: { scope }, mount: { site, view } } as never, collection as never)
    } finally {
      clearImmediate(next)
    }
    expect(turns).to.be.at.least(5)
  })
})
