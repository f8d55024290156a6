/**
 * Which paths of a site have changed lately: whoever has found nothing at a path can tell without asking the store whether
 * that is still so.
 */

import { ChangeLog } from '../site/change-log.ts'
import type { Site } from '../site/site.ts'

/** By path, and by collection for everything below it: the number of the site's state in which it came about. */
const logs = new WeakMap<Site, ChangeLog>()

/** Remembers changes from now on. */
export function rememberChanges(site: Site): void {
  if (logs.has(site)) return
  const log = new ChangeLog(site.changes)
  logs.set(site, log)
  site.watch(paths => {
    for (const path of paths) log.note(path, site.changes)
  })
}

/** Whether nothing has been done at a path since a state of the site; false also where nobody remembers. */
export function isUnchangedSince(site: Site, path: string, state: number): boolean {
  const log = logs.get(site)
  if (!log || log.hasChanged(path, state)) return false
  for (let slash = path.lastIndexOf('/', path.length - 2); slash >= 0; slash = path.lastIndexOf('/', slash - 1)) {
    if (log.hasChanged(path.slice(0, slash + 1), state)) return false
    if (slash === 0) break
  }
  return true
}
