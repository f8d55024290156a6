/**
 * What is left to do when a write is committed. The write stands, so that a failure here is recorded and never becomes the
 * answer.
 */

import { type Lock, lockKey } from '../../pipeline/coordination/locks.ts'
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

/** Locks of what is about to go, by token, each with its end as soon as it has begun. */
export type LeavingLocks = Map<string, { readonly path: string; ending?: Promise<boolean> }>

/**
 * Does what takes something away, and ends its locks with it (DAV-87): whoever finds nothing there any more must not find it
 * locked. Those that cannot be ended now are ended later, by the tokens: others may have been taken at the same paths by then.
 *
 * @param remove is told how to say which locks go, under the leases of the paths
 */
export async function withLocks<T>(
  mount: Mount,
  remove: (leave: (gone: readonly Lock[]) => void) => Promise<T>,
): Promise<T> {
  const leaving: LeavingLocks = new Map()
  mount.leaving.add(leaving)
  try {
    const done = await remove(gone => {
      for (const [token, { ending }] of leaving) if (!ending) leaving.delete(token)
      for (const { token, path } of gone) if (!leaving.has(token)) leaving.set(token, { path })
    })
    endAt(mount, leaving, () => true)
    await Promise.all([...leaving.values()].map(({ ending }) => ending))
    return done
  } finally {
    mount.leaving.delete(leaving)
  }
}

/** To be told of paths that a commit of this process has changed, before anybody can read that. */
export function endLeaving(mount: Mount, changed: Iterable<string>): void {
  if (mount.leaving.size === 0) return
  const keys = new Set<string>()
  for (const path of changed) keys.add(lockKey(path))
  for (const leaving of mount.leaving) endAt(mount, leaving, path => isAtOrBelow(path, keys))
}

/** Whether one of many paths is this one or a folder above it: asked of each folder, and not of each path (SEC-12). */
function isAtOrBelow(path: string, keys: ReadonlySet<string>): boolean {
  for (let key = lockKey(path); ; key = key.slice(0, key.lastIndexOf('/'))) {
    if (keys.has(key)) return true
    if (key === '') return false
  }
}

function endAt(mount: Mount, leaving: LeavingLocks, isMeant: (path: string) => boolean): void {
  const locks = [...leaving].filter(([, { path, ending }]) => !ending && isMeant(path))
  if (locks.length === 0) return
  const ending = endLocks(
    mount,
    locks.map(([token]) => ({ token })),
  )
  for (const [, lock] of locks) lock.ending = ending
}

/** @returns whether that could be done now */
export async function endLocks(mount: Mount, gone: readonly Pick<Lock, 'token'>[]): Promise<boolean> {
  if (gone.length === 0) return true
  const tokens = gone.map(({ token }) => token)
  if (await afterCommit(mount, () => mount.locks.endAll(mount.site.store.name, tokens))) return true
  for (const token of tokens) if (mount.unended.size < MOST_FORGOTTEN) mount.unended.add(token)
  return false
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
