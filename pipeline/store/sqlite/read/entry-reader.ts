/** Look-ups in the index of what documents hold. */

import { keyOf } from '../../records/changes.ts'
import type { Database } from '../database.ts'

/** Keys carried by fewer entries than this are a good start; telling more apart would cost more than it saves. */
const SELECTIVE = 256

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
  const all = database.prepare<{ path: string; id: number; item: string }>(places)
  const has = database.prepare<{ there: number }>(
    'SELECT 1 AS there FROM entry WHERE site = ? AND key = ? AND id = ? AND item = ?',
  )
  return {
    lookup(site, keys, limit) {
      const [first, ...others] = keys.map(keyOf)
      if (first === undefined) return []
      if (others.length === 0) return some.all(site, first, limit).map(({ path, item }) => ({ path, item }))
      const counted = [first, ...others].map(key => ({ key, count: count.get(site, key, SELECTIVE)?.count ?? 0 }))
      const [rarest, ...rest] = counted.sort((a, b) => a.count - b.count)
      const found: { path: string; item: string }[] = []
      for (const { path, id, item } of rarest === undefined ? [] : all.all(site, rarest.key)) {
        if (found.length === limit) break
        if (rest.every(({ key }) => has.get(site, key, id, item) !== undefined)) found.push({ path, item })
      }
      return found
    },
  }
}
