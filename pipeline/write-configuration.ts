/** Keeps those who may write to a part of a page from configuring the site through it. */

import { sameDeclarations } from './access/extract.ts'
import type { Authority } from './authority.ts'
import type { Derived } from './derive.ts'
import { Fault } from './fault.ts'
import { sameModel } from './model/declarations.ts'
import type { Site } from './site.ts'
import type { View } from './tree/edit/edit.ts'
import { typesOf } from './tree/microdata.ts'
import { type ChildNode, type ElementNode, isElement, type ParentNode } from './tree/nodes.ts'

/**
 * Who may only add to a part of a page must not be able to write the site's rules through it, so new configuration items
 * need the right to PUT the whole document, as directives do (COMP-147). So does what changes the declarations of items
 * that it does not stand in, such as an element with the id that a rule's `itemref` names.
 *
 * @throws Fault 422
 */
export function checkConfiguration(site: Site, path: string, view: View, derived: Derived, authority: Authority): void {
  const configures = configuring(site)
  const brings = view.nodes.some(node => bringsConfiguration(node, configures))
  const changes =
    !sameDeclarations(derived.access, site.rules.document(path)) || !sameModel(derived.model, site.model.document(path))
  if (!brings && (!changes || standsWithin(view.parents, configures))) return
  if (authority.admit({ ask: 'put', path, exists: true }) === 'allow') return
  throw new Fault(
    422,
    'InvalidFragment',
    'The fragment configures the site (an item of its vocabulary); that needs the right to PUT the whole document.',
  )
}

/** Tells configuration items: those of the site's vocabulary, and enumerations. */
type Configures = (element: ElementNode) => boolean

function configuring({ settings }: Site): Configures {
  const prefix = `${settings.ns}/`
  const enumeration = `${settings.schemaHost}/Enum`
  return element => typesOf(element).some(type => type.startsWith(prefix) || type === enumeration)
}

function bringsConfiguration(node: ChildNode, configures: Configures): boolean {
  if (!isElement(node)) return false
  return configures(node) || node.childNodes.some(child => bringsConfiguration(child, configures))
}

/** Whether each of some nodes is a configuration item or lies inside one: whoever may write there was let in by its author. */
function standsWithin(nodes: readonly ParentNode[], configures: Configures): boolean {
  return nodes.every(node => {
    for (let outer: ParentNode | null = node; outer && isElement(outer); outer = outer.parentNode)
      if (configures(outer)) return true
    return false
  })
}
