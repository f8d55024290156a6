/** SHA-256 of what may be long, in steps. */

import { createHash, hash } from 'node:crypto'
import { PIECE, piecesOf } from '../tree/document.ts'
import type { Stretches } from '../tree/source-text.ts'
import type { Steps } from '../tree/steps.ts'

/** UTF-16 code units that are hashed in one step. */
const CHUNK = 64 * 1024

/**
 * @param texts none of which ends within a character
 * @returns the digest of what they are one after another in UTF-8, 64 hex digits
 */
export function* digesting(texts: Iterable<Stretches>): Steps<string> {
  let text = ''
  let sum: ReturnType<typeof createHash> | undefined
  for (const each of texts) {
    for (const piece of each.length <= PIECE ? [each.slice(0)] : piecesOf(each)) {
      text += piece
      if (text.length < CHUNK) continue
      sum ??= createHash('sha256')
      sum.update(text)
      text = ''
      yield
    }
  }
  // Objects that hash cost more than the hash of a short text.
  return sum ? sum.update(text).digest('hex') : hash('sha256', text)
}

/** @returns the digest of a text in UTF-8, 64 hex digits */
export function* digestingText(text: Stretches): Steps<string> {
  if (text.length <= PIECE) return hash('sha256', text.slice(0))
  const sum = createHash('sha256')
  for (const piece of piecesOf(text)) {
    sum.update(piece)
    yield
  }
  return sum.digest('hex')
}
