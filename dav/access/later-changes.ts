/** Changes of the site that the mount makes some time after the request that asked for them. */

import { refuseConfiguring } from '../../pipeline/write/may-configure.ts'
import type { Exchange } from '../exchange.ts'

/**
 * Asked before something is kept that takes the content of a file later, when nobody is there any more who could be refused:
 * a draft over it (DAV-62), or the mark of its removal (DAV-72). To be asked under the lease of the path.
 *
 * @param path of a file, or of a collection that goes with all in it
 * @throws Fault 403 where the author must leave alone what it configures (SEC-10)
 */
export async function checkLaterLoss({ mount, configure }: Pick<Exchange, 'mount' | 'configure'>, path: string) {
  if (!configure) await refuseConfiguring(mount.site, { changes: [{ op: 'delete', path, expect: 0 }], written: [] })
}
