/** Places of resources as transactions find them, and what is remembered of them brought in step with what others have committed. */

import { type Row, rowOf } from '../rows.ts'
import type { Session } from '../session.ts'
import { unpack } from '../text.ts'
import { follow, type Memory } from './memory.ts'
import { placeKey } from './pending.ts'
import type { Transaction } from './state.ts'

/** A place as it was found, with the state of its site and of all commits. */
export type PlaceRow = Omit<Row, 'id'> & {
  last_version: number
  last_id: number
  site_name: string
  site_id: number | null
  ms: number
  seq: number
  counters: string | null
  id: number | null
  lines: string | null
  seen: number | null
}

/** Notes what was found at a place. */
export function notePlace({ sites, known }: Pick<Transaction, 'sites' | 'known'>, place: PlaceRow, site: number): void {
  const { last_version: _, last_id: __, site_id: ___, site_name, ms, seq, counters, lines, seen, ...row } = place
  let state = sites.get(site_name)
  if (state === undefined) {
    state = { id: site, name: site_name, ms, seq, sums: new Map(), known: new Set(), counters: new Map() }
    sites.set(site_name, state)
  }
  if (counters !== null) state.counters = new Map(Object.entries(JSON.parse(counters) as Record<string, number>))
  const key = placeKey(site, row.folder, row.name)
  if (row.id === null) {
    known.rows.set(key, null)
    if (seen !== null) known.seen.set(placeKey(site, row.folder + row.name, ''), seen)
    return
  }
  known.rows.set(key, rowOf({ ...row, id: row.id }))
  if (lines !== null) known.texts.set(row.id, unpack(lines))
}

/** Commits of others that are followed, and letters of the paths of each; behind more of them the places are read anew. */
const FEW = 64
const SHORT = 4096

/**
 * All places that commits behind a version have named, and the collections above them, as `read_group_4` returns places.
 * With them comes how many commits those were.
 */
const CHANGED = `WITH entry AS MATERIALIZED (
    SELECT l.site, l.paths FROM commit_log l
    WHERE l.version > $1 AND l.version <= $1 + ${FEW} AND length(l.paths) <= ${SHORT}
  ), named AS (
    SELECT DISTINCT e.site, string_to_array(n.path, '/') AS parts
    FROM entry e CROSS JOIN LATERAL json_array_elements_text(e.paths::json) AS n (path)
  ), place AS (
    SELECT n.site, array_to_string(n.parts[1:i - 1], '/') || '/' AS folder, n.parts[i] AS name
    FROM named n CROSS JOIN LATERAL generate_series(2, cardinality(n.parts)) i
    UNION SELECT n.site, '', '' FROM named n
  )
  SELECT p.version AS last_version, p.last_id, (SELECT count(*) FROM entry) AS told, k.site AS site_name, s.id AS site_id,
    s.ms, s.seq,
    CASE WHEN k.folder = '' THEN (SELECT json_object_agg(c.name, c.value)::text FROM counter c WHERE c.site = s.id) END
      AS counters,
    k.folder, k.name, r.id, r.kind, r.version, r.digest, r.size, r.type, r.language, r.created, r.modified, r.shown,
    r.same_second, r.properties, r.members, r.body, (r.blob IS NOT NULL)::int AS in_file, r.unlisted,
    CASE WHEN r.kind > 0 THEN coalesce((SELECT t.lines FROM entry_text t WHERE t.id = r.id), '') END AS lines,
    NULL::bigint AS seen
  FROM progress p LEFT JOIN place k ON true LEFT JOIN site s ON s.name = k.site
  LEFT JOIN LATERAL (SELECT * FROM resource o WHERE o.site = s.id AND o.folder = k.folder AND o.name = k.name LIMIT 1) r
    ON true`

type ChangedRow = Omit<PlaceRow, 'site_name' | 'folder' | 'name'> & {
  told: number
  site_name: string | null
  folder: string | null
  name: string | null
}

/**
 * Has what is remembered follow what others have committed. To be asked while nobody else can commit.
 *
 * @returns false where that cannot be told place by place; then it counts no more
 */
export async function catchUp(session: Session, memory: Memory): Promise<boolean> {
  const rows = await session.rows<ChangedRow>(CHANGED, memory.version)
  const [first] = rows
  // Versions have no gaps: a commit without an entry is one of which nothing else is known.
  if (first === undefined || first.told !== first.last_version - memory.version) return false
  const left = {
    version: first.last_version,
    lastId: first.last_id,
    sites: new Map(),
    known: { rows: new Map(), texts: new Map(), seen: new Map() },
  }
  for (const { told: _, ...row } of rows) {
    const { site_name, site_id, folder, name } = row
    if (site_name === null || folder === null || name === null) continue
    // A name without letters stands for a collection with all that is in it.
    if (site_id === null || (name === '' && folder !== '')) return false
    notePlace(left, { ...row, site_name, folder, name }, site_id)
  }
  follow(memory, left)
  return true
}
