/** Rows of the table of resources and what they mean to callers. */

import type { Resource, ResourceKind } from '../resource.ts'
import { ZERO } from '../tags.ts'
import { isSameSecond, shownLater } from './new-rows.ts'

/** Columns of a resource, in the order of `ResourceRow`. */
export const COLUMNS =
  'folder, name, id, kind, version, digest, size, type, language, created, modified, shown, same_second, properties, members, in_file, unlisted'

/** One row of `resource`, its site left out. */
export interface ResourceRow {
  folder: string
  name: string
  /** What bodies, derived data and properties hang on; given anew to copies. */
  id: number
  kind: number
  version: number
  digest: string
  size: number
  type: string
  language: string | null
  created: number
  modified: number
  shown: number | null
  same_second: number
  /** Null for 64 zeros. */
  properties: string | null
  /** Null for 64 zeros. */
  members: string | null
  /** 1 when the bytes are in a file named by the digest. */
  in_file: number
  /** 1 when the resource has no line in the sum of its collection (DAV-75). */
  unlisted: number
}

const KINDS: readonly ResourceKind[] = ['collection', 'document', 'blob']

/** Number of a kind in the table; 0 is a collection. */
export function kindNumber(kind: ResourceKind): number {
  return KINDS.indexOf(kind)
}

/** Path of the resource in a row. */
export function pathOf(row: Pick<ResourceRow, 'folder' | 'name' | 'kind'>): string {
  if (row.folder === '') return '/'
  return row.kind === 0 ? `${row.folder}${row.name}/` : row.folder + row.name
}

/** What callers see of a row. */
export function resourceOf(row: ResourceRow): Resource {
  const resource: Resource = {
    path: pathOf(row),
    kind: KINDS[row.kind] ?? 'blob',
    version: row.version,
    digest: row.digest,
    size: row.size,
    type: row.type,
    created: row.created,
    modified: row.modified,
    sameSecond: isSameSecond(row.same_second),
    properties: row.properties ?? ZERO,
  }
  if (row.language !== null) resource.language = row.language
  if (row.shown !== null) resource.shown = row.shown
  if (shownLater(row.same_second)) resource.shownLater = true
  if (row.kind === 0) resource.members = row.members ?? ZERO
  return resource
}

/** What a listing reads of each member, in the order of `MemberTuple`. */
export const MEMBER_COLUMNS =
  'name, kind, version, digest, size, type, language, created, modified, shown, same_second, properties, members'

/** A member of a collection as a listing reads it. */
export type MemberTuple = readonly [
  name: string,
  kind: number,
  version: number,
  digest: string,
  size: number,
  type: string,
  language: string | null,
  created: number,
  modified: number,
  shown: number | null,
  sameSecond: number,
  properties: string | null,
  members: string | null,
]

/** What callers see of a member. @param collection path of the collection */
export function memberOf(collection: string, tuple: MemberTuple): Resource {
  const [name, kind, version, digest, size, type, language, created, modified, shown, sameSecond, properties, members] =
    tuple
  const resource: Resource = {
    path: kind === 0 ? `${collection}${name}/` : collection + name,
    kind: KINDS[kind] ?? 'blob',
    version,
    digest,
    size,
    type,
    created,
    modified,
    sameSecond: isSameSecond(sameSecond),
    properties: properties ?? ZERO,
  }
  if (language !== null) resource.language = language
  if (shown !== null) resource.shown = shown
  if (shownLater(sameSecond)) resource.shownLater = true
  if (kind === 0) resource.members = members ?? ZERO
  return resource
}

/** Bytes of a document as they stand in an event: text, without a byte order mark. */
export function documentText(bytes: Uint8Array | null): string {
  return bytes === null ? '' : new TextDecoder().decode(bytes)
}
