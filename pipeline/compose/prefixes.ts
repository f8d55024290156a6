/**
 * What prefixes mean at a place of a tree. In HTML `xmlns:p` is an ordinary attribute with a colon in its name, so both
 * kinds of trees are read here: scope is lexical, and the nearest declaration wins (COMP-12).
 */

import { type Attribute, type ElementNode, isElement, type ParentNode } from '../tree/nodes.ts'

/** A qualified name in its two parts. */
export interface QualifiedName {
  prefix: string
  local: string
}

/** Prefixes that are never those of directives (COMP-13); `xmlns` declares others. */
const FIXED = new Set(['xml', 'xlink', 'xmlns'])

/** The name of an attribute as it is written. */
export function writtenName({ name, prefix }: Attribute): string {
  return prefix ? `${prefix}:${name}` : name
}

/** @returns undefined for a name without prefix, or with one that never is that of a directive */
export function qualifiedName(written: string): QualifiedName | undefined {
  const colon = written.indexOf(':')
  if (colon <= 0 || colon === written.length - 1) return undefined
  const prefix = written.slice(0, colon)
  return FIXED.has(prefix.toLowerCase()) ? undefined : { prefix, local: written.slice(colon + 1) }
}

/** @returns the prefix that an attribute declares; undefined for other attributes and for the default namespace */
export function declaredPrefix(a: Attribute): string | undefined {
  if (a.prefix === 'xmlns') return a.name
  return !a.prefix && a.name.startsWith('xmlns:') && a.name.length > 6 ? a.name.slice(6) : undefined
}

/**
 * The namespace that a prefix is bound to.
 *
 * @param element where to look; its own declarations count
 * @returns undefined where it is not bound, or unbound by an empty value
 */
export function namespaceOf(element: ElementNode, prefix: string): string | undefined {
  for (let node: ParentNode | null = element; node && isElement(node); node = node.parentNode) {
    for (const a of node.attrs) if (declaredPrefix(a) === prefix) return a.value === '' ? undefined : a.value
  }
  return undefined
}
