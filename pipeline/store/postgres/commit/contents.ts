/** The bytes of a change and what was derived from them, on their way into tables. */

import { hash } from 'node:crypto'
import type { Content } from '../../blobs.ts'
import { StoreError } from '../../errors.ts'
import { kindNumber } from '../../records/rows.ts'
import { uploadOf } from '../blobs/objects.ts'
import { type NewBody, setDerived, useBlob } from './pending.ts'
import type { CommitState } from './state.ts'

/** Kind number of documents: their bytes are never in chunks. */
const DOCUMENT = kindNumber('document')

/** Where the bytes of a content come from, and what they are. */
export function resolve(
  state: CommitState,
  content: Content,
  kind: number,
): { body?: NewBody; digest: string; size: number } {
  const staged = 'staged' in content ? content.staged : undefined
  const bytes = 'bytes' in content ? content.bytes : staged?.bytes
  const known = 'digest' in content ? content.digest : staged?.sha256
  if (bytes !== undefined) return { body: bytes, digest: known ?? hash('sha256', bytes), size: bytes.length }
  if (staged?.place === undefined) throw new StoreError('invalid', 'A staged body has neither bytes nor a place')
  const { place, sha256: digest, size, sha1, md5 } = staged
  const { upload, object } = uploadOf(place)
  if (kind === DOCUMENT && object) throw new StoreError('invalid', 'A document is never in an object')
  if (kind === DOCUMENT) return { body: { upload }, digest, size }
  if (sha1 === undefined || md5 === undefined) throw new StoreError('invalid', 'A staged body has no checksums')
  useBlob(state.pending, digest, { use: 'new', upload, object, size, sha1, md5 })
  return { digest, size }
}

/** Stores derived data of a resource. */
export function deriveAll(
  state: CommitState,
  id: number,
  derived: Record<string, string> | undefined,
  whole: boolean,
): void {
  if (!whole && derived === undefined) return
  setDerived(state.pending, id, { site: state.site.id, values: new Map(Object.entries(derived ?? {})), whole })
}
