/** Rows of the table of resources as this store reads and writes them. */

import type { ResourceRow } from '../records/rows.ts'
import { unpack } from './text.ts'

/** A row, with the number of its body where that is in the database. */
export interface Row extends ResourceRow {
  body: number | null
}

/** What is read of a row, for a table of the alias `r`. */
export const COLUMNS = `r.folder, r.name, r.id, r.kind, r.version, r.digest, r.size, r.type, r.language, r.created, r.modified,
  r.shown, r.same_second, r.properties, r.members, r.body, (r.blob IS NOT NULL)::int AS in_file, r.unlisted`

/** Columns of the table, in its order. */
export const STORED =
  'site, folder, name, id, kind, version, digest, size, type, language, created, modified, shown, same_second, properties, members, body, blob, unlisted'

/** A row as it is read, made the row that it is. */
export function rowOf(read: Row): Row {
  read.type = unpack(read.type)
  if (read.language !== null) read.language = unpack(read.language)
  return read
}
