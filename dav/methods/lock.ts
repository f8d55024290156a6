/** LOCK: takes a write lock, or restarts the timer of one (RFC 4918 §9.10, DAV-80 to DAV-84). */

import { header } from '../../edge/request.ts'
import type { Answer } from '../../pipeline/answer.ts'
import type { Lock } from '../../pipeline/coordination/locks.ts'
import { Fault, type Precondition } from '../../pipeline/fault.ts'
import { encodePath } from '../../pipeline/http/path.ts'
import { checkWritable } from '../access/scope-authority.ts'
import { checkConditions } from '../conditions/preconditions.ts'
import { depthOf, type Exchange } from '../exchange.ts'
import { endLocks } from '../locks/after-commit.ts'
import { checkLocks, requireParent } from '../locks/guard.ts'
import { grantedSeconds, LARGEST_LOCK_BODY, readLockInfo } from '../locks/lock-request.ts'
import { lockDiscoveryXml } from '../locks/lock-xml.ts'
import { makeEmpty } from '../places/drafts.ts'
import { checkMembers } from '../places/members.ts'
import { isCollection } from '../places/place.ts'
import { confirmDraft } from '../places/unpublished-changes.ts'
import { hrefOf, MULTISTATUS_END, MULTISTATUS_START, XML_TYPE } from '../properties/response.ts'
import { isBlank } from '../requests/xml.ts'

/**
 * Answers a LOCK: with a body it takes a lock, without one it refreshes those whose tokens the `If` header submits.
 *
 * @throws Fault 400, 409 `ParentDirectoryMissing`, 412, 413, 422 `UnsupportedLock`, 423 `Locked`, 507
 *   `AllowanceExhausted`
 */
export async function lock(exchange: Exchange): Promise<Answer> {
  checkWritable(exchange.author.scope, exchange.path)
  const body = await exchange.body.bytes(LARGEST_LOCK_BODY)
  return isBlank(body) ? refresh(exchange) : take(exchange, body)
}

async function take(exchange: Exchange, body: Uint8Array): Promise<Answer> {
  const { mount, author } = exchange
  const site = mount.site.store.name
  const depth = depthOf(exchange, ['0', 'infinity'], 'infinity') === '0' ? 0 : 'infinity'
  const { scope, owner } = readLockInfo(body)
  const seconds = grantedSeconds(header(exchange, 'timeout'))
  const found = await mount.view.find(exchange.path)
  await checkConditions(exchange, found)
  if (!found) await checkPlace(exchange)
  if (found && depth === 'infinity') await checkMembers(exchange, found)
  const path = found?.resource.path ?? exchange.path

  const taken = await mount.locks.take(site, { path, scope, depth, owner, user: author.user, seconds })
  if (!taken.ok) {
    if (taken.reason === 'full') throw full()
    if (taken.below) return blockedBelow(exchange, path, taken.holder)
    throw locked(taken.holder)
  }
  const { lock } = taken
  const made = await findLocked(exchange, lock)
  const headers: Record<string, string> = { 'Lock-Token': `<${lock.token}>` }
  if (found && isCollection(found) && !exchange.path.endsWith('/')) {
    headers['Content-Location'] = mount.prefix + encodePath(path)
  }
  return discovered(exchange, made ? 201 : 200, headers, [lock])
}

/**
 * Finds what a new lock is on, when no write goes on any more that has not seen it: they look for locks under their leases.
 * If it cannot be had, the lock ends.
 *
 * @returns whether an empty file was made, because nothing was there
 */
async function findLocked(exchange: Exchange, lock: Lock): Promise<boolean> {
  const { site, view } = exchange.mount
  try {
    await site.leases.outlast(site.store.name, lock.path)
    await exchange.lookAgain()
    const found = await view.find(lock.path)
    await checkConditions(exchange, found)
    if (found) {
      await confirmDraft(exchange.mount, found.place, lock.path)
      return false
    }
    await checkPlace(exchange)
    return await makeResource(exchange, lock)
  } catch (error) {
    await endLocks(exchange.mount, [lock])
    throw error
  }
}

/** A lock on nothing makes a file, which needs a name and a collection to be in. */
async function checkPlace(exchange: Exchange): Promise<void> {
  if (exchange.path.endsWith('/')) {
    throw new Fault(400, 'InvalidPath', 'Nothing is here, and a lock makes files only; their paths do not end in "/".')
  }
  await requireParent(exchange, exchange.path)
}

/**
 * Makes the empty file of a lock that was taken on nothing.
 *
 * @returns false when something was made there in the meantime
 */
async function makeResource(exchange: Exchange, { path, token }: Lock): Promise<boolean> {
  const submitted = new Set(exchange.submitted).add(token)
  try {
    await checkLocks({ ...exchange, submitted }, path, 'membership')
    await makeEmpty(exchange)
    return true
  } catch (error) {
    if (error instanceof Fault && error.status === 412) return false
    throw error
  }
}

/** Restarts the timers of the locks whose tokens are submitted (DAV-84). */
async function refresh(exchange: Exchange): Promise<Answer> {
  const { mount, author, submitted } = exchange
  const site = mount.site.store.name
  if (header(exchange, 'if') === undefined) {
    throw new Fault(400, 'BadRequest', 'A LOCK without a body refreshes a lock: its token goes into the If header.')
  }
  const seconds = grantedSeconds(header(exchange, 'timeout'))
  const inEffect = await mount.locks.on(site, exchange.path)
  const covering = inEffect.filter(({ token }) => submitted.has(token))
  if (covering.length === 0) throw notCovering(412)
  const own = covering.filter(({ user }) => user === author.user)
  if (own.length === 0) throw new Fault(403, 'Forbidden', 'The lock was taken by somebody else.')
  // The scope may have become narrower since it was taken (DAV-3).
  for (const { path } of own) checkWritable(author.scope, path)
  const refreshed: Lock[] = []
  for (const { token } of own) {
    const lock = await mount.locks.refresh(site, token, seconds)
    if (lock) refreshed.push(lock)
  }
  if (refreshed.length === 0) throw notCovering(412)
  return discovered(exchange, 200, {}, refreshed)
}

/** The lock in question alone: clients that read only the body take the first token in it for theirs. */
function discovered(
  { mount }: Exchange,
  status: number,
  headers: Record<string, string>,
  locks: readonly Lock[],
): Answer {
  const discovery = lockDiscoveryXml(locks, path => mount.prefix + encodePath(path))
  return {
    status,
    headers: { ...headers, 'Content-Type': XML_TYPE, 'Cache-Control': 'no-store' },
    body: `<?xml version="1.0" encoding="utf-8"?><D:prop xmlns:D="DAV:">${discovery}</D:prop>`,
  }
}

/** The lock of a member is in the way of one on the whole collection (RFC 4918 §9.10.9). */
function blockedBelow({ mount }: Exchange, path: string, holder: Lock): Answer {
  const member = hrefOf(mount.prefix, holder.path)
  const body =
    `${MULTISTATUS_START}<D:response>${member}<D:status>HTTP/1.1 423 Locked</D:status>` +
    `<D:error><D:no-conflicting-lock>${member}</D:no-conflicting-lock></D:error></D:response>` +
    `<D:response>${hrefOf(mount.prefix, path)}<D:status>HTTP/1.1 424 Failed Dependency</D:status></D:response>${MULTISTATUS_END}`
  return { status: 207, headers: { 'Content-Type': XML_TYPE, 'Cache-Control': 'no-store' }, body }
}

function locked(holder: Lock): Fault {
  return new Fault(423, 'Locked', 'Somebody else has locked this already.', {
    precondition: { code: 'no-conflicting-lock', paths: [holder.path] },
  })
}

function full(): Fault {
  return new Fault(507, 'AllowanceExhausted', 'There are as many locks here as there may be. Try again later.')
}

/** What is wrong with a token: the same for UNLOCK (409) and for a refresh (412). */
export function notCovering(status: 409 | 412): Fault {
  const precondition: Precondition = { code: 'lock-token-matches-request-uri' }
  const kind = status === 409 ? 'LockTokenMismatch' : 'PreconditionFailed'
  return new Fault(status, kind, 'No lock with this token is in effect here.', { precondition })
}
