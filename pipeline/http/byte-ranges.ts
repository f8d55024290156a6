/** Byte ranges of RFC 9110 §14 (HTTP-58). */

import { isDigits, trimField } from './field-text.ts'

/** First and last byte, zero-based and inclusive; as requested the last may be infinite. */
export interface ByteRange {
  first: number
  last: number
}

/** The last `suffix` bytes. */
export interface SuffixRange {
  suffix: number
}

/** More ranges than any reader asks for; RFC 9110 §14.2 allows to answer such a request whole. */
const MOST_RANGES = 32

/**
 * Reads what follows `bytes=`: `a-b`, `a-`, `-n` and lists of them.
 *
 * @returns an empty list where the field is malformed or asks for too many ranges; it is then ignored
 */
export function parseByteRanges(text: string): (ByteRange | SuffixRange)[] {
  const ranges: (ByteRange | SuffixRange)[] = []
  let start = 0
  while (start <= text.length) {
    const comma = text.indexOf(',', start)
    const end = comma < 0 ? text.length : comma
    const item = trimField(text.slice(start, end))
    start = end + 1
    if (item === '') continue
    const range = parseByteRange(item)
    if (!range || ranges.length === MOST_RANGES) return []
    ranges.push(range)
  }
  return ranges
}

function parseByteRange(item: string): ByteRange | SuffixRange | undefined {
  const dash = item.indexOf('-')
  if (dash < 0) return undefined
  const from = item.slice(0, dash)
  const to = item.slice(dash + 1)
  if (from === '') return isDigits(to) ? { suffix: Number(to) } : undefined
  if (!isDigits(from) || (to !== '' && !isDigits(to))) return undefined
  const range = { first: Number(from), last: to === '' ? Number.POSITIVE_INFINITY : Number(to) }
  return range.first <= range.last ? range : undefined
}

/**
 * Fits requested ranges to a representation.
 *
 * @param ranges as parsed
 * @param size bytes of the representation
 * @returns ranges inside it, in the order of the request; `unsatisfiable` for 416 with `bytes * /size`; undefined where
 *   the whole is to be sent as 200: malformed ranges, ranges that overlap so much that they are longer than the
 *   whole (RFC 9110 §14.2), and the last bytes of nothing, which are all there are (§14.1.2)
 */
export function resolveByteRanges(
  ranges: readonly (ByteRange | SuffixRange)[],
  size: number,
): ByteRange[] | 'unsatisfiable' | undefined {
  if (ranges.length === 0) return undefined
  const satisfiable: ByteRange[] = []
  let total = 0
  for (const range of ranges) {
    const first = 'suffix' in range ? Math.max(size - range.suffix, 0) : range.first
    const last = 'suffix' in range ? size - 1 : Math.min(range.last, size - 1)
    if (first > last) continue
    satisfiable.push({ first, last })
    total += last - first + 1
  }
  if (satisfiable.length === 0)
    return size === 0 && ranges.some(range => 'suffix' in range && range.suffix > 0) ? undefined : 'unsatisfiable'
  return total > size ? undefined : satisfiable
}

/** @returns `Content-Range` of one range; without a range that of a 416 */
export function bytesContentRange(range: ByteRange | undefined, size: number): string {
  return range ? `bytes ${range.first}-${range.last}/${size}` : `bytes */${size}`
}
