/** Templates as a stage (COMP-46 to COMP-50): the content of a host is rendered once, and the output is parsed in its place. */

import { asciiLower, trimmed } from '../tree/ascii.ts'
import { TreeError } from '../tree/document.ts'
import { parsingAsPart, parsingFragment } from '../tree/fragment.ts'
import { type ChildNode, type DocumentKind, type ElementNode, HTML_NAMESPACE, isElement } from '../tree/nodes.ts'
import { findingPrefixed, parsingPrefixed, parsingPrefixedFragment } from '../tree/prefixed-parser.ts'
import { innerMarkup } from '../tree/serialize.ts'
import type { Dispatch } from './composing.ts'
import { compositionError } from './failure.ts'
import type { TemplateRun } from './languages.ts'
import { awaiting, type Work } from './work.ts'

/**
 * Renders the content of a host.
 *
 * @param engine value of the template attribute
 * @param copy the host in the composed page, still without content
 * @returns the nodes of the output, and the text that their offsets count in
 */
export function* renderedInto(
  dispatch: Dispatch,
  engine: string,
  copy: ElementNode,
): Work<{ nodes: readonly ChildNode[]; text: string }> {
  if (asciiLower(trimmed(engine)) !== 'text/liquid') throw compositionError('There is no template engine of this name.')
  const { composing, element, place } = dispatch
  const { kind, ...run } = sourceOf(dispatch)
  const text = yield* awaiting(composing.languages.template({ dispatch, ...run }))
  composing.allowance.take(text.length * 4)
  const isBound = (prefix: string) => place.prefixes.namespace(prefix) !== undefined
  try {
    // Prefixes of an XML document mean in the output what they mean around the host (COMP-12).
    const around = kind === 'xml' && place.page ? element : copy
    return { nodes: yield* parsingOutput(text, around, kind, isBound), text }
  } catch (error) {
    if (error instanceof TreeError) throw compositionError(`The output of a template cannot be used: ${error.message}`)
    throw error
  }
}

/** The text between the tags of the host as it is stored (COMP-8), and the kind of document that it is written for. */
function sourceOf({ composing, element, place }: Dispatch): Omit<TemplateRun, 'dispatch'> & { kind: DocumentKind } {
  const stored = place.page?.templateSource(element)
  const kind = (stored && place.page?.tree.kind) ?? composing.kind
  const foreign = kind === 'html' && element.namespaceURI !== HTML_NAMESPACE
  const context = { kind, element: element.tagName, foreign }
  return { kind, context, ...(stored ?? { source: innerMarkup(element, kind), line: 1 }) }
}

function* parsingOutput(
  text: string,
  host: ElementNode,
  kind: DocumentKind,
  isBound: (prefix: string) => boolean,
): Work<readonly ChildNode[]> {
  if (kind === 'xml') return yield* parsingFragment('xml', text, host)
  const prefixed = yield* findingPrefixed(text)
  if (host.tagName !== 'html')
    return prefixed ? yield* parsingPrefixedFragment(text, host, isBound) : yield* parsingFragment('html', text, host)
  // The fragment algorithm makes no head and no body.
  if (!prefixed) return (yield* parsingAsPart(text, 'html'))?.childNodes ?? []
  const root = yield* parsingPrefixed(text, isBound)
  return root.childNodes.find(isElement)?.childNodes ?? []
}
