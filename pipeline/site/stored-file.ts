/** A stored resource as the process holds it in memory: its state, its bytes and, once somebody needs them, text and tree. */

import type { Profile } from '../declarations/derive.ts'
import { Fault } from '../fault.ts'
import { type Kind, kindOf } from '../http/media.ts'
import type { Body } from '../store/blobs.ts'
import type { Resource } from '../store/resource.ts'
import { contentTag } from '../store/tags.ts'
import { decode, decodeInTurn, parsingDocument, TreeError } from '../tree/document.ts'
import type { DocumentKind, TreeDocument } from '../tree/nodes.ts'
import { type PackedTree, packedBytes, packTree, unpackTree } from '../tree/packed.ts'
import { knownReading } from '../tree/readings.ts'
import { SplicedBytes } from '../tree/spliced-bytes.ts'
import { atOnce, inTurns, type Steps } from '../tree/steps.ts'
import { treeBytes } from '../tree/weight.ts'
import { type Coding, compress } from './encodings.ts'
import { type FollowedEdit, following, isFrom } from './followed-edits.ts'

/** Edits that are followed one by one; behind more of them the document is parsed. */
const MOST_EDITS = 32

/** UTF-16 code units of the text of a tree that is packed and unpacked without a pause: two or three milliseconds. */
const MOST_PACKED = 256 * 1024

/** Bytes of a short name in a list. */
const NAME = 40

/** The tree of a version, or what there is left to do until it is there; then with the bytes that it takes, about. */
export type NewTree = { value: TreeDocument } | { work: Steps<TreeDocument>; bytes: number }

export class StoredFile {
  readonly resource: Resource
  readonly body: Body
  readonly kind: Kind
  /** The stored tag (HTTP-31). */
  readonly tag: string
  readonly profile: Profile | undefined
  /** Told when it takes more memory than before, in bytes. */
  grows: ((bytes: number) => void) | undefined
  /** Made with the first of them. */
  #codings: Map<Coding, Uint8Array | 'larger' | 'running'> | undefined
  /** Bytes of all compressed copies. */
  codingBytes = 0
  /** Bytes of trees that were made of its text for composition. */
  pageBytes = 0
  #tree: TreeDocument | undefined
  /** The same tree, for when nobody needs it. */
  #packed: PackedTree | undefined
  #parsing: Promise<void> | undefined
  /** Settles when the next version, whose edits have the tree now, is there or will not come. */
  lent: Promise<void> | undefined
  /** What other processes have made of this version since. */
  readonly #later: (FollowedEdit & { to: number })[] = []
  /** The tree of an older version, and how this one comes of it. */
  #older: { tree: TreeDocument; edits: readonly FollowedEdit[] } | undefined

  /** A tree that is about to be that of this version. */
  #unfinished: Exclude<NewTree, { value: TreeDocument }> | undefined

  constructor(resource: Resource, body: Body, profile: Profile | undefined, tree?: NewTree) {
    this.resource = resource
    this.body = body
    this.kind = kindOf(resource.type)
    this.tag = contentTag(resource.digest)
    this.profile = profile
    if (tree && 'value' in tree) this.#tree = tree.value
    else this.#unfinished = tree
  }

  get isDocument(): boolean {
    return this.kind !== 'blob'
  }

  /** Bytes in memory, or undefined for a blob kept as a file. */
  get bytes(): Uint8Array | undefined {
    return 'bytes' in this.body ? this.body.bytes : undefined
  }

  /** The same for edits, which leave most of them as they are. */
  get spliced(): SplicedBytes | undefined {
    const { body } = this
    if (body instanceof SplicedBytes) return body
    return 'bytes' in body ? new SplicedBytes([body.bytes]) : undefined
  }

  /** Bytes that it holds of its body. */
  get bodyBytes(): number {
    return 'bytes' in this.body ? this.resource.size : 0
  }

  /** Bytes of the names that its profile lists, whose characters stand in the body. */
  get profileBytes(): number {
    return this.profile ? NAME * (this.profile.types.length + this.profile.namespaces.length) : 0
  }

  /** Whether its tree is there, or comes at once. */
  get hasTree(): boolean {
    return this.#tree !== undefined || this.#packed !== undefined
  }

  /** Whether it takes the memory of a tree, be it that of an older version. */
  get keepsTree(): boolean {
    return this.hasTree || this.#older !== undefined || this.#unfinished !== undefined
  }

  /** Bytes that its tree takes, packed or not. */
  get treeBytes(): number {
    const tree = this.#tree ?? this.#older?.tree
    const read = tree && knownReading(tree)
    const own = tree ? treeBytes(tree) + (read ? treeBytes(read) : 0) + this.pageBytes : this.#unfinished?.bytes
    return (own ?? 0) + this.packedBytes
  }

  /** Bytes of its packed tree, which stays when the tree itself is there again. */
  get packedBytes(): number {
    return this.#packed ? packedBytes(this.#packed) : 0
  }

  /** Whether there is a newer version, which this one helps to read. */
  get isOutdated(): boolean {
    return this.#later.length > 0
  }

  /**
   * Notes what another process has made of it.
   *
   * @param to version that came of the edit
   * @returns false where nothing is gained by it
   */
  follow(edit: FollowedEdit, to: number): boolean {
    const last = this.#later.at(-1)
    const reached = last ? { version: last.to, digest: last.left?.digest } : this.resource
    const length = (this.#older?.edits.length ?? 0) + this.#later.length
    if (!isFrom(edit.from, reached) || !this.keepsTree || length === MOST_EDITS) return false
    this.#later.push({ ...edit, to })
    return true
  }

  /** Takes over the tree of an outdated version, if this one is known to come of it. */
  inherit(before: StoredFile): void {
    if (before.#later.at(-1)?.to !== this.resource.version) return
    const { tree, edits } = before.#older ?? { tree: before.#tree ?? before.#unpacked(), edits: [] }
    if (tree) this.#older = { tree, edits: [...edits, ...before.#later] }
    before.releaseTree()
  }

  /**
   * The parsed tree, made when first needed. Use it synchronously, or pin it: the next commit changes it in place.
   *
   * @throws Fault 422 for a blob or a document that cannot be parsed
   */
  get tree(): TreeDocument {
    this.#tree ??= this.#unpacked() ?? (this.#unfinished && atOnce(this.#finishing(this.#unfinished)))
    if (this.#tree) return this.#tree
    const { kind, bytes } = this.#markup()
    const { text } = decode(bytes)
    try {
      this.#tree = atOnce(this.#reading(kind, text))
      return this.#tree
    } catch (error) {
      throw unreadable(error)
    }
  }

  /**
   * Makes the tree without holding up others where the document is large.
   *
   * @throws Fault 422 as `tree`
   */
  parse(): Promise<void> {
    this.#parsing ??= this.#parse().finally(() => {
      this.#parsing = undefined
    })
    return this.#parsing
  }

  async #parse(): Promise<void> {
    if (this.#unfinished) {
      this.#tree = await inTurns(this.#finishing(this.#unfinished), this.resource.size)
      return
    }
    const { kind, bytes } = this.#markup()
    const { text } = await decodeInTurn(bytes)
    try {
      const tree = await inTurns(this.#reading(kind, text), text.length)
      this.#tree ??= tree
    } catch (error) {
      throw unreadable(error)
    }
  }

  /** Nobody else can go on with a tree that somebody has begun to finish. */
  *#finishing({ work }: { work: Steps<TreeDocument> }): Steps<TreeDocument> {
    this.#unfinished = undefined
    return yield* work
  }

  *#reading(kind: DocumentKind, text: string): Steps<TreeDocument> {
    const older = this.#older
    this.#older = undefined
    return (older && (yield* following(older.tree, older.edits, text))) ?? (yield* parsingDocument(kind, text))
  }

  #markup(): { kind: DocumentKind; bytes: Uint8Array } {
    const { kind, bytes } = this
    if (kind === 'blob' || !bytes) throw notHtml()
    return { kind, bytes }
  }

  #unpacked(): TreeDocument | undefined {
    return this.#packed && unpackTree(this.#packed, decode(this.#markup().bytes).text)
  }

  /** Keeps the tree as bytes, if it is not too large for that. Not while somebody shows an edit in it. */
  packTree(): void {
    const tree = this.#tree
    if (tree && tree.source.length <= MOST_PACKED) this.#packed ??= packTree(tree)
    this.#tree = undefined
    this.#unfinished = undefined
    this.#older = undefined
  }

  /**
   * Gives its tree to edits that are about to be committed. Until then whoever needs the tree had better wait.
   *
   * @param until settles, and never fails, when the next version is there or will not come
   */
  lendTree(until: Promise<void>): void {
    this.lent = until.then(() => {
      this.lent = undefined
    })
    this.releaseTree()
  }

  /** Takes over the tree of the same version as it was in memory before, if there is one. */
  adoptTree(before: StoredFile): void {
    this.#tree ??= before.#tree
    before.releaseTree()
  }

  /** The tree goes to the version that follows this one. */
  releaseTree(): void {
    this.#tree = undefined
    this.#packed = undefined
    this.#unfinished = undefined
    this.#older = undefined
  }

  /**
   * A compressed copy of the bytes, if there is one by now. The first call for a coding starts making it, off the
   * event loop.
   *
   * @returns the copy, `none` when compression does not pay, or `pending`
   */
  coding(coding: Coding): Uint8Array | 'none' | 'pending' {
    const { bytes } = this
    if (!bytes) return 'none'
    const codings = (this.#codings ??= new Map())
    const found = codings.get(coding)
    if (found === 'larger') return 'none'
    if (found === 'running') return 'pending'
    if (found) return found
    codings.set(coding, 'running')
    compress(coding, bytes).then(
      copy => {
        const pays = copy.length < bytes.length
        codings.set(coding, pays ? copy : 'larger')
        if (!pays) return
        this.codingBytes += copy.length
        this.grows?.(copy.length)
      },
      () => codings.set(coding, 'larger'),
    )
    return 'pending'
  }
}

/** What was stored under other limits. */
function unreadable(error: unknown): unknown {
  return error instanceof TreeError ? new Fault(422, 'InvalidFragment', error.message, { cause: error }) : error
}

/** A selector request on something that has no elements (HTTP-22). */
export function notHtml(): Fault {
  return new Fault(422, 'NotHtml', 'This resource is not a document with elements; selectors do not apply to it.')
}
