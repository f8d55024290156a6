/** Drafts and helper files whose folder or document has gone elsewhere, where the store fails between the two (DAV-8, DAV-62, DAV-73). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { Site } from '../../../pipeline/site/site.ts'
import { siteOfUnpublished } from '../../../pipeline/site/unpublished-name.ts'
import { StoreError } from '../../../pipeline/store/errors.ts'
import { page } from '../../support/content.ts'
import type { Fields } from '../../support/http.ts'
import { everything, startWire, to, type Wire } from '../wire.ts'

/** Another process may be about to do what a note says. */
const MINUTE = 60_000

/** What stands in a folder of its own before: content, or a draft without any. */
const FILES: readonly (readonly [path: string, body: string])[] = [
  ['d/there.html', page('there')],
  ['d/draft.html', ''],
  ['d/._there.html', 'kept'],
  ['d/5E6F7A8B.tmp', 'work'],
  ['over.html', page('over')],
  ['over.html', ''],
  ['other.html', ''],
  ['e/draft.html', ''],
]

const CASES: [method: string, path: string, destination?: string][] = [
  ['DELETE', 'd/'],
  ['DELETE', 'over.html'],
  ['MOVE', 'd/', 'moved/'],
  ['MOVE', 'd/', 'e/'],
  ['MOVE', 'over.html', 'other.html'],
  ['COPY', 'd/', 'copied/'],
  ['COPY', 'd/', 'e/'],
  ['COPY', 'over.html', 'copied.html'],
]

describe('what is kept unpublished follows the site', () => {
  let wire: Wire
  before(async () => {
    wire = await startWire()
  })
  after(() => wire.server.close())

  async function fill(at: string): Promise<void> {
    for (const path of ['', 'd/', 'e/']) await wire.dav('MKCOL', at + path)
    for (const [path, body] of FILES)
      expect((await wire.dav('PUT', at + path, {}, body)).status).to.be.oneOf([201, 204])
  }

  const below = async (at: string) =>
    (await everything(wire.server))
      .filter(line => line.includes(at))
      .map(line => line.split(' ').slice(0, 2).join(' ').replace(at, '/'))

  CASES.forEach(([method, path, destination], i) => {
    it(`DAV-8 ${method} ${path} ${destination ?? ''}, also where the store fails between`, async () => {
      const results: string[][] = []
      for (const fails of [false, true]) {
        const at = `/${fails ? 'failing' : 'smooth'}-${i}/`
        await fill(at)
        const fields: Fields = destination === undefined ? {} : to(at + destination)
        const { commit } = Site.prototype
        if (fails)
          Site.prototype.commit = function (...asked) {
            if (siteOfUnpublished(this.store.name) === undefined) return commit.apply(this, asked)
            return Promise.reject(new StoreError('failed', 'between'))
          }
        const answer = await wire.dav(method, at + path, fields)
        Site.prototype.commit = commit
        expect(answer.status, answer.text).to.be.oneOf([201, 204])
        if (fails) expect(await below(at)).to.not.deep.equal(results[0])
        await wire.server.running.mounts.tend(Date.now() + 2 * MINUTE)
        results.push(await below(at))
      }
      expect(results[1]).to.deep.equal(results[0])
    })
  })
})
