/** Bodies of whole-document writes, ready to be committed. */

import { hash } from 'node:crypto'
import { type AccessTypes, extractAccess } from '../access/extract.ts'
import { type Derived, deriveInTurns, parseForStorage } from '../site/derive.ts'
import type { Settled, Site } from '../site/site.ts'
import type { Content } from '../store/store.ts'
import { decode, encode } from '../tree/document.ts'
import type { DocumentKind, TreeDocument } from '../tree/nodes.ts'

/** A body ready to be committed. */
export interface Prepared {
  content: Content
  digest: string
  kind: 'document' | 'blob'
  type: string
  /** Documents only. */
  bytes?: Uint8Array
  text?: string
  tree?: TreeDocument
  derived?: Derived
  /** What `derived` was made by. */
  accessTypes?: AccessTypes | undefined
}

/** A document ready to be committed. */
export interface PreparedDocument extends Prepared {
  bytes: Uint8Array
  text: string
  tree: TreeDocument
  derived: Derived
}

/** @throws Fault 422 when the bytes are no document */
export async function prepareDocument(
  site: Site,
  kind: DocumentKind,
  type: string,
  bytes: Uint8Array,
): Promise<PreparedDocument> {
  const { derivation } = site
  const parsed = await parseForStorage(bytes, kind, derivation)
  const { accessTypes } = derivation
  return { content: { bytes }, digest: hash('sha256', bytes), kind: 'document', type, bytes, accessTypes, ...parsed }
}

/**
 * What was prepared, as it is to be committed now: since then, schemas may have made rules or groups of its items, or the
 * other way round (RULE-12, GRP-4).
 *
 * @throws Fault 422
 */
export async function renewed(site: Site, prepared: Prepared): Promise<Prepared> {
  const { tree, derived } = prepared
  const { derivation } = site
  const { accessTypes } = derivation
  if (!tree || !derived || accessTypes === prepared.accessTypes) return prepared
  return { ...prepared, accessTypes, derived: await deriveInTurns(tree, derivation, derived.profile.utf8) }
}

/**
 * A document that the server has changed.
 *
 * @param tree its tree, which belongs to the caller alone
 * @param before the bytes it had; a byte order mark stays
 */
export async function prepareTree(
  site: Site,
  type: string,
  tree: TreeDocument,
  before: Uint8Array | undefined,
): Promise<PreparedDocument> {
  const bytes = encode(tree.source, before !== undefined && decode(before.subarray(0, 3)).bom)
  const derived = await deriveInTurns(tree, site.derivation, true)
  return {
    content: { bytes },
    digest: hash('sha256', bytes),
    kind: 'document',
    type,
    bytes,
    text: tree.source,
    tree,
    derived,
  }
}

export function toSettled(path: string, prepared: Prepared): Settled[] {
  const { bytes, derived, tree } = prepared
  if (!bytes || !derived) return []
  const { profile, access, model } = derived
  if (!tree) return [{ path, bytes, profile, access, model }]
  const extract = (types: AccessTypes, ns: string) => extractAccess(tree, ns, types)
  return [{ path, bytes, profile, access, model, extract, settle: () => tree }]
}
