/** Look-ups of places: all that come while one is under way share the next, because a statement costs more than its answer. */

import { COLUMNS, type Row } from '../rows.ts'
import type { Session } from '../session.ts'

/** Places looked up by one statement at most. */
const AT_ONCE = 256

const one = (columns: string) => `SELECT ${columns} FROM resource r WHERE site = $1 AND folder = $2 AND name = $3`

/** Each place is looked up by its whole key, wherever the others are. */
const several = (columns: string) =>
  `SELECT k.place, ${columns} FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS k (folder, name, place)
  JOIN LATERAL (SELECT * FROM resource WHERE resource.site = $1 AND resource.folder = k.folder
    AND resource.name = k.name LIMIT 1) r ON true`

/** Bytes of a document that come with its row. */
const SHORT = 64 * 1024

/** A row with what is needed to serve the document that it is of; no bytes of long ones, and of blobs that are apart. */
export interface WholeRow extends Row {
  bytes: Uint8Array | null
  profile: string | null
}

/** Columns of `WholeRow`. @param derived name of the derived data that comes as `profile`, no text of users */
export const WHOLE = (derived: string) => `${COLUMNS},
  CASE WHEN r.blob IS NULL AND r.size <= ${SHORT} THEN (SELECT bytes FROM body WHERE body.id = r.body) END AS bytes,
  (SELECT value FROM derived d WHERE d.id = r.id AND d.name = '${derived}') AS profile`

interface Asked<Found> {
  folder: string
  name: string
  resolve(row: Found | undefined): void
  reject(error: unknown): void
}

/**
 * @param site number of the site; 0, which no site has, before its first commit
 * @param columns that are read of `resource r`
 * @returns the row at a place, as it stands after the call
 */
export function findTogether<Found extends Row = Row>(
  session: Session,
  site: () => Promise<number>,
  columns = COLUMNS,
): (folder: string, name: string) => Promise<Found | undefined> {
  const [ONE, SEVERAL] = [one(columns), several(columns)]
  const waiting: Asked<Found>[] = []
  let isAsking = false

  async function rowsOf(asked: readonly Asked<Found>[]): Promise<(Found | undefined)[]> {
    const [first] = asked
    if (first !== undefined && asked.length === 1)
      return [await session.row<Found>(ONE, await site(), first.folder, first.name)]
    const folders = asked.map(({ folder }) => folder)
    const names = asked.map(({ name }) => name)
    const found: (Found | undefined)[] = new Array(asked.length)
    for (const row of await session.rows<Found & { place: number }>(SEVERAL, await site(), folders, names))
      found[row.place - 1] = row
    return found
  }

  async function answer(asked: readonly Asked<Found>[]): Promise<void> {
    try {
      const found = await rowsOf(asked)
      for (const [i, { resolve }] of asked.entries()) resolve(found[i])
    } catch (error) {
      for (const { reject } of asked) reject(error)
    }
  }

  async function ask(): Promise<void> {
    while (waiting.length > 0) await answer(waiting.splice(0, AT_ONCE))
    isAsking = false
  }

  return (folder, name) =>
    new Promise((resolve, reject) => {
      waiting.push({ folder, name, resolve, reject })
      if (isAsking) return
      isAsking = true
      setImmediate(ask)
    })
}
