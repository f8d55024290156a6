/** The memory of the caches of a process: one limit for all of them, a share for each, and what each really takes. */

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

/** Sixteenths of the whole. */
const SHARES = { documents: 2, trees: 5, answers: 3, 'mount-answers': 3, listings: 1, pages: 2 }

export type Holder = keyof typeof SHARES

/** What is left of a share when nobody asks for anything. */
const AT_REST = 1 / 16

/**
 * @param asked bytes by the settings; undefined lets the machine decide
 * @param contained bytes that the container of the process may take; nothing, or more than there is, where there is no limit
 * @returns bytes for all caches: a quarter of a container's, where that is less than usual
 */
export function memoryLimit(asked: number | undefined, contained = process.constrainedMemory()): number {
  const usual = contained > 0 ? Math.min(USUAL_MEMORY, contained / 4) : USUAL_MEMORY
  return Math.max(LEAST, Math.floor(asked ?? usual))
}

export class Memory {
  /** Bytes for all caches together. */
  readonly limit: number
  readonly #kept = new Map<Holder, KeptMemory>()

  /** @param limit bytes */
  constructor(limit = USUAL_MEMORY) {
    this.limit = limit
  }

  /** Bytes that a cache may take. */
  share(holder: Holder): number {
    return (this.limit * SHARES[holder]) / 16
  }

  /** Counts a cache in. */
  hold(holder: Holder, kept: KeptMemory): void {
    this.#kept.set(holder, kept)
  }

  /** Bytes that each cache takes now. */
  taken(): Map<Holder, number> {
    return new Map([...this.#kept].map(([holder, { bytes }]) => [holder, bytes]))
  }

  /** For times when nobody asks for anything. */
  release(): void {
    for (const [holder, kept] of this.#kept) kept.shrink(this.share(holder) * AT_REST)
  }
}
