/**
 * What commits have to write. Everything is kept until the end of the transaction, or until a statement needs to find it
 * in its table; then all of it goes at once (`flush.ts`).
 */

import type { Row } from '../rows.ts'

/** A row at its place; null where there shall be none. */
export interface Placed {
  site: number
  folder: string
  name: string
  row: Row | null
}

export interface NewEvent {
  site: number
  ms: number
  seq: number
  path: string
  version: number
  payload: string
  session: string | null
  token: string | null
  facts: string | null
  bytes: number
}

/** Bytes of a body: at hand, or in the chunks of an upload. */
export type NewBody = Uint8Array | { upload: string }

/** Derived data of a resource: all of it, or only what is named. */
export interface NewDerived {
  site: number
  values: Map<string, string>
  whole: boolean
}

/** What becomes of the bytes of a digest: used, kept although they may have been given up, or given up at a time. */
export type BlobUse =
  | { use: 'new'; upload: string; object: boolean; size: number; sha1: string; md5: string; left?: number }
  | { use: 'keep' }
  | { use: 'leave'; at: number }

export interface LogEntry {
  version: number
  site: string
  paths: string
  raised: string
  edit: string | null
}

export interface Pending {
  sites: Map<number, { name: string; ms: number; seq: number }>
  rows: Map<string, Placed>
  bodies: Map<number, NewBody>
  /** Bodies that no resource has any more. */
  freed: Set<number>
  derived: Map<number, NewDerived>
  /** Lines of entries by resource; null for none. */
  texts: Map<number, string | null>
  /** Entries that go, before those that come. */
  entriesGone: { id: number; item: string }[]
  entriesCome: { site: number; key: string; id: number; item: string }[]
  /** Resources that lose all properties. */
  undescribed: Set<number>
  events: NewEvent[]
  counters: Map<string, { site: number; name: string; value: number }>
  blobs: Map<string, BlobUse>
  log: LogEntry[]
}

export function nothingPending(): Pending {
  return {
    sites: new Map(),
    rows: new Map(),
    bodies: new Map(),
    freed: new Set(),
    derived: new Map(),
    texts: new Map(),
    entriesGone: [],
    entriesCome: [],
    undescribed: new Set(),
    events: [],
    counters: new Map(),
    blobs: new Map(),
    log: [],
  }
}

/** Key of a place in maps. */
export function placeKey(site: number, folder: string, name: string): string {
  return `${site} ${folder}\0${name}`
}

/** Gives up a body; one that was never written needs no writing. */
export function freeBody(pending: Pending, id: number): void {
  if (!pending.bodies.delete(id)) pending.freed.add(id)
}

/** Replaces derived data, or what is named of it. */
export function setDerived(pending: Pending, id: number, { site, values, whole }: NewDerived): void {
  const known = pending.derived.get(id)
  if (whole || known === undefined) pending.derived.set(id, { site, values: new Map(values), whole })
  else for (const [name, value] of values) known.values.set(name, value)
}

/** Takes entries away, those that have not been written included. */
export function removeEntries(pending: Pending, gone: readonly { id: number; item: string }[]): void {
  if (gone.length === 0) return
  const keys = new Set(gone.map(({ id, item }) => `${id} ${item}`))
  if (pending.entriesCome.some(({ id, item }) => keys.has(`${id} ${item}`)))
    pending.entriesCome = pending.entriesCome.filter(({ id, item }) => !keys.has(`${id} ${item}`))
  for (const entry of gone) pending.entriesGone.push(entry)
}

/** Notes what becomes of a blob. */
export function useBlob(pending: Pending, digest: string, use: BlobUse): void {
  const known = pending.blobs.get(digest)
  if (known?.use !== 'new' || use.use === 'new') {
    pending.blobs.set(digest, use)
    return
  }
  const { left: _left, ...fresh } = known
  pending.blobs.set(digest, use.use === 'leave' ? { ...fresh, left: use.at } : fresh)
}

/** Adds what one commit has to write to what its transaction has. */
export function mergePending(into: Pending, from: Pending): void {
  for (const [id, site] of from.sites) into.sites.set(id, site)
  for (const [key, placed] of from.rows) into.rows.set(key, placed)
  for (const [id, body] of from.bodies) into.bodies.set(id, body)
  for (const id of from.freed) freeBody(into, id)
  for (const [id, derived] of from.derived) setDerived(into, id, derived)
  for (const [id, lines] of from.texts) into.texts.set(id, lines)
  removeEntries(into, from.entriesGone)
  for (const entry of from.entriesCome) into.entriesCome.push(entry)
  for (const id of from.undescribed) into.undescribed.add(id)
  for (const event of from.events) into.events.push(event)
  for (const [key, counter] of from.counters) into.counters.set(key, counter)
  for (const [digest, use] of from.blobs) useBlob(into, digest, use)
  for (const entry of from.log) into.log.push(entry)
}
