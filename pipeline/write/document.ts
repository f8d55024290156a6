/** Writes of whole documents and blobs: PUT, DELETE, MOVE, and creation under a generated name (HTTP-90 to HTTP-108). */

import { randomBytes } from 'node:crypto'
import type { Answer } from '../answer.ts'
import type { Authority } from '../authority.ts'
import { storedForm } from '../declarations/derive.ts'
import type { Cause } from '../events/mutation.ts'
import { Fault } from '../fault.ts'
import { type Conditions, evaluateWrite, preconditionFailed } from '../http/conditions.ts'
import { formatHttpDate } from '../http/http-date.ts'
import { extensionFor, kindOf, servedType, storedType } from '../http/media.ts'
import { encodePath } from '../http/path.ts'
import { absent, requireAllowed } from '../refusals.ts'
import type { Held } from '../site/held.ts'
import { largestDocument, type Site } from '../site/site.ts'
import type { Change, CommitResult, Content, Property, StagedBlob } from '../store/store.ts'
import { contentTag } from '../store/tags.ts'
import { decode } from '../tree/document.ts'
import { commitJudged, commitLoop, type Judging, modelState } from './commit.ts'
import { configures } from './configuration.ts'
import { deleteEvent, putEvent } from './events.ts'
import { consequencesOfRemoval, judgeDocument, judgeMoved } from './judge-document.ts'
import { refuseEntangled } from './judge-tree.ts'
import { mayNotReplace, missingParents, nameTaken } from './places.ts'
import {
  type Prepared,
  prepareDocument,
  type Renamed,
  renamed,
  renewed,
  retyping,
  writtenDocuments,
} from './prepared.ts'

/** A request body that is read once, in the form its resource needs. */
export interface BodySource {
  /** Into memory; 413 over `cap` bytes. */
  bytes(cap: number): Promise<Uint8Array>
  /** To disk while digests are computed; 413 over `cap` bytes. */
  stage(cap: number): Promise<StagedBlob>
}

interface Common extends Judging {
  /** Canonical path. */
  path: string
  conditions: Conditions | undefined
  /**
   * A further check of what is stored, made before the body is read and again inside the commit; it throws a Fault.
   * The mount has conditions of its own, on what it shows; locks are looked for in it, on the paths that are written.
   */
  check?: (held: Held | undefined, paths: readonly string[]) => void | Promise<void>
  cause: Cause
}

export interface DocumentPut extends Common {
  type: string | undefined
  language?: string
  /** Modification time set by the client, unix seconds (DAV-36). */
  shown?: number
  /** Dead properties that the new resource begins with. */
  properties?: readonly Property[]
  body: BodySource
}

export interface DocumentMove extends Common {
  to: string
  /** False for `Overwrite: F`. */
  overwrite: boolean
}

/**
 * Creates or replaces a whole document or blob.
 *
 * @returns 201 or 200 with the new stored tag; documents are echoed (HTTP-90)
 * @throws Fault; then nothing was stored
 */
export async function putDocument(site: Site, write: DocumentPut, authority: () => Authority): Promise<Answer> {
  const { path } = write
  await checkWhole(write, await site.find(path), 'PUT', authority())
  const prepared = await prepare(site, path, write.type, write.body)
  try {
    return await site.leases.hold(site.store.name, [path], () =>
      commitLoop(async () => {
        const decided = authority()
        const held = await site.find(path)
        await checkWhole(write, held, 'PUT', decided)
        const done = await commitPut(site, write, held, prepared, decided.accessVersion)
        return done && putAnswer(done.prepared, done.result, held !== undefined)
      }),
    )
  } finally {
    if ('staged' in prepared.content) await prepared.content.staged.discard()
  }
}

/** Gates 8 and 12 for a whole-document write. */
async function checkWhole(
  write: Common,
  held: Held | undefined,
  method: 'PUT' | 'DELETE',
  authority: Authority,
): Promise<void> {
  const ask = method === 'PUT' ? 'put' : 'delete'
  requireAllowed(authority.admit({ ask, path: write.path, exists: held !== undefined }), method, write.path, authority)
  if (method === 'DELETE' && !held) throw absent()
  checkConditions(write.conditions, held, mayRead(authority, write.path))
  await write.check?.(held, [write.path])
}

/** Whether a requester may know the tag of a stored document, which is made of all its bytes (SEC-11). */
function mayRead(authority: Authority, path: string): boolean {
  return authority.admit({ ask: 'read', path, exists: true }) === 'allow'
}

/**
 * HTTP-37 and HTTP-38 for whole documents.
 *
 * @param readable whether a failure may name the current tag
 */
function checkConditions(conditions: Conditions | undefined, held: Held | undefined, readable: boolean): void {
  if (!conditions) return
  const verdict = evaluateWrite(conditions, {
    exists: held !== undefined,
    tags: held ? [held.tag] : [],
    ...(held && { lastModified: held.resource.modified, sameSecond: held.resource.sameSecond }),
  })
  if (verdict !== 'proceed') throw preconditionFailed(readable ? held?.tag : undefined, held !== undefined)
}

/** Reads and checks a body: blobs to disk, documents into memory and through the parser. */
async function prepare(site: Site, path: string, requestType: string | undefined, body: BodySource): Promise<Prepared> {
  const type = storedType(path, requestType)
  const kind = kindOf(type)
  if (kind !== 'blob') return prepareDocument(site, kind, type, await body.bytes(largestDocument(site.settings)))
  const staged = await body.stage(site.settings.maxBody)
  const content: Content = staged.bytes ? { bytes: staged.bytes } : { staged }
  return { content, digest: staged.sha256, kind: 'blob', type }
}

function toChanges(write: DocumentPut, held: Held | undefined, prepared: Prepared): Change[] {
  const { path, language, shown, properties = [] } = write
  const put: Change = {
    op: 'put',
    path,
    expect: held ? held.resource.version : 'absent',
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

async function commitPut(
  site: Site,
  write: DocumentPut,
  held: Held | undefined,
  asked: Prepared,
  accessVersion: number | undefined,
): Promise<{ result: CommitResult & { ok: true }; prepared: Prepared } | undefined> {
  const { path } = write
  const model = modelState(site, write)
  const current = await renewed(site, asked)
  const { prepared, follows } = await judgeDocument(site, model, { path, held, asked: current })
  const changes = toChanges(write, held, prepared)
  const events = [putEvent(site, path, prepared.digest, prepared.text, write.cause)]
  const own = { changes, events, written: writtenDocuments(path, prepared), accessVersion }
  const result = await commitJudged(site, model, own, follows)
  const done = carriedOut(result)
  return done && { result: done, prepared }
}

/** A conflict that another attempt can solve is undefined; a place that is taken by the other kind is an answer. */
function carriedOut(result: CommitResult): (CommitResult & { ok: true }) | undefined {
  if (result.ok) return result
  // A file that is expected to be free, and is a collection: the path tells it from a collection that just came to be.
  const collection = result.reason === 'version' && !result.path.endsWith('/') && result.current?.kind === 'collection'
  if (result.reason === 'kind' || collection) throw nameTaken()
  return undefined
}

function putAnswer(prepared: Prepared, result: CommitResult & { ok: true }, existed: boolean): Answer {
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
 * @returns 201 with a path-absolute `Location`
 */
export async function createDocument(site: Site, write: DocumentPut, authority: () => Authority): Promise<Answer> {
  const directory = write.path
  const decided = authority()
  requireAllowed(decided.admit({ ask: 'post', path: directory, exists: false }), 'POST', directory, decided)
  const path = directory + generatedName(write.type)
  const answer = await putDocument(site, { ...write, path }, authority)
  return { ...answer, status: 201, headers: { ...answer.headers, Location: encodePath(path) } }
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
 * @returns 204 (HTTP-101)
 */
export async function deleteDocument(site: Site, write: Common, authority: () => Authority): Promise<Answer> {
  const { path } = write
  await checkWhole(write, await site.find(path), 'DELETE', authority())
  return site.leases.hold(site.store.name, [path], () =>
    commitLoop(async () => {
      const decided = authority()
      const held = await site.find(path)
      await checkWhole(write, held, 'DELETE', decided)
      if (!held) throw absent()
      const model = modelState(site, write)
      const follows = await consequencesOfRemoval(site, model, [held])
      const result = await commitJudged(
        site,
        model,
        {
          changes: [{ op: 'delete', path, expect: held.resource.version }],
          events: [deleteEvent(site, path, write.cause)],
          written: [],
          accessVersion: decided.accessVersion,
        },
        follows,
      )
      return carriedOut(result) && { status: 204, headers: { 'Cache-Control': 'no-store' } }
    }),
  )
}

/**
 * Relocates a whole document or blob; what stood at the destination is replaced.
 *
 * @returns 204 (HTTP-108)
 */
export async function moveDocument(site: Site, write: DocumentMove, authority: () => Authority): Promise<Answer> {
  const { path, to } = write
  const check = async (decided: Authority) => {
    const held = await site.find(path)
    settleMove(decided, path, to, held !== undefined)
    if (!held) throw absent()
    if (to === path) throw new Fault(403, 'IllegalMove', 'Source and destination are the same.')
    checkConditions(write.conditions, held, mayRead(decided, path))
    const taken = await site.find(to)
    if (taken && !write.overwrite) throw mayNotReplace()
    await write.check?.(held, [path, to])
    return { held, taken }
  }
  await check(authority())
  return site.leases.hold(site.store.name, [path, to], () =>
    commitLoop(async () => {
      const decided = authority()
      const { held, taken } = await check(decided)
      const result = await commitMove(site, write, held, taken, decided)
      const tag: Record<string, string> = mayRead(decided, path) || mayRead(decided, to) ? { ETag: held.tag } : {}
      return carriedOut(result) && { status: 204, headers: { ...tag, 'Cache-Control': 'no-store' } }
    }),
  )
}

async function commitMove(
  site: Site,
  write: DocumentMove,
  held: Held,
  taken: Held | undefined,
  authority: Authority,
): Promise<CommitResult> {
  const { path, to, cause } = write
  const { resource, bytes } = held
  const model = modelState(site, write)
  const arrival = await renamed(site, resource, to)
  const { prepared } = arrival
  checkNewKind(site, held, to, arrival, authority)
  const isShaped = held.isDocument && model.registry.shapesAt(to).length > 0
  const judged = await judgeMoved(site, model, to, {
    tree: prepared?.tree ?? (isShaped ? await site.parsed(held) : undefined),
    entries: prepared?.derived.entries,
  })
  // What is replaced goes as if it were deleted (MOD-53).
  const follows = await consequencesOfRemoval(site, model, taken ? [taken] : [])
  refuseEntangled(follows, path)
  // Directories are implicit here (HTTP-13), while the store moves only into collections that exist.
  const parents = taken ? [] : await missingParents(site.store, to)
  const expect = { expect: resource.version, expectTo: taken ? taken.resource.version : ('absent' as const) }
  const text = prepared ? prepared.text : held.isDocument && bytes ? decode(bytes).text : undefined
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
 * The same bytes may declare something as one kind of document and nothing as another: whoever has them count as another
 * kind writes what they declare (SEC-9).
 *
 * @throws Fault 401 or 403 when declarations come or go by it, and the requester may not PUT them
 */
function checkNewKind(site: Site, held: Held, to: string, { type, prepared }: Renamed, authority: Authority): void {
  if (kindOf(type) === held.kind) return
  const types = [...(held.profile?.types ?? []), ...(prepared?.derived.profile.types ?? [])]
  if (!configures(site, types)) return
  requireAllowed(authority.admit({ ask: 'put', path: to, exists: true }), 'PUT', to, authority)
}

/** A refusal names the path that was refused (HTTP-170). */
function settleMove(authority: Authority, path: string, to: string, exists: boolean): void {
  const outcome = authority.admit({ ask: 'move', path, destination: to, exists })
  const source = outcome === 'refuse' ? authority.admit({ ask: 'move', path, destination: path, exists }) : outcome
  requireAllowed(outcome, 'MOVE', source === 'refuse' ? path : to, authority)
}
