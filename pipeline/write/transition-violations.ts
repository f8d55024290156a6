/** What transitions of items are refused for (REA-106, REA-109). */

import { type ConstraintViolation, shown } from '../model/violations.ts'
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

/** REA-106: a group that cannot be told apart may keep its number of items and their states. */
export function ambiguity({ before, after }: Ambiguous): ConstraintViolation[] {
  const all = [...before, ...after]
  const properties = new Set(all.flatMap(({ watchers }) => [...watchers.keys()]))
  const [first] = all
  if (!first) return []
  const states = (items: readonly ItemStates[], property: string) =>
    JSON.stringify(items.map(({ values }) => JSON.stringify(values.get(property) ?? [])).sort())
  return [...properties].flatMap(property => {
    if (before.length === after.length && states(before, property) === states(after, property)) return []
    const [[rule] = []] = all.find(({ watchers }) => watchers.has(property))?.watchers.get(property) ?? []
    return [
      {
        ...about(property),
        message: `Transition of ${property} of [${first.type}] cannot be judged by ${rule?.path ?? ''}: several items cannot be told apart. Give the type an @key.`,
        itemtype: first.type,
        properties: [property],
        from: '',
        to: '',
      },
    ]
  })
}
