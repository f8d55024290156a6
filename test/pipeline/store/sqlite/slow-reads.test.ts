/** Reads of one state over several turns, which have connections of their own. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { StoreError } from '../../../../pipeline/store/errors.ts'
import type { ReaderContext } from '../../../../pipeline/store/sqlite/read/reader.ts'
import { prepareReader, readSite } from '../../../../pipeline/store/sqlite/read/reader.ts'
import { LISTING } from '../../../../pipeline/store/sqlite/read/slow-reads.ts'
import { connectReader } from '../../../../pipeline/store/sqlite/schema.ts'
import { done, openTemporary, put } from '../fixture.ts'

describe('reads over several turns, SQLite', () => {
  it('SEC-12 few go on side by side, whoever waits is answered, and no connection stays', async () => {
    const opened = await openTemporary()
    const database = connectReader(opened.folder)
    try {
      const entries = Array.from({ length: 5000 }, (_, i) => ({ item: `${i}`, keys: ['all'] }))
      await done(opened.store.site('example.org'), [put('/a.html', 'x', { entries })])
      let [tried, open, most] = [0, 0, 0]
      const connect: ReaderContext['connect'] = () => {
        if (++tried % 5 === 0) throw new Error('no further file')
        const own = connectReader(opened.folder)
        most = Math.max(most, ++open)
        const close = () => {
          open--
          own.close()
        }
        return { ...own, close }
      }
      const context = { database, connect, clock: Date.now } as unknown as ReaderContext
      const site = readSite(prepareReader(context), 'example.org')
      const told = await Promise.all(
        Array.from({ length: 12 }, () =>
          site.lookup(['all']).then(
            ({ length }) => length,
            (error: Error) => error.message,
          ),
        ),
      )
      expect(told.filter(each => each === 5000)).to.have.length(10)
      expect(told.filter(each => each === 'no further file')).to.have.length(2)
      expect([open, most]).to.deep.equal([0, 2])
    } finally {
      database.close()
      await opened.close()
    }
  })

  it('SEC-12 listings of one folder that have to wait are one', async () => {
    const opened = await openTemporary()
    const database = connectReader(opened.folder)
    try {
      await done(opened.store.site('example.org'), [put('/a/x', 'x'), put('/b/x', 'x')])
      await opened.raw(manyMembers(LISTING + 1))
      let tried = 0
      const connect = () => {
        if (++tried === 3) throw new Error('no further file')
        return connectReader(opened.folder)
      }
      const context = { database, connect, clock: Date.now } as unknown as ReaderContext
      const site = readSite(prepareReader(context), 'example.org')
      const all = () =>
        Promise.all(
          ['/a/', '/a/', '/a/', '/a/', '/a/', '/b/', '/b/'].map(path =>
            site.list(path).then(
              found => found.length,
              (error: Error) => error.message,
            ),
          ),
        )
      const [many, failed] = [LISTING + 2, 'no further file']
      // What fails before it has begun is no answer for those who ask later.
      expect(await all()).to.deep.equal([many, many, failed, failed, failed, many, many])
      expect(await all()).to.deep.equal(Array(7).fill(many))
      expect(tried).to.equal(8)
    } finally {
      database.close()
      await opened.close()
    }
  })

  it('end with their store: those under way before their next step, and those that wait', async () => {
    const opened = await openTemporary()
    try {
      const site = opened.store.site('example.org')
      const entries = Array.from({ length: 5000 }, (_, i) => ({ item: `${i}`, keys: ['all'] }))
      await done(site, [put('/a/x', 'x', { entries })])
      await opened.raw(manyMembers(LISTING + 1))
      const asked = [site.lookup(['all']), site.list('/a/'), site.lookup(['all']), site.list('/a/')]
      const told = asked.map(each => each.catch((error: StoreError) => error.reason))
      await opened.store.close()
      expect(await Promise.all(told)).to.deep.equal(Array(4).fill('closed'))
    } finally {
      await opened.close()
    }
  })
})

/** Adds files to each folder with a file `x`, as many. */
const manyMembers = (count: number) =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
   INSERT INTO resource SELECT site, folder, printf('y%05d', i), id + 10 * i, kind, version, digest, size, type, language,
   created, modified, shown, same_second, properties, members, in_file, unlisted FROM resource JOIN n WHERE name = 'x'`
