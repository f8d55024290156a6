/**
 * Fan-out: takes committed events to whoever watches their paths, in every process of an installation, and finds the
 * place where a returning watcher has to go on (EVT-35, EVT-45 to EVT-49, EVT-80 to EVT-82). The contract that every
 * fan-out fulfils.
 *
 * In one process the store keeps the events and gives them their ids; publishing is a call. Several processes share a
 * store that does so and tell each other that there is something to read, or share a stream for each path, for which the
 * store's events wait to be sent. Either way:
 *
 * - `finish` is called within the critical section of the write (its caller still holds the lease, and waits), so that
 *   what it appends or tells is in the order of the commits. What cannot be told at once is told later, by whoever can;
 *   versions and ids tell a repetition from a second event.
 * - `watch` adds the path to those that the process reads; `read` and `resume` ask what is shared and not the process.
 * - After a broken connection a watcher is told that it was `interrupted`: it reads on from the last event it had, and
 *   learns from `read` if events are gone. Nobody is turned away meanwhile (EVT-81).
 */

import type { NewEvent } from '../store/commit.ts'
import type { StoredEvent } from '../store/events.ts'

/** Hears what happens on one path. Called while others wait: it only takes note, and throws nothing. */
export interface Watcher {
  /** Events come in the order of their ids, each once, and after the state that they tell of can be read. */
  published(event: StoredEvent): void
  /** Events may have been missed; `read` has them. */
  interrupted(): void
}

/** What became of a commit; `unknown` when the store failed to tell. */
export type CommitOutcome = { version: number; events: readonly string[] } | 'refused' | 'unknown'

/** The events of one commit on their way. */
export interface Publication {
  /**
   * Says what became of the commit, once, when its state can be read by everybody. Never fails, never waits for readers.
   *
   * @returns settles when the order of these events is decided for all processes
   */
  finish(outcome: CommitOutcome): Promise<void>
}

/** Where a watcher goes on. */
export interface StreamPosition {
  /** Id after which to `read`; undefined: before everything that is kept. */
  after: string | undefined
  /** Events between the id that was asked for and this place are gone: a reset is due (EVT-49). */
  gap: boolean
}

export interface FanOut {
  /**
   * Announces a commit that is about to be made. Between here and `finish` later events of the same paths are held
   * back, so that they cannot overtake these.
   *
   * @param news the commit's events, in its order
   * @param trees collections about whose files the store makes events by itself; whoever watches one of them reads on
   */
  begin(site: string, news: readonly NewEvent[], trees?: readonly string[]): Publication
  /**
   * Has a watcher told of every event of a path that is published from now on.
   *
   * @param path canonical path
   * @returns ends it
   */
  watch(site: string, path: string, watcher: Watcher): () => void
  /**
   * The place of somebody who comes with the id of the last event seen, or with none. An id later than every known one
   * stands for the newest (EVT-49); somebody without an id begins there as well.
   */
  resume(site: string, path: string, last: string | undefined): Promise<StreamPosition>
  /**
   * Kept events of a path, oldest first: all that were published before the call, as far as the limit goes.
   *
   * @param after the place reached so far
   * @returns undefined when events behind that place are no longer kept
   */
  read(site: string, path: string, after: string | undefined, limit: number): Promise<StoredEvent[] | undefined>
  /** Publishes nothing any more; what was committed is published later, by whoever starts next. */
  close(): Promise<void>
}
