/**
 * Whether an object store answers. It is asked when a request has heard nothing for a while, or nobody has asked it anything for
 * longer, and then, as long as it is away, more and more seldom until it answers: never by each request. What is asked of it
 * meanwhile is refused at once.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError } from '../errors.ts'
import type { Log } from './client.ts'
import { wordsOf } from './failures.ts'

export interface Circuit {
  readonly isAway: boolean
  /** @throws StoreError while the object store is away */
  requireThere(): void
  /** Has it asked whether it answers; those who suspect it at the same time share the question. */
  suspect(): void
  /** It failed somebody, or refused. */
  failed(message: string, error: unknown): void
  /** It answered somebody: it is there. */
  answered(): void
  /**
   * Holds it for away from now on.
   *
   * @param returning carried out again and again until it succeeds: then it is there
   */
  loseUntil(returning: () => Promise<void>): void
  /** Has it asked now and then from now on, as long as nobody else has an answer from it. It keeps no process running. */
  watch(): void
  /** Has a function called when it goes away. @returns ends that */
  onAway(listener: () => void): () => void
  close(): void
}

/** Milliseconds before it is asked again, the first time and later ones at most: each time twice as long. */
export const [SOON, SELDOM] = [250, 4000]

/** Milliseconds without any answer after which it is asked. */
export const IDLE = 10_000

const AWAY = 'The object store does not answer'

export interface CircuitOptions {
  /** Settles when the object store answers, whatever it says; fails when it does not. */
  probe(): Promise<void>
  log: Log
  /** Waits so many milliseconds. */
  wait?(milliseconds: number, signal: AbortSignal): Promise<unknown>
}

export function createCircuit({ probe, log, wait = pause }: CircuitOptions): Circuit {
  const end = new AbortController()
  const listeners = new Set<() => void>()
  let isTold = false
  let isAway = false
  let isAsking = false
  let isHeard = false
  /** How often it has answered somebody. */
  let answers = 0
  /** What proves that it is back, where an answer alone does not. */
  let returning: (() => Promise<void>) | undefined

  function tell(message: string, error: unknown): void {
    if (isTold || end.signal.aborted) return
    isTold = true
    log('error', message, { error: wordsOf(error) })
  }

  function back(): void {
    isAway = false
    returning = undefined
    if (!isTold) return
    isTold = false
    log('warn', 'The object store answers again', {})
  }

  function lose(error: unknown): void {
    tell(AWAY, error)
    isAway = true
    for (const listener of [...listeners]) listener()
  }

  /** Asks until it answers. */
  async function askOn(): Promise<void> {
    for (let nap = SOON; ; nap = Math.min(2 * nap, SELDOM)) {
      await wait(nap, end.signal)
      if (!isAway) return
      const proof = returning
      const outcome = await outcomeOf(proof ?? probe)
      if (end.signal.aborted) return
      // Whoever has lost it meanwhile wants another proof.
      if (outcome === undefined && proof === returning) return back()
    }
  }

  function startAsking(): void {
    isAsking = true
    askOn()
      .catch(() => undefined)
      .finally(() => {
        isAsking = false
      })
  }

  function suspect(): void {
    if (isAsking || isAway || end.signal.aborted) return
    isAsking = true
    const before = answers
    outcomeOf(probe).then(failure => {
      isAsking = false
      if (end.signal.aborted) return
      // Whoever was answered meanwhile knows better.
      if (failure !== undefined && answers === before) lose(failure.error)
      // Somebody else may have lost it, and found that it was being asked.
      if (isAway) startAsking()
    })
  }

  async function look(): Promise<void> {
    for (;;) {
      await wait(IDLE, end.signal)
      if (!isHeard) suspect()
      isHeard = false
    }
  }

  return {
    get isAway() {
      return isAway
    },
    requireThere() {
      if (isAway) throw new StoreError('busy', AWAY)
    },
    suspect,
    failed: tell,
    answered() {
      isHeard = true
      answers++
      if (returning === undefined) back()
    },
    loseUntil(work) {
      returning = work
      isTold = true
      isAway = true
      if (!isAsking) startAsking()
    },
    watch() {
      look().catch(() => undefined)
    },
    onAway(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      end.abort()
    },
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return sleep(milliseconds, undefined, { signal, ref: false })
}

/** @returns why some work failed */
function outcomeOf(work: () => Promise<void>): Promise<{ error: unknown } | undefined> {
  return work().then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
}
