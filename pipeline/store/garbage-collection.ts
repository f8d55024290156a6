/** Garbage collection at moments the collector cannot know of. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collect = (options: { type: 'minor' | 'major'; execution: 'sync'; flavor?: 'last-resort' }) => void

let collector: Collect | undefined

function collect(options: Parameters<Collect>[0]): void {
  if (!collector) {
    // Flags belong to the process: a thread that took this one back could take it from a thread that is between these lines.
    setFlagsFromString('--expose-gc')
    collector = runInNewContext('gc') as Collect
  }
  collector(options)
}

/**
 * Sockets hand over every piece of a body in a buffer of its own, and the collector counts such memory late: a large
 * upload would leave tens of megabytes behind. To be called once for every few megabytes of a body that streams through;
 * it takes less than a millisecond.
 */
function dropYoungGarbage(): void {
  collect({ type: 'minor', execution: 'sync' })
}

/** Bytes after which the buffers they arrived in are collected. */
const COLLECT_EVERY = 4 * 1024 * 1024

/** Collects the buffers that bytes went through, every few megabytes. @param size bytes so far, after so many more */
export function collectAt(size: number, more: number): void {
  if (size % COLLECT_EVERY < more) dropYoungGarbage()
}

/** Gives back what nobody needs any more. Takes some 20 ms, so it is for moments when no request waits. */
export function dropGarbage(): void {
  collect({ type: 'major', execution: 'sync' })
}

/**
 * The same, and gives the system back what the heap has grown by: half-empty pages are joined, the young generation is small
 * again, and pages that V8 keeps for its next garbage go. Takes some 200 ms, so it is for after a lot of work, once.
 */
export function shrinkHeap(): void {
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
