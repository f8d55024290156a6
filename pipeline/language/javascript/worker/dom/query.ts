/** Operations that look for nodes: the server's own selectors, and the older ways (JS-42). */

import { asciiLower } from '../../../../tree/ascii.ts'
import { type AnyNode, type ElementNode, isElement } from '../../../../tree/nodes.ts'
import { matcherIn, type Selector, SelectorError, selectorFor } from '../../../../tree/selector/selector.ts'
import { DomError } from './errors.ts'
import type { Nodes } from './nodes.ts'
import { childrenOf, type DomOperation, parentOf } from './read.ts'

/** Elementary steps of a selector that count as one step of the request: one element tried by one selector. */
const WORK_PER_STEP = 4

function compiled(text: string): Selector {
  try {
    return selectorFor(text)
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error
    const name = error.fault === 'size' ? 'QuotaExceededError' : 'SyntaxError'
    throw new DomError(name, `${error.message}: “${text.slice(0, 100)}”`)
  }
}

/** A test of elements in the tree of a node; its work is paid for. */
function tester(nodes: Nodes, text: string, place: AnyNode): (element: ElementNode) => boolean {
  const selector = compiled(text)
  const root = nodes.root(place)
  const owner = nodes.documentOf(nodes.owner(place))
  // A tree that is in no document is one by itself, so that what it leaves out is nowhere around it.
  const document = root === owner.root ? owner : { ...owner, root: { ...owner.root, childNodes: [] } }
  const test = matcherIn(selector, document, isElement(place) ? place : undefined, work =>
    nodes.budget.step(work / WORK_PER_STEP),
  )
  return element => {
    try {
      return test(element)
    } catch (error) {
      // The selector is too costly on this document.
      if (!(error instanceof SelectorError)) throw error
      nodes.budget.ended ??= 'timeout'
      return false
    }
  }
}

/** Elements between two looks at the clock. */
const PER_LOOK = 1_000

/** Elements below a node that pass, in document order. */
function* below(nodes: Nodes, node: AnyNode, test: (element: ElementNode) => boolean): Generator<ElementNode> {
  const open: { list: ReturnType<typeof childrenOf>; next: number }[] = [{ list: childrenOf(node), next: 0 }]
  let seen = 0
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const child = level.list[level.next++]
    if (!child) {
      open.pop()
      continue
    }
    if (!isElement(child)) continue
    nodes.budget.step(1)
    if (++seen % PER_LOOK === 0 && nodes.budget.isOver()) return
    if (test(child)) yield child
    if (nodes.budget.ended) return
    if (child.childNodes.length > 0) open.push({ list: child.childNodes, next: 0 })
  }
}

function first(elements: Iterable<ElementNode>): ElementNode | undefined {
  for (const element of elements) return element
  return undefined
}

function withTag(nodes: Nodes, name: string): (element: ElementNode) => boolean {
  const lower = asciiLower(name)
  return element => name === '*' || (nodes.isHtml(element) ? element.tagName === lower : element.tagName === name)
}

const SPACES = /[ \t\n\f\r]+/

/** Tokens of a space-separated list, each once. */
export function tokensOf(text: string): string[] {
  return [...new Set(text.split(SPACES).filter(token => token !== ''))]
}

function withClasses(nodes: Nodes, names: string, place: AnyNode): (element: ElementNode) => boolean {
  const isQuirky = nodes.owner(place).mode === 'quirks'
  const fold = (text: string) => (isQuirky ? asciiLower(text) : text)
  const wanted = tokensOf(fold(names))
  return element => {
    const value = element.attrs.find(a => a.name === 'class' && !a.prefix)?.value
    if (value === undefined || wanted.length === 0) return false
    const own = tokensOf(fold(value))
    return wanted.every(name => own.includes(name))
  }
}

export const querying: Record<string, DomOperation> = {
  querySelector: (nodes, values) => {
    const node = nodes.node(values.number(1))
    return nodes.name(first(below(nodes, node, tester(nodes, values.text(2), node))))
  },

  querySelectorAll: (nodes, values) => {
    const node = nodes.node(values.number(1))
    return nodes.names(below(nodes, node, tester(nodes, values.text(2), node)))
  },

  matches: (nodes, values) => {
    const element = nodes.element(values.number(1))
    return tester(nodes, values.text(2), element)(element) ? 1 : 0
  },

  closest: (nodes, values) => {
    const element = nodes.element(values.number(1))
    const test = tester(nodes, values.text(2), element)
    for (let at: AnyNode | null = element; at && isElement(at); at = parentOf(at)) if (test(at)) return nodes.name(at)
    return 0
  },

  getElementById: (nodes, values) => {
    const id = values.text(2)
    const isIt = (element: ElementNode) =>
      id !== '' && element.attrs.some(a => a.name === 'id' && !a.prefix && a.value === id)
    return nodes.name(first(below(nodes, nodes.node(values.number(1)), isIt)))
  },

  getElementsByTagName: (nodes, values) =>
    nodes.names(below(nodes, nodes.node(values.number(1)), withTag(nodes, values.text(2)))),

  getElementsByTagNameNS: (nodes, values) => {
    const namespace = values.text(2)
    const local = values.text(3)
    return nodes.names(
      below(
        nodes,
        nodes.node(values.number(1)),
        element =>
          (namespace === '*' || element.namespaceURI === namespace) &&
          (local === '*' || nodes.localName(element) === local),
      ),
    )
  },

  getElementsByClassName: (nodes, values) => {
    const node = nodes.node(values.number(1))
    return nodes.names(below(nodes, node, withClasses(nodes, values.text(2), node)))
  },
}
