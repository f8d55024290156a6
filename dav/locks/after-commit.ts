/**
 * What is left to do when a write is committed. The write stands, so that a failure here is recorded and never becomes the
 * answer.
 */

import type { Lock } from '../../pipeline/coordination/locks.ts'
import type { Mount } from '../mount.ts'

/** Tokens remembered at most; locks expire by themselves. */
const MOST_FORGOTTEN = 10_000

/** @returns whether it was done */
export async function afterCommit({ failed }: Pick<Mount, 'failed'>, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    failed(error, 'a write is committed, but what follows it could not be done')
    return false
  }
}

/**
 * Ends the locks of what has gone (DAV-87). Those that cannot be ended now are ended later, by the tokens: others may have
 * been taken at the same paths by then.
 */
export async function endLocks(mount: Mount, gone: readonly Lock[]): Promise<void> {
  if (gone.length === 0) return
  const tokens = gone.map(({ token }) => token)
  if (await afterCommit(mount, () => mount.locks.endAll(mount.site.store.name, tokens))) return
  for (const token of tokens) if (mount.unended.size < MOST_FORGOTTEN) mount.unended.add(token)
}

/**
 * Ends locks where nothing is: a process that was killed between a removal and the end of its locks has left them, and they
 * would keep everybody from the name. Asked before the first request; where others take locks as well, nobody knows whether
 * they are about to make what theirs are on (DAV-81).
 */
export async function endLeftBehind(mount: Mount): Promise<void> {
  const { locks, site, view } = mount
  if (locks.taken === undefined) return
  await afterCommit(mount, async () => {
    const gone: Lock[] = []
    for (const lock of await locks.below(site.store.name, '/')) if (!(await view.find(lock.path))) gone.push(lock)
    await endLocks(mount, gone)
  })
}

/** Ends what could not be ended before. @throws LockError when locks still cannot be reached */
export async function endForgotten({ locks, site, unended }: Mount): Promise<void> {
  if (unended.size === 0) return
  const tokens = [...unended]
  await locks.endAll(site.store.name, tokens)
  for (const token of tokens) unended.delete(token)
}
