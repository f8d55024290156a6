/** A site's mount: the site itself, what is stored beside it, and its settings. */

import type { SiteSettings } from '../config/sites.ts'
import type { Locks } from '../pipeline/coordination/locks.ts'
import type { Site } from '../pipeline/site/site.ts'
import type { BodySource } from '../pipeline/write/document.ts'
import { createGatekeeper, type Gatekeeper } from './access/credentials.ts'
import type { Attempts } from './access/login-throttle.ts'
import type { Pages } from './listings/listing-cache.ts'
import { type SyncStates, syncStates } from './listings/sync-states.ts'
import { type HelperNames, helperNames } from './places/helper-names.ts'
import { Beside } from './places/unpublished.ts'
import { View } from './places/view.ts'

export interface Mount {
  site: Site
  settings: SiteSettings
  locks: Locks
  view: View
  beside: Beside
  names: HelperNames
  syncStates: SyncStates
  /** Of listings, as they were told last; of all mounts. */
  pages: Pages
  gatekeeper: Gatekeeper
  /** A file on disk as the body of a write. */
  fileBody: (file: string) => BodySource
  /** Path under which the mount answers, without slash at its end; empty at the root of an origin. */
  prefix: string
  /** Tokens of locks whose resources have gone, but which could not be ended then. */
  unended: Set<string>
  /** Records what goes wrong when nobody waits for it any more. */
  failed: (error: unknown, message: string) => void
}

/**
 * @param scratch the part of the store for drafts and helper files of this site
 */
export async function openMount(parts: {
  site: Site
  scratch: Site
  settings: SiteSettings
  locks: Locks
  attempts: Attempts
  pages: Pages
  fileBody: Mount['fileBody']
  prefix: string
  failed: Mount['failed']
}): Promise<Mount> {
  const { site, scratch, settings, locks, attempts, pages, fileBody, prefix, failed } = parts
  const names = helperNames(settings.helperFiles)
  const beside = await Beside.open(scratch, names)
  const view = new View(site, beside, names)
  const gatekeeper = createGatekeeper(settings.credentials, attempts)
  return {
    site,
    settings,
    locks,
    view,
    beside,
    names,
    syncStates: syncStates(),
    pages,
    gatekeeper,
    fileBody,
    prefix,
    unended: new Set(),
    failed,
  }
}
