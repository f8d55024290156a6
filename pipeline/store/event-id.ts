/** Ids of events (EVT-45): two decimal numbers, the time of the commit in unix milliseconds and a counter. */

export interface EventId {
  ms: number
  seq: number
}

/** @returns undefined for a text that is no id; too large numbers come after every id */
export function parseEventId(text: string): EventId | undefined {
  const found = /^(\d+)-(\d+)$/.exec(text)
  if (found === null) return undefined
  const number = (digits: string | undefined) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER)
  return { ms: number(found[1]), seq: number(found[2]) }
}

/** Negative when the first comes before the second, 0 when they are the same. */
export function compareEventIds(a: EventId, b: EventId): number {
  return a.ms - b.ms || a.seq - b.seq
}
