/** Results on their way back from a worker (JS-36). */

import { type ElementNode, isElement } from '../../tree/nodes.ts'
import { inTurns, NODES_PER_STEP, type Steps, TurnsBetween } from '../../tree/steps.ts'
import type { Allowance } from '../allowance.ts'
import { ElementValue, type Value } from '../values.ts'
import { type CompactTree, expanding } from './compact.ts'
import { type GivenTree, unpacking } from './given.ts'
import type { Instance } from './interface.ts'

/** What the realm has written, parsed. */
export type Parts = string | number | boolean | null | Parts[] | Tagged
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
  const { whole, found } = await inTurns(reading(parts, source), 0)
  const turns = new TurnsBetween()
  // Fields before what they belong to.
  for (const { list, at, instance } of found) {
    await turns.next()
    const value = await complete(instance)
    if (list instanceof Map) list.set(String(at), value)
    else list[Number(at)] = value
  }
  return whole[0] ?? null
}

function* reading(parts: Parts, { trees, elementOf, allowance }: Source): Steps<{ whole: Value[]; found: Found[] }> {
  const found: Found[] = []
  let values = 0

  const isTimeToYield = (): boolean => {
    if (++values % NODES_PER_STEP > 0) return false
    allowance.step(STEPS_PER_VALUE * NODES_PER_STEP)
    return true
  }

  function* read(sent: Parts, list: Value[] | Map<string, Value>, at: number | string): Steps<Value> {
    if (isTimeToYield()) yield
    if (typeof sent !== 'object' || sent === null) return scalar(sent)
    if (Array.isArray(sent)) return yield* several(sent)
    if ('d' in sent) return yield* dictionary(sent.d)
    if ('n' in sent) return yield* element(sent.n)
    const fields = yield* dictionary(sent.v.d)
    const from = sent.e >= 0 ? elementOf(sent.e) : undefined
    found.push({ list, at, instance: { type: sent.i, element: from, fields } })
    return null
  }

  function* several(parts: Parts[]): Steps<Value[]> {
    const list: Value[] = []
    for (const [i, each] of parts.entries())
      if (typeof each === 'object') list[i] = yield* read(each, list, i)
      else {
        list[i] = scalar(each)
        if (isTimeToYield()) yield
      }
    return list
  }

  function* dictionary(parts: Parts[]): Steps<Map<string, Value>> {
    const entries = new Map<string, Value>()
    for (let i = 0; i < parts.length; i += 2) {
      const name = String(parts[i])
      entries.set(name, yield* read(parts[i + 1] ?? null, entries, name))
    }
    return entries
  }

  function* element(number: number): Steps<ElementValue | null> {
    const given = trees[number]
    if (!given) return null
    if ('reference' in given) return elementOf(given.reference) ?? null
    allowance.step(given.tree.parts.length >> 2)
    const node = yield* elementFrom(given.tree)
    return node ? new ElementValue(node) : null
  }

  const whole: Value[] = []
  whole[0] = yield* read(parts, whole, 0)
  return { whole, found }
}

function scalar(sent: string | number | boolean | null): Value {
  return typeof sent === 'number' && Number.isSafeInteger(sent) ? BigInt(sent) : sent
}

/** The element that a tree of one consists of. */
export function* elementFrom(tree: CompactTree): Steps<ElementNode | undefined> {
  const root = yield* expanding(tree)
  const node = root.childNodes.find(isElement)
  if (node) node.parentNode = null
  return node
}
