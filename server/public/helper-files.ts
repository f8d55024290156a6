/** Files that desktop systems and editors keep for themselves never reach a site through its public face (DAV-70). */

import type { HelperNames } from '../../dav/places/helper-names.ts'
import { Fault } from '../../pipeline/fault.ts'

/** @throws Fault 404 for the name of such a file */
export function refuseHelper(names: HelperNames, path: string): void {
  if (names.of(path)) throw new Fault(404, 'NotFound', 'Nothing is stored at this address.')
}
