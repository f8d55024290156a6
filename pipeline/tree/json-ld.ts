/** Microdata items as JSON-LD (HTTP-70 to HTTP-72). */

import { MAX_DEPTH, tooDeep, tooLarge } from './limits.ts'
import type { Item } from './microdata.ts'
import { writingLongPlain } from './plain-json.ts'
import type { Stretches } from './source-text.ts'
import type { Steps } from './steps.ts'

type JsonLdValue = string | JsonLdObject | JsonLdValue[]
type JsonLdObject = { [key: string]: JsonLdValue } | ReadonlyMap<string, JsonLdValue>

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

/** Names of an item from which on it is a map, which shows the first of them without a list of all. */
const MANY_NAMES = 500

/**
 * One item as a flat object; several, or none, as a `@graph`.
 *
 * @param items as read for the representation, in document order
 * @throws TreeError when items nest deeper than elements may, or `itemref` multiplies them beyond all proportion
 */
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
    const object = new Map<string, JsonLdValue>()
    if (context !== undefined && context !== inherited) object.set('@context', context)
    if (type !== undefined) object.set('@type', type)
    if (item.id !== undefined) object.set('@id', item.id)

    open.add(item)
    written.add(item)
    const lists = new Map<string, JsonLdValue[]>()
    for (const { name, value } of item.properties) {
      if (KEYWORDS.has(name)) continue
      if (typeof value !== 'string' && open.has(value)) continue
      const cost = VALUE_COST + (typeof value === 'string' ? value.length : 0)
      repeatable += repeated ? -cost : REPEATED.times * cost
      if (repeatable < 0) throw tooLarge()
      if (++values % VALUES_PER_STEP === 0) yield
      const entry = typeof value === 'string' ? value : yield* write(value, context ?? inherited)
      const list = lists.get(name)
      if (list) list.push(entry)
      else if (object.has(name)) lists.set(name, [object.get(name) ?? '', entry])
      else object.set(name, entry)
    }
    open.delete(item)
    for (const [name, list] of lists) {
      object.set(name, list)
      if (++values % VALUES_PER_STEP === 0) yield
    }
    return object.size > MANY_NAMES ? object : Object.fromEntries(object)
  }
}
