import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { type Arrived, runGroup } from '../../../../pipeline/store/sqlite/commit/group.ts'
import { prepareStatements } from '../../../../pipeline/store/sqlite/commit/statements.ts'
import { connectWriter } from '../../../../pipeline/store/sqlite/schema.ts'
import type { PackedChange } from '../../../../pipeline/store/sqlite/writer/messages.ts'
import { all, done, type OpenedFolder, openTemporary, putBlob } from '../fixture.ts'

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

  /** Runs commits of one change each as one group, and counts transactions. */
  const run = (changes: PackedChange[]) => {
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
    const answers = runGroup(writer, arrived)
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

  it('long walks and listings leave the event loop its turns', async () => {
    const site = opened.store.site('example.org')
    await done(site, [...Array.from({ length: 9000 }, (_, i) => putBlob(`/d/${i}`, Buffer.alloc(1)))])
    expect(await turnsDuring(all(site.walk('/')))).to.be.greaterThan(10)
    expect(await turnsDuring(site.list('/d/'))).to.be.greaterThan(1)
  })
})
