/** Changes of what the mount keeps unpublished: made under the leases of their paths, without the pipeline. */

import { randomUUID } from 'node:crypto'
import { Fault } from '../../pipeline/fault.ts'
import { absent } from '../../pipeline/refusals.ts'
import { memoryBlob } from '../../pipeline/store/blobs.ts'
import type { Resource } from '../../pipeline/store/resource.ts'
import { nameTaken } from '../../pipeline/write/places.ts'
import { describeChange, type PropertyPatch } from '../../pipeline/write/properties.ts'
import { type Anew, REMEMBERED, type Remembered, unpublishedPut } from '../../pipeline/write/unpublished.ts'
import { checkLaterLoss } from '../access/later-changes.ts'
import type { Exchange } from '../exchange.ts'
import { afterCommit } from '../locks/after-commit.ts'
import type { Mount } from '../mount.ts'
import { parentOf } from './overlay.ts'
import { isCollection, type Node, type Place, type Relocation, type Stored } from './place.ts'
import { putOffRemoval } from './removals.ts'
import { requireSiteParent } from './site-parents.ts'

/** Removes something under the lease of its path. */
export function removing(
  { mount }: Exchange,
  path: string,
  check: Relocation['check'] | undefined,
  remove: () => Promise<unknown>,
): Promise<void> {
  const { leases, store } = mount.site
  return leases.hold(store.name, [path], async () => {
    await check?.()
    await remove()
  })
}

/** Moves or copies something under the leases of both paths. */
function relocating(
  { mount }: Exchange,
  { source, to, check }: Relocation,
  work: () => Promise<unknown>,
): Promise<void> {
  const { leases, store } = mount.site
  return leases.hold(store.name, [source.resource.path, to], async () => {
    await check()
    await work()
  })
}

/**
 * Gives one helper, or a draft over nothing, another name of that kind, or copies it there.
 *
 * @param then what follows before anybody else has the leases
 * @throws Fault 404 when it is gone, 409 `ParentDirectoryMissing`
 */
export function transferring(exchange: Exchange, relocation: Relocation, then?: () => Promise<void>): Promise<void> {
  const { mount } = exchange
  const { op, source, to, toHelper, deep } = relocation
  const { path: from } = source.resource
  return relocating(exchange, relocation, async () => {
    const isCopy = op === 'copy'
    if (!toHelper) await checkLaterLoss(exchange, to)
    const anew = source.place.isNew ? anewBy(exchange, isCopy ? BEGUN : {}) : undefined
    if (!(await mount.unpublished.transfer(op, from, to, deep, anew))) throw absent()
    if (mount.names.of(parentOf(to))) return
    await requireSiteParent(mount, to, expect =>
      op === 'move' ? { op, from: to, to: from, expect, expectTo: 'absent' } : { op: 'delete', path: to, expect },
    )
    await confirmDraft(mount, source.place, to)
    await then?.()
  })
}

/** Names and values by which a draft says whether the request that makes it was carried out: nothing else is published. */
export const BEGUN = { begun: 'true' }
const MADE = { begun: 'false' }

/** Has a draft published later, if nobody fills it: whoever made it is told now that it is there. */
export async function isMade({ unpublished }: Mount, draft: Resource | undefined): Promise<void> {
  if (draft) await unpublished.site.store.derive(draft, MADE)
}

/**
 * Whoever is told of a draft over nothing finds it published later, also where the request that has begun it never ended.
 *
 * @param place of what stands at the path
 */
export async function confirmDraft(mount: Mount, place: Place, path: string): Promise<void> {
  const { store } = mount.unpublished.site
  if (place.isNew && (await store.derived(path, 'begun')) === BEGUN.begun) await isMade(mount, await store.find(path))
}

/** What a draft is published by, of who makes it: triggers of the site write with what its author may (REA-61). */
export function remembered({ author, raw, depth }: Pick<Exchange, 'author' | 'raw' | 'depth'>): Remembered {
  const { credential, scope } = author
  return {
    ...(!scope.whole && { scope: JSON.stringify(credential.scope) }),
    ...(raw && { raw: 'true' }),
    ...(depth !== undefined && { depth: String(depth) }),
  }
}

/** What is remembered of somebody else from now on; whether a request was carried out stays known. */
export function anewBy(exchange: Exchange, begun: Remembered = {}): Anew {
  const { begun: _, ...names } = REMEMBERED
  const derived = { ...(!exchange.configure && { configure: 'false' }), ...remembered(exchange), ...begun }
  return { derived, dropped: Object.keys(names).filter(name => !(name in derived)) }
}

function changedMeanwhile(): Fault {
  return new Fault(409, 'Conflict', 'Something in the collection was changed meanwhile. Nothing was moved.')
}

export function occupied(): Fault {
  return new Fault(409, 'Conflict', 'Work files cannot take the place of a collection. Delete it first.')
}

/** Changes the properties of something unpublished. @throws Fault 404 when it is gone */
export async function describeUnpublished({ unpublished }: Stored, path: string, patch: PropertyPatch): Promise<void> {
  if (!(await unpublished.commit([describeChange(path, patch)]))) throw absent()
}

/**
 * The beginning of a save: what is on the site is kept under a helper name, and is gone from the site (DAV-72).
 *
 * @returns whether something was replaced
 * @throws Fault 507
 */
export async function toHelperName(exchange: Exchange, relocation: Relocation): Promise<boolean> {
  const { source, replaced, to } = relocation
  exchange.mount.unpublished.requireRoom(to)
  if (replaced && !replaced.place.isHelper) throw occupied()
  if (isCollection(source)) await treeToHelperName(exchange, relocation)
  else await fileToHelperName(exchange, relocation)
  return replaced !== undefined
}

async function fileToHelperName(exchange: Exchange, relocation: Relocation): Promise<void> {
  const { op, source, to } = relocation
  const { mount } = exchange
  const from = source.resource.path
  await relocating(exchange, relocation, async () => {
    // It may have been written since it was found.
    const node = await mount.view.find(from)
    if (!node || isCollection(node)) throw absent()
    if (op === 'move') await checkLaterLoss(exchange, from)
    await keepAside(exchange, node, to, await mount.view.find(to))
    if (!mount.names.of(parentOf(to)))
      await requireSiteParent(mount, to, expect => ({ op: 'delete', path: to, expect }))
    if (op === 'copy') return
    if (node.place.isNew) await mount.unpublished.remove(from)
    else await putOffRemoval(exchange, from)
  })
}

/**
 * The same for a collection, with everything that the mount shows in it (DAV-73). It is put together out of sight and takes the
 * helper name in one commit, so that whoever is stopped meanwhile leaves there what was before, or the whole. If the original
 * cannot go, or is not what was kept any more, what stood under the helper name stands there again.
 */
async function treeToHelperName(exchange: Exchange, relocation: Relocation): Promise<void> {
  const { op, source, to, deep, replaced, check } = relocation
  const { mount } = exchange
  const { unpublished, view } = mount
  const { path: from } = source.resource
  await check()
  if (op === 'move') await checkLaterLoss(exchange, from)
  const standing = replaced?.resource.path
  const [made, before] = [outOfSight('/'), outOfSight(standing?.endsWith('/') ? '/' : '')]
  let isThere = false
  try {
    const kept = await sumsOf(mount, from)
    await unpublished.makeCollection(made, await view.properties(source))
    if (deep)
      for await (const node of shownBelow(mount, from)) {
        const path = made + node.resource.path.slice(from.length)
        if (node.resource.kind === 'collection') await unpublished.makeCollection(path, await view.properties(node))
        else await keepAside(exchange, node, path)
      }
    isThere = await unpublished.replace(
      made,
      to,
      standing === undefined ? undefined : { path: standing, aside: before },
    )
    if (!isThere) throw changedMeanwhile()
    if (op === 'move')
      await source.place.remove(exchange, source, async () => {
        await check()
        if ((await sumsOf(mount, from)) !== kept) throw changedMeanwhile()
      })
  } catch (error) {
    if (isThere && standing !== undefined) await unpublished.replace(before, standing, { path: to, aside: made })
    await unpublished.remove(isThere && standing === undefined ? to : made)
    throw error
  }
  if (standing !== undefined) await afterCommit(mount, () => unpublished.remove(before))
}

/** A name that no listing shows. @param end of a collection: a slash */
function outOfSight(end: '/' | ''): string {
  return `/._${randomUUID().slice(0, 8)}${end}`
}

/** What tells whether anything below a collection of the site, or kept unpublished there, has changed. */
async function sumsOf({ site, unpublished }: Mount, collection: string): Promise<string> {
  const found = await Promise.all([site, unpublished.site].map(({ store }) => store.find(collection)))
  return found.map(resource => resource?.members).join()
}

/** What the mount shows below a collection of the site, with what is not listed; collections before what is in them. */
async function* shownBelow({ site, unpublished, view }: Mount, collection: string): AsyncGenerator<Node> {
  for await (const { path } of site.store.walk(collection, { collections: true })) {
    const node = await view.find(path)
    if (node && !node.place.isHelper) yield node
  }
  for await (const { path } of unpublished.site.store.walk(collection, { collections: true })) {
    const node = await view.find(path)
    if (node && (node.place.isHelper || node.place.isNew)) yield node
  }
}

/** @param replaced what stands at the helper name: it goes in the same commit */
async function keepAside({ mount }: Exchange, source: Node, path: string, replaced?: Node): Promise<void> {
  const { resource, place } = source
  const file = place.isEmpty ? undefined : await place.partOf(mount).find(resource.path)
  const body = file?.body ?? { bytes: new Uint8Array() }
  const content =
    'bytes' in body ? memoryBlob(body.bytes) : await mount.blobSource(body.blob).stage(Number.POSITIVE_INFINITY)
  const { type, language, shown } = resource
  const properties = await mount.view.properties(source)
  const changes = unpublishedPut({
    path,
    content,
    type,
    properties,
    ...(language !== undefined && { language }),
    ...(shown !== undefined && { shown }),
  })
  if (replaced?.place.isHelper) changes.unshift({ op: 'delete', path: replaced.resource.path })
  if (!(await mount.unpublished.commit(changes))) throw nameTaken()
}
