import { expect } from 'chai'
import { connectWriter } from '../../../pipeline/store/sqlite/schema.ts'
import { done, openTemporary, put } from '../fixture.ts'

describe('SQLite store: folders of earlier releases', () => {
  it('events of format 4, which share no bodies, are read and added to', async () => {
    const opened = await openTemporary()
    try {
      await done(opened.store.site('example.org'), {
        changes: [put('/a', 'A')],
        events: [{ path: '/a', payload: 'old' }],
      })
      await opened.store.close()
      const database = connectWriter(opened.folder)
      database.exec('DROP INDEX event_body; ALTER TABLE event DROP COLUMN body; ALTER TABLE event DROP COLUMN tail')
      database.exec('PRAGMA user_version = 4')
      database.close()
      const site = (await opened.reopen()).site('example.org')
      await done(site, { changes: [put('/a', 'B')], events: [{ path: '/a', payload: 'new' }] })
      expect((await site.events('/a')).map(({ payload }) => payload)).to.deep.equal(['old', 'new'])
      await opened.intact()
    } finally {
      await opened.close()
    }
  })
})
