import type { Authority, Authorizing } from '../authority.ts'
import { deleteEvent, putEvent } from '../events/mutation.ts'
import { Fault } from '../fault.ts'
import { kindOf } from '../http/media.ts'
import { checkLength } from '../http/path.ts'
import { isLive } from '../model/meanings.ts'
import type { Operation } from '../operation.ts'
import { absent, requireAllowed } from '../refusals.ts'
import type { Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import type { CommitResult } from '../store/commit.ts'
import { decodeInTurn } from '../tree/document.ts'
import { inTurns } from '../tree/steps.ts'
import { commitJudged, type ModelState, modelState, oneAllowance } from './commit.ts'
import { configures } from './configuration.ts'
import { consequencesOfRemoval, judgeMoved, lossesUnderNewName } from './judge-document.ts'
import { refuseEntangled } from './judge-tree.ts'
import { retyping, type UnderNewName, underNewName, writtenDocuments } from './new-version.ts'
import { mayNotReplace, missingParents } from './places.ts'
import { NO_TRANSITIONS, TransitionJudge, type Transitions } from './transitions.ts'
import {
  carriedOut,
  existence,
  type Found,
  mayRead,
  preconditions,
  type WholeGate,
  type WholeWrite,
  wholeOperation,
} from './whole.ts'

export interface DocumentMove extends WholeWrite {
  to: string
  /** False for `Overwrite: F`. */
  overwrite: boolean
}

interface FoundMove extends Found<DocumentMove> {
  /** What stands at the destination. */
  replaced: StoredFile | undefined
}

function isRefused({ path, to }: DocumentMove, authority: Authority, exists: boolean): boolean {
  return authority.admit({ ask: 'move', path, destination: to, exists }) === 'refuse'
}

/** A refusal names the path that was refused (HTTP-170). */
function refusalOf({ path, to }: DocumentMove, authority: Authority, exists: boolean): Fault {
  const isSource = authority.admit({ ask: 'move', path, destination: path, exists }) === 'refuse'
  return authority.refusal('MOVE', isSource ? path : to)
}

/** @throws Fault 401 or 403 before anything is looked for that is forbidden in any case */
async function findAllowed(site: Site, write: DocumentMove, authority: Authority): Promise<FoundMove> {
  const { path, to } = write
  if (isRefused(write, authority, true) && isRefused(write, authority, false)) throw refusalOf(write, authority, true)
  return { site, write, authority, file: await site.find(path), replaced: await site.find(to) }
}

const MOVE_GATES: readonly WholeGate<FoundMove>[] = [
  {
    name: 'authorization',
    pass({ write, authority, file }) {
      const exists = file !== undefined
      if (isRefused(write, authority, exists)) throw refusalOf(write, authority, exists)
    },
  },
  existence,
  {
    name: 'target',
    pass({ write: { path, to } }) {
      if (to === path) throw new Fault(403, 'IllegalMove', 'Source and destination are the same.')
      checkLength(to)
    },
  },
  preconditions,
  {
    name: 'preconditions',
    pass({ write, replaced }) {
      if (replaced && !write.overwrite) throw mayNotReplace()
    },
  },
  { name: 'locks', pass: ({ write }) => write.refuseLocked?.([write.path, write.to]) },
]

/**
 * Relocates a whole document or blob; what stood at the destination is replaced.
 *
 * @returns answers 204 (HTTP-108)
 */
export function moveDocument(site: Site, write: DocumentMove, authority: Authorizing): Operation {
  const { path, to } = write
  const allowance = write.allowance ?? oneAllowance(site)
  return wholeOperation<FoundMove, void>(site, {
    write,
    paths: [path, to],
    gates: MOVE_GATES,
    authority,
    find: current => findAllowed(site, write, current),
    prepare: async () => undefined,
    async commit({ authority, file, replaced }) {
      if (!file) throw absent()
      const model = modelState(site, allowance, write)
      const result = await commitMove(site, model, write, file, replaced, authority)
      const isKnown = mayRead(authority, path) || mayRead(authority, to)
      const headers = { ...(isKnown && { ETag: file.tag }), 'Cache-Control': 'no-store' }
      return carriedOut(result) && { status: 204, headers }
    },
  })
}

async function commitMove(
  site: Site,
  model: ModelState,
  write: DocumentMove,
  file: StoredFile,
  replaced: StoredFile | undefined,
  authority: Authority,
): Promise<CommitResult> {
  const { path, to, cause } = write
  const { resource, bytes } = file
  const arrival = await underNewName(site, resource, to)
  const { prepared } = arrival
  checkNewKind(site, file, to, arrival, authority)
  const isShaped = file.isDocument && model.registry.shapesAt(to).length > 0
  const judged = await judgeMoved(site, model, to, {
    type: arrival.type,
    tree: prepared?.tree ?? (isShaped ? await site.parsed(file) : undefined),
    entries: prepared?.derived.entries,
  })
  const transitions = await retypedTransitions(site, model, file, to, arrival)
  // What is replaced goes as if it were deleted (MOD-53).
  const removed = replaced ? [replaced] : []
  // What a document of another kind refers to is asked of it under its new name.
  const isGone = (gone: string) => gone === replaced?.resource.path || (prepared !== undefined && gone === path)
  const lost = await lossesUnderNewName(site, model, file, prepared?.tree)
  const follows = await consequencesOfRemoval(site, model, removed, isGone, transitions, lost)
  refuseEntangled(follows, path)
  // Directories are implicit here (HTTP-13), while the store moves only into collections that exist.
  const parents = replaced ? [] : await missingParents(site.store, to)
  const expect = { expect: resource.version, expectTo: replaced ? replaced.resource.version : ('absent' as const) }
  const text = prepared ? prepared.text : file.isDocument && bytes ? (await decodeInTurn(bytes)).text : undefined
  const own = {
    changes: [...parents, { op: 'move' as const, from: path, to, ...expect, ...retyping(arrival) }],
    events: [deleteEvent(site, path, cause), putEvent(site, to, resource.digest, text, cause)],
    written: prepared ? writtenDocuments(to, prepared) : [],
    accessVersion: authority.accessVersion,
  }
  return commitJudged(site, model, own, {
    ...follows,
    requirements: [...judged.requirements, ...follows.requirements],
  })
}

/**
 * Items that move with their document are the same at the new place, whatever their states (REA-103). Under a name of another
 * kind they come to be, or cease to be.
 */
async function retypedTransitions(
  site: Site,
  model: ModelState,
  file: StoredFile,
  to: string,
  { type, prepared }: UnderNewName,
): Promise<Transitions> {
  const judge = TransitionJudge.of(site, model.transitions)
  if (!judge || kindOf(type) === file.kind) return NO_TRANSITIONS
  const before = file.isDocument ? await site.parsed(file) : undefined
  const longest = Math.max(before?.source.length ?? 0, prepared?.tree?.source.length ?? 0)
  return inTurns(judge.whole(to, before, prepared?.tree), longest)
}

/**
 * The same bytes may declare something as one kind of document and nothing as another, or at one path and not at another:
 * whoever has them count as another kind writes what they declare (SEC-9, SEC-10), and their directives (COMP-147).
 *
 * @throws Fault 401 or 403 when declarations come or go by it, or a page with directives comes to be, and the requester may
 *   not PUT it
 */
function checkNewKind(
  site: Site,
  file: StoredFile,
  to: string,
  { type, prepared }: UnderNewName,
  authority: Authority,
): void {
  const { path } = file.resource
  const kind = kindOf(type)
  const isOther = kind !== file.kind
  const isCounted = site.counts(to)
  const mayDeclare = (site.counts(path) || isCounted) && (isOther || site.counts(path) !== isCounted)
  const { types, namespaces } = prepared?.derived.profile ?? { types: [], namespaces: [] }
  const isPage = isOther && kind !== 'blob' && namespaces.some(uri => isLive(uri, site.model, kind))
  if (!isPage && !(mayDeclare && configures(site, [...(file.profile?.types ?? []), ...types]))) return
  requireAllowed(authority, { ask: 'put', path: to, exists: true }, 'PUT', to)
}
