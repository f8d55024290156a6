/** Runs programs in tests: one pool for all, and outcomes that are easily compared. */

import { Allowance, type AllowanceLimits } from '../../../../pipeline/language/allowance.ts'
import {
  type ConsoleLine,
  createJavaScript,
  type JavaScript,
  type ScriptJob,
  type ScriptOutcome,
} from '../../../../pipeline/language/javascript/javascript.ts'
import { ElementValue, LazyDictionary, type Value } from '../../../../pipeline/language/values.ts'
import { parseDocument } from '../../../../pipeline/tree/document.ts'
import { type ElementNode, isElement, type TreeDocument } from '../../../../pipeline/tree/nodes.ts'
import { outerMarkup } from '../../../../pipeline/tree/serialize.ts'

export const NS = 'https://platform.example/ns'

/** Ample for one program: what a test is about are its other limits. */
const AMPLE: Partial<AllowanceLimits> = { steps: 100_000_000, time: 60_000 }

export const lines: ConsoleLine[] = []

let shared: JavaScript | undefined

/** The pool of all tests of a run; idle workers keep no process alive. */
export function javascript(): JavaScript {
  // More time than a site gives: the first evaluation of a thread takes long on a busy machine.
  shared ??= createJavaScript({ workers: 2, limits: { time: 5_000 }, log: line => lines.push(line) })
  return shared
}

export type More = Partial<ScriptJob> & { limits?: Partial<AllowanceLimits> }

/** Evaluates a program; by default as a method of a page. */
export function run(source: string, { limits, ...job }: More = {}): Promise<ScriptOutcome> {
  const allowance = new Allowance({ ...AMPLE, ...limits })
  return javascript().evaluate({ site: 'a.example', ns: NS, place: 'method', source, ...job }, allowance)
}

/** The value of a module whose default export is the function given. */
export async function value(body: string, more: More = {}): Promise<unknown> {
  return plain(await run(`export default ${body}`, more))
}

/** An outcome as plain data: its value, or `variant: message` of a failure. */
export function plain(outcome: ScriptOutcome): unknown {
  if ('failure' in outcome) return `${outcome.failure.variant}: ${outcome.failure.message}`
  return 'response' in outcome ? outcome.response : plainValue(outcome.value)
}

export function plainValue(value: Value): unknown {
  if (value instanceof ElementValue) return outerMarkup(value.node, 'html')
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, each]) => [name, plainValue(each)]))
  if (Array.isArray(value)) return value.map(plainValue)
  return value
}

/** The variant of a failure; the value of what did not fail. */
export function variant(outcome: ScriptOutcome): unknown {
  return 'failure' in outcome ? outcome.failure.variant : plain(outcome)
}

export function html(source: string): TreeDocument {
  return parseDocument('html', source)
}

export function find(document: TreeDocument, id: string): ElementNode {
  const search = (nodes: TreeDocument['root']['childNodes']): ElementNode | undefined => {
    for (const node of nodes) {
      if (!isElement(node)) continue
      if (node.attrs.some(a => a.name === 'id' && a.value === id)) return node
      const found = search(node.childNodes)
      if (found) return found
    }
    return undefined
  }
  const found = search(document.root.childNodes)
  if (!found) throw new Error(`no #${id}`)
  return found
}

/** A dictionary that notes what is read of it. */
export class Noted extends LazyDictionary {
  readonly read: string[] = []
  readonly #entries: Map<string, Value>

  constructor(entries: Record<string, Value>) {
    super()
    this.#entries = new Map(Object.entries(entries))
  }

  get(key: string): Value | undefined {
    this.read.push(key)
    return this.#entries.get(key)
  }

  keys(): Iterable<string> {
    this.read.push('*')
    return this.#entries.keys()
  }
}
