/**
 * Requests that have failed: they are kept so that people can look at them and have them sent again. Visitors cause them, so
 * that how many of a site are kept is bounded (REA-95): the oldest go first.
 */

import type { NoteChange, NoteStore } from '../../store/notes.ts'
import { type Entry, failedBytes, failedKey, failedOf, keepFailed, keysOf } from './entry.ts'

/** Of one site. */
export const MOST_FAILED = 1_000
/** Bytes that they may take together. */
export const LARGEST_FAILED = 16 * 1024 * 1024
/** What is left when the oldest have gone, so that they do not go one by one. */
const LEFT = 0.9

interface Kept {
  /** Oldest first. */
  keys: { key: string; bytes: number }[]
  bytes: number
}

export class FailedCalls {
  readonly #notes: Pick<NoteStore, 'noteKeys'>
  readonly #forgotten: (site: string, count: number) => void
  readonly #sites = new Map<string, Promise<Kept>>()

  /** @param forgotten is told how many of a site have to go */
  constructor(notes: Pick<NoteStore, 'noteKeys'>, forgotten: (site: string, count: number) => void) {
    this.#notes = notes
    this.#forgotten = forgotten
  }

  /**
   * @param now unix milliseconds
   * @returns moves an entry to those that have failed, and drops those for which there is no room any more
   * @throws StoreError
   */
  async keep(entry: Entry, now: number): Promise<NoteChange[]> {
    const kept = await this.#of(entry.site)
    const key = failedKey(entry)
    const bytes = failedBytes(key)
    kept.keys.push({ key, bytes })
    kept.bytes += bytes
    return [...keepFailed(entry, now), ...this.#dropped(entry.site, kept)]
  }

  #dropped(site: string, kept: Kept): NoteChange[] {
    if (kept.keys.length <= MOST_FAILED && kept.bytes <= LARGEST_FAILED) return []
    const [most, largest] = [MOST_FAILED * LEFT, LARGEST_FAILED * LEFT]
    let count = 0
    for (const { bytes } of kept.keys) {
      if (kept.keys.length - count <= most && kept.bytes <= largest) break
      kept.bytes -= bytes
      count++
    }
    const dropped = kept.keys.splice(0, count)
    this.#forgotten(site, count)
    return dropped.map(({ key }) => ({ op: 'drop', key }))
  }

  /** Those that were there before. */
  #of(site: string): Promise<Kept> {
    const known = this.#sites.get(site)
    if (known) return known
    const listing = this.#listed(site)
    this.#sites.set(site, listing)
    listing.catch(() => this.#sites.delete(site))
    return listing
  }

  async #listed(site: string): Promise<Kept> {
    const kept: Kept = { keys: [], bytes: 0 }
    for await (const key of keysOf(this.#notes, failedOf(site))) {
      const bytes = failedBytes(key)
      kept.keys.push({ key, bytes })
      kept.bytes += bytes
    }
    return kept
  }
}
