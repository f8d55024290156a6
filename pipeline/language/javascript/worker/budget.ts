/**
 * What one evaluation may spend (JS-32), counted on the host's side of the boundary. Its time is processor time of this
 * thread, so that a program ends in the same place however busy the machine is.
 */

/** Steps that a millisecond of script time costs. */
const STEPS_PER_MS = 400

export type Ended = 'timeout' | 'out-of-memory'

/** Milliseconds of processor time that this thread has taken. */
export function threadTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Milliseconds of processor time that the system may not have counted yet: it does so with its ticks. */
const UNCOUNTED = 10

export interface BudgetLimits {
  /** Milliseconds of processor time. */
  time: number
  /** Steps, time included. */
  steps: number
  /** Bytes that nodes outside of the realm may take. */
  memory: number
}

export class Budget {
  /** What ran out first; it stays so, whatever the program catches. */
  ended: Ended | undefined
  /** Something was longer, deeper or more than may be; the program may have caught that. */
  isAtLimit = false
  readonly #limits: BudgetLimits
  readonly #began = { clock: performance.now(), thread: threadTime() }
  #steps = 0
  #bytes = 0

  constructor(limits: BudgetLimits) {
    this.#limits = limits
  }

  /** Milliseconds that the program has run: what has passed, unless others had the processor for some of it. */
  get milliseconds(): number {
    return Math.min(this.#passed, threadTime() - this.#began.thread + UNCOUNTED)
  }

  get #passed(): number {
    return performance.now() - this.#began.clock
  }

  /** What was taken so far: steps with those of the time, and that time. */
  get taken(): { steps: number; milliseconds: number } {
    const { milliseconds } = this
    return { steps: Math.ceil(this.#steps + milliseconds * STEPS_PER_MS), milliseconds }
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
    // A look at the clock costs a tenth of one at the thread.
    if (this.ended === undefined && this.#isPast(this.#passed) && this.#isPast(this.milliseconds))
      this.ended = 'timeout'
    return this.ended !== undefined
  }

  #isPast(milliseconds: number): boolean {
    return milliseconds >= this.#limits.time || this.#steps + milliseconds * STEPS_PER_MS > this.#limits.steps
  }
}
