/** Connections for reading: several, because a long answer must not stand before short ones. */

import pg from 'pg'
import { clientOptions, type DatabaseAddress, settle, storeError } from '../connection.ts'
import { type Session, sessionOn } from '../session.ts'

/** Milliseconds that a read may take: after that nobody waits for its answer any more. */
const READ_WAIT = 10_000

export interface Reads extends Session {
  /** Several reads that see one state. */
  inOneState<Result>(work: (session: Session) => Promise<Result>): Promise<Result>
  /** Breaks all connections: what is under way on them fails at once. */
  interrupt(): void
  close(): Promise<void>
}

/** Has failures of the database be failures of the store. */
async function told<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    throw storeError(error)
  }
}

/** @param size connections at most */
export function openPool(address: DatabaseAddress, name: string, size: number, more: readonly string[] = []): Reads {
  const pool = new pg.Pool({
    ...clientOptions(address, name),
    max: size,
    query_timeout: READ_WAIT,
    idleTimeoutMillis: 60_000,
    allowExitOnIdle: true,
    onConnect: client => settle(client, address, more),
  })
  const open = new Set<pg.PoolClient>()
  pool.on('connect', client => open.add(client))
  pool.on('remove', client => open.delete(client))
  // A connection that is lost while nobody uses it is made anew by the next who needs one.
  pool.on('error', () => undefined)
  const session = sessionOn(pool as unknown as pg.ClientBase)
  return {
    rows: (sql, ...values) => told(session.rows(sql, ...values)),
    row: (sql, ...values) => told(session.row(sql, ...values)),
    run: (sql, ...values) => told(session.run(sql, ...values)),
    async inOneState(work) {
      const client = await told(pool.connect())
      let failed = true
      try {
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
        const result = await work(sessionOn(client))
        await client.query('COMMIT')
        failed = false
        return result
      } catch (error) {
        throw storeError(error)
      } finally {
        client.release(failed)
      }
    },
    interrupt() {
      for (const client of open) {
        open.delete(client)
        ;(client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
      }
    },
    close: () => pool.end(),
  }
}
