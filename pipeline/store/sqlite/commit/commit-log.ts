/**
 * The log by which processes that share a store learn of each other's commits: which paths each one named. It is written
 * in the transaction of the commit, so that whoever can read a commit can read its entry.
 */

import { OUTDATED } from '../../derivation.ts'
import type { ForeignCommit, ForeignCommits } from '../../foreign.ts'
import { pathsOf } from '../../records/changes.ts'
import { readEdit } from '../../records/edits.ts'
import type { Database } from '../database.ts'
import type { PackedChange } from '../writer/messages.ts'

/** Entries that are kept: those of the last seconds under the heaviest load, of days under a usual one. */
const KEPT = 20_000

/** Entries removed in one go, so that commits never wait long for it. */
const AT_ONCE = 2000

/** Notes one commit, inside its transaction. */
export type LogCommit = (entry: {
  version: number
  site: string
  changes: readonly PackedChange[]
  events: readonly { path: string }[]
  raised: readonly string[]
  edit: string | undefined
}) => void

/**
 * @param database a connection for writing
 * @param origin tells the processes apart
 */
export function prepareLogging(database: Database, origin: string): LogCommit {
  const add = database.prepare(
    'INSERT INTO commit_log (version, origin, site, paths, raised, edit) VALUES (?, ?, ?, ?, ?, ?)',
  )
  return ({ version, site, changes, events, raised, edit = null }) => {
    add.run(version, origin, site, JSON.stringify(pathsOf(changes, events)), JSON.stringify(raised), edit)
  }
}

/**
 * @returns removes old entries, inside a transaction; true when more is waiting
 */
export function prepareLogTrim(database: Database): () => boolean {
  const remove = database.prepare(
    `DELETE FROM commit_log WHERE version IN (SELECT version FROM commit_log
     WHERE version <= (SELECT version FROM progress) - ${KEPT} ORDER BY version LIMIT ${AT_ONCE})`,
  )
  return () => remove.run() === AT_ONCE
}

interface Row {
  version: number
  origin: string
  site: string
  paths: string
  raised: string
  edit: string | null
  outdated: number
}

/**
 * @param database a connection for reading
 * @param origin of this process: its own commits are no news
 */
export function prepareForeign(database: Database, origin: string): ForeignCommits {
  const progress = database.prepareTuples<[version: number]>('SELECT version FROM progress')
  const entries = database.prepare<Row>(
    `SELECT version, origin, site, paths, raised, edit, EXISTS (
       SELECT 1 FROM derived d JOIN site s ON s.id = d.site WHERE s.name = l.site AND d.name = '${OUTDATED}'
     ) AS outdated FROM commit_log l WHERE version > ? AND version <= ? ORDER BY version`,
  )
  const newest = () => progress.get()?.[0] ?? 0
  let seen = newest()
  return {
    version: () => seen,
    newest,
    waiting: () => newest() > seen,
    async read() {
      const from = seen
      const to = newest()
      const rows = to - from > KEPT ? [] : entries.all(from, to)
      seen = to
      // Commits have numbers without gaps: what has no entry was trimmed, or made by a process that keeps no log.
      if (rows.length !== to - from) return { version: to, commits: undefined }
      return { version: to, commits: rows.filter(row => row.origin !== origin).map(commitOf) }
    },
  }
}

function commitOf({ version, site, paths, raised, edit, outdated }: Row): ForeignCommit {
  return {
    version,
    site,
    paths: JSON.parse(paths) as string[],
    raised: JSON.parse(raised) as string[],
    ...(edit !== null && { edit: readEdit(edit) }),
    ...(outdated !== 0 && { outdated: true }),
  }
}
