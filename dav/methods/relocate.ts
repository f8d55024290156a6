/**
 * Carrying out a COPY or MOVE between the places where the mount keeps things: the site, drafts, and helper files
 * (DAV-62, DAV-72, DAV-73).
 */

import { type BodySource, memoryBlob, memoryBody } from '../../pipeline/body.ts'
import { Fault } from '../../pipeline/fault.ts'
import { kindOf, storedType } from '../../pipeline/http/media.ts'
import { perform } from '../../pipeline/operation.ts'
import { absent } from '../../pipeline/refusals.ts'
import { makeCollection, removeTree, transferTree } from '../../pipeline/write/collection.ts'
import { putDocument } from '../../pipeline/write/document.ts'
import { bytesOf } from '../../pipeline/write/new-version.ts'
import { unpublishedPut } from '../../pipeline/write/unpublished.ts'
import { scopeAuthority } from '../access/scope-authority.ts'
import type { Exchange } from '../exchange.ts'
import { afterCommit } from '../locks/after-commit.ts'
import { storeDraft } from '../places/drafts.ts'
import { putOffRemoval } from '../places/removals.ts'
import { isCollection, type Node } from '../places/view.ts'
import { removeNode } from './delete.ts'

export interface Relocation {
  op: 'copy' | 'move'
  source: Node
  /** In the form of the source: a collection's ends in a slash. */
  to: string
  deep: boolean
  /** What stands at the destination, of either form. */
  replaced: Node | undefined
  /** False for `Overwrite: F`. */
  overwrite: boolean
  /** Conditions on the source, and locks of both ends: asked again under the leases of the paths. */
  check: () => Promise<void>
}

/**
 * @throws Fault of the pipeline when it refuses the whole; then nothing has changed
 */
export async function transfer(exchange: Exchange, relocation: Relocation): Promise<void> {
  const { source, to } = relocation
  const toHelper = await exchange.mount.view.isHelper(to)
  if (source.keeper === 'helper') await (toHelper ? betweenHelpers : fromHelper)(exchange, relocation)
  else if (toHelper) await toHelperName(exchange, relocation)
  else if (source.keeper === 'draft' && !source.published) await draftAlone(exchange, relocation)
  else await onSite(exchange, relocation)
}

/** From the site to the site; drafts and helper files go along. */
async function onSite({ mount, raw, allowance }: Exchange, relocation: Relocation): Promise<void> {
  const { op, source, to, deep, overwrite, check } = relocation
  const { path: from } = source.resource
  const { site, unpublished } = mount
  await transferTree(site, { op, from, to, deep, overwrite, check, cause: {}, raw, allowance })
  await afterCommit(mount, () => unpublished.takeAlong(op, from, to, deep))
}

/** Unpublished resources change places only, without the pipeline. */
function unpublishedOnly(
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

/** An empty file that was never published stays one under its new name. */
async function draftAlone(exchange: Exchange, relocation: Relocation): Promise<void> {
  const { op, source, to, replaced, check } = relocation
  if (replaced && isCollection(replaced)) await removeNode(exchange, replaced, check)
  await unpublishedOnly(exchange, relocation, async () => {
    if (!(await exchange.mount.unpublished.transfer(op, source.resource.path, to, false))) throw absent()
  })
}

function betweenHelpers(exchange: Exchange, relocation: Relocation): Promise<void> {
  const { op, source, to, deep, replaced } = relocation
  if (replaced && replaced.keeper !== 'helper') throw occupied()
  return unpublishedOnly(exchange, relocation, async () => {
    if (!(await exchange.mount.unpublished.transfer(op, source.resource.path, to, deep))) throw absent()
  })
}

/** The end of a save: the content is written at the destination like any other (DAV-72). */
async function fromHelper(exchange: Exchange, { op, source, to, replaced, check }: Relocation): Promise<void> {
  if (replaced && (isCollection(replaced) || isCollection(source))) throw occupied()
  if (isCollection(source)) await publishTree(exchange, source, to, check)
  else await publish(exchange, source, to, replaced, check)
  if (op === 'move') await afterCommit(exchange.mount, () => removeNode(exchange, source))
}

function occupied(): Fault {
  return new Fault(409, 'Conflict', 'Work files cannot take the place of a collection. Delete it first.')
}

/** Writes a helper's bytes at an ordinary path. */
async function publish(
  exchange: Exchange,
  source: Node,
  to: string,
  replaced: Node | undefined,
  check: Relocation['check'],
): Promise<void> {
  const { mount, author } = exchange
  const type = storedType(to, typeFor(source, to, replaced))
  const { language } = source.resource
  const keeper = mount.view.keeperOf(source)
  const held = await keeper.find(source.resource.path)
  if (!held) throw absent()
  const facts = { type, ...(language !== undefined && { language }) }
  const authority = scopeAuthority(author.scope)
  if (kindOf(type) !== 'blob' && held.resource.size === 0) {
    await mount.site.leases.hold(mount.site.store.name, [to], async () => {
      await check()
      await storeDraft(mount, to, facts)
    })
    return
  }
  const body: BodySource = {
    bytes: async cap => withinCap(await bytesOf(held.body), cap),
    stage: cap => ('bytes' in held.body ? memoryBody(held.body.bytes) : mount.blobSource(held.body.blob)).stage(cap),
  }
  const properties = await mount.view.properties(source)
  const { raw, allowance } = exchange
  const write = { path: to, conditions: undefined, check, cause: {}, raw, allowance, properties, ...facts }
  await perform(
    putDocument(mount.site, write, () => authority),
    body,
  )
  await afterCommit(mount, () => mount.unpublished.remove(to))
}

/** What is known of the type: names of work files tell nothing, so that the name of the destination counts. */
function typeFor({ resource }: Node, to: string, replaced: Node | undefined): string | undefined {
  if (resource.type !== UNKNOWN) return resource.type
  return storedType(to, undefined) === UNKNOWN ? replaced?.resource.type : undefined
}

/** What a file gets that nothing is known of (HTTP-20). */
const UNKNOWN = 'application/octet-stream'

function withinCap(bytes: Uint8Array, cap: number): Uint8Array {
  if (bytes.length <= cap) return bytes
  throw new Fault(413, 'PayloadTooLarge', `The file is larger than the ${cap} bytes allowed here.`)
}

/** Writes everything in a helper collection below an ordinary path, where nothing stands yet; nothing stays if it fails. */
async function publishTree(exchange: Exchange, source: Node, to: string, check: Relocation['check']): Promise<void> {
  const { mount } = exchange
  const from = source.resource.path
  await makeCollection(mount.site, to, [], check)
  try {
    for await (const resource of mount.view.keeperOf(source).store.walk(from, { collections: true })) {
      const path = to + resource.path.slice(from.length)
      if (resource.kind === 'collection') await makeCollection(mount.site, path)
      else await publish(exchange, { resource, keeper: 'helper' }, path, undefined, async () => undefined)
    }
  } catch (error) {
    await removeTree(mount.site, { path: to, cause: {} })
    throw error
  }
}

/** The beginning of a save: what is on the site is kept under a helper name, and is gone from the site (DAV-72). */
async function toHelperName(exchange: Exchange, relocation: Relocation): Promise<void> {
  const { op, source, to, replaced } = relocation
  const { mount } = exchange
  if (replaced && replaced.keeper !== 'helper') throw occupied()
  if (isCollection(source)) return treeToHelperName(exchange, relocation)
  const from = source.resource.path
  await unpublishedOnly(exchange, relocation, async () => {
    if (replaced) await mount.unpublished.remove(replaced.resource.path)
    await keepAside(exchange, source, to)
    if (op === 'copy') return
    if (source.keeper === 'draft' && !source.published) await mount.unpublished.remove(from)
    else await putOffRemoval(mount, from)
  })
}

/** The same for a collection; nothing stays under the helper name if the original cannot go. */
async function treeToHelperName(exchange: Exchange, relocation: Relocation): Promise<void> {
  const { op, source, to, deep, replaced, check } = relocation
  const { unpublished, site, view } = exchange.mount
  const from = source.resource.path
  await check()
  if (replaced) await removeNode(exchange, replaced)
  try {
    await unpublished.makeCollection(to, await view.properties(source))
    if (deep)
      for await (const resource of site.store.walk(from, { collections: true })) {
        const path = to + resource.path.slice(from.length)
        if (resource.kind === 'collection') await unpublished.makeCollection(path, [])
        else await keepAside(exchange, { resource, keeper: 'site' }, path)
      }
    if (op === 'move') await removeNode(exchange, source, check)
  } catch (error) {
    await unpublished.remove(to)
    throw error
  }
}

async function keepAside({ mount }: Exchange, source: Node, path: string): Promise<void> {
  const { resource } = source
  const held = source.keeper === 'draft' ? undefined : await mount.view.keeperOf(source).find(resource.path)
  const body = held?.body ?? { bytes: new Uint8Array() }
  const content =
    'bytes' in body ? memoryBlob(body.bytes) : await mount.blobSource(body.blob).stage(Number.POSITIVE_INFINITY)
  const { type, language, shown } = resource
  const properties = await mount.view.properties(source)
  await mount.unpublished.commit(
    unpublishedPut({
      path,
      content,
      type,
      properties,
      ...(language !== undefined && { language }),
      ...(shown !== undefined && { shown }),
    }),
  )
}
