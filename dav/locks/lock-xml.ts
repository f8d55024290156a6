/** What clients are told of locks: `lockdiscovery` and `supportedlock` (RFC 4918 §15.8 and §15.10, DAV-88). */

import type { Lock } from '../../pipeline/coordination/locks.ts'
import { escapeMarkup } from '../../pipeline/http/markup.ts'

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

/**
 * @param locks in effect on one resource, inherited ones included
 * @param hrefOf writes a decoded path as a path-absolute reference, with the prefix of the mount
 * @param now unix milliseconds
 * @returns the `lockdiscovery` element; the prefix `D` means `DAV:`
 */
export function lockDiscoveryXml(locks: readonly Lock[], hrefOf: (path: string) => string, now = Date.now()): string {
  if (locks.length === 0) return '<D:lockdiscovery/>'
  return `<D:lockdiscovery>${locks.map(lock => activeLock(lock, hrefOf(lock.path), now)).join('')}</D:lockdiscovery>`
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
