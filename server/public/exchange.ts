/** One request on the public surface after its first gates: what every method's handler works with. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { header } from '../../edge/fields.ts'
import type { Locks } from '../../pipeline/coordination/locks.ts'
import type { Cause } from '../../pipeline/events/mutation.ts'
import type { Streams } from '../../pipeline/events/streams.ts'
import type { Target } from '../../pipeline/http/path.ts'
import type { RulesAuthority } from '../../pipeline/site/rules-authority.ts'
import type { Site } from '../../pipeline/site/site.ts'
import type { BodySource } from '../../pipeline/write/document.ts'
import { refuseLocked } from '../../pipeline/write/locked.ts'
import type { HostedSite } from '../hosting.ts'
import type { Session } from '../sessions/signed-sessions.ts'

export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  hosted: HostedSite
  site: Site
  /** Upper case. */
  method: string
  target: Target
  /** Canonical path of the target (HTTP-13). */
  path: string
  session: Session
  /** Address of the client. */
  address: string
  /** Host and port by which the client knows this site; first the request's own. */
  authorities: string[]
  /** Read once, in the form the handler needs. */
  body: BodySource
  streams: Streams
  /** Locks of the mount; they bind public writes only where a site wants it (HTTP-85). */
  locks: Locks
  /** Decides by the rules as they stand at the moment of the call. */
  authority: () => RulesAuthority
}

/** Who causes a write: the session, and the stream's token where the client names it (EVT-56). */
export function causeOf(exchange: Exchange): Cause {
  const token = header(exchange, `${exchange.hosted.settings.brand}-connection`)
  return { session: exchange.session.id, ...(token && { token }) }
}

/** The check for locks that a whole-document write makes where the site wants it (HTTP-85). */
export function lockCheck({ hosted, locks, site }: Exchange) {
  if (!hosted.settings.locksBindPublicWrites) return {}
  return { check: (_held: unknown, paths: readonly string[]) => refuseLocked(locks, site.store.name, paths) }
}
