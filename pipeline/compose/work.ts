/**
 * Work that is done in steps and may have to wait for something: a generator that yields where it can be left for a while,
 * or a promise that it needs. Composing a page from what is in memory waits for nothing and ends in one go.
 */

import { setImmediate } from 'node:timers/promises'

/**
 * Yields a promise where it has to wait, other work that is to be done before it goes on, and anything else where it can be
 * left; steps of a tree pass are such work, too. Work that is yielded takes no room on the stack, however deep it goes.
 */
export type Work<T> = Generator<unknown, T, void>

/** At once or later. */
export type MaybeLater<T> = T | PromiseLike<T>

/** Milliseconds of work after which others get their turn. */
const TURN = 5

/** Milliseconds of work without a pause that nobody notices. */
const UNNOTICED = 20

/** The value of something that may not be there yet. */
export function* awaiting<T>(value: MaybeLater<T>): Work<T> {
  if (!isLater(value)) return value as T
  let settled: { value: T } | { error: unknown } | undefined
  yield (value as PromiseLike<T>).then(
    result => {
      settled = { value: result }
    },
    (error: unknown) => {
      settled = { error }
    },
  )
  if (!settled) throw new Error('the work went on before what it waits for was there')
  if ('error' in settled) throw settled.error
  return settled.value
}

function isLater(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** Does the work; what takes long is left again and again, so that others get their turn. */
export async function doing<T>(work: Work<T>): Promise<T> {
  const under: Work<unknown>[] = []
  let current: Work<unknown> = work
  let end = performance.now() + UNNOTICED
  let failure: { error: unknown } | undefined
  for (;;) {
    let step: IteratorResult<unknown, unknown>
    try {
      step = failure ? current.throw(failure.error) : current.next()
      failure = undefined
    } catch (error) {
      const outer = under.pop()
      if (!outer) throw error
      failure = { error }
      current = outer
      continue
    }
    if (step.done) {
      const outer = under.pop()
      if (!outer) return step.value as T
      current = outer
    } else if (isLater(step.value)) {
      await step.value
      end = performance.now() + TURN
    } else if (isWork(step.value)) {
      under.push(current)
      current = step.value
    } else if (performance.now() > end) {
      await setImmediate()
      end = performance.now() + TURN
    }
  }
}

function isWork(value: unknown): value is Work<unknown> {
  return typeof value === 'object' && value !== null && 'next' in value && 'throw' in value
}
