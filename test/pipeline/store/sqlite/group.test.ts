import { closeSync, copyFileSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import type { WriterState } from '../../../../pipeline/store/sqlite/commit/commit-state.ts'
import { type Arrived, runGroup } from '../../../../pipeline/store/sqlite/commit/group.ts'
import { prepareStatements } from '../../../../pipeline/store/sqlite/commit/statements.ts'
import { connectWriter, DATABASE } from '../../../../pipeline/store/sqlite/schema.ts'
import type { PackedChange } from '../../../../pipeline/store/sqlite/writer/messages.ts'
import { all, done, type OpenedFolder, openTemporary, putBlob, temporaryFolder } from '../fixture.ts'

/** Turns of the event loop that others get while some work is done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let running = true
  const counting = (async () => {
    for (; running; turns++) await setImmediate()
  })()
  await work
  running = false
  await counting
  return turns
}

describe('SQLite store: groups', () => {
  let opened: OpenedFolder
  beforeEach(async () => {
    opened = await openTemporary()
  })
  afterEach(() => opened.close())

  /**
   * Runs commits of one change each as one group, and counts transactions.
   *
   * @param change makes another writer of the one that is there
   */
  const run = (changes: PackedChange[], change: (writer: WriterState) => WriterState = writer => writer) => {
    const database = connectWriter(opened.folder)
    const statements = prepareStatements(database)
    let begun = 0
    const begin = {
      ...statements.begin,
      run: () => {
        begun++
        return statements.begin.run()
      },
    }
    const arrived = changes.map(
      (change, id): Arrived => ({
        bytes: new ArrayBuffer(1),
        job: { task: 'commit', id, at: 1, site: 's', commit: { changes: [change] }, unlisted: [] },
      }),
    )
    const writer = {
      database,
      statements: { ...statements, begin },
      copies: undefined,
      folder: opened.folder,
      treeEvents: undefined,
      grew: () => undefined,
    }
    const answers = runGroup(change(writer), arrived)
    database.close()
    return { begun, outcomes: answers.map(answer => ('error' in answer ? answer.error.reason : answer.result?.ok)) }
  }
  const put = (path: string): PackedChange => ({
    op: 'put',
    path,
    kind: 'blob',
    type: '',
    content: { offset: 0, length: 1 },
  })

  it('jobs that arrive together share one transaction', () => {
    const refused: PackedChange = { op: 'delete', path: '/none' }
    expect(run([put('/a/b'), refused, put('/a/c'), put('/a/b')])).to.deep.equal({
      begun: 1,
      outcomes: [true, false, true, true],
    })
  })

  it('jobs of a transaction that the database rolled back are tried again one by one', () => {
    const database = connectWriter(opened.folder)
    database.exec(
      "CREATE TRIGGER t BEFORE INSERT ON resource WHEN NEW.name = 'bad' BEGIN SELECT RAISE(ROLLBACK, ''); END",
    )
    database.close()
    expect(run([put('/a/b'), put('/a/bad'), put('/a/c')])).to.deep.equal({ begun: 4, outcomes: [true, 'failed', true] })
  })

  for (const canWrite of [true, false])
    it(`HTTP-4 what a commit wrote to the log whose flush failed is overwritten before its files go${canWrite ? '' : ', or they stay'}`, async () => {
      const { place, sha256, size } = await opened.store.stage(Readable.from([Buffer.alloc(300_000)]), { limit: 1e6 })
      const content = { file: place ?? '', sha256, sha1: undefined, md5: undefined, size }
      const log = () => readFileSync(join(opened.folder, `${DATABASE}-wal`), 'base64')
      let failed = ''
      const fail = () => {
        failed = log()
        throw new Error('disk I/O error')
      }
      const overwritten: boolean[] = []
      const failing = (writer: WriterState): WriterState => ({
        ...writer,
        database: canWrite ? writer.database : { ...writer.database, exec: fail },
        statements: { ...writer.statements, commit: { ...writer.statements.commit, run: fail } },
        takeAway: () => overwritten.push(log() !== failed),
      })
      const put: PackedChange = { op: 'put', path: '/a.bin', kind: 'blob', type: '', content }
      expect(run([put], failing).outcomes).to.deep.equal(['failed'])
      expect(overwritten).to.deep.equal(canWrite ? [true] : [])
    })

  it('HTTP-4 what is told as failed since the log could not be flushed is not there after a kill, though its pages are in the log', async () => {
    const { folder } = opened
    await done(opened.store.site('s'), [putBlob('/before', Buffer.alloc(1))])
    const { folder: twin, remove } = await temporaryFolder()
    /** Copies what a kill leaves: everything but memory. */
    const killed = () => {
      for (const end of ['', '-wal']) copyFileSync(join(folder, `store.sqlite${end}`), join(twin, `store.sqlite${end}`))
      rmSync(join(twin, 'store.sqlite-shm'), { force: true })
    }
    const paths = () => {
      const database = connectWriter(twin)
      const rows = database.prepare<{ name: string }>('SELECT name FROM resource ORDER BY name').all()
      database.close()
      return rows.map(({ name }) => name)
    }
    killed()
    const end = statSync(join(folder, 'store.sqlite-wal')).size
    const again = connectWriter(twin)
    again.exec("INSERT INTO setting VALUES ('x', 'y'); UPDATE resource SET name = 'refused' WHERE name = 'before'")
    const frames = readFileSync(join(twin, 'store.sqlite-wal')).subarray(end)
    again.close()
    expect(frames.length).to.be.above(2 * 4096)
    const fail = () => {
      const log = openSync(join(folder, 'store.sqlite-wal'), 'r+')
      writeSync(log, frames, 0, frames.length, end)
      closeSync(log)
      throw Object.assign(new Error('disk I/O error'), { errcode: 1034 })
    }
    const failing = ({ statements, ...writer }: WriterState): WriterState => ({
      ...writer,
      statements: { ...statements, commit: { ...statements.commit, run: fail } },
    })
    expect(run([put('/a')], failing).outcomes).to.deep.equal(['failed'])
    killed()
    expect(paths()).to.deep.equal(['', 'before'])
    await remove()
  })

  it('long walks and listings leave the event loop its turns', async () => {
    const site = opened.store.site('example.org')
    await done(site, [...Array.from({ length: 9000 }, (_, i) => putBlob(`/d/${i}`, Buffer.alloc(1)))])
    expect(await turnsDuring(all(site.walk('/')))).to.be.greaterThan(10)
    expect(await turnsDuring(site.list('/d/'))).to.be.greaterThan(1)
  })
})
