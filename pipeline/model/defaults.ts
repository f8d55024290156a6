/** Values that the server gives to items that lack them (MOD-30 to MOD-33, MOD-45). */

import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { parseFragment } from '../tree/fragment.ts'
import { TreeError } from '../tree/limits.ts'
import { localName } from '../tree/namespaces.ts'
import { type DocumentKind, type ElementNode, HTML_NAMESPACE, isElement } from '../tree/nodes.ts'
import { isVoid } from '../tree/serialize-html.ts'
import { budgetFault, type CodeHost, isSpent, responseFault } from './code.ts'
import type { Instance } from './instance-check.ts'
import { isItem, isTemplate } from './items.ts'
import type { WrittenPlace } from './place.ts'
import type { Revision } from './revise.ts'
import type { Schema, SchemaProperty } from './schema.ts'
import type { SchemaViolation } from './violations.ts'

/** A property that an item has no element for, although its schema knows what to put there. */
export interface Missing {
  instance: Instance
  schema: Schema
  property: SchemaProperty
}

export function missingDefaults({ item, schemas }: Instance): Missing[] {
  const missing = new Map<string, Missing>()
  for (const schema of schemas) {
    if (schema.cyclic) continue
    for (const property of schema.properties.values()) {
      const { name } = property
      if (item.properties.has(name) || missing.has(name)) continue
      if (property.default !== undefined || property === schema.key)
        missing.set(name, { instance: { item, schemas }, schema, property })
    }
  }
  return [...missing.values()]
}

/** An addition, and for whom it is made. */
export interface Addition {
  missing: Missing
  revision: Extract<Revision, { op: 'append' }>
}

export interface Defaults {
  additions: Addition[]
  violations: SchemaViolation[]
}

/** Defaults worked out before others get their turn. */
const SLICE = 200

/**
 * Works out the elements to be added.
 *
 * @param path canonical path of the document
 * @throws Fault 501 or 503 when code cannot be run, or the one that code throws
 */
export async function additionsFor(
  host: CodeHost,
  path: string,
  { document }: WrittenPlace,
  missing: readonly Missing[],
): Promise<Defaults> {
  const defaults: Defaults = { additions: [], violations: [] }
  for (const [i, each] of missing.entries()) {
    if (i % SLICE === SLICE - 1) await setImmediate()
    const { instance, schema, property } = each
    const { element } = instance.item
    const fail = (reason: string, more: Partial<SchemaViolation> = {}) =>
      defaults.violations.push({ check: 'default', itemtype: schema.type, property: property.name, reason, ...more })
    const to = placeIn(element)
    if (!to) {
      fail(`there is no place for its default in <${element.tagName}>`)
      continue
    }
    const value = await defaultFor(host, each, path, document)
    if (typeof value === 'object' && 'failure' in value) fail(`its default failed: ${value.failure.message}`, value)
    else if (value !== undefined) {
      const node =
        typeof value === 'string' ? metaFor(document.kind, to, property.name, value) : named(value, property.name)
      defaults.additions.push({ missing: each, revision: { op: 'append', to, node } })
    }
  }
  return defaults
}

async function defaultFor(host: CodeHost, missing: Missing, path: string, document: WrittenPlace['document']) {
  const { instance, schema, property } = missing
  const written = property.default
  if (written === undefined) return randomKey()
  if ('text' in written) return written.text
  const declared = [...schema.properties.keys()]
  const { element } = instance.item
  const at = { path, document, element, itemtype: schema.type, property: property.name, declared }
  const outcome = await host.default(written, at)
  if ('response' in outcome) throw responseFault(outcome.response)
  if ('value' in outcome) return outcome.value
  if (isSpent(outcome.failure)) throw budgetFault(outcome.failure)
  return outcome
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const KEY_LENGTH = 8

/** A random key that can be an `id` and a file name (MOD-45). */
export function randomKey(): string {
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
