/** One worker thread, as the request thread sees it: it does one batch at a time. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
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
  steadyNow,
  type WorkerSetup,
} from './messages.ts'

/** Milliseconds beyond its limit after which an evaluation that has not ended is ended with its worker. */
const GRACE = 250

/** Looks at a thread that does not start before it is given up. */
const MOST_LOOKS = 20

/** Looks at an evaluation that lasts, and has not taken its time yet as far as its thread says, before it is ended. */
const MOST_PATIENCE = 8

const ENGINE = '@jitl/quickjs-wasmfile-release-sync/wasm'
let compiled: WebAssembly.Module | undefined

/**
 * Compiled once and kept: V8 lets go of it with the last thread, and of what it has optimised, which is a third of the processor
 * time that the next one takes to start.
 */
const engine = () => (compiled ??= new WebAssembly.Module(readFileSync(createRequire(import.meta.url).resolve(ENGINE))))

/** Megabytes of the worker's own heap: parsed documents, and nodes that programs build. */
const HEAP = 384

/** Why a worker did not report. `idle`: it has ended before it began any of it, as one can that has waited for work. */
export type Lost = 'killed' | 'out-of-memory' | 'closed' | 'idle'

/** Takes why a worker has not started. */
export type Failed = (error: Error) => void

/** Who answers what a script asks while it waits. */
export interface Answers {
  answer(question: RealmQuestion, depth: number, job: number): Promise<RealmAnswer>
  /** Takes the report of a job that was an answer. */
  ran(report: Report, depth: number): void
  /** Told before anything else, where the batch has waited for the thread to start: for how many milliseconds. */
  started(waited: number): void
}

/** A batch that a worker does. */
interface Task {
  done: (reports: Report[] | Lost) => void
  answers: Answers
  /** By `steadyNow`, of when the worker got it. */
  given: number
  timer: NodeJS.Timeout
}

export class Thread {
  readonly #worker: Worker
  readonly #limits: Limits
  readonly #control = new SharedArrayBuffer(CONTROL.bytes)
  readonly #answers = new MessageChannel()
  #task: Task | undefined
  #lost: Lost | undefined
  /** Versions of documents that the worker has parsed, with the bytes that they take. */
  readonly versions = new Map<string, number>()
  readonly #failed: Failed
  #hasSpoken = false

  constructor(limits: Limits, failed: Failed) {
    this.#limits = limits
    this.#failed = failed
    const answers = this.#answers.port2
    const setup: WorkerSetup = { compiled: engine(), limits, answers, control: this.#control }
    this.#worker = startThread(new URL('./worker/main.ts', import.meta.url), {
      name: 'javascript',
      workerData: setup,
      transferList: [answers],
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
    this.#worker.on('error', error =>
      this.#ended(error, 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'out-of-memory' : 'killed'),
    )
    this.#worker.on('exit', code => this.#ended(new Error(`The worker has ended with ${code}.`), 'killed'))
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
      this.#task = { done, answers, given: steadyNow(), timer: this.#watch() }
      this.#worker.postMessage(order)
    })
  }

  get #began(): number {
    return new Float64Array(this.#control)[CONTROL.began] ?? 0
  }

  /** Looks after a while whether the evaluation that runs now should have ended. */
  #watch(after = this.#limits.time + GRACE, looks = 0): NodeJS.Timeout {
    return setTimeout(() => {
      if (this.#task) void this.#look(this.#task, looks)
    }, after)
  }

  async #look(task: Task, looks: number): Promise<void> {
    const limit = this.#limits.time + GRACE
    const began = this.#began
    // A thread that is still starting has begun nothing; that may take long on a machine with much else to do.
    if (began === 0 && looks > MOST_LOOKS) {
      this.#unstarted(new Error(`The worker has not begun after ${looks * limit} ms.`))
      return this.end('killed')
    }
    const passed = began === 0 ? 0 : steadyNow() - began
    if (passed < limit) {
      task.timer = this.#watch(limit - passed, began === 0 ? looks + 1 : 0)
      return
    }
    // So may anything that the thread does: what counts is what it has taken of a processor.
    const taken = await this.#taken()
    if (task !== this.#task) return
    const left = began === this.#began ? limit - (taken ?? 0) : limit
    if (left <= 0 || looks >= MOST_PATIENCE) return this.end('killed')
    task.timer = this.#watch(taken === undefined ? GRACE : left, looks + 1)
  }

  /**
   * Milliseconds of processor time that the evaluation has taken; undefined where its thread does not say so in time, as
   * one that waits for an answer, or for a processor.
   */
  async #taken(): Promise<number | undefined> {
    const timer = Promise.withResolvers<undefined>()
    const timeout = setTimeout(() => timer.resolve(undefined), GRACE)
    const usage = await Promise.race([this.#worker.cpuUsage().catch(() => undefined), timer.promise])
    clearTimeout(timeout)
    return usage && (usage.user + usage.system) / 1000 - (new Float64Array(this.#control)[CONTROL.taken] ?? 0)
  }

  /** Tells of a worker that was lost before it did anything: no script is to blame for it. */
  #unstarted(error: Error): void {
    if (!this.#lost && !this.#hasSpoken && this.#began === 0) this.#failed(error)
  }

  #hear(news: News): void {
    const isFirst = !this.#hasSpoken
    this.#hasSpoken = true
    const task = this.#task
    if (!task) return
    const waited = (new Float64Array(this.#control)[CONTROL.started] ?? 0) - task.given
    if (isFirst && waited > 0) task.answers.started(waited)
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

  /** Takes note of a thread that has ended by itself. */
  #ended(error: Error, lost: Lost): void {
    this.#unstarted(error)
    this.#end(this.#task && this.#began > 0 ? lost : 'idle')
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
