/**
 * Who uses a database: any number of processes that keep in step by a Redis, or a single one without. Each has an advisory
 * lock for as long as its connection lives, so that it goes with the process however that ends.
 */

import { Unusable } from '../errors.ts'
import type { Session } from './session.ts'

/** Alone, or together with others of the same installation. */
export type Use = 'alone' | 'together'

/** First number of the advisory lock; the second is that of the schema. */
const CLAIM = 720_311

const TAKE: Readonly<Record<Use, string>> = {
  alone: 'SELECT pg_try_advisory_lock($1::int, hashtext(current_schema())) AS mine',
  together: 'SELECT pg_try_advisory_lock_shared($1::int, hashtext(current_schema())) AS mine',
}

/** A connection of this process that was lost here may live on there: it is ended by whoever follows it. */
const END_OWN = `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND classid = $1::int::oid AND application_name = $2 AND pid <> pg_backend_pid()`

const REFUSED: Readonly<Record<Use, string>> = {
  alone:
    'another process uses it; end that first. Several servers on one database need redis, with the same address for all',
  together:
    'a process without redis uses it; several servers on one database need redis, with the same address for all',
}

/**
 * @param name what the database calls the connections of this process that claim
 * @throws Unusable when others use the database in a way that does not go together with this
 */
export async function claim(session: Session, use: Use, name: string): Promise<void> {
  const row = await session.row<{ mine: boolean }>(TAKE[use], CLAIM)
  if (row?.mine === true) return
  await session.rows(END_OWN, CLAIM, name)
  throw new Unusable(REFUSED[use])
}
