/** Keeps those who may write to a part of a page from configuring the site through it. */

import { type Authority, mayPut } from '../authority.ts'
import type { Derived } from '../declarations/derive.ts'
import { KIND_NAMES, KINDS, type KindName } from '../declarations/kinds.ts'
import { Fault } from '../fault.ts'
import type { Registry } from '../model/registry.ts'
import type { Site } from '../site/site.ts'
import type { View } from '../tree/edit/edit.ts'
import { typesOf } from '../tree/microdata.ts'
import { CONFIGURATION_NAMES } from '../tree/microdata-value.ts'
import { attribute, type ChildNode, type ElementNode, isElement, type ParentNode } from '../tree/nodes.ts'
import { atOnce, NODES_PER_STEP, type Steps } from '../tree/steps.ts'

/** A write to an element, as far as configuration is concerned. */
export interface ElementChange {
  op: 'put' | 'post' | 'delete' | 'move'
  /** Canonical path of the document. */
  path: string
  /** The path that was asked for: that of a page which shows parts of the document, maybe. */
  requested: string
  /** The element as it is before: replaced, removed or moved; of a POST the anchor, which stays. */
  target: ElementNode
}

/**
 * Who may only write to a part of a page must not be able to make, change or remove the site's rules through it: not by a
 * deny that is deleted, nor by a cell of a rule that a grant for all cells covers. That needs the right to PUT the whole
 * document, as directives do (COMP-147), or to DELETE the whole where items are deleted as they are: one without a field is
 * another one, and a rule without its selector grants everything. So does what changes the declarations of items that it
 * does not stand in, such as an element with the id that a rule's `itemref` names. Entries of
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
  { op, path, requested, target }: ElementChange,
  view: View,
  derived: Derived,
  authority: Authority,
): Steps<void> {
  // Elsewhere, items of these types are text (SEC-10).
  if (!site.counts(path)) return
  const sorts = sortsOf(site)
  const brought = view.reread ?? view.nodes
  const parts = op === 'post' ? brought : [...brought, target]
  const brings = yield* findingConfiguration(brought, sorts)
  const takes = op !== 'post' && (yield* findingConfiguration([target], sorts))
  if (!brings && !takes && !(yield* changing(site, path, view, parts, derived, sorts))) {
    if (!derived.profile.types.some(sorts.isUndeclared)) return
    if (!(yield* changingItems(view, parts, sorts.isUndeclared))) return
  }
  if (mayPut(authority, path)) return
  const mayDelete = () => authority.admit({ ask: 'delete', path, exists: true }) === 'allow'
  if (op === 'delete' && takes && mayDelete() && !(yield* changingItems(view, [target], sorts.isConfiguration))) return
  if (op === 'delete' || op === 'move') throw authority.refusal(op.toUpperCase(), requested)
  throw new Fault(
    422,
    'InvalidFragment',
    'This write configures the site (an item of its vocabulary); that needs the right to PUT the whole document.',
  )
}

/** Whether some of these item types configure the site. */
export function configures(site: Site, types: readonly string[]): boolean {
  return types.length > 0 && types.some(sortsOf(site).isConfiguration)
}

/** The item types that configure the site, those that schemas derive among them. */
export function configurationTypes({ settings: { ns, schemaHost }, model }: Site): Set<string> {
  const own = [...CONFIGURATION_NAMES].flatMap(name => {
    const type = `${ns}/${name}`
    return model.hasSchemas ? [type, ...model.subtypes(type)] : [type]
  })
  return new Set([...own, `${schemaHost}/Enum`])
}

/** Whether whoever writes to an element configures the site by it, whatever the write; entries of lists are no part of that. */
export function isConfiguration(site: Site, element: ElementNode): boolean {
  const sorts = sortsOf(site)
  const around = typesAround(element).filter(sorts.isConfiguration)
  return atOnce(findingConfiguration([element], sorts)) || !around.every(sorts.isList)
}

/**
 * Whether a write changes what the document declares, beyond entries of the lists that it stands in. In steps.
 *
 * @param parts what it brings and takes
 */
function* changing(
  site: Site,
  path: string,
  view: View,
  parts: readonly ChildNode[],
  { declares }: Derived,
  sorts: Sorts,
): Steps<boolean> {
  const { parents } = view
  const before = (name: KindName): unknown => site.declarations(name).document(path)
  if (KIND_NAMES.every(name => KINDS[name].sameAsWritten(declares[name], before(name)))) return false
  const inLists = parents.every(parent => {
    const types = typesAround(parent).filter(sorts.isConfiguration)
    return types.length > 0 && types.every(sorts.isList)
  })
  if (!inLists) return true
  const isEntries = KIND_NAMES.every(name => {
    const kind = KINDS[name]
    const withoutEntries = (raw: unknown) => (raw === undefined ? raw : (kind.withoutEntries?.(raw) ?? raw))
    return kind.sameAsWritten(withoutEntries(declares[name]), withoutEntries(before(name)))
  })
  if (!isEntries) return true
  // Another list may take entries from here (RULE-4).
  const own = new Set(parents.flatMap(elementsFrom))
  return yield* findingReferred(view, parts, yield* referredBy(view, sorts.isList, own))
}

/**
 * Whether a write to some elements changes items of some types that stay, such as reactions and code: it stands inside of one,
 * or has an id that one refers to, or stands inside of an element that has.
 */
function* changingItems(view: View, parts: readonly ChildNode[], isMeant: (type: string) => boolean): Steps<boolean> {
  if (view.parents.some(parent => typesAround(parent).some(isMeant))) return true
  return yield* findingReferred(view, parts, yield* referredBy(view, isMeant))
}

/** Whether some elements of a write, or those that it stands in, have one of these ids. In steps. */
function* findingReferred(view: View, parts: readonly ChildNode[], referred: ReadonlySet<string>): Steps<boolean> {
  if (referred.size === 0) return false
  const isReferred = (element: ElementNode) => referred.has(attribute(element, 'id') ?? '')
  if (view.parents.some(parent => elementsFrom(parent).some(isReferred))) return true
  return yield* finding(parts, isReferred)
}

/**
 * The ids that items of some types refer to, and the items that lie in them or in what they refer to. In steps.
 *
 * @param except items that do not count
 */
function* referredBy(
  { document }: View,
  isMeant: (type: string) => boolean,
  except?: ReadonlySet<ElementNode>,
): Steps<Set<string>> {
  const ids = new Set<string>()
  const byId = new Map<string, ElementNode[]>()
  const open: ElementNode[] = []
  yield* finding(document.root.childNodes, element => {
    const id = attribute(element, 'id')
    const others = id && byId.get(id)
    if (others) others.push(element)
    else if (id) byId.set(id, [element])
    if (!except?.has(element) && typesOf(element).some(isMeant)) open.push(element)
    return false
  })
  const seen = new Set<ElementNode>()
  for (let element = open.pop(); element; element = open.pop()) {
    if (seen.has(element)) continue
    seen.add(element)
    if (seen.size % NODES_PER_STEP === 0) yield
    for (const id of attribute(element, 'itemref')?.split(/[\t\n\f\r ]+/) ?? []) {
      if (id === '' || ids.has(id)) continue
      ids.add(id)
      for (const referred of byId.get(id) ?? []) open.push(referred)
    }
    for (const child of element.childNodes) if (isElement(child)) open.push(child)
  }
  return ids
}

/** Tells configuration items: the server's own types, enumerations, and what schemas derive from them (SEC-8). */
interface Sorts {
  isConfiguration: (type: string) => boolean
  /** Its entries are all that there is to it: groups and enumerations. */
  isList: (type: string) => boolean
  /** Of these no declarations tell what they are made of: reactions, code, and groups that decide by what they hold (GRP-4). */
  isUndeclared: (type: string) => boolean
}

/** What rules, groups and the data model consist of is known by what documents declare. */
const DECLARED = ['AuthorizationRule', 'Group', 'Schema', 'Property', 'Method', 'Parameter', 'GroupConstraint']
const REACTIONS = [...CONFIGURATION_NAMES].filter(name => ![...DECLARED, 'ShapeConstraint'].includes(name))

/** One registry belongs to one state of the data model of one site. */
const sortsByModel = new WeakMap<Registry, Sorts>()

function sortsOf(site: Site): Sorts {
  const { model } = site
  const known = sortsByModel.get(model)
  if (known) return known
  const sorts = sortsBy(site)
  sortsByModel.set(model, sorts)
  return sorts
}

function sortsBy({ derivation, model }: Site): Sorts {
  const { ns, schemaHost, subtypes } = derivation
  const group = `${ns}/Group`
  const enumeration = `${schemaHost}/Enum`
  const typesOfNames = (names: Iterable<string>) => {
    const types = new Set<string>()
    for (const name of names)
      for (const type of model.hasSchemas ? model.subtypes(`${ns}/${name}`) : [`${ns}/${name}`]) types.add(type)
    return types
  }
  const reactions = typesOfNames(REACTIONS)
  const derived = typesOfNames(CONFIGURATION_NAMES)
  const isDerived = (type: string) => subtypes?.get(group)?.has(type) === true
  const decides = (type: string) =>
    isDerived(type) && model.schema(type)?.methods.some(({ name }) => name === 'includes') === true
  return {
    isList: type => type === group || type === enumeration || (isDerived(type) && !decides(type)),
    isConfiguration: type => type === enumeration || derived.has(type),
    isUndeclared: type => reactions.has(type) || decides(type),
  }
}

/** Finds out, in steps, whether nodes hold configuration, or are it. */
function findingConfiguration(nodes: readonly ChildNode[], sorts: Sorts): Steps<boolean> {
  return finding(nodes, element => typesOf(element).some(sorts.isConfiguration))
}

/** Finds out, in steps, whether some element among nodes, or below them, passes a test. */
function* finding(nodes: readonly ChildNode[], test: (element: ElementNode) => boolean): Steps<boolean> {
  const lists = [nodes]
  let seen = 0
  for (let list = lists.pop(); list; list = lists.pop()) {
    for (const node of list) {
      if (!isElement(node)) continue
      if (test(node)) return true
      if (++seen % NODES_PER_STEP === 0) yield
      if (node.childNodes.length > 0) lists.push(node.childNodes)
    }
  }
  return false
}

/** Types of all items that a node is or lies in. */
function typesAround(node: ParentNode): string[] {
  return elementsFrom(node).flatMap(typesOf)
}

/** A node and the elements that it lies in, the innermost first. */
function elementsFrom(node: ParentNode): ElementNode[] {
  const elements: ElementNode[] = []
  for (let at: ParentNode | null = node; at && isElement(at); at = at.parentNode) elements.push(at)
  return elements
}
