/** Which part of a document a write is about: what it brought, and what stands around it (MOD-92, MOD-111). */

import { type ChildNode, type ElementNode, isElement, type ParentNode, type TreeDocument } from '../tree/nodes.ts'
import type { Steps } from '../tree/steps.ts'
import { findingElements, isTemplate } from './items.ts'

/** A proposed document and what a write changed in it. */
export interface WrittenPlace {
  document: TreeDocument
  /** Undefined when the whole document was written. */
  part?: {
    /** The new or moved nodes. */
    nodes: readonly ChildNode[]
    /** Whose children changed. */
    parents: readonly ParentNode[]
    /** Of the nodes, those that the write itself brought, where effects have added others; all of them when missing. */
    brought?: readonly ChildNode[]
  }
  /**
   * Items that somebody follows through the changes that the server makes: where they stand now, in the order in which they
   * were given; undefined for one that has gone.
   */
  followed?: readonly (ElementNode | undefined)[]
}

/** Elements that a write touches, outermost first; contents of templates hold none. */
export interface Touched {
  /** Elements around the change; of those inside a template, the template. */
  around: readonly ElementNode[]
  /** Elements of the new content. */
  content: readonly ElementNode[]
}

/** Elements around places whose children are looked at, outermost first; of those inside a template, the template. */
export function elementsAround(document: TreeDocument, parents: readonly ParentNode[]): ElementNode[] {
  return [...new Set(parents.flatMap(parent => chainOf(document, parent).elements))]
}

export function* touching({ document, part }: WrittenPlace): Steps<Touched> {
  if (!part) return { around: [], content: yield* findingElements(document.root.childNodes, () => true) }
  const around = new Set(elementsAround(document, part.parents))
  const isHidden = new Map<ParentNode | null, boolean>()
  const shown = part.nodes.filter(({ parentNode }) => {
    let hidden = isHidden.get(parentNode)
    if (hidden === undefined)
      isHidden.set(parentNode, (hidden = parentNode !== null && chainOf(document, parentNode).hidden))
    return !hidden
  })
  // An effect may change what the write brought, which then stands around a change as well.
  const content = yield* findingElements(shown, element => !around.has(element))
  return { around: [...around], content }
}

/** Elements of the tree from the outermost to a node; `hidden` when the node is among the contents of a template. */
function chainOf(document: TreeDocument, from: ParentNode): { elements: ElementNode[]; hidden: boolean } {
  let elements: ElementNode[] = []
  let hidden = false
  let node: ParentNode | null | undefined = from
  while (node && node.nodeName !== '#document') {
    if (isElement(node)) {
      if (isTemplate(node)) elements = []
      elements.push(node)
      node = node.parentNode
    } else {
      // Contents do not know their template.
      hidden = true
      node = hostOf(document.root, node)
    }
  }
  return { elements: elements.reverse(), hidden: hidden || elements.some(isTemplate) }
}

/** The template below a node whose contents these are; the contents do not know it themselves. */
export function hostOf(within: ParentNode, content: ParentNode): ElementNode | undefined {
  for (const child of within.childNodes) {
    if (!isElement(child)) continue
    if (child.content === content) return child
    const host = hostOf(child, content) ?? (child.content && hostOf(child.content, content))
    if (host) return host
  }
  return undefined
}
