/**
 * The one place that knows the SQLite binding: `node:sqlite` here, another synchronous one behind the same few functions.
 */

import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite'
import { isDiskFull, isUnwritable } from '../disk/folder.ts'
import { lacksDescriptors } from '../errors.ts'

/** What a column holds or a parameter takes. Integers stay below 2^53. */
export type Value = null | number | string | Uint8Array

export interface Statement<Row> {
  get(...values: Value[]): Row | undefined
  all(...values: Value[]): Row[]
  /** Number of rows changed. */
  run(...values: Value[]): number
}

export interface Database {
  /** Compiles once; the caller keeps the statement and vouches for the shape of its rows. */
  prepare<Row = never>(sql: string): Statement<Row>
  /** The same with rows as arrays, which are made in two thirds of the time: for long listings. */
  prepareTuples<Tuple extends readonly Value[]>(sql: string): Statement<Tuple>
  exec(sql: string): void
  /** Makes a function that statements may call; its result depends on its arguments alone. */
  define(name: string, call: (...values: Value[]) => Value): void
  /** False again when SQLite itself rolled back, as it does when a disk is full. */
  inTransaction(): boolean
  close(): void
}

/**
 * Opens a database file.
 * @param file path of the file, made when absent unless `readOnly`
 * @param options `wait`: milliseconds to wait for another process's write lock
 */
export function openDatabase(file: string, options: { readOnly?: boolean; wait: number }): Database {
  const database = new DatabaseSync(file, { readOnly: options.readOnly ?? false, timeout: options.wait })
  // What stands in the file may have been put there by somebody else.
  database.exec('PRAGMA trusted_schema = OFF')
  function prepare<Row>(sql: string, returnArrays: boolean): Statement<Row> {
    const statement = database.prepare(sql, { returnArrays })
    return {
      get: (...values) => statement.get(...(values as SQLInputValue[])) as Row | undefined,
      all: (...values) => statement.all(...(values as SQLInputValue[])) as Row[],
      run: (...values) => Number(statement.run(...(values as SQLInputValue[])).changes),
    }
  }
  return {
    prepare: sql => prepare(sql, false),
    prepareTuples: sql => prepare(sql, true),
    exec: sql => database.exec(sql),
    define: (name, call) =>
      database.function(name, { deterministic: true, varargs: true }, call as (...values: SQLOutputValue[]) => Value),
    inTransaction: () => database.isTransaction,
    close: () => database.close(),
  }
}

/** Primary result codes of SQLite that callers tell apart. */
const BUSY = 5
const LOCKED = 6
const READ_ONLY = 8
const FULL = 13

/** Extended code of a write that the file system refused. */
const WRITE_FAILED = 778

/** What an error of the binding means for a caller: try again, make room, have the disk taken care of, or a failure. */
export function reasonOf(error: unknown): 'busy' | 'full' | 'unwritable' | 'failed' {
  const { errcode } = (error ?? {}) as { errcode?: number }
  const primary = typeof errcode === 'number' ? errcode & 0xff : undefined
  if (primary === BUSY || primary === LOCKED || lacksDescriptors(error)) return 'busy'
  if (primary === FULL || isDiskFull(error)) return 'full'
  if (primary === READ_ONLY || errcode === WRITE_FAILED || isUnwritable(error)) return 'unwritable'
  return 'failed'
}
