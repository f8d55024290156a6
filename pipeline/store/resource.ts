/** What is known of stored resources without their bytes. */

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
  /** A version before this one has shown a time later than the commit of its successor: a client had set it (DAV-36). */
  shownLater?: boolean
  /** P of DAV-52: 64 hex digits. */
  properties: string
  /** K of DAV-52, collections only: 64 hex digits. */
  members?: string
}

/** What tells a state of a file from all others. */
export type FileState = Pick<Resource, 'version' | 'digest'>

/**
 * Whether two states of one file are the same. Of a database that was set back to an earlier state, a commit has the number
 * of another one that is lost.
 */
export function isSameState(a: FileState, b: FileState): boolean {
  return a.version === b.version && a.digest === b.digest
}

/** Whether two resources of one version have the same properties and times: those change without a new version. */
export function isDescribedAlike(a: Resource, b: Resource): boolean {
  return (
    a.properties === b.properties &&
    a.shown === b.shown &&
    a.shownLater === b.shownLater &&
    a.sameSecond === b.sameSecond &&
    a.language === b.language
  )
}

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
