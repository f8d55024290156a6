/** The microdata of a document in the form in which it is stored beside it. */

import { allItems, type Item } from './tree/microdata.ts'
import type { TreeDocument } from './tree/nodes.ts'

/** One item as stored: references between items are places in the list. */
interface StoredItem {
  types: string[]
  id?: string
  properties: [name: string, value: string | { item: number }][]
}

/**
 * @returns JSON, a list of all items in tree order; undefined when there are none
 * @throws TreeError (`too-large`) when references between items multiply beyond all proportion to the text
 */
export function describeItems(document: TreeDocument): string | undefined {
  const items = allItems(document.root)
  if (items.length === 0) return undefined
  const places = new Map<Item, number>(items.map((item, place) => [item, place]))
  const stored = items.map(({ types, id, properties }): StoredItem => {
    const list = properties.map(({ name, value }): StoredItem['properties'][number] => [
      name,
      typeof value === 'string' ? value : { item: places.get(value) ?? -1 },
    ])
    return { types, ...(id !== undefined && { id }), properties: list }
  })
  return JSON.stringify(stored)
}
