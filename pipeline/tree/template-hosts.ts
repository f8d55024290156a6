/** Where the sources of templates stand in a tree (LIQ-1). */

import { type ChildNode, type ElementNode, isElement, type ParentNode, type Span, type TreeDocument } from './nodes.ts'
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

/** The source of a template between its tags, and where its host stands. */
export interface Program {
  host: Span
  markup: string
}

/** The sources of templates of whatever site that hold Liquid, in document order; in steps. */
export function* findingProgramsOf(document: TreeDocument): Steps<Program[]> {
  const found: Program[] = []
  const { source, root } = document
  if (!/:template\b/i.test(source) || !LIQUID.test(source)) return found
  const text = textOf(document)
  const open: ChildNode[] = root.childNodes.toReversed()
  let seen = 0
  for (let node = open.pop(); node; node = open.pop()) {
    if (!isElement(node)) continue
    if (++seen % NODES_PER_STEP === 0) yield
    const host = isSomeHost(node) ? node.sourceCodeLocation : undefined
    const program = host && text.slice(host.startTag?.endOffset ?? 0, host.endTag?.startOffset ?? host.endOffset)
    if (program && LIQUID.test(program)) found.push({ host, markup: `>${program}</${node.tagName}>` })
    else for (const child of node.childNodes.toReversed()) open.push(child)
  }
  return found
}

/**
 * Whether templates are the same programs in a part of the text that was written anew. What Liquid has in a tag
 * (`<input {% if a %}checked{% endif %}>`) are attributes in a tree, and a loop around rows stands before their table there
 * (LIQ-5, LIQ-6).
 */
export function keepsPrograms(programs: readonly Program[], { start, end, text }: Rewritten): boolean {
  let at = 0
  for (const { host, markup } of programs) {
    if (host.startOffset < start || host.endOffset > end) continue
    at = text.indexOf(markup, at)
    if (at < 0) return false
    at += markup.length
  }
  return true
}

interface Rewritten {
  start: number
  end: number
  text: string
}

const LIQUID = /\{[{%]/

function isSomeHost(element: ElementNode): boolean {
  return element.attrs.some(a => {
    const name = qualifiedName(writtenName(a))
    return name?.local === 'template' && namespaceOf(element, name.prefix)?.endsWith(pageNamespace(''))
  })
}
