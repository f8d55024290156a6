/** A copy of a list that knows nothing but what a stream told, as a client keeps it (EVT-70). */

import { bodyOf, property, type ReceivedEvent } from './event-source.ts'

export interface Item {
  id: string
  text: string
}

/** The items in a piece of markup, in order. */
export function itemsOf(markup: string): Item[] {
  return [...markup.matchAll(/<li id="([^"]+)">([^<]*)<\/li>/g)].map(([, id = '', text = '']) => ({ id, text }))
}

export class Copy {
  items: Item[]
  lastEventId = ''
  /** Ids of all events, and what each said, in the order in which they came. */
  readonly ids: string[] = []
  readonly told = new Set<string>()

  constructor(items: Item[]) {
    this.items = items
  }

  apply({ id = '', data }: ReceivedEvent): void {
    const method = property(data, 'method') ?? ''
    const selector = property(data, 'selector') ?? ''
    this.lastEventId = id
    this.ids.push(id)
    const items = itemsOf(bodyOf(data))
    if (method === 'POST') this.items.push(...items)
    else {
      const place = this.#placeOf(selector)
      const [old] = this.items.splice(place, 1)
      if (method === 'PUT') this.items.splice(place, 0, ...items)
      else if (method === 'MOVE' && old) this.items.splice(this.#placeOf(property(data, 'destination') ?? ''), 0, old)
      else if (method !== 'DELETE') throw new Error(`nobody sends ${method}`)
    }
    const subject = method === 'DELETE' || method === 'MOVE' ? selector.slice(1) : items.map(nameOf).join()
    this.told.add(`${method} ${subject}`)
  }

  #placeOf(selector: string): number {
    const place = this.items.findIndex(({ id }) => `#${id}` === selector)
    if (place < 0) throw new Error(`${selector} is not there`)
    return place
  }
}

/** How an event that inserts or replaces an item is told by `told`. */
export const nameOf = ({ id, text }: Item): string => `${id}=${text}`
