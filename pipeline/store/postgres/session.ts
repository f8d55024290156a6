/** Statements over one connection: prepared on first use, sent without waiting for earlier answers. */

import type { Writable } from 'node:stream'
import pg from 'pg'
import { bytesOfCopy } from './copy.ts'

/** What a statement takes: JSON goes as text. */
export type Parameter = null | number | string | boolean | Uint8Array | readonly (number | string)[]

export interface Session {
  /** Rows of the answer. */
  rows<R>(sql: string, ...values: Parameter[]): Promise<R[]>
  /** The first row, if there is one. */
  row<R>(sql: string, ...values: Parameter[]): Promise<R | undefined>
  /** Number of rows that were changed. */
  run(sql: string, ...values: Parameter[]): Promise<number>
  /**
   * Bytes of a question with one column of type `bytea` as they are: other answers have them in hexadecimal, as text.
   *
   * @param sql without parameters
   * @param take given the bytes in order, in pieces that are lent for the time of the call
   */
  copy(sql: string, take: (piece: Uint8Array) => void): Promise<void>
}

/** The session of a writer. */
export interface WriterSession extends Session {
  /**
   * Has a statement carried out that returns one value.
   *
   * @param message what brings its parameters, as `BindMessage` makes it, to a prepared statement of a name
   * @returns the value as text, when what the statement did is committed, unless a transaction was begun before
   */
  call(sql: string, message: (statement: string) => Uint8Array): Promise<string | null>
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

/** An answer that comes as the protocol copies tables: the client hands over its pieces and keeps none. */
class CopyOut extends pg.Query {
  readonly #take: (bytes: Uint8Array) => void
  constructor(sql: string, take: (bytes: Uint8Array) => void) {
    super({ text: `COPY (${sql}) TO STDOUT (FORMAT binary)` })
    this.#take = take
  }
  /** Called by the client. */
  handleCopyData({ chunk }: { chunk: Uint8Array }): void {
    this.#take(chunk)
  }
}

function sessionBy(ask: (query: pg.QueryConfig) => Promise<pg.QueryResult>): Session {
  return {
    copy: async (sql, take) => void (await ask(new CopyOut(sql, bytesOfCopy(take)) as unknown as pg.QueryConfig)),
    rows: async <R>(sql: string, ...values: Parameter[]) => (await ask(prepared(sql, values))).rows as R[],
    row: async <R>(sql: string, ...values: Parameter[]) => (await ask(prepared(sql, values))).rows[0] as R | undefined,
    run: async (sql, ...values) => (await ask(prepared(sql, values))).rowCount ?? 0,
  }
}

/** @param client a connection that is open */
export function sessionOn(client: Queryable): Session {
  return sessionBy(query => answerOf(client, query))
}

type Done = (error: Error | null, result: pg.QueryResult) => void

/** A query that is made already is answered to who waits for it, not by a promise. */
function answerOf(client: Queryable, query: pg.QueryConfig): Promise<pg.QueryResult> {
  if (!(query instanceof CopyOut)) return client.query(query)
  return new Promise((resolve, reject) => {
    const ask = client.query.bind(client) as (query: CopyOut, values: [], done: Done) => void
    ask(query, [], (error, result) => (error ? reject(error) : resolve(result)))
  })
}

/** What the client offers beside its contract. */
interface Wire {
  stream: Pick<Writable, 'cork' | 'uncork' | 'write' | 'writable'>
  parsedStatements: Record<string, string>
  submittedNamedStatements: Record<string, string>
  parse(statement: { name: string; text: string; types: never[] }): void
}

/**
 * A statement whose parameters are bytes already. Nobody asks for the names and types of its answer, and the client makes no
 * rows of it.
 */
class Call extends pg.Query {
  value: string | null = null
  readonly #name: string
  readonly #text: string
  readonly #message: Uint8Array

  constructor(name: string, text: string, message: Uint8Array, done: (error: Error | undefined) => void) {
    super({ name, text }, error => done(error))
    this.#name = name
    this.#text = text
    this.#message = message
  }

  override submit = (connection: pg.Connection) => {
    const wire = connection as unknown as Wire
    const name = this.#name
    if (wire.parsedStatements[name] === undefined && wire.submittedNamedStatements[name] === undefined) {
      wire.parse({ name, text: this.#text, types: [] })
      wire.submittedNamedStatements[name] = this.#text
    }
    if (wire.stream.writable) wire.stream.write(this.#message)
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.value = fields[0] ?? null
  }
}

/**
 * A session on a connection that does not wait for answers. Statements that are sent one right after another go out
 * together: a write to a socket costs more than most statements.
 */
export function pipelineOn(client: pg.Client): WriterSession {
  const { stream } = (client as unknown as { connection: Wire }).connection
  let isCorked = false
  function gather(): void {
    if (isCorked) return
    isCorked = true
    stream.cork()
    process.nextTick(() => {
      isCorked = false
      stream.uncork()
    })
  }
  const session = sessionBy(query => {
    gather()
    return answerOf(client, query)
  })
  return {
    ...session,
    call: (sql, message) =>
      new Promise((resolve, reject) => {
        gather()
        const name = nameOf(sql)
        const asked = new Call(name, sql, message(name), error => {
          if (error) reject(error)
          else resolve(asked.value)
        })
        client.query(asked)
      }),
  }
}
