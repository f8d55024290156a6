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

/** Files of one folder whose events are kept together. */
export interface Bundle {
  folder: string
  bucket: number
  /** As JSON. */
  names: string
  count: number
  /** Bytes of the longest name at most. */
  longest: number
  /** One after the other, in the order of the names. */
  tags: string
}

/** Bytes of UTF-8 that one unit of UTF-16 takes at most. */
const WIDEST = 3

/** A file on its way into a bundle; the tag may be empty. */
export type FileTuple = readonly [folder: string, name: string, tag: string, kind: number]

/** @param files those of a folder stand together */
export function bundlesOf(files: readonly FileTuple[]): Bundle[] {
  const bundles: Bundle[] = []
  for (let from = 0, until = 0; from < files.length; from = until) {
    const folder = files[from]?.[0] ?? ''
    while (files[until]?.[0] === folder) until++
    const isSmall = until - from <= FEW
    const buckets = new Map<number, { names: string[]; longest: number; tags: string }>()
    // By index: trees move so rarely that V8 has not compiled this, and until then iterators take most of the time.
    for (let at = from; at < until; at++) {
      const file = files[at]
      if (file === undefined) break
      const name = file[1]
      const tag = file[2]
      const bucket = isSmall ? ALL_NAMES : bucketOf(name)
      const found = buckets.get(bucket)
      if (found) {
        found.names.push(name)
        found.tags += tag
        if (name.length > found.longest) found.longest = name.length
      } else buckets.set(bucket, { names: [name], longest: name.length, tags: tag })
    }
    for (const [bucket, { names, longest, tags }] of buckets) {
      const count = names.length
      bundles.push({ folder, bucket, names: JSON.stringify(names), count, longest: longest * WIDEST, tags })
    }
  }
  return bundles
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
