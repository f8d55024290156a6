/** Commits: changes and events that are stored together, or not at all. */

import type { Content } from './blobs.ts'
import type { NoteChange } from './notes.ts'
import type { Entry, Property, Resource } from './resource.ts'

/**
 * What must hold of a path inside the commit: a version, nothing stored, something stored, or anything. For a collection
 * its sum (K of DAV-52) says that nothing at any depth below it has changed. The digest of a file's bytes is for those who
 * go on from a version whose number is not known yet.
 */
export type Expectation = number | 'absent' | 'present' | { members: string } | { digest: string } | undefined

/**
 * What must hold of the site's entries when the changes of a commit are done: how many entries, at all paths, carry every
 * key of one of the alternatives.
 */
export interface Guard {
  any: readonly (readonly string[])[]
  /**
   * No entry, at least one, or at most one; or none that has come since a version but what the commit itself brings, each
   * alternative being one key.
   */
  expect: Count | { since: number }
}

export type Count = 'none' | 'some' | 'single'

export type Change =
  | {
      op: 'put'
      path: string
      expect?: Expectation
      /** Its collection must exist; otherwise missing collections are made. */
      needsParent?: boolean
      kind: 'document' | 'blob'
      content: Content
      type: string
      language?: string
      shown?: number
      /** Data derived from the bytes, by name; replaces all earlier derived data of the path. */
      derived?: Record<string, string>
      /** What the bytes hold; replaces all earlier entries of the path. */
      entries?: readonly Entry[]
    }
  /** A file, or a collection with everything below it. */
  | { op: 'delete'; path: string; expect?: Expectation; tell?: TreeEvents }
  /** An empty collection; its parent must exist. */
  | { op: 'collection'; path: string }
  /** Content, times, type, derived data and properties go along; whatever stood at `to` is removed first. */
  | {
      op: 'move'
      from: string
      to: string
      expect?: Expectation
      expectTo?: Expectation
      /** Bytes that the path of no member may exceed at the destination. */
      longest?: number
      type?: string
      kind?: 'document' | 'blob'
      derived?: Record<string, string>
      /** Taken only with `derived`. */
      entries?: readonly Entry[]
      tell?: TreeEvents
    }
  /** Content, type, derived data and properties are copied; `deep` takes the members of a collection along. */
  | {
      op: 'copy'
      from: string
      to: string
      deep: boolean
      expect?: Expectation
      expectTo?: Expectation
      /** Bytes that the path of no member may exceed at the destination. */
      longest?: number
      type?: string
      kind?: 'document' | 'blob'
      derived?: Record<string, string>
      /** Taken only with `derived`. */
      entries?: readonly Entry[]
      tell?: TreeEvents
    }
  /** Rewrites the named derived data; bytes and version stay. */
  | { op: 'derive'; path: string; expect?: Expectation; derived: Record<string, string> }
  /**
   * The same of many files below a path.
   *
   * @prop members what follows the path in theirs
   * @prop dropped names of derived data that go
   */
  | {
      op: 'derive-below'
      path: string
      members: readonly string[]
      derived: Record<string, string>
      dropped: readonly string[]
    }
  /** Dead properties and shown times; bytes and version stay. */
  | {
      op: 'describe'
      path: string
      set: Property[]
      remove: Pick<Property, 'namespace' | 'name'>[]
      shown?: number
      language?: string
    }

/** An event that a commit brings; the store gives it its id (EVT-45). */
export interface NewEvent {
  path: string
  /** The `data` of the event, LF line ends, without field names. */
  payload: string
  /**
   * Where the text stands in `payload` of the document that the commit puts at `path`: its bytes without byte order mark, read
   * as UTF-8. A store may keep it once for both.
   */
  text?: { start: number; length: number }
  /** Session and connection token that caused it (EVT-55). */
  session?: string
  token?: string
  /** What delivery needs to decide who may see it (EVT-67), as JSON. */
  facts?: string
  /** It follows from the write that the events before it are about: its id does not tell how many do. */
  follows?: true
}

/**
 * events that the store makes by itself when a collection is deleted, moved or copied: one for every file in it, `gone`
 * where it was and `come` where it is then. They come before those of the commit. Paths stand in them with `&` and
 * `<` escaped.
 */
export interface TreeEvents {
  /** Payload before and after the path. */
  gone: Pick<NewEvent, 'session' | 'token'> & { around: readonly [string, string] }
  /** Payload before, between and after the content tag without its quotes, the path, and the text of a document. */
  come: Pick<NewEvent, 'session' | 'token'> & { around: readonly [string, string, string, string] }
  /** Bytes; documents with a longer text come without it. */
  largestBody: number
}

/** Milliseconds in which a commit that is confirmed has its turn, or writes nothing: less than what is left of its leases. */
export const CONFIRMED = 1000

export interface Commit {
  changes: Change[]
  events?: NewEvent[]
  /** Counters of the site that must stand at these values, else nothing is done. Unknown counters stand at 0. */
  requires?: Record<string, number>
  /** Counters that this commit raises by one. */
  raises?: string[]
  /** What must hold of the site's entries once the changes are done, else nothing is done. */
  guards?: readonly Guard[]
  /** Notes that are kept together with the changes, or not at all. */
  notes?: readonly NoteChange[]
  /**
   * Asked when the turn of the commit has come; it may have waited for others. For stores of several processes.
   *
   * @throws what becomes of the commit instead, of which nothing is done
   */
  confirm?: () => undefined | Promise<void>
  /** Changes of another part of the store that are made together with these, or not at all. */
  beside?: BesideChanges
  /** How others may come from what they hold to what this commit stores; passed on to them with the state that it leaves. */
  edit?: PassedEdit
}

/** Changes that bring no bytes and no events; their version is the next one. */
export interface BesideChanges {
  /** Name of the part, as `SiteStore.name`. */
  site: string
  changes: readonly Change[]
  /** Paths at which nothing may stand before, be it a file or a collection. */
  absent: readonly string[]
}

/** An edit of a document, of which stores know no more. */
export interface PassedEdit {
  /** One that the changes name. */
  readonly path: string
}

export type CommitResult =
  | {
      ok: true
      version: number
      /** Unix milliseconds of the commit. */
      at: number
      /** Ids of the events, in the order of `events`. */
      events: string[]
      /** New state of every file and collection that the changes named, by path; undefined where it is gone. */
      resources: Map<string, Resource | undefined>
      counters: Record<string, number>
    }
  | { ok: false; reason: 'version'; path: string; current?: Resource }
  | { ok: false; reason: 'counter'; counter: string; current: number }
  /** A guard did not hold; `guard` is its place among those of the commit. */
  | { ok: false; reason: 'guard'; guard: number }
  /** Nothing stored where something is needed, or the parent of an explicit collection, copy, move, or put that needs it is missing. */
  | { ok: false; reason: 'missing'; path: string }
  /** A file stands where a collection is needed, or the other way round. */
  | { ok: false; reason: 'kind'; path: string; current: Resource }
  /** Something in the other part of the store was not as its changes need it. */
  | { ok: false; reason: 'beside' }
  /** A member, of whichever part, would come to a path that is longer than allowed; `path` is its path before. */
  | { ok: false; reason: 'length'; path: string }
