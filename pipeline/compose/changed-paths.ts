/**
 * Which paths of a site have changed lately: whoever has found nothing at a path can tell without asking the store whether
 * that is still so.
 */

import { OrderedMap } from '../ordered-map.ts'
import type { Site } from '../site/site.ts'

/** Paths that are remembered; behind them everything counts as changed. */
const MOST_PATHS = 10_000

interface Log {
  /** By path, and by collection for everything below it: the number of the site's state in which it came about. */
  paths: OrderedMap<string, number>
  /** States before this one are forgotten. */
  floor: number
}

const logs = new WeakMap<Site, Log>()

/** Remembers changes from now on. */
export function rememberChanges(site: Site): void {
  if (logs.has(site)) return
  const log: Log = { paths: new OrderedMap(), floor: site.changes }
  logs.set(site, log)
  site.watch(paths => {
    const { changes } = site
    for (const path of paths) log.paths.set(path, changes)
    for (const [oldest, at] of log.paths) {
      if (log.paths.size <= MOST_PATHS) break
      log.paths.delete(oldest)
      log.floor = at
    }
  })
}

/** Whether nothing has been done at a path since a state of the site; false also where nobody remembers. */
export function isUnchangedSince(site: Site, path: string, state: number): boolean {
  const log = logs.get(site)
  if (!log || state < log.floor) return false
  const isNewer = (key: string) => (log.paths.get(key) ?? 0) > state
  if (isNewer(path)) return false
  for (let slash = path.lastIndexOf('/', path.length - 2); slash >= 0; slash = path.lastIndexOf('/', slash - 1)) {
    if (isNewer(path.slice(0, slash + 1))) return false
    if (slash === 0) break
  }
  return true
}
