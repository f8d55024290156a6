/** What the parts of the locks' contract have in common. */

import type { Lock, LockRequest, Locks, Taken } from '../../../pipeline/coordination/locks.ts'

/** One keeper to be tested; every test has one of its own. */
export interface Kept {
  locks: Locks
  /** Lets time pass for the keeper, in milliseconds. */
  advance(ms: number): void
  /** Unix milliseconds by the keeper's clock. */
  now(): number
  /** Another keeper of the same locks: what a later process finds. */
  restart?: () => Promise<Locks>
  end(): Promise<void>
}

export type Opened = (options?: { most?: number }) => Promise<Kept>

export const SITE = 'a.example'

/** An exclusive lock of depth 0 for ann, unless it says something else. */
export function wish(path: string, more: Partial<LockRequest> = {}): LockRequest {
  return { path, scope: 'exclusive', depth: 0, owner: '', user: 'ann', seconds: 600, ...more }
}

export function granted(taken: Taken): Lock {
  if (!taken.ok) throw new Error(`refused: ${taken.reason}`)
  return taken.lock
}

export async function take(locks: Locks, path: string, more?: Partial<LockRequest>): Promise<Lock> {
  return granted(await locks.take(SITE, wish(path, more)))
}

export function tokens(locks: readonly Lock[]): string[] {
  return locks.map(lock => lock.token)
}
