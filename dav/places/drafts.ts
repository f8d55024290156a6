/** Drafts: empty HTML and XML files that wait for their content, seen by nobody but the mount (DAV-60 to DAV-62). */

import { Fault } from '../../pipeline/fault.ts'
import { kindOf, storedType } from '../../pipeline/http/media.ts'
import { perform } from '../../pipeline/operation.ts'
import type { Beside } from '../../pipeline/site/commit-row.ts'
import type { Change } from '../../pipeline/store/commit.ts'
import type { NoteStore } from '../../pipeline/store/notes.ts'
import { isWithin, pathsIn } from '../../pipeline/store/paths.ts'
import type { Property, Resource } from '../../pipeline/store/resource.ts'
import { TurnsBetween } from '../../pipeline/tree/steps.ts'
import { putDocument } from '../../pipeline/write/document.ts'
import { ensureParents, nameTaken, parentMissing } from '../../pipeline/write/places.ts'
import { mayConfigureBy, type UnpublishedFile, unpublishedPut } from '../../pipeline/write/unpublished.ts'
import { checkLaterLoss } from '../access/later-changes.ts'
import { createScope, type Scope } from '../access/scope.ts'
import { checkWritable, scopeAuthority } from '../access/scope-authority.ts'
import type { Exchange } from '../exchange.ts'
import { afterCommit } from '../locks/after-commit.ts'
import type { Mount } from '../mount.ts'
import { act, acting } from '../requests/acting.ts'
import { parentOf } from './overlay.ts'
import { finishRemoval, isRemoval } from './removals.ts'
import { requireSiteParent } from './site-parents.ts'
import { BEGUN, isMade, remembered } from './unpublished-changes.ts'

const NOTHING = new Uint8Array()

/** What a draft remembers of the request that made it. */
export interface DraftFacts {
  type: string
  language?: string | undefined
  /** Unix seconds. */
  shown?: number | undefined
  /** Dead properties that come along. */
  properties?: readonly Property[]
}

/**
 * Stores a draft, or renews it. One that nothing came before is begun first: where the request fails after all, it is taken
 * back, and nothing will ever be published of it, whether that can be done or not.
 *
 * @param needsParent its collection must exist; otherwise missing collections are made (DAV-14)
 * @returns its state
 * @throws Fault 409 `ParentDirectoryMissing`, 403 over configuration that the author must leave alone, 507
 */
export async function storeDraft(
  exchange: Pick<Exchange, 'mount' | 'configure' | 'author' | 'raw' | 'depth'>,
  path: string,
  facts: DraftFacts,
  needsParent: boolean,
): Promise<Resource | undefined> {
  const { type, language, shown, properties = [] } = facts
  const { mount } = exchange
  mount.unpublished.requireRoom(path)
  await checkLaterLoss(exchange, path)
  const before = mount.unpublished.coverAt(path)
  const isRenewed = before !== undefined && !isRemoval(before) && !(await publishingOf(mount, path)).begun
  const changes = unpublishedPut({
    path,
    content: NOTHING,
    type,
    properties,
    configure: exchange.configure,
    remembered: { ...remembered(exchange), ...(!isRenewed && BEGUN) },
    ...(language !== undefined && { language }),
    ...(shown !== undefined && { shown }),
  })
  const draft = (await storeBeside(mount, path, changes, needsParent)).get(path)
  if (isRenewed) return draft
  try {
    await isMade(mount, draft)
  } catch (error) {
    // What was to go before stays on its way.
    if (draft && before === undefined) await afterCommit(mount, () => endCover(mount, draft))
    throw error
  }
  return draft
}

/** What a draft is published by later: triggers of the site write with what its author may (REA-61), or none run (DAV-7). */
export interface Publishing {
  scope: Scope
  raw: boolean
  depth: number
  /** Whoever made it was never told that it is stored: it is not published. */
  begun: boolean
}

/** @param path of a draft */
export async function publishingOf({ unpublished }: Pick<Mount, 'unpublished'>, path: string): Promise<Publishing> {
  const { store } = unpublished.site
  const patterns: unknown = JSON.parse((await store.derived(path, 'scope')) ?? '["/*"]')
  const known = Array.isArray(patterns) ? patterns.filter(pattern => typeof pattern === 'string') : []
  const scope = createScope(known, true, await mayConfigureBy(unpublished.site, path))
  const [raw, begun] = [await store.derived(path, 'raw'), await store.derived(path, 'begun')]
  const depth = Number((await store.derived(path, 'depth')) ?? 0)
  return { scope, depth, raw: raw === 'true', begun: begun === BEGUN.begun }
}

/**
 * Stores an unpublished file whose collection is one of the site.
 *
 * @param needsParent its collection must exist; otherwise missing collections are made (DAV-14)
 * @returns the new state by path
 * @throws Fault 409 `ParentDirectoryMissing`, and where a collection has come to have the name; then nothing is stored
 */
export async function storeBeside(
  mount: Mount,
  path: string,
  changes: Change[],
  needsParent: boolean,
): Promise<Map<string, Resource | undefined>> {
  if (!needsParent) await ensureParents(mount.site, path)
  const stored = await mount.unpublished.commit(changes)
  if (!stored) throw nameTaken()
  if (needsParent) {
    const made = stored.get(path)
    const isFirst = made?.created === made?.modified
    await requireSiteParent(mount, path, expect => ({ op: 'delete', path, expect }), isFirst)
  }
  return stored
}

/**
 * Stores a helper file: in a collection of the site, or in one that is a helper itself.
 *
 * @param needsParent as for drafts; a collection of helpers is never made
 * @returns its state
 * @throws Fault 409 `ParentDirectoryMissing`, 507
 */
export async function storeHelper(
  mount: Mount,
  file: UnpublishedFile,
  needsParent: boolean,
): Promise<Resource | undefined> {
  const { names, unpublished } = mount
  const { path } = file
  unpublished.requireRoom(path)
  const parent = parentOf(path)
  const inHelper = names.of(path)?.inCollection === true && names.of(parent) !== undefined
  if (!inHelper || !(await unpublished.site.store.find(parent)))
    return (await storeBeside(mount, path, unpublishedPut(file), needsParent || inHelper)).get(path)
  const stored = await unpublished.commit(unpublishedPut({ ...file, needsParent: true }))
  if (!stored) throw parentMissing(parent)
  return stored.get(path)
}

/** Ends a draft whose content has come, or the mark of a removal that something has replaced. */
export async function endCover(mount: Mount, { path, version }: Resource): Promise<void> {
  await mount.unpublished.commit([{ op: 'delete', path, expect: version }])
}

/**
 * What lies over files that a commit puts, or moves there: it goes with that. A draft that was overtaken would come back, and be
 * published as an empty document, where the document is removed or moved away, by whatever process (DAV-61).
 *
 * @param given what goes along with the commit anyway: places that it changes are left to it
 * @returns both; undefined where nothing is overtaken
 */
export function overtakenBy(
  { unpublished }: Pick<Mount, 'unpublished'>,
  { changes }: { changes: readonly Change[] },
  given?: Beside,
): Beside | undefined {
  if (unpublished.overlay.size === 0) return undefined
  const filled = new Set(
    changes.flatMap(change => (change.op === 'put' ? change.path : 'to' in change ? change.to : [])),
  )
  const named = given?.changes.flatMap(pathsIn) ?? []
  const ends = [...filled].flatMap((path): Change[] => {
    const cover = unpublished.coverAt(path)
    if (!cover || named.some(each => isWithin(path, each))) return []
    return [{ op: 'delete', path, expect: cover.version }]
  })
  if (ends.length === 0) return undefined
  return { site: unpublished.site, changes: [...ends, ...(given?.changes ?? [])], absent: given?.absent ?? [] }
}

/**
 * Ends what lies over files that a commit has written, where that came to be known when the commit was on its way.
 *
 * @param paths that the commit named
 */
export function endOvertaken(mount: Mount, paths: Iterable<string>): void {
  const { unpublished } = mount
  if (unpublished.overlay.size === 0) return
  const end = async (path: string) => {
    // What goes along with the commit is newer, once the index knows it.
    await Promise.all(unpublished.site.underWay.at(path))
    await endOutdated(mount, path)
  }
  for (const path of paths) if (unpublished.coverAt(path)) void afterCommit(mount, () => end(path))
}

/**
 * Ends what lies over a file, or over files of a collection, and is older than they are: under other names it would be newer.
 *
 * @param path of what is about to be moved or copied on the site
 */
export async function endOutdated(mount: Mount, path: string): Promise<void> {
  const { site, unpublished } = mount
  const turns = new TurnsBetween()
  for (const cover of await unpublished.coversOf(path)) {
    // All of them may be at hand.
    await turns.next()
    const file = await site.store.find(cover.path)
    if (file && file.version > cover.version) await endCover(mount, cover)
  }
}

/** A change of the site as the release before noted it, and the newest version of what was to follow it. */
interface LeftOver {
  op: 'remove' | 'move' | 'copy'
  /** Of a removal. */
  path: string
  /** Of all others. */
  from?: string
  newest: number
}

/**
 * Ends drafts that a server of the release before was still to take along with what it had moved or removed when it ended: they
 * would be published where that was. Its notes are kept for 30 days.
 */
export async function endLeftOver(mount: Mount, notes: Pick<NoteStore, 'notes' | 'changeNotes'>): Promise<void> {
  for (const { key, value } of await notes.notes(`follow/${encodeURIComponent(mount.site.store.name)}/`)) {
    const { op, path, from = path, newest } = JSON.parse(value) as LeftOver
    if (op !== 'copy')
      for (const cover of await mount.unpublished.coversOf(from))
        if (cover.version <= newest) await endCover(mount, cover)
    await notes.changeNotes([{ op: 'drop', key }])
  }
}

async function requireFree({ view }: Mount, path: string): Promise<void> {
  if (!(await view.find(path))) return
  throw new Fault(412, 'PreconditionFailed', 'Something was made at this address in the meantime.')
}

/**
 * Makes the empty resource that LOCK on an unmapped path promises (DAV-81): a draft, a helper file, or an empty blob.
 *
 * @throws Fault 412 when something was made there in the meantime, or what scope and pipeline refuse it with
 */
export async function makeEmpty(exchange: Exchange): Promise<void> {
  const { mount, author, path } = exchange
  checkWritable(author.scope, path)
  await requireFree(mount, path)
  const type = storedType(path, undefined)
  if (await mount.view.isHelper(path)) {
    await storeHelper(mount, { path, content: NOTHING, type }, true)
  } else if (kindOf(type) !== 'blob') {
    // A draft covers what is older: what a visitor stores in the meantime comes before it and is found, or after it.
    const { leases, store } = mount.site
    await leases.hold(store.name, [path], async () => {
      await requireFree(mount, path)
      await storeDraft(exchange, path, { type }, true)
    })
  } else {
    const authority = scopeAuthority(author.scope)
    const mark = mount.unpublished.coverAt(path)
    if (mark) await finishRemoval(mount, mark)
    // What a visitor stored in the meantime must not be emptied.
    const write = { path, type, conditions: { ifNoneMatch: '*' as const }, cause: {}, needsParent: true }
    // To triggers it is a PUT, as an empty document is when it is published.
    await act(
      ({ alongside, body }) =>
        perform(
          putDocument(mount.site, { ...write, alongside }, () => authority),
          body,
        ),
      { ...acting(exchange, 'PUT', path), raw: exchange.raw },
    )
  }
}
