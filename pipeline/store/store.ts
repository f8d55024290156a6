/**
 * Documents at rest: the contract that every store fulfils.
 *
 * A store keeps sites apart, commits several changes together with their events in one durable transaction, and answers
 * look-ups and listings without touching bodies. Paths are decoded, in NFC, absolute; those of collections end in `/`.
 */

import type { Readable } from 'node:stream'

export type ResourceKind = 'document' | 'blob' | 'collection'

/** Everything known of a resource except its bytes. */
export interface Resource {
  path: string
  kind: ResourceKind
  /** Number of the commit that last changed bytes, type or place: unique and rising within a store. */
  version: number
  /** SHA-256 of the bytes, 64 lower-case hex digits; empty for collections. */
  digest: string
  /** Bytes; 0 for collections. */
  size: number
  /** Stored content type, verbatim; empty for collections. */
  type: string
  language?: string
  /** Unix milliseconds. */
  created: number
  /** Unix milliseconds of the commit that last changed the bytes; for collections the newest change of membership. */
  modified: number
  /** Modification time set by a client, unix seconds; shown on the mount only (DAV-36). */
  shown?: number
  /** The version replaced by this one carried the same `Last-Modified` second (DAV-41). */
  sameSecond: boolean
  /** P of DAV-52: 64 hex digits. */
  properties: string
  /** K of DAV-52, collections only: 64 hex digits. */
  members?: string
}

/** Bytes to be stored: in memory, or a file that `stage` made. */
export type Content = { bytes: Uint8Array } | { staged: StagedBlob }

/** A body that was streamed to disk (or kept in memory when small) while its digests were computed. */
export interface StagedBlob {
  sha256: string
  sha1: string
  md5: string
  size: number
  /** Set when the body was small enough to be kept in the database. */
  bytes?: Uint8Array
  /** Set otherwise: a file that holds the bytes until a commit takes it or it is discarded. */
  file?: string
  /** Drops the staged file; harmless after a commit or when called twice. */
  discard(): Promise<void>
}

/** The bytes of a resource: in memory, or in a file that can be read in ranges. */
export type Body = { bytes: Uint8Array } | { file: string; size: number }

/**
 * What must hold of a path inside the commit: a version, nothing stored, something stored, or anything. For a collection
 * its sum (K of DAV-52) says that nothing at any depth below it has changed.
 */
export type Expectation = number | 'absent' | 'present' | { members: string } | undefined

/** One dead property (DAV-34): namespace, local name and the element's content as XML. */
export interface Property {
  namespace: string
  name: string
  value: string
}

/**
 * Something inside a document that can be found by its keys, such as a microdata item. Entries belong to a version of the
 * document, go along with it to other places, and go away with it.
 */
export interface Entry {
  /** Tells entries of one document apart. */
  item: string
  keys: readonly string[]
}

/**
 * What must hold of the site's entries when the changes of a commit are done: how many entries, at all paths, carry every
 * key of one of the alternatives.
 */
export interface Guard {
  any: readonly (readonly string[])[]
  /** No entry, at least one, or at most one. */
  expect: 'none' | 'some' | 'single'
}

export type Change =
  | {
      op: 'put'
      path: string
      expect?: Expectation
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
  /** An empty collection; its parent must exist (other changes create missing parents). */
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
  /** Dead properties and shown times; bytes and version stay. */
  | {
      op: 'describe'
      path: string
      set: Property[]
      remove: Pick<Property, 'namespace' | 'name'>[]
      shown?: number
      language?: string
    }

/** An event as drafted by the pipeline; the store gives it its id (EVT-45). */
export interface EventDraft {
  path: string
  /** The `data` of the event, LF line ends, without field names. */
  payload: string
  /** Session and connection token that caused it (EVT-55). */
  session?: string
  token?: string
  /** What delivery needs to decide who may see it (EVT-67), as JSON. */
  facts?: string
}

/**
 * Events that the store drafts by itself when a collection is deleted, moved or copied: one for every file in it, `gone`
 * where it was and `come` where it is then. They come before the drafts of the commit. Paths stand in them with `&` and
 * `<` escaped.
 */
export interface TreeEvents {
  /** Payload before and after the path. */
  gone: Pick<EventDraft, 'session' | 'token'> & { around: readonly [string, string] }
  /** Payload before, between and after the content tag without its quotes, the path, and the text of a document. */
  come: Pick<EventDraft, 'session' | 'token'> & { around: readonly [string, string, string, string] }
  /** Bytes; documents with a longer text come without it. */
  largestBody: number
}

export interface StoredEvent extends EventDraft {
  /** `<unix ms>-<sequence>`, rising per site. */
  id: string
  version: number
}

export interface Commit {
  changes: Change[]
  events?: EventDraft[]
  /** Counters of the site that must stand at these values, else nothing is done. Unknown counters stand at 0. */
  requires?: Record<string, number>
  /** Counters that this commit raises by one. */
  raises?: string[]
  /** What must hold of the site's entries once the changes are done, else nothing is done. */
  guards?: readonly Guard[]
  /** How others may come from what they hold to what this commit stores; passed on to them as it is. */
  edit?: string
}

export type CommitResult =
  | {
      ok: true
      version: number
      /** Unix milliseconds of the commit. */
      at: number
      /** Ids of the events, in the order of the drafts. */
      events: string[]
      /** New state of every file and collection that the changes named, by path; undefined where it is gone. */
      resources: Map<string, Resource | undefined>
      counters: Record<string, number>
    }
  | { ok: false; reason: 'version'; path: string; current?: Resource }
  | { ok: false; reason: 'counter'; counter: string; current: number }
  /** A guard did not hold; `guard` is its place among those of the commit. */
  | { ok: false; reason: 'guard'; guard: number }
  /** Nothing stored where something is needed, or the parent of an explicit collection, copy or move is missing. */
  | { ok: false; reason: 'missing'; path: string }
  /** A file stands where a collection is needed, or the other way round. */
  | { ok: false; reason: 'kind'; path: string; current: Resource }
  /** A member would come to a path that is longer than allowed; `path` is its path before. */
  | { ok: false; reason: 'length'; path: string }

/** One site's part of the store. Reads see every commit that was acknowledged before they began. */
export interface SiteStore {
  readonly name: string
  find(path: string): Promise<Resource | undefined>
  /** The bytes belonging to exactly this state of the resource, or undefined if it changed meanwhile. */
  body(resource: Resource): Promise<Body | undefined>
  /** SHA-1 and MD5 of the bytes, lower-case hex. */
  checksums(resource: Resource): Promise<{ sha1: string; md5: string } | undefined>
  /** Direct members of a collection, ascending by name; one indexed query. */
  list(collection: string): Promise<Resource[]>
  /** Everything below a collection, ascending by path; files only unless `collections`. Pages through in slices. */
  walk(prefix: string, options?: { collections?: boolean }): AsyncIterable<Resource>
  /** One piece of derived data of a path. */
  derived(path: string, name: string): Promise<string | undefined>
  /** One kind of derived data of the whole site, ascending by path. */
  allDerived(name: string): AsyncIterable<{ path: string; version: number; value: string }>
  /**
   * Rewrites the named derived data, and the entries if given, without making a new version; ignored if the resource
   * changed meanwhile.
   */
  derive(resource: Resource, derived: Record<string, string>, entries?: readonly Entry[]): Promise<void>
  /**
   * Entries that carry all keys, in no order; an indexed query.
   *
   * @param limit at most so many
   */
  lookup(keys: readonly string[], limit?: number): Promise<{ path: string; item: string }[]>
  properties(path: string): Promise<Property[]>
  /**
   * Properties of members of one collection, from one member to another in the order of names, both included; one indexed
   * query. Members without properties are left out.
   */
  propertiesBetween(first: string, last: string): Promise<Map<string, Property[]>>
  counters(): Promise<Record<string, number>>
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
  /**
   * Carries out all changes in order and stores the events, or does nothing at all. Bytes must not change until the
   * promise settles. @throws StoreError
   */
  commit(commit: Commit): Promise<CommitResult>
}

export interface StagingOptions {
  /** Bytes; a longer stream rejects with `StagingError` of reason `too-large` and leaves nothing behind. */
  limit: number
}

/** Why a body could not be staged. */
export class StagingError extends Error {
  readonly reason: 'too-large' | 'aborted'
  constructor(reason: 'too-large' | 'aborted', options?: ErrorOptions) {
    super(reason, options)
    this.name = 'StagingError'
    this.reason = reason
  }
}

/** Why a store could not do what was asked of it; nothing was changed unless the reason is `failed`. */
export class StoreError extends Error {
  /**
   * `invalid`: a path or a combination of paths that cannot be (a mistake of the caller); `busy`: another process kept
   * the store locked; `full`: no space left; `closed`: after `close`; `failed`: anything else, the outcome may be unknown.
   */
  readonly reason: 'invalid' | 'busy' | 'full' | 'closed' | 'failed'
  constructor(reason: 'invalid' | 'busy' | 'full' | 'closed' | 'failed', message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreError'
    this.reason = reason
  }
}

/** A small value beside the documents that is kept for a time, such as what a visitor's session holds. */
export interface Note {
  /** Not empty; any characters but NUL. */
  key: string
  value: string
  /** Unix milliseconds from which on the note is gone. */
  expires: number
}

export type NoteChange =
  /** Replaces what was kept under the key. */
  | { op: 'keep'; note: Note }
  /** One note; none is fine, too. */
  | { op: 'drop'; key: string }
  /** Every note whose key begins with the text. */
  | { op: 'drop-all'; prefix: string }

/** A commit made by another process. */
export interface ForeignCommit {
  version: number
  /** Name of the site. */
  site: string
  /** What its changes and events named; a path ending in `/` stands for everything below it, too. */
  paths: readonly string[]
  /** Counters that it raised. */
  raised: readonly string[]
  /** As the commit had it. */
  edit?: string
}

/** What other processes do to a store that several have open. */
export interface ForeignCommits {
  /** Whether anybody has committed since the last `read`. Answers at once, within a microsecond or two. */
  waiting(): boolean
  /**
   * Commits of others since the last call, in their order; undefined when they can no longer be told one by one:
   * anything may have changed. `version` is the newest that this covers.
   */
  read(): Promise<{ version: number; commits: ForeignCommit[] | undefined }>
}

export interface Store {
  /** Present when the store was opened to be shared with other processes. */
  readonly foreign?: ForeignCommits
  /** The site of this name; made on its first commit. Names of sites are host names in lower case. */
  site(name: string): SiteStore
  sites(): Promise<string[]>
  /** Streams a body to disk with constant memory. An aborted stream leaves nothing behind. */
  stage(body: Readable, options: StagingOptions): Promise<StagedBlob>
  /** A small value that belongs to the whole installation (signing keys, the first password's hash). */
  setting(name: string): Promise<string | undefined>
  /** @param options.unlessSet leaves a value alone that is there already, whichever process put it there */
  setSetting(name: string, value: string, options?: { unlessSet?: boolean }): Promise<void>
  note(key: string): Promise<Note | undefined>
  /** Notes whose keys begin with a text that is not empty, ascending by key. */
  notes(prefix: string): Promise<Note[]>
  /** Carries out all changes in order, or none; durable when it settles. @throws StoreError */
  changeNotes(changes: readonly NoteChange[]): Promise<void>
  /** Finishes running commits and closes. */
  close(): Promise<void>
}
