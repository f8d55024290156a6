/** bcrypt: the package computes in slices of a tenth of a second, so it does so in a thread of its own. */

import type { Allowance } from './allowance.ts'
import { aside } from './aside.ts'
import type { BcryptQuestion } from './bcrypt-thread.ts'

const ask = aside<BcryptQuestion, string>('bcrypt', new URL('./bcrypt-thread.ts', import.meta.url))

/**
 * @param cost logarithm of the rounds, 4 to 31; who asks sees to it that the work has an end
 * @param allowance of whoever waits for it
 * @returns `$2b$…`, with a fresh salt
 */
export function bcrypt(text: string, cost: number, allowance: Allowance): Promise<string> {
  return ask({ text, cost }, allowance)
}
