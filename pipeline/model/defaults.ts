/** Values that the server gives to items that lack them (MOD-30 to MOD-33, MOD-45). */

import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Fault } from '../fault.ts'
import { toldFailure } from '../language/told.ts'
import { comparing } from '../tree/compare.ts'
import { parseFragment } from '../tree/fragment.ts'
import { TreeError } from '../tree/limits.ts'
import { localName } from '../tree/namespaces.ts'
import {
  type AnyNode,
  type DocumentKind,
  type ElementNode,
  HTML_NAMESPACE,
  isElement,
  type ParentNode,
} from '../tree/nodes.ts'
import { isVoid } from '../tree/serialize-html.ts'
import { inTurns, type Steps } from '../tree/steps.ts'
import { budgetFault, type CodeHost, type DefaultResult, isSpent, responseFault } from './code.ts'
import type { Instance } from './instance-check.ts'
import { isItem, isTemplate, readItem, tagPlace } from './items.ts'
import { keepingNames } from './kept-names.ts'
import type { WrittenPlace } from './place.ts'
import type { Registry } from './registry.ts'
import type { Revision } from './revise.ts'
import type { Schema, SchemaProperty } from './schema.ts'
import { type SchemaViolation, schemaFault } from './violations.ts'

/** A property that an item has no element for, although its schema knows what to put there. */
export interface Missing {
  instance: Instance
  schema: Schema
  property: SchemaProperty
}

/** Whether an item lacks something that its schemas give it. */
export function lacksDefaults({ item: { properties }, schemas }: Instance): boolean {
  return schemas.some(({ cyclic, given }) => !cyclic && given.some(({ name }) => !properties.has(name)))
}

/** Defaults of one document that are worked out at once: more would be a page of some megabytes by themselves. */
export const MOST_DEFAULTS = 100_000

/** Properties that are looked for in one step. */
const PROPERTIES_PER_STEP = 2_000

/**
 * What items lack of all that their schemas give them: a product of both.
 *
 * @param tried for what a default was asked already
 * @param shown names of the properties that pages show in items, by their tags, where that is otherwise (COMP-6)
 * @throws Fault 422 for more than `MOST_DEFAULTS`
 */
export function* findingMissing(
  ns: string,
  instances: readonly Instance[],
  tried: Tried,
  shown?: ReadonlyMap<string, ReadonlySet<string>>,
): Steps<Missing[]> {
  const missing: Missing[] = []
  let looked = 0
  for (const instance of instances) {
    const { item, schemas } = instance
    const before = tried.get(item.element)
    const others = shown?.get(tagPlace(item.element))
    const names = new Set<string>()
    for (const schema of schemas) {
      if (schema.cyclic) continue
      for (const property of schema.given) {
        if (++looked % PROPERTIES_PER_STEP === 0) yield
        const { name } = property
        if (item.properties.has(name) || others?.has(name) || names.has(name)) continue
        names.add(name)
        if (before?.has(name)) continue
        if (missing.push({ instance, schema, property }) > MOST_DEFAULTS) throw tooManyDefaults(ns, schema, property)
      }
    }
  }
  return missing
}

function tooManyDefaults(ns: string, { type: itemtype }: Schema, { name: property }: SchemaProperty): Fault {
  const reason = `the items of one write lack more than ${MOST_DEFAULTS} values that have a default`
  return schemaFault(ns, [{ check: 'default', itemtype, property, reason }])
}

/** An addition, and for whom it is made. */
export interface Addition {
  missing: Missing
  revision: Extract<Revision, { op: 'append' }>
}

/** An item that the code of a default has changed (JS-18), with what was to be added to it. */
export interface ChangedItem {
  missing: Missing
  element: ElementNode
  by: ElementNode
}

/** Items, and the names of their properties for which a default was asked. */
export type Tried = Map<ElementNode, Set<string>>

export interface Defaults {
  additions: Addition[]
  /** Of items none of which is inside another. */
  changes: ChangedItem[]
  violations: SchemaViolation[]
}

/** Defaults worked out before others get their turn. */
const SLICE = 200

/**
 * Works out the elements to be added. An item that code has changed, and those inside it, are left for when the change
 * has been made.
 *
 * @param tried is told of each default that was asked for
 * @param path canonical path of the document
 * @throws Fault 501 or 503 when code cannot be run, or the one that code throws
 */
export async function additionsFor(
  host: CodeHost,
  registry: Registry,
  path: string,
  { document }: WrittenPlace,
  missing: readonly Missing[],
  tried: Tried,
): Promise<Defaults> {
  const defaults: Defaults = { additions: [], changes: [], violations: [] }
  const changed = new Set<ParentNode>()
  for (const [i, each] of missing.entries()) {
    if (i % SLICE === SLICE - 1) await setImmediate()
    const { instance, schema, property } = each
    const { element } = instance.item
    if (changed.size > 0 && aroundIn(element, changed)) continue
    const fail = (reason: string, more: Partial<SchemaViolation> = {}) =>
      defaults.violations.push({ check: 'default', itemtype: schema.type, property: property.name, reason, ...more })
    const to = placeIn(element)
    if (!to) {
      fail(`there is no place for its default in <${element.tagName}>`)
      continue
    }
    const given = await defaultFor(host, each, path, document)
    tried.set(element, (tried.get(element) ?? new Set()).add(property.name))
    if ('failure' in given) {
      fail(`its default failed: ${given.failure.message}`, given)
      continue
    }
    const { value, changed: by } = given
    for (const made of [value, by]) {
      const around = made === by ? element.parentNode : element
      if (made && typeof made !== 'string' && around && isElement(around))
        await inTurns(keepingNames(made, around, document.kind, registry), document.source.length)
    }
    const nodeIn = (place: ElementNode) =>
      typeof value === 'string'
        ? metaFor(document.kind, place, property.name, value)
        : value && named(value, property.name)
    if (by && !(await inTurns(comparing([element], [by]), document.source.length))) {
      changed.add(element)
      defaults.changes.push({ missing: each, element, by })
      const own: Named[] = [{ name: property.name, nodeIn }]
      // What was to be added to the same item stands last.
      for (let last = defaults.additions.at(-1); last; last = defaults.additions.at(-1)) {
        const { missing: its, revision } = last
        if (its.instance.item.element !== element) break
        own.unshift({ name: its.property.name, nodeIn: () => revision.node })
        defaults.additions.pop()
      }
      for (const each of own) if (!addInto(by, each)) fail(`there is no place for its default in <${by.tagName}>`)
      continue
    }
    const node = nodeIn(to)
    if (node) defaults.additions.push({ missing: each, revision: { op: 'append', to, node } })
  }
  return defaults
}

/** The node of a set that a node is, or stands in. */
export function aroundIn(node: AnyNode, set: Pick<ReadonlySet<AnyNode>, 'has'>): AnyNode | undefined {
  for (let at: AnyNode | null | undefined = node; at; at = 'parentNode' in at ? at.parentNode : undefined)
    if (set.has(at)) return at
  return undefined
}

/** A value of a property. */
interface Named {
  name: string
  /** Undefined: there is nothing to be added. */
  nodeIn(to: ElementNode): ElementNode | undefined
}

/** Adds a value to a changed item, which needs none where the code has given it one. @returns false: there is no place */
function addInto(item: ElementNode, { name, nodeIn }: Named): boolean {
  if (readItem(item).properties.has(name)) return true
  const to = placeIn(item)
  const node = to && nodeIn(to)
  if (node) {
    node.parentNode = to
    to.childNodes.push(node)
  }
  return to !== undefined
}

async function defaultFor(
  host: CodeHost,
  missing: Missing,
  path: string,
  document: WrittenPlace['document'],
): Promise<Exclude<DefaultResult, { response: unknown }>> {
  const { instance, schema, property } = missing
  const written = property.default
  if (written === undefined) return { value: randomKey() }
  if ('text' in written) return { value: written.text }
  const declared = [...schema.properties.keys()]
  const { element } = instance.item
  const at = { path, document, element, itemtype: schema.type, property: property.name, declared }
  const outcome = await host.default(written, at)
  if ('response' in outcome) throw responseFault(outcome.response)
  if ('value' in outcome) return outcome
  if (isSpent(outcome.failure)) throw budgetFault(outcome.failure)
  return { ...outcome, failure: toldFailure(outcome.failure, written.source) }
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const KEY_LENGTH = 8

/** A random key that can be an `id` and a file name (MOD-45). */
function randomKey(): string {
  const alphabet = `${LETTERS}0123456789`
  let key = ''
  while (key.length < KEY_LENGTH) {
    for (const byte of randomBytes(2 * KEY_LENGTH)) {
      const from = key === '' ? LETTERS : alphabet
      // The largest multiple below 256: every character is equally likely.
      if (byte < 256 - (256 % from.length) && key.length < KEY_LENGTH) key += from.charAt(byte % from.length)
    }
  }
  return key
}

const TABLE_PARTS = new Set(['table', 'thead', 'tbody', 'tfoot', 'tr'])

/**
 * Where in an item a value may be added: itself, or the last cell of a table's part, since the parser keeps nothing else
 * there (MOD-31); in `html`, the head.
 */
function placeIn(element: ElementNode): ElementNode | undefined {
  if (element.namespaceURI !== HTML_NAMESPACE) return element
  const name = localName(element.tagName)
  if (name === 'html')
    return element.childNodes.filter(isElement).find(child => child.tagName === 'head' && !isItem(child))
  return TABLE_PARTS.has(name) ? lastCell(element) : element
}

/** The last cell of an item that belongs to no item inside it. */
function lastCell(element: ElementNode): ElementNode | undefined {
  for (const child of element.childNodes.filter(isElement).reverse()) {
    if (isItem(child) || isTemplate(child)) continue
    const name = localName(child.tagName)
    if (child.namespaceURI === HTML_NAMESPACE && (name === 'td' || name === 'th')) return child
    const found = lastCell(child)
    if (found) return found
  }
  return undefined
}

/** `<meta itemprop="…" content="…">`, in XML under the namespace that microdata are read from. */
function metaFor(kind: DocumentKind, to: ElementNode, name: string, content: string): ElementNode {
  const meta: ElementNode = {
    nodeName: 'meta',
    tagName: 'meta',
    namespaceURI: HTML_NAMESPACE,
    attrs: [
      { name: 'itemprop', value: name },
      { name: 'content', value: content },
    ],
    childNodes: [],
    parentNode: null,
  }
  if (kind === 'html') return meta
  if (to.namespaceURI === '') return { ...meta, namespaceURI: '' }
  if (to.namespaceURI !== HTML_NAMESPACE)
    meta.attrs.unshift({ name: 'xmlns', value: HTML_NAMESPACE, namespace: 'http://www.w3.org/2000/xmlns/' })
  const prefix = to.tagName.includes(':') && to.namespaceURI === HTML_NAMESPACE ? to.tagName.split(':')[0] : undefined
  const tagName = prefix === undefined ? 'meta' : `${prefix}:meta`
  return { ...meta, nodeName: tagName, tagName }
}

function named(element: ElementNode, name: string): ElementNode {
  const attrs = [...element.attrs.filter(attribute => attribute.name !== 'itemprop'), { name: 'itemprop', value: name }]
  return { ...element, attrs, parentNode: null, sourceCodeLocation: null }
}

/**
 * @param kind of the document
 * @returns whether the parser would keep an added element at its place; what is known of one element counts for its like
 */
export function keeper(kind: DocumentKind): (addition: Addition) => boolean {
  const known = new Map<string, boolean>()
  return ({ revision: { to } }) => {
    if (kind === 'xml') return true
    const likes = JSON.stringify([to.namespaceURI, to.tagName, to.attrs.filter(({ name }) => name === 'encoding')])
    let kept = known.get(likes)
    if (kept === undefined) known.set(likes, (kept = keepsMeta(to)))
    return kept
  }
}

function keepsMeta(to: ElementNode): boolean {
  if (isVoid(to)) return false
  try {
    const [first, ...others] = parseFragment('html', '<meta itemprop="x" content="y">', to)
    return others.length === 0 && first !== undefined && isElement(first) && first.tagName === 'meta'
  } catch (error) {
    if (error instanceof TreeError) return false
    throw error
  }
}
