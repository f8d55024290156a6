/**
 * Runs the instructions of programs. Functions of the program and parts of the library that call them stand on a stack of
 * the machine's own, so that an evaluation can be left at any moment and gone on with later.
 */

import { type Allowance, AllowanceSpent } from '../allowance.ts'
import type { Value } from '../values.ts'
import type { Program } from './code.ts'
import { CALL } from './evaluation.ts'
import { execute } from './execute.ts'
import { SesselError } from './failure.ts'
import type { SesselHost } from './host.ts'
import { State } from './state.ts'
import { caught } from './thrown.ts'

/** How far an evaluation has come: it has a value, needs another turn, or waits. */
export type Progress = { value: Value } | 'turn' | Promise<unknown>

export class Machine {
  readonly #state: State

  constructor(program: Program, host: SesselHost, allowance: Allowance) {
    this.#state = new State(program, host, allowance)
  }

  /** To be called when the evaluation has ended. */
  charge(): void {
    this.#state.charge()
  }

  /**
   * Goes on with the evaluation.
   *
   * @param until when others get their turn, by `performance.now()`
   * @param waited what came of the promise that the evaluation waited for
   * @throws SesselError that the program has not caught; AllowanceSpent; what a host threw
   */
  run(until: number, waited?: { error: unknown }): Progress {
    let failed = waited
    for (;;) {
      try {
        if (failed) {
          const { error } = failed
          failed = undefined
          this.#noteLimit(error)
          const top = this.#state.frames.at(-1)
          // A part of the library is told first: it may know what the failure means.
          if (waited && top && 'work' in top) {
            waited = undefined
            this.#state.stack.pop()
            const next = top.work.throw(error)
            if (next.done) {
              this.#state.frames.pop()
              this.#state.stack.push(next.value)
            } else throw error
          } else this.#unwind(error)
        }
        const progress = this.#go(until)
        if (progress) return progress
      } catch (error) {
        this.#settleFailed(error)
        failed = { error }
      }
    }
  }

  /** Groups are not to be told of it by what a program makes of it, or a script that has called it (GRP-5). */
  #noteLimit(error: unknown): void {
    if (error instanceof SesselError && error.reason === 'limit') this.#state.allowance.noteLimit()
  }

  /** What cannot be caught ends the evaluation. */
  #settleFailed(error: unknown): void {
    this.#noteLimit(error)
    // Also where it was told by what the evaluation has waited for.
    if (error instanceof AllowanceSpent) this.#state.allowance.exhaust(error.spent)
    if (!(error instanceof SesselError) || this.#state.handlers.length === 0) throw error
    this.#state.chargeAndLook()
  }

  #unwind(error: unknown): void {
    const handler = this.#state.handlers.pop()
    if (!handler || !(error instanceof SesselError)) throw error
    while (this.#state.frames.length > handler.frames) this.#drop()
    this.#state.stack.length = handler.values
    const frame = this.#state.frames.at(-1)
    if (!frame || 'work' in frame) throw error
    frame.at = handler.at
    frame.scope.slots[handler.slot] = caught(error, this.#state.spend)
  }

  #drop(): void {
    const frame = this.#state.frames.pop()
    if (frame && 'code' in frame) this.#state.calls--
  }

  /** Runs until there is a result, or something to wait for; undefined never. */
  #go(until: number): Progress | undefined {
    let result: Value | undefined
    for (;;) {
      const frame = this.#state.frames.at(-1)
      if (!frame) return { value: this.#state.stack.pop() ?? null }
      this.#state.context = frame.context
      if ('code' in frame) {
        if (execute(this.#state, frame, until)) return 'turn'
        continue
      }
      if (this.#state.fuel < 0) {
        this.#state.settle()
        if (performance.now() > until) return 'turn'
      }
      result = this.#state.stack.pop()
      const next = frame.work.next(result as Value)
      if (next.done) {
        this.#state.frames.pop()
        this.#state.stack.push(next.value)
      } else if (next.value === CALL) {
        const called = this.#state.called
        if (called) this.#state.enterLambda(called.fn, called.args)
      } else {
        // What is resumed takes one value.
        this.#state.stack.push(null)
        if (next.value !== undefined) return next.value
        this.#state.spend(8)
        // A piece of work that asks for a pause may have taken a millisecond.
        if (performance.now() > until) return 'turn'
      }
    }
  }
}
