/** Regular expressions in linear time (SES-76). */

import type { RE2JS } from 're2js'
import { lazyPackage } from '../../lazy-package.ts'
import { type Evaluation, typeError } from './evaluation.ts'

const re2js = lazyPackage<typeof import('re2js')>('re2js')

/** Compiled patterns, the least recently used first. */
const kept = new Map<string, RE2JS>()
const KEPT = 200

/** UTF-16 code units of a pattern. */
const MAX_PATTERN = 1_000

/** Characters that are looked at in one step, and those that take as long as one without a state machine. */
const PER_STEP = 8

/**
 * Whether a pattern of RE2 matches somewhere in a text.
 *
 * @throws SesselError for a pattern that RE2 does not take
 */
export function matchesPattern(text: string, pattern: string, on: Evaluation): boolean {
  const compiled = compiledPattern(pattern)
  // The work is at most the length of the text times that of the compiled pattern.
  on.spend(1 + Math.ceil(text.length / PER_STEP))
  return compiled.matcher(text).find()
}

function compiledPattern(pattern: string): RE2JS {
  const known = kept.get(pattern)
  if (known) {
    kept.delete(pattern)
    kept.set(pattern, known)
    return known
  }
  if (pattern.length > MAX_PATTERN) throw typeError(`a pattern has at most ${MAX_PATTERN} characters`)
  try {
    const compiled = re2js().RE2JS.compile(pattern)
    kept.set(pattern, compiled)
    for (const oldest of kept.keys()) {
      if (kept.size <= KEPT) break
      kept.delete(oldest)
    }
    return compiled
  } catch (error) {
    if (!(error instanceof re2js().RE2JSException)) throw error
    throw typeError(`“${pattern.slice(0, 80)}” is not a pattern: ${error.message.slice(0, 120)}`)
  }
}
