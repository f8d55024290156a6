/** Whoever has a stream open. */

import type { Authorizing } from '../authority.ts'
import type { RulesAuthority } from '../site/rules-authority.ts'

/** Who watches what. */
export interface Subscriber {
  /** Canonical path. */
  path: string
  /** Id of the session. */
  session: string
  /** Address of the client. */
  address: string
  /** Decides for the subscriber by the rules as they stand at the moment of the call. */
  authority: Authorizing<RulesAuthority>
  /** Whether a trigger stands before the path now that was not asked when the stream was opened. */
  isGuardedAnew?: () => boolean
  /** Id of the last event that the client saw. */
  lastEventId: string | undefined
}
