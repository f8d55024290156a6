/** Work that can be left for a turn of the event loop, or until a promise is settled (LIQ-71). */

import { Precedence } from '../../tree/precedence.ts'
import { noteUnpaused, type Steps, unnoticed, waitingTurn } from '../../tree/steps.ts'

/** Yields nothing where it can be left, and promises that it waits for. */
export type Work<T> = Generator<Promise<unknown> | undefined, T, undefined>

/** A value is not there yet. Whoever evaluates waits and evaluates again: what was read before is remembered. */
export class Pending {
  readonly promise: Promise<unknown>

  constructor(promise: Promise<unknown>) {
    this.promise = promise
  }
}

/** Milliseconds of work without a pause that nobody notices. */
const UNNOTICED = 15

/** Milliseconds of work after which others get their turn. */
const TURN = 5

/** Does the work at once if it is short and waits for nothing, else in turns. */
export function doing<T>(work: Work<T>): T | Promise<T> {
  const from = performance.now()
  const end = from + unnoticed(UNNOTICED)
  try {
    for (;;) {
      const step = work.next()
      if (step.done) return step.value
      if (step.value !== undefined) return inTurns(work, step.value)
      if (performance.now() >= end) return inTurns(work, undefined)
    }
  } finally {
    noteUnpaused(performance.now() - from)
  }
}

async function inTurns<T>(work: Work<T>, first: Promise<unknown> | undefined): Promise<T> {
  let waiting = first
  let end = 0
  const precedence = new Precedence()
  precedence.begin()
  try {
    for (;;) {
      try {
        if (waiting) {
          precedence.rest()
          await waiting
        }
      } catch (error) {
        const step = work.throw(error)
        if (step.done) return step.value
        waiting = step.value
        continue
      }
      if (performance.now() >= end) {
        await waitingTurn()
        end = performance.now() + TURN
      }
      await precedence.next()
      const step = work.next()
      if (step.done) return step.value
      waiting = step.value
    }
  } finally {
    precedence.end()
  }
}

/** Does what may meet values that are not there yet. */
export function* ready<T>(evaluate: () => T): Work<T> {
  for (;;) {
    try {
      return evaluate()
    } catch (error) {
      if (!(error instanceof Pending)) throw error
      yield error.promise
    }
  }
}

/** Work on a text or tree, which can be left after each of its steps. */
export function* pausing<T>(steps: Steps<T>): Work<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    yield undefined
  }
}

/**
 * Does work where nothing can be left; what is not there yet is told to whoever evaluates.
 *
 * @param passed is called wherever the work could be left
 */
export function withoutPause<T>(work: Work<T>, passed: () => void): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    if (step.value !== undefined) throw new Pending(step.value)
    passed()
  }
}

export function* awaiting<T>(promise: Promise<T>): Work<T> {
  const box: { value?: T } = {}
  yield promise.then(value => {
    box.value = value
  })
  return box.value as T
}
