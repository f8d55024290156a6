/** What may be written at a place so that certain nodes stand there. */

import { comparingTexts, LONG, puttingInOnePiece } from '../long-text.ts'
import type { ChildNode, DocumentKind, ElementNode, ParentNode, TreeDocument } from '../nodes.ts'
import { HTML_NAMESPACE, isElement } from '../nodes.ts'
import { writingInnerMarkup } from '../serialize.ts'
import { atOnce, type Steps } from '../steps.ts'
import type { Text } from './plan.ts'
import { openElements } from './shape.ts'

const LEADING_LINE_FEED = new Set(['pre', 'textarea', 'listing'])

/** Whether the parser drops a line feed right behind the start tag. */
export function dropsLineFeed(element: ElementNode): boolean {
  return element.namespaceURI === HTML_NAMESPACE && LEADING_LINE_FEED.has(element.tagName)
}

/** Markup of nodes as content of an element: with its namespaces in scope, raw in a script. */
export function markupIn(kind: DocumentKind, parent: ElementNode, nodes: ChildNode[]): string {
  return atOnce(writingMarkupIn(kind, parent, nodes))
}

/** `markupIn` in steps. */
export function writingMarkupIn(kind: DocumentKind, parent: ElementNode, nodes: ChildNode[]): Steps<string> {
  const shell: ElementNode = { ...parent, content: undefined, childNodes: nodes }
  // Only content right behind the start tag needs another line feed.
  return writingInnerMarkup(kind === 'html' && dropsLineFeed(parent) ? { ...shell, tagName: 'div' } : shell, kind)
}

/**
 * In steps.
 *
 * @param context the parent of the nodes
 * @param raw what the author wrote
 * @param first whether the place is right behind the start tag of `context`
 * @param owed tags that may have to stand before, see `tagsOwed`
 */
export function* writingTexts(
  kind: DocumentKind,
  context: ElementNode,
  nodes: ChildNode[],
  raw: string | undefined,
  first: boolean,
  owed: string,
): Steps<Text[]> {
  const markup = yield* writingMarkupIn(kind, context, nodes)
  const normalised =
    first && kind === 'html' && dropsLineFeed(context) && markup.startsWith('\n') ? `\n${markup}` : markup
  const texts: Text[] = raw === undefined ? [] : [{ way: 'splice', text: raw }]
  const isKept = raw?.length === normalised.length
  if (isKept && raw.length > LONG) yield* puttingInOnePiece(normalised)
  if (!isKept || !(yield* comparingTexts(raw, normalised))) texts.push({ way: 'normalised', text: normalised })
  if (owed !== '') texts.push(...texts.map(({ text }): Text => ({ way: 'closed', text: owed + text })))
  return texts
}

/** What may be written where an element goes. */
export function textsWithout(kind: DocumentKind, context: ElementNode, first: boolean, owed: string): Text[] {
  const texts: Text[] = [{ way: 'splice', text: '' }]
  if (first && kind === 'html' && dropsLineFeed(context)) texts.push({ way: 'normalised', text: '\n' })
  if (owed !== '') texts.push({ way: 'closed', text: owed })
  return texts
}

/**
 * Tags that the author left out and that new content may need: end tags of what is still open behind the node before,
 * or the start tag of the parent when it stands for nothing but its first child.
 *
 * @param previous the node before the place
 */
export function tagsOwed(document: TreeDocument, parent: ParentNode, previous: ChildNode | undefined): string {
  if (document.kind === 'xml') return ''
  if (!previous) return isElement(parent) && !parent.sourceCodeLocation ? `<${parent.tagName}>` : ''
  if (!isElement(previous)) return ''
  return openElements(document, previous)
    .map(element => `</${element.tagName}>`)
    .reverse()
    .join('')
}
