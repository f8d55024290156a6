/**
 * Work that is done in steps and may have to wait for something: a generator that yields where it can be left for a while,
 * or a promise that it needs. Composing a page from what is in memory waits for nothing and ends in one go.
 */

import { noteFreed } from '../tree/heap.ts'
import { isOutrun, Precedence } from '../tree/precedence.ts'
import { noteUnpaused, unnoticed, waitingTurn } from '../tree/steps.ts'

/**
 * Yields a promise where it has to wait, other work that is to be done before it goes on, and anything else where it can be
 * left; steps of a tree pass are such work, too. Work that is yielded takes no room on the stack, however deep it goes.
 */
export type Work<T> = Generator<unknown, T, void>

/** At once or later. */
export type MaybeLater<T> = T | PromiseLike<T>

/** Milliseconds of work after which others get their turn. */
const TURN = 5

/** The same where others wait for room: what is short is not held up by them, and what is not holds little while it waits. */
const BRIEF = 2

/** Works that were handed over to between two looks at the clock: a fraction of a millisecond. */
const HANDED_PER_LOOK = 100

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

/**
 * Does the work; what takes long is left again and again, so that others get their turn.
 *
 * @throws what the work throws; HeapError where the heap has no room for it beside what else goes on
 */
export async function doing<T>(work: Work<T>): Promise<T> {
  return begun(work)
}

/** The same, with the result at once where the work is short and waits for nothing. */
export function begun<T>(work: Work<T>): T | Promise<T> {
  const run = new Run(work)
  const from = performance.now()
  const progress = run.until(from + (isOutrun() ? BRIEF : unnoticed()))
  noteUnpaused(performance.now() - from)
  return progress === 'turn' || 'wait' in progress ? going(run, progress) : (progress.value as T)
}

async function going<T>(run: Run, first: Unfinished): Promise<T> {
  let progress: Progress = first
  let due = performance.now() + TURN
  const precedence = new Precedence()
  precedence.begin()
  try {
    for (;;) {
      const isTurn = progress === 'turn'
      if (progress !== 'turn') {
        if (!('wait' in progress)) return progress.value as T
        precedence.rest()
        await progress.wait
      }
      // What is waited for may be there at once, again and again: nobody else has a turn until then.
      if (isTurn || performance.now() > due) {
        await waitingTurn()
        due = performance.now() + TURN
      }
      await precedence.next()
      progress = run.until(performance.now() + TURN)
    }
  } finally {
    run.end()
    precedence.end()
    noteFreed()
  }
}

type Unfinished = 'turn' | { wait: PromiseLike<unknown> }
type Progress = Unfinished | { value: unknown }

/** Work with the work that it has handed over to, which takes no room on the stack. */
class Run {
  readonly #under: Work<unknown>[] = []
  #current: Work<unknown>
  /** How often work was handed over. */
  #handed = 0

  constructor(work: Work<unknown>) {
    this.#current = work
  }

  /** Has what is not done taken back. */
  end(): void {
    for (let work: Work<unknown> | undefined = this.#current; work; work = this.#under.pop()) work.return(undefined)
  }

  /** Goes on until the work is done, has to wait or may be left at `end`. */
  until(end: number): Progress {
    let failure: { error: unknown } | undefined
    for (;;) {
      let step: IteratorResult<unknown, unknown>
      try {
        step = failure ? this.#current.throw(failure.error) : this.#current.next()
        failure = undefined
      } catch (error) {
        const outer = this.#under.pop()
        if (!outer) throw error
        failure = { error }
        this.#current = outer
        continue
      }
      if (step.done) {
        const outer = this.#under.pop()
        if (!outer) return { value: step.value }
        this.#current = outer
      } else if (isLater(step.value)) return { wait: step.value }
      else if (isWork(step.value)) {
        this.#under.push(this.#current)
        this.#current = step.value
        // Much work may hand over again and again without ever leaving.
        if (++this.#handed % HANDED_PER_LOOK === 0 && performance.now() > end) return 'turn'
      } else if (performance.now() > end) return 'turn'
    }
  }
}

function isWork(value: unknown): value is Work<unknown> {
  return typeof value === 'object' && value !== null && 'next' in value && 'throw' in value
}
