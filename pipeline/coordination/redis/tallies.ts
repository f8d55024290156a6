/** Tallies that several processes keep together in Redis; while it is away each one goes by what it has counted itself. */

import { hash } from 'node:crypto'
import { localTallies } from '../local/tallies.ts'
import type { Tallies } from '../tallies.ts'
import type { RedisConnection } from './connection.ts'
import { redisScript } from './script.ts'

const SCRIPT = redisScript('./tallies.lua')

export interface RedisTalliesOptions {
  connection: RedisConnection
  /** What all keys begin with. */
  prefix?: string
  /** What this process counts itself. */
  local?: Tallies
}

export function redisTallies({
  connection,
  prefix = 'scriptorium',
  local = localTallies(),
}: RedisTalliesOptions): Tallies {
  const { redis } = connection
  // Names that clients make up are of any length.
  const nameOf = (kind: 'count' | 'allowance', key: string) => `${prefix}:${kind}:{${hash('sha256', key, 'base64url')}}`
  const run = (kind: 'count' | 'allowance', key: string, ...parameters: readonly (string | number)[]) =>
    SCRIPT(redis, [nameOf(kind, key)], parameters)

  return {
    async add(keys, life) {
      await local.add(keys, life)
      await Promise.allSettled(keys.map(key => run('count', key, 'add', life)))
    },
    async counts(keys) {
      try {
        const counts = await Promise.all(keys.map(key => redis.get(nameOf('count', key))))
        return counts.map(Number)
      } catch {
        return local.counts(keys)
      }
    },
    async forget(key) {
      await local.forget(key)
      await redis.del(nameOf('count', key)).catch(() => undefined)
    },
    async spend(key, allowance) {
      const own = await local.spend(key, allowance)
      try {
        const wait = Number(await run('allowance', key, 'spend', allowance.most, allowance.perSecond))
        return wait === 0 ? undefined : wait
      } catch {
        return own
      }
    },
  }
}
