/**
 * What processes ask each other's commits by: the number of the last one, with the entries of the log that somebody has not
 * seen. Where both came one after the other, each commit of another cost two questions more.
 */

import { OUTDATED } from '../derivation.ts'
import type { ForeignCommit } from '../foreign.ts'
import { readEdit } from '../records/edits.ts'
import { unpack } from './text.ts'

/** An entry of the log, without the commit where that is the work of who asks. */
export interface Entry {
  version: number
  /** Who has made it; undefined where that is who asks. */
  by: string | undefined
  commit: ForeignCommit | undefined
}

/** The newest commit. */
export interface News {
  /** Its number. */
  version: number
  /** Who has made it, where `NEWEST` was asked. */
  by?: string | undefined
  /** Of the database, as `lifeOf` tells it: numbers of another one are others. */
  life: string
  /** Entries of the log from the version that was asked for up to there, all but long ones; undefined where they are many. */
  log: readonly Entry[] | undefined
}

/** Entries that come with the number of the last commit; whoever is further behind reads the log. */
const FEW = 64

/** Letters of the paths of such an entry: the question is answered within its time however much was committed. */
const SHORT = 4096

/** The number of the last commit. The database's milliseconds are those in which the statement began. */
const NUMBER = 'p.version, (extract(epoch FROM statement_timestamp()) * 1000)::bigint AS now'

/** That number, and who has made that commit. */
export const NEWEST = `SELECT ${NUMBER}, (SELECT l.origin FROM commit_log l WHERE l.version = p.version) AS by FROM progress p`

const ENTRY = `CASE WHEN l.origin = $2 THEN json_build_array(l.version) ELSE json_build_array(
  l.version, l.site, l.paths, l.raised, l.edit,
  EXISTS (SELECT FROM derived d JOIN site s ON s.id = d.site WHERE s.name = l.site AND d.name = '${OUTDATED}'), l.origin) END`

/** With the log behind version `$1`, for the process of the name `$2`. */
export const NEWS = `SELECT ${NUMBER}, CASE WHEN p.version > $1 AND p.version <= $1 + ${FEW} THEN (
  SELECT json_agg(${ENTRY} ORDER BY l.version) FROM commit_log l
  WHERE l.version > $1 AND l.version <= p.version AND length(l.paths) <= ${SHORT}
)::text END AS log FROM progress p`

/** Who has made the commit of version `$1`. */
export const MAKER = 'SELECT l.origin AS by FROM commit_log l WHERE l.version = $1'

/** The log between the versions `$1` and `$3`, for the process of the name `$2`. */
export const LOG = `SELECT ${ENTRY}::text AS entry FROM commit_log l
  WHERE l.version > $1 AND l.version <= $3 ORDER BY l.version`

/** An entry as those statements return it. */
type Written =
  | [version: number]
  | [version: number, site: string, paths: string, raised: string, edit: string | null, outdated: boolean, by: string]

function entryOf(written: Written): Entry {
  if (written.length === 1) return { version: written[0], by: undefined, commit: undefined }
  const [version, site, paths, raised, edit, outdated, by] = written
  const commit = {
    version,
    site,
    paths: JSON.parse(paths) as string[],
    raised: JSON.parse(raised) as string[],
    ...(edit !== null && { edit: readEdit(unpack(edit)) }),
    ...(outdated && { outdated }),
  }
  return { version, by, commit }
}

/** @param text as `LOG` returns it for each entry */
export function readEntry(text: string): Entry {
  return entryOf(JSON.parse(text) as Written)
}

/** @param text as `NEWS` returns it */
export function readEntries(text: string): Entry[] {
  return (JSON.parse(text) as Written[]).map(entryOf)
}
