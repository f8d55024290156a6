/** Locks of the mount that bind writes on the public surface, where a site wants it (HTTP-85). */

import type { Locks } from '../coordination/locks.ts'
import { Fault } from '../fault.ts'

/**
 * Refuses a write of whole documents while one of its paths is in the scope of a lock. No token helps: tokens are of the
 * mount.
 *
 * @param paths canonical paths that the write creates, replaces or removes
 * @param now unix milliseconds
 * @throws Fault 423 `Locked`, with the seconds that the locks have left as `Retry-After`
 */
export async function refuseLocked(
  locks: Locks,
  site: string,
  paths: readonly string[],
  now = Date.now(),
): Promise<void> {
  const inEffect = (await Promise.all(paths.map(path => locks.on(site, path)))).flat()
  if (inEffect.length === 0) return
  const left = Math.max(...inEffect.map(({ expires }) => expires - now))
  throw new Fault(423, 'Locked', 'Somebody is editing this. Try again when they have finished.', {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(left / 1000))) },
  })
}
