/** Locks in the way of a request: which tokens a change needs, and which locks a listing shows (DAV-86 to DAV-88). */

import { type Lock, LockError, type Locks, lockKey } from '../../pipeline/coordination/locks.ts'
import { Fault } from '../../pipeline/fault.ts'
import { parentOf } from '../places/overlay.ts'

/** A change that locks may forbid. */
export interface GuardedChange {
  /** Name of the site's store. */
  site: string
  /** What is changed. */
  path: string
  /** Credential of the request: a token works only for the one that took it. */
  user: string
  /** Tokens that the `If` header submits. */
  submitted: ReadonlySet<string>
  /**
   * - `content`: bytes of an existing resource (PUT, POST, a file replaced by COPY)
   * - `properties`: PROPPATCH
   * - `membership`: something new at the path, also the removal of a file: the collection it is in changes as well. Where
   *   missing collections are made on the way, `path` is the topmost of them
   * - `subtree`: a file or collection goes, with everything below (DELETE, the source of MOVE, what MOVE and COPY replace)
   */
  kind: 'content' | 'properties' | 'membership' | 'subtree'
  /** Whether the scope of the credential opens a file; when missing, it opens all. */
  opens?: (path: string) => boolean
  /** A lock of this very credential needs no token: Office leaves it out when it sets Windows times (DAV-35). */
  ownLocksPass?: boolean
}

/**
 * Asks for one token of every locked resource that a change touches.
 *
 * @returns locks taken on the path itself, and of a subtree those below it: they end when it goes
 * @throws Fault 423 `Locked` with `lock-token-submitted`, naming one locked path
 */
export async function guardLocks(locks: Locks, change: GuardedChange): Promise<Lock[]> {
  const { site, path, kind, submitted, opens = () => true } = change
  // What is asked about below a file would tell of its lock whoever may not see it (DAV-3); nothing comes to be there.
  const guards = (lock: Lock) => lock.path.endsWith('/') || lockKey(lock.path) === lockKey(path) || opens(lock.path)
  const inEffect = (await locks.on(site, path)).filter(guards)
  demand(inEffect, change)
  const own = inEffect.filter(lock => lockKey(lock.path) === lockKey(path))
  if (kind === 'content' || kind === 'properties') return own
  if (path !== '/') demand((await locks.on(site, parentOf(path))).filter(guards), change)
  if (kind === 'membership') return own
  // Among more locked paths than there are tokens, one at least goes without.
  const below = await locks.below(site, path, submitted.size + 1)
  for (const onOnePath of Map.groupBy(below, lock => lockKey(lock.path)).values()) demand(onOnePath, change)
  return [...own, ...below]
}

/** @param inEffect locks of one resource: a token of any of them will do */
function demand(inEffect: readonly Lock[], { user, submitted, ownLocksPass = false }: GuardedChange): void {
  const passes = (lock: Lock) => lock.user === user && (ownLocksPass || submitted.has(lock.token))
  const [first] = inEffect
  if (first && !inEffect.some(passes)) throw lockedFault(first.path)
}

function lockedFault(path: string): Fault {
  return new Fault(423, 'Locked', 'Somebody has locked this, and the request does not submit their lock token.', {
    precondition: { code: 'lock-token-submitted', paths: [path] },
  })
}

/** Locks that an answer shows. */
export interface ShownLocks {
  /** In effect on the target. */
  own: readonly Lock[]
  /** Those of them that are in effect on its members as well. */
  inherited: readonly Lock[]
  /** Taken on direct members themselves, by {@link lockKey}. */
  taken: ReadonlyMap<string, readonly Lock[]>
  /** False while locks cannot be looked up: reads go on, and show none (EVT-81). */
  known: boolean
}

const NONE_TAKEN: ShownLocks['taken'] = new Map()
const UNKNOWN: ShownLocks = { own: [], inherited: [], taken: NONE_TAKEN, known: false }

/** Looks up the locks that an answer about a single resource shows. */
export function locksOn(locks: Locks, site: string, path: string): Promise<ShownLocks> {
  return unlessAway(async () => {
    const own = await locks.on(site, path)
    return { own, inherited: [], taken: NONE_TAKEN, known: true }
  })
}

/**
 * Looks up the locks that a listing shows, all at once.
 *
 * @param collection path of the listed collection
 */
export function locksInListing(locks: Locks, site: string, collection: string): Promise<ShownLocks> {
  return unlessAway(() => lookAround(locks, site, collection))
}

async function unlessAway(look: () => Promise<ShownLocks>): Promise<ShownLocks> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof LockError) return UNKNOWN
    throw error
  }
}

async function lookAround(locks: Locks, site: string, collection: string): Promise<ShownLocks> {
  const own = await locks.on(site, collection)
  const inherited = own.filter(lock => lock.depth === 'infinity')
  const taken = Map.groupBy(await locks.onMembers(site, collection), lock => lockKey(lock.path))
  return { own, inherited, taken, known: true }
}

/** @returns locks taken on a member itself, which its decoded path names with or without slash */
export function takenOn({ taken }: ShownLocks, member: string): readonly Lock[] {
  return (taken.size > 0 && taken.get(lockKey(member))) || []
}
