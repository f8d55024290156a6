import { expect } from 'chai'
import { connectReader } from '../../../../pipeline/store/sqlite/schema.ts'
import { type OpenedFolder, openTemporary } from '../fixture.ts'

describe('SQLite store: removal of notes', () => {
  let opened: OpenedFolder
  beforeEach(async () => {
    opened = await openTemporary()
  })
  afterEach(() => opened.close())

  it('notes whose time is over leave the database as others come', async () => {
    const { store, clock } = opened
    const notes = (name: string, expires: number) =>
      Array.from({ length: 1500 }, (_, i) => ({
        op: 'keep' as const,
        note: { key: `${name}/${i}`, value: 'v', expires },
      }))
    await store.changeNotes(notes('old', clock.now + 1000))
    clock.now += 60_000
    for (let i = 0; i < 3; i++) {
      clock.now += 5000
      await store.changeNotes(notes('new', clock.now + 60_000))
    }
    await store.changeNotes(notes('new', clock.now + 60_000))
    const database = connectReader(opened.folder)
    const row = database.prepare<{ count: number }>('SELECT count(*) AS count FROM note').get()
    database.close()
    expect(row?.count).to.equal(1500)
  })
})
