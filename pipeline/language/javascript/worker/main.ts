/** A worker thread: takes batches, evaluates them one after the other, and reports. */

import { readFileSync } from 'node:fs'
import { getHeapStatistics } from 'node:v8'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { parseDocument } from '../../../tree/document.ts'
import type { DocumentNode } from '../../../tree/nodes.ts'
import {
  CONTROL,
  type News,
  type Order,
  type RealmAnswer,
  type RealmQuestion,
  type Report,
  type SentJob,
  steadyNow,
  type WorkerSetup,
} from '../messages.ts'
import { threadTime } from './budget.ts'
import type { Arguments, Engine, Host } from './engine.ts'
import { startEngine } from './engine.ts'
import { evaluate, type Worker } from './evaluation.ts'
import { setup } from './operations.ts'

if (!parentPort) throw new Error('This is a worker thread.')
const port = parentPort
const { compiled, limits, answers, control } = workerData as WorkerSetup
const signal = new Int32Array(control)
const figures = new Float64Array(control)

const realmFile = (name: string) => readFileSync(new URL(`../realm/${name}.js`, import.meta.url), 'utf8')

/** Serves the realm its own modules while it starts. */
const preparing: Host = {
  call: (operation, _values: Arguments) => (operation === 0 ? setup(limits) : undefined),
  interrupts: () => false,
  exhausted: () => undefined,
  resolve: (name, importer) => (importer.startsWith('realm:') ? `realm:${name.slice(2, -3)}` : undefined),
  source: name => realmFile(name.slice('realm:'.length)),
}

const newEngine = () => startEngine(compiled, limits, realmFile('main'), preparing)

let engine: Engine = await newEngine()

/** Methods that call each other; what waits is kept aside. */
const MOST_DEPTH = 8

/**
 * Documents by version: all that this thread was told and not told to forget. Their sources come once, with whatever program
 * is the first, so they are noted when they come; they are parsed for the first program that looks at them.
 */
const documents = new Map<string, { source: string } | { root: DocumentNode }>()

function note({ view }: SentJob): void {
  if (view && 'version' in view && view.source !== undefined) documents.set(view.version, { source: view.source })
}

function documentOf({ kind, version, source }: Parameters<Worker['documentOf']>[0]): DocumentNode {
  const noted = documents.get(version)
  if (noted && 'root' in noted) return noted.root
  const text = noted?.source ?? source
  if (text === undefined) throw new Error('A document that was never sent is asked for.')
  const { root } = parseDocument(kind, text)
  if (noted) documents.set(version, { root })
  return root
}

function say(news: News): void {
  port.postMessage(news)
}

/** Waits for a message of the request thread; this thread has nothing else to do. */
function wait(): RealmAnswer {
  for (;;) {
    const seen = Atomics.load(signal, CONTROL.signal)
    const received = receiveMessageOnPort(answers)
    if (received) return received.message as RealmAnswer
    Atomics.wait(signal, CONTROL.signal, seen)
  }
}

function ask(question: RealmQuestion, depth: number, job: number): ReturnType<Worker['ask']> {
  say({ question, depth, job })
  for (;;) {
    const answer = wait()
    if (!('run' in answer)) return answer
    const job = answer.run
    say({ ran: engine.meanwhile(() => run(job, depth + 1, 0)), depth: depth + 1 })
  }
}

function run(job: SentJob, depth: number, place: number): Report {
  if (depth > MOST_DEPTH) return tooDeep()
  return evaluate(job, { engine, limits, documentOf, ask: question => ask(question, depth, place) })
}

function tooDeep(): Report {
  const message = `Methods call each other more than ${MOST_DEPTH} levels deep.`
  const failure = { variant: 'threw' as const, message }
  return { result: { failure }, trees: [], lines: [], fleeting: false, atLimit: true, steps: 0, milliseconds: 0 }
}

/** Notes what this thread takes: its own heap with what hangs on it, and that of the engine. */
function weigh(): void {
  const { total_heap_size: heap, external_memory: external } = getHeapStatistics()
  figures[CONTROL.memory] = heap + external + engine.bytes
}

async function work({ jobs, forget }: Order): Promise<void> {
  for (const version of forget) documents.delete(version)
  for (const job of jobs) note(job)
  const reports: Report[] = []
  let [steps, time] = [0, 0]
  for (const [i, job] of jobs.entries()) {
    figures[CONTROL.taken] = threadTime()
    figures[CONTROL.began] = steadyNow()
    // All draw on one allowance, whose state at the beginning is all that this thread knows.
    const left = { steps: Math.max(0, job.steps - steps), time: Math.max(0, job.time - time) }
    const report = run({ ...job, ...left }, 0, i)
    reports.push(report)
    steps += report.steps
    time += report.milliseconds
    // An engine that is broken, or has grown, is given up with its memory.
    if (!engine.isSound) engine = await newEngine()
  }
  weigh()
  say({ reports })
}

weigh()
figures[CONTROL.started] = steadyNow()
port.on('message', (order: Order) => void work(order))
