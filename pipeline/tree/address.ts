/** Selectors that address exactly one element and can be used as the range of a following request (HTTP-67). */

import { asciiLower } from './ascii.ts'
import { localName } from './namespaces.ts'
import {
  attribute,
  type ChildNode,
  type ElementNode,
  isElement,
  type ParentNode,
  parentElement,
  rootElement,
  type TreeDocument,
} from './nodes.ts'
import { atOnce, NODES_PER_STEP, type Steps } from './steps.ts'

/** What addresses of many elements of one document need in common. */
export interface AddressIndex {
  /** How many elements have each id, as ids compare in this document. */
  ids: Map<string, number>
  /** Whether no other element bears the name of the document element, prefixes left out. */
  isRootAlone: boolean
  /** How far the children of a parent have been counted. */
  counted: Map<ParentNode, Counted>
}

/** The child at `index` is the element at the one-based `position`. */
interface Counted {
  index: number
  position: number
}

/** Reads a document once, so that addressing many of its elements stays linear; in steps. */
export function* indexingAddresses(document: TreeDocument): Steps<AddressIndex> {
  const index: AddressIndex = { ids: new Map(), isRootAlone: true, counted: new Map() }
  const root = rootElement(document)
  const name = root && bareName(root, document)
  const lists: (readonly ChildNode[])[] = [document.root.childNodes]
  let read = 0
  for (let nodes = lists.pop(); nodes; nodes = lists.pop()) {
    for (const node of nodes) {
      if (!isElement(node)) continue
      if (++read % NODES_PER_STEP === 0) yield
      const id = attribute(node, 'id')
      if (id) {
        const key = idKey(id, document)
        index.ids.set(key, (index.ids.get(key) ?? 0) + 1)
      }
      if (node !== root && bareName(node, document) === name) index.isRootAlone = false
      if (node.childNodes.length > 0) lists.push(node.childNodes)
    }
  }
  return index
}

/** Elements are mostly asked about in the order of the tree, so the count goes on where it stopped. */
function positionOf(element: ElementNode, parent: ParentNode, { counted }: AddressIndex): number {
  const nodes = parent.childNodes
  let { index, position } = counted.get(parent) ?? { index: -1, position: 0 }
  if (nodes[index] === element) return position
  for (let again = index >= 0; ; again = false) {
    while (++index < nodes.length) {
      const node = nodes[index]
      if (!node || !isElement(node)) continue
      position++
      if (node !== element) continue
      counted.set(parent, { index, position })
      return position
    }
    if (!again) return 1
    index = -1
    position = 0
  }
}

/**
 * @param element an element of the document, outside template contents
 * @param index `indexingAddresses(document)`, to be shared when several elements of an unchanged document are addressed
 * @returns `#id` when the id is unique, else steps `name:nth-child(i)` joined by ` > ` from the nearest ancestor with a
 *   unique id or from the document element, which is `name:root` where others bear its name (SVG may hold an `html`). In
 *   XML a name with a prefix is written `*|local`.
 */
export function uniqueSelector(
  element: ElementNode,
  document: TreeDocument,
  index = atOnce(indexingAddresses(document)),
): string {
  const steps: string[] = []
  let node = element
  for (;;) {
    const id = attribute(node, 'id')
    if (id && index.ids.get(idKey(id, document)) === 1) {
      steps.push(`#${escapeIdentifier(id)}`)
      break
    }
    const parent = parentElement(node)
    if (!parent) {
      steps.push(index.isRootAlone ? typeSelector(node, document) : `${typeSelector(node, document)}:root`)
      break
    }
    steps.push(`${typeSelector(node, document)}:nth-child(${positionOf(node, parent, index)})`)
    node = parent
  }
  return steps.reverse().join(' > ')
}

/** In quirks mode selectors compare ids without regard to ASCII case. */
function idKey(id: string, document: TreeDocument): string {
  if (document.root.mode !== 'quirks') return id
  return asciiLower(id)
}

/** In XML the name without prefix; HTML knows no prefixes. */
function bareName(element: ElementNode, document: TreeDocument): string {
  return document.kind === 'xml' ? localName(element.tagName) : element.tagName
}

function typeSelector(element: ElementNode, document: TreeDocument): string {
  const name = bareName(element, document)
  return name === element.tagName ? escapeIdentifier(name) : `*|${escapeIdentifier(name)}`
}

/** Serializes an identifier (CSSOM, "serialize an identifier"). */
export function escapeIdentifier(name: string): string {
  if (name === '-') return '\\-'
  let position = 0
  let dashed = false
  return name.replace(/[\s\S]/gu, character => {
    const first = position++ === 0
    const leading = first || (position === 2 && dashed)
    dashed = first && character === '-'
    if (character === '\0') return '\ufffd'
    if (/[\x01-\x1f\x7f]/.test(character) || (leading && /[0-9]/.test(character))) return codePoint(character)
    return /[-\w\u0080-\u{10ffff}]/u.test(character) ? character : `\\${character}`
  })
}

function codePoint(character: string): string {
  return `\\${character.charCodeAt(0).toString(16)} `
}
