/** Cleaning up in the object store: objects that no blob has. One process does it at a time. */

import { setTimeout as wait } from 'node:timers/promises'
import type { Objects } from '../../objects/objects.ts'
import { doubtOfOwner } from '../blobs/owner.ts'
import { connectPrimary, type DatabaseAddress, drop } from '../connection.ts'
import { type Session, sessionOn } from '../session.ts'

/** Number of the advisory lock of whoever cleans. */
const LOCK = 7_203_115_848

/** Number of the advisory lock that snapshots share: what they see is kept as long as they last. */
const SNAPSHOTS = 7_203_115_849

/** To be carried out by a connection before its snapshot begins. */
export const HOLD_OBJECTS = `SELECT pg_advisory_lock_shared(${SNAPSHOTS})`

/** Objects looked at in one go, and removed at the same time. */
const [AT_ONCE, TOGETHER] = [64, 8]

/** Milliseconds between two looks. */
const EVERY = 60_000

/** Removes objects, as many as can be. @returns those that are gone */
async function removeAll(objects: Objects, ids: readonly string[]): Promise<string[]> {
  const gone: string[] = []
  for (let from = 0; from < ids.length; from += TOGETHER) {
    const some = ids.slice(from, from + TOGETHER)
    const outcomes = await Promise.allSettled(some.map(id => objects.remove(id)))
    gone.push(...some.filter((_, i) => outcomes[i]?.status === 'fulfilled'))
    // A store that is away is asked again next time.
    if (outcomes.some(({ status }) => status === 'rejected')) break
  }
  return gone
}

async function collect(session: Session, objects: Objects): Promise<boolean> {
  const cleaner = await session.row<{ mine: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS mine', LOCK)
  if (cleaner?.mine !== true) return false
  const due = await session.rows<{ id: string; used: boolean }>(
    `SELECT id, EXISTS (SELECT 1 FROM blob WHERE blob.upload = object.id) AS used
     FROM object WHERE due < now() ORDER BY due LIMIT ${AT_ONCE}`,
  )
  const ids = (used: boolean) => due.filter(each => each.used === used).map(({ id }) => id)
  if (ids(true).length > 0) await session.run('UPDATE object SET due = NULL WHERE id = ANY ($1::uuid[])', ids(true))
  if (ids(false).length === 0) return due.length === AT_ONCE
  if ((await doubtOfOwner(session, objects)) !== undefined) return false
  const unseen = await session.row<{ mine: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS mine', SNAPSHOTS)
  if (unseen?.mine !== true) return false
  const gone = await removeAll(objects, ids(false))
  if (gone.length > 0) await session.run('DELETE FROM object WHERE id = ANY ($1::uuid[])', gone)
  return gone.length === AT_ONCE
}

/**
 * One round of cleaning; none where another process is at it, where a snapshot is being read, or where another database may
 * have what would be removed.
 *
 * @returns true when more is waiting
 * @throws the database's error
 */
export async function collectObjects(address: DatabaseAddress, objects: Objects): Promise<boolean> {
  const client = await connectPrimary({ ...address }, 'objects')
  try {
    const session = sessionOn(client)
    await session.run('BEGIN')
    const more = await collect(session, objects)
    await session.run('COMMIT')
    return more
  } finally {
    drop(client)
  }
}

/**
 * Cleans from time to time.
 *
 * @param reads asked whether there is anything to do
 */
export function startCollecting(
  address: DatabaseAddress,
  reads: Session,
  objects: Objects,
): { close(): Promise<void> } {
  const end = new AbortController()
  async function work(): Promise<void> {
    for (;;) {
      await wait(EVERY, undefined, { signal: end.signal, ref: false })
      try {
        while ((await reads.row('SELECT 1 AS found FROM object WHERE due < now() LIMIT 1')) !== undefined)
          if (!(await collectObjects(address, objects)) || end.signal.aborted) break
      } catch {
        // The database is away: whoever writes is told. What is due stays due.
      }
    }
  }
  const working = work().catch(() => undefined)
  return {
    async close() {
      end.abort()
      await working
    },
  }
}
