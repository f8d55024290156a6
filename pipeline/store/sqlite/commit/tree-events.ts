/**
 * Events about the files of whole trees, written where the files are known, many in one row, so that moving a thousand files
 * neither takes two thousand events from thread to thread nor writes each.
 */

import type { NewEvent, TreeEvents } from '../../commit.ts'
import { endOf } from '../../paths.ts'
import { startEventIds } from '../../records/events.ts'
import { documentText, kindNumber } from '../../records/rows.ts'
import { TAG_DIGITS } from '../../tags.ts'
import { type Bundle, bundlesOf, type FileTuple } from '../bundles.ts'
import type { Database, Statement, Value } from '../database.ts'
import type { CommitState } from './commit-state.ts'

/** Bytes by which a document can be longer than its text: a byte order mark. */
const MARK = 3

/** Bytes that the other parts of an event take at most, roughly. */
const AROUND = 4096

/** Files read at once. */
const PAGE = 8192

const BLOB = kindNumber('blob')

/** The compiled statements. */
export interface TreeEventStatements {
  /**
   * Files of a tree, a page at a time: the site, the last place, the end of the tree, and what else is needed. Of files whose
   * place others take, nothing is told where a tree comes in place of this one; documents that come have rows.
   */
  files: Record<'gone' | 'goneForGood' | 'come' | 'moving', Statement<FileTuple>>
  addBundle: Statement<never>
  /**
   * Adds events as rows: ids, version, cause, the tree as a range, the pieces, and what else is needed. Of those that come
   * bytes of the longest text that is told.
   */
  rows: { gone: Statement<never>; goneForGood: Statement<never>; come: Statement<never>; documents: Statement<never> }
}

/** Whether the text of a document has so many bytes at most. */
function fitsText(bytes: Value, most: Value): number {
  return bytes instanceof Uint8Array && Buffer.byteLength(documentText(bytes)) <= Number(most) ? 1 : 0
}

/** Times that a text can be longer than its bytes, where they are no UTF-8. */
const GROWTH = 3

/** @param database a connection for writing, which gets a function of its own */
function prepareTreeEvents(database: Database): TreeEventStatements {
  database.define('fits_text', fitsText)
  const isDocument = `kind = ${kindNumber('document')}`
  const taken = (site: string, tree: string, arriving: string) =>
    `NOT EXISTS (SELECT 1 FROM resource arriving WHERE arriving.site = ${site}
       AND arriving.folder = ${arriving} || substr(resource.folder, length(${tree}) + 1)
       AND arriving.name = resource.name AND arriving.kind <> 0)`
  const tag = `substr(digest, 1, ${TAG_DIGITS})`
  const files = (column: string, where: string) =>
    database.prepareTuples<FileTuple>(
      `SELECT folder, name, ${column}, kind FROM resource
       WHERE site = ?1 AND (folder, name) > (?2, ?3) AND folder < ?4 AND ${where}
       ORDER BY folder, name LIMIT ${PAGE}`,
    )
  const path = `replace(replace(folder || name, '&', '&amp;'), '<', '&lt;')`
  // A text that is told is shared with the document, however often that moves; whether a longer one fits its bytes tell.
  const shared = `${isDocument} AND (size * ${GROWTH} <= ?13 OR size <= ?13 + ${MARK}
    AND fits_text((SELECT bytes FROM body WHERE body.id = resource.id), ?13))`
  const rows = (columns: string, where: string) =>
    database.prepare(
      `INSERT INTO event (site, ms, seq, path, version, session, token, bytes, payload, body, tail)
       SELECT ?6, ?1, ?2 + row_number() OVER () - 1, path, ?3, ?4, ?5,
         octet_length(payload) + coalesce(size + octet_length(tail), 0), payload, body, tail
       FROM (SELECT folder || name AS path, size, ${columns} FROM resource
             WHERE site = ?6 AND folder >= ?7 AND folder < ?8 AND ${where})`,
    )
  const gone = `?9 || ${path} || ?10 AS payload, NULL AS body, NULL AS tail`
  const come = `?9 || ${tag} || ?10 || ${path} || ?11 || CASE WHEN ${shared} THEN '' ELSE ?12 END AS payload,
    CASE WHEN ${shared} THEN id END AS body, CASE WHEN ${shared} THEN ?12 END AS tail`
  return {
    files: {
      gone: files("''", 'kind <> 0'),
      goneForGood: files("''", `kind <> 0 AND ${taken('?1', '?5', '?6')}`),
      come: files(tag, `kind = ${BLOB}`),
      moving: files(tag, 'kind <> 0'),
    },
    addBundle: database.prepare(
      `INSERT INTO event_bundle
         (site, ms, seq, folder, bucket, count, version, session, token, bytes, head, middle, tail, names, tags)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    rows: {
      gone: rows(gone, 'kind <> 0'),
      goneForGood: rows(gone, `kind <> 0 AND ${taken('?6', '?7', '?11')}`),
      come: rows(come, 'kind <> 0'),
      documents: rows(come, isDocument),
    },
  }
}

function statementsOf({ transaction: { writer } }: CommitState): TreeEventStatements {
  writer.treeEvents ??= prepareTreeEvents(writer.database)
  return writer.treeEvents
}

type Cause = Pick<NewEvent, 'session' | 'token'>

/** What stands around the tags and paths of events. */
type Pieces = readonly [head: string, middle: string, tail: string]

/** Adds the events of bundles of a tree. */
function addBundles(state: CommitState, tree: string, bundles: readonly Bundle[], cause: Cause, pieces: Pieces): void {
  const { site, version, limits, transaction } = state
  const { session = null, token = null } = cause
  const { addBundle } = statementsOf(state)
  const around = Buffer.byteLength(pieces.join('')) + TAG_DIGITS
  let added = 0
  for (const { folder, bucket, names, count, longest, tags } of bundles) {
    const first = startEventIds(state)
    // Limits of paths are no exact measure.
    const bytes = around + Buffer.byteLength(folder) + longest
    const ids = [site.id, state.ms, first, folder, bucket, count, version, session, token, bytes] as const
    addBundle.run(...ids, ...pieces, names, tags)
    state.seq = first + count - 1
    added += count
  }
  if (added > 0) transaction.writer.grew(site.id, tree, AROUND, limits, added)
}

/** Pages of the files that a statement finds in a tree. */
function* pagesOf(
  { site }: CommitState,
  statement: Statement<FileTuple>,
  tree: string,
  values: readonly Value[],
): Generator<FileTuple[]> {
  for (let after: readonly [string, string] = [tree, '']; ; ) {
    const page = statement.all(site.id, ...after, endOf(tree), ...values)
    if (page.length > 0) yield page
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    after = [last[0], last[1]]
  }
}

/** Adds an event for each file that a statement finds in a tree, as a row of its own. */
function addRows(
  state: CommitState,
  statement: Statement<never>,
  tree: string,
  values: readonly Value[],
  cause: Cause,
  largest: number,
): void {
  const { site, version } = state
  const { session = null, token = null } = cause
  const first = startEventIds(state)
  const added = statement.run(state.ms, first, version, session, token, site.id, tree, endOf(tree), ...values)
  state.seq = first + added - 1
  if (added > 0) state.transaction.writer.grew(site.id, tree, largest, state.limits, added)
}

/** Whether events may stand in bundles: beside this process none may run that is of an earlier release. */
function mayBundle({ transaction: { writer } }: CommitState): boolean {
  return writer.logCommit === undefined
}

/**
 * Tells of all files in a collection that they are gone; to be called while they are still there.
 * @param arriving the collection that comes in its place: of files that it brings something else is told
 */
export function tellGone(state: CommitState, tree: string, { gone }: TreeEvents, arriving?: string): void {
  const { files, rows } = statementsOf(state)
  const which = arriving === undefined ? 'gone' : 'goneForGood'
  const others = arriving === undefined ? [] : [arriving]
  if (!mayBundle(state)) {
    addRows(state, rows[which], tree, [...gone.around, ...others], gone, AROUND)
    return
  }
  const pieces: Pieces = ['', ...gone.around]
  for (const page of pagesOf(state, files[which], tree, others.length > 0 ? [tree, ...others] : []))
    addBundles(state, tree, bundlesOf(page), gone, pieces)
}

function piecesOfCome({ around: [head, middle, beforeBody, end] }: TreeEvents['come']): Pieces {
  return [head, middle, beforeBody + end]
}

/** Tells of all files in a collection that they have come. */
export function tellCome(state: CommitState, tree: string, { come, largestBody }: TreeEvents): void {
  const { files, rows } = statementsOf(state)
  const inRows = mayBundle(state) ? rows.documents : rows.come
  addRows(state, inRows, tree, [...come.around, largestBody], come, largestBody + AROUND)
  if (!mayBundle(state)) return
  for (const page of pagesOf(state, files.come, tree, []))
    addBundles(state, tree, bundlesOf(page), come, piecesOfCome(come))
}

/**
 * Tells of all files in a collection that they have moved; to be called while they are still there.
 * @returns to be called when they are at their new place
 */
export function tellMove(state: CommitState, from: string, to: string, tell: TreeEvents): () => void {
  const [page = [], more] = mayBundle(state) ? pagesOf(state, statementsOf(state).files.moving, from, []) : [[], []]
  if (page.length === 0 || more !== undefined || page.some(file => file[3] !== BLOB)) {
    tellGone(state, from, tell)
    return () => tellCome(state, to, tell)
  }
  // Most trees are of one page; those that hold nothing but blobs come in the same bundles.
  const bundles = bundlesOf(page)
  const leaving = bundles.map(bundle => ({ ...bundle, tags: '' }))
  addBundles(state, from, leaving, tell.gone, ['', ...tell.gone.around])
  const coming = bundles.map(bundle => ({ ...bundle, folder: to + bundle.folder.slice(from.length) }))
  return () => addBundles(state, to, coming, tell.come, piecesOfCome(tell.come))
}
