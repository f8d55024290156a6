/** The binary format in which PostgreSQL copies rows out ("COPY", "Binary Format"), for rows of one column. */

/** Bytes before the first row: signature, flags and the length of an extension, which there is none of. */
const HEAD = 19

/** Bytes before each value: the number of columns, and its own length. */
const LENGTHS = 6

/**
 * @param take given the bytes of all values in order
 * @returns to be given the copy, in pieces of any size
 */
export function bytesOfCopy(take: (piece: Uint8Array) => void): (piece: Uint8Array) => void {
  const lengths = Buffer.alloc(LENGTHS)
  let skipped = 0
  /** Bytes of the next lengths that have come. */
  let filled = 0
  /** Bytes that are left of the value. */
  let left = 0
  return piece => {
    let at = Math.min(HEAD - skipped, piece.length)
    skipped += at
    while (at < piece.length) {
      if (left > 0) {
        const part = piece.subarray(at, at + left)
        take(part)
        at += part.length
        left -= part.length
        continue
      }
      const part = piece.subarray(at, at + LENGTHS - filled)
      lengths.set(part, filled)
      at += part.length
      filled += part.length
      // What has no columns is the end.
      if (filled < LENGTHS) continue
      filled = 0
      left = Math.max(lengths.readInt32BE(2), 0)
    }
  }
}
