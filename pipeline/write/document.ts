/** PUT and DELETE of whole documents and blobs, and creation under a generated name (HTTP-90 to HTTP-108). */

import { randomBytes } from 'node:crypto'
import type { Answer } from '../answer.ts'
import type { Authorizing } from '../authority.ts'
import type { BodySource } from '../body.ts'
import { storedForm } from '../declarations/derive.ts'
import { deleteEvent, putEvent } from '../events/mutation.ts'
import { formatHttpDate } from '../http/conditions.ts'
import { checkStorable, extensionFor, kindOf, servedType, storedType } from '../http/media.ts'
import { checkLength, encodePath } from '../http/path.ts'
import type { Operation } from '../operation.ts'
import { absent, refusingRequest, requireAllowed } from '../refusals.ts'
import { largestDocument, type Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import type { Content } from '../store/blobs.ts'
import type { Change, CommitResult } from '../store/commit.ts'
import { parentOf } from '../store/paths.ts'
import type { Property, Resource } from '../store/resource.ts'
import { contentTag } from '../store/tags.ts'
import { inTurns } from '../tree/steps.ts'
import { type Alongside, askedCommit, commitJudged, type ModelState, modelState, oneAllowance } from './commit.ts'
import { NOTHING_FOLLOWS } from './consequences.ts'
import { consequencesOfRemoval, judgeDocument } from './judge-document.ts'
import { type NewVersion, rederived, savedDocument, writtenDocuments } from './new-version.ts'
import { parentMissing } from './places.ts'
import type { Chain } from './put-chain.ts'
import { type Noted, refuseOvertaken } from './transition-races.ts'
import { TransitionJudge, type TransitionSink } from './transitions.ts'
import {
  authorization,
  carriedOut,
  existence,
  type Found,
  findAllowed,
  locks,
  mayRead,
  preconditions,
  type WholeGate,
  type WholeWrite,
  wholeOperation,
  writeTag,
} from './whole.ts'

export interface DocumentPut extends WholeWrite {
  type: string | undefined
  language?: string
  /** Modification time set by the client, unix seconds (DAV-36). */
  shown?: number
  /** Dead properties that a new resource begins with, as they are at its commit. */
  properties?: () => readonly Property[]
  /** A new resource needs its collection; otherwise missing collections are made (DAV-14). */
  needsParent?: boolean
  /** Told of the resource that the write has stored. */
  stored?: (resource: Resource | undefined) => void
}

const PUT_GATES: readonly WholeGate[] = [authorization('put'), preconditions, locks]
const DELETE_GATES: readonly WholeGate[] = [authorization('delete'), existence, preconditions, locks]

/**
 * Creates or replaces a whole document or blob.
 *
 * @returns answers 201 or 200 with the new stored tag; documents are echoed (HTTP-90)
 * @throws Fault 409 `ParentDirectoryMissing` inside the commit, where the collection is needed and is gone
 */
export function putDocument(site: Site, write: DocumentPut, authority: Authorizing): Operation {
  const { path } = write
  const allowance = write.allowance ?? oneAllowance(site)
  const race = wholeRace(site, write)
  return wholeOperation<Found<DocumentPut>, NewVersion>(site, {
    write,
    paths: [path],
    gates: PUT_GATES,
    authority,
    brings: true,
    find: current => findAllowed(site, write, 'put', current),
    async prepare(body) {
      checkLength(path)
      await race.begin()
      return prepare(site, write, body)
    },
    ...(mayFollow(write) && { follow: (found, asked, chain) => followPut(site, found, asked, chain) }),
    async commit(found, asked, chain) {
      const { authority, file } = found
      const model = modelState(site, allowance, write)
      await race.refuseOvertaken(file)
      const current = await rederived(site, asked)
      const { prepared, follows } = mayBeJudged(site, model)
        ? await judgeDocument(site, model, { path, file, asked: current })
        : { prepared: current, follows: NOTHING_FOLLOWS }
      const own = {
        changes: toChanges(write, file, prepared),
        events: [putEvent(site, path, prepared.digest, prepared.text, write.cause)],
        written: writtenDocuments(path, prepared),
        accessVersion: authority.accessVersion,
      }
      const mayBeFollowed = file && declaresNothing(prepared) && !mayBeJudged(site, model)
      const step = chain?.step(mayBeFollowed ? prepared.digest : undefined)
      // Those who followed an attempt that has failed.
      if (step?.before) await step.before
      const result = await commitJudged(site, model, own, follows).finally(step?.done)
      if (!result.ok && result.reason === 'missing' && write.needsParent && result.path === parentOf(path))
        throw parentMissing(result.path)
      const done = carriedOut(result)
      return done && putAnswer(found, prepared, done)
    },
    async discard({ content }) {
      if ('staged' in content) await content.staged.discard()
    },
  })
}

/** Whether nothing that a PUT says depends on the bytes it replaces. */
function mayFollow({ conditions, check, checksNoBytes, configure, alongside }: DocumentPut): boolean {
  return !conditions && (!check || checksNoBytes === true) && configure !== false && !alongside
}

function declaresNothing({ derived }: NewVersion): boolean {
  return derived === undefined || derived.profile.types.length === 0
}

/** Commits a PUT over the bytes that others are about to leave. */
async function followPut(
  site: Site,
  found: Found<DocumentPut>,
  prepared: NewVersion,
  chain: Chain,
): Promise<Answer | undefined> {
  const { write, authority, file } = found
  const { path, cause } = write
  const model = modelState(site, write.allowance ?? oneAllowance(site), write)
  const { head } = chain
  if (head === undefined || !file || !declaresNothing(prepared) || mayBeJudged(site, model)) return undefined
  const [put] = toChanges(write, file, prepared)
  if (put?.op !== 'put') return undefined
  const [written] = writtenDocuments(path, prepared)
  const own = {
    changes: [{ ...put, expect: { digest: head } }],
    events: [putEvent(site, path, prepared.digest, prepared.text, cause)],
    written: [],
    accessVersion: authority.accessVersion,
  }
  const { before, done } = chain.step(prepared.digest)
  const row = [{ commit: askedCommit(model, own, NOTHING_FOLLOWS), written }]
  const [settled] = (await site.commitRow(row, before).finally(done)) ?? []
  if (settled?.status === 'rejected') throw settled.reason
  return settled?.value.ok ? putAnswer(found, prepared, settled.value) : undefined
}

/** Whether the site declares anything that writes of whole documents are judged by. */
function mayBeJudged(site: Site, { registry, transitions }: ModelState): boolean {
  return !registry.isEmpty || isWatched(site, transitions)
}

/** Whether a write may be a transition that somebody watches. */
function isWatched(site: Site, transitions: TransitionSink | undefined): boolean {
  return transitions !== undefined && !site.declarations('reactions').isEmpty
}

/** Keeps a write from taking part in a race on the state of a watched item (REA-108). */
function wholeRace(site: Site, { path, transitions }: WholeWrite) {
  let arrival: Noted = new Map()
  const note = async (file: StoredFile | undefined): Promise<Noted> => {
    const judge = file?.isDocument && isWatched(site, transitions) ? TransitionJudge.of(site, transitions) : undefined
    if (!judge || !file) return new Map()
    const tree = await site.parsed(file)
    return inTurns(judge.noteWhole(tree), tree.source.length)
  }
  return {
    /** At the arrival of the request. */
    async begin(): Promise<void> {
      if (transitions) arrival = await note(await site.find(path))
    },
    /** Inside the commit. @throws Fault 412 */
    async refuseOvertaken(file: StoredFile | undefined): Promise<void> {
      if (arrival.size > 0) refuseOvertaken(arrival, await note(file))
    },
  }
}

/** Reads and checks a body: blobs to disk, documents into memory. */
async function prepare(site: Site, write: DocumentPut, body: BodySource): Promise<NewVersion> {
  const type = storedType(write.path, body.type ?? write.type)
  checkStorable(type, write.language)
  const kind = kindOf(type)
  if (kind !== 'blob') {
    const bytes = await body.bytes(largestDocument(site.settings))
    const model = modelState(site, oneAllowance(site), write)
    // Where the file is kept with its tree, its elements are in use, and the new one takes its place.
    const isLookedInto = mayBeJudged(site, model) || site.inMemory(write.path)?.keepsTree === true
    return savedDocument(site, kind, type, bytes, isLookedInto)
  }
  const staged = await body.stage(site.settings.maxBody)
  const content: Content = staged.bytes ? { bytes: staged.bytes, digest: staged.sha256 } : { staged }
  return { content, digest: staged.sha256, kind: 'blob', type }
}

function toChanges(write: DocumentPut, file: StoredFile | undefined, prepared: NewVersion): Change[] {
  const { path, language, shown, needsParent = false } = write
  const properties = write.properties?.() ?? []
  const put: Change = {
    op: 'put',
    path,
    expect: file ? file.resource.version : 'absent',
    ...(needsParent && { needsParent }),
    kind: prepared.kind,
    content: prepared.content,
    type: prepared.type,
    ...(language !== undefined && { language }),
    ...(shown !== undefined && { shown }),
    ...(prepared.derived && storedForm(prepared.derived)),
  }
  if (properties.length === 0) return [put]
  return [put, { op: 'describe', path, set: [...properties], remove: [] }]
}

/** Whoever may not read what they have written is told a tag by which to name this write (SEC-11). */
function putAnswer(
  { site, write: { path, stored }, authority, file }: Found<DocumentPut>,
  prepared: NewVersion,
  result: CommitResult & { ok: true },
): Answer {
  const resource = result.resources.get(path)
  stored?.(resource)
  const known = !resource || mayRead(authority, path)
  const headers: Record<string, string> = {
    ETag: known ? contentTag(prepared.digest) : writeTag(site, resource),
    ...(known && { 'Last-Modified': formatHttpDate(result.at) }),
    'Cache-Control': 'no-store',
  }
  const status = file ? 200 : 201
  if (!prepared.bytes) return { status, headers, body: '' }
  headers['Content-Type'] = servedType(prepared.type, prepared.derived?.profile.utf8 ?? false)
  return { status, headers, body: prepared.bytes }
}

/** A PUT that another request leads to, as whoever runs triggers has to know it. */
export interface LedPut {
  /** Canonical. */
  path: string
  /** Media type, where it is another one than the request names. */
  type: string | undefined
  body: BodySource
  /** @param alongside what triggers add to it, where nothing of the request itself does */
  operation: (alongside?: Alongside) => Operation
}

/** Carries out a PUT with the triggers of its path. @returns its answer, or that of a trigger */
export type RunTriggered = (put: LedPut) => Promise<Answer>

/** Stores what a request leads to. @param triggered carries out the PUT */
export async function putTriggered(
  site: Site,
  write: DocumentPut,
  body: BodySource,
  triggered: RunTriggered,
  authority: Authorizing,
): Promise<{ answer: Answer; isStored: boolean }> {
  let isStored = false
  const stored = () => {
    isStored = true
  }
  const operation = (alongside?: Alongside) =>
    putDocument(site, { ...write, ...(alongside && { alongside }), stored }, authority)
  const answer = await triggered({ path: write.path, type: write.type, body, operation })
  return { answer, isStored }
}

/**
 * Stores a body under a generated name below a directory (COMP-108).
 *
 * @param write.path the directory, ending in `/`
 * @returns answers 201 with a path-absolute `Location`; the PUT is authorized for the name, once it is known (HTTP-6)
 */
export function createDocument(
  site: Site,
  write: DocumentPut & { triggered: RunTriggered },
  authority: Authorizing,
): Operation {
  const directory = write.path
  const check = async () => {
    await authority.settle?.([directory])
    requireAllowed(authority(), { ask: 'post', path: directory, exists: false }, 'POST', directory)
  }
  return {
    async admit() {
      await check()
      return {}
    },
    async carryOut(body) {
      await check()
      const type = body.type ?? write.type
      const path = directory + generatedName(type)
      const put = { ...write, path, type, check, checksNoBytes: true }
      const done = putTriggered(site, put, body, write.triggered, authority)
      const { answer, isStored } = await refusingRequest(done, () => authority().refusal('POST', directory))
      if (!isStored) return answer
      return { ...answer, status: 201, headers: { ...answer.headers, Location: encodePath(path) } }
    },
  }
}

const NAME_LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** @returns a name that tells the type (COMP-108) */
export function generatedName(type: string | undefined): string {
  let name = ''
  // 252 is the largest multiple of 36 in a byte: every letter is equally likely.
  while (name.length < 16) for (const byte of randomBytes(24)) if (byte < 252) name += NAME_LETTERS[byte % 36]
  return `${name.slice(0, 16)}.${extensionFor(type)}`
}

/**
 * Removes a whole document or blob.
 *
 * @returns answers 204 (HTTP-101)
 */
export function deleteDocument(site: Site, write: WholeWrite, authority: Authorizing): Operation {
  const { path } = write
  const allowance = write.allowance ?? oneAllowance(site)
  const race = wholeRace(site, write)
  return wholeOperation<Found, void>(site, {
    write,
    paths: [path],
    gates: DELETE_GATES,
    authority,
    find: current => findAllowed(site, write, 'delete', current),
    prepare: () => race.begin(),
    async commit({ authority, file }) {
      if (!file) throw absent()
      await race.refuseOvertaken(file)
      const model = modelState(site, allowance, write)
      const follows = await consequencesOfRemoval(site, model, [file])
      const own = {
        changes: [{ op: 'delete' as const, path, expect: file.resource.version }],
        events: [deleteEvent(site, path, write.cause)],
        written: [],
        accessVersion: authority.accessVersion,
      }
      const done = carriedOut(await commitJudged(site, model, own, follows))
      return done && { status: 204, headers: { 'Cache-Control': 'no-store' } }
    },
  })
}
