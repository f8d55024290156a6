/** A file that is read while commits come to its path, one after another (HTTP-4). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Change } from '../../../pipeline/store/commit.ts'
import { openTemporary } from '../store/fixture.ts'
import { openSite } from '../write/fateful.ts'

const PATH = '/a.txt'

describe('a file that is read while it is changed more than once', () => {
  it('HTTP-4 is not in memory when it is gone', async () => {
    const opened = await openTemporary()
    try {
      const site = await openSite(opened.store.site('a.example'))
      const { store } = site
      const content = {
        bytes: Buffer.from('a'),
        digest: 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb',
        size: 1,
      }
      const put: Change = { op: 'put', path: PATH, kind: 'blob', type: 'text/plain', content }
      expect((await site.commit({ changes: [put] })).ok).to.equal(true)
      const { body, find } = store
      // Its properties change while its bytes are read; it goes when it was looked for once more.
      store.body = async resource => {
        store.body = body
        await site.commit({ changes: [{ op: 'describe', path: PATH, set: [], remove: [], shown: 1 }] })
        store.find = async path => {
          store.find = find
          const found = await find.call(store, path)
          await site.commit({ changes: [{ op: 'delete', path: PATH }] })
          return found
        }
        return body.call(store, resource)
      }
      await site.find(PATH)
      expect(await store.find(PATH)).to.equal(undefined)
      expect(site.inMemory(PATH)).to.equal(undefined)
      expect(await site.find(PATH)).to.equal(undefined)
    } finally {
      await opened.close()
    }
  })
})
