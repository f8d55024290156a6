/** A stable sort that takes turns and counts (LIQ-71). */

import type { LiquidValue } from '../values.ts'
import type { Work } from '../work.ts'
import type { FilterCall } from './call.ts'

export interface Sorted {
  key: LiquidValue
  value: LiquidValue
}

/** Elements that are sorted at once before they are merged. */
const RUN = 512

/** UTF-16 code units of a text up to which comparing it is nothing to speak of. */
const SHORT = 1024

/**
 * @param rank kinds of keys, lowest first
 * @param order of two keys of the same kind
 */
export function* sorting(
  call: FilterCall,
  pairs: readonly Sorted[],
  rank: (key: LiquidValue) => number,
  order: (a: LiquidValue, b: LiquidValue) => number,
): Work<LiquidValue[]> {
  const compare = (a: Sorted, b: Sorted): number => rank(a.key) - rank(b.key) || order(a.key, b.key)
  const isQuick = pairs.every(({ key }) => typeof key !== 'string' || key.length <= SHORT)
  // Merging can be left between any two that are compared.
  const size = isQuick ? RUN : 1
  let runs: Sorted[][] = []
  for (let at = 0; at < pairs.length; at += size) {
    runs.push(pairs.slice(at, at + size).sort(compare))
    if (runs.length % (RUN / size) === 0) yield undefined
  }
  while (runs.length > 1) {
    const merged: Sorted[][] = []
    for (let i = 0; i < runs.length; i += 2) {
      merged.push(yield* merging(call, runs[i] ?? [], runs[i + 1] ?? [], compare))
    }
    runs = merged
  }
  return (runs[0] ?? []).map(({ value }) => value)
}

function* merging(
  call: FilterCall,
  left: readonly Sorted[],
  right: readonly Sorted[],
  compare: (a: Sorted, b: Sorted) => number,
): Work<Sorted[]> {
  const merged: Sorted[] = []
  let i = 0
  let j = 0
  while (i < left.length || j < right.length) {
    const a = left[i]
    const b = right[j]
    if (a && (!b || compare(a, b) <= 0)) {
      merged.push(a)
      i++
    } else if (b) {
      merged.push(b)
      j++
    }
    const isCounted = merged.length % RUN === 0
    if (isCounted) call.run.step(RUN)
    if (isCounted || call.run.isDue()) yield undefined
  }
  return merged
}
