/**
 * Limits of what is to stay rare, such as failed attempts to sign in: the contract that every keeper of them fulfils.
 * They slow down whoever does too much and are no proof of anything: where they cannot be kept together for a while, each
 * process counts for itself. Keys are any text.
 */

export interface RefillingAllowance {
  /** How many there are at first, and at most. */
  most: number
  /** How many are gained each second. */
  perSecond: number
}

/** No call fails. */
export interface RateLimits {
  /**
   * Adds one to each of these counts.
   *
   * @param life milliseconds after which a count that nothing is added to is forgotten
   * @returns the counts with it, in the order of the keys: of several who add at once, each gets another
   */
  add(keys: readonly string[], life: number): Promise<number[]>
  /** Takes one from each of these counts again; none falls below zero, and none lives longer for it. */
  takeBack(keys: readonly string[]): Promise<void>
  forget(key: string): Promise<void>
  /**
   * Takes some from an allowance, which fills up by itself: all of them or none.
   *
   * @param amount one by default
   * @returns undefined, or the seconds after which there are as many again, or as many as it ever has
   */
  spend(key: string, allowance: RefillingAllowance, amount?: number): Promise<number | undefined>
}

/** Counts and allowances that a process remembers at most, each. */
export const MOST_COUNTED = 10_000
