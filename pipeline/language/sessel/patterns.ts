/** Regular expressions in linear time (SES-76). */

import type { RE2JS } from 're2js'
import { Compiled } from '../../compiled.ts'
import { lazyPackage } from '../../lazy-package.ts'
import { ownText } from '../../own-text.ts'
import { aside } from '../aside.ts'
import { type Evaluation, typeError } from './evaluation.ts'
import type { MaybeLater } from './host.ts'
import { classWork, patternSize } from './pattern-size.ts'
import type { PatternQuestion } from './patterns-thread.ts'

const re2js = lazyPackage<typeof import('re2js')>('re2js')

const ask = aside<PatternQuestion, boolean>('patterns', new URL('./patterns-thread.ts', import.meta.url))

/** Compiled patterns with the sizes of their machines. */
const kept = new Compiled<{ compiled: RE2JS; size: number }>()

/** UTF-16 code units of a pattern. */
const MAX_PATTERN = 1_000

/** States of its machine: some milliseconds to build it, and some megabytes. */
const MAX_STATES = 10_000

/** Characters that its classes are made of, one after the other (`classWork`): some thirty milliseconds. */
const MAX_CLASS_WORK = 1_000_000

/** States that are looked at in one step: each character may look at all of them. */
const PER_STEP = 32

/** States that are looked at while others wait: some twenty milliseconds. */
const AT_ONCE = 4_000_000

/**
 * Whether a pattern of RE2 matches somewhere in a text.
 *
 * @returns later where it takes long
 * @throws SesselError for a pattern that RE2 does not take, or that is too large
 */
export function matchesPattern(text: string, pattern: string, on: Evaluation): MaybeLater<boolean> {
  const { compiled, size } = compiledPattern(pattern, on)
  // Sizes are rather too large, about twice.
  const work = text.length * size
  on.spend(1 + Math.ceil(work / PER_STEP))
  return work > AT_ONCE ? ask({ text, pattern }, on.allowance) : compiled.matcher(text).find()
}

function compiledPattern(pattern: string, on: Evaluation): { compiled: RE2JS; size: number } {
  const known = kept.use(pattern)
  if (known) return known
  if (pattern.length > MAX_PATTERN) throw typeError(`a pattern has at most ${MAX_PATTERN} characters`, 'limit')
  const size = patternSize(pattern)
  if (size > MAX_STATES) throw typeError(`“${pattern.slice(0, 80)}” repeats too much to be a pattern`, 'limit')
  const work = classWork(pattern)
  if (work > MAX_CLASS_WORK) throw typeError(`“${pattern.slice(0, 80)}” has too large classes to be a pattern`, 'limit')
  on.spend(work / PER_STEP)
  try {
    const own = ownText(pattern)
    return kept.keep(own, { compiled: re2js().RE2JS.compile(own), size }, 15_000 + 160 * size)
  } catch (error) {
    if (!(error instanceof re2js().RE2JSException)) throw error
    // Its message ends with the pattern, or a part of it.
    const reason = error.message.replace(/: `[\s\S]*/, '').slice(0, 120)
    throw typeError(`“${pattern.slice(0, 80)}” is not a pattern: ${reason}`)
  }
}
