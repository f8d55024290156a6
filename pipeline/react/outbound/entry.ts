/** Outbound requests as they are kept until they are done (REA-86). */

import { randomUUID } from 'node:crypto'
import type { Note, NoteChange, NoteStore } from '../../store/notes.ts'
import type { OutboundCall } from '../calls.ts'
import { sizeOf } from './waiting.ts'

/** A request in the queue. */
export interface Entry extends OutboundCall {
  /** Names it in the queue; ascending in the order of queuing. */
  id: string
  /** The same in every attempt (REA-82). */
  delivery: string
  /** Name of the site in the store. */
  site: string
  /** Host and port by which the site was called: a path of its own is meant there. */
  authority: string
  /** Brand of the site as header names spell it, and as it is. */
  brandHeader: string
  brand: string
  /** Own-site calls that have led here (REA-88). */
  depth: number
  /** Unix milliseconds. */
  queued: number
  /** Attempts that were made. */
  attempts: number
  /** Unix milliseconds of the next attempt. */
  due: number
  /** The process that sends it. */
  owner: string
  /** Why the last attempt failed. */
  failure?: string
}

const WAITING = 'call/w/'
const FAILED = 'call/f/'
const OWNER = 'call/owner/'

const DAY = 24 * 60 * 60 * 1000
/** Milliseconds that a request is kept that nobody sends, and one that has failed. */
const KEPT = { waiting: 30 * DAY, failed: 7 * DAY }

let sequence = 0

/** @param now unix milliseconds */
export function newEntry(
  call: OutboundCall,
  about: Pick<Entry, 'site' | 'authority' | 'brand' | 'brandHeader' | 'depth' | 'owner'>,
  now: number,
): Entry {
  const delivery = randomUUID()
  sequence = (sequence + 1) % 1_000_000
  const id = `${String(now).padStart(15, '0')}-${String(sequence).padStart(6, '0')}-${delivery.slice(0, 8)}`
  return { ...call, ...about, id, delivery, queued: now, attempts: 0, due: now }
}

export const waitingKey = (id: string) => WAITING + id
/** Keys of the failed entries of a site begin with it. */
export const failedOf = (site: string) => `${FAILED}${encodeURIComponent(site)}/`
/** Tells how much an entry takes, so that this can be counted without reading it. */
export const failedKey = (entry: Entry) => `${failedOf(entry.site)}${entry.id}/${sizeOf(entry)}`
export const failedBytes = (key: string) => Number(key.slice(key.lastIndexOf('/') + 1)) || 0
/** Id of the entry of a key that begins with `WAITING_PREFIX`. */
export const waitingId = (key: string) => key.slice(WAITING.length)
export const ownerKey = (owner: string) => OWNER + owner
export const WAITING_PREFIX = WAITING
export const FAILED_PREFIX = FAILED

export function keepWaiting(entry: Entry): NoteChange {
  const note = { key: waitingKey(entry.id), value: JSON.stringify(entry), expires: entry.queued + KEPT.waiting }
  return { op: 'keep', note }
}

/** Keys that are read at a time. */
const PAGE = 1_000

/** Keys that begin with a text: entries may be large, and many. @throws StoreError */
export async function* keysOf(notes: Pick<NoteStore, 'noteKeys'>, prefix: string): AsyncGenerator<string> {
  let page = await notes.noteKeys(prefix, '', PAGE)
  for (;;) {
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    page = await notes.noteKeys(prefix, last, PAGE)
  }
}

/** Entries whose keys begin with a text, one after another. @throws StoreError */
export async function* entriesOf(
  notes: Pick<NoteStore, 'note' | 'noteKeys'>,
  prefix: string,
): AsyncGenerator<[key: string, entry: Entry]> {
  for await (const key of keysOf(notes, prefix)) {
    const note = await notes.note(key)
    if (note) yield [key, entryOf(note)]
  }
}

/** Moves an entry to those that have failed. @param now unix milliseconds */
export function keepFailed(entry: Entry, now: number): NoteChange[] {
  const note = { key: failedKey(entry), value: JSON.stringify(entry), expires: now + KEPT.failed }
  return [
    { op: 'drop', key: waitingKey(entry.id) },
    { op: 'keep', note },
  ]
}

/**
 * The request that a failed one is sent as again: with all of its attempts.
 *
 * @param key by which it is kept
 * @param now unix milliseconds
 */
export function sendAgain(key: string, entry: Entry, now: number): NoteChange[] {
  const { failure: _, ...fresh } = entry
  return [{ op: 'drop', key }, keepWaiting({ ...fresh, attempts: 0, due: now, queued: now, owner: '' })]
}

/** Host and port that a request goes to. */
export function hostOf({ url, authority }: Pick<Entry, 'url' | 'authority'>): string {
  return url.startsWith('/') ? authority : new URL(url).host
}

export function entryOf({ value }: Note): Entry {
  return JSON.parse(value) as Entry
}
