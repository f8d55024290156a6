/** Results on their way back from a worker (JS-36). */

import { type ElementNode, isElement } from '../../tree/nodes.ts'
import { ElementValue, type Value } from '../values.ts'
import { type CompactTree, expand } from './compact.ts'
import type { Instance } from './interface.ts'
import type { GivenTree } from './messages.ts'

type Parts = (string | number | boolean | null | Parts | Tagged)[]
type Tagged = { d: Parts } | { n: number } | { i: string; v: { d: Parts }; e: number }

/** Makes a value of an instance; it may have to be completed first. */
type Complete = (instance: Instance) => Promise<Value>

/**
 * @param json written by the realm
 * @param elementOf the element that a reference stands for
 * @param complete what becomes of instances (JS-9)
 */
export async function decode(
  json: string,
  trees: readonly GivenTree[],
  elementOf: (reference: number) => ElementValue | undefined,
  complete: Complete,
): Promise<Value> {
  const instances: { list: Value[] | Map<string, Value>; at: number | string; instance: Instance }[] = []

  const element = (number: number): ElementValue | null => {
    const given = trees[number]
    if (!given) return null
    if ('reference' in given) return elementOf(given.reference) ?? null
    const node = elementFrom(given.tree)
    return node ? new ElementValue(node) : null
  }

  const read = (sent: Parts[number], list: Value[] | Map<string, Value>, at: number | string): Value => {
    if (typeof sent === 'number') return Number.isSafeInteger(sent) ? BigInt(sent) : sent
    if (typeof sent !== 'object' || sent === null) return sent
    if (Array.isArray(sent)) {
      const values: Value[] = []
      for (const [i, each] of sent.entries()) values[i] = read(each, values, i)
      return values
    }
    if ('d' in sent) return dictionary(sent.d)
    if ('n' in sent) return element(sent.n)
    const fields = dictionary(sent.v.d)
    const from = sent.e >= 0 ? elementOf(sent.e) : undefined
    instances.push({ list, at, instance: { type: sent.i, element: from, fields } })
    return null
  }

  const dictionary = (parts: Parts): Map<string, Value> => {
    const entries = new Map<string, Value>()
    for (let i = 0; i < parts.length; i += 2) {
      const name = String(parts[i])
      entries.set(name, read(parts[i + 1] ?? null, entries, name))
    }
    return entries
  }

  const whole: Value[] = []
  whole[0] = read(JSON.parse(json) as Parts[number], whole, 0)
  // Fields before what they belong to.
  for (const { list, at, instance } of instances) {
    const value = await complete(instance)
    if (list instanceof Map) list.set(String(at), value)
    else list[Number(at)] = value
  }
  return whole[0]
}

/** The element that a tree of one consists of. */
export function elementFrom(tree: CompactTree): ElementNode | undefined {
  const root = expand(tree)
  const node = root.childNodes.find(isElement)
  if (node) node.parentNode = null
  return node
}
