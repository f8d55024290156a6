/** Look-ups of places: all that come while one is under way share the next, because a statement costs more than its answer. */

import { COLUMNS, type Row } from '../rows.ts'
import type { Session } from '../session.ts'

/** Places looked up by one statement at most. */
const AT_ONCE = 256

const ONE = `SELECT ${COLUMNS} FROM resource r WHERE site = $1 AND folder = $2 AND name = $3`

/** Each place is looked up by its whole key, wherever the others are. */
const SEVERAL = `SELECT k.place, ${COLUMNS} FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS k (folder, name, place)
  JOIN LATERAL (SELECT * FROM resource WHERE resource.site = $1 AND resource.folder = k.folder
    AND resource.name = k.name LIMIT 1) r ON true`

interface Asked {
  folder: string
  name: string
  resolve(row: Row | undefined): void
  reject(error: unknown): void
}

/**
 * @param site number of the site; 0, which no site has, before its first commit
 * @returns the row at a place, as it stands after the call
 */
export function findTogether(
  session: Session,
  site: () => Promise<number>,
): (folder: string, name: string) => Promise<Row | undefined> {
  const waiting: Asked[] = []
  let isAsking = false

  async function rowsOf(asked: readonly Asked[]): Promise<(Row | undefined)[]> {
    const [first] = asked
    if (first !== undefined && asked.length === 1)
      return [await session.row<Row>(ONE, await site(), first.folder, first.name)]
    const folders = asked.map(({ folder }) => folder)
    const names = asked.map(({ name }) => name)
    const found: (Row | undefined)[] = new Array(asked.length)
    for (const { place, ...row } of await session.rows<Row & { place: number }>(SEVERAL, await site(), folders, names))
      found[place - 1] = row
    return found
  }

  async function answer(asked: readonly Asked[]): Promise<void> {
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
