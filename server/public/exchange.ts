/** One request on the public surface after its first gates: what every method's handler works with. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BodySource } from '../../pipeline/body.ts'
import type { Locks } from '../../pipeline/coordination/locks.ts'
import type { Streams } from '../../pipeline/events/streams.ts'
import type { Target } from '../../pipeline/http/path.ts'
import type { Allowance } from '../../pipeline/language/allowance.ts'
import type { RulesAuthority } from '../../pipeline/site/rules-authority.ts'
import type { Site } from '../../pipeline/site/site.ts'
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
  /** What all code of the request may spend together (SES-213). */
  allowance: Allowance
  /** Read once, in the form the handler needs. */
  body: BodySource
  streams: Streams
  /** Locks of the mount; they bind public writes only where a site wants it (HTTP-85). */
  locks: Locks
  /** Decides by the rules as they stand at the moment of the call. */
  authority: () => RulesAuthority
}
