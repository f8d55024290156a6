/** Filters whose condition is an expression in a string (LIQ-43). */

import { ExpressionReader, type Filtered, Malformed } from '../expression.ts'
import { isTruthy, type LiquidValue, plain } from '../values.ts'
import type { Work } from '../work.ts'
import { firstValue, Groups, visited } from './arrays.ts'
import { type FilterCall, fail, PER_TURN, scanned, textArgument, type WorkFilters } from './call.ts'

/** Predicates inside predicates. */
const MAX_DEPTH = 32

export const PREDICATE_FILTERS: WorkFilters = {
  *where_exp(call) {
    const kept: LiquidValue[] = []
    yield* each(call, (value, result) => {
      if (isTruthy(plain(result))) kept.push(value)
      return true
    })
    return kept
  },
  *reject_exp(call) {
    const kept: LiquidValue[] = []
    yield* each(call, (value, result) => {
      if (!isTruthy(plain(result))) kept.push(value)
      return true
    })
    return kept
  },
  *find_exp(call) {
    let found: LiquidValue = null
    yield* each(call, (value, result) => {
      const met = isTruthy(plain(result))
      if (met) found = value
      return !met
    })
    return found
  },
  *find_index_exp(call) {
    let found: LiquidValue = null
    yield* each(call, (_, result, index) => {
      const met = isTruthy(plain(result))
      if (met) found = BigInt(index)
      return !met
    })
    return found
  },
  *has_exp(call) {
    let found = false
    yield* each(call, (_, result) => {
      found = isTruthy(plain(result))
      return !found
    })
    return found
  },
  *group_by_exp(call) {
    const groups = new Groups()
    yield* each(call, (value, result) => {
      groups.add(firstValue(result), value, call.run)
      return true
    })
    return groups.list
  },
}

/** @param take says whether to go on */
function* each(
  call: FilterCall,
  take: (value: LiquidValue, result: LiquidValue, index: number) => boolean,
): Work<void> {
  const { run } = call
  const name = textArgument(call, 0)
  const predicate = parsed(call, textArgument(call, 1))
  if (run.predicateDepth >= MAX_DEPTH) throw fail(call, 'predicates are nested too deeply.')
  const frame = new Map<string, LiquidValue>()
  const list = yield* visited(call)
  run.frames.push(frame)
  run.predicateDepth++
  try {
    let index = 0
    for (const value of list) {
      run.step()
      frame.set(name, value)
      if (!take(value, yield* call.evaluating(predicate, run), index)) return
      if (++index % PER_TURN === 0 || run.isDue()) yield undefined
    }
  } finally {
    run.predicateDepth--
    run.frames.pop()
  }
}

/** Predicates that were parsed lately: an inner one is asked for again for each element of the outer list. */
const known = new Map<string, Filtered>()
const KNOWN = 200
const LONGEST_KNOWN = 1_000

function parsed(call: FilterCall, text: string): Filtered {
  const found = known.get(text)
  if (found) return found
  try {
    // Reading takes some ten times as long as looking at the text.
    call.run.step(text.length >> 4)
    const predicate = new ExpressionReader(scanned(text, call.run)).whole()
    if (text.length <= LONGEST_KNOWN) {
      const [oldest] = known.keys()
      if (known.size >= KNOWN && oldest !== undefined) known.delete(oldest)
      known.set(text, predicate)
    }
    return predicate
  } catch (error) {
    if (error instanceof Malformed) throw fail(call, 'the predicate is no expression.')
    throw error
  }
}
