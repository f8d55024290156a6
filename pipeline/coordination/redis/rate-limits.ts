/** Rate limits that several processes keep together in Redis; while it is away each one goes by what it has counted itself. */

import { hash } from 'node:crypto'
import { localRateLimits } from '../local/rate-limits.ts'
import type { RateLimits } from '../rate-limits.ts'
import type { RedisConnection } from './connection.ts'
import { redisScript } from './script.ts'

const SCRIPT = redisScript('./rate-limits.lua')

export interface RedisRateLimitOptions {
  connection: RedisConnection
  /** What all keys begin with. */
  prefix?: string
  /** What this process counts itself. */
  local?: RateLimits
  /** Milliseconds that Redis has for an answer: nobody is to wait for long to be told that a password is right. */
  patience?: number
}

export function redisRateLimits({
  connection,
  prefix = 'scriptorium',
  local = localRateLimits(),
  patience = 500,
}: RedisRateLimitOptions): RateLimits {
  const { redis } = connection
  // Names that clients make up are of any length.
  const nameOf = (kind: 'count' | 'allowance', key: string) => `${prefix}:${kind}:{${hash('sha256', key, 'base64url')}}`
  const run = (kind: 'count' | 'allowance', key: string, ...parameters: readonly (string | number)[]) =>
    SCRIPT(redis, [nameOf(kind, key)], parameters)

  /** What Redis answers; undefined when it cannot be reached or takes too long. */
  async function soon<T>(answer: Promise<T>): Promise<{ value: T } | undefined> {
    const late = Promise.withResolvers<undefined>()
    const timer = setTimeout(late.resolve, patience, undefined)
    const answered = answer.then(
      value => ({ value }),
      () => undefined,
    )
    try {
      return await Promise.race([answered, late.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    async add(keys, life) {
      await local.add(keys, life)
      await soon(Promise.all(keys.map(key => run('count', key, 'add', life))))
    },
    async counts(keys) {
      const counts = await soon(Promise.all(keys.map(key => redis.get(nameOf('count', key)))))
      return counts ? counts.value.map(Number) : local.counts(keys)
    },
    async forget(key) {
      await local.forget(key)
      await soon(redis.del(nameOf('count', key)))
    },
    async spend(key, allowance) {
      const own = await local.spend(key, allowance)
      const wait = await soon(run('allowance', key, 'spend', allowance.most, allowance.perSecond))
      return wait ? Number(wait.value) || undefined : own
    },
  }
}
