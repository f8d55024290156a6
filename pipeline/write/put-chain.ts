/**
 * Files that are saved again while they are being saved (HTTP-4). Whoever comes while the PUT of another is on its way to
 * the store follows it there at once, expecting the bytes that it leaves, so that both share a flush to disk; each has a
 * version, an event and an answer of its own. Where the one before fails, nothing that follows it is stored, and it is done
 * again in its turn. The lease of the path is held until the last of them is done.
 */

import type { Site } from '../site/site.ts'

/** Writes that follow the first at most, and milliseconds in which they may: others wait for the path as well. */
const MOST = 16
const LONGEST = 50

/** Writes of one file that are on their way to the store. */
export class Chain {
  readonly #waiting: ReadonlySet<Place>
  readonly #until = performance.now() + LONGEST
  readonly #over = Promise.withResolvers<void>()
  /** Writes that have not come to their end. */
  #underWay = 0
  #left = MOST
  #head: string | undefined
  #last: Promise<void> | undefined

  /** @param waiting writes of the same file that have not begun */
  constructor(waiting: ReadonlySet<Place>) {
    this.#waiting = waiting
  }

  /** SHA-256 of the bytes that the last of them leaves; undefined where nobody can follow it. */
  get head(): string | undefined {
    return this.#head
  }

  /**
   * To be called by each of them right before it goes to the store.
   *
   * @param digest of the bytes that it leaves; undefined where nobody can follow it
   */
  step(digest: string | undefined): Step {
    const { promise, resolve } = Promise.withResolvers<void>()
    const before = this.#last
    this.#last = promise
    this.#head = digest
    if (digest !== undefined) for (const place of this.#waiting) if (this.isOpen) void place.follow(this)
    return { before, done: resolve }
  }

  /** Whether another write may follow. */
  get isOpen(): boolean {
    return this.#underWay > 0 && this.#left > 0 && performance.now() <= this.#until
  }

  /** All writes are done. */
  get over(): Promise<void> {
    return this.#over.promise
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay++
    this.#left--
    try {
      return await work()
    } finally {
      if (--this.#underWay === 0) this.#over.resolve()
    }
  }
}

/** One commit of a chain. Memory follows them in their order. */
export interface Step {
  /** Settles when the commit before it has come to its end, and memory has followed. */
  before: Promise<void> | undefined
  /** To be called when the same is true of this one. */
  done(): void
}

/** A write that has not begun. */
interface Place {
  follow(chain: Chain): Promise<void>
}

/** What happens to one file. */
interface Line {
  waiting: Set<Place>
  chain: Chain | undefined
}

const lines = new WeakMap<Site, Map<string, Line>>()

function linesOf(site: Site): Map<string, Line> {
  let paths = lines.get(site)
  if (!paths) lines.set(site, (paths = new Map()))
  return paths
}

/** Whether a file of the site may be saved on top of what is not stored yet: nobody else stores, and nothing counts its bytes. */
export function hasChains(site: Site): boolean {
  return !site.isShared && !site.usage
}

/**
 * Does a write, behind others that are on their way or else when it has the lease of its path.
 *
 * @param lead does it with the lease; others may follow it
 * @param follow does it behind others; undefined where that cannot be
 * @returns what these return, as soon as they do
 * @throws what they throw; LeaseTimeout when waiting exceeds the limit
 */
export function inChain<T>(
  site: Site,
  path: string,
  lead: (chain: Chain) => Promise<T>,
  follow: (chain: Chain) => Promise<T | undefined>,
): Promise<T> {
  const paths = linesOf(site)
  let line = paths.get(path)
  if (!line) paths.set(path, (line = { waiting: new Set(), chain: undefined }))
  const { waiting } = line
  const own = line
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  let late: { error: unknown } | undefined
  let isDone = false
  let isFollowing = false
  const place: Place = {
    async follow(chain) {
      waiting.delete(place)
      isFollowing = true
      try {
        const done = await chain.during(() => follow(chain))
        isDone = done !== undefined
        if (done !== undefined) resolve(done)
        else if (late) reject(late.error)
      } catch (error) {
        isDone = true
        reject(error)
      }
      isFollowing = false
    },
  }
  const hold = async () => {
    waiting.delete(place)
    if (isDone) return
    const chain = new Chain(waiting)
    own.chain = chain
    void chain.during(() => lead(chain).then(resolve, reject))
    await chain.over
    own.chain = undefined
  }
  const wait = async () => {
    waiting.add(place)
    try {
      await site.leases.hold(site.store.name, [path], hold)
    } catch (error) {
      waiting.delete(place)
      // While it follows others, it may still be stored.
      if (isFollowing) late = { error }
      else reject(error)
    }
    if (waiting.size === 0 && !own.chain && paths.get(path) === own) paths.delete(path)
  }
  if (line.chain?.isOpen) void place.follow(line.chain).then(() => (isDone ? undefined : wait()))
  else void wait()
  return promise
}
