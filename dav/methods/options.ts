/** OPTIONS: what the mount can do (DAV-20). */

import type { Answer } from '../../pipeline/answer.ts'
import { ACCEPT_QUERY } from '../../pipeline/http/media.ts'

/** Every method of the mount. */
export const ALLOW =
  'OPTIONS, GET, HEAD, PUT, POST, DELETE, PROPFIND, PROPPATCH, MKCOL, COPY, MOVE, LOCK, UNLOCK, QUERY, REPORT'

/** On every response: without them Finder gives up, and Office opens documents read-only. */
export const DAV_HEADERS: Readonly<Record<string, string>> = {
  DAV: '1, 2, 3, extended-mkcol',
  'MS-Author-Via': 'DAV',
}

/** The same for any path, whether something is there or not. */
export async function options(): Promise<Answer> {
  return {
    status: 200,
    headers: {
      Allow: ALLOW,
      'Accept-Query': ACCEPT_QUERY,
      'Accept-Ranges': 'bytes',
      'Cache-Control': 'no-store',
    },
    body: '',
  }
}
