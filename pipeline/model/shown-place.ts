/**
 * Places of documents as composition reads them (COMP-6), for changes that the server makes to what pages show. They are made
 * in a tree in which prefixed elements stand where they are written; what is stored is the standard's tree of the text that
 * comes of it.
 */

import { parsingDocument } from '../tree/document.ts'
import { type ChildNode, isElement, type ParentNode, type TreeDocument } from '../tree/nodes.ts'
import { noteReading, parsingAsWritten, readingAsWritten } from '../tree/readings.ts'
import { findingEach } from '../tree/same-nodes.ts'
import type { Steps } from '../tree/steps.ts'
import { findingItems, readingItem, tagPlace } from './items.ts'
import type { WrittenPlace } from './place.ts'

/**
 * The same place as composition reads the document, in steps.
 *
 * @returns in a document that belongs to the caller alone; undefined where both readings are one
 */
export function* openingShown(place: WrittenPlace): Steps<WrittenPlace | undefined> {
  const { document } = place
  if ((yield* readingAsWritten(document)) === document) return undefined
  const read = yield* parsingAsWritten(document)
  return read && (yield* placing(place, read))
}

/** The place in the document that is stored, after changes to one that `openingShown` gave, in steps. @throws TreeError for a limit */
export function* closingShown(shown: WrittenPlace): Steps<WrittenPlace> {
  const { document } = shown
  const stored = yield* parsingDocument(document.kind, document.source)
  noteReading(stored, document)
  return yield* placing(shown, stored)
}

/** Names of the properties that items have as composition reads a document, by their tags, in steps; undefined where both are one. */
export function* findingShownNames(document: TreeDocument): Steps<Map<string, Set<string>> | undefined> {
  const read = yield* readingAsWritten(document)
  if (read === document) return undefined
  const names = new Map<string, Set<string>>()
  for (const element of yield* findingItems(read.root)) {
    const { properties } = yield* readingItem(element)
    const known = names.get(tagPlace(element)) ?? new Set()
    for (const name of properties.keys()) known.add(name)
    names.set(tagPlace(element), known)
  }
  return names
}

/** The same place in another tree of the same text. */
function* placing({ document, part, followed }: WrittenPlace, to: TreeDocument): Steps<WrittenPlace> {
  const { nodes = [], parents = [], brought = [] } = part ?? {}
  const around = parents.filter(isElement)
  const wanted: (ChildNode | undefined)[] = [...nodes, ...around, ...brought, ...(followed ?? [])]
  const found = yield* findingEach(document, wanted, to)
  const take = (count: number) => found.splice(0, count).flatMap(node => node ?? [])
  const placed = take(nodes.length)
  // Of what follows from a write each value may have a parent of its own.
  const inside = new Set<ParentNode>(take(around.length).filter(isElement))
  for (const { parentNode } of placed) if (parentNode) inside.add(parentNode)
  // The document itself, and contents of templates, which hold nothing that is judged.
  if (around.length < parents.length) inside.add(to.root)
  const now = { nodes: placed, parents: [...inside], ...(part?.brought && { brought: take(brought.length) }) }
  const stand = found.map(node => (node && isElement(node) ? node : undefined))
  return { document: to, ...(part && { part: now }), ...(followed && { followed: stand }) }
}
