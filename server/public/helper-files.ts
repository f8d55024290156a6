/** Files that desktop systems and editors keep for themselves never reach a site through its public face (DAV-70). */

import type { SiteSettings } from '../../config/sites.ts'
import { type HelperNames, helperNames } from '../../dav/places/helper-names.ts'
import { Fault } from '../../pipeline/fault.ts'

const known = new WeakMap<SiteSettings, HelperNames>()

/** @throws Fault 404 for the name of such a file */
export function refuseHelper(settings: SiteSettings, path: string): void {
  let names = known.get(settings)
  if (!names) known.set(settings, (names = helperNames(settings.helperFiles)))
  if (names.of(path)) throw new Fault(404, 'NotFound', 'Nothing is stored at this address.')
}
