/** Look-ups in the index of what documents hold. */

import { keyOf } from '../../records/changes.ts'
import { rarestFirst } from '../../records/rarity.ts'
import type { Database } from '../database.ts'

/** Entries of the rarest key that are looked at before it is asked whether enough were found. */
const SLICE = 256

export interface EntryReader {
  /** @param site number of the site */
  lookup(site: number, keys: readonly string[], limit: number): { path: string; item: string }[]
}

export function prepareEntryReader(database: Database): EntryReader {
  const count = database.prepare<{ count: number }>(
    'SELECT count(*) AS count FROM (SELECT 1 FROM entry WHERE site = ? AND key = ? LIMIT ?)',
  )
  const places = `SELECT folder || name AS path, entry.id AS id, item FROM entry JOIN resource ON resource.id = entry.id
     WHERE entry.site = ? AND key = ?`
  const some = database.prepare<{ path: string; item: string }>(`${places} LIMIT ?`)
  const slice = database.prepare<{ path: string; id: number; item: string }>(
    `${places} AND (entry.id, item) > (?, ?) ORDER BY entry.id, item LIMIT ${SLICE}`,
  )
  const has = database.prepare<{ there: number }>(
    'SELECT 1 AS there FROM entry WHERE site = ? AND key = ? AND id = ? AND item = ?',
  )
  return {
    lookup(site, keys, limit) {
      const countUpTo = (key: Uint8Array, most: number) => count.get(site, key, most)?.count ?? 0
      const [rarest, ...rest] = rarestFirst(keys.map(keyOf), countUpTo)
      if (rarest === undefined) return []
      if (rest.length === 0) return some.all(site, rarest, limit).map(({ path, item }) => ({ path, item }))
      const found: { path: string; item: string }[] = []
      for (let rows = slice.all(site, rarest, 0, ''); ; ) {
        for (const { path, id, item } of rows) {
          if (found.length === limit) return found
          if (rest.every(key => has.get(site, key, id, item) !== undefined)) found.push({ path, item })
        }
        const last = rows.at(-1)
        if (last === undefined || rows.length < SLICE) break
        rows = slice.all(site, rarest, last.id, last.item)
      }
      return found
    },
  }
}
