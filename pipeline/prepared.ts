/** Bodies of whole-document writes, ready to be committed. */

import { hash } from 'node:crypto'
import { type Derived, parseForStorage } from './derive.ts'
import type { Settled, Site } from './site.ts'
import type { Content } from './store/store.ts'
import type { DocumentKind, TreeDocument } from './tree/nodes.ts'

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
}

export function prepareDocument(site: Site, kind: DocumentKind, type: string, bytes: Uint8Array): Prepared {
  const parsed = parseForStorage(bytes, kind, site.settings)
  return { content: { bytes }, digest: hash('sha256', bytes), kind: 'document', type, bytes, ...parsed }
}

export function toSettled(path: string, prepared: Prepared): Settled[] {
  const { bytes, derived, tree } = prepared
  if (!bytes || !derived) return []
  const { profile, access, model } = derived
  return [{ path, bytes, profile, access, model, ...(tree && { settle: () => tree }) }]
}
