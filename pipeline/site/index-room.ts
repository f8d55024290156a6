/**
 * What the indexes of all sites of a process may take together (SEC-12). Where there is no room, that of a site that nobody has
 * asked about for a while gives way; it is read again when somebody does.
 */

import { getHeapStatistics } from 'node:v8'
import { OrderedMap } from '../ordered-map.ts'

/** Bytes that a token takes which only one document has. */
const BYTES_OF_TOKEN = 200
/** The part of the heap that all tokens may take. */
const PART_OF_HEAP = 1 / 4

/** Tokens that a document keeps although all have that part, and until they have twice as much. */
const FEW_TOKENS = 256

/** The part of it that a site may have until all have two and a half times as much: others cannot leave it without any. */
const PART_OF_SITE = 1 / 64

/** Milliseconds for which nobody asked about a site that gives way: those that are asked about would be read again and again. */
const IDLE = 60_000

export interface GivesWay {
  /** Lets go of all that it keeps; false where somebody waits for it. */
  giveWay(): boolean
}

/** What one index takes. */
export interface IndexShare {
  kept: number
  asked: number
  /** Sites that are closed tell nobody. */
  readonly index: WeakRef<GivesWay>
}

export class IndexRoom {
  readonly #most: number
  readonly #now: () => number
  /** The one that was asked longest ago stands about first. */
  readonly #shares = new OrderedMap<IndexShare, true>()
  readonly #closed = new FinalizationRegistry<IndexShare>(share => this.#leave(share))
  #kept = 0

  /**
   * @param most tokens of all documents together, beyond which one that has more than a few is taken to hold anything; beyond
   *   twice as many, every one is
   * @param now milliseconds
   */
  constructor(
    most = (getHeapStatistics().heap_size_limit * PART_OF_HEAP) / BYTES_OF_TOKEN,
    now: () => number = () => performance.now(),
  ) {
    this.#most = most
    this.#now = now
  }

  enter(index: GivesWay): IndexShare {
    const share: IndexShare = { kept: 0, asked: this.#now(), index: new WeakRef(index) }
    this.#shares.set(share, true)
    this.#closed.register(index, share)
    return share
  }

  /** Somebody asks about a site. */
  use(share: IndexShare): void {
    share.asked = this.#now()
    this.#shares.use(share)
  }

  /** Whether a share may become so much larger, for one document; others that are idle give way. */
  hasRoom(share: IndexShare, weight: number): boolean {
    const most = weight > FEW_TOKENS ? this.#most : 2 * this.#most
    while (this.#kept + weight > most) if (!this.#isMade(share)) return this.#isSmall(share.kept + weight)
    return true
  }

  /** Counts what a share takes more, or less. */
  add(share: IndexShare, weight: number): void {
    share.kept += weight
    this.#kept += weight
  }

  /** A share has nothing left. */
  clear(share: IndexShare): void {
    this.add(share, -share.kept)
  }

  #isSmall(kept: number): boolean {
    return kept <= this.#most * PART_OF_SITE && this.#kept <= 2.5 * this.#most
  }

  /**
   * Has the index give way that was asked longest ago, unless it is the one that room is for: what it changes now goes by what it has.
   *
   * @returns whether one was idle
   */
  #isMade(share: IndexShare): boolean {
    const { oldest } = this.#shares
    if (!oldest || this.#now() - oldest.asked < IDLE) return false
    const index = oldest.index.deref()
    if (!index) this.#leave(oldest)
    else {
      if (oldest !== share && index.giveWay()) this.clear(oldest)
      oldest.asked = this.#now()
      this.#shares.set(oldest, true)
    }
    return true
  }

  #leave(share: IndexShare): void {
    if (this.#shares.drop(share)) this.clear(share)
  }
}

/** That of this process. */
export const indexRoom: IndexRoom = new IndexRoom()
