/** Words that are nearly others: what somebody has probably meant. */

/** Words so short that others are near to them by chance, unless they begin alike. */
const SHORT = 5

/** Whether two words are the same but for case and for one letter that is missing, too much or another, or for two that are swapped. */
export function isNear(one: string, other: string): boolean {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()]
  const longest = Math.max(a.length, b.length)
  if (Math.abs(a.length - b.length) > 1) return false
  let before = 0
  while (before < longest && a[before] === b[before]) before++
  let behind = 0
  while (behind < longest - before && a.at(-1 - behind) === b.at(-1 - behind)) behind++
  if (before + behind >= longest - 1) return true
  return before + behind === longest - 2 && a[before] === b[before + 1] && a[before + 1] === b[before]
}

/** `isNear` for names of any length. */
export function isMeant(name: string, known: string): boolean {
  if (known.length > SHORT) return isNear(name, known)
  return name.toLowerCase().replace(/s$/, '') === known.toLowerCase()
}
