/**
 * Carrying out a COPY or MOVE between the places where the mount keeps things: the site, drafts, and helper files
 * (DAV-62, DAV-72, DAV-73).
 */

import { absent } from '../pipeline/decide.ts'
import { Fault } from '../pipeline/fault.ts'
import { kindOf, storedType } from '../pipeline/http/media.ts'
import { makeCollection, removeTree, transferTree } from '../pipeline/write-collection.ts'
import { type BodySource, bytesOf, putDocument } from '../pipeline/write-document.ts'
import { scratchPut } from '../pipeline/write-scratch.ts'
import { removeNode } from './delete.ts'
import { endCover, storeDraft } from './drafts.ts'
import type { Exchange } from './exchange.ts'
import { memoryBlob, memoryBody } from './memory-body.ts'
import { putOffRemoval } from './removals.ts'
import { scopeAuthority } from './scope-authority.ts'
import { isCollection, type Node } from './view.ts'

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
  /** Conditions on the source, asked again inside the commit. */
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
async function onSite({ mount, raw }: Exchange, relocation: Relocation): Promise<void> {
  const { op, source, to, deep, replaced, overwrite, check } = relocation
  const { path: from } = source.resource
  const { site, beside } = mount
  // A draft over nothing is no resource of the site, so that it cannot be replaced there.
  const aloneAt = replaced?.keeper === 'draft' && !replaced.published
  if (aloneAt) await endCover(mount, replaced.resource)
  await transferTree(site, { op, from, to, deep, overwrite, check, cause: {}, raw })
  await beside.takeAlong(op, from, to, deep)
}

/** An empty file that was never published stays one under its new name. */
async function draftAlone(exchange: Exchange, { op, source, to, replaced }: Relocation): Promise<void> {
  if (replaced && isCollection(replaced)) await removeNode(exchange, replaced)
  if (!(await exchange.mount.beside.transfer(op, source.resource.path, to, false))) throw absent()
}

async function betweenHelpers({ mount }: Exchange, { op, source, to, deep, replaced }: Relocation): Promise<void> {
  if (replaced && replaced.keeper !== 'helper') throw occupied()
  if (!(await mount.beside.transfer(op, source.resource.path, to, deep))) throw absent()
}

/** The end of a save: the content is written at the destination like any other (DAV-72). */
async function fromHelper(exchange: Exchange, { op, source, to, replaced }: Relocation): Promise<void> {
  if (replaced && (isCollection(replaced) || isCollection(source))) throw occupied()
  if (isCollection(source)) await publishTree(exchange, source, to)
  else await publish(exchange, source, to, replaced)
  if (op === 'move') await removeNode(exchange, source)
}

function occupied(): Fault {
  return new Fault(409, 'Conflict', 'Work files cannot take the place of a collection. Delete it first.')
}

/** Writes a helper's bytes at an ordinary path. */
async function publish(exchange: Exchange, source: Node, to: string, replaced: Node | undefined): Promise<void> {
  const { mount, visitor } = exchange
  const type = storedType(to, typeFor(source, to, replaced))
  const { language } = source.resource
  const keeper = mount.view.keeperOf(source)
  const held = await keeper.find(source.resource.path)
  if (!held) throw absent()
  const facts = { type, ...(language !== undefined && { language }) }
  const authority = scopeAuthority(visitor.scope)
  if (kindOf(type) !== 'blob' && held.resource.size === 0) {
    await storeDraft(mount, to, facts)
    return
  }
  const body: BodySource = {
    bytes: async cap => withinCap(await bytesOf(held.body), cap),
    stage: cap => ('bytes' in held.body ? memoryBody(held.body.bytes) : mount.fileBody(held.body.file)).stage(cap),
  }
  const properties = await mount.view.properties(source)
  await putDocument(
    mount.site,
    { path: to, body, conditions: undefined, cause: {}, raw: exchange.raw, properties, ...facts },
    () => authority,
  )
  await mount.beside.remove(to)
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
async function publishTree(exchange: Exchange, source: Node, to: string): Promise<void> {
  const { mount } = exchange
  const from = source.resource.path
  await makeCollection(mount.site, to)
  try {
    for await (const resource of mount.view.keeperOf(source).store.walk(from, { collections: true })) {
      const path = to + resource.path.slice(from.length)
      if (resource.kind === 'collection') await makeCollection(mount.site, path)
      else await publish(exchange, { resource, keeper: 'helper' }, path, undefined)
    }
  } catch (error) {
    await removeTree(mount.site, { path: to, cause: {} })
    throw error
  }
}

/** The beginning of a save: what is on the site is kept under a helper name, and is gone from the site (DAV-72). */
async function toHelperName(exchange: Exchange, { op, source, to, deep, replaced }: Relocation): Promise<void> {
  const { mount } = exchange
  if (replaced && replaced.keeper !== 'helper') throw occupied()
  if (replaced) await removeNode(exchange, replaced)
  const from = source.resource.path
  if (!isCollection(source)) await keepAside(exchange, source, to)
  else {
    await mount.beside.makeCollection(to, await mount.view.properties(source))
    if (deep)
      for await (const resource of mount.site.store.walk(from, { collections: true })) {
        const path = to + resource.path.slice(from.length)
        if (resource.kind === 'collection') await mount.beside.makeCollection(path, [])
        else await keepAside(exchange, { resource, keeper: 'site' }, path)
      }
  }
  if (op === 'copy') return
  if (isCollection(source) || (source.keeper === 'draft' && !source.published)) await removeNode(exchange, source)
  else await putOffRemoval(mount, from)
}

async function keepAside({ mount }: Exchange, source: Node, path: string): Promise<void> {
  const { resource } = source
  const held = source.keeper === 'draft' ? undefined : await mount.view.keeperOf(source).find(resource.path)
  const body = held?.body ?? { bytes: new Uint8Array() }
  const content =
    'bytes' in body ? memoryBlob(body.bytes) : await mount.fileBody(body.file).stage(Number.POSITIVE_INFINITY)
  const { type, language, shown } = resource
  const properties = await mount.view.properties(source)
  await mount.beside.commit(
    scratchPut({
      path,
      content,
      type,
      properties,
      ...(language !== undefined && { language }),
      ...(shown !== undefined && { shown }),
    }),
  )
}
