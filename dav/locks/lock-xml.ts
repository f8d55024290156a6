/** What clients are told of locks: `lockdiscovery` and `supportedlock` (RFC 4918 §15.8 and §15.10, DAV-88). */

import type { Lock } from '../../pipeline/coordination/locks.ts'
import { escapeMarkup } from '../../pipeline/http/markup.ts'
import { type ShownLocks, takenOn } from './locks-in-force.ts'

const WRITE = '<D:locktype><D:write/></D:locktype>'

function entry(scope: Lock['scope']): string {
  return `<D:lockentry><D:lockscope><D:${scope}/></D:lockscope>${WRITE}</D:lockentry>`
}

/** The `supportedlock` element, the same for every resource; the prefix `D` means `DAV:`. */
export const supportedLockXml = `<D:supportedlock>${entry('exclusive')}${entry('shared')}</D:supportedlock>`

/** The same without prefixes, in fewer bytes. */
export const shortSupportedLockXml = supportedLockXml
  .replaceAll('D:', '')
  .replace('<supportedlock>', '<supportedlock xmlns="DAV:">')

/** Writes a decoded path as a path-absolute reference, with the prefix of the mount. */
type HrefOf = (path: string) => string

/**
 * Bytes that the locks which members inherit may take in one listing, and as many those taken on members themselves. Each of
 * 64 shared locks with its owner at each member would make gigabytes.
 */
const MOST_BYTES = 4 * 1024 * 1024
/** Bytes of an `activelock` beside its owner and the locked URL. */
const FRAME = 320

/**
 * @param locks in effect on one resource, inherited ones included
 * @param now unix milliseconds
 * @returns the `lockdiscovery` element; the prefix `D` means `DAV:`
 */
export function lockDiscoveryXml(locks: readonly Lock[], hrefOf: HrefOf, now = Date.now()): string {
  return inDiscovery(activeLocks(locks, hrefOf, now))
}

/** The `lockdiscovery` elements of one listing. */
export interface ToldLocks {
  ofTarget: string
  /** @param path of a direct member, decoded */
  ofMember(path: string): string
}

/**
 * Tells the locks of a listing: all of them at the target. Members tell theirs as well, unless that would make a listing too
 * long: then each tells one, without its owner, so that clients see that it is locked, and find a token of their own again.
 *
 * @param members how many there are
 * @param user whose locks come first where not all are told
 * @param now unix milliseconds
 */
export function locksTold(
  locks: ShownLocks,
  { members, user, hrefOf, now = Date.now() }: { members: number; user: string; hrefOf: HrefOf; now?: number },
): ToldLocks {
  const { own, inherited, taken } = locks
  const all = (some: readonly Lock[]) => activeLocks(some, hrefOf, now)
  function one(some: readonly Lock[]): string {
    const told = some.find(lock => lock.user === user) ?? some[0]
    return told ? activeLock({ ...told, owner: '' }, hrefOf(told.path), now) : ''
  }
  const bytesOf = (some: readonly Lock[]) =>
    some.reduce((sum, { owner, path }) => sum + Buffer.byteLength(owner) + hrefOf(path).length + FRAME, 0)
  const tellInherited = bytesOf(inherited) * members > MOST_BYTES ? one : all
  let bytesTaken = 0
  for (const onOne of taken.values()) bytesTaken += bytesOf(onOne)
  const tellTaken = bytesTaken > MOST_BYTES ? one : all
  const fromAbove = members === 0 ? '' : tellInherited(inherited)
  const unlocked = inDiscovery(fromAbove)
  return {
    ofTarget: inDiscovery(all(own)),
    ofMember(path) {
      const itself = takenOn(locks, path)
      return itself.length === 0 ? unlocked : inDiscovery(fromAbove + tellTaken(itself))
    },
  }
}

function inDiscovery(activeLocks: string): string {
  return activeLocks === '' ? '<D:lockdiscovery/>' : `<D:lockdiscovery>${activeLocks}</D:lockdiscovery>`
}

function activeLocks(locks: readonly Lock[], hrefOf: HrefOf, now: number): string {
  return locks.map(lock => activeLock(lock, hrefOf(lock.path), now)).join('')
}

function activeLock({ scope, depth, owner, expires, token }: Lock, root: string, now: number): string {
  return (
    `<D:activelock>${WRITE}<D:lockscope><D:${scope}/></D:lockscope><D:depth>${depth}</D:depth>${owner}` +
    `<D:timeout>Second-${secondsLeft(expires, now)}</D:timeout>` +
    `<D:locktoken><D:href>${token}</D:href></D:locktoken>` +
    `<D:lockroot><D:href>${escapeMarkup(root)}</D:href></D:lockroot></D:activelock>`
  )
}

/** Whole seconds; a lock that only a running request keeps alive has one left. */
function secondsLeft(expires: number, now: number): number {
  return Math.max(1, Math.ceil((expires - now) / 1000))
}
