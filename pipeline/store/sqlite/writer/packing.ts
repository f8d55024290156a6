/** Changes on their way from callers to the writer: what they name, which can never be, and where their bytes travel. */

import type { ByteSplice, Content } from '../../blobs.ts'
import type { Change, Commit } from '../../commit.ts'
import { StoreError } from '../../errors.ts'
import { packEntries } from '../../packed-entries.ts'
import type { PackedChange, PackedContent, PackedEvent, PackedSplice } from './messages.ts'
import type { Cargo } from './writer.ts'

function packContent(content: Content, cargo: Cargo[]): PackedContent {
  const staged = 'staged' in content ? content.staged : undefined
  if (staged?.place !== undefined) {
    const { place: file, sha256, sha1, md5, size } = staged
    return { file, sha256, sha1, md5, size }
  }
  if ('bytes' in content && content.splices && content.digest !== undefined) {
    const { digest, splices } = content
    return { splices: packSplices(splices, cargo), digest, size: sizeOf(content) }
  }
  const bytes = 'bytes' in content ? content.bytes : staged?.bytes
  if (bytes === undefined) throw new StoreError('invalid', 'A staged body has neither bytes nor a file')
  const packed = { offset: 0, length: bytes.length, digest: 'digest' in content ? content.digest : staged?.sha256 }
  cargo.push({ bytes, content: packed })
  return packed
}

/** Nobody asks for the bytes where their number is known. */
function sizeOf(content: Extract<Content, { bytes: Uint8Array }>): number {
  return content.size ?? content.bytes.length
}

/** From the last to the first, so that each counts in what the one before has left. */
function packSplices(splices: readonly ByteSplice[], cargo: Cargo[]): PackedSplice[] {
  return splices.toReversed().map(({ start, end, bytes }) => {
    const packed = { start, end, offset: 0, length: bytes.length }
    cargo.push({ bytes, content: packed })
    return packed
  })
}

/** Bytes of the smallest body that is changed by splices: of smaller ones most pages would be written anyway. */
const LEAST = 32 * 1024

/** Splices are kept that are at most this part of the body. */
const SHARE = 1 / 16

/** What is to be stored, with splices only where they are worth it. */
function contentOf({ content, expect }: Extract<Change, { op: 'put' }>, maySplice: boolean): Content {
  if (!('bytes' in content) || !content.splices) return content
  const { digest, splices } = content
  const size = sizeOf(content)
  const added = splices.reduce((sum, splice) => sum + splice.bytes.length, 0)
  const isWorthIt = size >= LEAST && added <= size * SHARE
  const isKnown = typeof expect === 'number' || (typeof expect === 'object' && 'digest' in expect)
  return maySplice && isWorthIt && isKnown ? content : { bytes: content.bytes, digest }
}

/**
 * Takes the bytes out of a change, and makes its entries one text.
 *
 * @param cargo receives them
 * @param maySplice bodies may be kept as splices
 */
export function packChange(change: Change, cargo: Cargo[], maySplice: boolean): PackedChange {
  if (change.op === 'put') {
    const { entries, ...rest } = change
    return {
      ...rest,
      content: packContent(contentOf(change, maySplice), cargo),
      ...(entries && { entries: entries.length === 0 ? '' : packEntries(entries) }),
    }
  }
  if (change.op !== 'move' && change.op !== 'copy') return change
  const { entries, ...rest } = change
  return { ...rest, ...(entries && { entries: packEntries(entries) }) }
}

/**
 * By path, whether the body that a commit leaves there may be shared with an event. That of a document that was there before
 * has been shared already, or is about to be exchanged again: each event of such a body would have it moved out of the way.
 */
function newBodies(changes: Commit['changes']): ReadonlyMap<string, boolean> {
  const bodies = new Map<string, boolean>()
  for (const change of changes) {
    if (change.op === 'describe') continue
    if (change.op !== 'put') return new Map()
    const { path, kind, expect, content } = change
    bodies.set(path, !bodies.has(path) && kind === 'document' && expect === 'absent' && 'bytes' in content)
  }
  return bodies
}

/** Takes the texts of new documents out of the events of a commit, which their bytes say already. */
export function packEvents({ changes, events = [] }: Pick<Commit, 'changes' | 'events'>): PackedEvent[] {
  let bodies: ReadonlyMap<string, boolean> | undefined
  return events.map(({ text, ...event }) => {
    if (!text) return event
    bodies ??= newBodies(changes)
    if (!bodies.get(event.path)) return event
    const { payload } = event
    return { ...event, payload: payload.slice(0, text.start), tail: payload.slice(text.start + text.length) }
  })
}
