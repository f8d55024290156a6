/** Statements over one connection: prepared on first use, sent without waiting for earlier answers. */

import type { Writable } from 'node:stream'
import type pg from 'pg'

/** What a statement takes: JSON goes as text. */
export type Parameter = null | number | string | boolean | Uint8Array | readonly (number | string)[]

export interface Session {
  /** Rows of the answer. */
  rows<R>(sql: string, ...values: Parameter[]): Promise<R[]>
  /** The first row, if there is one. */
  row<R>(sql: string, ...values: Parameter[]): Promise<R | undefined>
  /** Number of rows that were changed. */
  run(sql: string, ...values: Parameter[]): Promise<number>
}

/** Names of prepared statements, the same on all connections. */
const names = new Map<string, string>()

function nameOf(sql: string): string {
  let name = names.get(sql)
  if (name === undefined) names.set(sql, (name = `s${names.size}`))
  return name
}

/** Anything that runs statements: a connection, or a pool of them. */
type Queryable = Pick<pg.ClientBase, 'query'>

/** The statement as the client takes it. */
export function prepared(sql: string, values: readonly Parameter[]): pg.QueryConfig {
  return { name: nameOf(sql), text: sql, values: values as unknown[] }
}

function sessionBy(ask: (query: pg.QueryConfig) => Promise<pg.QueryResult>): Session {
  return {
    rows: async <R>(sql: string, ...values: Parameter[]) => (await ask(prepared(sql, values))).rows as R[],
    row: async <R>(sql: string, ...values: Parameter[]) => (await ask(prepared(sql, values))).rows[0] as R | undefined,
    run: async (sql, ...values) => (await ask(prepared(sql, values))).rowCount ?? 0,
  }
}

/** @param client a connection that is open */
export function sessionOn(client: Queryable): Session {
  return sessionBy(query => client.query(query))
}

/**
 * A session on a connection that does not wait for answers. Statements that are sent one right after another go out
 * together: a write to a socket costs more than most statements.
 */
export function pipelineOn(client: pg.Client): Session {
  const { stream } = (client as unknown as { connection: { stream: Pick<Writable, 'cork' | 'uncork'> } }).connection
  let isCorked = false
  return sessionBy(query => {
    if (!isCorked) {
      isCorked = true
      stream.cork()
      process.nextTick(() => {
        isCorked = false
        stream.uncork()
      })
    }
    return client.query(query)
  })
}
