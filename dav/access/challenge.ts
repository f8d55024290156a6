/** Requests without credentials: the challenge, and the two probes that Office is answered without (DAV-3, DAV-4). */

import type { IncomingMessage } from 'node:http'
import { Fault } from '../../pipeline/fault.ts'

/** Reveals nothing of what is asked for (MNT-1). */
export function challenge(): Fault {
  return new Fault(401, 'Unauthorized', 'Sign in with the user name and password of this mount.', {
    headers: { 'WWW-Authenticate': 'Basic realm="WebDAV", charset="UTF-8"' },
  })
}

/** Office asks for a password again and again when a document is opened from a mapped drive, unless these two succeed. */
export function isOfficeProbe({ method, headers }: IncomingMessage): boolean {
  return (method === 'OPTIONS' || method === 'HEAD') && headers['user-agent']?.startsWith('Microsoft Office') === true
}
