/** What the parts of the library see of a running evaluation. */

import type { Steps } from '../../tree/steps.ts'
import type { Allowance } from '../allowance.ts'
import type { ElementValue, Source, Value } from '../values.ts'
import type { Program } from './code.ts'
import { SesselError } from './failure.ts'
import type { MaybeLater, Reach, SesselHost } from './host.ts'
import type { Lambda } from './kinds.ts'

/** What a piece of code is surrounded by: the program itself, or a method or slot that it has called. */
export interface Context {
  program: Program
  /** The programs from which it was called, through each other. */
  callers?: ReadonlySet<Program>
  self: Value | undefined
  prior: Source | null | undefined
  names: { get(name: string): Value | undefined }
  reach: Reach
}

/** Asks for a function to be called, for a promise to be awaited, or for a moment in which others get their turn. */
export type Request = typeof CALL | Promise<unknown> | undefined

/** The function and its arguments are noted in the evaluation. */
export const CALL = Symbol('call')

/** Work that calls functions of the program, waits or takes long. What it is given for CALL is the result. */
export type Work<T = Value> = Generator<Request, T, Value>

/** What a method gives that has not done its work yet. */
export class Pending {
  readonly work: Work

  constructor(work: Work) {
    this.work = work
  }
}

export type Given = Value | Pending

export interface Evaluation {
  readonly host: SesselHost
  /** Of the request: what is found out for it is kept as long. */
  readonly allowance: Allowance
  /** Of the code that runs now. */
  readonly context: Context
  /** Counts work: about one for each value that is looked at, or 64 characters. */
  readonly spend: (steps: number) => void
  /** Whether as much was spent as between two looks at the clock: a Work that goes on is to ask for a pause. */
  readonly isDue: boolean
  /** Counts bytes of a value that is built. */
  take(bytes: number): void
  /** Notes a look at the clock or at chance. */
  readFleeting(): void
  /** Notes a call; to be yielded by a Work. Surplus arguments are dropped. */
  call(fn: Lambda, args: Value[]): typeof CALL
  /** Runs code of a slot or method, in a surrounding of its own. */
  runCode(text: string, context: Omit<Context, 'program' | 'callers'>): Given
}

/** Waits for what may be there at once. */
export function* settled<T>(value: MaybeLater<T>): Work<T> {
  if (!(value instanceof Promise)) return value
  let result: { value: T } | undefined
  yield value.then(found => {
    result = { value: found }
  })
  if (!result) throw new SesselError('RuntimeError', 'the evaluation was broken off')
  return result.value
}

/** Does work on trees and texts with pauses. */
export function* pausing<T>(steps: Steps<T>): Work<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    yield undefined
  }
}

/** Sets the elements of a selection apart from a list that the program has made. */
export type Elements = readonly ElementValue[]

/** @param reason `limit` for what depends on how much there is */
export function typeError(message: string, reason?: 'limit'): SesselError {
  return new SesselError('TypeError', `type error: ${message}`, reason)
}

/** @param reason as of `typeError` */
export function runtimeError(message: string, reason?: 'limit'): SesselError {
  return new SesselError('RuntimeError', message, reason)
}
