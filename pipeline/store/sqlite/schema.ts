/** Tables of the embedded store and the settings every connection to it runs with. */

import { closeSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ANY_OUTDATED, DERIVATION, mayHoldCdata, mayShowOtherwise, OUTDATED } from '../derivation.ts'
import { Unusable } from '../errors.ts'
import { type Database, openDatabase } from './database.ts'

/** Name of the database file inside the store's folder. */
export const DATABASE = 'store.sqlite'

/** Raised with every change of the tables. */
const FORMAT = 14

/**
 * `resource` is clustered by place: a look-up, a listing and everything below a collection are each one range of one tree.
 * Bodies, derived data, entries and properties hang on a number that survives moves. An event may share a body, as that of a
 * new document does: its text stands between `payload` and `tail`, and the body stays as long as the event does. A large body
 * that was changed in places has splices, each of which changes what those before it have left; never one that an event
 * shares. Events of files that went or came with their tree stand in bundles. Derived data that another derivation has written
 * are noted by the tables themselves. SHA-1 and MD5 of a blob are empty until they have been computed.
 */
const TABLES = `
CREATE TABLE IF NOT EXISTS progress (
  version INTEGER NOT NULL
) STRICT;
INSERT INTO progress SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM progress);

CREATE TABLE IF NOT EXISTS site (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  ms INTEGER NOT NULL,
  seq INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS resource (
  site INTEGER NOT NULL,
  folder TEXT NOT NULL,
  name TEXT NOT NULL,
  id INTEGER NOT NULL UNIQUE,
  kind INTEGER NOT NULL,
  version INTEGER NOT NULL,
  digest TEXT NOT NULL,
  size INTEGER NOT NULL,
  type TEXT NOT NULL,
  language TEXT,
  created INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  shown INTEGER,
  same_second INTEGER NOT NULL,
  properties TEXT,
  members TEXT,
  in_file INTEGER NOT NULL,
  unlisted INTEGER NOT NULL,
  PRIMARY KEY (site, folder, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS resource_file ON resource (digest) WHERE in_file = 1;
CREATE INDEX IF NOT EXISTS resource_apart ON resource (site, folder, name) WHERE in_file = 1;

CREATE TABLE IF NOT EXISTS body (
  id INTEGER PRIMARY KEY,
  bytes BLOB
) STRICT;

CREATE TABLE IF NOT EXISTS splice (
  id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  start INTEGER NOT NULL,
  until INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (id, number)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS whole_body AFTER INSERT ON body BEGIN
  DELETE FROM splice WHERE id = NEW.id;
END;

CREATE TABLE IF NOT EXISTS derived (
  id INTEGER NOT NULL,
  name TEXT NOT NULL,
  site INTEGER NOT NULL,
  value TEXT NOT NULL,
  derivation INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS derived_name ON derived (site, name);
DROP TRIGGER IF EXISTS outdated;
CREATE TRIGGER outdated BEFORE INSERT ON derived WHEN NEW.name = 'profile' AND NEW.derivation <> ${DERIVATION} BEGIN
  INSERT OR IGNORE INTO derived (id, name, site, value) VALUES (NEW.id, '${OUTDATED}', NEW.site, '1');
END;
DROP TRIGGER IF EXISTS no_longer_outdated;
CREATE TRIGGER no_longer_outdated BEFORE INSERT ON derived WHEN NEW.name LIKE '${ANY_OUTDATED}%' AND (NEW.name <> '${OUTDATED}'
  OR NEW.value = 'null' OR EXISTS (SELECT 1 FROM derived WHERE id = NEW.id AND name = '${OUTDATED}')) BEGIN
  DELETE FROM derived WHERE NEW.value = 'null' AND id = NEW.id AND name = NEW.name;
  SELECT RAISE(IGNORE);
END;

CREATE TABLE IF NOT EXISTS entry (
  site INTEGER NOT NULL,
  key BLOB NOT NULL,
  id INTEGER NOT NULL,
  item TEXT NOT NULL,
  PRIMARY KEY (site, key, id, item)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entry_item ON entry (id, item);

CREATE TABLE IF NOT EXISTS entry_text (
  id INTEGER PRIMARY KEY,
  lines TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS property (
  id INTEGER NOT NULL,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (id, namespace, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS blob (
  digest TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  sha1 TEXT NOT NULL,
  md5 TEXT NOT NULL,
  unused INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS blob_unused ON blob (unused) WHERE unused IS NOT NULL;
CREATE INDEX IF NOT EXISTS blob_unknown ON blob (digest) WHERE sha1 = '';

CREATE TABLE IF NOT EXISTS event (
  site INTEGER NOT NULL,
  ms INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  path TEXT NOT NULL,
  version INTEGER NOT NULL,
  payload TEXT NOT NULL,
  session TEXT,
  token TEXT,
  facts TEXT,
  bytes INTEGER NOT NULL,
  body INTEGER,
  tail TEXT,
  PRIMARY KEY (site, ms, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS event_body ON event (body) WHERE body IS NOT NULL;
CREATE INDEX IF NOT EXISTS event_path ON event (site, path, ms, seq, bytes);

CREATE TABLE IF NOT EXISTS event_bundle (
  site INTEGER NOT NULL,
  ms INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  folder TEXT NOT NULL,
  bucket INTEGER NOT NULL,
  count INTEGER NOT NULL,
  version INTEGER NOT NULL,
  session TEXT,
  token TEXT,
  bytes INTEGER NOT NULL,
  head TEXT NOT NULL,
  middle TEXT NOT NULL,
  tail TEXT NOT NULL,
  names TEXT NOT NULL,
  tags TEXT NOT NULL,
  PRIMARY KEY (site, ms, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS event_bundle_place ON event_bundle (site, folder, bucket, ms, seq);

CREATE TABLE IF NOT EXISTS dropped (
  site INTEGER NOT NULL,
  path TEXT NOT NULL,
  ms INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (site, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS dropped_time ON dropped (ms);

CREATE TABLE IF NOT EXISTS counter (
  site INTEGER NOT NULL,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (site, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS commit_log (
  version INTEGER PRIMARY KEY,
  origin TEXT NOT NULL,
  site TEXT NOT NULL,
  paths TEXT NOT NULL,
  raised TEXT NOT NULL,
  edit TEXT
) STRICT;

CREATE TABLE IF NOT EXISTS setting (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS note (
  key TEXT PRIMARY KEY,
  expires INTEGER NOT NULL,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS note_expires ON note (expires);
`

/** What was noted for a derivation before is noted for this one. */
const NOTE_AGAIN = `
UPDATE OR REPLACE derived SET name = '${OUTDATED}' WHERE name LIKE '${ANY_OUTDATED}%';
`

/** Notes what the third derivation reads otherwise than those before; what is not looked through here counts as such. */
const NOTE_CDATA = `
INSERT OR IGNORE INTO derived (id, name, site, value)
SELECT t.id, '${OUTDATED}', t.site, '1' FROM site s CROSS JOIN derived t ON t.site = s.id AND t.name = 'tokens'
WHERE ${mayHoldCdata(text => `instr(t.value, '${text}')`)} AND (
  EXISTS (SELECT 1 FROM body b WHERE b.id = t.id AND instr(b.bytes, CAST('<![CDATA[' AS BLOB)))
  OR EXISTS (SELECT 1 FROM splice p WHERE p.id = t.id)
  OR EXISTS (SELECT 1 FROM resource r WHERE r.id = t.id AND r.in_file = 1)
  OR EXISTS (SELECT 1 FROM derived p WHERE p.id = t.id AND p.name = 'profile' AND instr(p.value, '"utf8":false'))
);
`
/** The first format of that derivation. */
const CDATA_NOTED = 13

/** Notes what the fourth derivation indexes otherwise than those before. */
const NOTE_SHOWN = `
INSERT OR IGNORE INTO derived (id, name, site, value)
SELECT p.id, '${OUTDATED}', p.site, '1' FROM site s CROSS JOIN derived p ON p.site = s.id AND p.name = 'profile'
WHERE ${mayShowOtherwise(text => `instr(p.value, '${text}')`)};
`

/** The first format of that derivation. */
const SHOWN_NOTED = 14

/**
 * Statements that note what is to be read again in a folder.
 *
 * @param format of the folder; 0 of a new one, in which nothing is
 * @returns nothing more than what its format has not noted yet: each document is read again once
 */
export function notesSince(format: number): string {
  if (format === 0) return ''
  return `${NOTE_AGAIN}${format < CDATA_NOTED ? NOTE_CDATA : ''}${format < SHOWN_NOTED ? NOTE_SHOWN : ''}`
}

/** Bytes of pages that a connection keeps in memory, where nobody says anything else. */
const PAGES = 32 * 1024 * 1024

/** The part of them that is seen in the file, while all of it fits. */
const MAPPED = 3 / 4

/** Milliseconds to wait for another process's write transaction. */
export const LOCK_WAIT = 5000

/** Milliseconds to wait for another process that makes the tables of a new format: it may look at all documents. */
const FORMAT_WAIT = 3_600_000

/**
 * Bounds the memory of a connection: pages of the file that it sees in place, and pages that it changes, finds in the log
 * or reads. SQLite sees a file in place from its beginning only; in one that is larger, what is in use lies anywhere, so all
 * of the memory goes to pages that were read. To be called again when the file has grown.
 *
 * @returns bytes that its pages take at most: SQLite does not say how many of them it has
 */
export function limitPages(database: Database, bytes: number): number {
  const pragma = (name: string) => database.prepareTuples<[value: number]>(`PRAGMA ${name}`).get()?.[0] ?? 0
  const wanted = Math.floor(bytes * MAPPED)
  const size = pragma('page_count') * pragma('page_size')
  const mapped = size <= wanted ? wanted : 0
  const kept = -Math.ceil((bytes - mapped) / 1024)
  if (pragma('mmap_size') !== mapped) database.exec(`PRAGMA mmap_size = ${mapped}`)
  if (pragma('cache_size') !== kept) database.exec(`PRAGMA cache_size = ${kept}`)
  return Math.min(size, bytes)
}

/** Gives the memory of a connection back; what it reads next comes from the file again. */
export function relaxPages(database: Database): void {
  const size = database.prepare<{ mmap_size: number }>('PRAGMA mmap_size').get()?.mmap_size ?? 0
  database.exec('PRAGMA shrink_memory')
  database.exec('PRAGMA mmap_size = 0')
  database.exec(`PRAGMA mmap_size = ${size}`)
}

/**
 * A connection for writing: every commit is on disk before it is answered; checkpoints are rare enough not to show in
 * the response times and frequent enough to keep the log at 16 MB.
 * @param wait milliseconds to wait for another process's write transaction
 * @param pages bytes of pages kept in memory
 */
export function connectWriter(folder: string, wait = LOCK_WAIT, pages = PAGES): Database {
  const database = openDatabase(join(folder, DATABASE), { wait })
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('PRAGMA synchronous = FULL')
  database.exec('PRAGMA wal_autocheckpoint = 4000')
  database.exec('PRAGMA journal_size_limit = 67108864')
  limitPages(database, pages)
  database.exec('PRAGMA temp_store = MEMORY')
  return database
}

/**
 * A connection that only reads.
 * @param pages bytes of pages kept in memory
 */
export function connectReader(folder: string, pages = PAGES): Database {
  const database = openDatabase(join(folder, DATABASE), { wait: LOCK_WAIT, readOnly: true })
  limitPages(database, pages)
  database.exec('PRAGMA temp_store = MEMORY')
  return database
}

/** Columns that tables of earlier formats lack. */
const ADDED = [
  ['event', 'body', 'INTEGER'],
  ['event', 'tail', 'TEXT'],
  ['commit_log', 'edit', 'TEXT'],
  ['derived', 'derivation', 'INTEGER NOT NULL DEFAULT 0'],
] as const

function addColumns(database: Database): void {
  const columns = database.prepare<{ name: string }>('SELECT name FROM pragma_table_info(?)')
  for (const [table, column, type] of ADDED) {
    const known = columns.all(table)
    if (known.length > 0 && !known.some(({ name }) => name === column))
      database.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`)
  }
}

/** Makes what is missing of the tables of this format. */
export function makeTables(database: Database): void {
  database.exec(TABLES)
}

/** @throws Unusable for that of a newer release */
function formatOf(database: Database, folder: string): number {
  const format = database.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version ?? 0
  if (format <= FORMAT) return format
  throw new Unusable(`the store in ${folder} has format ${format}; this release knows formats up to ${FORMAT}`)
}

/**
 * Makes the tables in a folder where they are missing, or are those of an earlier format.
 * @throws Unusable when the folder was written by a newer release
 */
export function prepareTables(folder: string): void {
  // The files that SQLite puts beside it get the same mode.
  closeSync(openSync(join(folder, DATABASE), 'a', 0o600))
  const database = connectWriter(folder)
  try {
    if (formatOf(database, folder) === FORMAT) return
    database.exec(`PRAGMA busy_timeout = ${FORMAT_WAIT}`)
    database.exec('BEGIN IMMEDIATE')
    // Another process may have made them while this one waited, one of a newer release too.
    const format = formatOf(database, folder)
    if (format === FORMAT) return
    addColumns(database)
    makeTables(database)
    database.exec(`${notesSince(format)}PRAGMA user_version = ${FORMAT}; COMMIT`)
  } finally {
    database.close()
  }
}

/** Whether there is a store in a folder. @throws Error of the system where this user may not look */
export function holdsStore(folder: string): boolean {
  try {
    return statSync(join(folder, DATABASE), { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') throw error
    return false
  }
}
