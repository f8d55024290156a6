/** Writes of whole documents and blobs: PUT, DELETE, MOVE, and creation under a generated name (HTTP-90 to HTTP-108). */

import { randomBytes } from 'node:crypto'
import type { Answer } from '../answer.ts'
import type { Authority } from '../authority.ts'
import type { BodySource } from '../body.ts'
import { storedForm } from '../declarations/derive.ts'
import type { Cause } from '../events/mutation.ts'
import { Fault } from '../fault.ts'
import { type Conditions, evaluateWrite, preconditionFailed } from '../http/conditions.ts'
import { formatHttpDate } from '../http/http-date.ts'
import { extensionFor, kindOf, servedType, storedType } from '../http/media.ts'
import { encodePath } from '../http/path.ts'
import { Allowance } from '../language/allowance.ts'
import { authorize, type Gate, type Operation, passGates, perform } from '../operation.ts'
import { absent, requireAllowed } from '../refusals.ts'
import type { Held } from '../site/held.ts'
import { largestDocument, type Site } from '../site/site.ts'
import type { Content } from '../store/blobs.ts'
import type { Change, CommitResult } from '../store/commit.ts'
import type { Property } from '../store/resource.ts'
import { contentTag } from '../store/tags.ts'
import { decode } from '../tree/document.ts'
import { commitJudged, commitLoop, type Judging, type ModelState, modelState } from './commit.ts'
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

interface WholeWrite extends Judging {
  /** Canonical path. */
  path: string
  conditions: Conditions | undefined
  /** Locks that bind the write (HTTP-85): a gate of its own, given the paths that are written. */
  refuseLocked?: (paths: readonly string[]) => Promise<void>
  /**
   * A last look at what is stored, inside the commit; it throws a Fault. The mount has conditions of its own, on what it
   * shows.
   */
  check?: (held: Held | undefined) => void | Promise<void>
  cause: Cause
}

export interface DocumentPut extends WholeWrite {
  type: string | undefined
  language?: string
  /** Modification time set by the client, unix seconds (DAV-36). */
  shown?: number
  /** Dead properties that the new resource begins with. */
  properties?: readonly Property[]
}

export interface DocumentMove extends WholeWrite {
  to: string
  /** False for `Overwrite: F`. */
  overwrite: boolean
}

/** What stands where a document is to be written, and who wants to. */
interface Found<Write extends WholeWrite = WholeWrite> {
  write: Write
  authority: Authority
  held: Held | undefined
}

type WholeGate<F extends Found = Found> = Gate<F>

/** Gate 8 for PUT and DELETE; that nothing is stored there is a gate of its own. */
function authorization(ask: 'put' | 'delete'): WholeGate {
  const method = ask.toUpperCase()
  return {
    name: 'authorization',
    pass({ write: { path }, authority, held }) {
      if (authority.admit({ ask, path, exists: held !== undefined }) === 'refuse') throw authority.refusal(method, path)
    },
  }
}

const existence: WholeGate = {
  name: 'existence',
  pass({ held }) {
    if (!held) throw absent()
  },
}

/** Whether a requester may know the tag of a stored document, which is made of all its bytes (SEC-11). */
function mayRead(authority: Authority, path: string): boolean {
  return authority.admit({ ask: 'read', path, exists: true }) === 'allow'
}

/** HTTP-37 and HTTP-38 for whole documents; whoever may not read one is not told its tag. */
const preconditions: WholeGate = {
  name: 'preconditions',
  pass({ write: { path, conditions }, authority, held }) {
    if (!conditions) return
    const verdict = evaluateWrite(conditions, {
      exists: held !== undefined,
      tags: held ? [held.tag] : [],
      ...(held && { lastModified: held.resource.modified, sameSecond: held.resource.sameSecond }),
    })
    if (verdict !== 'proceed')
      throw preconditionFailed(mayRead(authority, path) ? held?.tag : undefined, held !== undefined)
  },
}

const locks: WholeGate = {
  name: 'locks',
  pass: ({ write }) => write.refuseLocked?.([write.path]),
}

const PUT_GATES: readonly WholeGate[] = [authorization('put'), preconditions, locks]
const DELETE_GATES: readonly WholeGate[] = [authorization('delete'), existence, preconditions, locks]

interface FoundMove extends Found<DocumentMove> {
  /** What stands at the destination. */
  replaced: Held | undefined
}

const MOVE_GATES: readonly WholeGate<FoundMove>[] = [
  {
    name: 'authorization',
    /** A refusal names the path that was refused (HTTP-170). */
    pass({ write: { path, to }, authority, held }) {
      const exists = held !== undefined
      if (authority.admit({ ask: 'move', path, destination: to, exists }) !== 'refuse') return
      const isSource = authority.admit({ ask: 'move', path, destination: path, exists }) === 'refuse'
      throw authority.refusal('MOVE', isSource ? path : to)
    },
  },
  existence,
  {
    name: 'target',
    pass({ write: { path, to } }) {
      if (to === path) throw new Fault(403, 'IllegalMove', 'Source and destination are the same.')
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

function wholeOperation<F extends Found, Ready>(site: Site, parts: WholeParts<F, Ready>): Operation {
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
            await write.check?.(found.held)
            return parts.commit(found, ready)
          }),
        )
      } finally {
        await parts.discard?.(ready)
      }
    },
  }
}

/**
 * Creates or replaces a whole document or blob.
 *
 * @returns answers 201 or 200 with the new stored tag; documents are echoed (HTTP-90)
 */
export function putDocument(site: Site, write: DocumentPut, authority: () => Authority): Operation {
  const { path } = write
  const allowance = write.allowance ?? new Allowance()
  return wholeOperation<Found<DocumentPut>, Prepared>(site, {
    write,
    paths: [path],
    gates: PUT_GATES,
    find: async () => ({ write, authority: authority(), held: await site.find(path) }),
    prepare: body => prepare(site, path, write.type, body),
    async commit({ authority, held }, asked) {
      const model = modelState(site, allowance, write.raw)
      const current = await renewed(site, asked)
      const { prepared, follows } = await judgeDocument(site, model, { path, held, asked: current })
      const own = {
        changes: toChanges(write, held, prepared),
        events: [putEvent(site, path, prepared.digest, prepared.text, write.cause)],
        written: writtenDocuments(path, prepared),
        accessVersion: authority.accessVersion,
      }
      const done = carriedOut(await commitJudged(site, model, own, follows))
      return done && putAnswer(prepared, done, held !== undefined)
    },
    async discard({ content }) {
      if ('staged' in content) await content.staged.discard()
    },
  })
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
  const allowance = write.allowance ?? new Allowance()
  return wholeOperation<Found, void>(site, {
    write,
    paths: [path],
    gates: DELETE_GATES,
    find: async () => ({ write, authority: authority(), held: await site.find(path) }),
    prepare: async () => undefined,
    async commit({ authority, held }) {
      if (!held) throw absent()
      const model = modelState(site, allowance, write.raw)
      const follows = await consequencesOfRemoval(site, model, [held])
      const own = {
        changes: [{ op: 'delete' as const, path, expect: held.resource.version }],
        events: [deleteEvent(site, path, write.cause)],
        written: [],
        accessVersion: authority.accessVersion,
      }
      const done = carriedOut(await commitJudged(site, model, own, follows))
      return done && { status: 204, headers: { 'Cache-Control': 'no-store' } }
    },
  })
}

/**
 * Relocates a whole document or blob; what stood at the destination is replaced.
 *
 * @returns answers 204 (HTTP-108)
 */
export function moveDocument(site: Site, write: DocumentMove, authority: () => Authority): Operation {
  const { path, to } = write
  const allowance = write.allowance ?? new Allowance()
  return wholeOperation<FoundMove, void>(site, {
    write,
    paths: [path, to],
    gates: MOVE_GATES,
    find: async () => ({
      write,
      authority: authority(),
      held: await site.find(path),
      replaced: await site.find(to),
    }),
    prepare: async () => undefined,
    async commit({ authority, held, replaced }) {
      if (!held) throw absent()
      const model = modelState(site, allowance, write.raw)
      const result = await commitMove(site, model, write, held, replaced, authority)
      const isKnown = mayRead(authority, path) || mayRead(authority, to)
      const headers = { ...(isKnown && { ETag: held.tag }), 'Cache-Control': 'no-store' }
      return carriedOut(result) && { status: 204, headers }
    },
  })
}

async function commitMove(
  site: Site,
  model: ModelState,
  write: DocumentMove,
  held: Held,
  replaced: Held | undefined,
  authority: Authority,
): Promise<CommitResult> {
  const { path, to, cause } = write
  const { resource, bytes } = held
  const arrival = await renamed(site, resource, to)
  const { prepared } = arrival
  checkNewKind(site, held, to, arrival, authority)
  const isShaped = held.isDocument && model.registry.shapesAt(to).length > 0
  const judged = await judgeMoved(site, model, to, {
    tree: prepared?.tree ?? (isShaped ? await site.parsed(held) : undefined),
    entries: prepared?.derived.entries,
  })
  // What is replaced goes as if it were deleted (MOD-53).
  const follows = await consequencesOfRemoval(site, model, replaced ? [replaced] : [])
  refuseEntangled(follows, path)
  // Directories are implicit here (HTTP-13), while the store moves only into collections that exist.
  const parents = replaced ? [] : await missingParents(site.store, to)
  const expect = { expect: resource.version, expectTo: replaced ? replaced.resource.version : ('absent' as const) }
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
  requireAllowed(authority, { ask: 'put', path: to, exists: true }, 'PUT', to)
}
