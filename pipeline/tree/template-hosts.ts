/** Where the sources of templates stand in a tree, and the programs in them (LIQ-1, COMP-147). */

import { type ElementNode, isElement, type ParentNode, type TreeDocument } from './nodes.ts'
import { namespaceOf, qualifiedName, writtenName } from './prefixes.ts'
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

/** Pieces of the programs in a document, and how often each stands there. */
export type Programs = ReadonlyMap<string, number>

const NONE: Programs = new Map()

/** What opens and closes outputs and tags; a host that is not closed ends with its document. */
const DELIMITER = /(\{[{%]|[%}]\})/

/** The programs in the sources of a document's templates, in steps. */
export function* findingPrograms({ root, source }: TreeDocument, ns: string): Steps<Programs> {
  if (!source.includes(':template')) return NONE
  const pieces = new Map<string, number>()
  const open: ParentNode[] = [root]
  let seen = 0
  for (let parent = open.pop(); parent; parent = open.pop()) {
    for (const node of parent.childNodes) {
      if (++seen % NODES_PER_STEP === 0) yield
      if (!isElement(node)) continue
      const place = node.sourceCodeLocation
      if (!place || !isTemplateHost(node, ns)) open.push(node)
      else
        for (const piece of piecesOf(source.slice(place.startTag?.endOffset, place.endTag?.startOffset)))
          pieces.set(piece, (pieces.get(piece) ?? 0) + 1)
    }
  }
  return pieces
}

function* piecesOf(text: string): Iterable<string> {
  const parts = text.split(DELIMITER)
  for (let i = 1; i < parts.length; i += 2)
    yield parts[i]?.startsWith('{') ? `${parts[i]}${parts[i + 1]}` : `${parts[i]}`
}

/** Whether a change that nobody has written brings anything into programs: what visitors have written would run. */
export function bringsProgram(before: Programs, after: Programs): boolean {
  for (const [piece, count] of after) if (count > (before.get(piece) ?? 0)) return true
  return false
}
