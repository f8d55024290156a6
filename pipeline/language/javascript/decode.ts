/** Results on their way back from a worker (JS-36). */

import { type ElementNode, isElement } from '../../tree/nodes.ts'
import { inTurns, NODES_PER_STEP, type Steps, TurnsBetween } from '../../tree/steps.ts'
import type { Allowance } from '../allowance.ts'
import { notingNames, type StoredNames } from '../stored-names.ts'
import { ElementValue, type Value } from '../values.ts'
import { type CompactTree, expanding } from './compact.ts'
import { type GivenTree, unpacking } from './given.ts'
import type { Instance } from './interface.ts'

/** What the realm has written, parsed. */
export type Parts = Scalar | Composed
type Scalar = string | number | boolean | null
type Composed = Parts[] | Tagged
type Tagged = { d: Parts[] } | { n: number } | { i: string; v: { d: Parts[] }; e: number }

/** Makes a value of an instance; it may have to be completed first. */
type Complete = (instance: Instance) => Promise<Value>

/** An instance, and where its value belongs. */
interface Found {
  list: Value[] | Map<string, Value>
  at: number | string
  instance: Instance
}

/** What came back of one program. */
export interface Source {
  /** Elements that it has handed over. */
  trees: GivenTree[]
  /** The element that a reference stands for. */
  elementOf: (reference: number) => ElementValue | undefined
  /** Of what it was handed. */
  names: StoredNames
  /** What pays for the work. */
  allowance: Allowance
}

/** Steps for each value that is read. */
const STEPS_PER_VALUE = 2

/** Adds elements that came, packed, to those of a program. */
export async function receive(pieces: readonly string[], trees: GivenTree[]): Promise<void> {
  if (pieces.length > 0) await inTurns(unpacking(pieces, trees), 0)
}

/**
 * @param complete what becomes of instances (JS-9)
 * @throws AllowanceSpent
 */
export async function decode(parts: Parts, source: Source, complete: Complete): Promise<Value> {
  if (!isComposed(parts)) return scalar(parts)
  const reader = new Reader(source)
  const whole = await inTurns(reader.whole(parts), 0)
  const turns = new TurnsBetween()
  // Fields before what they belong to.
  for (const { list, at, instance } of reader.found) {
    await turns.next()
    const value = await complete(instance)
    if (list instanceof Map) list.set(String(at), value)
    else list[Number(at)] = value
  }
  return whole[0] ?? null
}

class Reader {
  readonly found: Found[] = []
  readonly #source: Source
  #values = 0

  constructor(source: Source) {
    this.#source = source
  }

  /** @returns a list of the one value */
  *whole(parts: Composed): Steps<Value[]> {
    const list: Value[] = []
    list[0] = yield* this.#composed(parts, list, 0)
    return list
  }

  *#composed(sent: Composed, list: Value[] | Map<string, Value>, at: number | string): Steps<Value> {
    if (Array.isArray(sent)) return yield* this.#list(sent)
    if ('d' in sent) return yield* this.#dictionary(sent.d)
    if ('n' in sent) return yield* this.#element(sent.n)
    const fields = yield* this.#dictionary(sent.v.d)
    const element = sent.e >= 0 ? this.#source.elementOf(sent.e) : undefined
    this.found.push({ list, at, instance: { type: sent.i, element, fields } })
    return null
  }

  *#list(parts: Parts[]): Steps<Value[]> {
    const list: Value[] = []
    for (const [i, each] of parts.entries()) {
      if (this.#isTimeToYield()) yield
      list[i] = isComposed(each) ? yield* this.#composed(each, list, i) : scalar(each)
    }
    return list
  }

  *#dictionary(parts: Parts[]): Steps<Map<string, Value>> {
    const entries = new Map<string, Value>()
    for (let i = 0; i < parts.length; i += 2) {
      if (this.#isTimeToYield()) yield
      const name = String(parts[i])
      const each = parts[i + 1] ?? null
      entries.set(name, isComposed(each) ? yield* this.#composed(each, entries, name) : scalar(each))
    }
    return entries
  }

  *#element(number: number): Steps<ElementValue | null> {
    const { trees, elementOf, allowance, names } = this.#source
    const given = trees[number]
    if (!given) return null
    if ('reference' in given) return elementOf(given.reference) ?? null
    allowance.step(given.tree.parts.length >> 2)
    const node = yield* elementFrom(given.tree, names)
    return node ? new ElementValue(node) : null
  }

  #isTimeToYield(): boolean {
    if (++this.#values % NODES_PER_STEP > 0) return false
    this.#source.allowance.step(STEPS_PER_VALUE * NODES_PER_STEP)
    return true
  }
}

function isComposed(sent: Parts): sent is Composed {
  return typeof sent === 'object' && sent !== null
}

function scalar(sent: Scalar): Value {
  return typeof sent === 'number' && Number.isSafeInteger(sent) ? BigInt(sent) : sent
}

/** The element that a tree of one consists of. @param names of what the script was handed */
export function* elementFrom(tree: CompactTree, names: StoredNames): Steps<ElementNode | undefined> {
  const root = yield* expanding(tree)
  const node = root.childNodes.find(isElement)
  if (node) node.parentNode = null
  if (node) yield* notingNames([node], names)
  return node
}
