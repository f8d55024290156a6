/** Paths of documents in order, of which there may be many: what takes long is done in steps. */

import type { Steps } from '../tree/steps.ts'

/** Paths that are sorted without a pause. */
export const SORTED_PER_TURN = 4_096

/** Those of paths in order that lie below a collection. */
export function between(paths: readonly string[], below: string): readonly string[] {
  const from = firstOf(paths, 0, path => byCodePoints(path, below) >= 0)
  return paths.slice(
    from,
    firstOf(paths, from, path => !path.startsWith(below)),
  )
}

/** Index of the first path, from one on, that something is true of: of all behind it, too. */
function firstOf(paths: readonly string[], from: number, isTrue: (path: string) => boolean): number {
  let [low, high] = [from, paths.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isTrue(paths[middle] ?? '')) high = middle
    else low = middle + 1
  }
  return low
}

/** Paths in order. */
export function* sorting(paths: readonly string[]): Steps<string[]> {
  let runs: string[][] = []
  for (let from = 0; from < paths.length; from += SORTED_PER_TURN) {
    runs.push(paths.slice(from, from + SORTED_PER_TURN).sort(byCodePoints))
    yield
  }
  while (runs.length > 1) {
    const merged: string[][] = []
    for (let i = 0; i < runs.length; i += 2) merged.push(yield* merging(runs[i] ?? [], runs[i + 1] ?? []))
    runs = merged
  }
  return runs[0] ?? []
}

export function* merging(some: readonly string[], others: readonly string[]): Steps<string[]> {
  const merged: string[] = []
  let [i, k] = [0, 0]
  for (;;) {
    const [one, other] = [some[i], others[k]]
    if (one === undefined && other === undefined) return merged
    if (other === undefined || (one !== undefined && byCodePoints(one, other) <= 0)) {
      merged.push(one ?? '')
      i++
    } else {
      merged.push(other)
      k++
    }
    if (merged.length % SORTED_PER_TURN === 0) yield
  }
}

/** The order of the bytes of UTF-8, which is that of code points. */
export function byCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  let at = 0
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  if (at === length) return a.length - b.length
  return rank(a.charCodeAt(at)) - rank(b.charCodeAt(at))
}

/** Surrogates stand for code points above all others. */
function rank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit
}
