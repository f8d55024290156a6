/**
 * The surfaces on the stores of several machines: a second, shorter pass of suites that go through the whole server. Chosen
 * is what asks the store in a way of its own: bytes and conditions of writes, competing writers, what is kept of events,
 * guards and cascades of models, what litmus does, and random operations with a restart. Left out is what repeats those ways:
 * mounts that differ by their address alone, references (cascades declare them), recorded clients (litmus sends the same
 * methods), single elements by POST (competitors send them). Kept sessions have a contract, whose tests run on Redis; events
 * across processes, their replay among them, are watched in `test/cluster/` and `test/pipeline/events/crash.test.ts`.
 * Everything else sees the store through the same contract, whose tests run on both.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { goesOn } from '../../../support/hang-watch.ts'
import { type Cluster, sharedCluster } from '../../../support/postgres.ts'
import type { Tally } from '../../../support/run.ts'
import { startRedis, type TestRedis } from '../../coordination/redis-server.ts'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))

/** Milliseconds without word of a test that passed, or failed, after which a run hangs: more than the tests in it have each. */
const SILENCE = 390_000

/** All in one process: another one would load and compile the server again. */
const FILES = [
  ...['bytes', 'conditions', 'concurrency', 'events'].map(name => `test/http/write/${name}.test.ts`),
  ...['unique', 'cascades'].map(name => `test/http/model/${name}.test.ts`),
  'test/mount/litmus.test.ts',
  'test/dav/methods/random-operations.test.ts',
]

const NAME =
  'the public surface (writes, their conditions, competitors and events, guards and cascades of models) and the mount (litmus and random operations)'

describe('the surfaces on PostgreSQL and Redis', () => {
  let database: Cluster
  let redis: TestRedis
  before(async () => {
    database = await sharedCluster()
    redis = await startRedis()
  })
  let child: ChildProcess | undefined
  after(async () => {
    child?.kill('SIGKILL')
    await redis.stop()
  })

  it(NAME, async function () {
    this.timeout(SILENCE)
    const env = { ...process.env, CI: '1', TEST_POSTGRES: database.url, TEST_REDIS: redis.url }
    const args = [...process.execArgv, 'test/support/run.ts', ...FILES]
    const run = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    child = run
    let tally: Tally | undefined
    run.once('message', (message: Tally) => {
      tally = message
    })
    let output = ''
    const take = (text: string) => {
      output += text
      // Begins anew.
      this.timeout(SILENCE)
      goesOn(NAME)
    }
    for (const stream of [run.stdout, run.stderr]) stream?.setEncoding('utf8').on('data', take)
    const code = await new Promise(resolve => run.once('close', resolve))
    if (tally === undefined) throw new Error(output)
    if (tally.failed.length > 0) throw new Error(tally.failed.join('\n'))
    expect([code, tally.pending]).to.deep.equal([0, 0])
    expect(tally.passed).to.be.at.least(1)
  })
})
