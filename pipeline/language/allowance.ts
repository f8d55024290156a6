/**
 * What one request may spend on code and composition, for all languages together (SES-213, COMP-19, LIQ-70, JS-32).
 * Whoever does metered work draws on it; once a limit is passed it stays spent, whatever the code catches.
 */

import { clockAtWork } from '../tree/precedence.ts'

/** What of an allowance can run out. */
export type Spendable = 'steps' | 'memory' | 'time' | 'dispatches' | 'turns'

export interface AllowanceLimits {
  /** Steps of evaluation: about one for each evaluated node and each element that a selector visits. */
  steps: number
  /** Bytes of values built, those that were dropped again included. */
  memory: number
  /** Milliseconds on the wall from the first metered work on. */
  time: number
  /** Directives that one composed page may dispatch. */
  dispatches: number
}

export const DEFAULT_LIMITS: AllowanceLimits = {
  steps: 2_000_000,
  memory: 64 * 1024 * 1024,
  time: 5_000,
  dispatches: 500,
}

/** An allowance is spent. No language lets its own code catch this; at the edge it is a 503 (HTTP-172). */
export class AllowanceSpent extends Error {
  readonly spent: Spendable

  constructor(spent: Spendable) {
    super(MESSAGES[spent])
    this.name = 'AllowanceSpent'
    this.spent = spent
  }
}

const MESSAGES: Record<Spendable, string> = {
  steps: 'The request has used up its evaluation steps.',
  memory: 'The request has used up the memory for its evaluation.',
  time: 'The request has used up the time for its evaluation.',
  dispatches: 'The page dispatches more directives than a request may.',
  turns: 'Too many hashes or long pattern matches of this site wait for their turn already.',
}

/** How many times what a request may spend all parts of a page may spend together. */
const ALL_PARTS = 4

/** Steps between two looks at the clock. */
const STEPS_PER_LOOK = 1_024

export class Allowance {
  /** Whose work it is: where pieces of work wait for each other, each party has its turn. */
  readonly party: object
  readonly #limits: AllowanceLimits
  readonly #now: () => number
  #steps = 0
  #memory = 0
  #dispatches = 0
  #nextLook = STEPS_PER_LOOK
  #deadline: number | undefined
  #spent: Spendable | undefined
  #hasReadFleeting = false
  #isAtLimit = false
  #whole: Allowance | undefined
  /** What is left for parts. */
  #forParts: AllowanceLimits | undefined

  /**
   * @param party the site that pays; the request itself when missing
   * @param now milliseconds on a clock that only goes forward
   */
  constructor(limits: Partial<AllowanceLimits> = {}, party?: object, now = clockAtWork()) {
    this.party = party ?? this
    this.#limits = { ...DEFAULT_LIMITS, ...limits }
    this.#now = now
  }

  /** What has run out, if anything. */
  get spent(): Spendable | undefined {
    return this.#spent
  }

  /** Code of the request has looked at the clock or at chance: what it gave is another one the next time. */
  get hasReadFleeting(): boolean {
    return this.#hasReadFleeting
  }

  /** Notes a look at the clock or at chance. */
  readFleeting(): void {
    this.#hasReadFleeting = true
    this.#whole?.readFleeting()
  }

  /** Something was longer, deeper or more than a value, an engine or a tree may be: what code gave is no answer, whatever it caught. */
  get isAtLimit(): boolean {
    return this.#isAtLimit
  }

  /** Notes that code came to a limit which it may catch. */
  noteLimit(): void {
    this.#isAtLimit = true
  }

  get stepsTaken(): number {
    return this.#steps
  }

  /** Milliseconds that are left; the clock starts with the first question or metered work. */
  get timeLeft(): number {
    this.#deadline ??= this.#now() + this.#limits.time
    return Math.max(0, this.#deadline - this.#now())
  }

  /**
   * Gives time back that passed before code could begin, as until a thread had started.
   *
   * @param milliseconds of it; no more is left afterwards than there was at the beginning
   */
  defer(milliseconds: number): void {
    const { time } = this.#limits
    this.#deadline = Math.min(this.#now() + time, (this.#deadline ?? Number.POSITIVE_INFINITY) + milliseconds)
    this.#whole?.defer(milliseconds)
  }

  /**
   * Stops the clock, if it has started: whoever waits for others evaluates nothing.
   *
   * @returns lets it go on; each time after that, what has passed since the last counts as waiting as well
   */
  pause(): () => void {
    let since = this.#now()
    return () => {
      const now = this.#now()
      if (this.#deadline !== undefined) this.defer(now - since)
      since = now
    }
  }

  get stepsLeft(): number {
    return Math.max(0, this.#limits.steps - this.#steps)
  }

  get memoryLeft(): number {
    return Math.max(0, this.#limits.memory - this.#memory)
  }

  /**
   * Takes steps, and looks at the clock now and then.
   *
   * @throws AllowanceSpent
   */
  step(count = 1): void {
    this.#steps += count
    if (this.#spent !== undefined || this.#steps > this.#limits.steps) throw this.#end('steps')
    if (this.#steps >= this.#nextLook) {
      this.#nextLook = this.#steps + STEPS_PER_LOOK
      this.look()
    }
  }

  /**
   * Looks at the clock.
   *
   * @throws AllowanceSpent
   */
  look(): void {
    if (this.#spent !== undefined || this.timeLeft === 0) throw this.#end('time')
  }

  /**
   * Counts memory before it is taken.
   *
   * @param bytes about what the value will take
   * @throws AllowanceSpent
   */
  take(bytes: number): void {
    this.#memory += bytes
    if (this.#spent !== undefined || this.#memory > this.#limits.memory) throw this.#end('memory')
  }

  /**
   * Counts a directive (COMP-19).
   *
   * @throws AllowanceSpent
   */
  dispatch(): void {
    this.#dispatches++
    if (this.#spent !== undefined || this.#dispatches > this.#limits.dispatches) throw this.#end('dispatches')
  }

  /**
   * An allowance for one part of the work, so that what others spend does not end it and tells nothing to whoever does not
   * see them (SEC-6). Each part may spend what a request may, as long as all together have not spent a few times as much.
   */
  part(): Allowance {
    this.#forParts ??= {
      steps: this.#limits.steps * ALL_PARTS,
      memory: this.#limits.memory * ALL_PARTS,
      time: this.#limits.time * ALL_PARTS,
      dispatches: this.#limits.dispatches * ALL_PARTS,
    }
    const { steps, memory, time, dispatches } = this.#forParts
    const limits = {
      steps: Math.min(this.#limits.steps, steps),
      memory: Math.min(this.#limits.memory, memory),
      time: Math.min(this.#limits.time, time),
      dispatches: Math.min(this.#limits.dispatches, dispatches),
    }
    const part = new Allowance(limits, this.party, this.#now)
    part.#whole = this
    return part
  }

  /** Ends a part: what it has spent is no longer there for others. */
  end(part: Allowance): void {
    const left = this.#forParts
    if (!left) return
    left.steps = Math.max(0, left.steps - part.#steps)
    left.memory = Math.max(0, left.memory - part.#memory)
    left.time = Math.max(0, left.time - (part.#deadline === undefined ? 0 : part.#limits.time - part.timeLeft))
    left.dispatches = Math.max(0, left.dispatches - part.#dispatches)
  }

  /**
   * Ends it for a reason that others tell: what they were to do has not been done.
   *
   * @throws AllowanceSpent
   */
  exhaust(what: Spendable): never {
    throw this.#end(what)
  }

  #end(what: Spendable): AllowanceSpent {
    this.#spent ??= what
    return new AllowanceSpent(this.#spent)
  }
}
