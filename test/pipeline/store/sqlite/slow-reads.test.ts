/** Reads of one state over several turns, which have connections of their own. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { ReaderContext } from '../../../../pipeline/store/sqlite/read/reader.ts'
import { prepareReader, readSite } from '../../../../pipeline/store/sqlite/read/reader.ts'
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
})
