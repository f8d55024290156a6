/** Lock cycles: a lock is taken and ended again, by each keeper of locks alone, and over the wire on the mount. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLocalLocks } from '../../../pipeline/coordination/local/locks.ts'
import type { Locks } from '../../../pipeline/coordination/locks.ts'
import { redisLocks } from '../../../pipeline/coordination/redis/locks.ts'
import { lockinfo } from '../../mount/replays/requests.ts'
import { startRedis } from '../../pipeline/coordination/redis-server.ts'
import { openWire, request } from '../mount/wire.ts'
import { ACCOUNT, install } from './installation.ts'

/** At once, each on a path of its own. */
export const CLIENTS = 16
const SECONDS = 2

const OWNER = '<D:owner>bench</D:owner>'

/** Runs cycles for a while. @returns those per second in which everything went as it should */
async function rateOf(clients: number, cycle: (client: number) => Promise<boolean>): Promise<number> {
  let done = 0
  const run = async (client: number, until: number) => {
    while (performance.now() < until) {
      if (!(await cycle(client))) throw new Error('a lock could not be had, or was lost')
      done++
    }
  }
  const all = (seconds: number) => {
    const until = performance.now() + seconds * 1000
    return Promise.all(Array.from({ length: clients }, (_, client) => run(client, until)))
  }
  await all(0.3)
  done = 0
  const begun = performance.now()
  await all(SECONDS)
  return (done * 1000) / (performance.now() - begun)
}

const kept = (locks: Locks, clients: number): Promise<number> =>
  rateOf(clients, async client => {
    const path = `/locks/${client}.html`
    const ask = { path, scope: 'exclusive', depth: 0, owner: OWNER, user: 'bench', seconds: 600 } as const
    const taken = await locks.take('bench', ask)
    return taken.ok && (await locks.end('bench', taken.lock.token))
  })

/** @returns cycles per second of one client, and of several at once */
export async function localCycles(): Promise<[one: number, many: number]> {
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-bench-'))
  const locks = await openLocalLocks({ folder })
  try {
    return [await kept(locks, 1), await kept(locks, CLIENTS)]
  } finally {
    await locks.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** @returns cycles per second of one client, and of several at once */
export async function redisCycles(): Promise<[one: number, many: number]> {
  const server = await startRedis()
  const connection = await server.open()
  const locks = redisLocks({ redis: connection.redis })
  try {
    return [await kept(locks, 1), await kept(locks, CLIENTS)]
  } finally {
    await locks.close()
    await connection.close()
    await server.stop()
  }
}

/** LOCK and UNLOCK on the mount of one process. @returns cycles per second */
export async function mountCycles(options: { redis: boolean }): Promise<number> {
  const { mount, close } = await install(options.redis ? { workers: 1 } : {})
  const { user, password } = ACCOUNT
  const Authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  const wires = await Promise.all(Array.from({ length: CLIENTS }, () => openWire(mount)))
  const body = lockinfo('bench')
  try {
    return await rateOf(CLIENTS, async client => {
      const wire = wires[client]
      const path = `/list-${client}.html`
      const locked = await wire?.ask(request('LOCK', path, { Authorization, Depth: '0', Timeout: 'Second-600' }, body))
      const token = /\r\nlock-token: *<([^>\r]+)>/i.exec(locked?.head ?? '')?.[1]
      const ended = await wire?.ask(request('UNLOCK', path, { Authorization, 'Lock-Token': `<${token}>` }))
      return ended?.status === 204
    })
  } finally {
    for (const wire of wires) wire.close()
    await close()
  }
}
