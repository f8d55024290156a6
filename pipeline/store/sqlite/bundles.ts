/**
 * Bundles: events of files of one folder that went or came together, in one row for many of them. They differ in nothing but
 * their names and tags. Those whose text is a document have rows of their own.
 */

import { TAG_DIGITS } from '../tags.ts'

/** Files of a folder that one bundle holds, whatever their names are. */
const FEW = 64

/** Bundles of a larger folder: a name is always in the same one, so that looking for it reads no others. */
const BUCKETS = 32

/** The bucket of small folders. */
const ALL_NAMES = 0

/** The bucket that a name has in large folders: FNV-1a, which is stored and stays as it is. */
function bucketOf(name: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  return 1 + (((hash ^ (hash >>> 15)) >>> 0) % BUCKETS)
}

/** Where bundles have an event of a path: `ofFile` asks with it. */
export function placeOf(path: string): [folder: string, bucket: number, name: string, written: string] {
  const cut = path.lastIndexOf('/') + 1
  const name = path.slice(cut)
  return [path.slice(0, cut), bucketOf(name), name, JSON.stringify(name)]
}

/** Names of files in one folder, put together as they are kept. */
export function inBuckets<File extends { name: string }>(files: readonly File[]): Map<number, File[]> {
  if (files.length <= FEW) return new Map([[ALL_NAMES, [...files]]])
  return Map.groupBy(files, ({ name }) => bucketOf(name))
}

/** Every bundle `b` with each of its names `n`; those of removed events are `REMOVED`. */
export const BUNDLED = 'event_bundle b, json_each(b.names) n'

/** The same, found by the place of a file: without statistics, SQLite would go through all of a site. */
export const BUNDLED_AT = 'event_bundle b INDEXED BY event_bundle_place, json_each(b.names) n'

/** The place of a name in the ids of its bundle. */
export const SEQ = 'b.seq + n.key'

/**
 * Narrows `BUNDLED_AT` to one path. Bundles without the name are not taken apart.
 * @param first number of the first of four parameters: those of `placeOf`
 */
export function ofFile(first: number): string {
  const [folder, bucket, name, written] = [0, 1, 2, 3].map(n => `?${first + n}`)
  return `b.folder = ${folder} AND b.bucket IN (${ALL_NAMES}, ${bucket}) AND instr(b.names, ${written}) AND n.value = ${name}`
}

/** Stands for the name of a file whose event was removed alone: no file has it. */
export const REMOVED = ''

/** Path and payload of an event in `BUNDLED`. */
export const PATH = 'b.folder || n.value'
export const PAYLOAD = `b.head || substr(b.tags, n.key * ${TAG_DIGITS} + 1, ${TAG_DIGITS}) || b.middle ||
  replace(replace(${PATH}, '&', '&amp;'), '<', '&lt;') || b.tail`
