/** Ends a run of tests that hangs, and says where: in code that never returns, or by what is left open after the last test. */

import { writeSync } from 'node:fs'
import { Session } from 'node:inspector'
import { threadId, Worker, workerData } from 'node:worker_threads'

/** Milliseconds without news from the runner: longer than any test may take, but for those that look for as long as asked. */
const SILENCE = process.env.FUZZ ? Number.POSITIVE_INFINITY : 400_000
/** Milliseconds that the process may live on after its last test. */
const AFTERWARDS = 60_000
/** Milliseconds between two looks, and for the answer to a question. */
const LOOK = 5_000

export interface HangWatch {
  /** Something new has begun. */
  begins(what: string): void
  /** The process ends by itself from here on. */
  over(): void
}

/** Bytes of what has begun that the watch can tell. */
const ROOM = 1024
/** What the numbers before them say: how often something has begun, how many of the bytes tell of the last, and whether all is over. */
const [BEGUN, TOLD, OVER] = [0, 1, 2]
const NUMBERS = 3 * Int32Array.BYTES_PER_ELEMENT

/** @param limits milliseconds, for trying it out */
export function watchForHangs(limits: { silence?: number; afterwards?: number } = {}): HangWatch {
  // A message for each of 50,000 tests and hooks would wake the thread as often.
  const news = new SharedArrayBuffer(NUMBERS + ROOM)
  const [numbers, bytes] = [new Int32Array(news, 0, 3), Buffer.from(news, NUMBERS)]
  const thread = new Worker(new URL(import.meta.url), { name: 'hang watch', workerData: { watch: limits, news } })
  thread.unref()
  const begins = (what: string) => {
    numbers[TOLD] = bytes.write(what)
    Atomics.add(numbers, BEGUN, 1)
  }
  watch = {
    begins,
    over() {
      numbers[OVER] = 1
      begins('the end of the process')
    },
  }
  return watch
}

/** The one that was begun last in this process. */
let watch: HangWatch | undefined

/** For a test that runs others in a process of their own: one of those has ended. */
export function goesOn(what: string): void {
  watch?.begins(what)
}

function keepWatch(news: SharedArrayBuffer, { silence = SILENCE, afterwards = AFTERWARDS }): void {
  const numbers = new Int32Array(news, 0, 3)
  let begun = 0
  let since = performance.now()
  setInterval(
    async () => {
      const now = Atomics.load(numbers, BEGUN)
      if (now !== begun) {
        begun = now
        since = performance.now()
      }
      if (performance.now() - since < (numbers[OVER] ? afterwards : silence)) return
      since = Number.POSITIVE_INFINITY
      const what = begun === 0 ? 'the first test' : Buffer.from(news, NUMBERS, numbers[TOLD]).toString()
      // What this thread prints, and its way to end the process, would go through the thread that hangs.
      writeSync(2, `\nThe tests hang: ${what}\n${await whereabouts()}\n`)
      process.kill(process.pid, 'SIGKILL')
    },
    Math.min(LOOK, silence, afterwards),
  )
}

/** As the inspector tells it; lines are counted from 0. */
interface Frame {
  functionName: string
  location: { scriptId: string; lineNumber: number }
}

/** What the main thread runs, and what it waits for. */
async function whereabouts(): Promise<string> {
  const session = new Session()
  session.connectToMainThread()
  const running = new Promise<string>(resolve => {
    const scripts = new Map<string, string>()
    session.on('Debugger.scriptParsed', ({ params }: { params: { scriptId: string; url: string } }) => {
      scripts.set(params.scriptId, params.url)
    })
    session.on('Debugger.paused', ({ params }: { params: { callFrames: Frame[] } }) => {
      const lines = params.callFrames.map(
        ({ functionName, location }) => `${functionName} ${scripts.get(location.scriptId)}:${location.lineNumber + 1}`,
      )
      resolve(`It runs:\n  ${lines.join('\n  ')}`)
    })
    session.post('Debugger.enable', () => session.post('Debugger.pause'))
    setTimeout(resolve, LOOK, 'It runs nothing.')
  })
  const waiting = new Promise<string>(resolve => {
    const expression = 'process.getActiveResourcesInfo().join(" ")'
    session.post('Runtime.evaluate', { expression }, (_error, answer) => {
      const { value = '' } = (answer as { result: { value?: string } } | undefined)?.result ?? {}
      resolve(`It waits for: ${value}`)
    })
    setTimeout(resolve, LOOK, 'It does not say what it waits for.')
  })
  return (await Promise.all([waiting, running])).join('\n')
}

if (threadId !== 0 && workerData?.watch) keepWatch(workerData.news, workerData.watch)
