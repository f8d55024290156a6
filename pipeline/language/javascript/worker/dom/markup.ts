/** Operations that read and write markup (JS-42). */

import { asciiLower } from '../../../../tree/ascii.ts'
import { TreeError } from '../../../../tree/document.ts'
import { parsingFragment } from '../../../../tree/fragment.ts'
import { parsingHtml } from '../../../../tree/html.ts'
import {
  type AnyNode,
  type ChildNode,
  type DocumentNode,
  type ElementNode,
  HTML_NAMESPACE,
  isElement,
} from '../../../../tree/nodes.ts'
import { innerMarkup, outerMarkup } from '../../../../tree/serialize.ts'
import type { Steps } from '../../../../tree/steps.ts'
import { parsingXml } from '../../../../tree/xml.ts'
import { detach, insert, replaceAll } from './change.ts'
import { DomError } from './errors.ts'
import { NODE_BYTES, type Nodes } from './nodes.ts'
import { childrenOf, type DomOperation, parentOf } from './read.ts'

/** Parses within the budget. @returns undefined when it is spent */
function parsed<T>(nodes: Nodes, text: string, work: Steps<T>): T | undefined {
  // A node for every few characters is the worst that markup can hold.
  nodes.budget.take(8 * text.length)
  nodes.budget.step(text.length >> 4)
  try {
    while (!nodes.budget.isOver()) {
      const step = work.next()
      if (step.done) return step.value
    }
    return undefined
  } catch (error) {
    if (!(error instanceof TreeError)) throw error
    if (error.reason === 'malformed') throw new DomError('SyntaxError', error.message)
    // Where XML is too deep, no error is thrown.
    nodes.budget.isAtLimit = true
    throw new DomError('QuotaExceededError', error.message)
  }
}

function fragmentIn(nodes: Nodes, text: string, context: ElementNode): ChildNode[] {
  const made = parsed(nodes, text, parsingFragment(nodes.kindOf(context), text, context)) ?? []
  for (const node of made) {
    nodes.own(node, nodes.owner(context))
    nodes.count(node)
  }
  return made
}

/** The element in which markup is read that will be a child of a node. */
function contextOf(parent: AnyNode | null): ElementNode {
  if (parent && isElement(parent)) return parent
  return {
    nodeName: 'body',
    tagName: 'body',
    namespaceURI: HTML_NAMESPACE,
    attrs: [],
    childNodes: [],
    parentNode: null,
  }
}

/** The same for `insertAdjacentHTML`, to which `html` is as good as `body`. */
function adjacentContext(parent: AnyNode | null): ElementNode {
  return contextOf(parent && isElement(parent) && parent.tagName === 'html' ? null : parent)
}

function markup(nodes: Nodes, node: AnyNode, write: (node: AnyNode, kind: 'html' | 'xml') => string): string {
  const text = write(node, nodes.kindOf(node))
  nodes.budget.step(1 + (text.length >> 5))
  return text
}

function insertAll(nodes: Nodes, parent: AnyNode, made: readonly ChildNode[], before: AnyNode | undefined): void {
  for (const node of made) insert(nodes, parent, node, before)
}

function parserError(message: string): DocumentNode {
  const root: DocumentNode = { nodeName: '#document', childNodes: [] }
  const namespaceURI = 'http://www.mozilla.org/newlayout/xml/parsererror.xml'
  const error: ElementNode = {
    nodeName: 'parsererror',
    tagName: 'parsererror',
    namespaceURI,
    attrs: [{ name: 'xmlns', value: namespaceURI, namespace: 'http://www.w3.org/2000/xmlns/' }],
    childNodes: [],
    parentNode: root,
  }
  error.childNodes.push({ nodeName: '#text', value: message, parentNode: error })
  root.childNodes.push(error)
  return root
}

export const marking: Record<string, DomOperation> = {
  innerHTML: (nodes, values) => markup(nodes, nodes.node(values.number(1)), innerMarkup),
  outerHTML: (nodes, values) => markup(nodes, nodes.node(values.number(1)), outerMarkup),

  setInnerHTML: (nodes, values) => {
    const element = nodes.writable(nodes.element(values.number(1)))
    const made = fragmentIn(nodes, values.text(2), element)
    replaceAll(nodes, element.content ?? element, made)
    return null
  },

  setOuterHTML: (nodes, values) => {
    const element = nodes.writable(nodes.element(values.number(1)))
    const parent = parentOf(element)
    if (!parent) return null
    if (parent.nodeName === '#document')
      throw new DomError('NoModificationAllowedError', 'The document element cannot be replaced by markup.')
    const made = fragmentIn(nodes, values.text(2), contextOf(parent))
    insertAll(nodes, parent, made, element)
    detach(nodes, element)
    return null
  },

  insertAdjacentHTML: (nodes, values) => {
    const element = nodes.writable(nodes.element(values.number(1)))
    const position = asciiLower(values.text(2))
    const parent = parentOf(element)
    const isOutside = position === 'beforebegin' || position === 'afterend'
    if (!isOutside && position !== 'afterbegin' && position !== 'beforeend')
      throw new DomError('SyntaxError', `"${position.slice(0, 100)}" is no position.`)
    if (isOutside && (!parent || parent.nodeName === '#document'))
      throw new DomError('NoModificationAllowedError', 'There is no element around this one.')
    const made = fragmentIn(nodes, values.text(3), adjacentContext(isOutside ? parent : element))
    const place = isOutside && parent ? parent : element
    const siblings = childrenOf(place)
    const before = {
      beforebegin: element,
      afterbegin: siblings[0],
      beforeend: undefined,
      afterend: siblings[siblings.indexOf(element) + 1],
    }[position]
    insertAll(nodes, place, made, before)
    return null
  },

  parseFromString: (nodes, values) => {
    const text = values.text(1)
    const isHtml = values.text(2) === 'text/html'
    let root: DocumentNode | undefined
    try {
      root = parsed(nodes, text, isHtml ? parsingHtml(text) : parsingXml(text))
    } catch (error) {
      if (isHtml || !(error instanceof DomError)) throw error
      root = parserError(error.message)
    }
    if (!root) return 0
    nodes.budget.take(NODE_BYTES)
    nodes.addDocument(isHtml ? 'html' : 'xml', root)
    nodes.count(root)
    return nodes.name(root)
  },
}
