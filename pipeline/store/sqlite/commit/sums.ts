/**
 * Sums of collections (K of DAV-52), kept while transactions run: changes only note what their collections gain and lose,
 * and every collection touched, up to the root, is rewritten once at the end.
 */

import { endOf, parentOf, splitPath } from '../../paths.ts'
import { gain, type Sums, share, summedRow, sumsOf } from '../../records/sums.ts'
import { addTo, ZERO } from '../../tags.ts'
import type { Statements } from './statements.ts'

/** Writes everything pending in a site into its rows, deepest collections first, and forgets it. */
export function flushSums(statements: Statements, site: number, sums: Sums): void {
  const paths = new Set<string>()
  for (const touched of sums.keys()) {
    for (let path = touched; path !== '' && !paths.has(path); path = parentOf(path)) paths.add(path)
  }
  // A collection is longer than those above it, so its own line is final before they are summed up.
  for (const path of [...paths].sort((a, b) => b.length - a.length)) {
    const pending = sums.get(path)
    if (pending === undefined || (pending.gain === 0n && pending.version === 0)) continue
    const { folder, name } = splitPath(path)
    const row = statements.find.get(site, folder, name)
    if (row === undefined || row.kind !== 0) continue
    const members = addTo(row.members ?? ZERO, pending.gain)
    const stored = members === ZERO ? null : members
    if (pending.version > 0) {
      const modified = Math.max(row.modified, pending.modified)
      statements.membership.run(stored, Math.max(row.version, pending.version), modified, site, folder, name)
    } else statements.member.run(stored, site, folder, name)
    if (folder !== '' && pending.gain !== 0n) gain(sums, folder, share({ ...row, members: stored }) - share(row))
  }
  sums.clear()
}

/** Writes the sums of all collections below one, and its own, anew from their members; for copies and repairs. */
export function rebuildSums(statements: Statements, site: number, collection: string): void {
  const rows = statements.summedBelow.all(site, collection, endOf(collection)).map(summedRow)
  for (const [path, sum] of sumsOf(rows, collection)) {
    const { folder, name } = splitPath(path)
    statements.member.run(sum, site, folder, name)
  }
}
