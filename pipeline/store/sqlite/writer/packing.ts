/** Changes on their way from callers to the writer: what they name, which can never be, and where their bytes travel. */

import type { Content } from '../../blobs.ts'
import type { Change } from '../../commit.ts'
import { StoreError } from '../../errors.ts'
import { isStorable, namesCollection } from '../../paths.ts'
import { packEntries } from '../commit/entries.ts'
import type { PackedChange, PackedContent } from './messages.ts'
import type { Cargo } from './writer.ts'

/** Paths that a change names. */
export function pathsIn(change: Change): string[] {
  return 'path' in change ? [change.path] : [change.from, change.to]
}

/** Names of all resources that a change may make. */
export function namesIn(change: Change): string[] {
  return pathsIn(change).flatMap(path => path.split('/'))
}

function invalid(message: string): never {
  throw new StoreError('invalid', message)
}

/**
 * Refuses what is a mistake of the caller, whatever the store holds.
 * @throws StoreError of reason `invalid`
 */
export function checkChange(change: Change): void {
  for (const path of pathsIn(change))
    if (!isStorable(path)) invalid(`Not a path that can be stored: ${JSON.stringify(path)}`)
  if (change.op === 'put' && namesCollection(change.path)) invalid('A file has no slash at the end of its path')
  if (change.op === 'collection' && !namesCollection(change.path))
    invalid('A collection has a slash at the end of its path')
  if (change.op !== 'move' && change.op !== 'copy') return
  const { from, to } = change
  if (namesCollection(from) !== namesCollection(to))
    invalid('Files go to paths of files, collections to paths of collections')
  if (from === '/' || to === '/') invalid('The root stays where it is')
  if (from === to || (namesCollection(from) && to.startsWith(from)))
    invalid('A resource cannot go to itself or below itself')
}

/** True of blobs in memory that belong into a file. @param limit bytes kept in the database at most */
export function isTooLarge(
  change: Change,
  limit: number,
): change is Extract<Change, { op: 'put' }> & { content: { bytes: Uint8Array } } {
  return (
    change.op === 'put' && change.kind === 'blob' && 'bytes' in change.content && change.content.bytes.length > limit
  )
}

function packContent(content: Content, cargo: Cargo[]): PackedContent {
  const staged = 'staged' in content ? content.staged : undefined
  if (staged?.place !== undefined) {
    const { place: file, sha256, sha1, md5, size } = staged
    return { file, sha256, sha1, md5, size }
  }
  const bytes = 'bytes' in content ? content.bytes : staged?.bytes
  if (bytes === undefined) invalid('A staged body has neither bytes nor a file')
  const packed = { offset: 0, length: bytes.length, digest: staged?.sha256 }
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
