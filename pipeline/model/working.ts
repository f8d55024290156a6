/** The documents that referential actions work on, and who holds which value as things stand in the middle of them. */

import type { Entry } from '../store/resource.ts'
import type { SiteStore } from '../store/store.ts'
import { readingAsWritten } from '../tree/readings.ts'
import { inTurns, type Steps, TurnsBetween } from '../tree/steps.ts'
import { listingBoth, listingEntries } from './entries.ts'
import { findingItems } from './items.ts'
import type { WrittenPlace } from './place.ts'

/** A document that the write itself changes, as it would be stored without cascades. */
export interface OwnDocument {
  entries: readonly Entry[]
  /** A copy that belongs to the cascade; never asked for when the document is gone. */
  open(): Promise<WrittenPlace>
}

/** What the cascade needs of the site. */
export interface CascadeSite {
  store: Pick<SiteStore, 'lookup'>
  /** A copy of a stored document that belongs to the cascade; undefined when it is gone. */
  open(path: string): Promise<WrittenPlace | undefined>
  /** Whether a document goes with the write. */
  isGone(path: string): boolean
}

/** Keys that are noted in one step. */
const KEYS_PER_STEP = 1000

interface Working {
  /** Undefined when it has gone, or was not opened yet. */
  place: WrittenPlace | undefined
  /** Keys of its entries. */
  keys: ReadonlySet<string>
  /** Whether an effect has changed it. */
  changed: boolean
  /** Of a document of the write that nobody has looked at so far. */
  open: (() => Promise<WrittenPlace>) | undefined
}

export class WorkingDocuments {
  readonly #ns: string
  readonly #site: CascadeSite
  readonly #documents = new Map<string, Working>()
  /** Paths of documents by the keys that they hold. */
  readonly #holders = new Map<string, Set<string>>()
  /** Documents other than those of the write. */
  opened = 0

  /**
   * @param ns base URI of the site's vocabulary
   * @param own documents that the write changes, by path
   */
  static *of(ns: string, site: CascadeSite, own: ReadonlyMap<string, OwnDocument>): Steps<WorkingDocuments> {
    const made = new WorkingDocuments(ns, site)
    for (const [path, { entries, open }] of own)
      yield* made.#putting(path, { place: undefined, keys: yield* collectingKeys(entries), changed: false, open })
    return made
  }

  private constructor(ns: string, site: CascadeSite) {
    this.#ns = ns
    this.#site = site
  }

  *#putting(path: string, document: Working): Steps<void> {
    let seen = 0
    for (const key of this.#documents.get(path)?.keys ?? []) {
      if (++seen % KEYS_PER_STEP === 0) yield
      this.#holders.get(key)?.delete(path)
    }
    for (const key of document.keys) {
      if (++seen % KEYS_PER_STEP === 0) yield
      const paths = this.#holders.get(key)
      if (paths) paths.add(path)
      else this.#holders.set(key, new Set([path]))
    }
    this.#documents.set(path, document)
  }

  /** Paths of the documents that hold an entry with one of some keys. */
  async holders(keys: readonly string[]): Promise<string[]> {
    const paths = new Set<string>()
    const turns = new TurnsBetween()
    for (const key of keys) {
      await turns.next()
      for (const { path } of await this.#site.store.lookup([key]))
        if (!this.#documents.has(path) && !this.#site.isGone(path)) paths.add(path)
      for (const path of this.#holders.get(key) ?? []) paths.add(path)
    }
    return [...paths].sort()
  }

  /** @returns the document as it stands; undefined when it is gone */
  async open(path: string): Promise<WrittenPlace | undefined> {
    const known = this.#documents.get(path)
    if (known) {
      const open = known.open
      known.open = undefined
      if (open) known.place = await open()
      return known.place
    }
    const place = await this.#site.open(path)
    if (!place) return undefined
    this.opened++
    const keys = await keysOf(place, this.#ns)
    await inTurns(this.#putting(path, { place, keys, changed: false, open: undefined }), 0)
    return place
  }

  isChanged(path: string): boolean {
    return this.#documents.get(path)?.changed === true
  }

  /** @param place of an opened document after an effect; undefined when it has gone */
  async change(path: string, place: WrittenPlace | undefined): Promise<void> {
    const keys = place ? await keysOf(place, this.#ns) : new Set<string>()
    await inTurns(this.#putting(path, { place, keys, changed: true, open: undefined }), 0)
  }

  /** What effects have changed, by path; undefined where a document has gone. */
  changes(): [path: string, place: WrittenPlace | undefined][] {
    return [...this.#documents].flatMap(([path, { place, changed }]) => (changed ? [[path, place]] : []))
  }
}

/** Keys of the entries that a document would have. */
export async function keysOf({ document }: WrittenPlace, ns: string): Promise<Set<string>> {
  const listing = function* (): Steps<Set<string>> {
    const shown = yield* readingAsWritten(document)
    const entries = yield* shown === document
      ? listingEntries(yield* findingItems(document.root), ns)
      : listingBoth(document, shown, ns)
    return yield* collectingKeys(entries)
  }
  return inTurns(listing(), document.source.length)
}

/** One entry may have all of them. */
function* collectingKeys(entries: readonly Entry[]): Steps<Set<string>> {
  const keys = new Set<string>()
  for (const entry of entries) for (const key of entry.keys) if (keys.add(key).size % KEYS_PER_STEP === 0) yield
  return keys
}
