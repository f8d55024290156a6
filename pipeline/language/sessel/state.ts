/** The state of a running evaluation: its values, the functions it is in, and what it has spent. */

import { type Allowance, AllowanceSpent } from '../allowance.ts'
import type { Value } from '../values.ts'
import type { Code, Program } from './code.ts'
import { MAX_TEXT, tooLong } from './comparison.ts'
import { compileInTurns } from './compile.ts'
import {
  CALL,
  type Context,
  type Evaluation,
  type Given,
  Pending,
  runtimeError,
  settled,
  type Work,
} from './evaluation.ts'
import { SesselSyntaxError } from './failure.ts'
import type { SesselHost } from './host.ts'
import { Lambda, type Scope } from './kinds.ts'

/** Calls inside each other (SES-213). */
const MAX_CALLS = 256

/** Steps between two looks at the clock. */
const FUEL = 256

export interface Activation {
  code: Code
  scope: Scope
  context: Context
  /** Where to go on. */
  at: number
  /** Values below its own ones. A `return` in the middle of a list or an operation leaves some of its own behind. */
  values: number
}

export type Frame = Activation | { work: Work; context: Context }

export interface Handler {
  frames: number
  values: number
  at: number
  slot: number
}

/** What the machine and its instructions work on, and what parts of the library see of it. */
export class State implements Evaluation {
  readonly host: SesselHost
  readonly allowance: Allowance
  readonly stack: Value[] = []
  readonly frames: Frame[] = []
  readonly handlers: Handler[] = []
  /** Steps until the next look at the clock. */
  fuel = FUEL
  /** What `fuel` was when the allowance was last charged. */
  #charged = FUEL
  calls = 0
  /** The function that a part of the library asks to be called. */
  called: { fn: Lambda; args: Value[] } | undefined
  /** Of the code that runs now. */
  context: Context
  /** What is assigned to a property V8 places among what lives long, with everything that it reaches; an initial value it does not. */
  readonly spend = (steps: number): void => {
    this.fuel -= steps
    if (this.fuel < -FUEL) this.chargeAndLook()
  }

  constructor(program: Program, host: SesselHost, allowance: Allowance) {
    this.host = host
    this.allowance = allowance
    const { self, prior, names, reach } = host
    this.context = { program, self, prior, names, reach }
    this.enter(program.main, undefined, this.context)
  }

  take(bytes: number): void {
    this.allowance.take(bytes)
  }

  readFleeting(): void {
    this.allowance.readFleeting()
  }

  call(fn: Lambda, args: Value[]): typeof CALL {
    this.called = { fn, args }
    return CALL
  }

  runCode(text: string, context: Omit<Context, 'program' | 'callers'>): Given {
    const { program, callers } = this.context
    const all = callers?.has(program) ? callers : new Set(callers).add(program)
    return new Pending(runningCode(this, text, { ...context, callers: all }))
  }

  /** Takes from the allowance what was done last; to be called when the evaluation has ended. */
  charge(): void {
    const done = this.#done()
    // An allowance that is spent by the very last steps is noticed by whoever draws on it next.
    if (done > 0 && this.allowance.spent === undefined) {
      try {
        this.allowance.step(done)
      } catch (error) {
        if (!(error instanceof AllowanceSpent)) throw error
      }
    }
  }

  /** Whether work of the library has come to a place where others may want their turn. */
  get isDue(): boolean {
    return this.fuel <= 0
  }

  /** Charges what was done, and has what follows look at the clock: many long steps of the library would never come to it. */
  chargeAndLook(): void {
    const done = this.#charged - this.fuel
    this.#charged = this.fuel = 0
    this.allowance.step(done)
  }

  /** Charges what was done since the last time. */
  settle(): void {
    this.allowance.step(this.#done())
  }

  #done(): number {
    const done = this.#charged - this.fuel
    this.#charged = this.fuel = FUEL
    return done
  }

  /** Begins an activation. @throws SesselError where calls are nested too deeply */
  enter(code: Code, outer: Scope | undefined, context: Context): Scope {
    if (++this.calls > MAX_CALLS) {
      this.calls--
      throw runtimeError(`calls are nested deeper than ${MAX_CALLS}`, 'limit')
    }
    this.allowance.take(64 + 8 * code.slots)
    const slots: (Value | undefined)[] = []
    const scope: Scope = { slots, outer }
    this.frames.push({ code, scope, context, at: 0, values: this.stack.length })
    return scope
  }

  enterLambda({ code, outer, context }: Lambda, args: readonly Value[]): void {
    const { slots } = this.enter(code, outer, context)
    for (let at = 0; at < code.parameters; at++) slots.push(args[at] ?? null)
    if (code.hasRest) slots.push(args.slice(code.parameters))
  }

  /** Leaves what a part of the library gives. @returns whether it has to do its work first */
  put(given: Given): boolean {
    if (!(given instanceof Pending)) {
      this.stack.push(given)
      return false
    }
    this.frames.push({ work: given.work, context: this.context })
    this.stack.push(null)
    return true
  }

  /** Takes the topmost values. */
  taken(count: number): Value[] {
    return count === 0 ? [] : this.stack.splice(-count)
  }

  /** @throws SesselError for a text that is too long */
  concatenated(a: string, b: string): string {
    const length = a.length + b.length
    if (length > MAX_TEXT) throw tooLong()
    this.allowance.take(32 + 2 * length)
    this.fuel -= length >> 8
    return a + b
  }
}

function* runningCode(machine: State, text: string, context: Omit<Context, 'program'>): Work {
  const program = yield* programOf(text)
  const whole = { ...context, program }
  return yield machine.call(new Lambda(program.main, undefined, whole), [])
}

function* programOf(text: string): Work<Program> {
  try {
    return yield* settled(compileInTurns(text))
  } catch (error) {
    if (error instanceof SesselSyntaxError) throw runtimeError(`code that was called does not parse: ${error.message}`)
    throw error
  }
}
