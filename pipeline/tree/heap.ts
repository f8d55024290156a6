/** The room that the heap of JavaScript has left for trees (HTTP-183). Servers watch it; nothing is watched elsewhere. */

import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'

/** Whether there is no memory now, not beside others, on this server at all, or for one text on any. */
type Reason = 'busy' | 'outrun' | 'small' | 'long'

const MESSAGES: Record<Reason, string> = {
  busy: 'The heap has no room left.',
  outrun: 'The heap has no room left.',
  small: 'The tree does not fit into the heap.',
  long: 'The text is longer than any can be.',
}

/** There is not enough memory for a tree, or for what is written of it. */
export class HeapError extends Error {
  readonly reason: Reason

  constructor(reason: Reason) {
    super(MESSAGES[reason])
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
  /** Bytes of all its pages, which garbage may have left half empty. */
  committed?: () => number
  /** Joins half-empty pages. */
  compact?: () => void
  /** Lets go of what is only kept to answer faster. */
  release(): void
}

/** The part that may be in use. Above it V8 gives up when a few collections in a row have found little. */
const MOST = 0.75

/** The part, and the bytes, above which large works no longer go on side by side. */
const CROWDED = 0.5
const AMPLE = 1024 * 1024 * 1024

/** The part that small works may have beside large ones then. */
const BESIDE = 1 / 16

/** The part by which the heap grows before it is collected again. */
const GROWTH = 0.04

/** Parts that all pages take together when half-empty ones are joined: V8 ends a process that gets no further pages. */
const SPREAD = 1.15
/** The part by which they grow before that is done again. */
const SPREADING = 0.25

/** Bytes of modules and their data, with those of a server that has worked. */
const PROGRAM = 40 * 1024 * 1024

let watched: Required<Heap> | undefined
/** Bytes that all pages took when half-empty ones were joined last. */
let joined = 0
/** Bytes that were in use behind the last collection. */
let live = 0

/** @param heap undefined ends it */
export function watchHeap(heap: Heap | undefined): void {
  watched = heap && { used: bytesUsed, committed: () => 0, compact: heap.collect, ...heap }
  live = 0
  joined = 0
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

/** Whether large works had better wait for each other. Garbage counts, so that this says it early. */
export function isHeapCrowded(): boolean {
  return watched !== undefined && watched.used() >= Math.min(watched.size * CROWDED, AMPLE)
}

/** @returns bytes that works may take together which go on beside earlier ones where the heap is crowded */
export function heapBeside(): number {
  return watched ? watched.size * BESIDE : Number.POSITIVE_INFINITY
}

/** Whether what is in use leaves no room for further work. Collects garbage, and what is kept, before it says so. */
export function isHeapTight(): boolean {
  if (!watched) return false
  joinPages(watched)
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

function joinPages({ size, committed, compact }: Required<Heap>): void {
  const most = Math.max(size * SPREAD, joined + size * SPREADING)
  if (committed() < most) return
  compact()
  joined = committed()
}

/** To be called when work has ended, whose memory the next look is to find free. */
export function noteFreed(): void {
  live = 0
}
