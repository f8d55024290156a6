/** What a document undergoes when a value that its items refer to disappears or changes (MOD-54, MOD-55). */

import { isConfiguration } from '../tree/microdata-value.ts'
import { type AnyNode, type ElementNode, type ParentNode, parentElement, rootElement } from '../tree/nodes.ts'
import { isItem, itemElements, readItem, valueReader } from './items.ts'
import { heldBy, type Pair } from './losses.ts'
import type { WrittenPlace } from './place.ts'
import type { Referrer, Registry } from './registry.ts'
import { type Revised, type Revision, revise } from './revise.ts'
import { withText } from './write-back.ts'

/** A value that referrers had, and what they get instead; nothing when it has disappeared. */
export interface Ended {
  value: string
  to: string | undefined
}

/** Items that refer to a value, with the elements that say so. */
interface Referring {
  element: ElementNode
  types: readonly string[]
  /** All value elements of the property. */
  elements: readonly ElementNode[]
  matching: readonly ElementNode[]
}

export function referringItems(
  registry: Registry,
  { document }: WrittenPlace,
  { schema, property }: Referrer,
  value: string,
): Referring[] {
  const read = valueReader(registry.vocabulary.ns)
  return itemElements(document.root).flatMap(element => {
    const item = readItem(element)
    if (!item.types.includes(schema.type)) return []
    const elements = item.properties.get(property.name) ?? []
    const matching = elements.filter(each => read(each, item) === value)
    return matching.length > 0 ? [{ element, types: item.types, elements, matching }] : []
  })
}

/** A document after an effect. */
export type Outcome =
  /** With items that are the same before and after. */
  | { place: WrittenPlace; pairs: Pair[] }
  /** The last item has gone, and the document with it. */
  | 'gone'
  /** No text would parse to what is wanted. */
  | 'unwritable'

/**
 * Lets the items of a document follow a value.
 *
 * @param place in a document that belongs to the caller alone, and must not be used afterwards; its part says what
 *   earlier effects have touched
 * @param isOwn the document is being written to: it stays even when its last item goes
 */
export function follow(
  registry: Registry,
  place: WrittenPlace,
  referrer: Referrer,
  ended: Ended,
  isOwn: boolean,
): Outcome {
  const { document } = place
  const revisions: Revision[] = []
  const staying: ElementNode[] = []
  for (const item of referringItems(registry, place, referrer, ended.value)) {
    if (ended.to === undefined && goes(referrer, item)) {
      if (!isOwn && standsAlone(place, item.element)) return 'gone'
      revisions.push({ op: 'replace', element: item.element, by: [] })
      continue
    }
    staying.push(item.element)
    const byContent = isConfiguration([...item.types], registry.vocabulary.ns)
    for (const element of item.matching) {
      const by = ended.to === undefined ? [] : [withText(element, ended.to, byContent)]
      revisions.push({ op: 'replace', element, by })
    }
  }
  if (revisions.length === 0) return { place, pairs: [] }
  const before = staying.map(element => heldBy(registry, element))
  const parents = new Set<ParentNode>(place.part?.parents)
  for (const revision of revisions) {
    const parent = revision.op === 'replace' ? parentElement(revision.element) : undefined
    if (parent) parents.add(parent)
  }
  const fresh = revisions.flatMap(revision => (revision.op === 'replace' ? [...revision.by] : []))
  const nodes = [...(place.part?.nodes ?? []), ...fresh]
  const revised = revise(document, revisions, [...parents, ...nodes, ...staying])
  if (!revised) return 'unwritable'
  const pairs = staying.map((element, i): Pair => {
    const now = revised.find(element) as ElementNode | undefined
    return [before[i] ?? [], now ? heldBy(registry, now) : []]
  })
  const brought = place.part?.brought ?? place.part?.nodes ?? []
  const part = {
    nodes: found(revised, nodes),
    parents: found(revised, [...parents]),
    brought: found(revised, brought),
  }
  return { place: { document: revised.document, part }, pairs }
}

function found<Node extends AnyNode>({ find }: Revised, nodes: readonly Node[]): Node[] {
  return nodes.flatMap(node => (find(node) as Node | undefined) ?? [])
}

/** MOD-54: by the cardinality of the referring property, whether the item goes with the value. */
function goes({ property }: Referrer, { elements, matching }: Referring): boolean {
  const { text } = property.cardinality
  return text === '1..1' || (text === '1..n' && matching.length === elements.length)
}

/** Whether a document holds no item outside of one, or is nothing but this one. */
function standsAlone({ document }: WrittenPlace, element: ElementNode): boolean {
  if (element === rootElement(document)) return true
  const isInside = (node: ElementNode): boolean => {
    for (let at: ElementNode | undefined = node; at; at = parentElement(at)) if (at === element) return true
    return false
  }
  return itemElements(document.root).every(other => !isItem(other) || isInside(other))
}
