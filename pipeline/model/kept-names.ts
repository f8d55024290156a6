/** Names with a prefix in what code takes from one document into another (COMP-12, COMP-147). */

import { asciiLower } from '../tree/ascii.ts'
import { copiedFrom } from '../tree/clone.ts'
import { type DocumentKind, type ElementNode, isElement } from '../tree/nodes.ts'
import {
  bindPrefix,
  declarationOf,
  isDeclaration,
  Prefixes,
  prefixIn,
  Rereading,
  writtenName,
} from '../tree/prefixes.ts'
import { NODES_PER_STEP, type Steps } from '../tree/steps.ts'
import { isLive, meaningOf } from './meanings.ts'
import type { Registry } from './registry.ts'

/** Names that are looked at in one step. */
const NAMES_PER_STEP = 16

/**
 * Has names in copies of stored elements mean nothing in a new place where they would mean something else than where they
 * are stored: what visitors have written there would become directives here. In HTML, so do names that are data in XML, which
 * visitors may write there, and for which a page has no method (COMP-14, COMP-120).
 *
 * @param root what code has given; changed in place
 * @param around what it will stand in; undefined for the root of a document
 * @param registry what namespaces mean by
 * @param isFragment where that is not known: only names of live namespaces go without the meaning that they have there
 */
export function* keepingNames(
  root: ElementNode,
  around: ElementNode | undefined,
  kind: DocumentKind,
  registry: Registry,
  isFragment = false,
): Steps<void> {
  const open = [{ element: root, outer: around ? Prefixes.around(around).within(around) : Prefixes.none }]
  const isHtml = kind === 'html'
  const again = new Rereading(around || isFragment ? undefined : root)
  let seen = 0
  let looked = 0
  for (let next = open.pop(); next; next = open.pop()) {
    const { element, outer } = next
    if (++seen % NODES_PER_STEP === 0) yield
    const stored = copiedFrom(element)
    if (stored && isHtml) again.leave(element)
    const names = stored ? [element.tagName, ...element.attrs.map(writtenName)] : []
    let scope = outer.within(element)
    const bind = (prefix: string, uri: string) => {
      bindPrefix(element, prefix, uri, kind)
      scope = outer.within(element)
    }
    for (const name of names) {
      const written = prefixIn(name)
      if (!stored || written === undefined) continue
      // Each is looked for in all that stands around it.
      if (++looked % NAMES_PER_STEP === 0) yield
      const prefix = isHtml ? asciiLower(written) : written
      const uri = scope.namespace(prefix)
      const declaration = declarationOf(stored, written)
      const meant = declaration?.value || undefined
      if (isDeclaration(name) && uri === meant) continue
      const isData =
        isHtml && declaration?.prefix === 'xmlns' && meant !== undefined && meaningOf(meant, registry) === 'other'
      const isKept = isFragment && meant !== undefined && isLive(meant, registry, kind)
      // What means nothing where it comes from may be data here.
      const isChanged = uri !== meant && (meant !== undefined || (uri !== undefined && isLive(uri, registry, kind)))
      const differs = isData || (uri === undefined ? isFragment && !isKept : isChanged)
      if (!differs && prefix === written) {
        const isFirm = isFragment ? uri === undefined : again.keeps(prefix, outer, uri)
        if (isHtml && !isFirm) bind(prefix, uri ?? '')
        continue
      }
      bind(prefix, isFragment && !isKept && !isData && meant !== undefined ? meant : unbound(kind))
    }
    for (const nodes of [element.childNodes, element.content?.childNodes ?? []])
      for (const node of nodes) if (isElement(node)) open.push({ element: node, outer: scope })
  }
}

/** XML cannot unbind a prefix; one without a meaning is data there (COMP-120). */
function unbound(kind: DocumentKind): string {
  return kind === 'html' ? '' : 'about:blank'
}
