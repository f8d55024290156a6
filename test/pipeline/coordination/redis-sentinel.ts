/** A sentinel of the tests' own that watches over a server, and puts its replica in its place when it has gone. */

import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from '../../support/ports.ts'
import { spawnRedis, startRedis, type TestRedis } from './redis-server.ts'

export interface TestRedisSentinel {
  /** The server that is the master in the beginning. */
  master: TestRedis
  replica: TestRedis
  /** As settings name it. */
  url: string
  /** Ends the master, which the replica then follows. */
  fail(): Promise<void>
  stop(): Promise<void>
}

/** @returns when the sentinel knows both, and the replica has what the master has */
export async function startRedisSentinel(): Promise<TestRedisSentinel> {
  const master = await startRedis()
  const replica = await startRedis({ arguments: ['--replicaof', '127.0.0.1', String(master.port)] })
  while (!String(await replica.admin.info('replication')).includes('master_link_status:up')) await pause()
  const folder = await mkdtemp(join(tmpdir(), 'sentinel-'))
  const port = await freePort()
  const file = join(folder, 'sentinel.conf')
  const settings = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor main 127.0.0.1 ${master.port} 1`,
    // Nobody but a test ends the master: on a busy machine it may be silent for long.
    'sentinel down-after-milliseconds main 600000',
    'sentinel failover-timeout main 3000',
  ]
  await writeFile(file, `${settings.join('\n')}\n`)
  const child = await spawnRedis([file, '--sentinel'], /\+slave/)
  const admin = new Redis(port, '127.0.0.1')
  return {
    master,
    replica,
    url: `redis+sentinel://127.0.0.1:${port}/main`,
    async fail() {
      await admin.call('SENTINEL', 'SET', 'main', 'down-after-milliseconds', '300')
      await master.kill()
    },
    async stop() {
      admin.disconnect()
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      await master.stop()
      await replica.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const pause = () => new Promise(resolve => setTimeout(resolve, 20))
