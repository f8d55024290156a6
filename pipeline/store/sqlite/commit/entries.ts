/**
 * The index of what documents hold: rows for every key of every entry, exchanged entry by entry when a document gets a new
 * version, and the guards that commits are held to.
 */

import { hash } from 'node:crypto'
import type { Guard } from '../../commit.ts'
import type { Entry } from '../../resource.ts'
import { type CommitState, Refusal } from './commit-state.ts'

/** Bytes of a key in the index: digests of keys, long enough that nobody can make two keys meet. */
const KEY_BYTES = 16

/** Keys carried by no more entries than this are good enough to start a search from. */
const SELECTIVE = 64

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

/** Puts the entries of a new version in place of those of the old one. @param packed undefined for none */
export function exchangeEntries(
  at: Pick<CommitState, 'statements'> & { site: { id: number } },
  id: number,
  packed = '',
): void {
  const { statements, site } = at
  const before = statements.entryText.get(id)?.lines ?? ''
  if (before === packed) return
  const [gone, come] = differentLines(before, packed)
  for (const line of gone) statements.removeEntry.run(id, (JSON.parse(line) as string[])[0] ?? '')
  for (const line of come) {
    const [item = '', ...keys] = JSON.parse(line) as string[]
    for (const key of new Set(keys)) statements.addEntry.run(site.id, keyOf(key), id, item)
  }
  if (packed === '') statements.removeEntryText.run(id)
  else statements.setEntryText.run(id, packed)
}

/** Takes away all entries of a resource. */
export function removeEntries({ statements }: CommitState, id: number): void {
  if (statements.removeEntryText.run(id) > 0) statements.removeEntries.run(id)
}

/** Gives a copy the entries of its original. */
export function copyEntries({ statements, site }: CommitState, from: number, to: number): void {
  if (statements.copyEntryText.run(to, from) > 0) statements.copyEntries.run(site.id, to, from)
}

/** Entries that carry all keys, counted up to two. */
function countUpToTwo({ statements, site }: CommitState, keys: readonly string[]): number {
  const [first, ...others] = keys.map(keyOf).map(key => ({ key }))
  if (first === undefined) return 0
  if (others.length === 0) return statements.countEntries.get(site.id, first.key, 2)?.count ?? 0
  const all = [first, ...others].map(({ key }) => ({
    key,
    count: statements.countEntries.get(site.id, key, SELECTIVE)?.count ?? 0,
  }))
  const [rarest, ...rest] = all.sort((a, b) => a.count - b.count)
  if (rarest === undefined) return 0
  let count = 0
  for (const { id, item } of statements.entriesOf.all(site.id, rarest.key)) {
    if (rest.every(({ key }) => statements.hasEntry.get(site.id, key, id, item) !== undefined) && ++count === 2) break
  }
  return count
}

function holds(state: CommitState, { any, expect }: Guard): boolean {
  let count = 0
  for (const keys of any) {
    count += countUpToTwo(state, keys)
    if (count > 0 && expect === 'some') return true
    if (count > (expect === 'single' ? 1 : 0)) return false
  }
  return expect !== 'some'
}

/** @throws Refusal naming the first guard that the changes, as they now stand, do not meet */
export function requireGuards(state: CommitState, guards: readonly Guard[]): void {
  for (const [index, guard] of guards.entries()) {
    if (!holds(state, guard)) throw new Refusal({ ok: false, reason: 'guard', guard: index })
  }
}
