/** Sums of collections (K of DAV-52) while commits run: what collections gain and lose, and sums made anew from members. */

import { addTo, weightOf, ZERO } from '../tags.ts'
import { pathOf, type ResourceRow } from './rows.ts'

/** What a collection has to gain: its sum modulo 2^256, and the commit that last changed its membership, if one did. */
interface Pending {
  gain: bigint
  version: number
  modified: number
}

/** What is pending in one site, by path of the collection. */
export type Sums = Map<string, Pending>

/** What sums read of a row, in the order of `SummedTuple`. */
export const SUMMED_COLUMNS = 'folder, name, kind, digest, size, type, modified, shown, properties, members, unlisted'

/** A row that is summed up. */
export type SummedRow = Pick<
  ResourceRow,
  'folder' | 'name' | 'kind' | 'digest' | 'size' | 'type' | 'modified' | 'shown' | 'properties' | 'members' | 'unlisted'
>

/** The same as columns. */
export type SummedTuple = readonly [
  folder: string,
  name: string,
  kind: number,
  digest: string,
  size: number,
  type: string,
  modified: number,
  shown: number | null,
  properties: string | null,
  members: string | null,
  unlisted: number,
]

/** A row of its columns. */
export function summedRow(tuple: SummedTuple): SummedRow {
  const [folder, name, kind, digest, size, type, modified, shown, properties, members, unlisted] = tuple
  return { folder, name, kind, digest, size, type, modified, shown, properties, members, unlisted }
}

/** What a row adds to the sum of its collection. */
export function share(row: SummedRow): bigint {
  const { folder, name, kind, digest, size, type, modified, unlisted } = row
  if (unlisted === 1 || folder === '') return 0n
  const shown = row.shown ?? undefined
  const properties = row.properties ?? ZERO
  const members = row.members ?? undefined
  return weightOf(name, kind === 0, { digest, size, type, modified, shown, properties, members })
}

function pendingOf(sums: Sums, collection: string): Pending {
  const known = sums.get(collection)
  if (known !== undefined) return known
  const fresh = { gain: 0n, version: 0, modified: 0 }
  sums.set(collection, fresh)
  return fresh
}

/** Notes that the line of a member changed. */
export function gain(sums: Sums, collection: string, difference: bigint): void {
  pendingOf(sums, collection).gain += difference
}

/** Notes that a member came, went or was renamed. */
export function markMembership(sums: Sums, collection: string, version: number, modified: number): void {
  const pending = pendingOf(sums, collection)
  pending.version = Math.max(pending.version, version)
  pending.modified = Math.max(pending.modified, modified)
}

/** Adds what one commit noted to what its transaction noted. */
export function mergeSums(into: Sums, from: Sums): void {
  for (const [collection, { gain: difference, version, modified }] of from) {
    gain(into, collection, difference)
    if (version > 0) markMembership(into, collection, version, modified)
  }
}

/**
 * Sums of collections, computed from their members.
 * @param rows everything below a collection, in any order
 * @param collection path of that collection
 * @returns sums by path, null for 64 zeros; the collection itself comes last
 */
export function sumsOf(rows: Iterable<SummedRow>, collection: string): Map<string, string | null> {
  const shares = new Map<string, bigint>()
  const collections: SummedRow[] = []
  const add = (row: SummedRow) => shares.set(row.folder, (shares.get(row.folder) ?? 0n) + share(row))
  for (const row of rows) {
    if (row.kind === 0) collections.push(row)
    else add(row)
  }
  const sums = new Map<string, string | null>()
  const close = (path: string): string | null => {
    const sum = addTo(ZERO, shares.get(path) ?? 0n)
    const stored = sum === ZERO ? null : sum
    sums.set(path, stored)
    return stored
  }
  // A collection is longer than those above it, so its own sum is known before its line is needed.
  for (const row of collections.sort((a, b) => pathOf(b).length - pathOf(a).length)) {
    add({ ...row, members: close(pathOf(row)) })
  }
  close(collection)
  return sums
}
