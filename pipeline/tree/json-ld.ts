/** Microdata items as JSON-LD (HTTP-70 to HTTP-72). */

import { MAX_DEPTH, tooDeep, tooLarge } from './limits.ts'
import type { Item } from './microdata.ts'
import { writingLongPlain } from './plain-json.ts'
import type { Stretches } from './source-text.ts'
import { atOnce, type Steps } from './steps.ts'

export type JsonLdValue = string | JsonLdObject | JsonLdValue[]
export interface JsonLdObject {
  [key: string]: JsonLdValue
}

/** Names that carry the mapping itself: a property cannot take their place. */
const KEYWORDS = new Set(['@context', '@type', '@id', '@graph'])

/**
 * What may be written more than once, in UTF-16 code units of text and 100 for each value: so much, and so many times
 * what is written for the first time.
 */
const REPEATED = { least: 1024 * 1024, times: 4 }
const VALUE_COST = 100

/** Values that are written in one step. */
const VALUES_PER_STEP = 500

/**
 * @param items as read for the representation, in document order
 * @returns one item as a flat object; several, or none, as a `@graph`
 * @throws TreeError when items nest deeper than elements may, or `itemref` multiplies them beyond all proportion
 */
export function jsonLd(items: Item[]): JsonLdObject {
  return atOnce(mapping(items))
}

/** The text of `jsonLd`, in steps. */
export function* writingJsonLd(items: Item[]): Steps<Stretches> {
  return yield* writingLongPlain(yield* mapping(items))
}

/** Items that are mapped in one step. */
const ITEMS_PER_STEP = 100

function* mapping(items: Item[]): Steps<JsonLdObject> {
  const [first] = items
  const write = itemWriter()
  if (items.length === 1 && first) return yield* write(first, undefined)
  const context = first && typing(first.types).context
  let shared = context !== undefined
  for (let i = 0; shared && i < items.length; i++) {
    shared = typing(items[i]?.types ?? []).context === context
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield
  }
  const graph: JsonLdObject[] = []
  for (const item of items) {
    graph.push(yield* write(item, shared ? context : undefined))
    if (graph.length % ITEMS_PER_STEP === 0) yield
  }
  return shared && context !== undefined ? { '@context': context, '@graph': graph } : { '@graph': graph }
}

interface Typing {
  context?: string
  type?: string | string[]
}

/** What `itemtype` says: a vocabulary that all types share, and their names in it; else the types in full. */
function typing(types: string[]): Typing {
  if (types.length === 0) return {}
  const terms = types.map(term)
  const context = terms[0]?.context
  const split = context !== undefined && terms.every(t => t.context === context)
  const names = split ? terms.map(t => t.name) : types
  const type = names.length === 1 ? names[0] : names
  return split ? { context, type } : { type }
}

/** Splits an absolute URL behind its last `#`, or else its last `/`, where something follows. */
function term(type: string): { context?: string; name: string } {
  if (!URL.canParse(type)) return { name: type }
  const end = (type.includes('#') ? type.lastIndexOf('#') : type.lastIndexOf('/')) + 1
  return end === 0 || end === type.length ? { name: type } : { context: type.slice(0, end), name: type.slice(end) }
}

function itemWriter(): (item: Item, inherited: string | undefined) => Steps<JsonLdObject> {
  const written = new Set<Item>()
  const open = new Set<Item>()
  let repeatable = REPEATED.least
  let values = 0

  return function* write(item: Item, inherited: string | undefined): Steps<JsonLdObject> {
    if (open.size >= MAX_DEPTH) throw tooDeep()
    const repeated = written.has(item)
    const { context, type } = typing(item.types)
    const object: JsonLdObject = {}
    if (context !== undefined && context !== inherited) object['@context'] = context
    if (type !== undefined) object['@type'] = type
    if (item.id !== undefined) object['@id'] = item.id

    open.add(item)
    written.add(item)
    const entries = new Map<string, JsonLdValue[]>()
    for (const { name, value } of item.properties) {
      if (KEYWORDS.has(name)) continue
      if (typeof value !== 'string' && open.has(value)) continue
      const cost = VALUE_COST + (typeof value === 'string' ? value.length : 0)
      repeatable += repeated ? -cost : REPEATED.times * cost
      if (repeatable < 0) throw tooLarge()
      if (++values % VALUES_PER_STEP === 0) yield
      const entry = typeof value === 'string' ? value : yield* write(value, context ?? inherited)
      const list = entries.get(name)
      if (list) list.push(entry)
      else entries.set(name, [entry])
    }
    open.delete(item)

    for (const [name, [first, ...more]] of entries) {
      if (first !== undefined) define(object, name, more.length === 0 ? first : [first, ...more])
      if (++values % VALUES_PER_STEP === 0) yield
    }
    return object
  }
}

/** Assignment would give the object another prototype when the name is `__proto__`. */
function define(object: JsonLdObject, name: string, value: JsonLdValue): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
}
