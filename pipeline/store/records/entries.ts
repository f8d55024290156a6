/** Entries as an index keeps them: digests of keys, and one text by which versions are compared. */

import { hash } from 'node:crypto'
import type { Entry } from '../resource.ts'

/** Bytes of a key in the index: digests of keys, long enough that nobody can make two keys meet. */
const KEY_BYTES = 16

/** What a key looks like in the index. */
export function keyOf(key: string): Uint8Array {
  return hash('sha256', key, 'buffer').subarray(0, KEY_BYTES)
}

/** Entries as one text, an entry to a line: the form in which versions are compared. */
export function packEntries(entries: readonly Entry[]): string {
  return entries.map(lineOf).join('\n')
}

/** Entries that stay from version to version are the same objects, more often than not. */
const lines = new WeakMap<Entry, string>()

function lineOf(entry: Entry): string {
  let line = lines.get(entry)
  if (line === undefined) lines.set(entry, (line = JSON.stringify([entry.item, ...entry.keys])))
  return line
}

/** Lines that two texts do not share: those of `a` alone, and those of `b` alone. */
export function differentLines(a: string, b: string): [string[], string[]] {
  if (a === b) return [[], []]
  // Versions mostly differ in one place: only what lies between the common ends is taken apart.
  let from = 0
  const least = Math.min(a.length, b.length)
  while (from < least && a.charCodeAt(from) === b.charCodeAt(from)) from++
  from = a.lastIndexOf('\n', from - 1) + 1
  let same = 0
  while (same < least - from && a.charCodeAt(a.length - 1 - same) === b.charCodeAt(b.length - 1 - same)) same++
  const end = (text: string) => {
    const next = text.indexOf('\n', text.length - same)
    return next < 0 ? text.length : next
  }
  const lines = (text: string) =>
    text
      .slice(from, end(text))
      .split('\n')
      .filter(line => line !== '')
  const [left, right] = [lines(a), lines(b)]
  const [inLeft, inRight] = [new Set(left), new Set(right)]
  return [left.filter(line => !inRight.has(line)), right.filter(line => !inLeft.has(line))]
}
