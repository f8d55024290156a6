/**
 * What a client's selector may see of a document (SEC-6). Whoever may GET the whole sees everything. For anybody else the
 * selector is matched against a copy that holds what they may read and bare names where they may write; all the rest
 * keeps its place in the tree and loses its name, its attributes and its text.
 */

import {
  type Attribute,
  type ChildNode,
  type DocumentNode,
  type ElementNode,
  isElement,
  isText,
  NAMELESS,
  type ParentNode,
  type TreeDocument,
} from '../tree/nodes.ts'
import { NODES_PER_STEP, type Steps } from '../tree/steps.ts'
import { type Access, RULES_PER_STEP } from './decision.ts'
import type { Key } from './matching.ts'

export interface ReadableView {
  /** What selectors are matched against; the document itself for those who may read all of it. */
  document: TreeDocument
  /** The element of the document that an element of the view stands for. */
  original(element: ElementNode): ElementNode
  /** Whether an element of the document may be read, with all that is in it. */
  isReadable(element: ElementNode): boolean
  /** No element may be read. */
  isBlank: boolean
  /** Nor is one known by name to who may write it. */
  isNameless: boolean
}

/** Methods whose permission makes an element known by name to whoever has it. */
export const KEY_METHODS = ['HEAD', 'PUT', 'POST', 'DELETE'] as const

/** Elements without a name have a namespace of their own, so that no namespace test tells anything either. */
const NAMELESS_NAMESPACE = 'about:nameless'

/** Characters of source that an element counts for where the size of a document bounds what a selector may cost. */
const ELEMENT_SOURCE = 40

/** The view of those who may read everything. */
export function wholeView(document: TreeDocument): ReadableView {
  return { document, original: element => element, isReadable: () => true, isBlank: false, isNameless: false }
}

/**
 * @param access what the requester may do
 * @param path canonical path of the document
 * @returns in steps, the view of the requester; it holds as long as the document and the rules do
 */
export function* viewing(access: Access, path: string, document: TreeDocument): Steps<ReadableView> {
  if (access.readable(path)) return wholeView(document)
  let asked = 0
  const ask = (rules: number) => {
    asked += rules
  }
  const mayRead = access.permitting('GET', path, ask)
  const mayName = KEY_METHODS.map(method => access.permitting(method, path, ask))
  const copies = new Copies(document)
  const levels: { nodes: readonly ChildNode[]; at: number; parent: ParentNode; readable: boolean }[] = []
  let level = {
    nodes: document.root.childNodes as readonly ChildNode[],
    at: 0,
    parent: copies.root as ParentNode,
    readable: false,
  }
  for (let seen = 0; ; ) {
    const node = level.nodes[level.at++]
    if (!node) {
      const outer = levels.pop()
      if (!outer) break
      level = outer
      continue
    }
    if (!isElement(node)) {
      if (level.readable && isText(node)) copies.addText(node.value, level.parent)
      continue
    }
    const key: Key = { element: node, document }
    const readable = level.readable || mayRead(key)
    const isNamed = readable || mayName.some(permits => permits(key))
    const copy = copies.add(node, level.parent, readable, isNamed)
    if (++seen % NODES_PER_STEP === 0 || asked >= RULES_PER_STEP) {
      asked = 0
      yield
    }
    if (node.childNodes.length === 0) continue
    levels.push(level)
    level = { nodes: node.childNodes, at: 0, parent: copy, readable }
  }
  return copies.view()
}

class Copies {
  readonly root: DocumentNode
  readonly #document: TreeDocument
  readonly #originals = new Map<ElementNode, ElementNode>()
  readonly #readable = new Set<ElementNode>()
  #isNameless = true
  #length = 0

  constructor(document: TreeDocument) {
    this.#document = document
    const { mode } = document.root
    this.root = { nodeName: '#document', ...(mode !== undefined && { mode }), childNodes: [] }
  }

  add(original: ElementNode, parent: ParentNode, readable: boolean, isNamed: boolean): ElementNode {
    const copy: ElementNode = {
      nodeName: NAMELESS,
      tagName: NAMELESS,
      namespaceURI: NAMELESS_NAMESPACE,
      attrs: [],
      childNodes: [],
      parentNode: parent,
    }
    parent.childNodes.push(copy)
    this.#originals.set(copy, original)
    this.#length += ELEMENT_SOURCE
    if (readable) {
      this.#readable.add(original)
      take(copy, original, original.attrs)
      for (const { value } of original.attrs) this.#length += value.length
    } else this.addText(' ', copy)
    if (isNamed) {
      this.#isNameless = false
      this.#nameUpwards(copy)
    }
    return copy
  }

  /** A space stands for what is in an element that may not be read, so that none is told from an empty one. */
  addText(value: string, parent: ParentNode): void {
    this.#length += value.length
    parent.childNodes.push({ nodeName: '#text', value, parentNode: parent })
  }

  #nameUpwards(from: ElementNode): void {
    let at: ParentNode | null = from
    if (at.tagName !== NAMELESS) at = at.parentNode
    for (; at && isElement(at) && at.tagName === NAMELESS; at = at.parentNode) {
      const original = this.#originals.get(at)
      if (original) take(at, original, original.attrs.filter(isNaming))
    }
  }

  view(): ReadableView {
    const { kind, clean } = this.#document
    // Only its length counts, which bounds what a selector may cost, and that must not tell of anything else.
    const document: TreeDocument = { kind, source: ' '.repeat(this.#length), root: this.root, clean }
    return {
      document,
      original: element => this.#originals.get(element) ?? element,
      isReadable: element => this.#readable.has(element),
      isBlank: this.#readable.size === 0,
      isNameless: this.#isNameless,
    }
  }
}

function take(copy: ElementNode, { nodeName, tagName, namespaceURI }: ElementNode, attrs: Attribute[]): void {
  Object.assign(copy, { nodeName, tagName, namespaceURI, attrs })
}

function isNaming({ name, prefix }: Attribute): boolean {
  return !prefix && (name === 'id' || name === 'class')
}
