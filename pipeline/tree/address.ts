/** Selectors that address exactly one element and can be used as the range of a following request (HTTP-67). */

import { localName } from './namespaces.ts'
import { attribute, type ElementNode, isElement, type ParentNode, parentElement, type TreeDocument } from './nodes.ts'

/** What addresses of many elements of one document need in common. */
export interface AddressIndex {
  /** Elements with each id, as ids compare in this document. */
  ids: Map<string, number>
  /** One-based place of each element among the elements of its parent. */
  positions: Map<ElementNode, number>
  /** Elements with each name, prefixes left out. */
  names: Map<string, number>
}

/** Reads a document once, so that addressing many of its elements stays linear. */
export function addressIndex(document: TreeDocument): AddressIndex {
  const index: AddressIndex = { ids: new Map(), positions: new Map(), names: new Map() }
  const read = (parent: ParentNode): void => {
    let position = 0
    for (const child of parent.childNodes) {
      if (!isElement(child)) continue
      index.positions.set(child, ++position)
      const id = attribute(child, 'id')
      if (id) count(index.ids, idKey(id, document))
      count(index.names, bareName(child, document))
      read(child)
    }
  }
  read(document.root)
  return index
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/**
 * @param element an element of the document, outside template contents
 * @param index `addressIndex(document)`, to be shared when several elements of an unchanged document are addressed
 * @returns `#id` when the id is unique, else steps `name:nth-child(i)` joined by ` > ` from the nearest ancestor with a
 *   unique id or from the document element, which is `name:root` where others bear its name (SVG may hold an `html`). In
 *   XML a name with a prefix is written `*|local`.
 */
export function uniqueSelector(element: ElementNode, document: TreeDocument, index = addressIndex(document)): string {
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
      const alone = index.names.get(bareName(node, document)) === 1
      steps.push(alone ? typeSelector(node, document) : `${typeSelector(node, document)}:root`)
      break
    }
    steps.push(`${typeSelector(node, document)}:nth-child(${index.positions.get(node) ?? 1})`)
    node = parent
  }
  return steps.reverse().join(' > ')
}

/** In quirks mode selectors compare ids without regard to ASCII case. */
function idKey(id: string, document: TreeDocument): string {
  if (document.root.mode !== 'quirks') return id
  return id.replace(/[A-Z]+/g, letters => letters.toLowerCase())
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
