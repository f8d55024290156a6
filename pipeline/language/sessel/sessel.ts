/**
 * Sessel, the expression language: `compile` a text once, `evaluate` the program any number of times. What a program
 * reaches of its surroundings is given by a `SesselHost`.
 */

import { Precedence } from '../../tree/precedence.ts'
import { noteUnpaused, unnoticed, waitingTurn } from '../../tree/steps.ts'
import type { Allowance } from '../allowance.ts'
import { ElementValue, type Value } from '../values.ts'
import type { Program } from './code.ts'
import { type Outcome, SesselError } from './failure.ts'
import type { MaybeLater, SesselHost } from './host.ts'
import { Machine, type Progress } from './machine.ts'
import { thrownResponse } from './response.ts'
import { describedBy, Thrown } from './thrown.ts'

export type { Program } from './code.ts'
export { isTruthy, typeOf } from './comparison.ts'
export { compile, compileInTurns } from './compile.ts'
export {
  type Failure,
  type Outcome,
  type Position,
  SesselError,
  SesselSyntaxError,
  type ThrownResponse,
} from './failure.ts'
export * from './host.ts'
export { jsonText, writingJson } from './json.ts'
export { namesRelatively } from './relative-paths.ts'
export { instantOf } from './temporal-value.ts'
export { textForm } from './text-form.ts'

/** Milliseconds that an evaluation takes before others get a turn. */
const TURN = 5

/**
 * Evaluates a program. What is short and waits for nothing is done at once, and its outcome given without a promise; the
 * rest goes on in turns of the event loop.
 *
 * @param allowance of the request; what the program does is taken from it
 * @throws AllowanceSpent (at once or later) when it is used up; what the host throws beside SesselError
 */
export function evaluate(program: Program, host: SesselHost, allowance: Allowance): MaybeLater<Outcome> {
  const machine = new Machine(program, host, allowance)
  const from = performance.now()
  try {
    const progress = machine.run(from + unnoticed(TURN))
    noteUnpaused(performance.now() - from)
    return isValue(progress) ? { value: progress.value } : inTurns(machine, progress, host, allowance)
  } catch (error) {
    return outcomeOf(error, host)
  } finally {
    machine.charge()
  }
}

async function inTurns(machine: Machine, first: Progress, host: SesselHost, allowance: Allowance): Promise<Outcome> {
  let progress = first
  let due = performance.now() + TURN
  const precedence = new Precedence()
  precedence.begin()
  try {
    while (!isValue(progress)) {
      let failed: { error: unknown } | undefined
      const isTurn = progress === 'turn'
      if (progress instanceof Promise) {
        precedence.rest()
        try {
          await progress
        } catch (error) {
          failed = { error }
        }
      }
      // What is waited for may be there at once, again and again: nobody else has a turn until then.
      if (isTurn || performance.now() > due) {
        await waitingTurn()
        due = performance.now() + TURN
      }
      await precedence.next()
      // What takes long in few steps ends with its time, too.
      allowance.look()
      progress = machine.run(performance.now() + TURN, failed)
    }
    return { value: progress.value }
  } catch (error) {
    return outcomeOf(error, host)
  } finally {
    precedence.end()
    machine.charge()
  }
}

function isValue(progress: Progress): progress is { value: Value } {
  return progress !== 'turn' && !(progress instanceof Promise)
}

function outcomeOf(error: unknown, { ns }: SesselHost): Outcome {
  if (!(error instanceof SesselError)) throw error
  const { type, message, reason } = error
  if (!(error instanceof Thrown)) return { failure: { type, message, reason } }
  const { value } = error
  const failure = { type: describedBy(value)?.type ?? type, message, reason }
  return value instanceof ElementValue && value.type === `${ns}/HTTPResponse`
    ? { response: thrownResponse(value), failure }
    : { failure }
}
