import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { type Database, openDatabase } from '../../../../pipeline/store/sqlite/database.ts'
import { limitPages } from '../../../../pipeline/store/sqlite/schema.ts'

const MEMORY = 1 << 20

describe('the memory for pages of SQLite', () => {
  let folder: string
  let database: Database
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scriptorium-pages-'))
    database = openDatabase(join(folder, 'pages.sqlite'), { wait: 1000 })
    database.exec('CREATE TABLE body (id INTEGER PRIMARY KEY, bytes BLOB)')
  })
  afterEach(async () => {
    database.close()
    await rm(folder, { recursive: true })
  })

  const bytesOf = () => {
    const pragma = (name: string) => database.prepareTuples<[number]>(`PRAGMA ${name}`).get()?.[0]
    return { mapped: pragma('mmap_size'), kept: -(pragma('cache_size') ?? 0) * 1024 }
  }

  it('a small file is seen in place, of a large one pages are kept, wherever they lie', () => {
    expect(limitPages(database, MEMORY)).to.be.within(1, 100_000)
    const small = { mapped: (MEMORY * 3) / 4, kept: MEMORY / 4 }
    expect(bytesOf()).to.deep.equal(small)
    database.exec('INSERT INTO body VALUES (1, zeroblob(500000))')
    limitPages(database, MEMORY)
    expect(bytesOf()).to.deep.equal(small)
    database.exec('INSERT INTO body VALUES (2, zeroblob(500000))')
    expect(limitPages(database, MEMORY)).to.be.within(1_000_000, MEMORY)
    expect(bytesOf()).to.deep.equal({ mapped: 0, kept: MEMORY })
    database.exec('DELETE FROM body; VACUUM')
    limitPages(database, MEMORY)
    expect(bytesOf()).to.deep.equal(small)
  })
})
