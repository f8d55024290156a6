/** The reader that a page is put together for: what pages can see of a request (COMP-22). */

import type { Principal } from '../access/principal.ts'
import type { Allowance } from '../language/allowance.ts'
import type { VisitorSession } from './session-copies.ts'

/** The body of a request, as pages see it. */
export type RequestBody = { text: string } | { fields: ReadonlyMap<string, readonly string[]>; text: string }

export interface Viewer {
  /** Decoded path as requested, without query. */
  path: string
  /** `GET`, also for HEAD and for the search of a write's target; `POST` where a page makes a new one. */
  method: string
  /** Raw, without `?`. */
  query: string | undefined
  /** By lower-case name; repeated headers joined by `, `. The server's own cookie is left out (COMP-148). */
  headers: () => ReadonlyMap<string, string>
  principal: Principal | undefined
  /** Finds out what `roles` tells: groups that decide by themselves are asked (IDC-1). Missing where nobody has signed in. */
  identify?: (() => Promise<void>) | undefined
  /** Verified email, names of groups and roles, `users`; empty for nobody in particular. */
  roles: () => readonly string[]
  body: RequestBody | undefined
  /** The visitor's session; without one transient elements show their defaults. */
  session: VisitorSession | undefined
  allowance: Allowance
}
