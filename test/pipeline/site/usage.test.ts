/** What is kept of a quota for commits that come to no end, or to one that nobody knows (DAV-33). */

import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { FanOut } from '../../../pipeline/coordination/fan-out.ts'
import { Fault } from '../../../pipeline/fault.ts'
import type { Audience } from '../../../pipeline/site/site.ts'
import { createUsage } from '../../../pipeline/site/usage.ts'
import type { Change } from '../../../pipeline/store/commit.ts'
import type { Resource } from '../../../pipeline/store/resource.ts'
import { ZERO } from '../../../pipeline/store/tags.ts'
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
        const more = site.usage?.require(QUOTA - used + 1)
        expect(await more?.catch((error: unknown) => error instanceof Fault && error.status)).to.equal(507)
      })
  }

  for (const count of [1, 2, 3])
    it(`is not given away twice where it is stored while ${count} others wait for one reading`, async () => {
      const stored = new Map<string, number>()
      let isHeld = false
      let letGo: () => void = () => undefined
      const usage = createUsage(
        {
          async find(path) {
            const size = stored.get(path)
            if (isHeld) await new Promise<void>(resolve => (letGo = resolve))
            return size === undefined ? undefined : ({ path, kind: 'blob', size, properties: ZERO } as Resource)
          },
          async *walk() {},
          properties: async () => [],
        },
        QUOTA,
      )
      const put = (path: string): Change[] => [
        { op: 'put', path, kind: 'blob', type: 'a/b', content: { bytes: Buffer.alloc(0), size: 600 } },
      ]
      const end = await usage.reserve(put('/a.bin'))
      isHeld = true
      usage.changed(['/elsewhere'])
      const waiting: Promise<unknown>[] = []
      while (waiting.length < count) {
        waiting.push(usage.reserve(put(`/${waiting.length}.bin`)))
        await setImmediate()
      }
      const settled = Promise.allSettled(waiting)
      // As a commit ends: memory is told, and what was kept for it is free.
      stored.set('/a.bin', 600)
      usage.changed(['/a.bin'])
      end()
      isHeld = false
      letGo()
      expect((await settled).map(({ status }) => status)).to.deep.equal(waiting.map(() => 'rejected'))
      expect(await usage.used()).to.equal(600)
    })
})
