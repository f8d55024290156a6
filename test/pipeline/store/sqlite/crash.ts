/** What the crashing processes and their judge agree on. */

import type { TreeEvents } from '../../../../pipeline/store/commit.ts'

export const WRITERS = 16

/** Bytes of a blob that goes to a file. */
export const LARGE = 20_000

/** Bytes that are stored at a path in a writer's n-th commit; every fiftieth commit has a blob in a file. */
export function bodyOf(path: string, n: number): Buffer {
  const size = n % 50 === 49 && path.endsWith('/b') ? LARGE : 700
  return Buffer.alloc(size, `${path} `)
}

/** Files of a tree that is moved back and forth. */
export const FILES = 200

/** Counts its moves, the first of which made it. */
export const MOVES = 'moves'

/** Where the tree is after so many moves. */
export function placeAfter(moves: number): string {
  return moves % 2 === 0 ? '/a/' : '/b/'
}

/** Events that say where a file is gone or has come, and with what text. */
export const TELL: TreeEvents = {
  gone: { around: ['gone ', ''] },
  come: { around: ['come ', ' ', ': ', ''] },
  largestBody: 1000,
}
