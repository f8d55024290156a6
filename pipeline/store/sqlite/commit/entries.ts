/**
 * The index of what documents hold: rows for every key of every entry, exchanged entry by entry when a document gets a new
 * version, and the guards that commits are held to.
 */

import type { Guard } from '../../commit.ts'
import { differentLines, indexedBy, keyOf } from '../../records/changes.ts'
import { rarestFirst } from '../../records/rarity.ts'
import { Refusal } from '../../records/refusals.ts'
import type { Value } from '../database.ts'
import type { CommitState } from './commit-state.ts'
import { ENTRIES_AT_ONCE } from './statements.ts'

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
  let rows: Value[] = [site.id, id]
  for (const { key, item } of indexedBy(come)) {
    rows.push(key, item)
    if (rows.length < 2 + 2 * ENTRIES_AT_ONCE) continue
    statements.addEntries.run(...rows)
    rows = [site.id, id]
  }
  for (let i = 2; i < rows.length; i += 2) statements.addEntry.run(site.id, rows[i] ?? null, id, rows[i + 1] ?? null)
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
  const countUpTo = (key: Uint8Array, most: number) => statements.countEntries.get(site.id, key, most)?.count ?? 0
  const [rarest, ...rest] = rarestFirst(keys.map(keyOf), countUpTo)
  if (rarest === undefined) return 0
  if (rest.length === 0) return countUpTo(rarest, 2)
  let count = 0
  for (const { id, item } of statements.entriesOf.all(site.id, rarest)) {
    if (rest.every(key => statements.hasEntry.get(site.id, key, id, item) !== undefined) && ++count === 2) break
  }
  return count
}

function holds(state: CommitState, { any, expect }: Guard): boolean {
  if (typeof expect === 'object') {
    const { statements, site, version } = state
    const isNewer = (key: string) => statements.newerEntry.get(site.id, keyOf(key), expect.since, version) !== undefined
    return !any.some(([key]) => key !== undefined && isNewer(key))
  }
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
