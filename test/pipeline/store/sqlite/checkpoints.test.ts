/** Checkpoints beside commits: the log is brought over and begins anew, whoever writes or reads meanwhile. */

import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { Database } from '../../../../pipeline/store/sqlite/database.ts'
import { connectReader, connectWriter, prepareTables } from '../../../../pipeline/store/sqlite/schema.ts'
import { type Checkpoints, prepareCheckpoints } from '../../../../pipeline/store/sqlite/writer/checkpoints.ts'
import { eventually } from '../../../support/eventually.ts'
import { temporaryFolder } from '../fixture.ts'

const SIZES = { many: 20, full: 60, few: 8, most: 100, more: 10, some: 1000 }

describe('checkpoints of the embedded store', () => {
  let folder: string
  let remove: () => Promise<void>
  let database: Database
  let checkpoints: Checkpoints | undefined
  const warnings: unknown[] = []

  beforeEach(async () => {
    ;({ folder, remove } = await temporaryFolder())
    prepareTables(folder)
    database = connectWriter(folder)
    database.exec('PRAGMA wal_autocheckpoint = 0; CREATE TABLE filler (id INTEGER PRIMARY KEY, bytes BLOB)')
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  })
  afterEach(async () => {
    checkpoints?.close()
    checkpoints = undefined
    database.close()
    await remove()
    expect(warnings).to.deep.equal([])
  })

  const begin = (sizes = SIZES) => {
    checkpoints = prepareCheckpoints(database, folder, (...warning) => warnings.push(warning), sizes)
    return checkpoints
  }
  const log = () => database.prepare<{ log: number; checkpointed: number }>('PRAGMA wal_checkpoint(NOOP)').get()
  const pages = () => log()?.log ?? 0
  const done = () => log()?.checkpointed ?? 0

  const writeOne = () => database.exec('INSERT INTO filler (bytes) VALUES (zeroblob(3000))')

  /** Commits that take so many pages of the log at least. */
  function write(count: number): void {
    const before = pages()
    while (pages() - before < count) writeOne()
  }

  it('a thread brings over what is much, and what comes meanwhile with the next', async () => {
    const { committed } = begin()
    write(10)
    committed()
    expect(done()).to.equal(0)
    write(15)
    committed()
    const first = pages()
    await eventually(() => expect(done()).to.equal(first))
    write(SIZES.many)
    committed()
    await eventually(() => expect(done()).to.be.above(first))
  })

  it('a log that is full begins anew when the thread has brought it over', async () => {
    const { committed } = begin()
    write(SIZES.full)
    committed()
    const first = pages()
    await eventually(() => expect(done()).to.equal(first))
    writeOne()
    expect(pages()).to.be.below(10)
  })

  it('what little is left then is brought over without the thread', () => {
    const { committed } = begin({ ...SIZES, few: SIZES.full * 2 })
    write(SIZES.full)
    committed()
    expect(done()).to.equal(pages())
    writeOne()
    expect(pages()).to.be.below(10)
  })

  it('a log that grows faster than the thread brings over waits for it, and begins anew', async () => {
    const { committed } = begin()
    write(SIZES.many)
    committed()
    write(SIZES.most)
    committed()
    expect(done()).to.equal(pages())
    writeOne()
    expect(pages()).to.be.below(10)
    const [row] = database.prepare<{ count: number }>('SELECT count(*) AS count FROM filler').all()
    expect(row?.count).to.be.above(SIZES.full / 4)
  })

  it('a reader of an older state holds up no commit; the log begins anew when it has gone', async () => {
    const { committed } = begin()
    write(5)
    const reader = connectReader(folder)
    reader.exec('BEGIN')
    const before = reader.prepare('SELECT count(*) AS count FROM filler').all()
    for (let i = 0; i < 12; i++) {
      write(10)
      committed()
    }
    expect(pages()).to.be.above(100)
    expect(reader.prepare('SELECT count(*) AS count FROM filler').all()).to.deep.equal(before)
    reader.exec('COMMIT')
    reader.close()
    write(SIZES.more)
    committed()
    writeOne()
    expect(pages()).to.be.below(10)
  })

  it('what is little is brought over when nothing is committed', async () => {
    const { committed } = begin({ ...SIZES, many: 1000, full: 2000, some: 4 })
    write(5)
    committed()
    expect(done()).to.equal(0)
    await eventually(() => expect(done()).to.equal(pages()))
  })
})
