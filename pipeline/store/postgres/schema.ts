/** Tables, and how those of earlier releases become those of this one. */

import type pg from 'pg'
import { mayHoldCdata, mayShowOtherwise } from '../derivation.ts'
import { Unusable } from '../errors.ts'
import { type DatabaseAddress, quoted } from './connection.ts'
import { GROUP_FUNCTIONS, WRITE_FROM_MEMORY } from './group-functions.ts'

/**
 * `resource` is ordered by place: a look-up, a listing and everything below a collection are each one range of its key. No
 * index has a column that saving a document changes, so that its row is rewritten in place. Bodies have numbers of their
 * own: an event may share one, and then the body stays as long as the event does. Blobs are chunks of one size.
 */
const FIRST = `
CREATE TABLE progress (
  sole boolean PRIMARY KEY DEFAULT true CHECK (sole),
  version bigint NOT NULL,
  last_id bigint NOT NULL
);
INSERT INTO progress (version, last_id) VALUES (0, 0);

CREATE TABLE site (
  id bigint PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE,
  ms bigint NOT NULL,
  seq bigint NOT NULL
);

CREATE TABLE resource (
  site bigint NOT NULL,
  folder text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  id bigint NOT NULL,
  kind smallint NOT NULL,
  version bigint NOT NULL,
  digest text NOT NULL,
  size bigint NOT NULL,
  type text NOT NULL,
  language text,
  created bigint NOT NULL,
  modified bigint NOT NULL,
  shown bigint,
  same_second smallint NOT NULL,
  properties text,
  members text,
  body bigint,
  blob text COLLATE "C",
  unlisted smallint NOT NULL,
  PRIMARY KEY (site, folder, name)
) WITH (fillfactor = 80);
CREATE INDEX resource_id ON resource (id);
CREATE INDEX resource_blob ON resource (blob) WHERE blob IS NOT NULL;

CREATE TABLE body (
  id bigint PRIMARY KEY,
  bytes bytea NOT NULL,
  told boolean NOT NULL DEFAULT false
) WITH (toast_tuple_target = 8160);
ALTER TABLE body ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE derived (
  id bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  site bigint NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (id, name)
) WITH (fillfactor = 80);
CREATE INDEX derived_name ON derived (site, name);

CREATE TABLE entry (
  site bigint NOT NULL,
  key bytea NOT NULL,
  id bigint NOT NULL,
  item text COLLATE "C" NOT NULL,
  PRIMARY KEY (site, key, id, item)
);
CREATE INDEX entry_item ON entry (id, item);

CREATE TABLE entry_text (
  id bigint PRIMARY KEY,
  lines text NOT NULL
);

CREATE TABLE property (
  id bigint NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (id, namespace, name)
);

CREATE TABLE upload (
  id uuid PRIMARY KEY,
  begun timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE chunk (
  upload uuid NOT NULL,
  seq int NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (upload, seq)
);
ALTER TABLE chunk ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE blob (
  digest text COLLATE "C" PRIMARY KEY,
  upload uuid NOT NULL UNIQUE,
  size bigint NOT NULL,
  sha1 text NOT NULL,
  md5 text NOT NULL,
  unused bigint
);
CREATE INDEX blob_unused ON blob (unused) WHERE unused IS NOT NULL;

CREATE TABLE event (
  site bigint NOT NULL,
  ms bigint NOT NULL,
  seq bigint NOT NULL,
  path text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  payload text NOT NULL,
  session text,
  token text,
  facts text,
  bytes bigint NOT NULL,
  body bigint,
  tail text,
  PRIMARY KEY (site, ms, seq)
);
CREATE INDEX event_body ON event (body) WHERE body IS NOT NULL;
CREATE INDEX event_path ON event (site, path, ms, seq);

CREATE TABLE dropped (
  site bigint NOT NULL,
  path text COLLATE "C" NOT NULL,
  ms bigint NOT NULL,
  seq bigint NOT NULL,
  PRIMARY KEY (site, path)
);
CREATE INDEX dropped_time ON dropped (ms);

CREATE TABLE counter (
  site bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  value bigint NOT NULL,
  PRIMARY KEY (site, name)
) WITH (fillfactor = 50);

CREATE TABLE commit_log (
  version bigint PRIMARY KEY,
  origin text NOT NULL,
  site text COLLATE "C" NOT NULL,
  paths text NOT NULL,
  raised text NOT NULL,
  edit text
);

CREATE TABLE setting (
  name text COLLATE "C" PRIMARY KEY,
  value text NOT NULL
);

CREATE TABLE note (
  key text COLLATE "C" PRIMARY KEY,
  expires bigint NOT NULL,
  value text NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX note_expires ON note (expires);
`

/**
 * Rows say by which derivation they were made. Servers of a release that says nothing, or another number, have what they
 * write noted as outdated. The trigger sees every row before conflicts are looked at: rows that stay as they are count, too.
 */
const DERIVATIONS = `
ALTER TABLE derived ADD COLUMN derivation smallint NOT NULL DEFAULT 0;
CREATE FUNCTION note_outdated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.name = 'profile' THEN
    INSERT INTO derived (id, name, site, value) VALUES (NEW.id, 'outdated', NEW.site, '1');
  ELSIF NEW.value = 'null' THEN
    DELETE FROM derived WHERE id = NEW.id AND name = 'outdated';
    RETURN NULL;
  ELSIF EXISTS (SELECT FROM derived WHERE id = NEW.id AND name = 'outdated') THEN
    RETURN NULL;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER outdated BEFORE INSERT ON derived FOR EACH ROW
  WHEN (NEW.name = 'profile' AND NEW.derivation <> 1 OR NEW.name = 'outdated') EXECUTE FUNCTION note_outdated();
`

/** What is noted from the second derivation on. Only the condition differs: it cannot be changed in place. */
const DERIVATION_2 = `
DROP TRIGGER outdated ON derived;
CREATE TRIGGER outdated BEFORE INSERT ON derived FOR EACH ROW
  WHEN (NEW.name = 'profile' AND NEW.derivation <> 2 OR NEW.name = 'outdated') EXECUTE FUNCTION note_outdated();
`

/** What derivations from the third on have tables note, under a name that says by which it is to be read again. */
const noting = (derivation: number) => `
CREATE OR REPLACE FUNCTION note_outdated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.name = 'profile' THEN
    INSERT INTO derived (id, name, site, value) VALUES (NEW.id, 'outdated/${derivation}', NEW.site, '1');
  ELSIF NEW.name <> 'outdated/${derivation}' THEN
    RETURN NULL;
  ELSIF NEW.value = 'null' THEN
    DELETE FROM derived WHERE id = NEW.id AND name = 'outdated/${derivation}';
    RETURN NULL;
  ELSIF EXISTS (SELECT FROM derived WHERE id = NEW.id AND name = 'outdated/${derivation}') THEN
    RETURN NULL;
  END IF;
  RETURN NEW;
END $$;
DROP TRIGGER outdated ON derived;
CREATE TRIGGER outdated BEFORE INSERT ON derived FOR EACH ROW
  WHEN (NEW.name = 'profile' AND NEW.derivation <> ${derivation} OR NEW.name LIKE 'outdated%') EXECUTE FUNCTION note_outdated();
`

/**
 * What is noted from the third derivation on, and what that one reads otherwise than those before. The name says by which it
 * is to be read again: two servers of a release before would go on to note each other's, and what they note as done is none.
 */
const DERIVATION_3 = `
${noting(3)}
UPDATE derived SET name = 'outdated/3' WHERE name = 'outdated';
INSERT INTO derived (id, name, site, value)
SELECT t.id, 'outdated/3', t.site, '1' FROM derived t JOIN resource r ON r.id = t.id LEFT JOIN body b ON b.id = r.body
WHERE t.name = 'tokens' AND ${mayHoldCdata(text => `strpos(t.value, '${text}') > 0`)} AND (
  b.id IS NULL OR position('<![CDATA['::bytea IN b.bytes) > 0
  OR EXISTS (SELECT FROM derived p WHERE p.id = t.id AND p.name = 'profile' AND strpos(p.value, '"utf8":false') > 0)
);
`

/** What is noted from the fourth derivation on, and what that one indexes otherwise than those before. */
const DERIVATION_4 = `
${noting(4)}
UPDATE derived SET name = 'outdated/4' WHERE name = 'outdated/3';
INSERT INTO derived (id, name, site, value)
SELECT p.id, 'outdated/4', p.site, '1' FROM derived p
WHERE p.name = 'profile' AND ${mayShowOtherwise(text => `strpos(p.value, '${text}') > 0`)};
`

/**
 * Objects that hold blobs, with the number that uploads have, from before anything of them is stored until they are gone.
 * `due` is when somebody has to look whether a blob has it; none for those that one has. The trigger sees blobs that
 * servers of releases before this one give up as well.
 */
const OBJECTS = `
CREATE TABLE object (
  id uuid PRIMARY KEY,
  due timestamptz DEFAULT now() + interval '1 day'
);
CREATE INDEX object_due ON object (due) WHERE due IS NOT NULL;
CREATE FUNCTION leave_object() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE object SET due = now() + CASE TG_OP WHEN 'DELETE' THEN interval '0' ELSE interval '1 hour' END
  WHERE id = OLD.upload;
  RETURN NULL;
END $$;
CREATE TRIGGER left_object AFTER DELETE OR UPDATE OF upload ON blob FOR EACH ROW EXECUTE FUNCTION leave_object();
`

/**
 * Names of properties may be longer than a key of an index can be (DAV-34). A resource has some hundred at most, and no two of one
 * name: all that it had go before those that it gets come.
 */
const LONG_NAMES = `
ALTER TABLE property DROP CONSTRAINT IF EXISTS property_pkey;
CREATE INDEX IF NOT EXISTS property_id ON property (id);
`

/** What each format adds to the one before it. Steps only go forward and stay as they are once released. */
export const MIGRATIONS: readonly string[] = [
  FIRST,
  DERIVATIONS,
  OBJECTS,
  GROUP_FUNCTIONS,
  WRITE_FROM_MEMORY,
  DERIVATION_2,
  DERIVATION_3,
  DERIVATION_4,
  LONG_NAMES,
]

/** Number of the advisory lock under which tables are made: one process does it, the others wait. */
const LOCK = 7_203_115_846

/** Milliseconds that no statement takes: as many as a timer knows. */
const NEVER = 2 ** 31 - 1

/** Runs a statement for as long as it takes: a step may look at all documents, and others wait until it is done. */
async function unhurried(client: pg.ClientBase, text: string, values?: unknown[]): Promise<void> {
  const statement: pg.QueryConfig & { query_timeout: number } = {
    text,
    query_timeout: NEVER,
    ...(values && { values }),
  }
  await client.query(statement)
}

/**
 * Makes the tables, or brings those of an earlier release up to this one, in one transaction.
 *
 * @throws Unusable when the database does not keep text as UTF-8 or was written by a newer release
 */
export async function prepareTables(client: pg.ClientBase, { schema }: DatabaseAddress): Promise<void> {
  const encoding = (await client.query('SHOW server_encoding')).rows[0]?.server_encoding
  if (encoding !== 'UTF8') throw new Unusable(`it keeps text as ${encoding}; it has to be UTF8`)
  // Whoever may only read, or may not make schemas, finds what an administrator has made.
  const format = await formatOf(client)
  if (format === MIGRATIONS.length) return
  requireKnown(format)
  // Taken before the transaction: one that began earlier does not learn of tables that were made while it waited.
  await client.query('SET statement_timeout = 0')
  await unhurried(client, 'SELECT pg_advisory_lock($1)', [LOCK])
  await client.query('BEGIN')
  try {
    if (schema !== undefined) await client.query(`CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`)
    const found = await formatOf(client)
    requireKnown(found)
    for (const step of MIGRATIONS.slice(found)) await unhurried(client, step)
    if (found === 0) await client.query('CREATE TABLE format (number int NOT NULL); INSERT INTO format VALUES (0)')
    await client.query('UPDATE format SET number = $1', [MIGRATIONS.length])
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [LOCK]).catch(() => undefined)
  }
}

function requireKnown(format: number): void {
  if (format > MIGRATIONS.length)
    throw new Unusable(`it has format ${format}, this release knows up to ${MIGRATIONS.length}`)
}

/** Number of the format that stands; 0 for none. */
async function formatOf(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query("SELECT to_regclass('format') IS NOT NULL AS known")
  if (rows[0]?.known !== true) return 0
  return Number((await client.query('SELECT number FROM format')).rows[0]?.number ?? 0)
}
