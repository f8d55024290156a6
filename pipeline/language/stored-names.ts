/** Names with a prefix in what a script was handed: in what it gives they mean what they mean there (COMP-12, COMP-145). */

import { asciiLower } from '../tree/ascii.ts'
import { copiedFrom, noteStored } from '../tree/clone.ts'
import { type ChildNode, type DocumentKind, type ElementNode, isElement } from '../tree/nodes.ts'
import { isDeclaration, namespaceOf, prefixedNames, prefixIn } from '../tree/prefixes.ts'
import { RAW } from '../tree/raw-text.ts'
import { NODES_PER_STEP, type Steps } from '../tree/steps.ts'
import { NOWHERE, type OwnNames } from './own-names.ts'

/** Stored elements that a script was handed, by their names with a prefix. */
export class StoredNames {
  readonly #elements = new Map<string, ElementNode>()
  /** Prefixes of names in what is no element. */
  readonly #hidden = new Set<string>()
  /** Names of what other code has built. */
  readonly #built = new Set<string>()
  readonly #own: Pick<OwnNames, 'has'>
  #rest: Steps<void> | undefined

  /** @param own names that stand in the code */
  constructor(own: Pick<OwnNames, 'has'>) {
    this.#own = own
  }

  /** Notes a node that code has seen. @param isStored whether it is one of a document, and not built */
  note(node: ChildNode, isStored: boolean, kind: DocumentKind): void {
    if (isElement(node)) {
      const stored = copiedFrom(node) ?? (isStored ? node : undefined)
      if (stored) this.add(node, stored)
      else this.addBuilt(node)
      return
    }
    const hidden = hiddenIn(node, kind)
    if (hidden !== undefined) this.addHidden(hidden)
  }

  /** `note` of nodes and all below them, in steps. */
  *notingAll(nodes: readonly ChildNode[], isStored: boolean, kind: DocumentKind): Steps<void> {
    const open = [...nodes]
    let seen = 0
    for (let node = open.pop(); node; node = open.pop()) {
      if (++seen % NODES_PER_STEP === 0) yield
      this.note(node, isStored, kind)
      if (!isElement(node)) continue
      for (const child of node.childNodes) open.push(child)
      for (const child of node.content?.childNodes ?? []) open.push(child)
    }
  }

  /** Takes work that notes more; it is done where a script gives elements with names. */
  addLater(noting: Steps<void>): void {
    this.#rest = noting
  }

  /** Notes what is left to be noted. */
  *settling(): Steps<void> {
    const rest = this.#rest
    this.#rest = undefined
    if (rest) yield* rest
  }

  /** Notes what other code has built: it is as much an author's as what the script builds. */
  addBuilt(element: ElementNode): void {
    for (const name of prefixedNames(element)) this.#built.add(name)
  }

  /**
   * Notes names. One that means something else in another element means nothing: whose it is cannot be told afterwards, and
   * what visitors have written runs nothing.
   *
   * @param stored what the element is, or is a copy of
   */
  add(element: ElementNode, stored: ElementNode): void {
    for (const name of prefixedNames(element)) {
      this.#add(name, stored)
      // Names of XML come into HTML in small letters, where they may be others.
      const folded = asciiLower(name)
      if (folded !== name) this.#add(folded, NOWHERE)
    }
  }

  /**
   * Notes what may be markup in what is no element: where a script reads it as such, the names mean nothing.
   *
   * @param data of a node that `hiddenIn` gives
   */
  addHidden(data: string): void {
    if (!data.includes('<')) return
    for (const piece of data.split(':')) {
      const prefix = piece.split(/[\t\n\f\r <>"'/=]/).at(-1)
      if (prefix) this.#hidden.add(asciiLower(prefix))
    }
  }

  #add(name: string, stored: ElementNode): void {
    this.#elements.set(name, agreed(name, this.#elements.get(name) ?? stored, stored))
  }

  /** The stored element that one which a script gives counts as a copy of. */
  find(element: ElementNode): ElementNode | undefined {
    let found: ElementNode | undefined
    for (const name of prefixedNames(element)) {
      const stored = this.meaning(name)
      if (stored) found = agreed(name, found ?? stored, stored)
    }
    return found
  }

  /** The stored element in which a name means what it means in what a script gives; undefined for one of its own. */
  meaning(name: string): ElementNode | undefined {
    // One that the code has is its own, also where documents declare the same.
    if (isDeclaration(name) && this.#isBuilt(name)) return undefined
    const prefix = prefixIn(name)
    if (prefix !== undefined && this.#hidden.has(asciiLower(prefix))) return NOWHERE
    return this.#elements.get(name) ?? (this.#isBuilt(name) ? undefined : NOWHERE)
  }

  #isBuilt(name: string): boolean {
    return this.#built.has(name) || this.#own.has(name)
  }
}

/**
 * What the other kind of document reads as markup: HTML ends comments and instructions of XML elsewhere, and XML knows no
 * elements whose content is text alone.
 *
 * @param kind of the document that the node is in
 */
function hiddenIn(node: Exclude<ChildNode, ElementNode>, kind: DocumentKind): string | undefined {
  if (kind === 'xml') return 'data' in node ? node.data : undefined
  const { parentNode } = node
  const isRaw = 'value' in node && parentNode && isElement(parentNode) && RAW.has(parentNode.tagName)
  return isRaw ? node.value : undefined
}

/** The first of two elements where a name means the same in both. */
function agreed(name: string, one: ElementNode, other: ElementNode): ElementNode {
  const prefix = one === other ? undefined : prefixIn(name)
  return prefix === undefined || namespaceOf(one, prefix) === namespaceOf(other, prefix) ? one : NOWHERE
}

/** Notes of what code has built which stored elements it counts as copies of, in steps. */
export function* notingNames(nodes: readonly ChildNode[], names: StoredNames): Steps<void> {
  let seen = 0
  const open = nodes.filter(isElement)
  for (let element = open.pop(); element; element = open.pop()) {
    // Each name is looked for in the code.
    seen += 1 + element.attrs.length
    if (seen >= NODES_PER_STEP) {
      seen = 0
      yield
    }
    if (prefixedNames(element).length > 0) {
      yield* names.settling()
      noteNames(element, names)
    }
    for (const node of element.childNodes) if (isElement(node)) open.push(node)
    for (const node of element.content?.childNodes ?? []) if (isElement(node)) open.push(node)
  }
}

/** The same of one element: what visitors have written runs nothing (COMP-145). */
function noteNames(element: ElementNode, names: StoredNames): void {
  const stored = copiedFrom(element) ? undefined : names.find(element)
  if (stored) noteStored(element, stored)
}

/** The same of an attribute that code gives an element, which may be a copy of a stored one that has no such name. */
export function noteName(element: ElementNode, name: string, names: StoredNames): void {
  const stored = names.meaning(name)
  if (stored) noteStored(element, agreed(name, copiedFrom(element) ?? stored, stored))
}
