/** Memory goes by what was stored last, whatever waits there for others of its row (HTTP-4, DAV-8). */

import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { Site } from '../../../pipeline/site/site.ts'
import type { Change } from '../../../pipeline/store/commit.ts'
import { savedDocument, writtenDocuments } from '../../../pipeline/write/new-version.ts'
import { page } from '../../support/content.ts'
import { eventually } from '../../support/eventually.ts'
import { type Opened, openTemporary } from '../store/fixture.ts'
import { openSite } from '../write/fateful.ts'

/** What becomes of the collection of a file that was saved before, and what is found at the path of the file. */
const CHANGES: Readonly<Record<string, { change: Change; found?: string }>> = {
  'is removed': { change: { op: 'delete', path: '/d/' } },
  'is moved away': { change: { op: 'move', from: '/d/', to: '/e/' } },
  'is replaced': { change: { op: 'copy', from: '/other/', to: '/d/', deep: true }, found: page('other') },
}

describe('HTTP-4 a file that waits in its row while its collection', () => {
  let opened: Opened
  beforeEach(async () => {
    opened = await openTemporary()
  })
  afterEach(() => opened.close())

  async function putOf(site: Site, path: string, text: string) {
    const { content, type, ...prepared } = await savedDocument(site, 'html', 'text/html', Buffer.from(text), false)
    const [written] = writtenDocuments(path, { content, type, ...prepared })
    return { commit: { changes: [{ op: 'put', path, kind: 'document', content, type } satisfies Change] }, written }
  }

  for (const [what, { change, found }] of Object.entries(CHANGES))
    it(`${what} is not in memory afterwards as it was`, async () => {
      const site = await openSite(opened.store.site('a.example'))
      for (const path of ['/d/a.html', '/other/a.html']) {
        const { commit, written } = await putOf(site, path, page(path === '/d/a.html' ? 'first' : 'other'))
        await site.commit(commit, written && [written])
      }
      const { version } = (await site.find('/d/a.html'))?.resource ?? {}
      const { promise: before, resolve } = Promise.withResolvers<void>()
      const row = site.commitRow([await putOf(site, '/d/a.html', page('second'))], before)
      await eventually(async () => expect((await site.store.find('/d/a.html'))?.version).to.not.equal(version))
      expect((await site.commit({ changes: [change] })).ok).to.equal(true)
      resolve()
      await row
      const file = await site.find('/d/a.html')
      expect(file && Buffer.from(file.bytes ?? []).toString()).to.equal(found)
    })
})
