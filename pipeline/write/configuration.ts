/** Keeps those who may write to a part of a page from configuring the site through it. */

import type { Authority } from '../authority.ts'
import type { Derived } from '../declarations/derive.ts'
import { KIND_NAMES, KINDS, type KindName } from '../declarations/kinds.ts'
import { Fault } from '../fault.ts'
import type { Site } from '../site/site.ts'
import type { View } from '../tree/edit/edit.ts'
import { typesOf } from '../tree/microdata.ts'
import { type ChildNode, type ElementNode, isElement, type ParentNode } from '../tree/nodes.ts'
import { atOnce, NODES_PER_STEP, type Steps } from '../tree/steps.ts'

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
 * declarations of items that it does not stand in, such as an element with the id that a rule's `itemref` names. Entries of
 * lists, the members of a group and the values of an enumeration, are kept by whoever their author lets write inside of
 * them (GRP-6).
 *
 * In steps.
 *
 * @param view the document as it would be
 * @throws Fault 422 for a fragment, 401 or 403 for a DELETE or MOVE
 */
export function* checkingConfiguration(
  site: Site,
  { op, path, target }: ElementChange,
  view: View,
  derived: Derived,
  authority: Authority,
): Steps<void> {
  const sorts = sortsOf(site)
  const brings = yield* findingConfiguration(view.nodes, sorts)
  const takes = op !== 'post' && (yield* findingConfiguration([target], sorts))
  if (!brings && !takes && !changes(site, path, view, derived, sorts)) return
  if (authority.admit({ ask: 'put', path, exists: true }) === 'allow') return
  if (op === 'delete' && authority.admit({ ask: 'delete', path, exists: true }) === 'allow') return
  if (op === 'delete' || op === 'move') throw authority.refusal(op.toUpperCase(), path)
  throw new Fault(
    422,
    'InvalidFragment',
    'This write configures the site (an item of its vocabulary); that needs the right to PUT the whole document.',
  )
}

/** Whether whoever writes to an element configures the site by it, whatever the write; entries of lists are no part of that. */
export function isConfiguration(site: Site, element: ElementNode): boolean {
  const sorts = sortsOf(site)
  const around = typesAround(element).filter(sorts.isConfiguration)
  return atOnce(findingConfiguration([element], sorts)) || !around.every(sorts.isList)
}

/** Whether a write changes what the document declares, beyond entries of the lists that it stands in. */
function changes(site: Site, path: string, { parents }: View, { declares }: Derived, sorts: Sorts): boolean {
  if (parents.some(parent => typesAround(parent).some(sorts.decides))) return true
  const before = (name: KindName): unknown => site.declarations(name).document(path)
  if (KIND_NAMES.every(name => KINDS[name].sameAsWritten(declares[name], before(name)))) return false
  const inLists = parents.every(parent => {
    const types = typesAround(parent).filter(sorts.isConfiguration)
    return types.length > 0 && types.every(sorts.isList)
  })
  if (!inLists) return true
  return !KIND_NAMES.every(name => {
    const kind = KINDS[name]
    const withoutEntries = (raw: unknown) => (raw === undefined ? raw : (kind.withoutEntries?.(raw) ?? raw))
    return kind.sameAsWritten(withoutEntries(declares[name]), withoutEntries(before(name)))
  })
}

/** Tells configuration items: those of the site's vocabulary, enumerations and what schemas make into rules and groups. */
interface Sorts {
  isConfiguration: (type: string) => boolean
  /** Its entries are all that there is to it: groups and enumerations. */
  isList: (type: string) => boolean
  /** A group of this type decides by itself who is in it, by whatever it holds (GRP-4). */
  decides: (type: string) => boolean
}

function sortsOf({ derivation, model }: Site): Sorts {
  const { ns, schemaHost, subtypes } = derivation
  const prefix = `${ns}/`
  const group = `${ns}/Group`
  const enumeration = `${schemaHost}/Enum`
  const below = [...(subtypes?.values() ?? [])]
  const isDerived = (type: string) => subtypes?.get(group)?.has(type) === true
  const decides = (type: string) =>
    isDerived(type) && model.schema(type)?.methods.some(({ name }) => name === 'includes') === true
  return {
    decides,
    isList: type => type === group || type === enumeration || (isDerived(type) && !decides(type)),
    isConfiguration: type => type.startsWith(prefix) || type === enumeration || below.some(types => types.has(type)),
  }
}

/** Finds out, in steps, whether nodes hold configuration, or are it. */
function* findingConfiguration(nodes: readonly ChildNode[], sorts: Sorts): Steps<boolean> {
  const lists = [nodes]
  let seen = 0
  for (let list = lists.pop(); list; list = lists.pop()) {
    for (const node of list) {
      if (!isElement(node)) continue
      if (typesOf(node).some(sorts.isConfiguration)) return true
      if (++seen % NODES_PER_STEP === 0) yield
      if (node.childNodes.length > 0) lists.push(node.childNodes)
    }
  }
  return false
}

/** Types of all items that a node is or lies in. */
function typesAround(node: ParentNode): string[] {
  const types: string[] = []
  for (let outer: ParentNode | null = node; outer && isElement(outer); outer = outer.parentNode)
    types.push(...typesOf(outer))
  return types
}
