/**
 * Changes before they are carried out: what they name, which can never be, and what an index keeps of the entries that they
 * bring: digests of keys, and the lines that versions do not share.
 */

import { hash } from 'node:crypto'
import type { Change } from '../commit.ts'
import { StoreError } from '../errors.ts'
import { isStorable, type Naming, namesCollection, pathsIn } from '../paths.ts'

/** Names of all resources that a change may make. */
export function namesIn(change: Change): string[] {
  return pathsIn(change).flatMap(path => path.split('/'))
}

/** All that is changed by a commit, in whatever part of the store. */
export function allChanges<C>({ changes, beside }: { changes: readonly C[]; beside?: { changes: readonly C[] } }): C[] {
  return beside ? [...changes, ...beside.changes] : [...changes]
}

function invalid(message: string): never {
  throw new StoreError('invalid', message)
}

/**
 * Refuses what is a mistake of the caller, whatever the store holds.
 * @throws StoreError of reason `invalid`
 */
export function checkChange(change: Change): void {
  for (const path of pathsIn(change))
    if (!isStorable(path)) invalid(`Not a path that can be stored: ${JSON.stringify(path)}`)
  if (change.op === 'put' && namesCollection(change.path)) invalid('A file has no slash at the end of its path')
  if (change.op === 'collection' && !namesCollection(change.path))
    invalid('A collection has a slash at the end of its path')
  if (change.op !== 'move' && change.op !== 'copy') return
  const { from, to } = change
  if (namesCollection(from) !== namesCollection(to))
    invalid('Files go to paths of files, collections to paths of collections')
  if (from === '/' || to === '/') invalid('The root stays where it is')
  if (from === to || (namesCollection(from) && to.startsWith(from)))
    invalid('A resource cannot go to itself or below itself')
}

/** True of blobs in memory that belong into a file. @param limit bytes kept in the database at most */
export function isTooLarge(
  change: Change,
  limit: number,
): change is Extract<Change, { op: 'put' }> & { content: { bytes: Uint8Array } } {
  return (
    change.op === 'put' && change.kind === 'blob' && 'bytes' in change.content && change.content.bytes.length > limit
  )
}

/** Paths that changes name, and of events those that do not lie in a collection that is named already. */
export function pathsOf(changes: readonly Naming[], events: readonly { path: string }[]): string[] {
  const paths = new Set(changes.flatMap(pathsIn))
  const collections = [...paths].filter(path => path.endsWith('/'))
  for (const { path } of events) {
    if (!collections.some(collection => path.startsWith(collection))) paths.add(path)
  }
  return [...paths]
}

/** Bytes of a key in the index: digests of keys, long enough that nobody can make two keys meet. */
const KEY_BYTES = 16

/** What a key looks like in the index. */
export function keyOf(key: string): Uint8Array {
  // A text of one byte each, made into bytes again: a buffer of its own for each key would cost twice as much.
  return Buffer.from(hash('sha256', key, 'binary').slice(0, KEY_BYTES), 'latin1')
}

/** Keys whose digests are remembered: most items of a page share their types, and many their values. */
const REMEMBERED = 256

/** What an index has of entries: a key and an item for each. @param lines an entry to each @throws SyntaxError */
export function* indexedBy(lines: readonly string[]): Generator<{ key: Uint8Array; item: string }> {
  const digests = new Map<string, Uint8Array>()
  for (const line of lines) {
    if (line === '') continue
    const [item = '', ...keys] = JSON.parse(line) as string[]
    for (const key of new Set(keys)) {
      let digest = digests.get(key)
      if (digest === undefined) {
        if (digests.size === REMEMBERED) digests.clear()
        digests.set(key, (digest = keyOf(key)))
      }
      yield { key: digest, item }
    }
  }
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
