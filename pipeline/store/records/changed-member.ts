/** What a wrong sum of a collection is wrong by: the member whose line is not what it was when the sum was made. */

import type { Resource } from '../resource.ts'
import { weight, ZERO } from '../tags.ts'

/** Types that files have most; those of the other members are tried as well. */
const COMMON = [
  ...['html', 'plain', 'css', 'javascript', 'csv', 'markdown', 'xml', 'calendar'].map(type => `text/${type}`),
  ...['octet-stream', 'json', 'xml', 'pdf', 'zip', 'xhtml+xml', 'atom+xml'].map(type => `application/${type}`),
  ...['png', 'jpeg', 'gif', 'webp', 'svg+xml', 'avif', 'x-icon'].map(type => `image/${type}`),
  ...['video/mp4', 'audio/mpeg', 'font/woff2'],
]

const WHOLE = 1n << 256n

/**
 * Finds the member whose type has changed. A sum agrees with no other line by chance, so what is found is proved.
 *
 * @param members of the collection that have a line in its sum
 * @param stored the sum as it is stored, 64 hex digits
 * @returns the member as it was; undefined where something else is wrong
 */
export function changedMember(members: readonly Resource[], stored: string = ZERO): Resource | undefined {
  const sum = members.reduce((total, member) => total + weight(member), 0n)
  const missing = (((BigInt(`0x${stored}`) - sum) % WHOLE) + WHOLE) % WHOLE
  const types = new Set(COMMON)
  for (const member of members) if (member.kind !== 'collection') types.add(member.type)
  for (const member of members) {
    if (member.kind === 'collection') continue
    const wanted = (missing + weight(member)) % WHOLE
    for (const type of types) {
      const before = { ...member, type }
      if (weight(before) === wanted) return before
    }
  }
  return undefined
}
