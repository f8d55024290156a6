/** Temporary stores in PostgreSQL: each with a schema and a clock of its own, which are empty again after the test. */

import pg from 'pg'
import { checkDatabase } from '../../../../pipeline/store/postgres/check.ts'
import { openPostgresStore, type PostgresOptions } from '../../../../pipeline/store/postgres/store.ts'
import type { Store } from '../../../../pipeline/store/store.ts'
import { type Cluster, sharedCluster } from '../../../support/postgres.ts'
import { type Open, type Opened, START, type TestClock } from '../fixture.ts'

export interface OpenedSchema extends Opened {
  url: string
  schema: string
}

let number = 0

let administrator: Promise<pg.Client> | undefined

async function connectTo({ url }: Cluster): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  for (const event of ['error', 'end'] as const)
    client.on(event, () => {
      administrator = undefined
    })
  await client.connect()
  return client
}

/** Runs statements over one connection for all tests: a new one takes longer than what most of them do. */
async function administer(cluster: Cluster, sql: string): Promise<void> {
  const client = await (administrator ??= connectTo(cluster))
  await client.query('RESET ALL')
  await client.query(sql)
}

/** Empties what the store has filled; a table that has grown gets new files, since nothing else makes it small again. */
const EMPTY = `
DO $$
DECLARE each record;
BEGIN
  SET LOCAL session_replication_role = replica;
  FOR each IN SELECT relname, pg_relation_size(oid) AS size FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname NOT IN ('format', 'progress')
  LOOP
    IF each.size > 100000 THEN
      EXECUTE format('TRUNCATE %I', each.relname);
    ELSIF each.size > 0 THEN
      EXECUTE format('DELETE FROM %I', each.relname);
    END IF;
  END LOOP;
  UPDATE progress SET version = 0, last_id = 0;
END $$`

/** Schemas whose tables are empty: to make them takes as long as most tests do. */
export const empty: string[] = []

/** Opens a store in a new schema. */
export const openSchema: Open<PostgresOptions, OpenedSchema> = (options = {}) => openSchemaWith(() => options)

/** Opens a store in a schema that another test may have left empty; only `raw` may change its tables. */
export const openEmpty: Open<PostgresOptions, OpenedSchema> = (options = {}) => openSchemaWith(() => options, empty)

/**
 * @param optionsOf options of each store that is opened in the schema
 * @param left schemas of which one is used, if there is one, and among which it is afterwards; otherwise a new one is made
 */
export async function openSchemaWith(
  optionsOf: () => Partial<PostgresOptions>,
  left?: string[],
): Promise<OpenedSchema> {
  const cluster = await sharedCluster()
  const schema = left?.pop() ?? `test_${process.pid}_${++number}`
  let isAltered = false
  const clock: TestClock = { now: START }
  const open = () => openPostgresStore({ url: cluster.url, schema, clock: () => clock.now, ...optionsOf() })
  const stores = [await open()]
  const opened: OpenedSchema = {
    store: stores[0] as Store,
    url: cluster.url,
    schema,
    clock,
    async reopen() {
      await opened.store.close()
      opened.store = await open()
      stores.push(opened.store)
      return opened.store
    },
    async another() {
      const store = await open()
      stores.push(store)
      return store
    },
    async raw(sql) {
      isAltered = true
      await administer(cluster, `SET search_path = ${schema}; ${sql}`)
    },
    async intact() {
      const { objects } = optionsOf()
      const { problems } = await checkDatabase({ url: cluster.url, schema }, { objects })
      objects?.close()
      if (problems.length > 0) throw new Error(problems.join('; '))
    },
    async close() {
      for (const store of stores) await store.close()
      if (left === undefined || isAltered) return administer(cluster, `DROP SCHEMA ${schema} CASCADE`)
      await administer(cluster, `SET search_path = ${schema}; ${EMPTY}`)
      left.push(schema)
    },
  }
  return opened
}
