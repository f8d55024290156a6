/** Connections for reading: several, because a long answer must not stand before short ones. */

import pg from 'pg'
import { StoreError } from '../../errors.ts'
import { AddressedClient, connect, type DatabaseAddress, drop, PATIENCE, setUp, storeError } from '../connection.ts'
import { type Session, sessionOn } from '../session.ts'

/** Milliseconds that a read may take: after that nobody waits for its answer any more. */
const READ_WAIT = 10_000

/** Connections for states that stay, at most: those of listings that are too large for one answer. */
const STATES = 2

/** Lets as many at something as it has connections for, in the order in which they came. */
class Semaphore {
  #free = STATES
  readonly #waiting: (() => void)[] = []

  take(): Promise<void> {
    return new Promise(resolve => {
      if (this.#free === 0) this.#waiting.push(resolve)
      else {
        this.#free--
        resolve()
      }
    })
  }

  give(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free++
  }
}

/** What sees the state of the moment, and can lend one that stays. */
export interface Reading extends Session {
  /**
   * Several reads that see one state.
   *
   * @param before a statement that is carried out before the state is taken
   */
  inOneState<Result>(work: (session: Session) => Promise<Result>, before?: string): Promise<Result>
}

export interface Reads extends Reading {
  /** Breaks all connections: what is under way on them, or waits for one, fails at once. */
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

export interface PoolOptions {
  /** What the database calls its connections. */
  name: string
  /** Connections at most. */
  size: number
  /** Asked before every statement. @throws StoreError while the database is away */
  requireThere(): void
  /** Statements that prepare a connection. */
  settings?: readonly string[]
}

export function openPool(address: DatabaseAddress, options: PoolOptions): Reads {
  const { name, size, requireThere, settings: more = [] } = options
  /** Connections that are open, or being made. */
  const open = new Set<pg.Client>()
  /** Where the database is may change from one connection to the next. */
  class Client extends AddressedClient {
    constructor() {
      super(address, name, { query_timeout: READ_WAIT, connectionTimeoutMillis: PATIENCE })
      open.add(this)
      this.on('end', () => open.delete(this))
    }
  }
  function newPool(): pg.Pool {
    const pool = new pg.Pool({
      Client,
      connectionTimeoutMillis: PATIENCE,
      max: size,
      idleTimeoutMillis: 60_000,
      allowExitOnIdle: true,
      onConnect: client => setUp(client, address, more),
    })
    // A connection that is lost while nobody uses it is made anew by the next who needs one.
    pool.on('error', () => undefined)
    return pool
  }
  const sessionOf = (pool: pg.Pool) => sessionOn(pool as unknown as pg.ClientBase)
  let pool = newPool()
  let session = sessionOf(pool)
  let states = new Semaphore()
  /** Tell those who wait for an answer, or for a connection to ask over, that there will be none. */
  const waiting = new Set<(error: StoreError) => void>()

  /** Has failures of the database be failures of the store, and the wait be over when it goes away. */
  function waitFor<Result>(work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const over = () => waiting.delete(reject)
      waiting.add(reject)
      work.then(resolve, error => reject(storeError(error))).then(over)
    })
  }

  return {
    async rows(sql, ...values) {
      requireThere()
      return waitFor(session.rows(sql, ...values))
    },
    async row(sql, ...values) {
      requireThere()
      return waitFor(session.row(sql, ...values))
    },
    async run(sql, ...values) {
      requireThere()
      return waitFor(session.run(sql, ...values))
    },
    async copy(sql, take) {
      requireThere()
      let isOver = false
      try {
        await waitFor(session.copy(sql, piece => isOver || take(piece)))
      } finally {
        isOver = true
      }
    },
    async inOneState(work, before) {
      requireThere()
      // Those that hold one when the database goes away keep it until they know, and stand in nobody's way.
      const own = states
      await waitFor(own.take())
      let client: pg.Client | undefined
      try {
        client = await told(connect(address, 'snapshot', more))
        if (before !== undefined) await client.query(before)
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
        const steady = sessionOn(client)
        // The state is that of the first read.
        await steady.row('SELECT version FROM progress')
        return await work({
          rows: (sql, ...values) => told(steady.rows(sql, ...values)),
          row: (sql, ...values) => told(steady.row(sql, ...values)),
          run: (sql, ...values) => told(steady.run(sql, ...values)),
          copy: (sql, take) => told(steady.copy(sql, take)),
        })
      } finally {
        if (client) drop(client)
        own.give()
      }
    },
    interrupt() {
      const [past, left] = [pool, [...waiting]]
      pool = newPool()
      session = sessionOf(pool)
      states = new Semaphore()
      waiting.clear()
      // It would connect for those who wait, and hold what does not answer until long after the database is back.
      past.end().catch(() => undefined)
      for (const tell of left) tell(new StoreError('busy', 'The database does not answer'))
      for (const client of open) {
        open.delete(client)
        drop(client)
      }
    },
    close: () => pool.end(),
  }
}
