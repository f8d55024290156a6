/** Whether the tables of a store are those that this release makes, with nothing beside them that acts on their rows. */

import { type Database, openDatabase } from '../database.ts'
import { makeTables } from '../schema.ts'
import type { Found } from './context.ts'

interface Part {
  type: 'table' | 'index' | 'trigger' | 'view'
  name: string
  /** What it is; of tables the columns, which those of earlier formats have in another order. */
  form: string
}

/** Tables, indexes, triggers and views, those of SQLite itself left out. */
function partsOf(database: Database): Map<string, Part> {
  const columns = database.prepareTuples<(string | number | null)[]>(
    'SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(?)',
  )
  const kinds = database.prepareTuples<number[]>('SELECT wr, strict FROM pragma_table_list(?)')
  const rows = database
    .prepare<{ type: Part['type']; name: string; place: string; sql: string }>(
      `SELECT type, name, tbl_name AS place, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
    )
    .all()
  return new Map(
    rows.map(({ type, name, place, sql }) => {
      const form = type === 'table' ? [...columns.all(name).map(String).sort(), kinds.get(name)].join('; ') : sql
      return [`${type} ${name}`, { type, name, form: `${place}: ${form}` }]
    }),
  )
}

function drop(database: Database, { type, name }: Part): void {
  database.exec(`DROP ${type} "${name.replaceAll('"', '""')}"`)
}

/** Tables that hold what nothing else does: without them, all that hangs on their rows would seem to belong to nothing. */
const CONTENT = ['site', 'resource', 'body', 'splice', 'property']

/**
 * Compares what there is with what a new store has. Tables that are missing are made, empty, unless content was in them.
 *
 * @returns findings of kind `table` where the rows of a table cannot be looked at
 */
export function* checkSchema(reader: Database, writer: Database): Generator<Found> {
  const fresh = openDatabase(':memory:', { wait: 0 })
  makeTables(fresh)
  const wanted = partsOf(fresh)
  fresh.close()
  const found = partsOf(reader)
  const isContent = ({ type, name }: Part) => type === 'table' && CONTENT.includes(name)
  // What repairs another part makes all tables.
  for (const [key, part] of [...wanted].sort(([, a], [, b]) => Number(isContent(b)) - Number(isContent(a)))) {
    const there = found.get(key)
    const isTable = part.type === 'table'
    const kind = isTable ? 'table' : 'schema'
    if (there === undefined && isContent(part)) yield { kind, message: `The ${key} is missing; restore a backup` }
    else if (there === undefined) yield { kind, message: `The ${key} is missing`, repair: () => makeTables(writer) }
    else if (there.form !== part.form && isTable)
      yield { kind, message: `The ${key} has other columns than this release makes; restore a backup` }
    else if (there.form !== part.form) {
      const repair = () => {
        drop(writer, there)
        makeTables(writer)
      }
      yield { kind, message: `The ${key} is another than this release makes`, repair }
    }
  }
  for (const [key, part] of found) {
    if (wanted.has(key)) continue
    const message = `The ${key} does not belong to the store`
    // What somebody keeps in a table may be missed.
    if (part.type === 'table') yield { kind: 'schema', message: `${message}; drop it by hand` }
    else yield { kind: 'schema', message, repair: () => drop(writer, part) }
  }
}
