/** Settles or drops the drafts, marks of removals and helper files that nobody comes back to (DAV-62, DAV-72, DAV-73). */

import { fullAuthority } from '../../pipeline/authority.ts'
import { type BodySource, NO_BODY } from '../../pipeline/body.ts'
import { Fault } from '../../pipeline/fault.ts'
import { perform } from '../../pipeline/operation.ts'
import type { StoredFile } from '../../pipeline/site/stored-file.ts'
import type { Property, Resource } from '../../pipeline/store/resource.ts'
import { ZERO } from '../../pipeline/store/tags.ts'
import { TurnsBetween } from '../../pipeline/tree/steps.ts'
import { stateOf } from '../../pipeline/write/collection.ts'
import { type Alongside, oneAllowance } from '../../pipeline/write/commit.ts'
import { putDocument } from '../../pipeline/write/document.ts'
import { endForgotten } from '../locks/after-commit.ts'
import type { Mount } from '../mount.ts'
import type { MountTriggers } from '../triggers.ts'
import { endCover, endOutdated, publishingOf } from './drafts.ts'
import { parentOf } from './overlay.ts'
import { isCollection, type Node } from './place.ts'
import { finishRemoval, isRemoval, unlessRefused } from './removals.ts'

/** Milliseconds between two searches for helper files that are too old. */
const SWEEP_EVERY = 60 * 60_000

/** Covers that one round looks at before their time has come: each is a question to the database, and one about its locks. */
const AHEAD_OF_TIME = 1000

export interface Housekeeping {
  /** Whether no draft and no removal waits for its time. */
  readonly isIdle: boolean
  /**
   * Does everything that is due. One call at a time.
   *
   * @param now unix milliseconds
   */
  run(now: number): Promise<void>
}

/**
 * Rounds that each fail alike, as while Redis is away, fail once.
 *
 * @param run one round
 */
export function failingOnce(run: Housekeeping['run']): Housekeeping['run'] {
  let told: string | undefined
  return async now => {
    try {
      await run(now)
      told = undefined
    } catch (error) {
      const what = String(error)
      if (what === told) return
      told = what
      throw error
    }
  }
}

/**
 * @param triggers of the site, where it may have some that drafts are published by
 * @param isEnding whether nothing is to be begun any more
 */
export function createHousekeeping(
  mount: Mount,
  triggers?: MountTriggers,
  isEnding: () => boolean = () => false,
): Housekeeping {
  /** Unix milliseconds at which a draft was last seen locked, or could not be published. */
  const locked = new Map<string, number>()
  /** When covers were found whose time was still to come. */
  const ahead = new Map<string, { version: number; at: number }>()
  let swept = 0
  /** Place of the first cover that the next round looks at before its time. */
  let first = 0

  /** Unix milliseconds of the last write; where the clock was set back since, of when that was found. */
  function writtenAt({ path, version, modified }: Resource, now: number): number {
    if (modified <= now) return modified
    const found = ahead.get(path)
    if (found?.version === version && found.at <= now) return found.at
    ahead.set(path, { version, at: now })
    return now
  }

  /** Whether the time of a cover has come, as far as its locks are known. */
  function isPast(cover: Resource, now: number): boolean {
    const { drafts, helperFiles } = mount.settings
    if (isRemoval(cover)) return writtenAt(cover, now) + helperFiles.keepPublished <= now
    return Math.max(writtenAt(cover, now), locked.get(cover.path) ?? 0) + drafts.settle <= now
  }

  /** Whether a draft has been left alone long enough (DAV-62), or a removal been put off for as long as it may be (DAV-72). */
  async function isDue(cover: Resource, now: number): Promise<boolean> {
    if (!isRemoval(cover) && (await isLocked(mount, cover.path))) locked.set(cover.path, now)
    return isPast(cover, now)
  }

  /** One that fails now is tried again later, and keeps no others from their end. @returns what failed first */
  async function settleCovers(now: number): Promise<{ error: unknown } | undefined> {
    const { unpublished } = mount
    for (const [path, at] of locked) {
      if (!unpublished.coverAt(path)) locked.delete(path)
      else if (at > now) locked.set(path, now)
    }
    for (const path of ahead.keys()) if (!unpublished.coverAt(path)) ahead.delete(path)
    let failure: { error: unknown } | undefined
    const turns = new TurnsBetween()
    const covers = [...unpublished.overlay.entries()]
    const from = first < covers.length ? first : 0
    first = from + AHEAD_OF_TIME
    for (const [i, cover] of covers.entries()) {
      // All of them may be at hand.
      await turns.next()
      if (isEnding()) break
      if (unpublished.coverAt(cover.path) !== cover) continue
      if ((i < from || i >= first) && !isPast(cover, now)) continue
      await settleCover(cover, now).catch(error => {
        locked.set(cover.path, now)
        failure ??= { error }
      })
    }
    return failure
  }

  async function settleCover(cover: Resource, now: number): Promise<void> {
    // What a process that was killed has left of these would come back where the document is removed before the time below.
    if (isShown(await mount.view.find(cover.path))) await endOutdated(mount, cover.path)
    else if (await isDue(cover, now)) {
      if (isRemoval(cover)) await finishRemoval(mount, cover)
      else await settleDraft(mount, cover, triggers)
    }
  }

  /** Drops helper files whose last use lies too far back (DAV-73). */
  async function sweep(now: number): Promise<void> {
    if (swept <= now && now < swept + SWEEP_EVERY) return
    swept = now
    const { metadataAge, workAge } = mount.settings.helperFiles
    for await (const resource of mount.unpublished.stored()) {
      const { path, modified, kind, members } = resource
      const helper = mount.names.of(path)
      // A collection goes when nothing is left in it.
      if (!helper || (kind === 'collection' && members !== ZERO)) continue
      const last = Math.max(modified, mount.unpublished.lastUse(path))
      if (last + (helper.listed ? workAge : metadataAge) <= now && !(await isLocked(mount, path)))
        await mount.unpublished.commit([{ op: 'delete', path, expect: stateOf(resource) }])
    }
  }

  return {
    get isIdle() {
      return mount.unpublished.overlay.size === 0
    },
    run: failingOnce(async now => {
      await endForgotten(mount)
      const failure = await settleCovers(now)
      await sweep(now)
      if (failure) throw failure.error
    }),
  }
}

async function isLocked({ locks, site }: Mount, path: string): Promise<boolean> {
  return (await locks.on(site.store.name, path)).length > 0
}

/** Whether something stands where there is a cover, which then means nothing any more. */
function isShown(node: Node | undefined): boolean {
  return node?.place.isPublished === true && !isCollection(node)
}

/**
 * Writes a draft as the empty document that it is; what is refused is dropped (DAV-62). A draft that something newer
 * covers, or whose collection is gone, is dropped as well, as one that nobody was told of. Nothing happens where an author
 * has come first, or another process: what triggers do is done once.
 */
async function settleDraft(mount: Mount, draft: Resource, triggers: MountTriggers | undefined): Promise<void> {
  const { unpublished } = mount
  const { leases, store } = unpublished.site
  await leases.hold(store.name, [draft.path], async () => {
    if (unpublished.stands(draft)) await publishDraft(mount, draft, triggers)
  })
}

async function publishDraft(mount: Mount, draft: Resource, triggers: MountTriggers | undefined): Promise<void> {
  const { path, type, language, shown, version } = draft
  const node = await mount.view.find(path)
  const { scope, raw, depth, begun } = await publishingOf(mount, path)
  if (begun) return drop(mount, draft, async () => (await publishingOf(mount, path)).begun)
  let isOvertaken = false
  /** As they are when nobody sets any more. */
  let properties: readonly Property[] = []
  if (node?.place.isEmpty && (await mount.view.find(parentOf(path)))) {
    const { isNew } = node.place
    const check = async (file: StoredFile | undefined) => {
      if (file && file.resource.version > version)
        throw new Fault(412, 'PreconditionFailed', 'The document was written meanwhile.')
      // Properties and times that an author has set meanwhile leave the version as it is.
      const isAsFound = mount.unpublished.coverAt(path) === draft && (file === undefined) === isNew
      isOvertaken = !isAsFound || (await isLocked(mount, path))
      if (isOvertaken) throw new Fault(412, 'PreconditionFailed', 'An author has come back to the draft.')
      properties = isNew ? await mount.view.properties(node) : []
    }
    const facts = { ...(language !== undefined && { language }), ...(shown !== undefined && { shown }) }
    const allowance = oneAllowance(mount.site)
    const judging = { raw, configure: scope.configure, allowance }
    const write = {
      path,
      type,
      conditions: undefined,
      check,
      cause: {},
      needsParent: true,
      properties: () => properties,
      ...facts,
      ...judging,
    }
    const publish = (body: BodySource, alongside?: Alongside) =>
      perform(
        putDocument(mount.site, { ...write, alongside }, () => fullAuthority),
        body,
      )
    const headers = { 'content-type': type, ...(language !== undefined && { 'content-language': language }) }
    const settling = { mount, path, headers, scope, depth, allowance }
    await unlessRefused(triggers && !raw ? triggers.ofSettling(settling, publish) : publish(NO_BODY))
  }
  if (!isOvertaken) await drop(mount, draft, async () => !(await isLocked(mount, path)))
}

/** Drops a draft when no request goes on for it any more, unless somebody was told of it, or has come back to it. */
function drop(mount: Mount, draft: Resource, may: () => Promise<boolean>): Promise<void> {
  const { leases, store } = mount.site
  return leases.hold(store.name, [draft.path], async () => {
    if (await may()) await endCover(mount, draft)
  })
}
