/** Helper files: what desktop systems and editors keep for themselves, apart from the site (DAV-70 to DAV-75). */

import { fullAuthority } from '../../pipeline/authority.ts'
import { type BodySource, memoryBody, NO_BODY } from '../../pipeline/body.ts'
import { Fault } from '../../pipeline/fault.ts'
import { kindOf, storedType } from '../../pipeline/http/media.ts'
import { perform } from '../../pipeline/operation.ts'
import { absent } from '../../pipeline/refusals.ts'
import type { StoredFile } from '../../pipeline/site/stored-file.ts'
import type { Expectation } from '../../pipeline/store/commit.ts'
import type { Resource } from '../../pipeline/store/resource.ts'
import { ZERO } from '../../pipeline/store/tags.ts'
import { makeCollection, removeTree } from '../../pipeline/write/collection.ts'
import { deleteDocument, putDocument } from '../../pipeline/write/document.ts'
import { bytesOf } from '../../pipeline/write/new-version.ts'
import { scopeAuthority } from '../access/scope-authority.ts'
import type { Exchange } from '../exchange.ts'
import { afterCommit } from '../locks/after-commit.ts'
import type { Mount } from '../mount.ts'
import { act, acting } from '../requests/acting.ts'
import { storeDraft } from './drafts.ts'
import { isCollection, type Node, type Place, type Relocation } from './place.ts'
import { finishRemoval, unlessRefused } from './removals.ts'
import { describeUnpublished, occupied, removing, transferring } from './unpublished-changes.ts'

export const helperPlace: Place = {
  isPublished: false,
  isHelper: true,
  isEmpty: false,
  isNew: false,
  partOf: ({ unpublished }) => unpublished.site,
  propertiesIn: ({ unpublished }) => unpublished.site,
  describe: describeUnpublished,
  remove: (exchange, { resource: { path } }, check) =>
    removing(exchange, path, check, async () => {
      if (!(await exchange.mount.unpublished.commit([{ op: 'delete', path, expect: 'present' }]))) throw absent()
    }),
  async relocate(exchange, relocation) {
    await (relocation.toHelper ? betweenHelpers(exchange, relocation) : fromHelper(exchange, relocation))
    return relocation.replaced !== undefined
  },
}

async function betweenHelpers(exchange: Exchange, relocation: Relocation): Promise<void> {
  const { replaced } = relocation
  if (replaced && !replaced.place.isHelper) throw occupied()
  await transferring(exchange, relocation)
}

/** The end of a save: the content is written at the destination like any other (DAV-72). */
async function fromHelper(exchange: Exchange, relocation: Relocation): Promise<void> {
  const { op, source, to, replaced, check } = relocation
  if (replaced && (isCollection(replaced) || isCollection(source))) throw occupied()
  const expect = isCollection(source)
    ? await publishTree(exchange, relocation)
    : await publish(exchange, source, to, replaced, check)
  const { mount } = exchange
  const { path } = source.resource
  // Whatever was written there meanwhile has not been published, and stays.
  if (op === 'move') await afterCommit(mount, () => mount.unpublished.commit([{ op: 'delete', path, expect }]))
}

/**
 * Writes a helper's bytes at an ordinary path, as the PUT that this stands for (DAV-72).
 *
 * @param stored told of the draft or file that comes to stand there
 * @returns the version of the helper
 */
async function publish(
  exchange: Exchange,
  source: Node,
  to: string,
  replaced: Node | undefined,
  check: Relocation['check'],
  stored?: (made: Made) => void,
): Promise<Expectation> {
  const { mount, author } = exchange
  const file = await mount.unpublished.site.find(source.resource.path)
  if (!file) throw absent()
  const type = storedType(to, typeFor(file, to, replaced))
  const { version, language } = file.resource
  const facts = { type, ...(language !== undefined && { language }) }
  const authority = scopeAuthority(author.scope)
  const properties = await mount.view.properties(source)
  if (kindOf(type) !== 'blob' && file.resource.size === 0) {
    await mount.site.leases.hold(mount.site.store.name, [to], async () => {
      await check()
      const draft = await storeDraft(exchange, to, { ...facts, properties }, true)
      if (draft) stored?.({ resource: draft, isPublished: false })
    })
    return version
  }
  const body: BodySource = {
    bytes: async cap => withinCap(await bytesOf(file.body), cap),
    stage: cap => ('bytes' in file.body ? memoryBody(file.body.bytes) : mount.blobSource(file.body.blob)).stage(cap),
  }
  const write = {
    path: to,
    conditions: undefined,
    check,
    cause: {},
    properties: () => properties,
    needsParent: true,
    stored: (resource: Resource | undefined) => resource && stored?.({ resource, isPublished: true }),
    ...facts,
  }
  const saving = { ...acting(exchange, 'PUT', to, { 'content-type': type }), raw: exchange.raw, body }
  await act(async ({ raw, configure, allowance, alongside, body: shown }) => {
    const put = putDocument(mount.site, { ...write, raw, configure, allowance, alongside }, () => authority)
    return perform(put, shown)
  }, saving)
  await afterCommit(mount, () => mount.unpublished.remove(to))
  return version
}

/** What is known of the type: names of work files tell nothing, so that the name of the destination counts. */
function typeFor({ resource }: Pick<Node, 'resource'>, to: string, replaced: Node | undefined): string | undefined {
  if (resource.type !== UNKNOWN) return resource.type
  return storedType(to, undefined) === UNKNOWN ? replaced?.resource.type : undefined
}

/** What a file gets that nothing is known of (HTTP-20). */
const UNKNOWN = 'application/octet-stream'

function withinCap(bytes: Uint8Array, cap: number): Uint8Array {
  if (bytes.length <= cap) return bytes
  throw new Fault(413, 'PayloadTooLarge', `The file is larger than the ${cap} bytes allowed here.`)
}

/**
 * Writes everything in a helper collection below an ordinary path, where nothing stands yet; nothing of it stays if it fails.
 * What has a helper name there as well stays unpublished.
 *
 * @returns its state before
 */
async function publishTree(exchange: Exchange, { source, to, deep, check }: Relocation): Promise<Expectation> {
  const { mount } = exchange
  const { unpublished, site, view } = mount
  const { store } = unpublished.site
  const from = source.resource.path
  const members = (await store.find(from))?.members ?? ZERO
  const mark = unpublished.coverAt(to.slice(0, -1))
  if (mark) await finishRemoval(mount, mark)
  const made: Made[] = []
  const note = (resource: Resource | undefined, isPublished: boolean) =>
    resource && made.push({ resource, isPublished })
  note(await makeCollection(site, to, await view.properties(source), check), true)
  try {
    if (deep)
      for await (const resource of store.walk(from, { collections: true })) {
        const node = { resource, place: helperPlace }
        const path = to + resource.path.slice(from.length)
        const isHelper = await view.isHelper(path)
        if (!isCollection(node)) {
          if (!isHelper)
            await publish(
              exchange,
              node,
              path,
              undefined,
              async () => undefined,
              each => made.push(each),
            )
          else if (!(await unpublished.transfer('copy', resource.path, path, false))) throw absent()
        } else if (isHelper) await unpublished.makeCollection(path, await view.properties(node))
        else note(await makeCollection(site, path, await view.properties(node)), true)
        if (isHelper) note(await store.find(path), false)
      }
  } catch (error) {
    for (const each of made.reverse()) await takeBack(mount, each)
    throw error
  }
  return { members }
}

/** What has come to stand somewhere: on the site, or beside it as drafts and helpers do. */
interface Made {
  resource: Resource
  isPublished: boolean
}

/** Removes what was made, unless somebody else has written to it, or into it, meanwhile, or it is gone already. */
async function takeBack({ site, unpublished }: Mount, { resource, isPublished }: Made): Promise<void> {
  const { path, version, kind } = resource
  const isCollection = kind === 'collection'
  if (!isPublished) {
    await unpublished.commit([{ op: 'delete', path, expect: isCollection ? { members: ZERO } : version }])
    return
  }
  const others = () => new Fault(412, 'PreconditionFailed', 'Somebody else has written here in the meantime.')
  if (!isCollection) {
    const check = (file: StoredFile | undefined) => {
      if (file?.resource.version !== version) throw others()
    }
    const removal = deleteDocument(site, { path, conditions: undefined, check, cause: {} }, () => fullAuthority)
    await unlessRefused(perform(removal, NO_BODY))
    return
  }
  const check = async () => {
    const members = (await site.store.find(path))?.members ?? ZERO
    if (members !== ZERO || unpublished.overlay.touches(path)) throw others()
  }
  await unlessRefused(removeTree(site, { path, cause: {}, check }))
  // Drafts and helpers were beside it in a collection of that name.
  await unpublished.commit([{ op: 'delete', path, expect: { members: ZERO } }])
}
