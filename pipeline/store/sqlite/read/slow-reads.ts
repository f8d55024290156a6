/** Reads in one state over several turns of the event loop, each on a connection that sees it that long. */

import { setImmediate } from 'node:timers/promises'
import { StoreError } from '../../errors.ts'
import { MEMBER_COLUMNS, type MemberTuple, memberOf } from '../../records/rows.ts'
import type { Resource } from '../../resource.ts'
import type { Database } from '../database.ts'

/** Those that go on side by side. */
const SLOW_READS = 2

/** Members of a listing read at once: up to here it is one query. */
export const LISTING = 4096

/** Members of a collection, a page of them. */
export const MEMBERS = `SELECT ${MEMBER_COLUMNS} FROM resource WHERE site = ? AND folder = ? AND name > ? ORDER BY name LIMIT ?`

/** Waits for a turn between two steps of a read. @throws StoreError once the store closes */
type Turn = () => Promise<void>

type Read<T> = (database: Database, turn: Turn) => Promise<T>

export interface SlowReads {
  /** Carries out a read, as soon as not too many are under way. */
  of<T>(read: Read<T>): Promise<T>
  /**
   * All members of a collection that is too large for one query. Whoever asks for a listing that has not begun gets that one:
   * those who ask may be gone by then, and others ask again.
   */
  list(site: number, collection: string): Promise<Resource[]>
  /** Has all of them fail before their next step. @returns when the last of them has */
  end(): Promise<void>
}

/** @param connect makes a connection of their own; undefined where `database` sees a single state */
export function createSlowReads({ connect, database }: { connect?: () => Database; database: Database }): SlowReads {
  let free = SLOW_READS
  let isClosed = false
  const waiting: (() => void)[] = []
  const underWay = new Set<Promise<unknown>>()
  const listings = new Map<string, Promise<Resource[]>>()

  function checkOpen(): void {
    if (isClosed) throw new StoreError('closed', 'The store is closed')
  }

  async function turn(): Promise<void> {
    await setImmediate()
    checkOpen()
  }

  async function inLine<T>(read: Read<T>): Promise<T> {
    if (free > 0) free--
    else await new Promise<void>(resolve => waiting.push(resolve))
    let own: Database | undefined
    try {
      checkOpen()
      own = connect?.()
      own?.exec('BEGIN')
      return await read(own ?? database, turn)
    } finally {
      own?.close()
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }

  async function of<T>(read: Read<T>): Promise<T> {
    const reading = inLine(read)
    underWay.add(reading)
    try {
      return await reading
    } finally {
      underWay.delete(reading)
    }
  }

  return {
    of,
    list(site, collection) {
      const key = `${site} ${collection}`
      const waits = free === 0 ? listings.get(key) : undefined
      if (waits) return waits
      const isFirst = free === 0
      const listing = of((database, turn) => {
        if (isFirst) listings.delete(key)
        return listMembers(database, turn, site, collection)
      })
      if (isFirst) {
        listings.set(key, listing)
        // Where it fails before it has begun, the next one begins anew.
        listing.catch(() => listings.get(key) === listing && listings.delete(key))
      }
      return listing
    },
    async end() {
      isClosed = true
      await Promise.allSettled(underWay)
    },
  }
}

async function listMembers(database: Database, turn: Turn, site: number, collection: string): Promise<Resource[]> {
  const members = database.prepareTuples<MemberTuple>(MEMBERS)
  const found: Resource[] = []
  for (let after = ''; ; ) {
    const rows = members.all(site, collection, after, LISTING)
    for (const row of rows) found.push(memberOf(collection, row))
    if (rows.length < LISTING) return found
    after = rows.at(-1)?.[0] ?? ''
    await turn()
  }
}
