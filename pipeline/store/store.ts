/**
 * Documents at rest: the contract that every store fulfils.
 *
 * A store keeps sites apart, commits several changes together with their events in one durable transaction, and answers
 * look-ups and listings without touching bodies. Paths are decoded, in NFC, absolute; those of collections end in `/`.
 */

import type { KeptMemory } from '../memory.ts'
import type { BlobWriter, Body } from './blobs.ts'
import type { Commit, CommitResult } from './commit.ts'
import type { EventReader } from './events.ts'
import type { ForeignCommits } from './foreign.ts'
import type { NoteStore } from './notes.ts'
import type { Entry, Property, Resource } from './resource.ts'

/** A file with what is needed to serve it. */
export interface Loaded {
  resource: Resource
  /** Bytes that are short. */
  body?: { bytes: Uint8Array }
  /** The derived data of this name. */
  profile?: string
}

/** What of properties is to be read. */
export interface WantedProperties {
  /** Those whose values are wanted; those of others are empty. All where it is missing. */
  values?: readonly Pick<Property, 'namespace' | 'name'>[]
  /** Bytes that names and values may take together. */
  most?: number
}

/** What is stored of one site. Reads see every commit that was acknowledged before they began. */
export interface SiteReader {
  find(path: string): Promise<Resource | undefined>
  /** What has the name of a path, file or collection, with or without a slash at its end: a name is used only once. */
  findNamed(path: string): Promise<Resource | undefined>
  /** The same with more, for stores where each question has its price; what is missing is to be asked for. */
  load?(path: string): Promise<Loaded | undefined>
  /** The bytes belonging to exactly this state of the resource, or undefined if it changed meanwhile. */
  body(resource: Resource): Promise<Body | undefined>
  /** SHA-1 and MD5 of the bytes, lower-case hex. */
  checksums(resource: Resource): Promise<{ sha1: string; md5: string } | undefined>
  /** Direct members of a collection, ascending by name; one indexed query. */
  list(collection: string): Promise<Resource[]>
  /** Everything below a collection, ascending by path; files only unless `collections`. Pages through in slices. */
  walk(prefix: string, options?: { collections?: boolean }): AsyncIterable<Resource>
  /**
   * Files below a collection whose bytes are kept apart, as large ones are. Nobody looks at the other members.
   *
   * @returns them in the order of their collections
   */
  keptApart(collection: string): AsyncIterable<Resource>
  /** One piece of derived data of a path. */
  derived(path: string, name: string): Promise<string | undefined>
  /** One kind of derived data of the whole site, ascending by path. */
  allDerived(name: string): AsyncIterable<{ path: string; version: number; value: string }>
  /**
   * Entries that carry all keys, in no order; an indexed query.
   *
   * @param limit at most so many
   */
  lookup(keys: readonly string[], limit?: number): Promise<{ path: string; item: string }[]>
  /** Its entries as `packEntries` writes them, empty for none: what the index was made from. */
  entries(path: string): Promise<string>
  properties(path: string): Promise<Property[]>
  /**
   * Properties of members of one collection, from one member to another in the order of names, both included; one indexed
   * query. Members without properties are left out.
   *
   * @returns undefined where they are more than what was asked for may be
   */
  propertiesBetween(
    first: string,
    last: string,
    wanted?: WantedProperties,
  ): Promise<Map<string, Property[]> | undefined>
  counters(): Promise<Record<string, number>>
  /** Version of a commit before which nothing is hidden from reads that begin now; what comes later has a greater one. */
  version(): Promise<number>
}

export interface SiteWriter {
  /**
   * Carries out all changes in order and stores the events, or does nothing at all. Bytes must not change until the
   * promise settles. @throws StoreError
   */
  commit(commit: Commit): Promise<CommitResult>
  /**
   * Rewrites the named derived data, and the entries if given, without making a new version; ignored if the resource
   * changed meanwhile.
   */
  derive(resource: Resource, derived: Record<string, string>, entries?: readonly Entry[]): Promise<void>
}

/** One site's part of the store. */
export interface SiteStore extends SiteReader, SiteWriter, EventReader {
  readonly name: string
  /** What is asked of it goes to another program: whoever can do without asks nothing. */
  readonly isFar?: boolean
}

/** Small values that belong to the whole installation (signing keys, the first password's hash). */
export interface InstallationSettings {
  setting(name: string): Promise<string | undefined>
  /** @param options.unlessSet leaves a value alone that is there already, whichever process put it there */
  setSetting(name: string, value: string, options?: { unlessSet?: boolean }): Promise<void>
}

/** What is stored at one moment, whatever is committed meanwhile. */
export interface Snapshot {
  /** The site of this name, for reading. */
  site(name: string): SiteReader
  sites(): Promise<string[]>
}

export interface Store extends BlobWriter, NoteStore, InstallationSettings {
  /** Present when the store was opened to be shared with other processes, or others may set it back to an earlier state. */
  readonly foreign?: ForeignCommits
  /**
   * Waits until every transaction that has begun is over, also those of processes that are gone or stand still; absent where
   * there are no others.
   *
   * @throws StoreError `busy` where that takes too long
   */
  outlast?(): Promise<void>
  /** Unix milliseconds by the clock that all processes share; absent where they are on one machine. */
  now?(): number
  /** Whether what is stored can be reached now; absent where that is no question. */
  isReachable?(): boolean
  /** Whether the bytes of large files can be reached now; absent where they are with everything else. */
  hasBlobs?(): boolean
  /** Whether the last commit that was to be stored was not refused for want of room, or because nothing can be written. */
  takesWrites?(): boolean
  /** The site of this name; made on its first commit. Names of sites are host names in lower case. */
  site(name: string): SiteStore
  sites(): Promise<string[]>
  /**
   * Lends what is stored at this moment for the time of some work. Writers do not wait for it. The bytes of a large blob that
   * was removed meanwhile may be gone when it is opened.
   */
  snapshot<Result>(work: (state: Snapshot) => Promise<Result>): Promise<Result>
  /** Gives memory back that it can do without as long as nobody asks for anything. */
  relax?(): void
  /** Pages of the database that are in memory; missing where another program keeps them. */
  readonly pages?: KeptMemory
  /** Finishes running commits and closes. */
  close(): Promise<void>
}
