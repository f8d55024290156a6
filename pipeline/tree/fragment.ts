/** Bodies of element writes: markup to the nodes that will stand at a place of a document (HTTP-80). */

import { parsingHtml, parsingHtmlFragment } from './html.ts'
import { type ChildNode, type DocumentKind, type ElementNode, isElement } from './nodes.ts'
import { type IsBound, parsingPrefixed } from './prefixed-parser.ts'
import { atOnce, type Steps } from './steps.ts'
import { parsingXmlFragment } from './xml.ts'

/**
 * Parses markup in the element that will be the parent of its nodes, so that `<tr>` stays a row in a `tbody` and gains
 * one in a `table`.
 *
 * @param text markup of the document's kind
 * @param context the parent-to-be, in its document; it is not changed
 * @returns the top-level nodes without parent; offsets count from the start of `text`
 * @throws TreeError when a limit is exceeded, or XML is not well formed
 */
export function parseFragment(kind: DocumentKind, text: string, context: ElementNode): ChildNode[] {
  return atOnce(parsingFragment(kind, text, context))
}

/** `parseFragment` in steps. */
export function parsingFragment(kind: DocumentKind, text: string, context: ElementNode): Steps<ChildNode[]> {
  return kind === 'xml' ? parsingXmlFragment(text, context) : parsingHtmlFragment(text, context)
}

/**
 * Parses, in steps, markup as an HTML document and takes its element of that name: `html`, `head` and `body` cannot be
 * made by the fragment algorithm.
 *
 * @param mode quirks mode of the document that the element is for; by default the one that `text` asks for
 * @param isBound where prefixed elements are to stand where they are written: tells about prefixes that are declared around it
 * @returns the element, still in its own document; undefined when a `frameset` stands in place of `body`
 * @throws TreeError when a limit is exceeded
 */
export function* parsingAsPart(
  text: string,
  name: 'html' | 'head' | 'body',
  mode?: string,
  isBound?: IsBound,
): Steps<ElementNode | undefined> {
  const root = yield* isBound ? parsingPrefixed(text, isBound, mode) : parsingHtml(text, mode)
  const html = root.childNodes.find(isElement)
  return name === 'html' ? html : html?.childNodes.filter(isElement).find(e => e.tagName === name)
}
