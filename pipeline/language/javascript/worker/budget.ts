/** What one evaluation may spend (JS-32), counted on the host's side of the boundary. */

/** Steps that a millisecond of script time costs. */
const STEPS_PER_MS = 400

export type Ended = 'timeout' | 'out-of-memory'

export interface BudgetLimits {
  /** Milliseconds. */
  time: number
  /** Steps, time included. */
  steps: number
  /** Bytes that nodes outside of the realm may take. */
  memory: number
}

export class Budget {
  /** What ran out first; it stays so, whatever the program catches. */
  ended: Ended | undefined
  readonly #limits: BudgetLimits
  #began = performance.now()
  #steps = 0
  #bytes = 0

  constructor(limits: BudgetLimits) {
    this.#limits = limits
  }

  /** Milliseconds that the program has run. */
  get milliseconds(): number {
    return performance.now() - this.#began
  }

  get steps(): number {
    return Math.ceil(this.#steps + this.milliseconds * STEPS_PER_MS)
  }

  get timeLeft(): number {
    return Math.max(0, this.#limits.time - this.milliseconds)
  }

  get stepsLeft(): number {
    return Math.max(0, this.#limits.steps - this.steps)
  }

  /** Takes steps beside those of the time. */
  step(count: number): void {
    this.#steps += count
    if (this.#steps > this.#limits.steps) this.ended ??= 'timeout'
  }

  /** Counts memory outside of the realm. */
  take(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > this.#limits.memory) this.ended ??= 'out-of-memory'
  }

  /** Whether the program has to end. */
  isOver(): boolean {
    if (this.ended === undefined) {
      const { milliseconds } = this
      if (milliseconds >= this.#limits.time || this.#steps + milliseconds * STEPS_PER_MS > this.#limits.steps)
        this.ended = 'timeout'
    }
    return this.ended !== undefined
  }
}
