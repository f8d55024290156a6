/** UNLOCK: ends a lock (RFC 4918 §9.11, DAV-85). */

import { header } from '../../edge/request.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { covers } from '../../pipeline/coordination/locks.ts'
import { Fault } from '../../pipeline/fault.ts'
import { trimField } from '../../pipeline/http/field-text.ts'
import { checkWritable } from '../access/scope-authority.ts'
import type { Exchange } from '../exchange.ts'
import { notCovering } from './lock.ts'

/**
 * Answers an UNLOCK of any resource in the lock's scope. A credential for the whole site may also break the locks of
 * others.
 *
 * @throws Fault 400 `BadRequest`, 409 `LockTokenMismatch`, 403 `Forbidden`
 */
export async function unlock(exchange: Exchange): Promise<Answer> {
  const { mount, author, path } = exchange
  checkWritable(author.scope, path)
  const site = mount.site.store.name
  const token = readLockToken(header(exchange, 'lock-token'))
  const lock = await mount.locks.find(site, token)
  if (!lock || !covers(lock, path)) throw notCovering(409)
  if (lock.user !== author.user && !author.scope.whole) {
    throw new Fault(403, 'Forbidden', 'The lock was taken by somebody else.')
  }
  if (!(await mount.locks.end(site, token))) throw notCovering(409)
  return { status: 204, headers: {} }
}

/** A URI in angle brackets; some clients leave the brackets out. */
const LOCK_TOKEN = /^(?:<([a-z][a-z0-9+.-]*:[^\s<>]*)>|([a-z][a-z0-9+.-]*:[^\s<>]*))$/i

function readLockToken(field: string | undefined): string {
  const [, bracketed, bare] = LOCK_TOKEN.exec(trimField(field ?? '')) ?? []
  const token = bracketed ?? bare
  if (token === undefined) {
    throw new Fault(
      400,
      'BadRequest',
      'UNLOCK needs the token of the lock in the Lock-Token header: Lock-Token: <token>',
    )
  }
  return token
}
