/** What directives leave in their place (COMP-31, COMP-58). */

import { ElementValue, isDictionary, isList, NamedValue, type Value } from '../language/values.ts'
import type { ChildNode, ElementNode, TreeDocument } from '../tree/nodes.ts'

export type Splice =
  /** An element of a stored document, by its tree; `id` takes the place of its own. */
  | { stored: ElementNode; tree: TreeDocument; id?: string | undefined }
  /** Nodes that are stored nowhere. */
  | { built: readonly ChildNode[]; id?: string | undefined }
  | { text: string }

/** How a value is put into a page: lists item by item, null not at all. */
export function splicesOf(value: Value): Splice[] {
  if (value === null) return []
  if (isList(value)) return value.flatMap(splicesOf)
  if (!(value instanceof ElementValue)) return [{ text: textOf(value) }]
  const { node, source } = value
  return source?.path === undefined ? [{ built: [node] }] : [{ stored: node, tree: source.document }]
}

/** Whether a result replaces the element whose attribute has asked for it (COMP-55). */
export function holdsElements(value: Value): boolean {
  return (
    value instanceof ElementValue ||
    (isList(value) && value.length > 0 && value.every(item => item instanceof ElementValue))
  )
}

/** A scalar as text (SES-64). */
export function textOf(value: Value): string {
  if (value === null) return ''
  if (typeof value === 'number') return floatText(value)
  if (value instanceof NamedValue) return value.text()
  if (isDictionary(value)) return ''
  return String(value)
}

/** A whole float keeps its point, so that it is told from an integer. */
function floatText(value: number): string {
  const text = String(value)
  return Number.isInteger(value) && !text.includes('e') ? `${text}.0` : text
}
