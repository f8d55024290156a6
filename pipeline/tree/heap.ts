/** The room that the heap of JavaScript has left for trees, where its size was set (HTTP-183). Nothing is watched elsewhere. */

import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'

/** There is not enough memory for a tree: now, or on this server at all. */
export class HeapError extends Error {
  readonly reason: 'busy' | 'small'

  constructor(reason: 'busy' | 'small') {
    super(reason === 'busy' ? 'The heap has no room left.' : 'The tree does not fit into the heap.')
    this.name = 'HeapError'
    this.reason = reason
  }
}

export interface Heap {
  /** Bytes of the old generation. */
  size: number
  /** Bytes in use there; garbage counts. */
  used?: () => number
  collect(): void
  /** Lets go of what is only kept to answer faster. */
  release(): void
}

/** The part that may be in use. Above it V8 gives up when a few collections in a row have found little. */
const MOST = 0.75

/** The part by which the heap grows before it is collected again. */
const GROWTH = 0.04

/** Bytes of modules and their data, with those of a server that has worked. */
const PROGRAM = 40 * 1024 * 1024

let watched: Required<Heap> | undefined
/** Bytes that were in use behind the last collection. */
let live = 0

/** @param heap undefined ends it */
export function watchHeap(heap: Heap | undefined): void {
  watched = heap && { used: bytesUsed, ...heap }
  live = 0
}

/** What is young is no part of what the size limits. */
function bytesUsed(): number {
  let used = getHeapStatistics().used_heap_size
  if (watched && used < watched.size * MOST) return used
  for (const { space_name: name, space_used_size: bytes } of getHeapSpaceStatistics())
    if (name.startsWith('new')) used -= bytes
  return used
}

/** @returns bytes that the trees of one request may take together; infinite where nothing is watched */
export function treeRoom(): number {
  return watched ? Math.max(0, watched.size * MOST - PROGRAM) : Number.POSITIVE_INFINITY
}

/**
 * @param bytes that trees will take together
 * @throws HeapError for what can never fit
 */
export function requireHeap(bytes: number): void {
  if (bytes > treeRoom()) throw new HeapError('small')
}

/** Whether a heap is watched. */
export function isHeapWatched(): boolean {
  return watched !== undefined
}

/** Whether what is in use leaves no room for further work. Collects garbage, and what is kept, before it says so. */
export function isHeapTight(): boolean {
  if (!watched) return false
  const { size, used, collect, release } = watched
  const most = size * MOST
  const now = used()
  if (now < most) return false
  if (now >= live && now - live < size * GROWTH) return live >= most
  collect()
  live = used()
  if (live < most) return false
  release()
  collect()
  live = used()
  return live >= most
}

/** To be called when work has ended, whose memory the next look is to find free. */
export function noteFreed(): void {
  live = 0
}
