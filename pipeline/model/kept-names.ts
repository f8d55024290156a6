/** Names with a prefix in what code takes from one document into another (COMP-12, COMP-147). */

import { copiedFrom } from '../tree/clone.ts'
import { type DocumentKind, type ElementNode, isElement } from '../tree/nodes.ts'
import { bindPrefix, leaveToRoot, namespaceOf, Prefixes, qualifiedName, writtenName } from '../tree/prefixes.ts'
import { NODES_PER_STEP, type Steps } from '../tree/steps.ts'

/**
 * Has names in copies of stored elements mean nothing in a new place where they would mean something else than where they
 * are stored: what visitors have written there would become directives here.
 *
 * @param root what code has given; changed in place
 * @param around what it will stand in; undefined for the root of a document
 * @param isLive where that is not known: only names of such namespaces go without the meaning that they have there
 */
export function* keepingNames(
  root: ElementNode,
  around: ElementNode | undefined,
  kind: DocumentKind,
  isLive?: (uri: string) => boolean,
): Steps<void> {
  const open = [{ element: root, outer: around ? Prefixes.around(around).within(around) : Prefixes.none }]
  const isHtml = kind === 'html'
  let seen = 0
  for (let next = open.pop(); next; next = open.pop()) {
    const { element, outer } = next
    if (++seen % NODES_PER_STEP === 0) yield
    const stored = copiedFrom(element)
    if (stored && isHtml && (element !== root || around || isLive)) leaveToRoot(element)
    const names = stored ? [element.tagName, ...element.attrs.map(writtenName)] : []
    for (const name of names) {
      const written = qualifiedName(name)?.prefix
      if (!stored || written === undefined) continue
      const prefix = isHtml ? written.toLowerCase() : written
      const uri = outer.within(element).namespace(prefix)
      const meant = namespaceOf(stored, written)
      const differs = uri === undefined ? isLive !== undefined && !(meant && isLive(meant)) : uri !== meant
      if (!differs && prefix === written) {
        const isFirm = isLive ? uri === undefined : outer.agreesOn(prefix)
        if (isHtml && !isFirm) bindPrefix(element, prefix, uri ?? '', kind)
        continue
      }
      bindPrefix(element, prefix, meant !== undefined && isLive && !isLive(meant) ? meant : unbound(kind), kind)
    }
    const inner = outer.within(element)
    for (const nodes of [element.childNodes, element.content?.childNodes ?? []])
      for (const node of nodes) if (isElement(node)) open.push({ element: node, outer: inner })
  }
}

/** XML cannot unbind a prefix; one without a meaning is data there (COMP-120). */
function unbound(kind: DocumentKind): string {
  return kind === 'html' ? '' : 'about:blank'
}
