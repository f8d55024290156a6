/** Writes of whole documents and blobs: PUT, DELETE, MOVE, and creation under a generated name (HTTP-90 to HTTP-108). */

import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Answer } from '../answer.ts'
import type { Authority } from '../authority.ts'
import { absent, settleOutcome } from '../decide.ts'
import type { Cause } from '../events/mutation.ts'
import { Fault } from '../fault.ts'
import { type Conditions, evaluateWrite, preconditionFailed } from '../http/conditions.ts'
import { formatHttpDate } from '../http/http-date.ts'
import { extensionFor, kindOf, servedType, storedType } from '../http/media.ts'
import { encodePath } from '../http/path.ts'
import { storedForm } from '../site/derive.ts'
import type { Held } from '../site/held.ts'
import type { Settled, Site } from '../site/site.ts'
import { parentOf } from '../store/paths.ts'
import type { Body, Change, CommitResult, Content, Property, StagedBlob } from '../store/store.ts'
import { contentTag } from '../store/tags.ts'
import { decode } from '../tree/document.ts'
import { commitJudged, type Judged, modelState } from './check.ts'
import { commitLoop } from './commit.ts'
import { deleteEvent, putEvent } from './events.ts'
import { consequencesOfRemoval, judgeDocument, judgeMoved } from './judge-document.ts'
import { refuseEntangled } from './judge-tree.ts'
import { type Prepared, prepareDocument, renewed, toSettled } from './prepared.ts'

/** A request body that is read once, in the form its resource needs. */
export interface BodySource {
  /** Into memory; 413 over `cap` bytes. */
  bytes(cap: number): Promise<Uint8Array>
  /** To disk while digests are computed; 413 over `cap` bytes. */
  stage(cap: number): Promise<StagedBlob>
}

interface Common extends Judged {
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
  settleOutcome(authority.admit({ ask, path: write.path, exists: held !== undefined }), method, write.path, authority)
  if (method === 'DELETE' && !held) throw absent()
  checkConditions(write.conditions, held)
  await write.check?.(held, [write.path])
}

/** HTTP-37 and HTTP-38 for whole documents. */
function checkConditions(conditions: Conditions | undefined, held: Held | undefined): void {
  if (!conditions) return
  const verdict = evaluateWrite(conditions, {
    exists: held !== undefined,
    tags: held ? [held.tag] : [],
    ...(held && { lastModified: held.resource.modified, sameSecond: held.resource.sameSecond }),
  })
  if (verdict !== 'proceed') throw preconditionFailed(held?.tag)
}

/** Reads and checks a body: blobs to disk, documents into memory and through the parser. */
async function prepare(site: Site, path: string, requestType: string | undefined, body: BodySource): Promise<Prepared> {
  const type = storedType(path, requestType)
  const kind = kindOf(type)
  const { maxBody, maxDocument } = site.settings
  if (kind !== 'blob') return prepareDocument(site, kind, type, await body.bytes(Math.min(maxBody, maxDocument)))
  const staged = await body.stage(maxBody)
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
  const own = { changes, events, settled: toSettled(path, prepared), accessVersion }
  const result = await commitJudged(site, model, own, follows)
  const done = settled(result)
  return done && { result: done, prepared }
}

/** A conflict that another attempt can solve is undefined; a place that is taken by the other kind is an answer. */
function settled(result: CommitResult): (CommitResult & { ok: true }) | undefined {
  if (result.ok) return result
  // A file that is expected to be free, and is a collection: the path tells it from a collection that just came to be.
  const collection = result.reason === 'version' && !result.path.endsWith('/') && result.current?.kind === 'collection'
  if (result.reason === 'kind' || collection)
    throw new Fault(409, 'Conflict', 'A directory and a file cannot have the same name. Choose another path.')
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
  settleOutcome(decided.admit({ ask: 'post', path: directory, exists: false }), 'POST', directory, decided)
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
          settled: [],
          accessVersion: decided.accessVersion,
        },
        follows,
      )
      if (!settled(result)) return undefined
      return { status: 204, headers: { 'Cache-Control': 'no-store' } }
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
    checkConditions(write.conditions, held)
    const taken = await site.find(to)
    if (taken && !write.overwrite)
      throw new Fault(412, 'PreconditionFailed', 'Something is stored at the destination, and it may not be replaced.')
    await write.check?.(held, [path, to])
    return { held, taken }
  }
  await check(authority())
  return site.leases.hold(site.store.name, [path, to], () =>
    commitLoop(async () => {
      const decided = authority()
      const { held, taken } = await check(decided)
      const model = modelState(site, write)
      const { changes, settles, text, prepared } = await relocation(site, write, held, taken)
      const shaped = held.isDocument && model.registry.shapesAt(to).length > 0
      const judged = await judgeMoved(site, model, to, {
        tree: prepared?.tree ?? (shaped ? await site.parsed(held) : undefined),
        entries: prepared?.derived?.entries,
      })
      // What is replaced goes as if it were deleted (MOD-53).
      const follows = await consequencesOfRemoval(site, model, taken ? [taken] : [])
      refuseEntangled(follows, path)
      const collections = taken ? [] : await missingCollections(site, to)
      const requirements = [...judged.requirements, ...follows.requirements]
      const result = await commitJudged(
        site,
        model,
        {
          changes: [...collections, ...changes],
          events: [deleteEvent(site, path, write.cause), putEvent(site, to, held.resource.digest, text, write.cause)],
          settled: settles,
          accessVersion: decided.accessVersion,
        },
        { ...follows, requirements },
      )
      if (!settled(result)) return undefined
      return { status: 204, headers: { ETag: held.tag, 'Cache-Control': 'no-store' } }
    }),
  )
}

/** Directories are implicit here (HTTP-13), while the store moves only into collections that exist; the outermost first. */
async function missingCollections(site: Site, path: string): Promise<Change[]> {
  const missing: Change[] = []
  for (let folder = parentOf(path); !(await site.store.find(folder)); folder = parentOf(folder))
    missing.unshift({ op: 'collection', path: folder })
  return missing
}

/** A refusal names the path that was refused (HTTP-170). */
function settleMove(authority: Authority, path: string, to: string, exists: boolean): void {
  const outcome = authority.admit({ ask: 'move', path, destination: to, exists })
  const source = outcome === 'refuse' ? authority.admit({ ask: 'move', path, destination: path, exists }) : outcome
  settleOutcome(outcome, 'MOVE', source === 'refuse' ? path : to, authority)
}

/** The changes of a whole move. A type that changes with the name makes it a new document for the parser (HTTP-20). */
async function relocation(
  site: Site,
  write: DocumentMove,
  held: Held,
  taken: Held | undefined,
): Promise<{ changes: Change[]; settles: Settled[]; text: string | undefined; prepared?: Prepared }> {
  const { path, to } = write
  const { resource, bytes } = held
  const type = storedType(to, resource.type)
  const expect = resource.version
  const expectTo = taken ? taken.resource.version : ('absent' as const)
  const kind = kindOf(type)
  if (type === resource.type || kind === 'blob') {
    const text = held.isDocument && bytes ? decode(bytes).text : undefined
    return { changes: [{ op: 'move', from: path, to, expect, expectTo, type }], settles: [], text }
  }
  const { maxBody, maxDocument } = site.settings
  if (resource.size > Math.min(maxBody, maxDocument))
    throw new Fault(413, 'PayloadTooLarge', 'The file is too large to become a document.')
  const prepared = await prepareDocument(site, kind, type, await bytesOf(held.body))
  const { derived } = prepared
  const change: Change = { op: 'move', from: path, to, expect, expectTo, type, kind: 'document' }
  if (derived) Object.assign(change, storedForm(derived))
  return { changes: [change], settles: toSettled(to, prepared), text: prepared.text, prepared }
}

export async function bytesOf(body: Body): Promise<Uint8Array> {
  return 'bytes' in body ? body.bytes : readFile(body.file)
}
