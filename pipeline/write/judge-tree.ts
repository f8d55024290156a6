/** Whole trees judged by the site's data model: collections and files that the mount removes, copies and moves (MOD-110). */

import { setImmediate } from 'node:timers/promises'
import { deriveInTurns } from '../declarations/derive.ts'
import { Fault } from '../fault.ts'
import { storedType } from '../http/media.ts'
import { typeKey } from '../model/entries.ts'
import type { Requirement } from '../model/integrity.ts'
import type { Loss } from '../model/losses.ts'
import type { Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import { isWithin } from '../store/paths.ts'
import type { Resource } from '../store/resource.ts'
import type { TreeDocument } from '../tree/nodes.ts'
import type { ModelState } from './commit.ts'
import { type Consequences, nothingFollows } from './consequences.ts'
import { consequencesOfRemoval, judgeMoved } from './judge-document.ts'

/** Documents looked at in a row before others get their turn. */
const SLICE = 16

/**
 * What follows when a file, or a collection with everything below it, goes.
 *
 * @param removed may be missing where something else goes
 * @param renamed a file that its new name makes another kind of document, and what it loses by that
 * @throws Fault 409 when a referrer forbids it
 */
export async function consequencesOfLoss(
  site: Site,
  model: ModelState,
  removed: Resource | undefined,
  renamed?: { path: string; losses: readonly Loss[] },
): Promise<Consequences> {
  const within = (path: string) => removed !== undefined && isWithin(path, removed.path)
  const isGone = (path: string) => within(path) || path === renamed?.path
  const paths = new Set<string>()
  for (const type of removed ? model.registry.guardedTypes : []) {
    for (const { path } of await site.store.lookup([typeKey(type)])) if (within(path)) paths.add(path)
  }
  if (paths.size === 0 && !renamed?.losses.length) return nothingFollows([])
  const documents: StoredFile[] = []
  for (const path of paths) {
    const file = await site.find(path)
    if (file) documents.push(file)
    if (documents.length % SLICE === 0) await setImmediate()
  }
  try {
    return await consequencesOfRemoval(site, model, documents, isGone, undefined, renamed?.losses)
  } catch (error) {
    throw removed && isCollection(removed) ? await naming(error, site, model, documents, within) : error
  }
}

/** The same refusal with the path of the first member that is refused: what goes with it makes no difference to it. */
async function naming(
  error: unknown,
  site: Site,
  model: ModelState,
  documents: readonly StoredFile[],
  within: (path: string) => boolean,
): Promise<unknown> {
  for (const file of documents) {
    const refusal = await consequencesOfRemoval(site, model, [file], within).then(
      () => undefined,
      (own: unknown) => own,
    )
    if (refusal instanceof Fault) return asMember(refusal, file.resource.path)
  }
  return error
}

/** A file or collection on its way to another place. */
export interface Arrival {
  op: 'move' | 'copy'
  source: Resource
  /** In the form of the source. */
  to: string
  /** Members come along. */
  deep: boolean
  /** A file that becomes a document by its new name. */
  retyped: TreeDocument | undefined
}

/**
 * Judges what arrives: all of it by the shapes of its new place, copies by schemas, uniqueness and references as well.
 *
 * @returns what the commit has to require
 * @throws Fault 422
 */
export async function judgeArrival(
  site: Site,
  model: ModelState,
  { op, source, to, deep, retyped }: Arrival,
): Promise<readonly Requirement[]> {
  const { registry } = model
  const typed = (op === 'copy' || retyped !== undefined) && registry.hasSchemas
  if (!typed && registry.shapes.length === 0) return []
  if (retyped) {
    const { entries } = await deriveInTurns(retyped, site.settings, true)
    return (await judgeMoved(site, model, to, { type: storedType(to, source.type), tree: retyped, entries }))
      .requirements
  }
  const requirements: Requirement[] = []
  let looked = 0
  const judge = async (member: Resource) => {
    const file = await site.find(member.path)
    if (!file) return
    const path = to + member.path.slice(source.path.length)
    const { profile, isDocument } = file
    // Of what a release before has stored it is not told whether pages show items that HTML does not have.
    const mayHold = !profile || profile.otherwise || profile.namespaces.length > 0
    const governed = isDocument && typed && (mayHold || profile.types.some(type => registry.schema(type)))
    if (!governed && registry.shapesAt(path).length === 0) return
    if (++looked % SLICE === 0) await setImmediate()
    const tree = isDocument ? await site.parsed(file) : undefined
    const { entries } = governed && tree ? await deriveInTurns(tree, site.settings, true) : { entries: undefined }
    const judgement = await judgeMoved(site, model, path, { type: file.resource.type, tree, entries }).catch(error => {
      throw isCollection(source) ? asMember(error, path) : error
    })
    for (const requirement of judgement.requirements) requirements.push(requirement)
  }
  if (!isCollection(source)) await judge(source)
  else if (deep) for await (const member of site.store.walk(source.path)) await judge(member)
  return requirements
}

/** One member refuses the whole; the message says which (DAV-8). */
function asMember(error: unknown, path: string): unknown {
  return error instanceof Fault
    ? new Fault(error.status, error.kind, `${path}: ${error.message}`, error.details)
    : error
}

function isCollection({ kind }: Resource): boolean {
  return kind === 'collection'
}

/** @throws Fault 409 when what follows would change a document that is moved in the same step */
export function refuseEntangled({ changes }: Consequences, from: string): void {
  const isEntangled = changes.some(change => 'path' in change && isWithin(change.path, from))
  if (isEntangled)
    throw new Fault(409, 'Conflict', 'What is moved refers to what it would replace. Change the reference first.')
}
