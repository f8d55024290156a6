/** Everything below a collection at once: taken away, moved or copied by a statement a table, inside a savepoint. */

import { DERIVATION } from '../../derivation.ts'
import { endOf, splitPath } from '../../paths.ts'
import { pathOf } from '../../records/rows.ts'
import { sumsOf } from '../../records/sums.ts'
import { COLUMNS, type Row, rowOf, STORED } from '../rows.ts'
import { type CommitState, forgetRead, nextId, rowAt, writeOut } from './state.ts'

/** Below a collection: its site, its path and the first key behind it. */
const BELOW = 'site = $1 AND folder >= $2 AND folder < $3'
const IDS = `(SELECT id FROM resource WHERE ${BELOW})`
const BODIES = `(SELECT body FROM resource WHERE ${BELOW} AND body IS NOT NULL)`

/** Newest time of change of any member of a collection, unix milliseconds. */
export async function newestWithin({ session, site }: CommitState, collection: string): Promise<number> {
  const row = await session.row<{ modified: number | null }>(
    `SELECT max(modified) AS modified FROM resource WHERE ${BELOW}`,
    site.id,
    collection,
    endOf(collection),
  )
  return row?.modified ?? -1
}

/** The first member of a collection with a path of more than so many bytes. */
export async function memberLongerThan(state: CommitState, collection: string, bytes: number) {
  const row = await state.session.row<Pick<Row, 'folder' | 'name' | 'kind'>>(
    `SELECT folder, name, kind FROM resource WHERE ${BELOW}
       AND octet_length(folder) + octet_length(name) + (kind = 0)::int > $4 ORDER BY folder, name LIMIT 1`,
    state.site.id,
    collection,
    endOf(collection),
    bytes,
  )
  return row && pathOf(row)
}

/** Takes away all members; the collection's own row and sum are the caller's. */
export async function removeMembers(state: CommitState, collection: string): Promise<void> {
  const { session, site, at, transaction, pending } = state
  await writeOut(transaction, pending)
  const below = [site.id, collection, endOf(collection)] as const
  const run = (sql: string) => session.run(sql, ...below)
  await Promise.all([
    run(`DELETE FROM body WHERE id IN ${BODIES} AND NOT EXISTS (SELECT 1 FROM event WHERE event.body = body.id)`),
    run(`UPDATE body SET told = true WHERE id IN ${BODIES}`),
    run(`DELETE FROM derived WHERE id IN ${IDS}`),
    run(`DELETE FROM entry WHERE id IN ${IDS}`),
    run(`DELETE FROM entry_text WHERE id IN ${IDS}`),
    run(`DELETE FROM property WHERE id IN ${IDS}`),
    session.run(
      `UPDATE blob SET unused = $4 WHERE digest IN (SELECT blob FROM resource WHERE ${BELOW} AND blob IS NOT NULL)`,
      ...below,
      at,
    ),
    run(`DELETE FROM resource WHERE ${BELOW}`),
  ])
  forgetRead(transaction)
}

/**
 * Moves all members; their sums go along.
 * @param seen unix milliseconds: members not newer than that get the time of the commit
 * @returns the collection's new sum when times, and thereby lines, may have changed
 */
export async function moveMembers(state: CommitState, from: string, to: string, seen: number) {
  const { session, site, version, at, transaction, pending } = state
  await writeOut(transaction, pending)
  await session.run(
    `UPDATE resource SET folder = $4 || substr(folder, char_length($2) + 1), version = $5,
       same_second = CASE WHEN modified <= $6 THEN 1 ELSE same_second END,
       modified = CASE WHEN modified <= $6 THEN $7 ELSE modified END WHERE ${BELOW}`,
    site.id,
    from,
    endOf(from),
    to,
    version,
    seen,
    Math.max(at, seen),
  )
  forgetRead(transaction)
  if (seen < 0) return undefined
  return rebuildSums(state, to)
}

/** What hangs on the members of a collection, hung on their copies as well: each original is looked up by its whole key. */
const PAIRS = `FROM resource copy CROSS JOIN LATERAL (SELECT id, body FROM resource WHERE resource.site = copy.site
  AND resource.folder = $4 || substr(copy.folder, char_length($2) + 1) AND resource.name = copy.name LIMIT 1) original`
const COPIED = 'copy.site = $1 AND copy.folder >= $2 AND copy.folder < $3'
const COPIES = [
  `INSERT INTO body (id, bytes) SELECT copy.body, body.bytes ${PAIRS} JOIN body ON body.id = original.body WHERE ${COPIED}`,
  `INSERT INTO derived (id, name, site, value, derivation)
   SELECT copy.id, derived.name, copy.site, derived.value, ${DERIVATION} ${PAIRS}
   JOIN derived ON derived.id = original.id WHERE ${COPIED}`,
  `INSERT INTO entry_text (id, lines) SELECT copy.id, entry_text.lines ${PAIRS}
   JOIN entry_text ON entry_text.id = original.id WHERE ${COPIED}`,
  `INSERT INTO entry (site, key, id, item) SELECT copy.site, entry.key, copy.id, entry.item ${PAIRS}
   JOIN entry ON entry.id = original.id WHERE ${COPIED}`,
  `INSERT INTO property (id, namespace, name, value)
   SELECT copy.id, property.namespace, property.name, property.value ${PAIRS}
   JOIN property ON property.id = original.id WHERE ${COPIED}`,
]

/**
 * Copies all members with their bytes, derived data, entries and properties.
 * @param modified unix milliseconds given to every copy
 * @param sameSecond 1 when something was served at the destination in that very second
 * @returns the sum of the new collection, whose row must exist
 */
export async function copyMembers(
  state: CommitState,
  from: string,
  to: string,
  modified: number,
  sameSecond: number,
): Promise<string | null> {
  const { session, site, version, at, transaction, pending } = state
  await writeOut(transaction, pending)
  const added = await session.run(
    `INSERT INTO resource (${STORED})
     SELECT site, $4 || substr(folder, char_length($2) + 1), name, $5::bigint + 2 * row_number() OVER (), kind, $6::bigint,
       digest, size, type, language, $7::bigint, $8::bigint, NULL, $9::smallint, properties, NULL,
       CASE WHEN body IS NOT NULL THEN $5::bigint + 2 * row_number() OVER () + 1 END, blob, unlisted
     FROM resource WHERE ${BELOW}`,
    site.id,
    from,
    endOf(from),
    to,
    transaction.lastId,
    version,
    at,
    modified,
    sameSecond,
  )
  nextId(transaction, 2 * added + 1)
  await Promise.all(COPIES.map(sql => session.run(sql, site.id, to, endOf(to), from)))
  forgetRead(transaction)
  return rebuildSums(state, to)
}

/** Rows read at once. */
const PAGE = 2000

/** All rows below a collection. */
async function rowsBelow({ session, site }: CommitState, collection: string): Promise<Row[]> {
  const found: Row[] = []
  for (let after: [string, string] = [collection, '']; ; ) {
    const rows = await session.rows<Row>(
      `SELECT ${COLUMNS} FROM resource r WHERE site = $1 AND (folder, name) > ($2, $3) AND folder < $4
       ORDER BY folder, name LIMIT ${PAGE}`,
      site.id,
      ...after,
      endOf(collection),
    )
    for (const row of rows) found.push(rowOf(row))
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return found
    after = [last.folder, last.name]
  }
}

/** Writes the sums of all collections below one, and its own, anew from their members. @returns its own */
async function rebuildSums(state: CommitState, collection: string): Promise<string | null> {
  const { session, site, transaction } = state
  const sums = [...sumsOf(await rowsBelow(state, collection), collection)]
  for (let from = 0; from < sums.length; from += PAGE) {
    const part = sums.slice(from, from + PAGE)
    const places = part.map(([path, members]) => ({ site: site.id, ...splitPath(path), members }))
    await session.run(
      `UPDATE resource r SET members = k.members
       FROM json_to_recordset($1::json) AS k (site bigint, folder text COLLATE "C", name text COLLATE "C", members text)
       WHERE r.site = k.site AND r.folder = k.folder AND r.name = k.name`,
      JSON.stringify(places),
    )
  }
  forgetRead(transaction)
  return (await rowAt(state, collection))?.members ?? null
}
