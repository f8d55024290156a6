/** argon2: Node computes it in threads that all of a process share, each with all the memory that it takes. */

import { type Argon2Parameters, argon2 as derive } from 'node:crypto'
import { Turns } from './turns.ts'

const turns = new Turns()

/**
 * @param party whose hash it is (`Allowance.party`)
 * @returns the tag of argon2id; rejects as `Turns.take` does
 */
export function argon2(parameters: Argon2Parameters, party: object): Promise<Buffer> {
  const work = () =>
    new Promise<Buffer>((resolve, reject) =>
      derive('argon2id', parameters, (error, tag) => (error ? reject(error) : resolve(tag))),
    )
  return turns.take(party, work)
}
