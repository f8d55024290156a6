/** Large bodies that were changed in places: what was stored once, and the changes since. */

/** One change of a body, as it was left by those before it. */
export interface SpliceRow {
  start: number
  until: number
  bytes: Uint8Array
}

/** The changes of a body in their order. */
export const SPLICES = 'SELECT start, until, bytes FROM splice WHERE id = ? ORDER BY number'

/** The body after its changes. */
export function spliced(body: Uint8Array, splices: readonly SpliceRow[]): Uint8Array {
  if (splices.length === 0) return body
  let parts = [body]
  for (const { start, until, bytes } of splices)
    parts = [...stretch(parts, 0, start), bytes, ...stretch(parts, until, Number.POSITIVE_INFINITY)]
  const whole = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** A stretch of bytes that lie in several parts. */
function stretch(parts: readonly Uint8Array[], from: number, to: number): Uint8Array[] {
  const found: Uint8Array[] = []
  let at = 0
  for (const part of parts) {
    const piece = part.subarray(Math.max(0, from - at), Math.max(0, to - at))
    if (piece.length > 0) found.push(piece)
    at += part.length
  }
  return found
}
