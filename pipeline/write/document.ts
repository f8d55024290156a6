/**
 * Writes of whole documents and blobs: the gates that all of them pass and how they come to their commit (HTTP-1, HTTP-4),
 * and PUT, DELETE, and creation under a generated name (HTTP-90 to HTTP-108).
 */

import { randomBytes } from 'node:crypto'
import type { Answer } from '../answer.ts'
import type { Authority } from '../authority.ts'
import type { BodySource } from '../body.ts'
import type { Locks } from '../coordination/locks.ts'
import { storedForm } from '../declarations/derive.ts'
import { type Cause, deleteEvent, putEvent } from '../events/mutation.ts'
import { Fault } from '../fault.ts'
import { type Conditions, evaluateWrite, formatHttpDate, preconditionFailed } from '../http/conditions.ts'
import { extensionFor, kindOf, servedType, storedType } from '../http/media.ts'
import { encodePath } from '../http/path.ts'
import { authorize, type Gate, type Operation, passGates, perform } from '../operation.ts'
import { absent, requireAllowed } from '../refusals.ts'
import { largestDocument, type Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import type { Content } from '../store/blobs.ts'
import type { Change, CommitResult } from '../store/commit.ts'
import { parentOf } from '../store/paths.ts'
import type { Property } from '../store/resource.ts'
import { contentTag } from '../store/tags.ts'
import { inTurns } from '../tree/steps.ts'
import { commitJudged, commitLoop, type Judging, type ModelState, modelState, oneAllowance } from './commit.ts'
import { NOTHING_FOLLOWS } from './consequences.ts'
import { consequencesOfRemoval, judgeDocument } from './judge-document.ts'
import { type NewVersion, rederived, savedDocument, writtenDocuments } from './new-version.ts'
import { nameTaken, parentMissing } from './places.ts'
import { type Noted, refuseOvertaken, TransitionJudge, type TransitionSink } from './transitions.ts'

export interface WholeWrite extends Judging {
  /** Canonical path. */
  path: string
  conditions: Conditions | undefined
  /** Locks that bind the write (HTTP-85): a gate of its own, given the paths that are written. */
  refuseLocked?: (paths: readonly string[]) => Promise<void>
  /**
   * A last look at what is stored, inside the commit; it throws a Fault. The mount has conditions of its own, on what it
   * shows.
   */
  check?: (file: StoredFile | undefined) => void | Promise<void>
  cause: Cause
}

/** What stands where a document is to be written, and who wants to. */
export interface Found<Write extends WholeWrite = WholeWrite> {
  write: Write
  authority: Authority
  file: StoredFile | undefined
}

export type WholeGate<F extends Found = Found> = Gate<F>

/** Gate 8 for PUT and DELETE; that nothing is stored there is a gate of its own. */
export function authorization(ask: 'put' | 'delete'): WholeGate {
  const method = ask.toUpperCase()
  return {
    name: 'authorization',
    pass({ write: { path }, authority, file }) {
      if (authority.admit({ ask, path, exists: file !== undefined }) === 'refuse') throw authority.refusal(method, path)
    },
  }
}

export const existence: WholeGate = {
  name: 'existence',
  pass({ file }) {
    if (!file) throw absent()
  },
}

/** Whether a requester may know the tag of a stored document, which is made of all its bytes (SEC-11). */
export function mayRead(authority: Authority, path: string): boolean {
  return authority.admit({ ask: 'read', path, exists: true }) === 'allow'
}

/** HTTP-37 and HTTP-38 for whole documents; whoever may not read one is not told its tag. */
export const preconditions: WholeGate = {
  name: 'preconditions',
  pass({ write: { path, conditions }, authority, file }) {
    if (!conditions) return
    const verdict = evaluateWrite(conditions, {
      exists: file !== undefined,
      tags: file ? [file.tag] : [],
      ...(file && { lastModified: file.resource.modified, sameSecond: file.resource.sameSecond }),
    })
    if (verdict !== 'proceed')
      throw preconditionFailed(mayRead(authority, path) ? file?.tag : undefined, file !== undefined)
  },
}

export const locks: WholeGate = {
  name: 'locks',
  pass: ({ write }) => write.refuseLocked?.([write.path]),
}

/** @throws Fault 401 or 403 before anything is looked for that is forbidden in any case */
async function findAllowed<W extends WholeWrite>(
  site: Site,
  write: W,
  ask: 'put' | 'delete',
  authority: Authority,
): Promise<Found<W>> {
  const { path } = write
  const isRefused = [true, false].every(exists => authority.admit({ ask, path, exists }) === 'refuse')
  if (isRefused) throw authority.refusal(ask.toUpperCase(), path)
  return { write, authority, file: await site.find(path) }
}

/** How whole documents are written: found, passed through gates, made ready, and committed. */
interface WholeParts<F extends Found, Ready> {
  write: WholeWrite
  /** Every path that is created, replaced or removed. */
  paths: readonly string[]
  gates: readonly Gate<F>[]
  find(): Promise<F>
  prepare(body: BodySource): Promise<Ready>
  /** Gate 13, under the leases of the paths; undefined when somebody else's commit came first. */
  commit(found: F, ready: Ready): Promise<Answer | undefined>
  discard?(ready: Ready): Promise<void>
}

export function wholeOperation<F extends Found, Ready>(site: Site, parts: WholeParts<F, Ready>): Operation {
  const { write, paths, gates } = parts
  return {
    async admit() {
      await authorize(gates, await parts.find())
      return {}
    },
    async carryOut(body) {
      await passGates(gates, await parts.find())
      const ready = await parts.prepare(body)
      try {
        return await site.leases.hold(site.store.name, paths, () =>
          commitLoop(async () => {
            const found = await parts.find()
            await passGates(gates, found)
            await write.check?.(found.file)
            return parts.commit(found, ready)
          }),
        )
      } finally {
        await parts.discard?.(ready)
      }
    },
  }
}

/** A conflict that another attempt can solve is undefined; a place that is taken by the other kind is an answer. */
export function carriedOut(result: CommitResult): (CommitResult & { ok: true }) | undefined {
  if (result.ok) return result
  // A file that is expected to be free, and is a collection: the path tells it from a collection that just came to be.
  const collection = result.reason === 'version' && !result.path.endsWith('/') && result.current?.kind === 'collection'
  if (result.reason === 'kind' || collection) throw nameTaken()
  return undefined
}

/**
 * Refuses a write of whole documents while one of its paths is in the scope of a lock. No token helps: tokens are of the
 * mount.
 *
 * @param paths canonical paths that the write creates, replaces or removes
 * @param now unix milliseconds
 * @throws Fault 423 `Locked`, with the seconds that the locks have left as `Retry-After`
 */
export async function refuseLocked(
  locks: Locks,
  site: string,
  paths: readonly string[],
  now = Date.now(),
): Promise<void> {
  const inEffect = (await Promise.all(paths.map(path => locks.on(site, path)))).flat()
  if (inEffect.length === 0) return
  const left = Math.max(...inEffect.map(({ expires }) => expires - now))
  throw new Fault(423, 'Locked', 'Somebody is editing this. Try again when they have finished.', {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(left / 1000))) },
  })
}

export interface DocumentPut extends WholeWrite {
  type: string | undefined
  language?: string
  /** Modification time set by the client, unix seconds (DAV-36). */
  shown?: number
  /** Dead properties that the new resource begins with. */
  properties?: readonly Property[]
  /** A new resource needs its collection; otherwise missing collections are made (DAV-14). */
  needsParent?: boolean
}

const PUT_GATES: readonly WholeGate[] = [authorization('put'), preconditions, locks]
const DELETE_GATES: readonly WholeGate[] = [authorization('delete'), existence, preconditions, locks]

/**
 * Creates or replaces a whole document or blob.
 *
 * @returns answers 201 or 200 with the new stored tag; documents are echoed (HTTP-90)
 * @throws Fault 409 `ParentDirectoryMissing` inside the commit, where the collection is needed and is gone
 */
export function putDocument(site: Site, write: DocumentPut, authority: () => Authority): Operation {
  const { path } = write
  const allowance = write.allowance ?? oneAllowance(site)
  const race = wholeRace(site, write)
  return wholeOperation<Found<DocumentPut>, NewVersion>(site, {
    write,
    paths: [path],
    gates: PUT_GATES,
    find: () => findAllowed(site, write, 'put', authority()),
    async prepare(body) {
      await race.begin()
      return prepare(site, path, write.type, body)
    },
    async commit({ authority, file }, asked) {
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
      const result = await commitJudged(site, model, own, follows)
      if (!result.ok && result.reason === 'missing' && write.needsParent && result.path === parentOf(path))
        throw parentMissing(result.path)
      const done = carriedOut(result)
      return done && putAnswer(prepared, done, file !== undefined)
    },
    async discard({ content }) {
      if ('staged' in content) await content.staged.discard()
    },
  })
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
async function prepare(
  site: Site,
  path: string,
  requestType: string | undefined,
  body: BodySource,
): Promise<NewVersion> {
  const type = storedType(path, requestType)
  const kind = kindOf(type)
  if (kind !== 'blob') return savedDocument(site, kind, type, await body.bytes(largestDocument(site.settings)))
  const staged = await body.stage(site.settings.maxBody)
  const content: Content = staged.bytes ? { bytes: staged.bytes, digest: staged.sha256 } : { staged }
  return { content, digest: staged.sha256, kind: 'blob', type }
}

function toChanges(write: DocumentPut, file: StoredFile | undefined, prepared: NewVersion): Change[] {
  const { path, language, shown, properties = [], needsParent = false } = write
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

function putAnswer(prepared: NewVersion, result: CommitResult & { ok: true }, existed: boolean): Answer {
  const headers: Record<string, string> = {
    ETag: contentTag(prepared.digest),
    'Last-Modified': formatHttpDate(result.at),
    'Cache-Control': 'no-store',
  }
  const status = existed ? 200 : 201
  if (!prepared.bytes) return { status, headers, body: '' }
  headers['Content-Type'] = servedType(prepared.type, prepared.derived?.profile.utf8 ?? false)
  return { status, headers, body: prepared.bytes }
}

/**
 * Stores a body under a generated name below a directory (COMP-108).
 *
 * @param write.path the directory, ending in `/`
 * @returns answers 201 with a path-absolute `Location`; the PUT is authorized for the name, once it is known (HTTP-6)
 */
export function createDocument(site: Site, write: DocumentPut, authority: () => Authority): Operation {
  const directory = write.path
  const admit = async () => {
    requireAllowed(authority(), { ask: 'post', path: directory, exists: false }, 'POST', directory)
    return {}
  }
  return {
    admit,
    async carryOut(body) {
      await admit()
      const path = directory + generatedName(write.type)
      const answer = await perform(putDocument(site, { ...write, path }, authority), body)
      return { ...answer, status: 201, headers: { ...answer.headers, Location: encodePath(path) } }
    },
  }
}

const NAME_LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'

function generatedName(type: string | undefined): string {
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
export function deleteDocument(site: Site, write: WholeWrite, authority: () => Authority): Operation {
  const { path } = write
  const allowance = write.allowance ?? oneAllowance(site)
  const race = wholeRace(site, write)
  return wholeOperation<Found, void>(site, {
    write,
    paths: [path],
    gates: DELETE_GATES,
    find: () => findAllowed(site, write, 'delete', authority()),
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
