/** One request on the public surface after its first gates: what every method's handler works with. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { readBody } from '../../edge/body.ts'
import type { Stage } from '../../edge/stage.ts'
import { stageBody } from '../../edge/stage.ts'
import type { Locks } from '../../pipeline/coordination/locks.ts'
import type { Cause } from '../../pipeline/events/mutation.ts'
import type { Streams } from '../../pipeline/events/streams.ts'
import { Fault } from '../../pipeline/fault.ts'
import type { Target } from '../../pipeline/http/path.ts'
import type { RulesAuthority } from '../../pipeline/site/rules-authority.ts'
import { largestDocument, type Site } from '../../pipeline/site/site.ts'
import type { BodySource } from '../../pipeline/write/document.ts'
import { refuseLocked } from '../../pipeline/write/locked.ts'
import type { Limits } from '../app.ts'
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
  limits: Limits
  stage: Stage
  streams: Streams
  /** Locks of the mount; they bind public writes only where a site wants it (HTTP-85). */
  locks: Locks
  /** Decides by the rules as they stand at the moment of the call. */
  authority: () => RulesAuthority
}

/** A request header as one string; repeated fields are joined as RFC 9110 §5.3 says. */
export function header(exchange: Pick<Exchange, 'request'>, name: string): string | undefined {
  const value = exchange.request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
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

/** The body of a write, read when the write asks for it. */
export function bodyOf(exchange: Exchange): BodySource {
  const { request, response, limits } = exchange
  return {
    bytes: cap => readBody(request, response, cap, limits.bodyIdle),
    stage: cap => stageBody(exchange.stage, request, response, cap, limits.bodyIdle),
  }
}

/**
 * A fragment sent as the body of a selector write.
 *
 * @throws Fault 422 when it is not UTF-8
 */
export async function fragmentText(exchange: Exchange): Promise<string> {
  const bytes = await bodyOf(exchange).bytes(largestDocument(exchange.site.settings))
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Fault(422, 'InvalidFragment', 'The fragment is not valid UTF-8.')
  }
}

/** HTTP-83: bodies are stored as they are, whole, and not unpacked. */
export function checkBodyFields(exchange: Exchange): void {
  const coding = header(exchange, 'content-encoding')
  if (coding !== undefined && coding.trim().toLowerCase() !== 'identity')
    throw new Fault(415, 'UnsupportedMediaType', 'Send the body without Content-Encoding.')
  if (exchange.method === 'PUT' && header(exchange, 'content-range') !== undefined)
    throw new Fault(
      400,
      'BadRequest',
      'Content-Range is not allowed on PUT; use Range: selector=… to write an element.',
    )
}
