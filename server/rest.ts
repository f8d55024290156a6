/** What the server gives back when nobody asks for anything, and where its heap or that of the C library is full. */

import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { heapAsked, type Memory, nodeOptions } from '../pipeline/memory.ts'
import { dropGarbage, shrinkHeap } from '../pipeline/store/garbage-collection.ts'
import { trimHeap } from '../pipeline/store/sqlite/c-heap.ts'
import { watchHeap } from '../pipeline/tree/heap.ts'

/** Milliseconds without a request after which the server rests. */
const PATIENCE = 15_000

/** Looks at whether requests came, in that time. */
const LOOKS = 5

/** Requests after which the heap has grown by more than what its collection takes is worth. */
const MUCH = 1000

/** Bytes that have to come together outside the heap of JavaScript before those of them that are free are looked for. */
const MUCH_OUTSIDE = 32 * 1024 * 1024

export interface Rest {
  /** Looks whether requests came since the last look, and how much memory the process has; runs by itself. */
  look(): void
  close(): void
}

/** What a process can give back beside its caches. */
export interface Garbage {
  briefly(): void
  /** After many requests, in place of the other. */
  thoroughly(): void
  /** Bytes of the process outside the heap of JavaScript. */
  outside(): number
  /** Gives back what is free there. */
  trim(): void
}

const OWN: Garbage = {
  briefly: dropGarbage,
  thoroughly: shrinkHeap,
  outside: () => process.memoryUsage.rss() - getHeapStatistics().total_physical_size,
  trim: trimHeap,
}

/**
 * Has memory given back after a while without requests, once: then the collector runs, which nobody waits for. What is free
 * outside the heap of JavaScript is given back between requests, too, where much has come together since the last time.
 *
 * @param answered tells how many requests were answered so far
 * @param release lets go of what is not needed before the next request
 */
export function watchRest(answered: () => number, release: () => void, garbage = OWN): Rest {
  let before = Number.NaN
  let rested = 0
  let quiet = 0
  let outside = garbage.outside()
  let untrimmed = 0
  const trim = () => {
    garbage.trim()
    outside = garbage.outside()
    untrimmed = 0
  }
  const look = () => {
    const now = answered()
    quiet = now === before ? quiet + 1 : 0
    before = now
    // Collected buffers are freed by another thread, some time after they were collected.
    if (quiet === LOOKS + 1) trim()
    else if (++untrimmed > LOOKS && garbage.outside() - outside > MUCH_OUTSIDE) trim()
    if (quiet !== LOOKS) return
    release()
    if (now - rested < MUCH) garbage.briefly()
    else garbage.thoroughly()
    rested = now
  }
  const timer = setInterval(look, PATIENCE / LOOKS).unref()
  return {
    look,
    close: () => clearInterval(timer),
  }
}

/**
 * Has the heap of the server watched (HTTP-183).
 *
 * @param memory gives way
 * @param asked bytes that the heap may take by options of Node; infinite without any
 */
export function watchOwnHeap(memory: Memory, asked = heapAsked(nodeOptions())): void {
  // V8 ends a process after four collections in a row that found little, however much of the heap is left. Here work that
  // finds no room is refused before it is used up.
  setFlagsFromString('--no-detect-ineffective-gcs-near-heap-limit')
  const size = Math.min(asked, getHeapStatistics().heap_size_limit)
  const committed = () => getHeapStatistics().total_heap_size
  watchHeap({ size, committed, collect: dropGarbage, compact: shrinkHeap, release: () => memory.release() })
}
