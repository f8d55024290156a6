/** Changes on their way from callers to the writer: what they name, which can never be, and where their bytes travel. */

import type { Content } from '../../blobs.ts'
import type { Change } from '../../commit.ts'
import { StoreError } from '../../errors.ts'
import { packEntries } from '../../records/changes.ts'
import type { PackedChange, PackedContent } from './messages.ts'
import type { Cargo } from './writer.ts'

function packContent(content: Content, cargo: Cargo[]): PackedContent {
  const staged = 'staged' in content ? content.staged : undefined
  if (staged?.place !== undefined) {
    const { place: file, sha256, sha1, md5, size } = staged
    return { file, sha256, sha1, md5, size }
  }
  const bytes = 'bytes' in content ? content.bytes : staged?.bytes
  if (bytes === undefined) throw new StoreError('invalid', 'A staged body has neither bytes nor a file')
  const packed = { offset: 0, length: bytes.length, digest: 'digest' in content ? content.digest : staged?.sha256 }
  cargo.push({ bytes, content: packed })
  return packed
}

/** Takes the bytes out of a change, and makes its entries one text. @param cargo receives them */
export function packChange(change: Change, cargo: Cargo[]): PackedChange {
  if (change.op === 'put') {
    const { entries, ...rest } = change
    return { ...rest, content: packContent(change.content, cargo), ...(entries && { entries: packEntries(entries) }) }
  }
  if (change.op !== 'move' && change.op !== 'copy') return change
  const { entries, ...rest } = change
  return { ...rest, ...(entries && { entries: packEntries(entries) }) }
}
