/** Where the sources of templates stand in a tree (LIQ-1). */

import { type ChildNode, type ElementNode, isElement, type ParentNode, type Span } from './nodes.ts'
import { namespaceOf, qualifiedName, writtenName } from './prefixes.ts'
import type { SourceText } from './source-text.ts'
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

/** The source of a template between its tags, and where its host stands in the text. */
export interface Program {
  element: ElementNode
  host: Span
  /** As a tree is written that keeps it. */
  markup: string
  /** As its author wrote it. */
  written: string
}

/**
 * The sources of templates of whatever site that hold Liquid, in document order; in steps.
 *
 * @param text that the places of the nodes are offsets of
 * @param around where prefixes are bound that the nodes do not bind themselves
 */
export function* findingProgramsIn(
  nodes: readonly ChildNode[],
  text: Pick<SourceText, 'source' | 'slice'>,
  around?: ElementNode,
): Steps<Program[]> {
  const found: Program[] = []
  if (!/:template\b/i.test(text.source) || !LIQUID.test(text.source)) return found
  const open: ChildNode[] = nodes.toReversed()
  let seen = 0
  for (let node = open.pop(); node; node = open.pop()) {
    if (!isElement(node)) continue
    if (++seen % NODES_PER_STEP === 0) yield
    const host = isSomeHost(node, around) ? node.sourceCodeLocation : undefined
    const program = host && text.slice(host.startTag?.endOffset ?? 0, host.endTag?.startOffset ?? host.endOffset)
    if (program && LIQUID.test(program)) {
      const written = text.slice(host.startOffset, host.endOffset)
      found.push({ element: node, host, markup: `>${program}</${node.tagName}>`, written })
    } else for (const child of (node.content ?? node).childNodes.toReversed()) open.push(child)
  }
  return found
}

/**
 * Whether templates are the same programs in what of a text was written anew. What Liquid has in a tag
 * (`<input {% if a %}checked{% endif %}>`) are attributes in a tree, and a loop around rows stands before their table there
 * (LIQ-5, LIQ-6).
 *
 * @param programs in the order of the new text
 */
export function keepsPrograms(programs: readonly Program[], written: readonly string[]): boolean {
  const text = written.join('<')
  return inOrder(programs, ({ markup }) => markup, text) || inOrder(programs, program => program.written, text)
}

function inOrder(programs: readonly Program[], textOfOne: (program: Program) => string, text: string): boolean {
  let at = 0
  for (const program of programs) {
    const wanted = textOfOne(program)
    at = text.indexOf(wanted, at)
    if (at < 0) return false
    at += wanted.length
  }
  return true
}

const LIQUID = /\{[{%]/

function isSomeHost(element: ElementNode, around: ElementNode | undefined): boolean {
  return element.attrs.some(a => {
    const name = qualifiedName(writtenName(a))
    return (
      name?.local === 'template' &&
      isOfPages(namespaceOf(element, name.prefix) ?? (around && namespaceOf(around, name.prefix)))
    )
  })
}

function isOfPages(uri: string | undefined): boolean {
  return uri?.endsWith(pageNamespace('')) === true
}
