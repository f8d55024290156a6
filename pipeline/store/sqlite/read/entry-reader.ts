/** Look-ups in the index of what documents hold. */

import { keyOf } from '../../records/changes.ts'
import { rarestFirst } from '../../records/rarity.ts'
import type { Database } from '../database.ts'

/** Entries of the rarest key that are read at once, and those that are looked at in one step. */
const SLICE = 256
const STEP = 4096

export interface Found {
  path: string
  item: string
}

export interface EntryReader {
  /** In steps; between two of them others may commit. @param site number of the site */
  lookingUp(site: number, keys: readonly string[], limit: number): Generator<void, Found[], void>
}

export function prepareEntryReader(database: Database): EntryReader {
  const count = database.prepare<{ count: number }>(
    'SELECT count(*) AS count FROM (SELECT 1 FROM entry WHERE site = ? AND key = ? LIMIT ?)',
  )
  const slice = database.prepareTuples<[path: string, id: number, item: string]>(
    `SELECT folder || name, entry.id, item FROM entry JOIN resource ON resource.id = entry.id
     WHERE entry.site = ? AND key = ? AND (entry.id, item) > (?, ?) ORDER BY entry.id, item LIMIT ?`,
  )
  const has = database.prepare<{ there: number }>(
    'SELECT 1 AS there FROM entry WHERE site = ? AND key = ? AND id = ? AND item = ?',
  )
  return {
    *lookingUp(site, keys, limit) {
      const countUpTo = (key: Uint8Array, most: number) => count.get(site, key, most)?.count ?? 0
      const [rarest, ...rest] = rarestFirst(keys.map(keyOf), countUpTo)
      const found: Found[] = []
      if (rarest === undefined) return found
      let last = { id: 0, item: '' }
      for (let looked = 0; ; ) {
        const most = rest.length > 0 ? SLICE : Math.min(STEP, limit - found.length)
        const rows = slice.all(site, rarest, last.id, last.item, most)
        for (const [path, id, item] of rows) {
          last = { id, item }
          if (!rest.every(key => has.get(site, key, id, item) !== undefined)) continue
          found.push({ path, item })
          if (found.length === limit) return found
        }
        if (rows.length < most) return found
        looked += rows.length
        if (looked % STEP === 0) yield
      }
    },
  }
}
