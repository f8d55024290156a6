/**
 * Events about the files of whole trees, written where the files are known: one statement for all of them, so that moving
 * a thousand files does not take two thousand events from thread to thread.
 */

import type { NewEvent, TreeEvents } from '../../commit.ts'
import { endOf } from '../../paths.ts'
import { startEventIds } from '../../records/events.ts'
import { documentText, kindNumber } from '../../records/rows.ts'
import { TAG_DIGITS } from '../../tags.ts'
import type { Database, Statement, Value } from '../database.ts'
import type { CommitState } from './commit-state.ts'

/** Bytes by which a document can be longer than its text: a byte order mark. */
const MARK = 3

/** Bytes that the other parts of an event take at most, roughly. */
const AROUND = 4096

/** The compiled statements. Parameters: ids, version, cause, the tree as a range, the pieces, and what else is needed. */
export interface TreeEventStatements {
  gone: Statement<never>
  /** Leaves out files whose place others take: the tree that comes in place of this one. */
  goneForGood: Statement<never>
  /** Bytes of the longest text that is told. */
  come: Statement<never>
}

/**
 * The same for statements.
 * @param most bytes; nothing is told of longer texts
 */
function limitedText(bytes: Value, most: Value): string {
  const text = bytes instanceof Uint8Array ? documentText(bytes) : ''
  return Buffer.byteLength(text) <= Number(most) ? text : ''
}

/** Times that a text can be longer than its bytes, where they are no UTF-8. */
const GROWTH = 3

/** @param database a connection for writing, which gets a function of its own */
export function prepareTreeEvents(database: Database): TreeEventStatements {
  database.define('limited_text', limitedText)
  const path = `replace(replace(folder || name, '&', '&amp;'), '<', '&lt;')`
  const isDocument = `kind = ${kindNumber('document')}`
  // The text of a document that is short enough, however it reads, is shared. Others are few, and told in full.
  const shared = `${isDocument} AND size * ${GROWTH} <= ?13`
  const text = `CASE WHEN ${isDocument} AND size <= ?13 + ${MARK}
    THEN limited_text((SELECT bytes FROM body WHERE body.id = resource.id), ?13) ELSE '' END`
  const taken = `SELECT 1 FROM resource arriving WHERE arriving.site = ?6
    AND arriving.folder = ?11 || substr(resource.folder, length(?7) + 1) AND arriving.name = resource.name
    AND arriving.kind <> 0`
  const add = (columns: string, where = '') =>
    database.prepare(
      `INSERT INTO event (site, ms, seq, path, version, session, token, bytes, payload, body, tail)
       SELECT ?6, ?1, ?2 + row_number() OVER () - 1, path, ?3, ?4, ?5,
         octet_length(payload) + coalesce(size + octet_length(tail), 0), payload, body, tail
       FROM (SELECT folder || name AS path, size, ${columns} FROM resource
             WHERE site = ?6 AND folder >= ?7 AND folder < ?8 AND kind <> 0 ${where})`,
    )
  const gone = `?9 || ${path} || ?10 AS payload, NULL AS body, NULL AS tail`
  const come = `?9 || substr(digest, 1, ${TAG_DIGITS}) || ?10 || ${path} || ?11`
  return {
    gone: add(gone),
    goneForGood: add(gone, `AND NOT EXISTS (${taken})`),
    come: add(
      `${come} || CASE WHEN ${shared} THEN '' ELSE ${text} || ?12 END AS payload,
       CASE WHEN ${shared} THEN id END AS body, CASE WHEN ${shared} THEN ?12 END AS tail`,
    ),
  }
}

function add(
  state: CommitState,
  statement: Statement<never>,
  tree: string,
  cause: Pick<NewEvent, 'session' | 'token'>,
  values: Value[],
): number {
  const { site, version } = state
  const { session = null, token = null } = cause
  const first = startEventIds(state)
  const added = statement.run(state.ms, first, version, session, token, site.id, tree, endOf(tree), ...values)
  state.seq = first + added - 1
  return added
}

function statementsOf({ transaction: { writer } }: CommitState): TreeEventStatements {
  writer.treeEvents ??= prepareTreeEvents(writer.database)
  return writer.treeEvents
}

/**
 * Tells of all files in a collection that they are gone; to be called while they are still there.
 * @param arriving the collection that comes in its place: of files that it brings something else is told
 */
export function tellGone(state: CommitState, tree: string, { gone }: TreeEvents, arriving?: string): void {
  const { gone: all, goneForGood } = statementsOf(state)
  const added =
    arriving === undefined
      ? add(state, all, tree, gone, [...gone.around])
      : add(state, goneForGood, tree, gone, [...gone.around, arriving])
  if (added > 0) state.transaction.writer.grew(state.site.id, tree, AROUND, state.limits, added)
}

/** Tells of all files in a collection that they have come. */
export function tellCome(state: CommitState, tree: string, { come, largestBody }: TreeEvents): void {
  const added = add(state, statementsOf(state).come, tree, come, [...come.around, largestBody])
  if (added > 0) state.transaction.writer.grew(state.site.id, tree, largestBody + AROUND, state.limits, added)
}
