/** A bad day of a server of several processes: one ends, and the system starts no other, as while the program is replaced. */

import cluster from 'node:cluster'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { loadSettings } from '../../config/load.ts'
import { startWorkers } from '../../server/workers.ts'

/** What a worker says when it answers requests, and nothing else. */
const WORKER = `process.send({ ready: { publicOrigin: 'http://localhost:8080' } }); process.on('message', () => {})`

describe('Processes that cannot be started', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scriptorium-unstarted-'))
    await writeFile(join(folder, 'worker.cjs'), WORKER)
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const inFolder = (cwd: string) =>
    cluster.setupPrimary({ exec: join(folder, 'worker.cjs'), args: [], execArgv: [], cwd })
  const pids = () => Object.values(cluster.workers ?? {}).flatMap(worker => worker?.process.pid ?? [])

  it('are tried again, and the others go on', async () => {
    const file = join(folder, 'settings.json')
    await writeFile(file, JSON.stringify({ data: folder, listen: { port: 0 } }))
    const { settings } = await loadSettings({ file })
    const failures: string[] = []
    const failed = Promise.withResolvers<void>()
    const log = {
      warn: () => undefined,
      error({ err }: { err?: Error }) {
        failures.push(err ? 'not started' : 'ended')
        if (err) failed.resolve()
      },
    }
    inFolder(folder)
    const workers = await startWorkers({ settings: { ...settings, workers: 2 }, log })
    const [victim = 0, other = 0] = pids()
    // In a folder that is not there the system starts nothing.
    inFolder(join(folder, 'gone'))
    process.kill(victim, 'SIGKILL')
    await failed.promise
    expect(pids()).to.include(other)
    const again = new Promise(resolve => cluster.once('online', resolve))
    inFolder(folder)
    await again
    expect(failures.slice(0, 2)).to.deep.equal(['ended', 'not started'])
    expect(pids()).to.have.length(2)
    await workers.close()
    expect(pids()).to.deep.equal([])
  })
})
