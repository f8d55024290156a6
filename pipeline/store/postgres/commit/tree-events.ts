/**
 * Events about the files of whole trees, written where the files are known: a statement for all of them. Inside a
 * savepoint.
 */

import type { NewEvent, TreeEvents } from '../../commit.ts'
import { endOf } from '../../paths.ts'
import { startEventIds } from '../../records/events.ts'
import { documentText, kindNumber } from '../../records/rows.ts'
import { TAG_DIGITS } from '../../tags.ts'
import { pack } from '../text.ts'
import { type CommitState, writeOut } from './state.ts'

/** Bytes by which a document can be longer than its text: a byte order mark. */
const MARK = 3

/** Bytes that the other parts of an event take at most, roughly. */
const AROUND = 4096

/** Times that a text can be longer than its bytes, where they are no UTF-8. */
const GROWTH = 3

type Cause = Pick<NewEvent, 'session' | 'token'>

/** Files below a collection; parameters from `$6` on: its site, its path, and the first key behind it. */
const FILES = 'site = $6 AND folder >= $7 AND folder < $8 AND kind <> 0'
const PATH = `replace(replace(folder || name, '&', '&amp;'), '<', '&lt;')`

/** Adds an event for every file that a condition leaves. Columns: payload, body and tail. */
function insertion(columns: string, where = ''): string {
  return `INSERT INTO event (site, ms, seq, path, version, session, token, bytes, payload, body, tail)
    SELECT $6::bigint, $1::bigint, $2::bigint + row_number() OVER (ORDER BY folder, name) - 1, path, $3::bigint, $4, $5,
      octet_length(payload) + coalesce(size + octet_length(tail), 0), payload, body, tail
    FROM (SELECT folder, name, folder || name AS path, size, ${columns} FROM resource WHERE ${FILES} ${where}) files`
}

const GONE = `$9 || ${PATH} || $10 AS payload, NULL::bigint AS body, NULL AS tail`
const TAKEN = `AND NOT EXISTS (SELECT 1 FROM resource arriving WHERE arriving.site = $6
  AND arriving.folder = $11 || substr(resource.folder, char_length($7) + 1) AND arriving.name = resource.name
  AND arriving.kind <> 0)`

const DOCUMENT = `kind = ${kindNumber('document')}`
/** A text that is told is shared with the document, however often that moves; whether a longer one fits its bytes tell. */
const SHARED = `(${DOCUMENT} AND (size * ${GROWTH} <= $13 OR body = ANY($14::bigint[])))`
const COME = `$9 || substr(digest, 1, ${TAG_DIGITS}) || $10 || ${PATH} || $11
    || CASE WHEN ${SHARED} THEN '' ELSE $12 END AS payload,
  CASE WHEN ${SHARED} THEN body END AS body, CASE WHEN ${SHARED} THEN $12 END AS tail`

const INSERT_GONE = insertion(GONE)
const INSERT_GONE_FOR_GOOD = insertion(GONE, TAKEN)
const INSERT_COME = insertion(COME)

async function add(
  state: CommitState,
  sql: string,
  tree: string,
  cause: Cause,
  values: (string | number | number[])[],
) {
  const { site, version, session, transaction, pending } = state
  await writeOut(transaction, pending)
  const first = startEventIds(state)
  const added = await session.run(
    sql,
    state.ms,
    first,
    version,
    cause.session === undefined ? null : pack(cause.session),
    cause.token === undefined ? null : pack(cause.token),
    site.id,
    tree,
    endOf(tree),
    ...values,
  )
  state.seq = first + added - 1
  transaction.known.seen.clear()
  return added
}

/**
 * Tells of all files in a collection that they are gone; to be called while they are still there.
 * @param arriving the collection that comes in its place: of files that it brings something else is told
 */
export async function tellGone(state: CommitState, tree: string, { gone }: TreeEvents, arriving?: string) {
  const around = gone.around.map(pack)
  const added =
    arriving === undefined
      ? await add(state, INSERT_GONE, tree, gone, around)
      : await add(state, INSERT_GONE_FOR_GOOD, tree, gone, [...around, arriving])
  if (added > 0) state.transaction.grew(state.site.id, tree, AROUND, state.limits, added)
}

/** Tells of all files in a collection that they have come. */
export async function tellCome(state: CommitState, tree: string, { come, largestBody }: TreeEvents): Promise<void> {
  const fitting = await bodiesThatFit(state, tree, largestBody)
  const added = await add(state, INSERT_COME, tree, come, [...come.around.map(pack), largestBody, fitting])
  if (added > 0) state.transaction.grew(state.site.id, tree, largestBody + AROUND, state.limits, added)
}

/** Documents whose text may or may not be too long, and is not: that takes reading them. */
async function bodiesThatFit(state: CommitState, tree: string, largest: number): Promise<number[]> {
  const { session, site, transaction, pending } = state
  await writeOut(transaction, pending)
  const found = await session.rows<{ body: number }>(
    `SELECT DISTINCT body FROM resource
     WHERE site = $1 AND folder >= $2 AND folder < $3 AND ${DOCUMENT} AND size * ${GROWTH} > $4 AND size <= $4 + ${MARK}`,
    site.id,
    tree,
    endOf(tree),
    largest,
  )
  const fitting: number[] = []
  for (const { body } of found) {
    const row = await session.row<{ bytes: Uint8Array }>('SELECT bytes FROM body WHERE id = $1', body)
    if (Buffer.byteLength(documentText(row?.bytes ?? null)) <= largest) fitting.push(body)
  }
  return fitting
}
