/** What memory goes by while it is brought in step with commits of other processes (RULE-11, COMP-4). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { Reads } from '../../../pipeline/compose/reads.ts'
import { noCode } from '../../../pipeline/model/code.ts'
import type { Site } from '../../../pipeline/site/site.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { neededTokens } from '../../../pipeline/tree/selector/needs.ts'
import { selectorFor } from '../../../pipeline/tree/selector/selector.ts'
import { page, rulesPage } from '../../support/content.ts'
import { openHosted } from '../model/hosted.ts'
import { type Opened, openTemporary } from '../store/fixture.ts'

const NEEDS = neededTokens(selectorFor('#wanted'))

/** What a page may have read, and how another process changes it. */
const READ: Readonly<Record<string, { reads(site: Site, noted: Reads): Promise<void>; path: string; text: string }>> = {
  'a document': {
    async reads(site, noted) {
      noted.document('/d.html', (await site.find('/d.html'))?.resource)
    },
    path: '/d.html',
    text: page('another'),
  },
  'a path where nothing was': {
    async reads(site, noted) {
      expect(await site.find('/none.html')).to.equal(undefined)
      noted.document('/none.html', undefined)
    },
    path: '/none.html',
    text: page('new'),
  },
  'the documents that a selector looks into': {
    async reads(site, noted) {
      noted.search(NEEDS, await site.documentsWith(NEEDS))
    },
    path: '/wanted.html',
    text: page('<p id="wanted">x</p>'),
  },
}

describe('COMP-4 while commits of other processes are followed', () => {
  let opened: Opened

  before(async () => {
    opened = await openTemporary()
  })
  after(() => opened.close())

  for (const [i, [what, { reads, path, text }]] of Object.entries(READ).entries())
    it(`what has read ${what} does not count as unchanged, nor afterwards`, async () => {
      const shelf = { store: opened.store, name: `${i}.example` }
      const [other, own] = [await openHosted(noCode, shelf), await openHosted(noCode, shelf)]
      await other.put('/d.html', page('one'))
      const noted = new Reads(own.site)
      await reads(own.site, noted)
      expect(noted.hold(own.site), 'before').to.equal(true)
      await other.put(path, text)
      const following = own.site.startOver(1_000)
      expect(noted.hold(own.site), 'meanwhile').to.equal(false)
      await following
      expect(noted.hold(own.site), 'afterwards').to.equal(false)
    })
})

const RULES = rulesPage(['*', 'GET', 'Allow', '/*'])

describe('a store that is set back to an earlier state', () => {
  let opened: Opened
  before(async () => {
    opened = await openTemporary()
  })
  after(() => opened.close())

  it('RULE-11 takes writes again once memory has followed: its counters may be lower than those that were known', async () => {
    let lost = 1
    const store: Store = {
      ...opened.store,
      site: name => {
        const site = opened.store.site(name)
        const counters = async () => {
          const stored = await site.counters()
          return { ...stored, access: (stored.access ?? 0) + lost }
        }
        return { ...site, counters }
      },
    }
    const { site, put, text } = await openHosted(noCode, { store, name: 'back.example' })
    lost = 0
    await site.startOver(1)
    await put('/r.html', RULES)
    expect(await text('/r.html')).to.equal(RULES)
  })
})
