/**
 * Finds the rules and groups that a document declares (RULE-1 to RULE-7, GRP-1). The result is plain data: it is stored
 * with the document's version and compiled when a site's rules are put together.
 */

import { elementsIn } from '../tree/ids.ts'
import { TreeError } from '../tree/limits.ts'
import { type Item, readingAllItems } from '../tree/microdata.ts'
import { ruleValue } from '../tree/microdata-value.ts'
import { localName } from '../tree/namespaces.ts'
import { type ElementNode, HTML_NAMESPACE, isElement, type ParentNode, type TreeDocument } from '../tree/nodes.ts'
import { atOnce, NODES_PER_STEP, type Steps } from '../tree/steps.ts'
import { expandedWeight } from './glob-syntax.ts'
import { splitLookups } from './lookup.ts'

/** The fields of a rule as written: trimmed, empty values dropped, never split (RULE-3, RULE-5). */
export interface RawRule {
  /** Place of the item's element among the document's elements in tree order, from 0. */
  position: number
  /** Which rule of a table this is, from 0; missing when the item is no table (RULE-6). */
  row?: number
  actor: string[]
  resource: string[]
  method: string[]
  selector: string[]
  action: string[]
}

/** A group as written. Its item can be found again by its position. */
export interface RawGroup {
  position: number
  /** Item types that are subtypes of a group (GRP-4); empty for a plain group. */
  subtypes: string[]
  /** First value that is not empty; empty when there is none. */
  name: string
  members: string[]
}

/** What one document version declares. */
export interface RawAccess {
  /** The vocabulary base URI it was read with. */
  ns: string
  rules: RawRule[]
  groups: RawGroup[]
}

/** Item types whose `parent` chain reaches a rule or a group (RULE-12, GRP-4). */
export interface AccessTypes {
  rule: ReadonlySet<string>
  group: ReadonlySet<string>
}

type Field = Exclude<keyof RawRule, 'position' | 'row'>
const FIELDS: readonly Field[] = ['actor', 'resource', 'method', 'selector', 'action']
/** Rules and groups that are made in one step. */
const ITEMS_PER_STEP = 200
/**
 * Rules stay in memory, so what the braces in their patterns stand for has to keep some proportion to the text: so many
 * code points for each character, and so many more in all rules of a document.
 */
const GRANTED = 24
const MOST_MULTIPLIED = 512 * 1024
const TABLES = new Set(['table', 'thead', 'tbody', 'tfoot'])

/**
 * Extracts rules and groups from stored markup. The contents of templates declare nothing (RULE-2).
 *
 * @param ns the site's vocabulary base URI, without slash at the end
 * @param types the site's subtypes of rules and groups
 * @returns undefined when there are none
 * @throws TreeError (`too-large`) when references between items, or alternatives in patterns, multiply beyond all proportion
 *   to the text
 */
export function extractAccess(document: TreeDocument, ns: string, types?: AccessTypes): RawAccess | undefined {
  return atOnce(extractingAccess(document, ns, types))
}

/** `extractAccess` in steps. */
export function* extractingAccess(
  document: TreeDocument,
  ns: string,
  types?: AccessTypes,
): Steps<RawAccess | undefined> {
  const ruleType = `${ns}/AuthorizationRule`
  const groupType = `${ns}/Group`
  const isRule = (type: string) => type === ruleType || types?.rule.has(type) === true
  const isGroup = (type: string) => type === groupType || types?.group.has(type) === true
  const wanted = (tokens: string[]) => tokens.some(type => isRule(type) || isGroup(type))
  const items = yield* readingAllItems(document.root, ruleValue, wanted)
  if (items.length === 0) return undefined
  const access: RawAccess = { ns, rules: [], groups: [] }
  const positions = yield* findingPositions(document)
  let surplus = 0
  for (const [i, item] of items.entries()) {
    if (i % ITEMS_PER_STEP === 0) yield
    const position = positions.get(item.element) ?? 0
    // A property that is a nested item has no text, and its own properties are not the rule's (RULE-4).
    if (item.types.some(isRule)) {
      for (const rule of yield* makingRules(item, position)) {
        if (access.rules.push(rule) % ITEMS_PER_STEP === 0) yield
        for (const resource of rule.resource) surplus += multiplied(resource)
        if (surplus > MOST_MULTIPLIED)
          throw new TreeError(
            'too-large',
            'The rules of the document stand for too many paths. Write fewer alternatives in braces.',
          )
      }
    }
    if (item.types.some(isGroup)) {
      const subtypes = item.types.filter(type => types?.group.has(type))
      access.groups.push({
        position,
        subtypes,
        name: (yield* gatheringTexts(item, 'name')).values().next().value ?? '',
        members: [...(yield* gatheringTexts(item, 'member'))],
      })
    }
  }
  return access
}

/** By how much the alternatives of a resource weigh more than what is granted to each character as written. */
function multiplied(resource: string): number {
  if (!resource.includes('{')) return 0
  return Math.max(0, expandedWeight(splitLookups(resource, true)) - GRANTED * resource.length)
}

/** In steps: a table may have any number of rows. */
function* makingRules(item: Item, position: number): Steps<Iterable<RawRule>> {
  const isTable = TABLES.has(htmlName(item.element))
  const rules = new Map<ElementNode, RawRule>()
  if (!isTable) rules.set(item.element, emptyRule(position))
  for (const [i, { name, element, value }] of item.properties.entries()) {
    if (i % NODES_PER_STEP === NODES_PER_STEP - 1) yield
    const field = FIELDS.find(each => each === name)
    if (!field || typeof value !== 'string' || value === '') continue
    const holder = isTable ? rowOf(element, item.element) : item.element
    if (!holder) continue
    let rule = rules.get(holder)
    if (!rule) rules.set(holder, (rule = { ...emptyRule(position), row: rules.size }))
    rule[field].push(value)
  }
  return rules.values()
}

function emptyRule(position: number): RawRule {
  return { position, actor: [], resource: [], method: [], selector: [], action: [] }
}

/** The table row inside an item that a property stands in. */
function rowOf(element: ElementNode, item: ElementNode): ElementNode | undefined {
  let row: ElementNode | undefined
  for (let node: ParentNode | null = element; node && isElement(node); node = node.parentNode) {
    if (node === item) return row
    if (!row && htmlName(node) === 'tr') row = node
  }
  return undefined
}

/** Values of a property, each once; empty ones are dropped. In steps. */
function* gatheringTexts(item: Item, name: string): Steps<ReadonlySet<string>> {
  const texts = new Set<string>()
  for (const [i, property] of item.properties.entries()) {
    if (i % NODES_PER_STEP === NODES_PER_STEP - 1) yield
    const { value } = property
    if (property.name === name && typeof value === 'string' && value !== '') texts.add(value)
  }
  return texts
}

/** XHTML under any prefix and XML without a namespace read like HTML. */
function htmlName(element: ElementNode): string {
  if (element.namespaceURI === HTML_NAMESPACE) return localName(element.tagName)
  return element.namespaceURI === '' ? element.tagName : ''
}

/** Place of every element in tree order; contents of templates are not counted. In steps. */
export function* findingPositions({ root }: TreeDocument): Steps<Map<ElementNode, number>> {
  const positions = new Map<ElementNode, number>()
  for (const element of elementsIn(root.childNodes)) {
    positions.set(element, positions.size)
    if (positions.size % NODES_PER_STEP === 0) yield
  }
  return positions
}

/** Whether two versions of a document declare the same rules and groups, wherever in it they stand. */
export function sameRights(a: RawAccess | undefined, b: RawAccess | undefined): boolean {
  return isSame(a, b, false)
}

/**
 * Whether two versions of a document declare the same, so that every decision stays as it was. Places of elements do not
 * count, except for groups that are found again by theirs.
 */
export function sameDeclarations(a: RawAccess | undefined, b: RawAccess | undefined): boolean {
  return isSame(a, b, true)
}

function isSame(a: RawAccess | undefined, b: RawAccess | undefined, findable: boolean): boolean {
  if (!a || !b || a === b) return a === b
  return (
    a.ns === b.ns &&
    isSameList(a.rules, b.rules, isSameRule) &&
    isSameList(a.groups, b.groups, (one, other) => isSameGroup(one, other, findable))
  )
}

function isSameRule(a: RawRule, b: RawRule): boolean {
  if (a.row !== b.row) return false
  for (const field of FIELDS) if (!isSameList(a[field], b[field])) return false
  return true
}

function isSameGroup(a: RawGroup, b: RawGroup, findable: boolean): boolean {
  if (a.name !== b.name || !isSameList(a.subtypes, b.subtypes) || !isSameList(a.members, b.members)) return false
  return !findable || a.subtypes.length === 0 || a.position === b.position
}

function isSameList<T>(a: readonly T[], b: readonly T[], isSame: (a: T, b: T) => boolean = Object.is): boolean {
  return a.length === b.length && a.every((each, i) => isSame(each, b[i] as T))
}
