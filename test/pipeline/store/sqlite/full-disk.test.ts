import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { keepReserve, reserved } from '../../../../pipeline/store/disk/reserve.ts'
import type { JobResult, WriterJob } from '../../../../pipeline/store/sqlite/writer/messages.ts'
import { commitWithin } from '../../../../pipeline/store/sqlite/writer/room.ts'
import { run } from '../../../support/program.ts'
import { mountingCommand } from '../../../support/small-disk.ts'

const DISK = fileURLToPath(new URL('./small-disk-child.ts', import.meta.url))
const LAUNCH = fileURLToPath(new URL('../../../../server/launch.mjs', import.meta.url))

describe('SQLite store: a disk without room', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'scriptorium-disk-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const at = { id: 1, at: 0 }
  const site = { ...at, task: 'commit' as const, site: 's', unlisted: [] as string[] }
  const remove = { op: 'delete' as const, path: '/a', expect: 1 }
  const jobs: [what: string, job: WriterJob, isDone: boolean][] = [
    ['a removal', { ...site, commit: { changes: [remove] } }, true],
    ['a removal of several', { ...site, commit: { changes: [remove, { ...remove, path: '/b' }] } }, true],
    [
      'a removal that stores as well',
      { ...site, commit: { changes: [remove, { op: 'collection', path: '/c/' }] } },
      false,
    ],
    [
      'notes that go',
      {
        ...at,
        task: 'notes',
        changes: [
          { op: 'drop', key: 'k' },
          { op: 'drop-all', prefix: 'p' },
        ],
      },
      true,
    ],
    [
      'notes that are written anew',
      { ...at, task: 'notes', changes: [{ op: 'move-all', prefix: 'p', to: 'q' }] },
      false,
    ],
    [
      'notes of which one comes',
      { ...at, task: 'notes', changes: [{ op: 'keep', note: { key: 'k', value: 'v', expires: 1 } }] },
      false,
    ],
    ['a setting', { ...at, task: 'setting', name: 'n', value: 'v', unlessSet: false }, false],
  ]
  for (const [what, job, isDone] of jobs)
    it(`HTTP-172 ${what}: ${isDone ? 'done in the room that is kept for it' : 'refused'}`, () => {
      keepReserve(folder)
      // Full as long as the reserve takes its room.
      const disk = (group: { job: WriterJob }[]): JobResult[] =>
        group.map(({ job: { id } }) =>
          reserved(folder) > 0 ? { id, error: { reason: 'full', message: 'no room' } } : { id, result: undefined },
        )
      let settled = 0
      const room = {
        folder,
        settle: () => void settled++,
        warn: (message: string) => expect.fail(message),
      }
      for (let again = 0; again < 3; again++) {
        const [answer] = commitWithin(room, [{ job }], disk)
        expect(answer && 'error' in answer).to.equal(!isDone)
        expect(statSync(join(folder, 'reserve')).size).to.equal(4 * 1024 * 1024)
      }
      expect(settled).to.equal(isDone ? 3 : 0)
    })

  it('HTTP-172 takes no room for it where there is too little', () => {
    keepReserve(folder, Number.MAX_SAFE_INTEGER)
    expect(reserved(folder)).to.equal(0)
    keepReserve(folder)
    expect(reserved(folder)).to.equal(4 * 1024 * 1024)
  })

  // Where nobody may mount a small disk, not even in a namespace of the user's own, the cases above have to do.
  const command = mountingCommand()
  if (command)
    it('HTTP-172 on a real disk removes what takes room, again and again, and then stores again', async () => {
      const [program = '', ...rest] = [...command, process.execPath, LAUNCH, '--run', DISK]
      const { code, output } = await run(program, rest, { timeout: 300_000 })
      expect(output.trim().split('\n').at(-1), output).to.equal('removed and stored again')
      expect(code).to.equal(0)
    }).timeout(310_000)
})
