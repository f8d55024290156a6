/** Time, as event streams need it; tests have a clock of their own. */

export interface Clock {
  /** Unix milliseconds. */
  now(): number
  /** Milliseconds on a clock that only goes forward, at the pace of `after`. */
  passed(): number
  /**
   * Calls a function later; does not keep the process alive.
   *
   * @returns takes it back
   */
  after(milliseconds: number, call: () => void): () => void
  /** Calls a function soon, when others have had their turn. */
  soon(call: () => void): void
}

export const systemClock: Clock = {
  now: Date.now,
  passed: () => performance.now(),
  after(milliseconds, call) {
    const timer = setTimeout(call, milliseconds).unref()
    return () => clearTimeout(timer)
  },
  soon: call => void setImmediate(call),
}
