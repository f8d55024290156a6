/** Of two writes that race on the state of one item exactly one wins (REA-108). */

import { Fault } from '../fault.ts'
import type { ItemStates } from './transition-items.ts'

/** Watched items as they were found, those that nobody can tell apart together. */
export type Noted = ReadonlyMap<string, readonly WatchedStates[]>

type WatchedStates = Pick<ItemStates, 'watchers' | 'values'>

/** @param shown as composition reads them */
export function noted(items: readonly ItemStates[], shown: readonly ItemStates[] = []): Noted {
  const states = new Map<string, WatchedStates[]>()
  for (const [reading, each] of [items, shown].entries()) {
    for (const [i, { type, key, watchers, values }] of each.entries()) {
      if (watchers.size === 0) continue
      const name = JSON.stringify([reading, type, key ?? i])
      const known = states.get(name)
      if (known) known.push({ watchers, values })
      else states.set(name, [{ watchers, values }])
    }
  }
  return states
}

/** @throws Fault 412 when an item that was noted at arrival has another state */
export function refuseOvertaken(arrival: Noted, now: Noted): void {
  const covers = covering()
  for (const [item, states] of arrival)
    if (!areSame(states, now.get(item) ?? [], covers))
      throw new Fault(
        412,
        'PreconditionFailed',
        'Another write has changed the state of this item meanwhile. Read it again.',
      )
}

type Watchers = ItemStates['watchers']

/** By what items have: of what is watched they may lack nearly all. */
function areSame(
  before: readonly WatchedStates[],
  now: readonly WatchedStates[],
  covers: (one: Watchers, other: Watchers) => boolean,
): boolean {
  const properties = new Set([...before, ...now].flatMap(({ values }) => [...values.keys()]))
  const stateIn = (states: readonly WatchedStates[], property: string) => {
    const last = states.findLast(({ watchers }) => watchers.has(property))
    return last && JSON.stringify(last.values.get(property) ?? [])
  }
  for (const property of properties) {
    const state = stateIn(before, property)
    if (state !== undefined && state !== stateIn(now, property)) return false
  }
  // What was watched and is not any more is another state, too.
  return before.every(
    ({ watchers }) =>
      now.some(other => covers(other.watchers, watchers)) ||
      [...watchers.keys()].every(property => now.some(other => other.watchers.has(property))),
  )
}

/** Whether one watches all that another does; items of one type share what watches them, so that it is found out once. */
function covering(): (one: Watchers, other: Watchers) => boolean {
  const known = new Map<Watchers, Map<Watchers, boolean>>()
  return (one, other) => {
    const answers = known.get(one) ?? new Map<Watchers, boolean>()
    known.set(one, answers)
    let isCovered = answers.get(other)
    if (isCovered === undefined) answers.set(other, (isCovered = other.keys().every(property => one.has(property))))
    return isCovered
  }
}
