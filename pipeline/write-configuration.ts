/** Keeps those who may write to a part of a page from configuring the site through it. */

import { sameRights } from './access/extract.ts'
import type { Authority } from './authority.ts'
import type { Derivation, Derived } from './derive.ts'
import { Fault } from './fault.ts'
import { sameModel } from './model/declarations.ts'
import type { Site } from './site.ts'
import type { View } from './tree/edit/edit.ts'
import { typesOf } from './tree/microdata.ts'
import { type ChildNode, type ElementNode, isElement, type ParentNode } from './tree/nodes.ts'

/** A write to an element, as far as configuration is concerned. */
export interface ElementChange {
  op: 'put' | 'post' | 'delete' | 'move'
  /** Canonical path of the document. */
  path: string
  /** The element as it is before: replaced, removed or moved; of a POST the anchor, which stays. */
  target: ElementNode
}

/**
 * Who may only write to a part of a page must not be able to make, change or remove the site's rules through it: not by a
 * deny that is deleted, nor by a cell of a rule that a grant for all cells covers. That needs the right to PUT the whole
 * document, as directives do (COMP-147), or to DELETE the whole where something is deleted. So does what changes the
 * declarations of items that it does not stand in, such as an element with the id that a rule's `itemref` names. Lists of
 * people and of values are kept by whoever their author lets write inside of them (GRP-6).
 *
 * @param view the document as it would be
 * @throws Fault 422 for a fragment, 401 or 403 for a DELETE or MOVE
 */
export function checkConfiguration(
  site: Site,
  { op, path, target }: ElementChange,
  view: View,
  derived: Derived,
  authority: Authority,
): void {
  const sorts = sortsOf(site.derivation)
  const brings = view.nodes.some(node => holdsConfiguration(node, sorts))
  const takes = op !== 'post' && holdsConfiguration(target, sorts)
  const changes =
    !sameRights(derived.access, site.rules.document(path)) || !sameModel(derived.model, site.model.document(path))
  if (!brings && !takes && (!changes || standsInLists(view.parents, sorts))) return
  if (authority.admit({ ask: 'put', path, exists: true }) === 'allow') return
  if (op === 'delete' && authority.admit({ ask: 'delete', path, exists: true }) === 'allow') return
  if (op === 'delete' || op === 'move') throw authority.refusal(op.toUpperCase(), path)
  throw new Fault(
    422,
    'InvalidFragment',
    'This write configures the site (an item of its vocabulary); that needs the right to PUT the whole document.',
  )
}

/** Tells configuration items: those of the site's vocabulary, enumerations and what schemas make into rules and groups. */
interface Sorts {
  isConfiguration: (type: string) => boolean
  /** Configuration whose entries people may be let keep: groups and enumerations. */
  isList: (type: string) => boolean
}

function sortsOf({ ns, schemaHost, accessTypes }: Derivation): Sorts {
  const prefix = `${ns}/`
  const group = `${ns}/Group`
  const enumeration = `${schemaHost}/Enum`
  const isList = (type: string) => type === group || type === enumeration || accessTypes?.group.has(type) === true
  return {
    isList,
    isConfiguration: type => type.startsWith(prefix) || isList(type) || accessTypes?.rule.has(type) === true,
  }
}

function holdsConfiguration(node: ChildNode, sorts: Sorts): boolean {
  if (!isElement(node)) return false
  return typesOf(node).some(sorts.isConfiguration) || node.childNodes.some(child => holdsConfiguration(child, sorts))
}

/** Whether each of some nodes lies in a list, and in no other configuration. */
function standsInLists(nodes: readonly ParentNode[], { isConfiguration, isList }: Sorts): boolean {
  return nodes.every(node => {
    let within = false
    for (let outer: ParentNode | null = node; outer && isElement(outer); outer = outer.parentNode) {
      const types = typesOf(outer).filter(isConfiguration)
      if (!types.every(isList)) return false
      within ||= types.length > 0
    }
    return within
  })
}
