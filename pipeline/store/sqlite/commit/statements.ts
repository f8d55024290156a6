/** Everything the writer says to the database, compiled once. */

import { DERIVATION } from '../../derivation.ts'
import { COLUMNS, type ResourceRow } from '../../records/rows.ts'
import { SUMMED_COLUMNS, type SummedTuple } from '../../records/sums.ts'
import { BUNDLED_AT, ofFile } from '../bundles.ts'
import type { Database } from '../database.ts'
import { SPLICES, type SpliceRow } from '../splices.ts'
import { prepareBeginning } from './begin.ts'

/** Below a collection: its site, its path and the first key behind it. */
const BELOW = 'site = ? AND folder >= ? AND folder < ?'
const IDS_BELOW = `SELECT id FROM resource WHERE ${BELOW}`

/** No event shares the body. */
const UNTOLD = 'NOT EXISTS (SELECT 1 FROM event WHERE event.body = body.id)'

/** New values of a row that moves. Parameters: destination, origin, version, the time up to which times change, the new one. */
const MOVED: Readonly<Record<string, string>> = {
  folder: '?1 || substr(folder, length(?2) + 1)',
  version: '?3',
  same_second: 'CASE WHEN modified <= ?4 THEN 1 ELSE same_second END',
  modified: 'CASE WHEN modified <= ?4 THEN ?5 ELSE modified END',
}

/** Rows that are held in memory while they move. */
export const TOGETHER = 4096

const MOVING = COLUMNS.split(', ').map(name => MOVED[name] ?? name)

/** Rows of the index that one statement adds: more make it longer without making a row cheaper. */
export const ENTRIES_AT_ONCE = 16

const ENTRIES = Array.from({ length: ENTRIES_AT_ONCE }, (_, i) => `(?1, ?${2 * i + 3}, ?2, ?${2 * i + 4})`)

/** The compiled statements of a writing connection. */
export type Statements = ReturnType<typeof prepareStatements>

/** @param database a connection for writing */
export function prepareStatements(database: Database) {
  const run = (sql: string) => database.prepare(sql)
  // Not on first use: a commit that is undone would take it along.
  database.exec(`CREATE TEMP TABLE IF NOT EXISTS moving (${COLUMNS})`)
  return {
    begin: prepareBeginning(database),
    commit: run('COMMIT'),
    rollback: run('ROLLBACK'),
    savepoint: run('SAVEPOINT change'),
    release: run('RELEASE change'),
    undo: run('ROLLBACK TO change'),

    progress: database.prepare<{ version: number }>('SELECT version FROM progress'),
    setProgress: run('UPDATE progress SET version = ?'),
    site: database.prepare<{ id: number; ms: number; seq: number }>('SELECT id, ms, seq FROM site WHERE name = ?'),
    addSite: database.prepare<{ id: number }>('INSERT INTO site (name, ms, seq) VALUES (?, 0, 0) RETURNING id'),
    setSite: run('UPDATE site SET ms = ?1, seq = ?2 WHERE id = ?3 AND (ms <> ?1 OR seq <> ?2)'),
    lastId: database.prepare<{ id: number | null }>(
      'SELECT max(id) AS id FROM (SELECT max(id) AS id FROM resource UNION ALL SELECT max(id) FROM body)',
    ),

    find: database.prepare<ResourceRow>(`SELECT ${COLUMNS} FROM resource WHERE site = ? AND folder = ? AND name = ?`),
    summedBelow: database.prepareTuples<SummedTuple>(`SELECT ${SUMMED_COLUMNS} FROM resource WHERE ${BELOW}`),
    longerBelow: database.prepare<Pick<ResourceRow, 'folder' | 'name' | 'kind'>>(
      `SELECT folder, name, kind FROM resource WHERE ${BELOW} AND octet_length(folder) + octet_length(name) + (kind = 0) > ? LIMIT 1`,
    ),
    newestBelow: database.prepare<{ modified: number | null }>(
      `SELECT max(modified) AS modified FROM resource WHERE ${BELOW}`,
    ),
    anyUntil: database.prepare<{ there: number }>(
      `SELECT 1 AS there FROM resource WHERE ${BELOW} AND kind <> 0 AND modified <= ? LIMIT 1`,
    ),
    insert: run(
      `INSERT INTO resource (site, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    replace: run(
      'UPDATE resource SET kind = ?, version = ?, digest = ?, size = ?, type = ?, language = ?, modified = ?, shown = ?, same_second = ?, in_file = ? WHERE site = ? AND folder = ? AND name = ?',
    ),
    place: run(
      'UPDATE resource SET folder = ?, name = ?, kind = ?, version = ?, type = ?, modified = ?, same_second = ?, in_file = ?, unlisted = ? WHERE site = ? AND folder = ? AND name = ?',
    ),
    describe: run(
      'UPDATE resource SET properties = ?, shown = ?, same_second = ?, language = ? WHERE site = ? AND folder = ? AND name = ?',
    ),
    member: run('UPDATE resource SET members = ? WHERE site = ? AND folder = ? AND name = ?'),
    membership: run(
      'UPDATE resource SET members = ?, version = ?, modified = ? WHERE site = ? AND folder = ? AND name = ?',
    ),
    remove: run('DELETE FROM resource WHERE site = ? AND folder = ? AND name = ?'),
    moveBelow: run(
      `UPDATE resource SET folder = ${MOVED.folder}, version = ${MOVED.version}, same_second = ${MOVED.same_second},
         modified = ${MOVED.modified} WHERE ${BELOW}`,
    ),
    /** Takes as many as may be held, and one more; parameters as above. */
    takeBelow: run(
      `INSERT INTO moving SELECT ${MOVING.join(', ')} FROM resource WHERE ${BELOW} ORDER BY folder, name LIMIT ${TOGETHER + 1}`,
    ),
    putTaken: run(`INSERT INTO resource (site, ${COLUMNS}) SELECT ?, ${COLUMNS} FROM moving ORDER BY rowid`),
    forgetTaken: run('DELETE FROM moving'),
    copyBelow: run(
      `INSERT INTO resource (site, ${COLUMNS}) SELECT site, ? || substr(folder, length(?) + 1), name, ? + row_number() OVER (), kind, ?, digest, size, type, language, ?, ?, NULL, ?, properties, NULL, in_file, unlisted FROM resource WHERE ${BELOW}`,
    ),
    removeBelow: run(`DELETE FROM resource WHERE ${BELOW}`),

    body: database.prepare<{ bytes: Uint8Array | null }>('SELECT bytes FROM body WHERE id = ?'),
    setBody: run('INSERT OR REPLACE INTO body (id, bytes) VALUES (?, ?)'),
    removeBody: run(`DELETE FROM body WHERE id = ? AND ${UNTOLD}`),
    moveBody: run('UPDATE body SET id = ? WHERE id = ?'),
    splices: database.prepare<SpliceRow>(SPLICES),
    countSplices: database.prepare<{ count: number }>('SELECT count(*) AS count FROM splice WHERE id = ?'),
    addSplice: run('INSERT INTO splice (id, number, start, until, bytes) VALUES (?, ?, ?, ?, ?)'),
    removeSplices: run('DELETE FROM splice WHERE id = ?'),
    splicedBelow: database.prepare<{ id: number }>(
      `SELECT id FROM resource WHERE EXISTS (SELECT 1 FROM splice) AND ${BELOW}
       AND EXISTS (SELECT 1 FROM splice WHERE splice.id = resource.id)`,
    ),
    anySplice: database.prepare<{ there: number }>('SELECT 1 AS there FROM splice LIMIT 1'),
    removeSplicesBelow: run(`DELETE FROM splice WHERE id IN (${IDS_BELOW})`),
    copyBody: run('INSERT INTO body (id, bytes) SELECT ?, bytes FROM body WHERE id = ?'),
    removeBodiesBelow: run(`DELETE FROM body WHERE id IN (${IDS_BELOW}) AND ${UNTOLD}`),

    derive: run(
      `INSERT OR REPLACE INTO derived (id, name, site, value, derivation) VALUES (?, ?, ?, ?, ${DERIVATION})`,
    ),
    dropDerived: run('DELETE FROM derived WHERE id = ? AND name = ?'),
    removeDerived: run('DELETE FROM derived WHERE id = ?'),
    copyDerived: run(
      `INSERT INTO derived (id, name, site, value, derivation) SELECT ?, name, site, value, ${DERIVATION} FROM derived WHERE id = ?`,
    ),
    removeDerivedBelow: run(`DELETE FROM derived WHERE id IN (${IDS_BELOW})`),

    entryText: database.prepare<{ lines: string }>('SELECT lines FROM entry_text WHERE id = ?'),
    setEntryText: run('INSERT OR REPLACE INTO entry_text (id, lines) VALUES (?, ?)'),
    removeEntryText: run('DELETE FROM entry_text WHERE id = ?'),
    copyEntryText: run('INSERT INTO entry_text (id, lines) SELECT ?, lines FROM entry_text WHERE id = ?'),
    removeEntryTextsBelow: run(`DELETE FROM entry_text WHERE id IN (${IDS_BELOW})`),
    addEntry: run('INSERT OR IGNORE INTO entry (site, key, id, item) VALUES (?, ?, ?, ?)'),
    /** Site and resource, then key and item of each. */
    addEntries: run(`INSERT OR IGNORE INTO entry (site, key, id, item) VALUES ${ENTRIES.join(', ')}`),
    removeEntry: run('DELETE FROM entry WHERE id = ? AND item = ?'),
    removeEntries: run('DELETE FROM entry WHERE id = ?'),
    copyEntries: run('INSERT INTO entry (site, key, id, item) SELECT ?, key, ?, item FROM entry WHERE id = ?'),
    removeEntriesBelow: run(`DELETE FROM entry WHERE id IN (${IDS_BELOW})`),
    countEntries: database.prepare<{ count: number }>(
      'SELECT count(*) AS count FROM (SELECT 1 FROM entry WHERE site = ? AND key = ? LIMIT ?)',
    ),
    entriesOf: database.prepare<{ id: number; item: string }>('SELECT id, item FROM entry WHERE site = ? AND key = ?'),
    hasEntry: database.prepare<{ there: number }>(
      'SELECT 1 AS there FROM entry WHERE site = ? AND key = ? AND id = ? AND item = ?',
    ),

    /** Site, key, and two versions: of entries that came after the first one, and not with the second. */
    newerEntry: database.prepare<{ there: number }>(
      `SELECT 1 AS there FROM entry JOIN resource ON resource.id = entry.id
       WHERE entry.site = ? AND key = ? AND version > ? AND version <> ? LIMIT 1`,
    ),

    property: database.prepare<{ value: string }>(
      'SELECT value FROM property WHERE id = ? AND namespace = ? AND name = ?',
    ),
    setProperty: run('INSERT OR REPLACE INTO property (id, namespace, name, value) VALUES (?, ?, ?, ?)'),
    removeProperty: run('DELETE FROM property WHERE id = ? AND namespace = ? AND name = ?'),
    removeProperties: run('DELETE FROM property WHERE id = ?'),
    copyProperties: run(
      'INSERT INTO property (id, namespace, name, value) SELECT ?, namespace, name, value FROM property WHERE id = ?',
    ),
    removePropertiesBelow: run(`DELETE FROM property WHERE id IN (${IDS_BELOW} AND properties NOTNULL)`),

    useBlob: run(
      `INSERT INTO blob (digest, size, sha1, md5) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET unused = NULL,
         sha1 = CASE sha1 WHEN '' THEN excluded.sha1 ELSE sha1 END, md5 = CASE md5 WHEN '' THEN excluded.md5 ELSE md5 END`,
    ),
    setChecksums: run('UPDATE blob SET sha1 = ?, md5 = ? WHERE digest = ?'),
    keepBlob: run('UPDATE blob SET unused = NULL WHERE digest = ?'),
    leaveBlob: run('UPDATE blob SET unused = ? WHERE digest = ?'),
    leaveBlobsBelow: run(
      `UPDATE blob SET unused = ? WHERE digest IN (SELECT digest FROM resource WHERE ${BELOW} AND in_file = 1)`,
    ),

    addEvent: run(
      'INSERT INTO event (site, ms, seq, path, version, payload, session, token, facts, bytes, body, tail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    told: database.prepare<{ there: number }>('SELECT 1 AS there FROM event WHERE body = ? LIMIT 1'),
    moveTold: run('UPDATE event SET body = ? WHERE body = ?'),
    newestEvent: database.prepare<{ ms: number | null }>(
      `SELECT max(ms) AS ms FROM (SELECT max(ms) AS ms FROM event WHERE site = ?1 AND path = ?2
       UNION ALL SELECT max(b.ms) FROM ${BUNDLED_AT} WHERE b.site = ?1 AND ${ofFile(3)})`,
    ),
    newestDropped: database.prepare<{ ms: number }>('SELECT ms FROM dropped WHERE site = ? AND path = ?'),
    newestEventBelow: database.prepare<{ ms: number | null }>(
      `SELECT max(ms) AS ms FROM (SELECT max(ms) AS ms FROM event WHERE site = ?1 AND path >= ?2 AND path < ?3
       UNION ALL SELECT max(ms) FROM event_bundle WHERE site = ?1 AND folder >= ?2 AND folder < ?3
       UNION ALL SELECT max(ms) FROM dropped WHERE site = ?1 AND path >= ?2 AND path < ?3)`,
    ),

    counter: database.prepare<{ value: number }>('SELECT value FROM counter WHERE site = ? AND name = ?'),
    raise: database.prepare<{ value: number }>(
      'INSERT INTO counter (site, name, value) VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET value = value + 1 RETURNING value',
    ),
    setSetting: run('INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)'),
    addSetting: run('INSERT OR IGNORE INTO setting (name, value) VALUES (?, ?)'),

    keepNote: run('INSERT OR REPLACE INTO note (key, value, expires) VALUES (?, ?, ?)'),
    dropNote: run('DELETE FROM note WHERE key = ?'),
    dropNotes: run('DELETE FROM note WHERE key >= ? AND key < ?'),
    moveNotes: run('UPDATE note SET key = ?3 || substr(key, length(?1) + 1) WHERE key >= ?1 AND key < ?2'),
  }
}

/**
 * What hangs on the members of a collection, hung on their copies as well. Parameters: original collection, its copy, and
 * the copy as a range.
 */
export function prepareCopies(database: Database) {
  const pairs = `FROM resource copy JOIN resource original
    ON original.site = copy.site AND original.folder = ? || substr(copy.folder, length(?) + 1) AND original.name = copy.name`
  const below = 'copy.site = ? AND copy.folder >= ? AND copy.folder < ?'
  return [
    `INSERT INTO body (id, bytes) SELECT copy.id, body.bytes ${pairs} JOIN body ON body.id = original.id WHERE ${below}`,
    `INSERT INTO derived (id, name, site, value, derivation)
     SELECT copy.id, derived.name, copy.site, derived.value, ${DERIVATION} ${pairs}
     JOIN derived ON derived.id = original.id WHERE ${below}`,
    `INSERT INTO entry_text (id, lines) SELECT copy.id, entry_text.lines ${pairs}
     JOIN entry_text ON entry_text.id = original.id WHERE ${below}`,
    `INSERT INTO entry (site, key, id, item) SELECT copy.site, entry.key, copy.id, entry.item ${pairs}
     JOIN entry ON entry.id = original.id WHERE ${below}`,
    `INSERT INTO property (id, namespace, name, value) SELECT copy.id, property.namespace, property.name, property.value
     ${pairs} JOIN property ON property.id = original.id WHERE ${below} AND copy.properties NOTNULL`,
  ].map(sql => database.prepare(sql))
}
