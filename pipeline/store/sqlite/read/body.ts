/** The bytes of a resource in the database, as one statement reads them on whatever thread. */

import type { Database } from '../database.ts'
import { type SpliceRow, spliced } from '../splices.ts'
import type { BodyPlace, ReadBody } from '../writer/messages.ts'

/** A body, or one of its splices. */
type BodyRow = Omit<SpliceRow, 'bytes'> & { in_file: number; number: number; bytes: Uint8Array | null }

const isChange = (row: BodyRow): row is BodyRow & SpliceRow => row.bytes !== null

// One statement, so that a commit in between changes nothing.
const BODY = `SELECT in_file, -1 AS number, 0 AS start, 0 AS until, bytes FROM resource LEFT JOIN body ON body.id = resource.id
  WHERE site = ?1 AND folder = ?2 AND name = ?3 AND version = ?4 AND kind <> 0
  UNION ALL SELECT 0, number, start, until, bytes FROM splice WHERE id =
    (SELECT id FROM resource WHERE site = ?1 AND folder = ?2 AND name = ?3 AND version = ?4 AND kind <> 0)`

/** Compiles the statement. */
export function prepareBody(database: Database): (place: BodyPlace) => ReadBody {
  const statement = database.prepare<BodyRow>(BODY)
  return ({ site, folder, name, version }) => {
    const rows = statement.all(site, folder, name, version).sort((a, b) => a.number - b.number)
    const [row, ...splices] = rows
    if (row === undefined) return undefined
    return row.in_file === 1 ? 'file' : spliced(row.bytes ?? new Uint8Array(), splices.filter(isChange))
  }
}
