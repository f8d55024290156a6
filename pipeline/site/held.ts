/** A stored resource as the process holds it in memory: its state, its bytes and, once somebody needs them, text and tree. */

import { Fault } from '../fault.ts'
import { type Kind, kindOf } from '../http/media.ts'
import type { Body, Resource } from '../store/store.ts'
import { contentTag } from '../store/tags.ts'
import { decode, parseDocument, parsingDocument, TreeError } from '../tree/document.ts'
import type { DocumentKind, TreeDocument } from '../tree/nodes.ts'
import { inTurns } from '../tree/steps.ts'
import { type Coding, compress } from './encodings.ts'

/** Facts about a document that are found when it is committed (design, invariant 3). */
export interface Profile {
  /** The bytes are valid UTF-8 (HTTP-25). */
  utf8: boolean
  /** Item types that occur, each once. */
  types: string[]
  /** Namespace URIs bound to prefixes by `xmlns:` declarations. */
  namespaces: string[]
}

/** Rough memory of a tree relative to its text: measured at 20 times for a large page. */
const TREE_WEIGHT = 20

export class Held {
  readonly resource: Resource
  readonly body: Body
  readonly kind: Kind
  /** The stored tag (HTTP-31). */
  readonly tag: string
  readonly profile: Profile | undefined
  readonly #codings = new Map<Coding, Uint8Array | 'larger' | 'running'>()
  #tree: TreeDocument | undefined
  #parsing: Promise<void> | undefined

  constructor(resource: Resource, body: Body, profile: Profile | undefined, tree?: TreeDocument) {
    this.resource = resource
    this.body = body
    this.kind = kindOf(resource.type)
    this.tag = contentTag(resource.digest)
    this.profile = profile
    this.#tree = tree
  }

  get isDocument(): boolean {
    return this.kind !== 'blob'
  }

  /** Bytes in memory, or undefined for a blob kept as a file. */
  get bytes(): Uint8Array | undefined {
    return 'bytes' in this.body ? this.body.bytes : undefined
  }

  get hasTree(): boolean {
    return this.#tree !== undefined
  }

  /**
   * The parsed tree, made when first needed. Use it synchronously: the next commit changes it in place.
   *
   * @throws Fault 422 for a blob or a document that cannot be parsed
   */
  get tree(): TreeDocument {
    if (this.#tree) return this.#tree
    const { kind, text } = this.#markup()
    try {
      this.#tree = parseDocument(kind, text)
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
    const { kind, text } = this.#markup()
    try {
      const tree = await inTurns(parsingDocument(kind, text), text.length)
      this.#tree ??= tree
    } catch (error) {
      throw unreadable(error)
    }
  }

  #markup(): { kind: DocumentKind; text: string } {
    const { kind, bytes } = this
    if (kind === 'blob' || !bytes) throw notHtml()
    return { kind, text: decode(bytes).text }
  }

  /** The tree goes to the version that follows this one. */
  releaseTree(): void {
    this.#tree = undefined
  }

  /** Memory it takes, in bytes. */
  get weight(): number {
    const size = this.bytes?.length ?? 0
    return 512 + size + (this.#tree ? size * TREE_WEIGHT : 0)
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
    const found = this.#codings.get(coding)
    if (found === 'larger') return 'none'
    if (found === 'running') return 'pending'
    if (found) return found
    this.#codings.set(coding, 'running')
    compress(coding, bytes).then(
      copy => this.#codings.set(coding, copy.length < bytes.length ? copy : 'larger'),
      () => this.#codings.set(coding, 'larger'),
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
