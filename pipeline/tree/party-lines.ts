/** What waits in line, a line for each party whose requests it comes of: the lines go forward in turns, however long one is. */

import { partyAtWork } from './precedence.ts'

export class PartyLines<Item> {
  /** The line whose turn is next comes first. */
  readonly #lines = new Map<string, Item[]>()

  /** The next one. */
  get first(): Item | undefined {
    for (const [first] of this.#lines.values()) return first
    return undefined
  }

  /** Adds one to the line of whoever's request is worked on. */
  add(item: Item): void {
    const party = partyAtWork()
    const line = this.#lines.get(party)
    if (line) line.push(item)
    else this.#lines.set(party, [item])
  }

  /** Takes the next one. */
  take(): Item | undefined {
    for (const [party, line] of this.#lines) {
      this.#lines.delete(party)
      const first = line.shift()
      // Behind all others, if it has more.
      if (line.length > 0) this.#lines.set(party, line)
      return first
    }
    return undefined
  }
}
