/** Outbound requests as they are kept until they are done (REA-86). */

import { randomUUID } from 'node:crypto'
import type { Note, NoteChange } from '../../store/notes.ts'
import type { OutboundCall } from '../calls.ts'

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
export const failedKey = (id: string) => FAILED + id
export const ownerKey = (owner: string) => OWNER + owner
export const WAITING_PREFIX = WAITING
export const FAILED_PREFIX = FAILED

export function keepWaiting(entry: Entry): NoteChange {
  const note = { key: waitingKey(entry.id), value: JSON.stringify(entry), expires: entry.queued + KEPT.waiting }
  return { op: 'keep', note }
}

/** Moves an entry to those that have failed. @param now unix milliseconds */
export function keepFailed(entry: Entry, now: number): NoteChange[] {
  const note = { key: failedKey(entry.id), value: JSON.stringify(entry), expires: now + KEPT.failed }
  return [
    { op: 'drop', key: waitingKey(entry.id) },
    { op: 'keep', note },
  ]
}

/** The request that a failed one is sent as again: with all of its attempts. @param now unix milliseconds */
export function sendAgain(entry: Entry, now: number): NoteChange[] {
  const { failure: _, ...fresh } = entry
  return [
    { op: 'drop', key: failedKey(entry.id) },
    keepWaiting({ ...fresh, attempts: 0, due: now, queued: now, owner: '' }),
  ]
}

/** Host and port that a request goes to. */
export function hostOf({ url, authority }: Pick<Entry, 'url' | 'authority'>): string {
  return url.startsWith('/') ? authority : new URL(url).host
}

export function entryOf({ value }: Note): Entry {
  return JSON.parse(value) as Entry
}
