/** The index of what documents hold, exchanged entry by entry when a document gets a new version, and guards. */

import type { Guard } from '../../commit.ts'
import { differentLines, indexedBy, keyOf } from '../../records/changes.ts'
import { byRarity, FEW, TIMES } from '../../records/rarity.ts'
import { Refusal } from '../../records/refusals.ts'
import { removeEntries } from './pending.ts'
import { type CommitState, textOf } from './state.ts'

/** Puts the entries of a new version in place of those of the old one. @param packed empty for none */
export async function exchangeEntries(state: CommitState, id: number, packed: string): Promise<void> {
  const { pending, site } = state
  const before = await textOf(state, id)
  if (before === packed) return
  const [gone, come] = differentLines(before, packed)
  removeEntries(
    pending,
    gone.map(line => ({ id, item: (JSON.parse(line) as string[])[0] ?? '' })),
  )
  for (const { key, item } of indexedBy(come)) pending.entriesCome.push({ site: site.id, key: hexOf(key), id, item })
  pending.texts.set(id, packed === '' ? null : packed)
}

/** Takes away all entries of a resource. */
export async function dropEntries(state: CommitState, id: number): Promise<void> {
  await exchangeEntries(state, id, '')
}

/** A key of the index as the text of bytes. */
function hexKey(key: string): string {
  return hexOf(keyOf(key))
}

function hexOf({ buffer, byteOffset, length }: Uint8Array): string {
  return `\\x${Buffer.from(buffer, byteOffset, length).toString('hex')}`
}

/**
 * Entries that carry all keys, as a condition on `entry e` behind its site and first key: parameters from `$3` on. Each entry
 * is looked for by its own key: without `OFFSET` the database may take it for cheaper to read all entries of a key first.
 *
 * @param count of keys, at least one
 */
export function carriesAll(count: number): string {
  return Array.from(
    { length: count - 1 },
    (_, i) =>
      ` AND EXISTS (SELECT 1 FROM entry o WHERE o.site = $1 AND o.key = $${i + 3}::bytea AND o.id = e.id AND o.item = e.item OFFSET 0)`,
  ).join('')
}

const COUNT = `SELECT count(*) AS count FROM (SELECT 1 FROM entry WHERE site = $1 AND key = $2::bytea LIMIT $3) found`

/** Keys in the order in which a search takes the fewest steps: the rarest first. */
export async function rarestFirst(
  session: Pick<CommitState['session'], 'row'>,
  site: number,
  keys: readonly string[],
): Promise<string[]> {
  const packed = keys.map(hexKey)
  if (packed.length < 2) return packed
  for (let most = FEW; ; most *= TIMES) {
    const count = async (key: string) => (await session.row<{ count: number }>(COUNT, site, key, most))?.count ?? 0
    const counted = await Promise.all(packed.map(async key => ({ key, count: await count(key) })))
    const sorted = byRarity(counted, most)
    if (sorted) return sorted
  }
}

/** Entries that carry all keys, counted up to two. */
async function countUpToTwo({ session, site }: CommitState, keys: readonly string[]): Promise<number> {
  if (keys.length === 0) return 0
  const row = await session.row<{ count: number }>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM entry e WHERE site = $1 AND key = $2::bytea${carriesAll(keys.length)} LIMIT 2) found`,
    site.id,
    ...(await rarestFirst(session, site.id, keys)),
  )
  return row?.count ?? 0
}

const NEWER = `SELECT 1 AS there FROM entry e JOIN resource r ON r.id = e.id
  WHERE e.site = $1 AND e.key = ANY ($2::bytea[]) AND r.version > $3 AND r.version <> $4 LIMIT 1`

async function holds(state: CommitState, { any, expect }: Guard): Promise<boolean> {
  if (typeof expect === 'object') {
    const { session, site, version } = state
    return (await session.row(NEWER, site.id, any.flat().map(hexKey), expect.since, version)) === undefined
  }
  let count = 0
  for (const keys of any) {
    count += await countUpToTwo(state, keys)
    if (count > 0 && expect === 'some') return true
    if (count > (expect === 'single' ? 1 : 0)) return false
  }
  return expect !== 'some'
}

/** Guards that are asked at once: the database answers each while the next ones are on their way. */
const AT_ONCE = 64

/** @throws Refusal naming the first guard that the changes, as they stand in the tables, do not meet */
export async function requireGuards(state: CommitState, guards: readonly Guard[]): Promise<void> {
  for (let from = 0; from < guards.length; from += AT_ONCE) {
    const held = await Promise.all(guards.slice(from, from + AT_ONCE).map(guard => holds(state, guard)))
    const broken = held.indexOf(false)
    if (broken >= 0) throw new Refusal({ ok: false, reason: 'guard', guard: from + broken })
  }
}
