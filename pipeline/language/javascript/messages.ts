/** What the request thread and a worker say to each other. Everything is data; functions and nodes never cross. */

import { hrtime } from 'node:process'
import type { MessagePort } from 'node:worker_threads'
import type { CodeFailure } from '../../fault.ts'
import type { DocumentKind } from '../../tree/nodes.ts'
import type { CompactTree } from './compact.ts'
import type { CodePlace, ConsoleLine, Limits } from './interface.ts'

/** Given to a worker when it starts. */
export interface WorkerSetup {
  /** The engine. */
  compiled: WebAssembly.Module
  limits: Limits
  /** Where answers to its questions arrive while it waits. */
  answers: MessagePort
  control: SharedArrayBuffer
}

/**
 * Places in the control block: what a waiting worker is woken by, and (as a Float64) when its evaluation began, how many
 * bytes its heaps took when it last had nothing to do, and milliseconds of processor time that its thread had taken when the
 * evaluation began; then when the thread had started.
 */
export const CONTROL = { bytes: 40, signal: 0, began: 1, memory: 2, taken: 3, started: 4 }

/** Milliseconds by a clock that nobody sets, and that is the same in all threads. */
export function steadyNow(): number {
  return Number(hrtime.bigint() / 1_000_000n)
}

/** The document of an evaluation: a tree as it stands, or the source of a version that the worker may know already. */
export type SentView =
  | { tree: CompactTree }
  | {
      kind: DocumentKind
      version: string
      source: string | undefined
      /** Those of its tree, about. */
      bytes: number
    }

/** Where an element that was sent is found: a node of a tree that came with it, or of the view by its place. */
export type Reference = { tree: number; node: number } | { view: number } | { path: readonly number[] }

/** Values as JSON whose objects are tagged (`encode.ts`), and what they refer to. */
export interface SentValues {
  text: string
  trees: CompactTree[]
  references: Reference[]
}

export interface SentJob {
  site: string
  ns: string
  origin: string | undefined
  place: CodePlace
  source: string
  /** Milliseconds that are left of the allowance, and its steps. */
  time: number
  steps: number
  /** `this`, arguments and names in scope. */
  values: SentValues
  view: SentView | undefined
}

/** To the worker: one batch. */
export interface Order {
  jobs: SentJob[]
  /** Versions of documents that the worker may forget. */
  forget: string[]
}

/**
 * What a realm wants to know or to have done while it waits. `trees` are the elements that a call hands over, packed (`given.ts`),
 * behind those of earlier calls.
 */
export type RealmQuestion =
  | { want: 'get' | 'has' | 'keys'; dictionary: number; key: string }
  | { want: 'schema'; type: string }
  | { want: 'call'; call: string; trees: string[] }

/** Answers to a question: a value, an error that the script may catch, or a job that has to be run first. */
export type RealmAnswer = { values: SentValues } | { error: string } | { run: SentJob }

/** What became of one evaluation. */
export interface Report {
  result:
    | {
        value: string
        truthy: boolean
        written: string
        /** The place of its tree among those handed over. */
        changed: number | undefined
      }
    | { failure: Omit<CodeFailure, 'language'> }
    | { response: string }
  /** The elements of the result, packed, behind those of calls. */
  trees: string[]
  lines: Pick<ConsoleLine, 'level' | 'text'>[]
  /** It has looked at the clock or at chance. */
  fleeting: boolean
  /** It has come to a limit of a value, the engine or the DOM, and may have caught that. */
  atLimit: boolean
  steps: number
  milliseconds: number
}

/** From the worker. `ran` is the report of a job that was run in answer to a question. */
export type News =
  | { reports: Report[] }
  | { question: RealmQuestion; depth: number; job: number }
  | { ran: Report; depth: number }
