/** Lines of the locks' journal: what became of which lock, as JSON. Replaying a line twice changes nothing. */

import type { Lock } from '../locks.ts'

export type JournalEntry =
  | { site: string; take: Lock }
  /** A token, and the unix milliseconds at which its lock expires now. */
  | { refresh: string; expires: number }
  /** Tokens. */
  | { end: readonly string[] }

export function encodeEntry(entry: JournalEntry): string {
  return JSON.stringify(entry)
}

/**
 * @returns undefined for a line that was mutilated when a machine went down: the rest of it is missing, or blocks of the
 *   disk that were never written read as zeros, which JSON does not allow
 */
export function readEntry(line: string): JournalEntry | undefined {
  let entry: unknown
  try {
    entry = JSON.parse(line)
  } catch {
    return undefined
  }
  return isEntry(entry) ? entry : undefined
}

function isEntry(value: unknown): value is JournalEntry {
  if (typeof value !== 'object' || value === null) return false
  const { site, take, refresh, expires, end } = value as Record<string, unknown>
  if (typeof site === 'string') return isLock(take)
  if (typeof refresh === 'string') return typeof expires === 'number'
  return Array.isArray(end) && end.every(token => typeof token === 'string')
}

function isLock(value: unknown): value is Lock {
  if (typeof value !== 'object' || value === null) return false
  const { token, path, scope, depth, owner, user, expires } = value as Record<string, unknown>
  return (
    [token, path, owner, user].every(text => typeof text === 'string') &&
    (scope === 'exclusive' || scope === 'shared') &&
    (depth === 0 || depth === 'infinity') &&
    typeof expires === 'number'
  )
}
