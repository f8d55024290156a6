/** What transitions of items are refused for (REA-106, REA-109). */

import { type ConstraintViolation, LISTED, shown } from '../model/violations.ts'
import type { Steps } from '../tree/steps.ts'
import type { Ambiguous, ItemStates, Pair, Rules } from './transition-items.ts'

interface Judged {
  violations: readonly ConstraintViolation[]
}

/** What another reading of the same write does not permit either. */
export function withViolations<Found extends Judged>(own: Found, { violations }: Judged): Found {
  const known = new Set(own.violations.map(each => JSON.stringify(each)))
  const more = violations.filter(each => !known.has(JSON.stringify(each)))
  return { ...own, violations: [...own.violations, ...more] }
}

/** REA-109. */
export function violation(
  { before, after }: Pair,
  property: string,
  from: string | undefined,
  result: { to: string | undefined } | 'several',
  rules: Rules,
): ConstraintViolation {
  const { type = '', key } = after ?? before ?? {}
  const [[rule] = []] = rules.keys()
  const named = (state: string | undefined) => (state === undefined ? 'absent' : `“${shown(state)}”`)
  const to = result === 'several' ? 'several values' : named(result.to)
  const item = key === undefined ? `[${type}]` : `[${type}] “${shown(key)}”`
  return {
    ...about(property),
    message: `Transition of ${property} of ${item} from ${named(from)} to ${to} is not permitted by ${rule?.path ?? ''}`,
    itemtype: type,
    properties: [property],
    ...(key !== undefined && { key: shown(key) }),
    from: shown(from ?? ''),
    ...(result !== 'several' && { to: shown(result.to ?? '') }),
  }
}

function about(property: string) {
  return { constraintSelector: `[itemprop='${property}']`, failedConstraint: `transition(${property})` }
}

/** REA-106: a group that cannot be told apart may keep its number of items and their states. @returns what an answer lists */
export function* findingAmbiguity({ before, after }: Ambiguous): Steps<ConstraintViolation[]> {
  const [old, now] = [yield* statesByProperty(before), yield* statesByProperty(after)]
  const [first] = [...before, ...after]
  const found: ConstraintViolation[] = []
  if (!first) return found
  const told = new Set<string>()
  for (const watchers of new Set([...before, ...after].map(item => item.watchers))) {
    for (const [property, [[rule] = []]] of watchers) {
      if (told.has(property)) continue
      told.add(property)
      if (told.size % STATES_PER_STEP === 0) yield
      const isSame = before.length === after.length && areAlike(old.get(property), now.get(property))
      if (isSame) continue
      found.push({
        ...about(property),
        message: `Transition of ${property} of [${first.type}] cannot be judged by ${rule?.path ?? ''}: several items cannot be told apart. Give the type an @key.`,
        itemtype: first.type,
        properties: [property],
        from: '',
        to: '',
      })
      if (found.length === LISTED) return found
    }
  }
  return found
}

/** States that are compared in one step. */
const STATES_PER_STEP = 500

/** What items have of each property; those that lack it are as many as are missing. */
function* statesByProperty(items: readonly ItemStates[]): Steps<Map<string, string[]>> {
  const states = new Map<string, string[]>()
  let seen = 0
  for (const { values } of items) {
    for (const [property, list] of values) {
      if (++seen % STATES_PER_STEP === 0) yield
      if (list.length === 0) continue
      const state = JSON.stringify(list)
      const known = states.get(property)
      if (known) known.push(state)
      else states.set(property, [state])
    }
  }
  return states
}

function areAlike(before: readonly string[] = [], after: readonly string[] = []): boolean {
  if (before.length !== after.length) return false
  const now = after.toSorted()
  return before.toSorted().every((state, i) => state === now[i])
}
