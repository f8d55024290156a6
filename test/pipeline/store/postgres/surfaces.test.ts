/**
 * The surfaces on the stores of several machines: a second, shorter pass of suites that go through the whole server. Chosen
 * is what depends on the store: bytes and conditions of writes, competing writers, guards, cascades, sessions, replayed
 * events, random operations, and what real WebDAV clients do. Everything else sees the store through the same contract, whose tests
 * run on both.
 */

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type Cluster, sharedCluster } from '../../../support/postgres.ts'
import { startRedis, type TestRedis } from '../../coordination/redis-server.ts'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))

const SUITES: Readonly<Record<string, readonly string[]>> = {
  'writes, their conditions and competitors': ['bytes', 'conditions', 'concurrency', 'post'].map(
    name => `test/http/write/${name}.test.ts`,
  ),
  'guards and cascades of models': ['unique', 'references', 'cascades'].map(name => `test/http/model/${name}.test.ts`),
  'sessions and replayed events': ['test/http/sessions/values.test.ts', 'test/pipeline/events/stream-replay.test.ts'],
  'the mount, as its clients use it': ['litmus', 'replays'].map(name => `test/mount/${name}.test.ts`),
  'random operations on the mount': ['test/dav/methods/random-operations.test.ts'],
}

describe('the surfaces on PostgreSQL and Redis', () => {
  let database: Cluster
  let redis: TestRedis
  before(async () => {
    database = await sharedCluster()
    redis = await startRedis()
  })
  after(() => redis.stop())

  for (const [name, files] of Object.entries(SUITES)) {
    it(name, async function () {
      this.timeout(390_000)
      const env = { ...process.env, CI: '1', TEST_POSTGRES: database.url, TEST_REDIS: redis.url }
      const args = ['server/launch.mjs', '--run', 'test/support/run.ts', ...files]
      const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => (output += text))
      const code = await new Promise(resolve => child.once('close', resolve))
      expect(code, output).to.equal(0)
      expect(output).to.match(/[1-9]\d* passed, 0 failed/)
    })
  }
})
