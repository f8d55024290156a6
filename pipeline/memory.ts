/**
 * The memory of a process that it can do without, or that requests need for a while: one limit for all of it, a share for each
 * cache, and what each really takes.
 */

/** What a cache takes and gives back. */
export interface KeptMemory {
  /** Bytes, with those of the objects that hold the contents. */
  readonly bytes: number
  /** Lets go of what was not used for longest, until no more than so many bytes are left. */
  shrink(bytes: number): void
}

const MIB = 1024 * 1024

/** Bytes for all caches where no container sets a limit. */
export const USUAL_MEMORY = 256 * MIB

/** Less would not hold what one large document needs. */
const LEAST = 16 * MIB

/** The part of a heap from which on it has no room for work, and bytes of it that the program takes (HTTP-183). */
const FULL = 0.75
const PROGRAM = 40 * MIB

/** Parts of the whole. */
const SHARES = {
  documents: 4,
  trees: 10,
  answers: 3,
  'mount-answers': 3,
  requests: 1,
  'mount-requests': 1,
  listings: 2,
  members: 2,
  states: 1,
  programs: 1,
  pages: 4,
}
const PARTS = Object.values(SHARES).reduce((sum, share) => sum + share, 0)

export type Holder = keyof typeof SHARES

/**
 * What requests need as long as they run: bodies on their way in, threads of scripts, and events and answers that wait for slow
 * readers.
 */
export type Need = 'bodies' | 'scripts' | 'streams' | 'unread'

/** What is left of a share when nobody asks for anything. */
const AT_REST = 1 / 16

/**
 * @param asked bytes by the settings; undefined lets the machine decide
 * @param contained bytes that the container of the process may take; nothing, or more than there is, where there is no limit
 * @param heap bytes that the heap of JavaScript may take; infinite where Node decides
 * @returns bytes for all caches: a quarter of a container's, or half the heap as far as the program leaves it, where that is
 *   less than usual
 */
export function memoryLimit(
  asked: number | undefined,
  contained = process.constrainedMemory(),
  heap = heapAsked(nodeOptions()),
): number {
  const usual = Math.min(USUAL_MEMORY, contained > 0 ? contained / 4 : USUAL_MEMORY, heap / 2, heap * FULL - PROGRAM)
  return Math.max(LEAST, Math.floor(asked ?? usual))
}

/** Options of Node that this process was started with. */
export function nodeOptions(): string {
  return `${process.env.NODE_OPTIONS} ${process.execArgv.join(' ')}`
}

/** @returns bytes of the last `--max-old-space-size` among options of Node; infinite without any */
export function heapAsked(options: string): number {
  const megabytes = Array.from(options.matchAll(/--max[-_]old[-_]space[-_]size[= ](\d+)/g), ([, size]) =>
    Number(size),
  ).at(-1)
  return megabytes === undefined ? Number.POSITIVE_INFINITY : megabytes * MIB
}

export class Memory {
  /** Bytes for all of it together. */
  readonly limit: number
  readonly #kept = new Map<Holder, KeptMemory>()
  readonly #needs = new Map<Need, () => number>()

  /** @param limit bytes */
  constructor(limit = USUAL_MEMORY) {
    this.limit = limit
  }

  /** Bytes that a cache may take. */
  share(holder: Holder): number {
    return (this.limit * SHARES[holder]) / PARTS
  }

  /** Counts a cache in. */
  hold(holder: Holder, kept: KeptMemory): void {
    this.#kept.set(holder, kept)
  }

  /**
   * Counts in what requests need for a while; caches give way to it.
   *
   * @param bytes tells how many there are now
   */
  need(need: Need, bytes: () => number): void {
    this.#needs.set(need, bytes)
  }

  /** Has caches give way, so that they and what is needed stay within the limit. To be called when more is needed. */
  makeRoom(): void {
    let needed = 0
    for (const bytes of this.#needs.values()) needed += bytes()
    let all = needed
    for (const { bytes } of this.#kept.values()) all += bytes
    if (all <= this.limit) return
    const left = Math.max(AT_REST, (this.limit - needed) / this.limit)
    for (const [holder, kept] of this.#kept) kept.shrink(this.share(holder) * left)
  }

  /** Bytes that each cache takes now, and what is needed beside them. */
  taken(): Map<Holder | Need, number> {
    const taken = new Map<Holder | Need, number>()
    for (const [holder, { bytes }] of this.#kept) taken.set(holder, bytes)
    for (const [need, bytes] of this.#needs) taken.set(need, bytes())
    return taken
  }

  /** For times when nobody asks for anything. */
  release(): void {
    for (const [holder, kept] of this.#kept) kept.shrink(this.share(holder) * AT_REST)
  }
}
