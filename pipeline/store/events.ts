/** Events of commits, as they are kept for a time (EVT-46). */

import type { NewEvent } from './commit.ts'

export interface StoredEvent extends NewEvent {
  /** `<unix ms>-<sequence>`, rising per site. */
  id: string
  version: number
}

/** Events of one site. */
export interface EventReader {
  /** Events of a path with a greater id than `after` (all kept ones if undefined), oldest first, at most `limit`. */
  events(path: string, after?: string, limit?: number): Promise<StoredEvent[]>
  /** Events of the whole site with a greater id, oldest first, at most `limit`. */
  allEvents(after: string | undefined, limit: number): Promise<StoredEvent[]>
  /** Newest id ever given out on a path, kept for 24 hours (EVT-49). */
  newestEvent(path: string): Promise<string | undefined>
  /** Whether `events(path, after)` is everything that happened since: false when a reset is due instead (EVT-49). */
  continuous(path: string, after: string): Promise<boolean>
  /** Whether every event of a path that came after this one is still kept. Unlike above, the id was given out here. */
  keepsAfter(path: string, id: string): Promise<boolean>
}
