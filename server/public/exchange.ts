/** One request on the public surface after its first gates: what every method's handler works with. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { normalizeHost } from '../../config/hosts.ts'
import { identityOf } from '../../pipeline/access/identity.ts'
import type { Answer } from '../../pipeline/answer.ts'
import type { Authorizing } from '../../pipeline/authority.ts'
import type { BodySource } from '../../pipeline/body.ts'
import type { Locks } from '../../pipeline/coordination/locks.ts'
import type { Streams } from '../../pipeline/events/streams.ts'
import type { Target } from '../../pipeline/http/path.ts'
import type { Allowance } from '../../pipeline/language/allowance.ts'
import type { Reaction, SiteReactions } from '../../pipeline/react/declared/reactions.ts'
import type { RequestCalls } from '../../pipeline/react/outbound/request-calls.ts'
import { type RequestParts, RequestValue } from '../../pipeline/request-value.ts'
import type { RulesAuthority } from '../../pipeline/site/rules-authority.ts'
import type { Site } from '../../pipeline/site/site.ts'
import type { LedPut } from '../../pipeline/write/document.ts'
import type { TransitionSink } from '../../pipeline/write/transitions.ts'
import type { HostedSite } from '../hosting.ts'
import type { Session } from '../sessions/site-sessions.ts'

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
  /** What all code of the request may spend together (SES-213). */
  allowance: () => Allowance
  /** Takes from what the visitor may have kept in sessions. @throws Fault 429 */
  brakeContent: (bytes: number) => Promise<void>
  /** What its reactions have done so far (REA-95). */
  made: { calls: number; writes: number }
  /** Read once, in the form the handler needs. */
  body: BodySource
  streams: Streams
  /** Locks of the mount; they bind public writes only where a site wants it (HTTP-85). */
  locks: Locks
  /** Calls of reactions, stored together with what the request writes. */
  alongside?: RequestCalls
  /** As they were when the request arrived (REA-5). */
  reactions: SiteReactions
  /** Those whose actions have run for the request. */
  acted?: ReadonlySet<Reaction>
  /** Triggers of the site may refuse it. */
  guarded?: boolean
  /** Carries out a PUT that the request leads to, with the triggers of its path (COMP-106, COMP-108). */
  triggered: (exchange: Exchange, put: LedPut) => Promise<Answer>
  /** Told of handlers that the request fires (REA-122). */
  transitions: TransitionSink
  /** Decides by the rules as they stand at the moment of the call. */
  authority: Authorizing<RulesAuthority>
}

/**
 * The request as code and pages see it (COMP-22, REA-40). Groups that decide by themselves are asked for it, so it is made
 * only where code or a page is about to run.
 */
export async function requestValue(
  { request, hosted, site, method, target, session, authorities, authority }: Exchange,
  own: Pick<RequestParts, 'params' | 'body' | 'repeated'>,
): Promise<RequestValue> {
  const [host = ''] = authorities
  const { access } = authority()
  return new RequestValue({
    ...own,
    method,
    path: target.path,
    host: normalizeHost(host) ?? '',
    query: target.query ?? '',
    headers: request.headers,
    sessionCookie: `${hosted.settings.brand}_session`,
    identity: session.principal && (await identityOf(site.rules, session.principal, access.membership)),
  })
}
