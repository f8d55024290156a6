/** Finds what somebody probably meant. */

/**
 * The word nearest to a mistyped one: equal but for case and separators, or at most a third of its letters wrong.
 *
 * @returns undefined when none is near
 */
export function nearest(mistyped: string, words: Iterable<string>): string | undefined {
  const wanted = plain(mistyped)
  if (wanted.length > 64) return undefined
  let best: string | undefined
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1
  for (const word of words) {
    const distance = editDistance(wanted, plain(word))
    if (distance < least) {
      least = distance
      best = word
    }
  }
  return best
}

function plain(word: string): string {
  return word.toLowerCase().replace(/[-_ ]/g, '')
}

/** Insertions, deletions, replacements and swaps of neighbours that make one word of the other. */
function editDistance(one: string, other: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1]
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      )
      if (row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1)
      }
      current[column] = cost
    }
    beforeLast = last
    last = current
  }
  return last[other.length] ?? 0
}
