/**
 * The watchdog of several processes: the one that watches over the others asks each whether it still has turns. One that never
 * comes to an answer serves nobody, and holds up whoever the system connects to it: it is ended, and replaced.
 */

import type { Log } from './log.ts'

/** Milliseconds between two questions. */
const PAUSE = 10_000

/** Questions without an answer. They are counted, not timed: where the machine stands still, nobody is asked. */
const PATIENCE = 6

const QUESTION = { hasTurns: '?' }
const ANSWER = { hasTurns: 'yes' }

function says(message: unknown, what: typeof QUESTION): boolean {
  return typeof message === 'object' && message !== null && 'hasTurns' in message && message.hasTurns === what.hasTurns
}

/** What a worker is to its watchdog. */
interface Watched {
  readonly process: { readonly pid?: number | undefined; kill(signal: 'SIGKILL'): unknown }
  send(question: object, sent: () => void): unknown
  on(event: 'message' | 'exit', listener: (message: unknown) => void): unknown
}

/** Calls again and again. @returns stops it */
type Repeat = (ask: () => void) => () => void

const everyPause: Repeat = ask => {
  const timer = setInterval(ask, PAUSE)
  return () => clearInterval(timer)
}

/**
 * Ends a worker that answers no questions any more. One that hangs would not take a signal that asks it to end.
 *
 * @param worker one that serves requests
 */
export function watch(worker: Watched, log: Pick<Log, 'error'>, repeat: Repeat = everyPause): void {
  let unanswered = 0
  worker.on('message', (message: unknown) => {
    if (says(message, ANSWER)) unanswered = 0
  })
  const stop = repeat(() => {
    if (unanswered < PATIENCE) {
      unanswered++
      // What is on its way to one that ends is lost.
      worker.send(QUESTION, () => undefined)
      return
    }
    stop()
    log.error({ pid: worker.process.pid }, 'a process of the server answers nothing any more; ending it')
    worker.process.kill('SIGKILL')
  })
  worker.on('exit', stop)
}

/** The part of a worker. */
export function answerWatchdog(): void {
  process.on('message', (message: unknown) => {
    if (says(message, QUESTION)) process.send?.(ANSWER)
  })
}
