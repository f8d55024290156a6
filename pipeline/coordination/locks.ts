/**
 * Write locks of the mount (DAV-80 to DAV-90, RFC 4918 §6 and §7): the contract that every keeper of locks fulfils.
 *
 * Paths are decoded, in NFC, absolute. A trailing slash makes no difference to any call, since a name is used once per
 * collection. Sites are kept apart: a token is known only on the site it was given out on.
 */

export type LockScope = 'exclusive' | 'shared'

/** A lock of depth infinity covers everything below its path, whatever is put there later. */
export type LockDepth = 0 | 'infinity'

/** Seconds that a lock lasts at most without a refresh (DAV-83). */
export const LONGEST_LOCK = 3600

/** A lock as it stood when it was asked for. */
export interface Lock {
  /** `opaquelocktoken:` with a UUID. */
  readonly token: string
  /** The locked path, as it was named when the lock was taken. */
  readonly path: string
  readonly scope: LockScope
  readonly depth: LockDepth
  /** The `owner` element as XML, to stand where the prefix `D` means `DAV:`; empty without one. */
  readonly owner: string
  /** Name of the credential that took it. */
  readonly user: string
  /** Unix milliseconds. A request that keeps the lock alive may carry it beyond this time. */
  readonly expires: number
}

export type LockRequest = Pick<Lock, 'path' | 'scope' | 'depth' | 'owner' | 'user'> & {
  /** Time the lock is to live without a refresh. */
  seconds: number
}

export type Taken =
  | { ok: true; lock: Lock }
  /** Another lock is in the way: on the path or above, or else only `below` it. */
  | { ok: false; reason: 'conflict'; holder: Lock; below: boolean }
  /** The site holds as many locks as it may, or there are as many shared ones on the path. */
  | { ok: false; reason: 'full' }

/** Keeps locks alive as long as somebody works under them (DAV-83). */
export interface Hold {
  /** Lets them expire again; calling it twice is harmless. Never fails. */
  release(): Promise<void>
}

/** Why locks could not be kept or looked up: nothing is known to have changed. */
export class LockError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LockError'
  }
}

/** Every call can fail with LockError. What a call changed survives the end of the process as soon as it settles. */
export interface Locks {
  /**
   * Searches for conflicts and takes the lock in one step (DAV-82): exclusive conflicts with any lock, shared with an
   * exclusive one; looked for on the path, on ancestors locked with depth infinity and, for depth infinity, below. Shared
   * locks are counted in the same step.
   */
  take(site: string, request: LockRequest): Promise<Taken>
  /**
   * A number that is another one whenever a lock was taken on a site, told at once; absent where other processes take locks
   * as well. As long as it stands, none is in effect that was not before. Never fails.
   */
  taken?(site: string): number
  /** The lock of a token, while it is in effect. */
  find(site: string, token: string): Promise<Lock | undefined>
  /** Locks in effect on a path, inherited ones first; in the order in which they were taken where one path has several. */
  on(site: string, path: string): Promise<Lock[]>
  /** Locks on the direct members of a collection; inherited ones are not among them. */
  onMembers(site: string, collection: string): Promise<Lock[]>
  /**
   * Locks on what lies below a path, however deep; inherited ones are not among them.
   *
   * @param most stops after that many locked paths; locks on one path come together
   */
  below(site: string, path: string, most?: number): Promise<Lock[]>
  /**
   * Restarts the timer of a lock (DAV-84).
   *
   * @returns the lock as it is now, or undefined when no lock in effect has the token
   */
  refresh(site: string, token: string, seconds: number): Promise<Lock | undefined>
  /** Ends a lock. @returns whether one of this token was in effect */
  end(site: string, token: string): Promise<boolean>
  /** Ends locks, such as those of what was deleted or moved away (DAV-87). Unknown tokens are ignored. */
  endAll(site: string, tokens: readonly string[]): Promise<void>
  /**
   * Keeps the locks of these tokens alive until the hold is released. Tokens that are unknown, or were given to another
   * credential, are ignored.
   */
  keepAlive(site: string, user: string, tokens: Iterable<string>): Promise<Hold>
  /** Finishes what is under way; calls that come later fail. */
  close(): Promise<void>
}

/** Locks of one site at most, unless the keeper is told otherwise; those that take much count as several. */
export const MOST_LOCKS = 100_000

/** Shared locks in whose scope one path may lie: each of them is told to everybody who lists it (DAV-82). */
export const MOST_SHARED = 64

/** Paths as keys of indexes: without trailing slash, so that the root is the empty string. */
export function lockKey(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}

/** Whether a path lies in the scope of a lock (RFC 4918 §6.1). */
export function covers(lock: Pick<Lock, 'path' | 'depth'>, path: string): boolean {
  const root = lockKey(lock.path)
  const key = lockKey(path)
  return key === root || (lock.depth === 'infinity' && key.startsWith(`${root}/`))
}
