/** The responses of the members of one leaf, put together from those that were written before, and new ones (DAV-37). */

import type { Property } from '../../pipeline/store/resource.ts'
import { type ShownLocks, takenOn } from '../locks/locks-in-force.ts'
import type { Node } from '../places/place.ts'
import { needsWindows } from '../properties/response.ts'
import type { Leaf } from './listings.ts'

export interface LeafResponses {
  bytes: Uint8Array
  /** Where the response of each member ends in them. */
  ends: Uint32Array
  /** Members whose responses need the prefix for properties of Windows. */
  windows: ReadonlySet<Node>
  /** Members whose responses show locks, which count their seconds. */
  locked: ReadonlySet<Node>
}

/** The response of one member among those of a leaf. */
interface Written {
  page: LeafResponses
  start: number
  end: number
}

export type WrittenBefore = ReadonlyMap<Node, Written>

/** Characters of a text that is turned into bytes by itself. */
const LONG = 64 * 1024

const NOBODY: ReadonlySet<Node> = new Set()

/** Whether the responses of a leaf still say it all. */
export function isSteady({ locked }: LeafResponses, leaf: Leaf, locks: ShownLocks): boolean {
  return locked.size === 0 && !(locks.taken.size > 0 && leaf.some(node => showsLocks(node, locks)))
}

/** @returns whether a member is under locks of its own */
function showsLocks({ resource }: Node, locks: ShownLocks): boolean {
  return takenOn(locks, resource.path).length > 0
}

/**
 * Responses by member: a member that has not changed is the same object in another leaf, and its response the same.
 *
 * @param steady leaves that are not looked through, because they are given again as a whole
 */
export function writtenBefore(
  pages: ReadonlyMap<Leaf, LeafResponses>,
  steady: ReadonlySet<LeafResponses | undefined>,
): WrittenBefore {
  const written = new Map<Node, Written>()
  for (const [leaf, page] of pages) {
    if (steady.has(page)) continue
    let start = 0
    for (const [i, node] of leaf.entries()) {
      const end = page.ends[i] ?? start
      if (!page.locked.has(node)) written.set(node, { page, start, end })
      start = end
    }
  }
  return written
}

/** The response of a member, if it may be given again. */
function given(node: Node, before: WrittenBefore, locks: ShownLocks): Written | undefined {
  const written = before.get(node)
  return written && !showsLocks(node, locks) ? written : undefined
}

/** Members of a leaf whose responses have to be written. */
export function unwritten(leaf: Leaf, before: WrittenBefore, locks: ShownLocks): Leaf {
  return before.size === 0 ? leaf : leaf.filter(node => !given(node, before, locks))
}

/**
 * @param write makes the response of a member, with its dead properties
 * @param dead properties by path; members without any are left out
 */
export async function writeLeaf(
  leaf: Leaf,
  before: WrittenBefore,
  locks: ShownLocks,
  dead: ReadonlyMap<string, readonly Property[]>,
  write: (node: Node, properties: readonly Property[]) => Promise<string> | string,
): Promise<LeafResponses> {
  const bytes = new Pieces()
  const ends = new Uint32Array(leaf.length)
  const [windows, locked] = [new Set<Node>(), new Set<Node>()]
  for (const [i, node] of leaf.entries()) {
    const again = given(node, before, locks)
    if (again) {
      bytes.copy(again)
      if (again.page.windows.has(node)) windows.add(node)
    } else {
      const properties = dead.get(node.resource.path) ?? []
      const response = write(node, properties)
      bytes.add(typeof response === 'string' ? response : await response)
      if (needsWindows(properties)) windows.add(node)
      if (showsLocks(node, locks)) locked.add(node)
    }
    ends[i] = bytes.length
  }
  return {
    bytes: bytes.joined(),
    ends,
    windows: windows.size > 0 ? windows : NOBODY,
    locked: locked.size > 0 ? locked : NOBODY,
  }
}

/** Texts, and stretches of bytes, one behind the other. What lies together is taken together. */
class Pieces {
  length = 0
  readonly #pieces: Uint8Array[] = []
  #text = ''
  #run: Written | undefined

  add(text: string): void {
    this.#endRun()
    // A long text is gone through once.
    if (text.length > LONG) {
      this.#endText()
      const bytes = Buffer.from(text)
      this.#pieces.push(bytes)
      this.length += bytes.length
      return
    }
    this.#text += text
    this.length += Buffer.byteLength(text)
  }

  copy(written: Written): void {
    this.#endText()
    const run = this.#run
    if (run?.page === written.page && run.end === written.start) run.end = written.end
    else {
      this.#endRun()
      this.#run = { ...written }
    }
    this.length += written.end - written.start
  }

  joined(): Uint8Array {
    this.#endRun()
    this.#endText()
    const [only] = this.#pieces
    return only && this.#pieces.length === 1 ? only : Buffer.concat(this.#pieces, this.length)
  }

  #endText(): void {
    if (this.#text !== '') this.#pieces.push(Buffer.from(this.#text))
    this.#text = ''
  }

  #endRun(): void {
    if (this.#run) this.#pieces.push(this.#run.page.bytes.subarray(this.#run.start, this.#run.end))
    this.#run = undefined
  }
}
