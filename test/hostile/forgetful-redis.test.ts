import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { parseRedisAddress } from '../../pipeline/coordination/redis/address.ts'
import {
  connectRedis,
  isForgetful,
  isPersisted,
  type RedisConnection,
} from '../../pipeline/coordination/redis/connection.ts'
import { startRedis, type TestRedis } from '../pipeline/coordination/redis-server.ts'
import { eventually } from '../support/eventually.ts'
import { startProcess } from '../support/process.ts'

describe('locks that vanish with a Redis that forgets', () => {
  let redis: TestRedis
  let connection: RedisConnection
  before(async () => {
    redis = await startRedis()
    const address = parseRedisAddress(redis.url)
    if (!address) throw new Error('no address')
    connection = await connectRedis(address, { report: () => undefined })
  })
  after(async () => {
    await connection.close()
    await redis.stop()
  })

  it('is told from one that keeps what it holds, and from one that does not say', async () => {
    await connection.redis.config('SET', 'save', '')
    await connection.redis.config('SET', 'appendonly', 'no')
    expect(await isPersisted(connection.redis)).to.equal(false)
    await connection.redis.config('SET', 'save', '3600 1')
    expect(await isPersisted(connection.redis)).to.equal(true)
    expect(await isPersisted({ config: () => Promise.reject(new Error('unknown command')) } as never)).to.equal(
      undefined,
    )
  })

  it('DAV-90 one that drops what it holds is told from one that refuses what it has no room for', async () => {
    const cases = [
      ['100mb', 'allkeys-lru', true],
      ['100mb', 'volatile-ttl', true],
      ['100mb', 'noeviction', false],
      ['0', 'allkeys-lru', false],
    ] as const
    for (const [limit, policy, isSo] of cases) {
      await connection.redis.config('SET', 'maxmemory', limit)
      await connection.redis.config('SET', 'maxmemory-policy', policy)
      expect(await isForgetful(connection.redis), `${limit} ${policy}`).to.equal(isSo)
    }
    expect(await isForgetful({ info: () => Promise.reject(new Error('unknown command')) } as never)).to.equal(false)
  })

  it('is told when a server starts', async () => {
    await connection.redis.config('SET', 'save', '')
    await connection.redis.config('SET', 'maxmemory', '100mb')
    const folder = await mkdtemp(join(tmpdir(), 'scriptorium-forgetful-'))
    const server = await startProcess(folder, {
      ...{ data: join(folder, 'data'), redis: redis.url },
      sites: [{ host: 'localhost' }],
    })
    try {
      await eventually(() => expect(server.everything()).to.include('Redis keeps nothing on disk'))
      await eventually(() => expect(server.everything()).to.include('Redis drops what it holds'))
    } finally {
      await server.stop()
      await rm(folder, { recursive: true })
    }
  })
})
