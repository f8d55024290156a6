/** What the attributes of an element ask of composition, sorted in the order in which it is done (COMP-17). */

import type { Schema } from '../model/schema.ts'
import { asciiLower } from '../tree/ascii.ts'
import type { Attribute, ElementNode } from '../tree/nodes.ts'
import { declaredPrefix, qualifiedName, writtenName } from '../tree/prefixes.ts'
import { type Composing, isData, meaning, type Surroundings } from './composing.ts'

/** An attribute in the text of a start tag: HTML's parser gives names in lower case (COMP-9). */
const ATTRIBUTE = /([^\t\n\f\r "'>/=]+)(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"[^"]*"|'[^']*'|[^\t\n\f\r "'>]+))?/g

/** An attribute that is dispatched. */
export type AttributeDirective =
  | { does: 'resource' | 'sessel' | 'javascript'; written: string; value: string }
  | { does: 'method'; schema: Schema; written: string; value: string }

export interface Directives {
  /** Attributes that stay. */
  kept: Attribute[]
  /** Resource bindings first, everything else behind them. */
  dispatched: AttributeDirective[]
  template: string | undefined
  paginate: string | undefined
  transient: boolean
}

/** Sorts the attributes of an element; `undefined` where none of them is a directive or declares a prefix. */
export function directivesOf(
  composing: Composing,
  { attrs }: ElementNode,
  place: Pick<Surroundings, 'holder' | 'isElsewhere' | 'prefixes'>,
): Directives | undefined {
  let found: Directives | undefined
  const resources: AttributeDirective[] = []
  const others: AttributeDirective[] = []
  for (const [index, a] of attrs.entries()) {
    const written = writtenName(a)
    if (!written.includes(':')) {
      found?.kept.push(a)
      continue
    }
    const role = roleOf(composing, a, written, place)
    if (role === 'kept') {
      found?.kept.push(a)
      continue
    }
    found ??= {
      kept: attrs.slice(0, index),
      dispatched: [],
      template: undefined,
      paginate: undefined,
      transient: false,
    }
    if (role === 'removed') continue
    if (typeof role === 'object') (role.does === 'resource' ? resources : others).push(role)
    else if (role === 'transient') found.transient = true
    else found[role] = a.value
  }
  found?.dispatched.push(...resources, ...others)
  return found
}

type Role = 'kept' | 'removed' | 'template' | 'paginate' | 'transient' | AttributeDirective

function roleOf(
  composing: Composing,
  a: Attribute,
  written: string,
  place: Pick<Surroundings, 'holder' | 'isElsewhere' | 'prefixes'>,
): Role {
  if (declaredPrefix(a) !== undefined) return composing.kind === 'html' && !composing.creating ? 'removed' : 'kept'
  const name = qualifiedName(written)
  const uri = name && place.prefixes.namespace(name.prefix)
  if (!name || uri === undefined) return 'kept'
  const provides = meaning(composing, uri)
  switch (provides) {
    case 'foreign':
      return 'kept'
    case 'other':
      return isData(composing, place) ? 'kept' : 'removed'
    case 'page':
      if (name.local === 'template' || name.local === 'paginate' || name.local === 'transient') return name.local
      return 'removed'
    case 'resource':
    case 'sessel':
    case 'javascript':
      return { does: provides, written, value: a.value }
  }
  if (name.local === 'transient') return 'removed'
  return { does: 'method', schema: provides, written, value: a.value }
}

/**
 * Names of an element and its attributes as they stand in its start tag, by their lower-case form.
 *
 * @param text that the offsets of the element count in; without it names are as they are in the tree
 */
export function spellings(element: ElementNode, text: string | undefined): ReadonlyMap<string, string> {
  const tag = element.sourceCodeLocation?.startTag
  const names = new Map<string, string>()
  if (!tag || text === undefined) return names
  for (const [, name = ''] of text.slice(tag.startOffset + 1, tag.endOffset - 1).matchAll(ATTRIBUTE)) {
    const lower = asciiLower(name)
    if (!names.has(lower)) names.set(lower, name)
  }
  return names
}

/** The part behind the colon, as it was spelt. */
export function spelledLocal(written: string, spelled: ReadonlyMap<string, string>): string {
  const name = spelled.get(asciiLower(written)) ?? written
  return name.slice(name.indexOf(':') + 1)
}
