/** Replacing what a document begins with: the root of XML; `html`, `head` and `body`, which no fragment can hold. */

import { isBlank } from '../ascii.ts'
import { parsingAsPart, parsingFragment } from '../fragment.ts'
import {
  type ElementNode,
  isElement,
  isText,
  type ParentNode,
  rootElement,
  type Span,
  type TreeDocument,
} from '../nodes.ts'
import { boundIn, type IsBound } from '../prefixed-parser.ts'
import { writingMarkup } from '../serialize.ts'
import type { Steps } from '../steps.ts'
import { EditError, refusing } from './error.ts'
import type { Plan, Site, Text } from './plan.ts'
import { isHtmlElement } from './shape.ts'
import { droppingTail, type Tail } from './tail.ts'

type ShellName = 'html' | 'head' | 'body'

/** @returns the name when the element is the `html`, `head` or `body` of its document */
export function shellName(document: TreeDocument, element: ElementNode): ShellName | undefined {
  if (document.kind === 'xml') return undefined
  const root = rootElement(document)
  if (element === root) return 'html'
  if (element.parentNode !== root) return undefined
  if (isHtmlElement(element, 'head')) return 'head'
  return isHtmlElement(element, 'body') ? 'body' : undefined
}

/**
 * The text is parsed, in steps, as a document and its element of that name is taken (HTTP-80). It is written as its author
 * wrote it when it has both its tags.
 */
export function* planningShell(
  document: TreeDocument,
  tail: Tail,
  target: ElementNode,
  name: ShellName,
  text: string,
): Steps<Plan> {
  const { mode } = document.root
  const isBound = document.asWritten ? boundIn(target.parentNode) : undefined
  const take = (markup: string) => takingPart(markup, name, mode, isBound)
  const found = yield* take(text)
  if (!hasWrittenElement(found)) throw new EditError('no-element', 'The body has no element.')
  const place = found.sourceCodeLocation
  const written = place?.startTag && place.endTag && text.slice(place.startOffset, place.endTag.endOffset)
  // What stood behind it is not part of it.
  const element = written ? yield* take(written) : found
  const whole = element.parentNode
  if (written && whole && !isElement(whole) && whole.nodeName === '#document') {
    yield* droppingTail({ kind: 'html', source: written, root: whole, clean: false })
  }
  const texts: Text[] = written ? [{ way: 'splice', text: written }] : []
  texts.push({ way: 'normalised', text: yield* writingMarkup(element, 'html') })
  const span = name === 'html' ? spanOfRoot(document, tail, target) : spanOfPart(tail, target)
  const parent: ParentNode = target.parentNode ?? document.root
  const site: Site = {
    host: undefined,
    parent,
    index: parent.childNodes.indexOf(target),
    gone: 1,
    nodes: [element],
    span,
    texts,
  }
  return { sites: [site], nodes: [element], parents: [parent], local: false }
}

function* takingPart(
  markup: string,
  name: ShellName,
  mode: string | undefined,
  isBound: IsBound | undefined,
): Steps<ElementNode> {
  const element = yield* refusing(parsingAsPart(markup, name, mode, isBound))
  if (!element) throw new EditError('no-element', `The body has no ${name} element.`)
  return element
}

function hasWrittenElement(element: ElementNode): boolean {
  const root = element.parentNode && isElement(element.parentNode) ? element.parentNode : element
  const written = (node: ElementNode): boolean =>
    Boolean(node.sourceCodeLocation) || node.childNodes.some(child => isElement(child) && written(child))
  return written(root)
}

function spanOfPart(tail: Tail, target: ElementNode): Span | undefined {
  const place = target.sourceCodeLocation
  if (!place?.startTag) return undefined
  const endOffset = place.endTag?.endOffset ?? Math.min(place.endOffset, tail.start)
  return { startOffset: place.startOffset, endOffset }
}

/** An `html` element without tags is everything behind the document type and first comments. */
function spanOfRoot(document: TreeDocument, tail: Tail, target: ElementNode): Span | undefined {
  const place = target.sourceCodeLocation
  const siblings = document.root.childNodes
  const index = siblings.indexOf(target)
  const startOffset = place?.startOffset ?? siblings[index - 1]?.sourceCodeLocation?.endOffset ?? 0
  if (place?.endTag) return { startOffset, endOffset: place.endTag.endOffset }
  return index === siblings.length - 1 ? { startOffset, endOffset: Math.max(startOffset, tail.start) } : undefined
}

/** The root element of XML: the text has exactly one element, and may have comments and instructions around it. */
export function* planningRoot(document: TreeDocument, target: ElementNode, text: string): Steps<Plan> {
  const context: ElementNode = { ...target, attrs: [], childNodes: [], parentNode: null }
  const parsed = yield* refusing(parsingFragment('xml', text, context))
  const count = parsed.filter(isElement).length
  if (count === 0) throw new EditError('no-element', 'The body has no element.')
  if (count > 1 || parsed.some(node => isText(node) && !isBlank(node.value))) {
    throw new EditError('malformed', 'An XML document has one root element and no text outside it.')
  }
  const nodes = parsed.filter(node => !isText(node))
  let markup = ''
  for (const node of nodes) markup += yield* writingMarkup(node, 'xml')
  const place = target.sourceCodeLocation
  const site: Site = {
    host: undefined,
    parent: document.root,
    index: document.root.childNodes.indexOf(target),
    gone: 1,
    nodes,
    span: place ? { startOffset: place.startOffset, endOffset: place.endOffset } : undefined,
    texts: [
      { way: 'splice', text },
      { way: 'normalised', text: markup },
    ],
  }
  return { sites: [site], nodes, parents: [document.root], local: false }
}
