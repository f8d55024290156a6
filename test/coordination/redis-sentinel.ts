/** A sentinel of the tests' own that watches over a server, and puts its replica in its place when it has gone. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort, startRedis, type TestRedis } from './redis-server.ts'

export interface TestRedisSentinel {
  /** The server that is the master in the beginning. */
  master: TestRedis
  replica: TestRedis
  /** As settings name it. */
  url: string
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
    'sentinel down-after-milliseconds main 300',
    'sentinel failover-timeout main 3000',
  ]
  await writeFile(file, `${settings.join('\n')}\n`)
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: child.stdout })) if (line.includes('+slave')) break
  child.stdout.resume()
  return {
    master,
    replica,
    url: `redis+sentinel://127.0.0.1:${port}/main`,
    async stop() {
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
