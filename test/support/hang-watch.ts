/** Ends a run of tests that hangs, and says where: in code that never returns, or by what is left open after the last test. */

import { writeSync } from 'node:fs'
import { Session } from 'node:inspector'
import { type MessagePort, parentPort, threadId, Worker, workerData } from 'node:worker_threads'

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

/** @param limits milliseconds, for trying it out */
export function watchForHangs(limits: { silence?: number; afterwards?: number } = {}): HangWatch {
  const thread = new Worker(new URL(import.meta.url), { name: 'hang watch', workerData: { watch: limits } })
  thread.unref()
  watch = {
    begins: what => thread.postMessage({ what }),
    over: () => thread.postMessage({ what: 'the end of the process', afterwards: true }),
  }
  return watch
}

/** The one that was begun last in this process. */
let watch: HangWatch | undefined

/** For a test that runs others in a process of their own: one of those has ended. */
export function goesOn(what: string): void {
  watch?.begins(what)
}

interface News {
  what: string
  afterwards?: boolean
}

function keepWatch(port: MessagePort, { silence = SILENCE, afterwards = AFTERWARDS }): void {
  let last: News = { what: 'the first test' }
  let since = performance.now()
  port.on('message', (news: News) => {
    last = news
    since = performance.now()
  })
  setInterval(
    async () => {
      if (performance.now() - since < (last.afterwards ? afterwards : silence)) return
      since = Number.POSITIVE_INFINITY
      // What this thread prints, and its way to end the process, would go through the thread that hangs.
      writeSync(2, `\nThe tests hang: ${last.what}\n${await whereabouts()}\n`)
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

if (threadId !== 0 && parentPort !== null && workerData?.watch) keepWatch(parentPort, workerData.watch)
