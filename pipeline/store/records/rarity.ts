/**
 * Which of several keys a search begins with: the rarest. It is found in steps that hang on how rare it is, not on how many
 * entries carry the others: all are counted up to a bound, which grows until one of them has fewer.
 */

/** Entries counted of each key at first, and how many times as many each time after. */
export const [FEW, TIMES] = [64, 8]

/**
 * @param counted how many entries carry each key, counted up to a bound
 * @param most the bound
 * @returns the keys, the rarest first; undefined where no key is rarer than that, and a larger bound would tell them apart
 */
export function byRarity<K>(counted: readonly { key: K; count: number }[], most: number): K[] | undefined {
  if (counted.length > 1 && counted.every(({ count }) => count >= most)) return undefined
  return counted.toSorted((a, b) => a.count - b.count).map(({ key }) => key)
}

/** The same where keys are counted at once. @returns the keys, the rarest first */
export function rarestFirst<K>(keys: readonly K[], countUpTo: (key: K, most: number) => number): K[] {
  if (keys.length < 2) return [...keys]
  for (let most = FEW; ; most *= TIMES) {
    const sorted = byRarity(
      keys.map(key => ({ key, count: countUpTo(key, most) })),
      most,
    )
    if (sorted) return sorted
  }
}
