/**
 * The workers of one server, and who gets them when: sites in turns, each its batches in the order in which they came. Workers are
 * started when there is work for them; one that is ready waits for the case that another has to be ended.
 */

import type { Limits } from './interface.ts'
import type { Order, Report } from './messages.ts'
import { type Answers, type Failed, type Lost, Thread } from './thread.ts'

/** Milliseconds without work after which the workers are ended and give their memory back. */
const IDLE = 60_000

/** Milliseconds of processor time from which on a batch is long, and for which its site is known for it. */
const LONG = 100
const HEAVY = 10_000

/** Batches of one site that may wait. */
const MOST_WAITING = 1_000

/** Bytes of documents that a worker keeps parsed; the rest of its heap (`thread.ts`) is for the next one and for programs. */
const KEPT = 128 * 1024 * 1024

export interface Batch {
  site: string
  /** Milliseconds that it may wait for a worker. */
  patience: number
  /** Evaluations in it. */
  size: number
  /** Made when a worker is found, so that it says what that worker does not know yet. */
  order(knows: (version: string) => boolean): Order
  answers(thread: Thread): Answers
}

interface Waiting {
  batch: Batch
  /** Nobody: the pool is closed. */
  start: (thread?: Thread) => void
  timer: NodeJS.Timeout
}

export class Pool {
  readonly #limits: Limits
  readonly #failed: Failed
  readonly #most: number
  readonly #free: Thread[] = []
  /** Workers at work, with the site that each works for. */
  readonly #busy = new Map<Thread, string>()
  /** Batches that wait, by site; the site whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiting[]>()
  /** Sites whose programs have lately run long, and until when that counts. */
  readonly #heavy = new Map<string, number>()
  #idle: NodeJS.Timeout | undefined
  #isClosed = false
  kills = 0

  /** @param failed takes why a worker has not started */
  constructor(limits: Limits, workers: number, failed: Failed) {
    this.#limits = limits
    this.#failed = failed
    this.#most = Math.max(1, workers)
  }

  get workers(): number {
    return this.#free.length + this.#busy.size
  }

  get busy(): number {
    return this.#busy.size
  }

  /** Bytes that the workers take. */
  get memory(): number {
    let bytes = 0
    for (const thread of this.#free) bytes += thread.memory
    for (const thread of this.#busy.keys()) bytes += thread.memory
    return bytes
  }

  get queue(): number {
    let queue = 0
    for (const each of this.#waiting.values()) for (const { batch } of each) queue += batch.size
    return queue
  }

  /** Does a batch. @returns its reports, or why there are none */
  async run(batch: Batch): Promise<Report[] | Lost> {
    const thread = await this.#thread(batch)
    if (!thread) return this.#isClosed ? 'closed' : 'killed'
    const reports = await this.#give(batch, thread)
    if (reports !== 'idle' || this.#isClosed) return this.#took(thread, reports)
    // Nothing was executed, so another worker may do it, which is new: whatever ends that one is a matter of this batch.
    this.#busy.delete(thread)
    const another = this.#start(batch.site)
    const again = await this.#give(batch, another)
    return this.#took(another, again === 'idle' ? 'killed' : again)
  }

  #give(batch: Batch, thread: Thread): Promise<Report[] | Lost> {
    const order = batch.order(version => thread.versions.has(version))
    order.forget = remember(thread, order)
    return thread.run(order, batch.answers(thread))
  }

  #took(thread: Thread, reports: Report[] | Lost): Report[] | Lost {
    const site = this.#busy.get(thread)
    const isLong = typeof reports === 'string' || reports.reduce((sum, each) => sum + each.milliseconds, 0) > LONG
    if (site !== undefined && isLong) this.#heavy.set(site, performance.now() + HEAVY)
    this.#busy.delete(thread)
    if (thread.isLost) this.#replace(typeof reports === 'string' ? reports : 'killed')
    else this.#free.push(thread)
    this.#next()
    return reports
  }

  /** A worker that is free now or as soon as it is this batch's turn; undefined when that takes too long. */
  #thread(batch: Batch): Promise<Thread | undefined> {
    if (this.#isClosed) return Promise.resolve(undefined)
    clearTimeout(this.#idle)
    if (!this.#waiting.has(batch.site) && this.#mayWork(batch.site)) return Promise.resolve(this.#begin(batch.site))
    const line = this.#waiting.get(batch.site) ?? []
    if (line.length >= MOST_WAITING) return Promise.resolve(undefined)
    this.#waiting.set(batch.site, line)
    return new Promise(resolve => {
      const timer = setTimeout(() => {
        this.#leave(batch.site, waiting)
        resolve(undefined)
      }, batch.patience)
      const waiting: Waiting = {
        batch,
        timer,
        start: thread => {
          clearTimeout(timer)
          resolve(thread)
        },
      }
      line.push(waiting)
    })
  }

  #leave(site: string, waiting: Waiting): void {
    const rest = (this.#waiting.get(site) ?? []).filter(each => each !== waiting)
    if (rest.length > 0) this.#waiting.set(site, rest)
    else this.#waiting.delete(site)
  }

  /**
   * Whether a site gets a worker. One for which nobody works yet may have one more than there are otherwise: other sites that
   * hold all of them, perhaps with programs that never end, do not keep it waiting. That one is for programs that are short.
   */
  #mayWork(site: string): boolean {
    if (this.#busy.size < this.#most) return true
    if (this.#busy.size > this.#most || this.#isHeavy(site)) return false
    return ![...this.#busy.values()].includes(site)
  }

  #isHeavy(site: string): boolean {
    const until = this.#heavy.get(site) ?? 0
    if (until > performance.now()) return true
    this.#heavy.delete(site)
    return false
  }

  /** Of the sites that wait, the first that gets a worker now. */
  #nextSite(): string | undefined {
    for (const site of this.#waiting.keys()) if (this.#mayWork(site)) return site
    return undefined
  }

  #begin(site: string): Thread {
    const thread = this.#start(site, this.#free.pop())
    // The one that is kept ready for another site, or for the case that this one has to be ended.
    if (this.#free.length === 0 && this.#busy.size === this.#most)
      this.#free.push(new Thread(this.#limits, this.#failed))
    return thread
  }

  #start(site: string, thread = new Thread(this.#limits, this.#failed)): Thread {
    this.#busy.set(thread, site)
    return thread
  }

  /** Gives the next sites their turns. */
  #next(): void {
    for (let site = this.#nextSite(); site !== undefined; site = this.#nextSite()) {
      const line = this.#waiting.get(site) ?? []
      const waiting = line.shift()
      // Behind all others, if it has more.
      this.#waiting.delete(site)
      if (line.length > 0) this.#waiting.set(site, line)
      waiting?.start(this.#begin(site))
    }
    if (this.#busy.size > 0 || this.#isClosed) return
    this.#idle = setTimeout(() => void this.#rest(), IDLE)
    this.#idle.unref()
  }

  /** A worker had to be ended: the one that takes its place is started before it is needed. */
  #replace(lost: Lost): void {
    if (lost !== 'closed') this.kills++
    if (!this.#isClosed && this.#free.length === 0) this.#free.push(new Thread(this.#limits, this.#failed))
  }

  async #rest(): Promise<void> {
    this.#heavy.clear()
    await Promise.all(this.#free.splice(0).map(thread => thread.end('closed')))
  }

  /** Ends all workers; what they were doing is lost. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#idle)
    for (const line of this.#waiting.values()) for (const { start } of line) start()
    this.#waiting.clear()
    const threads = [...this.#free.splice(0), ...this.#busy.keys()]
    await Promise.all(threads.map(thread => thread.end('closed')))
  }
}

/** Notes what the worker will know. @returns versions that it may forget for it */
function remember(thread: Thread, { jobs }: Order): string[] {
  const { versions } = thread
  for (const { view } of jobs) {
    if (!view || 'tree' in view) continue
    versions.delete(view.version)
    versions.set(view.version, view.bytes)
  }
  const forgotten: string[] = []
  let kept = 0
  for (const [version, size] of [...versions].reverse()) {
    kept += size
    const isNeeded = jobs.some(({ view }) => view && !('tree' in view) && view.version === version)
    if (kept <= KEPT || isNeeded) continue
    versions.delete(version)
    forgotten.push(version)
  }
  return forgotten
}
