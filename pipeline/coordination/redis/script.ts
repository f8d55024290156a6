/** Scripts that Redis runs in one go: sent by their digest, and in full to a server that does not know them yet. */

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { RedisClient } from './connection.ts'
import { gather } from './gathering.ts'

/** Runs the script. @returns what it returns; rejects with the client's error */
export type Script = (
  redis: RedisClient,
  keys: readonly string[],
  parameters: readonly (string | number)[],
) => Promise<unknown>

/**
 * @param file beside this one
 * @param isGathered whoever runs it has gathered what one turn of the event loop has to say
 */
export function redisScript(file: string, isGathered = false): Script {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8')
  const digest = hash('sha1', text)
  return (redis, keys, parameters) => {
    if (!isGathered) gather(redis)
    return redis.evalsha(digest, keys.length, ...keys, ...parameters).catch((error: unknown) => {
      if (error instanceof Error && error.message.startsWith('NOSCRIPT'))
        return redis.eval(text, keys.length, ...keys, ...parameters)
      throw error
    })
  }
}
