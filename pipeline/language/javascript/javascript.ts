/**
 * Server-side JavaScript: programs of site authors, run by QuickJS (WebAssembly) in worker threads, with nothing of this process
 * within their reach (JS-34, JS-37, JS-38).
 */

import { availableParallelism } from 'node:os'
import type { CodeFailure } from '../../fault.ts'
import { inTurns } from '../../tree/steps.ts'
import { treeBytes } from '../../tree/weight.ts'
import { type Allowance, AllowanceSpent } from '../allowance.ts'
import { isList, LazyDictionary, type Value } from '../values.ts'
import { decode, elementFrom, type Parts, receive, type Source } from './decode.ts'
import { Sender, Unsendable } from './encode.ts'
import type { GivenTree } from './given.ts'
import {
  type Counters,
  DEFAULT_LIMITS,
  type Evaluate,
  FailedElsewhere,
  type Instance,
  type JavaScript,
  type JavaScriptOptions,
  type Limits,
  type MethodCall,
  type ScriptJob,
  type ScriptOutcome,
  type ScriptResult,
  type ThrownResponse,
} from './interface.ts'
import type { RealmAnswer, RealmQuestion, Report, SentJob, SentView } from './messages.ts'
import { Pool } from './pool.ts'
import type { Answers, Lost, Thread } from './thread.ts'

export * from './interface.ts'

/** One job on its way. */
interface Sending {
  job: ScriptJob
  sender: Sender
  allowance: Allowance
  /** Elements that it has handed over. */
  given: GivenTree[]
}

/**
 * Makes the language ready; no worker is started before it is needed.
 *
 * @returns what hosts evaluate with
 */
export function createJavaScript(options: JavaScriptOptions = {}): JavaScript {
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits }
  const pool = new Pool(limits, options.workers ?? availableParallelism(), error => options.failed?.(error))
  const figures = { evaluations: 0, failures: 0, time: 0 }

  const batch = async (jobs: readonly ScriptJob[], allowance: Allowance): Promise<ScriptOutcome[]> => {
    const prepared = jobs.map(job => prepare(job, allowance))
    const sendings = prepared.flatMap(each => ('job' in each ? [each] : []))
    const outcomes = sendings.length > 0 ? await send(sendings, allowance) : []
    return prepared.map(each => ('failure' in each ? each : (outcomes.shift() ?? stopped(each.job, 'timeout'))))
  }

  const send = async (
    sendings: readonly (Sending & { sent: Prepared })[],
    allowance: Allowance,
  ): Promise<ScriptOutcome[]> => {
    const [first] = sendings
    if (!first || allowance.timeLeft === 0) return sendings.map(({ job }) => stopped(job, 'timeout'))
    let elsewhere: FailedElsewhere | undefined
    const reports = await pool.run({
      site: first.job.site,
      size: sendings.length,
      patience: allowance.timeLeft,
      order: knows => {
        const told = new Set<string>()
        return {
          jobs: sendings.map(({ sent }) =>
            finished(sent, allowance, version => knows(version) || told.has(version), told),
          ),
          forget: [],
        }
      },
      answers: thread =>
        answersOf(sendings, thread, allowance, error => {
          elsewhere ??= error
        }),
    })
    options.grown?.()
    if (elsewhere) throw elsewhere.cause
    if (typeof reports === 'string') return sendings.map(({ job }) => lost(job, reports))
    const outcomes: ScriptOutcome[] = []
    for (const [i, sending] of sendings.entries()) {
      const report = reports[i]
      outcomes.push(report ? await received(report, sending, evaluate) : stopped(sending.job, 'timeout'))
    }
    return outcomes
  }

  /**
   * Answers the questions of the scripts of one batch, those of methods that they call included.
   *
   * @param whole what the batch may spend
   * @param failed is told of what has gone wrong elsewhere
   */
  const answersOf = (
    sendings: readonly Sending[],
    thread: Thread,
    whole: Allowance,
    failed: (error: FailedElsewhere) => void,
  ): Answers => {
    /** Who waits at each depth: a job of the batch, then the methods that it calls. */
    const inner: Sending[] = []
    const waiting: ((report: Report) => void)[] = []
    return {
      answer: async (question: RealmQuestion, depth: number, number: number): Promise<RealmAnswer> => {
        const sending = depth === 0 ? sendings[number] : inner[depth]
        if (!sending) return { error: 'Nobody asks.' }
        const evaluateInner = async (job: ScriptJob, allowance: Allowance): Promise<ScriptOutcome> => {
          const each = prepare(job, allowance)
          if ('failure' in each) return each
          inner[depth + 1] = each
          const report = await new Promise<Report>(ran => {
            waiting[depth + 1] = ran
            thread.tell({ run: finished(each.sent, allowance, () => false, new Set()) })
          })
          return received(report, each, evaluateInner)
        }
        try {
          return await answered(question, sending, evaluateInner)
        } catch (error) {
          if (error instanceof FailedElsewhere) failed(error)
          // What a method or a schema says is for the script; what went wrong elsewhere is not.
          const isTold = question.want === 'call' || error instanceof Unsendable
          return { error: isTold && error instanceof Error ? error.message : 'The answer failed.' }
        }
      },
      ran: (report: Report, depth: number) => waiting[depth]?.(report),
      // No script is to blame for it.
      started: (waited: number) => whole.defer(waited),
    }
  }

  const evaluate: Evaluate = async (job, allowance) => (await batch([job], allowance))[0] ?? stopped(job, 'timeout')

  /** @param completing runs code that the instances in a result need */
  const received = async (report: Report, sending: Sending, completing: Evaluate): Promise<ScriptOutcome> => {
    const { job, allowance } = sending
    figures.evaluations++
    figures.time += report.milliseconds
    if (report.fleeting) allowance.readFleeting()
    if (report.atLimit) allowance.noteLimit()
    for (const { level, text } of report.lines) options.log?.({ site: job.site, origin: job.origin, level, text })
    const outcome = await outcomeOf(report, sending, completing)
    if ('failure' in outcome) figures.failures++
    try {
      allowance.step(report.steps)
    } catch (error) {
      if (!(error instanceof AllowanceSpent)) throw error
      return stopped(job, 'timeout')
    }
    return outcome
  }

  const lost = (job: ScriptJob, why: Lost): ScriptOutcome => {
    figures.evaluations++
    figures.failures++
    return stopped(job, why === 'out-of-memory' ? 'out-of-memory' : 'timeout')
  }

  return {
    evaluate,
    batch,
    counters: (): Counters => ({
      ...figures,
      kills: pool.kills,
      workers: pool.workers,
      busy: pool.busy,
      queue: pool.queue,
      memory: pool.memory,
    }),
    close: () => pool.close(),
  }
}

/** @param knows whether the worker has a version */
type LaterView = (knows: (version: string) => boolean) => SentView | undefined
type Prepared = Omit<SentJob, 'time' | 'steps' | 'view'> & { view: LaterView }

/** Reads all that a job refers to. */
function prepare(job: ScriptJob, allowance: Allowance): (Sending & { sent: Prepared }) | { failure: CodeFailure } {
  const sender = new Sender(job, allowance)
  try {
    const { site, ns, origin, place, source, document } = job
    // A tree is copied now: it may be edited before a worker is free.
    const isVersion = document?.version !== undefined && !document.scope
    if (isVersion) sender.version(document)
    const view = isVersion ? undefined : sender.view()
    const values = sender.job(job)
    const later: LaterView = isVersion ? laterView(job) : () => view
    return { job, sender, allowance, given: [], sent: { site, ns, origin, place, source, values, view: later } }
  } catch (error) {
    if (error instanceof AllowanceSpent) return spentBy(job, error)
    if (!(error instanceof Unsendable)) throw error
    return failure(job, 'marshal', error.message)
  }
}

/** The view of a version; its source is taken down now. Workers serve all sites, and the same bytes may be of either kind. */
function laterView({ site, document }: ScriptJob): LaterView {
  if (!document) return () => undefined
  const { kind, source } = document.document
  const bytes = treeBytes(document.document)
  const version = `${site}\n${kind}\n${document.version ?? ''}`
  return knows => ({ kind, version, source: knows(version) ? undefined : source, bytes })
}

/** The message for a worker. */
function finished(
  sent: Prepared,
  allowance: Allowance,
  knows: (version: string) => boolean,
  told: Set<string>,
): SentJob {
  const view = sent.view(knows)
  if (view && 'version' in view) told.add(view.version)
  return { ...sent, view, time: allowance.timeLeft, steps: allowance.stepsLeft }
}

async function answered(question: RealmQuestion, sending: Sending, inner: Evaluate): Promise<RealmAnswer> {
  const { job, sender, allowance } = sending
  const { schemas } = job
  switch (question.want) {
    case 'get':
    case 'has': {
      const value = sender.dictionaries[question.dictionary]?.get(question.key)
      return value === undefined ? { values: { text: '', trees: [], references: [] } } : { values: sender.value(value) }
    }
    case 'keys': {
      const names = [...(sender.dictionaries[question.dictionary]?.keys() ?? [])]
      return { values: { text: JSON.stringify(names), trees: [], references: [] } }
    }
    case 'schema': {
      const found = schemas?.find(question.type)
      if (!found) return { values: { text: 'null', trees: [], references: [] } }
      const isMap = found.parent === `${job.ns}/Map`
      const { properties, methods } = found
      const text = JSON.stringify({ parent: isMap ? undefined : found.parent, isMap, properties, methods })
      return { values: { text, trees: [], references: [] } }
    }
    case 'call': {
      if (!schemas) return { error: 'There are no schemas.' }
      // Whoever asks waits, so it would not pay for this by itself.
      allowance.step(question.call.length >> 6)
      allowance.take(question.call.length)
      await receive(question.trees, sending.given)
      const { call, receiver, arguments: given } = split(question.call)
      const source = sourceOf(sending)
      const from = receiver && (await decode(receiver, source, async instance => new InstanceEntry(instance)))
      const values = await decode(given, source, complete(sending, inner))
      const value = await schemas.call(
        {
          ...call,
          receiver: from instanceof InstanceEntry ? from.instance : undefined,
          arguments: Array.isArray(values) ? values : [],
        },
        allowance,
        inner,
      )
      return { values: sender.value(value) }
    }
  }
}

/** An instance in place of a value, while it is not completed. */
class InstanceEntry extends LazyDictionary {
  readonly instance: Instance

  constructor(instance: Instance) {
    super()
    this.instance = instance
  }

  get(key: string): Value | undefined {
    return this.instance.fields.get(key)
  }

  keys(): Iterable<string> {
    return this.instance.fields.keys()
  }
}

interface WrittenCall {
  call: Omit<MethodCall, 'receiver' | 'arguments'>
  receiver: Parts | undefined
  arguments: Parts
}

/** A call as the realm has written it. */
function split(text: string): WrittenCall {
  const { call, receiver, arguments: given } = JSON.parse(text)
  const { type, name } = call
  return {
    call: { type: String(type), name: String(name), static: call.static === true, derived: call.derived === true },
    receiver: receiver ?? undefined,
    arguments: given,
  }
}

function sourceOf({ sender, allowance, given }: Sending): Source {
  return { trees: given, elementOf: number => sender.elements[number], names: sender.names, allowance }
}

/** Completes what a script has built (JS-9). */
function complete({ job: { schemas } }: Sending, evaluate: Evaluate): (instance: Instance) => Promise<Value> {
  return async ({ type, element, fields }) => {
    if (element) return element
    if (!schemas) throw new Error('There are no schemas.')
    return schemas.build(type, fields, evaluate)
  }
}

async function outcomeOf({ result, trees }: Report, sending: Sending, evaluate: Evaluate): Promise<ScriptOutcome> {
  const { job, given } = sending
  if ('failure' in result) return { failure: { language: language(job), ...result.failure } }
  const read = (json: string) => decode(JSON.parse(json) as Parts, sourceOf(sending), complete(sending, evaluate))
  try {
    await receive(trees, sending.given)
    if ('response' in result) return { response: responseFrom(await read(result.response)) }
    const { value, truthy, written, changed } = result
    const assigned = await read(written)
    const done: ScriptResult = {
      value: await read(value),
      truthy,
      written: assigned instanceof Map ? assigned : new Map<string, Value>(),
    }
    const tree = changed === undefined ? undefined : given[changed]
    const element = tree && 'tree' in tree ? await inTurns(elementFrom(tree.tree, sending.sender.names), 0) : undefined
    if (element) done.changed = element
    return done
  } catch (error) {
    if (error instanceof AllowanceSpent) return spentBy(job, error)
    if (error instanceof FailedElsewhere) throw error.cause
    const message = error instanceof Error ? error.message : 'The result could not be completed.'
    return failure(job, 'threw', message)
  }
}

/** A response as it was thrown (JS-45); a status that is none is the default. */
function responseFrom(value: Value): ThrownResponse {
  const entries = value instanceof Map ? value : new Map<string, Value>()
  const status = Number(entries.get('status') ?? 500)
  const fields: [string, string][] = []
  const given = entries.get('headers')
  if (given instanceof Map)
    for (const [name, value] of given)
      for (const each of isList(value) ? value : [value]) if (each !== null) fields.push([name, textOf(each)])

  return {
    status: Number.isInteger(status) && status >= 100 && status <= 599 ? status : 500,
    headers: joined(fields),
    fields,
    body: textOf(entries.get('body') ?? null),
  }
}

function joined(fields: readonly (readonly [string, string])[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of fields)
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value
  return headers
}

function textOf(value: Value): string {
  if (value === null) return ''
  if (typeof value === 'object')
    return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? Number(each) : each))
  return String(value)
}

function language({ ns }: ScriptJob): string {
  return `${ns}/JavaScript/Module`
}

function failure(job: ScriptJob, variant: CodeFailure['variant'], message: string): { failure: CodeFailure } {
  return { failure: { language: language(job), variant, message: message.slice(0, 500) } }
}

function spentBy(job: ScriptJob, { spent }: AllowanceSpent): { failure: CodeFailure } {
  return stopped(job, spent === 'memory' ? 'out-of-memory' : 'timeout')
}

function stopped(job: ScriptJob, variant: 'timeout' | 'out-of-memory'): { failure: CodeFailure } {
  return failure(job, variant, `The program took too ${variant === 'timeout' ? 'long' : 'much memory'}.`)
}
