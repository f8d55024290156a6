/** What is kept of a quota for commits that come to no end, or to one that nobody knows (DAV-33). */

import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { FanOut } from '../../../pipeline/coordination/fan-out.ts'
import type { Audience } from '../../../pipeline/site/site.ts'
import type { Change } from '../../../pipeline/store/commit.ts'
import { type Opened, openTemporary } from '../store/fixture.ts'
import { type Fate, fateful, openSite } from '../write/fateful.ts'

const QUOTA = 1000

describe('DAV-33 room that was kept for a commit', () => {
  let opened: Opened
  beforeEach(async () => {
    opened = await openTemporary()
  })
  afterEach(() => opened.close())

  const changes: Change[] = [
    { op: 'put', path: '/a.bin', kind: 'blob', type: 'a/b', content: { bytes: Buffer.alloc(600), size: 600 } },
  ]

  for (const way of ['commit', 'commitRow'] as const) {
    it(`is free again when nothing could begin: ${way}`, async () => {
      const begin: FanOut['begin'] = () => {
        throw new Error('nobody can be told')
      }
      const audience: Audience = { fanOut: { begin } as unknown as FanOut, onlookers: () => [] }
      const site = await openSite(opened.store.site('a.example'), { quota: QUOTA, audience })
      const commit = { changes }
      const work = way === 'commit' ? site.commit(commit) : site.commitRow([{ commit, written: undefined }])
      expect(await work.catch((error: Error) => error.message)).to.equal('nobody can be told')
      await site.usage?.require(QUOTA)
    })

    for (const [fate, used] of [
      ['failed', 0],
      ['overtaken', 0],
      ['lost', 600],
      ['stored', 600],
    ] as [Fate, number][])
      it(`counts what is stored afterwards: ${way}, ${fate}`, async () => {
        const store = fateful(opened.store.site('a.example'), '/a.bin', [fate])
        const site = await openSite(store, { quota: QUOTA })
        const commit = { changes }
        const work = way === 'commit' ? site.commit(commit) : site.commitRow([{ commit, written: undefined }])
        await work.catch(() => undefined)
        expect(await site.usage?.used()).to.equal(used)
        await site.usage?.require(QUOTA - used)
      })
  }
})
