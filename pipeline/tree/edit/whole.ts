/** Proof of an edit by parsing the whole new source, within limits of work. */

import { comparing } from '../compare.ts'
import { TreeError } from '../limits.ts'
import type { TreeDocument } from '../nodes.ts'
import { parsingAlike } from '../readings.ts'
import type { Steps } from '../steps.ts'
import { bodyOf, findingTail, type Tail, workingWithoutTail } from './tail.ts'

/** Code units that may be parsed for one edit beyond the least number of attempts. */
const MAX_WORK = 500_000

/** Attempts that even the largest document has. */
const LEAST_ATTEMPTS = 4

/** Attempts to write one edit. */
export interface Attempts {
  document: TreeDocument
  tail: Tail
  left: number
  /** What was parsed and is not the expected tree, by source; not all of it. */
  refused: Map<string, TreeDocument>
}

export function attemptsFor(document: TreeDocument, tail: Tail): Attempts {
  const left = Math.max(LEAST_ATTEMPTS, Math.floor(MAX_WORK / (document.source.length + 1_000)))
  return { document, tail, left, refused: new Map() }
}

/**
 * Parses the changed source, in steps, and compares it with the document's tree, which shows what is expected at the
 * moment.
 *
 * @returns the parsed document when it is the expected one
 */
export function* parsingExpected(attempts: Attempts, source: string): Steps<TreeDocument | undefined> {
  const { document, tail, refused } = attempts
  // A mark at the very beginning would not be part of the text when it is read again.
  if (source.startsWith('\ufeff') && !document.source.startsWith('\ufeff')) return undefined
  try {
    const parsed = yield* parsingAlike(document, source)
    const ending = bodyOf(parsed)?.childNodes ?? []
    const same = { ...tail, start: source.length - (document.source.length - tail.start) }
    for (const end of [same, yield* findingTail(parsed)]) {
      const equal = comparing(document.root.childNodes, parsed.root.childNodes)
      if (yield* workingWithoutTail(ending, end, equal)) return parsed
    }
    if (refused.size < LEAST_ATTEMPTS) refused.set(source, parsed)
    return undefined
  } catch (error) {
    if (error instanceof TreeError) return undefined
    throw error
  }
}
