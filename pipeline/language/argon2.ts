/** argon2: Node computes it in threads that all of a process share, each with all the memory that it takes. */

import { type Argon2Parameters, argon2 as derive } from 'node:crypto'
import type { Allowance } from './allowance.ts'
import { Turns } from './turns.ts'

const turns = new Turns()

/**
 * @param allowance of whoever waits for it
 * @returns the tag of argon2id; rejects as `Turns.take` does
 */
export function argon2(parameters: Argon2Parameters, allowance: Allowance): Promise<Buffer> {
  const work = () =>
    new Promise<Buffer>((resolve, reject) =>
      derive('argon2id', parameters, (error, tag) => (error ? reject(error) : resolve(tag))),
    )
  return turns.take(allowance.party, work, () => allowance.look())
}
