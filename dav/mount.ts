/** A site's mount: the site itself, what the mount keeps unpublished, and the settings. */

import type { SiteSettings } from '../config/sites.ts'
import type { BodySource } from '../pipeline/body.ts'
import type { Locks } from '../pipeline/coordination/locks.ts'
import type { KeptTogether } from '../pipeline/kept-together.ts'
import type { Site } from '../pipeline/site/site.ts'
import type { BlobWriter, StoredBlob } from '../pipeline/store/blobs.ts'
import type { NoteStore } from '../pipeline/store/notes.ts'
import type { Gatekeeper } from './access/credentials.ts'
import type { ListingCache } from './listings/listing-cache.ts'
import type { ListedMembers } from './listings/listings.ts'
import { type SyncStates, syncStates } from './listings/sync-states.ts'
import { endLeaving, endLeftBehind, type LeavingLocks } from './locks/after-commit.ts'
import { endLeftOver, endOvertaken, overtakenBy } from './places/drafts.ts'
import { type HelperNames, helperNames } from './places/helper-names.ts'
import { Unpublished } from './places/unpublished.ts'
import { View } from './places/view.ts'

export interface Mount {
  site: Site
  settings: SiteSettings
  locks: Locks
  view: View
  unpublished: Unpublished
  names: HelperNames
  syncStates: SyncStates
  /** Of listings, as they were told last; of all mounts. */
  listingCache: ListingCache
  /** Knows the credentials of the newest settings: another object after they were read again. */
  readonly gatekeeper: Gatekeeper
  /** A stored blob as the body of a write. */
  blobSource: (blob: StoredBlob) => BodySource
  /** The store's area for bodies that are not committed yet. */
  stage: BlobWriter['stage']
  /** Path under which the mount answers, without slash at its end; empty at the root of an origin. */
  prefix: string
  /** Tokens of locks whose resources have gone, but which could not be ended then. */
  unended: Set<string>
  /** Of removals that are under way. */
  leaving: Set<LeavingLocks>
  /** Records what goes wrong when nobody waits for it any more. */
  failed: (error: unknown, message: string) => void
}

/**
 * @param unpublishedSite the part of the store for drafts and helper files of this site
 */
export async function openMount(parts: {
  site: Site
  unpublishedSite: Site
  settings: SiteSettings
  locks: Locks
  gatekeeper: () => Gatekeeper
  listingCache: ListingCache
  /** Of listings of all mounts. */
  members: ListedMembers
  /** Of what all mounts know of single resources, and of collections that clients synchronize from. */
  states: KeptTogether<object>
  blobSource: Mount['blobSource']
  stage: Mount['stage']
  notes: Pick<NoteStore, 'notes' | 'changeNotes'>
  prefix: string
  failed: Mount['failed']
}): Promise<Mount> {
  const { site, unpublishedSite, settings, locks, listingCache, members, states, blobSource, stage, prefix, failed } =
    parts
  const names = helperNames(settings.helperFiles)
  const unpublished = await Unpublished.open(unpublishedSite, names)
  const view = new View(site, unpublished, names, members, states)
  const mount: Mount = {
    site,
    settings,
    locks,
    view,
    unpublished,
    names,
    syncStates: syncStates(states),
    listingCache,
    get gatekeeper() {
      return parts.gatekeeper()
    },
    blobSource,
    stage,
    prefix,
    unended: new Set(),
    leaving: new Set(),
    failed,
  }
  site.overtaken = (commit, given) => overtakenBy(mount, commit, given)
  site.watch((paths, own) => {
    if (!own) return
    endLeaving(mount, paths)
    endOvertaken(mount, paths)
  })
  await endLeftBehind(mount)
  await endLeftOver(mount, parts.notes)
  return mount
}
