/** Where a watcher goes on among the events that the store keeps (EVT-47, EVT-49): the same for every fan-out. */

import { compareEventIds, parseEventId } from '../store/event-id.ts'
import type { StoredEvent } from '../store/events.ts'
import type { SiteStore } from '../store/store.ts'
import type { StreamPosition } from './fan-out.ts'

type KeptEvents = Pick<SiteStore, 'newestEvent' | 'continuous' | 'events' | 'keepsAfter'>

/**
 * The place of somebody who comes with the id of the last event seen, or with none.
 *
 * @param last as the client sent it; one that is later than every known one stands for the newest
 */
export async function resumeAt(kept: KeptEvents, path: string, last: string | undefined): Promise<StreamPosition> {
  const newest = await kept.newestEvent(path)
  if (last === undefined) return { after: newest, gap: false }
  if (!(await kept.continuous(path, last))) return { after: newest, gap: true }
  return { after: isLater(last, newest) ? newest : last, gap: false }
}

/**
 * Events behind a place, oldest first.
 *
 * @returns undefined when events behind that place are no longer kept
 */
export async function readAfter(
  kept: KeptEvents,
  path: string,
  after: string | undefined,
  limit: number,
): Promise<StoredEvent[] | undefined> {
  const events = await kept.events(path, after, limit)
  // Asked afterwards, so that what goes away between the two shows as well.
  return after === undefined || (await kept.keepsAfter(path, after)) ? events : undefined
}

function isLater(id: string, newest: string | undefined): boolean {
  const [asked, known] = [parseEventId(id), parseEventId(newest ?? '')]
  return asked !== undefined && (known === undefined || compareEventIds(asked, known) > 0)
}
