/** Directives that a fragment would bring into a document (COMP-147). */

import { isLive } from '../model/meanings.ts'
import type { Registry } from '../model/registry.ts'
import { type ChildNode, isElement, type ParentNode, type TreeDocument } from '../tree/nodes.ts'
import { declaredPrefix, Prefixes } from '../tree/prefixes.ts'
import { NODES_PER_STEP, type Steps } from '../tree/steps.ts'
import { isInTemplate } from '../tree/template-hosts.ts'

/**
 * Whether nodes bring a directive with them, or come into the source of a template, where all text is program.
 *
 * @param nodes new ones, where they will stand
 * @returns in steps
 */
export function* introducesDirectives(
  model: Registry,
  { kind }: TreeDocument,
  nodes: readonly ChildNode[],
  parents: readonly ParentNode[],
): Steps<boolean> {
  if (parents.some(parent => isInTemplate(parent, model.vocabulary.ns))) return true
  const open: { node: ChildNode; around: Prefixes }[] = []
  for (const node of nodes) if (isElement(node)) open.push({ node, around: Prefixes.around(node) })
  let seen = 0
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, around } = next
    if (!isElement(node)) continue
    if (++seen % NODES_PER_STEP === 0) yield
    const prefixes = around.within(node)
    if (node.attrs.some(a => declaredPrefix(a) !== undefined && a.value !== '' && isLive(a.value, model, kind)))
      return true
    for (const uri of prefixes.namespacesOf(node)) if (isLive(uri, model, kind)) return true
    for (const child of node.childNodes) open.push({ node: child, around: prefixes })
    // Contents of a template do not know whose they are.
    for (const child of node.content?.childNodes ?? []) open.push({ node: child, around: prefixes })
  }
  return false
}

/** In them HTML knows no elements whose content is text alone. */
const READS_TAGS = new Set(['select', 'svg', 'math'])

/** Whether what code has made inert may be something else in a place: program, or tags that were text (COMP-147, REA-62). */
export function isReadOtherwise(parent: ParentNode, ns: string): boolean {
  if (isInTemplate(parent, ns)) return true
  for (let node: ParentNode | null = parent; node && isElement(node); node = node.parentNode)
    if (READS_TAGS.has(node.tagName)) return true
  return false
}

/** Name, equals sign and value of a declaration behind its `xmlns:`, as a browser reads them. */
const DECLARATION = /^[^\t\n\f\r =>]+[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)|'([^']*)|([^\t\n\f\r >]*))/

/** Whether a text may declare a prefix for a live namespace. */
export function mayDeclareLive(model: Registry, text: string): boolean {
  // Each piece is looked at once, whatever stands in it.
  const [, ...pieces] = text.split(/xmlns:/i)
  return pieces.some(piece => {
    const [found, ...values] = DECLARATION.exec(piece) ?? []
    const uri = values.find(value => value !== undefined) ?? ''
    // A reference may stand for anything.
    return found !== undefined && (uri.includes('&') || isLive(uri, model, 'html'))
  })
}
