/** Temporary stores in PostgreSQL: each with a schema and a clock of its own, removed after the test. */

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

/** Opens a store in a new schema. */
export const openSchema: Open<PostgresOptions, OpenedSchema> = (options = {}) => openSchemaWith(() => options)

/** @param optionsOf options of each store that is opened in the schema */
export async function openSchemaWith(optionsOf: () => Partial<PostgresOptions>): Promise<OpenedSchema> {
  const cluster = await sharedCluster()
  const schema = `test_${process.pid}_${++number}`
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
      await administer(cluster, `DROP SCHEMA ${schema} CASCADE`)
    },
  }
  return opened
}
