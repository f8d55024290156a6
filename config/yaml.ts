/** The reader and writer of YAML: a server without a settings file needs neither. */

import { lazyPackage } from '../pipeline/lazy-package.ts'

export const yaml = lazyPackage<typeof import('yaml')>('yaml')

/** Values that aliases may stand for together. */
const MOST_REPEATED = 100_000

/** More than the parser takes; only aliases of what holds aliases lead further down. */
const DEEPEST = 2000

/** True for a tree whose aliases stand for themselves, or for so much that nobody has meant it. */
export function isEndless(tree: unknown): boolean {
  const met = new Set<unknown>()
  let repeated = 0
  const isTooMuch = (value: unknown, isRepeated: boolean, depth: number): boolean => {
    if (depth > DEEPEST || (isRepeated && ++repeated > MOST_REPEATED)) return true
    if (typeof value !== 'object' || value === null) return false
    const again = isRepeated || met.has(value)
    met.add(value)
    return Object.values(value).some(below => isTooMuch(below, again, depth + 1))
  }
  return isTooMuch(tree, false, 0)
}
