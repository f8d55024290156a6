/** Where the sources of templates stand in a tree (LIQ-1). */

import { type ElementNode, isElement, type ParentNode, type TreeDocument } from './nodes.ts'
import { namespaceOf, qualifiedName, writtenName } from './prefixes.ts'
import { textOf } from './source-text.ts'
import { NODES_PER_STEP, type Steps } from './steps.ts'

/** Elements `include` and `stamp`; attributes `template`, `paginate` and `transient`. */
export function pageNamespace(ns: string): string {
  return `${ns}/1.0`
}

/** LIQ-1. */
export function isTemplateHost(element: ElementNode, ns: string): boolean {
  return element.attrs.some(a => {
    const name = qualifiedName(writtenName(a))
    return name?.local === 'template' && namespaceOf(element, name.prefix) === pageNamespace(ns)
  })
}

/** Whether a place belongs to the source of a template, where all text is program. */
export function isInTemplate(parent: ParentNode, ns: string): boolean {
  for (let node: ParentNode | null = parent; node && isElement(node); node = node.parentNode)
    if (isTemplateHost(node, ns)) return true
  return false
}

/**
 * Elements in which a template of some site has program, in steps. Written anew from a tree it would be another program: what
 * Liquid has in a tag (`<input {% if a %}checked{% endif %}>`) are attributes there, and a loop around rows stands before
 * their table (LIQ-5, LIQ-6).
 */
export function* findingAroundPrograms(document: TreeDocument): Steps<ReadonlySet<ParentNode>> {
  const found = new Set<ParentNode>()
  const text = textOf(document)
  const { source, root } = document
  if (!/:template\b/i.test(source) || !/\{[{%]/.test(source)) return found
  const open: ParentNode[] = [root]
  let seen = 0
  for (let parent = open.pop(); parent; parent = open.pop()) {
    for (const node of parent.childNodes) {
      if (!isElement(node)) continue
      if (++seen % NODES_PER_STEP === 0) yield
      const { startOffset = 0, endOffset = 0 } = node.sourceCodeLocation ?? {}
      if (isSomeHost(node) && /\{[{%]/.test(text.slice(startOffset, endOffset)))
        for (let at: ParentNode | null = node; at && !found.has(at); at = isElement(at) ? at.parentNode : null)
          found.add(at)
      else open.push(node)
    }
  }
  return found
}

function isSomeHost(element: ElementNode): boolean {
  return element.attrs.some(a => {
    const name = qualifiedName(writtenName(a))
    return name?.local === 'template' && namespaceOf(element, name.prefix)?.endsWith(pageNamespace(''))
  })
}
