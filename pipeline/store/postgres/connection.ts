/** Connections to the database: how they are made, what they speak, and what their failures mean. */

import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { StoreError } from '../errors.ts'

/** Where the database is, and who asks. */
export interface DatabaseAddress {
  /** `postgres://user:password@host:5432/database?sslmode=verify-full`; `?host=/folder` names a folder of sockets. */
  url: string
  /** The same for hosts that may take its place. */
  others?: readonly string[] | undefined
  /** File that holds the password and nothing else; it is read for every new connection. */
  passwordFile?: string | undefined
  /** Schema of the tables, made when absent; the one that the user's `search_path` begins with by default. */
  schema?: string | undefined
}

/** Milliseconds until a connection that is being made counts as failed: nobody waits longer for a database that is away. */
export const CONNECT_WAIT = 1500

/**
 * The same where whoever waits is told when the database goes away: one that has much to do, but answers, may take its time
 * for a new connection.
 */
export const PATIENCE = 10_000

/** Milliseconds after which nobody waits for a statement any more: copies of large trees take their time, but end. */
const STATEMENT_WAIT = 60_000

/** Type number of PostgreSQL: 64-bit integers. */
const INT8 = 20

/** Every integer of the store is below 2^53. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8 && format !== 'binary') return Number
    return pg.types.getTypeParser(oid, format as 'text')
  },
}

/**
 * What every connection runs with: whatever the database's defaults are, transactions that see what others have committed while
 * they waited for their turn, and are on disk when they are answered; plans by index that are made once, and nothing compiled
 * for a millisecond's work.
 */
const SETTINGS = [
  "SET default_transaction_isolation = 'read committed'",
  "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
  'SET jit = off',
  'SET plan_cache_mode = force_generic_plan',
  'SET enable_seqscan = off',
  'SET enable_hashjoin = off',
  'SET enable_mergejoin = off',
]

/** Name of a schema as SQL. */
export function quoted(name: string): string {
  return pg.escapeIdentifier(name)
}

/** What the database calls a connection. */
export function applicationName(name: string): string {
  return `scriptorium ${name}`
}

/** A client of an address. */
export class AddressedClient extends pg.Client {
  /** @param more options of the client beside those that all have */
  constructor({ url, passwordFile }: DatabaseAddress, name: string, more: object) {
    super({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_WAIT,
      keepAlive: true,
      application_name: applicationName(name),
      types,
      ...more,
    })
    // Of its options a client takes the password of the address alone, be there one or not.
    if (passwordFile !== undefined)
      Object.assign(this, { password: async () => (await readFile(passwordFile, 'utf8')).trim() })
  }
}

/** Brings a new connection into the state that all of them have. */
export async function setUp(client: pg.ClientBase, { schema }: DatabaseAddress, more: readonly string[] = []) {
  const path = schema === undefined ? [] : [`SET search_path = ${quoted(schema)}`]
  await client.query([...path, ...SETTINGS, ...more].join('; '))
}

/**
 * A connection of its own, which sends statements without waiting for the answers of earlier ones.
 *
 * @param begun is given the client before it is connected, to drop it when the database goes away: then it waits longer
 * @throws the system's or the database's error
 */
export async function connect(
  address: DatabaseAddress,
  name: string,
  more?: readonly string[],
  begun?: (client: pg.Client) => void,
): Promise<pg.Client> {
  const options = { pipeline: true, query_timeout: STATEMENT_WAIT }
  const client = new AddressedClient(address, name, begun ? { ...options, connectionTimeoutMillis: PATIENCE } : options)
  // A lost connection shows in the next statement; without a listener it would end the process.
  client.on('error', () => undefined)
  begun?.(client)
  try {
    await client.connect()
    await setUp(client, address, more)
  } catch (error) {
    drop(client)
    throw error
  }
  return client
}

/**
 * A connection to whichever host is no replica. The address leads there from then on.
 *
 * @throws the error of the last host
 */
export async function connectPrimary(address: DatabaseAddress, name: string): Promise<pg.Client> {
  const { url, others = [] } = address
  if (others.length === 0) return connect(address, name)
  let failure: unknown
  for (const host of [url, ...others]) {
    try {
      const client = await connect({ ...address, url: host }, name)
      if ((await client.query('SELECT pg_is_in_recovery() AS follows')).rows[0]?.follows === false) {
        address.url = host
        address.others = [url, ...others].filter(other => other !== host)
        return client
      }
      drop(client)
      failure = new Error('Connection to no primary: all hosts that answer are replicas')
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

/**
 * What tells a database from the one that answered before: it was started again, or another one has taken its place, and may
 * lack what was committed last.
 */
export async function lifeOf(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ life: string }>('SELECT pg_postmaster_start_time()::text AS life')
  return rows[0]?.life ?? ''
}

/** Ends a connection without waiting for anything. */
export function drop(client: pg.Client): void {
  ;(client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
}

/** Whether a connection took too long to be made: the database may have much to do. */
export function isLate(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (/timeout/i.test(at.message)) return true
  return false
}

/**
 * Classes and codes of SQLSTATE after which the same may work a moment later. A database that lets nobody in (28, 3D) has done
 * nothing yet: its password is being replaced, or it is. Nor has one that refuses a right (42501) or whose disk fails (58030).
 */
const BUSY = /^(?:08|28|3D|40|42501|58030|57P0|53[02346]|55P03|57014|25006|25P03)/

/** Codes of the system and messages of the client that mean the same. */
const AWAY = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])
const LOST = /connection|timeout|not queryable/i

/** What an error means for a caller: try again, make room, or a failure. */
export function reasonOf(error: unknown): 'busy' | 'full' | 'failed' {
  const { code = '', message = '' } = (error ?? {}) as { code?: string; message?: string }
  if (code === '53100') return 'full'
  if (AWAY.has(code) || BUSY.test(code)) return 'busy'
  return code === '' && LOST.test(message) ? 'busy' : 'failed'
}

/** True where the database has said that it takes reads alone: nothing was stored, and nothing will be over this connection. */
export function takesNoWrites(error: unknown): boolean {
  return (error as { code?: string } | undefined)?.code === '25006'
}

/** Whether an error says that nothing can be written: no room, reads alone, no right to, or a disk that fails. */
export function refusesWrites(error: unknown): boolean {
  if (!(error instanceof StoreError)) return false
  const { code = '' } = (error.cause ?? {}) as { code?: string }
  return error.reason === 'full' || takesNoWrites(error.cause) || code === '42501' || code === '58030'
}

/** True when no answer can be expected of a connection any more. */
export function isLost(error: unknown): boolean {
  const { code = '', message = '' } = (error ?? {}) as { code?: string; message?: string }
  return AWAY.has(code) || /^(?:08|57P0|25P03|25006)/.test(code) || (code === '' && LOST.test(message))
}

/** Whether an error is the database's, or of the way there, and no fault of this program. */
export function isOfDatabase(error: unknown): boolean {
  return error instanceof pg.DatabaseError || (!(error instanceof StoreError) && reasonOf(error) !== 'failed')
}

/** An error as callers of the store know them. */
export function storeError(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new StoreError(reasonOf(error), `PostgreSQL: ${message}`, { cause: error })
}

/** Attempts to connect at the start: where others work as well, a connection may take longer than anybody waits later. */
const ATTEMPTS = 8

/** Milliseconds between them where the database is held to be away. */
const PAUSE = 500

/** Does something at the start, again where it only took too long. */
export async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1, wasLate = false; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const isAway = wasLate && error instanceof StoreError && error.reason === 'busy'
      wasLate ||= isLate(error)
      if (attempt === ATTEMPTS || !wasLate || !(isLate(error) || isAway)) throw error
      if (isAway) await wait(PAUSE)
    }
  }
}
