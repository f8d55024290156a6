/** New versions of resources, with everything that a commit needs to know of them. */

import { type Derived, deriveInTurns, parseForStorage, readForStorage, storedForm } from '../declarations/derive.ts'
import type { Subtypes } from '../declarations/kind.ts'
import type { ShowTree } from '../declarations/retype.ts'
import { Fault } from '../fault.ts'
import { kindOf, storedType } from '../http/media.ts'
import { absent } from '../refusals.ts'
import { largestDocument, type Site, type WrittenDocument } from '../site/site.ts'
import { type Body, type ByteSplice, blobBytes, type Content } from '../store/blobs.ts'
import type { Change } from '../store/commit.ts'
import type { Resource } from '../store/resource.ts'
import {
  decode,
  digestingBytes,
  digestOf,
  encoding,
  joining,
  measuring,
  PIECE,
  parsingDocument,
} from '../tree/document.ts'
import type { PlannedSplice } from '../tree/edit/edit.ts'
import type { DocumentKind, TreeDocument } from '../tree/nodes.ts'
import type { Stretches } from '../tree/source-text.ts'
import { SplicedBytes } from '../tree/spliced-bytes.ts'
import { done, inTurns, type Steps } from '../tree/steps.ts'

/** A version of a resource that is not committed yet. */
export interface NewVersion {
  content: Content
  digest: string
  kind: 'document' | 'blob'
  type: string
  /** Documents only. */
  bytes?: Uint8Array
  text?: string
  /** Missing where everything that the commit needs was known without it. */
  tree?: TreeDocument
  derived?: Derived
  /** What `derived` was made by. */
  subtypes?: Subtypes | undefined
}

/** The same of a document. */
export interface NewDocument extends NewVersion {
  bytes: Uint8Array
  text: string
  tree: TreeDocument
  derived: Derived
}

/** Bytes of a document that is parsed again at once where its tree is wanted after all: a few milliseconds. */
const SHORT = 64 * 1024

/**
 * A document as somebody saves it: parsed only where that is needed.
 *
 * @param isLookedInto whether its tree is probably wanted; else a short one comes without it
 * @throws Fault 422 when the bytes are no document
 */
export async function savedDocument(
  site: Site,
  kind: DocumentKind,
  type: string,
  bytes: Uint8Array,
  isLookedInto: boolean,
): Promise<NewVersion> {
  const { derivation } = site
  const { tree, ...read } = await readForStorage(bytes, kind, derivation)
  const { subtypes } = derivation
  const digest = await digestOf(bytes)
  const version: NewVersion = { content: { bytes, digest }, digest, kind: 'document', type, bytes, subtypes, ...read }
  // A tree weighs many times its text: those that wait for their commits would be copied with each collection.
  if (tree && (isLookedInto || bytes.length > SHORT || Object.keys(read.derived.declares).length > 0))
    version.tree = tree
  return version
}

/** Whether a version has items: without them there is nothing in its tree to look at, whatever the site declares. */
export function holdsItems({ derived }: NewVersion): boolean {
  return derived !== undefined && derived.items.length > 0
}

/**
 * With its tree, for those who look into it.
 *
 * @throws Fault 422
 */
export async function parsedVersion(site: Site, prepared: NewVersion): Promise<NewVersion> {
  const { tree, bytes, type } = prepared
  const kind = kindOf(type)
  if (tree || !bytes || kind === 'blob') return prepared
  return { ...prepared, tree: (await parseForStorage(bytes, kind, site.derivation)).tree }
}

/** @throws Fault 422 when the bytes are no document */
async function newDocument(site: Site, kind: DocumentKind, type: string, bytes: Uint8Array): Promise<NewDocument> {
  const { derivation } = site
  const parsed = await parseForStorage(bytes, kind, derivation)
  const { subtypes } = derivation
  const digest = await digestOf(bytes)
  return { content: { bytes, digest }, digest, kind: 'document', type, bytes, subtypes, ...parsed }
}

/**
 * What was prepared, as it is to be committed now: since then, schemas may have made rules or groups of its items, or the
 * other way round (RULE-12, GRP-4).
 *
 * @throws Fault 422
 */
export async function rederived(site: Site, prepared: NewVersion): Promise<NewVersion> {
  const { derivation } = site
  const { subtypes } = derivation
  if (subtypes === prepared.subtypes) return prepared
  const { tree, derived } = holdsItems(prepared) ? await parsedVersion(site, prepared) : prepared
  if (!tree || !derived) return prepared
  return { ...prepared, tree, subtypes, derived: await deriveInTurns(tree, derivation, derived.profile.utf8) }
}

/**
 * The text of a document that the server has changed, as bytes, in steps.
 *
 * @param before the bytes it had; a byte order mark stays
 * @throws Fault 413
 */
export function* encodingText(
  site: Site,
  text: string,
  before: Uint8Array | undefined,
): Steps<{ bytes: Uint8Array; digest: string }> {
  const bytes = yield* encoding(text, before !== undefined && decode(before.subarray(0, 3)).bom)
  requireRoom(site, bytes)
  return { bytes, digest: yield* digestingBytes(bytes) }
}

/** @throws Fault 413 */
function requireRoom(site: Site, { length }: { length: number }): void {
  if (length > largestDocument(site.settings))
    throw new Fault(413, 'PayloadTooLarge', 'The document would become larger than allowed here.')
}

/** A document that an edit has changed, as bytes. */
export interface EncodedEdit {
  body: SplicedBytes
  digest: string
  /** How they come of the bytes before; missing where nothing but the result is known. */
  splices?: readonly ByteSplice[] | undefined
}

/**
 * The bytes of a document that an edit has changed, made of those that it had, in steps.
 *
 * @param before the bytes it had, in valid UTF-8
 * @param source the text that it had
 * @param changes stretches of that text, in order
 * @returns the digest of the bytes, and how they come of those before, as well
 * @throws Fault 413
 */
export function* encodingEdit(
  site: Site,
  before: SplicedBytes,
  source: Stretches,
  changes: readonly PlannedSplice[],
): Steps<EncodedEdit> {
  const mark = decode(before.first(3)).bom ? 3 : 0
  // Where no character takes more than one byte, places in the text are places in the bytes.
  const isPlain = source.length + mark === before.length
  const splices: ByteSplice[] = []
  let [at, end] = [0, 0]
  for (const change of changes) {
    const start = isPlain
      ? change.start + mark
      : end + (yield* measuring(source, at, change.start)) + (at === 0 ? mark : 0)
    end = isPlain ? change.end + mark : start + (yield* measuring(source, change.start, change.end))
    at = change.end
    const bytes = yield* encoding(change.text, false)
    splices.push({ start, end, bytes })
  }
  const body = before.changed(splices)
  requireRoom(site, body)
  if (body.length <= PIECE) return { body, digest: body.digest(), splices }
  const bytes = yield* joining(body.parts)
  return { body: new SplicedBytes([bytes]), digest: yield* digestingBytes(bytes), splices }
}

/**
 * A document that the server has changed.
 *
 * @param tree its tree, which belongs to the caller alone
 * @param before the bytes it had; a byte order mark stays
 * @throws Fault 413, 422
 */
export async function newDocumentOf(
  site: Site,
  type: string,
  tree: TreeDocument,
  before: Uint8Array | undefined,
): Promise<NewDocument> {
  const { bytes, digest } = await inTurns(encodingText(site, tree.source, before), tree.source.length)
  const derived = await deriveInTurns(tree, site.derivation, true)
  return { content: { bytes, digest }, digest, kind: 'document', type, bytes, text: tree.source, tree, derived }
}

/** Puts a new version in the place of a stored document, whose type and language stay. */
export function putVersion(
  { path, version, type, language }: Resource,
  { content, derived }: { content: Content; derived: Derived },
): Change {
  return {
    op: 'put',
    path,
    expect: version,
    kind: 'document',
    content,
    type,
    ...(language !== undefined && { language }),
    ...storedForm(derived),
  }
}

/** A stored file under another name. */
export interface UnderNewName {
  type: string
  /** What is to be committed of it where the name makes it another document, or one for the first time (HTTP-20). */
  prepared?: NewDocument
}

/**
 * @param to path that the file comes to
 * @throws Fault 404, 413 or 422 for a file that would become a document and cannot
 */
export async function underNewName(
  site: Site,
  { path, type: before, size }: Resource,
  to: string,
): Promise<UnderNewName> {
  const type = storedType(to, before)
  const kind = kindOf(type)
  if (type === before || kind === 'blob') return { type }
  if (size > largestDocument(site.settings))
    throw new Fault(413, 'PayloadTooLarge', 'The file is too large to become a document.')
  const file = await site.find(path)
  if (!file) throw absent()
  return { type, prepared: await newDocument(site, kind, type, await bytesOf(file.body)) }
}

/** What a copy or move says of a file with another name. */
export function retyping({ type, prepared }: UnderNewName) {
  return { type, ...(prepared && { kind: prepared.kind, ...storedForm(prepared.derived) }) }
}

/** The bytes of something stored. */
export async function bytesOf(body: Body): Promise<Uint8Array> {
  return 'bytes' in body ? body.bytes : blobBytes(body.blob)
}

export function writtenDocuments(path: string, prepared: NewVersion): WrittenDocument[] {
  const { bytes, derived, tree, text, type } = prepared
  if (!bytes || !derived) return []
  const { profile, declares } = derived
  const kind = kindOf(type)
  if (!tree) {
    const written = { path, body: { bytes }, profile, declares }
    // A document without items declares nothing, whatever types there are.
    if (!holdsItems(prepared) || text === undefined || kind === 'blob') return [written]
    const tree = () => inTurns(parsingDocument(kind, text), text.length)
    return [{ ...written, show: async look => inTurns(look(await tree()), text.length) }]
  }
  const show: ShowTree = look => inTurns(look(tree), tree.source.length)
  return [{ path, body: { bytes }, profile, declares, show, newTree: () => done(tree), isSaved: true }]
}
