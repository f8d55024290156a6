/** Rate limits of a single process: in its memory, those that were added to longest ago are forgotten first. */

import { OrderedMap } from '../../ordered-map.ts'
import { MOST_COUNTED, type RateLimits } from '../rate-limits.ts'

/** @param clock milliseconds; by default they pass as they do, whatever the clock of the system is set to */
export function localRateLimits(clock: () => number = () => performance.now()): RateLimits {
  const counted = new OrderedMap<string, { count: number; until: number }>()
  /** What is left of allowances, and when that was. */
  const left = new OrderedMap<string, { left: number; at: number }>()

  const countOf = (key: string): number => {
    const known = counted.get(key)
    return known && known.until >= clock() ? known.count : 0
  }

  return {
    async add(keys, life) {
      return keys.map(key => {
        const count = countOf(key) + 1
        put(counted, key, { count, until: clock() + life })
        return count
      })
    },
    async takeBack(keys) {
      for (const key of keys) {
        const known = counted.get(key)
        if (known && known.count > 1) known.count--
        else counted.delete(key)
      }
    },
    async forget(key) {
      counted.delete(key)
    },
    async spend(key, { most, perSecond }, amount = 1) {
      const now = clock()
      const known = left.get(key)
      const gained = known ? (Math.max(now - known.at, 0) / 1000) * perSecond : most
      const there = Math.min((known?.left ?? 0) + gained, most)
      put(left, key, { left: there >= amount ? there - amount : there, at: now })
      return there >= amount ? undefined : Math.max(Math.ceil((Math.min(amount, most) - there) / perSecond), 1)
    },
  }
}

/** Puts an entry behind all others, and drops the first one where there are too many. */
function put<T extends object>(entries: OrderedMap<string, T>, key: string, entry: T): void {
  entries.set(key, entry)
  if (entries.size > MOST_COUNTED && entries.oldest !== undefined) entries.delete(entries.oldest)
}

/** What a process has taken of allowances that others share, and has not used yet; it is lost after a while. */
export function takenAhead() {
  const taken = new OrderedMap<string, { left: number; until: number }>()
  return {
    /** @returns whether there were as many, which are used then */
    use(key: string, amount: number, now: number): boolean {
      const known = taken.get(key)
      if (!known || known.until <= now || known.left < amount) return false
      known.left -= amount
      return true
    },
    /** @param until by the clock of `use` */
    keep(key: string, left: number, until: number): void {
      put(taken, key, { left, until })
    },
  }
}
