/** One worker thread, as the request thread sees it: it does one batch at a time. */

import { MessageChannel, type Worker } from 'node:worker_threads'
import { startThread } from '../../thread.ts'
import type { Limits } from './interface.ts'
import {
  CONTROL,
  type News,
  type Order,
  type RealmAnswer,
  type RealmQuestion,
  type Report,
  type WorkerSetup,
} from './messages.ts'

/** Milliseconds beyond its limit after which an evaluation that has not ended is ended with its worker. */
const GRACE = 250

/** Looks at a thread that does not start before it is given up. */
const MOST_LOOKS = 20

/** Megabytes of the worker's own heap: parsed documents, and nodes that programs build. */
const HEAP = 384

/** Why a worker did not report. */
export type Lost = 'killed' | 'out-of-memory' | 'closed'

/** Takes why a worker has not started. */
export type Failed = (error: Error) => void

/** Who answers what a script asks while it waits. */
export interface Answers {
  answer(question: RealmQuestion, depth: number, job: number): Promise<RealmAnswer>
  /** Takes the report of a job that was an answer. */
  ran(report: Report, depth: number): void
}

export class Thread {
  readonly #worker: Worker
  readonly #limits: Limits
  readonly #control = new SharedArrayBuffer(CONTROL.bytes)
  readonly #answers = new MessageChannel()
  #task: { done: (reports: Report[] | Lost) => void; answers: Answers; timer: NodeJS.Timeout } | undefined
  #lost: Lost | undefined
  /** Versions of documents that the worker has parsed, with characters of their sources. */
  readonly versions = new Map<string, number>()
  readonly #failed: Failed
  #hasSpoken = false

  constructor(limits: Limits, failed: Failed) {
    this.#limits = limits
    this.#failed = failed
    const setup: WorkerSetup = { limits, answers: this.#answers.port2, control: this.#control }
    this.#worker = startThread(new URL('./worker/main.ts', import.meta.url), {
      name: 'javascript',
      workerData: setup,
      transferList: [this.#answers.port2],
      // Nothing of the process is for a thread that runs strangers' code next door.
      env: {},
      argv: [],
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: HEAP, stackSizeMb: 8 },
    })
    this.#answers.port1.unref()
    this.#worker.on('message', (news: News) => this.#hear(news))
    this.#worker.on('error', error => {
      this.#unstarted(error)
      this.#end('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'out-of-memory' : 'killed')
    })
    this.#worker.on('exit', code => {
      this.#unstarted(new Error(`The worker has ended with ${code}.`))
      this.#end('killed')
    })
    this.#worker.unref()
  }

  /** Bytes of its heaps when it last had nothing to do; 0 before it has started. */
  get memory(): number {
    return new Float64Array(this.#control)[CONTROL.memory] ?? 0
  }

  get isLost(): boolean {
    return this.#lost !== undefined
  }

  /** Does a batch. @returns the reports, or why there are none */
  run(order: Order, answers: Answers): Promise<Report[] | Lost> {
    if (this.#lost) return Promise.resolve(this.#lost)
    return new Promise(done => {
      new Float64Array(this.#control)[CONTROL.began] = 0
      this.#worker.ref()
      this.#task = { done, answers, timer: this.#watch() }
      this.#worker.postMessage(order)
    })
  }

  /** Looks after a while whether the evaluation that runs now should have ended. */
  #watch(after = this.#limits.time + GRACE, looks = 0): NodeJS.Timeout {
    return setTimeout(() => {
      if (!this.#task) return
      const began = new Float64Array(this.#control)[CONTROL.began] ?? 0
      const limit = this.#limits.time + GRACE
      // A thread that is still starting has begun nothing; that may take long on a machine with much else to do.
      const left = began === 0 ? limit : began + limit - Date.now()
      if (left <= 0 || looks > MOST_LOOKS) {
        if (began === 0) this.#unstarted(new Error(`The worker has not begun after ${looks * limit} ms.`))
        void this.end('killed')
      } else this.#task.timer = this.#watch(left, began === 0 ? looks + 1 : 0)
    }, after)
  }

  /** Tells of a worker that was lost before it did anything: no script is to blame for it. */
  #unstarted(error: Error): void {
    const began = new Float64Array(this.#control)[CONTROL.began] ?? 0
    if (!this.#lost && !this.#hasSpoken && began === 0) this.#failed(error)
  }

  #hear(news: News): void {
    this.#hasSpoken = true
    const task = this.#task
    if (!task) return
    if ('reports' in news) this.#finish(news.reports)
    else if ('ran' in news) task.answers.ran(news.ran, news.depth)
    else {
      void task.answers.answer(news.question, news.depth, news.job).then(answer => {
        if (task === this.#task) this.tell(answer)
      })
    }
  }

  /** Wakes the worker, which waits for this. */
  tell(answer: RealmAnswer): void {
    this.#answers.port1.postMessage(answer)
    const signal = new Int32Array(this.#control)
    Atomics.add(signal, CONTROL.signal, 1)
    Atomics.notify(signal, CONTROL.signal)
  }

  #finish(outcome: Report[] | Lost): void {
    const task = this.#task
    if (!task) return
    this.#task = undefined
    clearTimeout(task.timer)
    this.#worker.unref()
    task.done(outcome)
  }

  #end(lost: Lost): void {
    this.#lost ??= lost
    this.#finish(this.#lost)
  }

  /** Ends the thread whatever it does. */
  async end(why: Lost): Promise<void> {
    this.#end(why)
    await this.#worker.terminate()
    this.#answers.port1.close()
  }
}
