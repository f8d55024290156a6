/** Cleaning up: old events, notes and log entries, and bytes that nothing refers to. One process does it at a time. */

import type { Session } from '../session.ts'
import type { Retention } from './retention.ts'

/** Number of the advisory lock of whoever cleans. */
const LOCK = 7_203_115_847

/** Milliseconds that unreferenced bytes stay, for readers that are still on their way through them. */
export const GRACE = 60 * 60_000

/** Age of an upload that nobody has committed or taken back: its process is gone. */
const ABANDONED = '1 day'

/** Rows removed in one go. */
const AT_ONCE = 1000

/** Entries of the log of commits that are kept: those of the last seconds under the heaviest load, of days else. */
export const KEPT_LOG = 20_000

/** Blobs given up in one go. */
const BLOBS = 64

/**
 * Gives up bytes of blobs without a resource. Nobody can commit meanwhile. The chunks are an abandoned upload from then on.
 */
async function sweep(session: Session, before: number): Promise<boolean> {
  const waiting = await session.row('SELECT 1 AS found FROM blob WHERE unused < $1 LIMIT 1', before)
  if (waiting === undefined) return false
  await session.run('SELECT 1 FROM progress FOR UPDATE')
  const found = await session.rows<{ digest: string; used: boolean }>(
    `SELECT digest, EXISTS (SELECT 1 FROM resource WHERE resource.blob = digest) AS used
     FROM blob WHERE unused < $1 ORDER BY unused LIMIT ${BLOBS}`,
    before,
  )
  const digests = (used: boolean) => found.filter(each => each.used === used).map(({ digest }) => digest)
  await session.run('UPDATE blob SET unused = NULL WHERE digest = ANY ($1::text[])', digests(true))
  await session.run(
    `WITH gone AS (DELETE FROM blob WHERE digest = ANY ($1::text[]) RETURNING upload)
     INSERT INTO upload (id, begun) SELECT upload, '-infinity' FROM gone ON CONFLICT (id) DO UPDATE SET begun = '-infinity'`,
    digests(false),
  )
  return found.length === BLOBS
}

/**
 * Removes some chunks of uploads that nobody will come back for. A mark tells those who do that it has begun.
 *
 * @returns true when more is waiting
 */
async function removeAbandoned(session: Session): Promise<boolean> {
  const upload = await session.row<{ id: string; kept: boolean }>(
    `UPDATE upload SET begun = '-infinity'
     WHERE begun < now() - interval '${ABANDONED}'
       AND id = (SELECT id FROM upload WHERE begun < now() - interval '${ABANDONED}' LIMIT 1)
     RETURNING id, EXISTS (SELECT 1 FROM blob WHERE blob.upload = upload.id) AS kept`,
  )
  if (upload === undefined) return false
  const removed = upload.kept
    ? 0
    : await session.run(
        `DELETE FROM chunk WHERE upload = $1::uuid AND seq IN (
           SELECT seq FROM chunk WHERE upload = $1::uuid ORDER BY seq LIMIT ${AT_ONCE})`,
        upload.id,
      )
  if (removed < AT_ONCE) await session.run('DELETE FROM upload WHERE id = $1::uuid', upload.id)
  return true
}

/**
 * One round of cleaning in a transaction of its own; none where another process is at it.
 *
 * @param now unix milliseconds
 * @returns true when more is waiting
 */
export async function clean(session: Session, retention: Retention, now: number): Promise<boolean> {
  const [, lock] = await Promise.all([
    session.run('BEGIN'),
    session.row<{ mine: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS mine', LOCK),
  ])
  try {
    let more = false
    if (lock?.mine === true) {
      const events = await retention.trim(session, now)
      const entries = await session.run(
        `DELETE FROM commit_log WHERE version IN (SELECT version FROM commit_log
         WHERE version <= (SELECT version FROM progress) - ${KEPT_LOG} ORDER BY version LIMIT ${2 * AT_ONCE})`,
      )
      const chunks = await removeAbandoned(session)
      const blobs = await sweep(session, now - GRACE)
      // Behind what may wait for the turn of commits: one of them may have it, and wait for the same notes.
      const notes = await session.run(
        `DELETE FROM note WHERE key IN (SELECT key FROM note WHERE expires <= $1 ORDER BY expires LIMIT ${AT_ONCE})`,
        now,
      )
      more = events || notes === AT_ONCE || entries === 2 * AT_ONCE || chunks || blobs
    }
    await session.run('COMMIT')
    return more
  } catch (error) {
    await session.run('ROLLBACK').catch(() => undefined)
    throw error
  }
}
