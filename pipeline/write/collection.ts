/**
 * Writes to whole trees, as only the mount makes them: collections made and removed, files and collections copied and
 * moved. Each is one commit with an event for every file it touches, or nothing at all (DAV-8, EVT-28).
 */

import { type Cause, deleteEvent, putEvent, treeEvents } from '../events/mutation.ts'
import { Fault } from '../fault.ts'
import { kindOf, storedType } from '../http/media.ts'
import { LONGEST_PATH, overlongMember } from '../http/path.ts'
import { absent } from '../refusals.ts'
import type { Site, WrittenDocument } from '../site/site.ts'
import type { Change, CommitResult, Expectation, NewEvent } from '../store/commit.ts'
import { StoreError } from '../store/errors.ts'
import { parentOf } from '../store/paths.ts'
import type { Property, Resource } from '../store/resource.ts'
import { ZERO } from '../store/tags.ts'
import { decodeInTurn } from '../tree/document.ts'
import { atOnce } from '../tree/steps.ts'
import { commitJudged, commitLoop, type Judging, modelState, oneAllowance } from './commit.ts'
import { lossesUnderNewName } from './judge-document.ts'
import { consequencesOfLoss, judgeArrival, refuseEntangled } from './judge-tree.ts'
import { bytesOf, retyping, underNewName, writtenDocuments } from './new-version.ts'
import { atOneMoment } from './one-moment.ts'
import { mayNotReplace, nameTaken, parentMissing } from './places.ts'

/**
 * Makes an empty collection.
 *
 * @param path ends in `/`
 * @param properties dead properties that it begins with
 * @param check made under the lease of the path; it throws what the request is refused with
 * @returns its state
 * @throws Fault 405 where something stands already, 409 where the parent is missing
 */
export async function makeCollection(
  site: Site,
  path: string,
  properties: readonly Property[] = [],
  check?: () => Promise<void>,
): Promise<Resource | undefined> {
  const changes: Change[] = [{ op: 'collection', path }]
  if (properties.length > 0) changes.push({ op: 'describe', path, set: [...properties], remove: [] })
  const result = await site.leases.hold(site.store.name, [path], async () => {
    await check?.()
    return site.commit({ changes })
  })
  if (result.ok) return result.resources.get(path)
  if (result.reason === 'version')
    throw new Fault(405, 'DirectoryAlreadyExists', 'There is a directory of this name already.')
  if (result.reason === 'kind' && result.path === path)
    throw new Fault(405, 'MethodNotAllowed', 'There is a file of this name already.')
  throw parentMissing(parentOf(path))
}

export interface TreeRemoval extends Judging {
  /** Collection, ending in `/`. */
  path: string
  cause: Cause
  /** A further check inside the commit; it throws a Fault. */
  check?: () => Promise<void>
}

/**
 * Removes a collection with everything below it.
 *
 * @throws Fault 404 when it is gone
 */
export async function removeTree(
  site: Site,
  { path, cause, check, raw, configure, alongside, allowance = oneAllowance(site) }: TreeRemoval,
): Promise<void> {
  await site.leases.hold(site.store.name, [path], () =>
    commitLoop(async () => {
      const collection = await site.store.find(path)
      if (!collection) throw absent()
      await site.inStep()
      await check?.()
      const model = modelState(site, allowance, { raw, configure, alongside })
      const follows = await consequencesOfLoss(site, model, collection)
      const result = await commitJudged(
        site,
        model,
        {
          changes: [{ op: 'delete', path, expect: stateOf(collection), tell: treeEvents(site, cause) }],
          events: [],
          written: [],
        },
        follows,
      )
      return carriedOut(result)
    }),
  )
}

export interface Transfer extends Judging {
  op: 'move' | 'copy'
  /** A file, or a collection with its slash. */
  from: string
  /** In the same form as `from`. */
  to: string
  /** Copies of collections: with everything below. */
  deep: boolean
  /** Something that stands at the destination may be replaced. */
  overwrite: boolean
  /** What counts as gone may be replaced in any case. Asked of all that stands at the destination, before anything is done. */
  isGone?: (standing: Resource) => boolean
  cause: Cause
  /** A further check inside the commit; it throws a Fault. */
  check?: () => Promise<void>
}

/**
 * Copies or moves a file or a collection; what stood at the destination is removed first, in the same commit.
 *
 * @returns what was replaced, and the new state of the destination
 * @throws Fault 404 without a source, 409 without a parent of the destination, 412 where nothing may be replaced, 414
 *   where a member's path would become too long
 */
export async function transferTree(
  site: Site,
  transfer: Transfer,
): Promise<{ replaced: Resource | undefined; resource: Resource | undefined }> {
  const { from, to, allowance = oneAllowance(site) } = transfer
  return site.leases.hold(site.store.name, [from, to], () =>
    commitLoop(async () => {
      const { source, replaced } = await atOneMoment(site, [from, to], () => findEnds(site, transfer))
      // What is judged is what memory has: not less than was found.
      await site.inStep()
      const model = modelState(site, allowance, transfer)
      const { changes, written } = await changesOf(site, transfer, source, replaced)
      const events = await fileEvents(site, transfer, source, replaced)
      const newTree = written[0]?.newTree
      const retyped = newTree && atOnce(newTree())
      const arriving = await judgeArrival(site, model, { ...transfer, source, retyped })
      const isRenamed = transfer.op === 'move' && retyped !== undefined
      const losses = isRenamed ? await lossesUnderNewName(site, model, await site.find(from), retyped) : []
      const follows = await consequencesOfLoss(site, model, replaced, isRenamed ? { path: from, losses } : undefined)
      if (transfer.op === 'move') refuseEntangled(follows, from)
      const requirements = [...arriving, ...follows.requirements]
      const own = { changes, events, written }
      const result = await commitJudged(site, model, own, { ...follows, requirements })
      const done = carriedOut(result)
      return done && { replaced, resource: done.resources.get(to) }
    }),
  )
}

async function findEnds({ store }: Site, transfer: Transfer) {
  const { from, to } = transfer
  const source = await store.find(from)
  if (!source) throw absent()
  await transfer.check?.()
  if (transfer.op === 'copy') await proveReadable({ store }, source, transfer.deep)
  const replaced = await store.findNamed(to)
  if (replaced && !transfer.isGone?.(replaced) && !transfer.overwrite) throw mayNotReplace()
  return { source, replaced }
}

/** What must not have changed meanwhile. */
export function stateOf(resource: Resource): Expectation {
  return resource.kind === 'collection' ? { members: resource.members ?? ZERO } : resource.version
}

/** A conflict that another attempt can solve is undefined. */
function carriedOut(result: CommitResult): (CommitResult & { ok: true }) | undefined {
  if (result.ok) return result
  if (result.reason === 'missing') throw parentMissing(result.path)
  if (result.reason === 'length') throw overlongMember(result.path)
  if (result.reason === 'kind') throw nameTaken()
  return undefined
}

/**
 * A copy of what is lost would be acknowledged, and then be lost as well; one member refuses the whole (DAV-8).
 *
 * @throws Fault 500 that names what cannot be read
 */
export async function proveReadable({ store }: Pick<Site, 'store'>, source: Resource, deep: boolean): Promise<void> {
  if (source.kind === 'collection') {
    if (deep) for await (const member of store.keptApart(source.path)) await proveReadable({ store }, member, false)
    return
  }
  if (source.kind !== 'blob') return
  const body = await store.body(source)
  if (!body || !('blob' in body)) return
  try {
    await (await body.blob.open({ start: 0, end: 0 })).close()
  } catch (cause) {
    // Not now is not never.
    if (cause instanceof StoreError && cause.reason === 'busy') throw cause
    // Bytes go with their version; another attempt finds the next one.
    if ((await store.find(source.path))?.version !== source.version) return
    throw new Fault(500, 'Internal', `The bytes of ${source.path} are lost. Nothing was copied.`, { cause })
  }
}

async function changesOf(
  site: Site,
  { op, from, to, deep, cause }: Transfer,
  source: Resource,
  replaced: Resource | undefined,
): Promise<{ changes: Change[]; written: WrittenDocument[] }> {
  const changes: Change[] = []
  const sameForm = replaced?.path === to
  const ofTrees = source.kind === 'collection' || replaced?.kind === 'collection'
  const tell = ofTrees ? { tell: treeEvents(site, cause) } : {}
  if (replaced && !sameForm) changes.push({ op: 'delete', path: replaced.path, expect: stateOf(replaced), ...tell })
  const expectTo: Expectation = replaced && sameForm ? stateOf(replaced) : 'absent'
  const common = { from, to, expect: stateOf(source), expectTo, longest: LONGEST_PATH, ...tell }
  const isFile = source.kind !== 'collection'
  const arrival = isFile ? await underNewName(site, source, to) : undefined
  const typed = arrival && retyping(arrival)
  changes.push(op === 'move' ? { op, ...common, ...typed } : { op, deep, ...common, ...typed })
  return { changes, written: arrival?.prepared ? writtenDocuments(to, arrival.prepared) : [] }
}

/** Events of the files that a transfer names: DELETE where one is gone, PUT where one came or was replaced (EVT-28). */
async function fileEvents(
  site: Site,
  { op, from, to, cause }: Transfer,
  source: Resource,
  replaced: Resource | undefined,
): Promise<NewEvent[]> {
  const isFile = source.kind !== 'collection'
  const events: NewEvent[] = []
  if (isFile && op === 'move') events.push(deleteEvent(site, from, cause))
  if (replaced && replaced.kind !== 'collection' && replaced.path !== to)
    events.push(deleteEvent(site, replaced.path, cause))
  if (isFile) events.push(putEvent(site, to, source.digest, await textOf(site, source, to), cause))
  return events
}

/** Documents travel in their events (EVT-25). */
async function textOf(site: Site, file: Resource, path: string): Promise<string | undefined> {
  if (kindOf(storedType(path, file.type)) === 'blob') return undefined
  const body = site.inMemory(file.path)?.body ?? (await site.store.body(file))
  return body && (await decodeInTurn(await bytesOf(body))).text
}
