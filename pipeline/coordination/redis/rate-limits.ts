/** Rate limits that several processes keep together in Redis; while it is away each one goes by what it has counted itself. */

import { hash } from 'node:crypto'
import { unlessAnswered } from '../../unless-answered.ts'
import { localRateLimits, takenAhead } from '../local/rate-limits.ts'
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
  /** Milliseconds that always grow. */
  clock?: () => number
}

/**
 * Milliseconds for which a process may use what it took ahead. As much as an allowance gains in that time is taken at most, so
 * that what nobody uses is there again at once, and who does as much as is allowed all the time is not slowed down.
 */
const AHEAD = 1000

export function redisRateLimits({
  connection,
  prefix = 'scriptorium',
  local = localRateLimits(),
  patience = 500,
  clock = () => performance.now(),
}: RedisRateLimitOptions): RateLimits {
  const { redis } = connection
  const ahead = takenAhead()
  // Names that clients make up are of any length.
  const nameOf = (kind: 'count' | 'allowance', key: string) => `${prefix}:${kind}:{${hash('sha256', key, 'base64url')}}`
  const run = (kind: 'count' | 'allowance', key: string, ...parameters: readonly (string | number)[]) =>
    SCRIPT(redis, [nameOf(kind, key)], parameters)

  /** What Redis answers; undefined when it cannot be reached or takes too long. */
  async function soon<T>(answer: Promise<T>): Promise<{ value: T } | undefined> {
    const late = Promise.withResolvers<undefined>()
    const timer = unlessAnswered(() => late.resolve(undefined), patience)
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
      const own = await local.add(keys, life)
      const counts = await soon(Promise.all(keys.map(key => run('count', key, 'add', life))))
      return counts ? counts.value.map(Number) : own
    },
    async takeBack(keys) {
      await local.takeBack(keys)
      await soon(Promise.all(keys.map(key => run('count', key, 'take back'))))
    },
    async forget(key) {
      await local.forget(key)
      await soon(redis.del(nameOf('count', key)))
    },
    async spend(key, allowance, amount = 1) {
      const own = await local.spend(key, allowance, amount)
      if (ahead.use(key, amount, clock())) return undefined
      const take = (count: number) => soon(run('allowance', key, 'spend', allowance.most, allowance.perSecond, count))
      const more = Math.floor((allowance.perSecond * AHEAD) / 1000)
      const until = clock() + AHEAD
      if (more > amount) {
        const wait = await take(more)
        if (!wait) return own
        if (Number(wait.value) === 0) {
          ahead.keep(key, more - amount, until)
          return undefined
        }
      }
      const wait = await take(amount)
      return wait ? Number(wait.value) || undefined : own
    },
  }
}
