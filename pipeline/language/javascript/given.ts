/**
 * Elements of a result on their way to the request thread, as one stream of texts and numbers in pieces of JSON: a message of
 * many small objects would be read in one go, however long that takes.
 */

import type { DocumentKind } from '../../tree/nodes.ts'
import type { Steps } from '../../tree/steps.ts'
import type { CompactTree } from './compact.ts'

/** An element of a result: one that was sent, by its number, or a copy of any other. */
export type GivenTree = { reference: number } | { tree: CompactTree }

/** Parts of a piece, and characters from which on it is complete. */
const PARTS = 4_096
const CHARACTERS = 65_536

/** @returns the pieces */
export function packed(trees: readonly GivenTree[]): string[] {
  const pieces: string[] = []
  let piece: (string | number)[] = []
  let characters = 0
  const add = (part: string | number): void => {
    piece.push(part)
    if (typeof part === 'string') characters += part.length
    if (piece.length < PARTS && characters < CHARACTERS) return
    pieces.push(JSON.stringify(piece))
    piece = []
    characters = 0
  }
  for (const each of trees) {
    if ('reference' in each) add(each.reference)
    else {
      const { kind, mode, parts } = each.tree
      for (const part of [kind, mode ?? '', parts.length]) add(part)
      for (const part of parts) add(part)
    }
  }
  if (piece.length > 0) pieces.push(JSON.stringify(piece))
  return pieces
}

/** Adds what was packed to the trees that are there already. */
export function* unpacking(pieces: readonly string[], trees: GivenTree[]): Steps<void> {
  let begun: { kind: DocumentKind; mode?: string; parts: (string | number)[]; rest: number } | undefined
  let head: (string | number)[] = []
  for (const piece of pieces) {
    for (const part of JSON.parse(piece) as (string | number)[]) {
      if (begun) {
        begun.parts.push(part)
        if (--begun.rest === 0) begun = undefined
      } else if (head.length === 0 && typeof part === 'number') trees.push({ reference: part })
      else if (head.push(part) === 3) {
        const [kind, mode, rest] = head as [DocumentKind, string, number]
        const tree: CompactTree = { kind, mode: mode || undefined, parts: [] }
        trees.push({ tree })
        begun = { ...tree, rest }
        head = []
      }
    }
    yield
  }
}
