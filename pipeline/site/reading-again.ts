/** Paths of which memory does not know what is stored there, because the store could not be read. */

import { StoreError } from '../store/errors.ts'

/** Milliseconds until what could not be read is read again. */
const AGAIN = 500

export class ReadingAgain {
  readonly #paths = new Set<string>()
  readonly #take: (paths: readonly string[]) => Promise<void>
  #timer: NodeJS.Timeout | undefined

  /** @param take has memory take what is stored at some paths; called until it succeeds, or the store is closed */
  constructor(take: (paths: readonly string[]) => Promise<void>) {
    this.#take = take
  }

  /** Reads paths now, and again later where that fails. */
  async now(paths: readonly string[]): Promise<void> {
    try {
      await this.#take(paths)
    } catch (error) {
      if (!(error instanceof StoreError && error.reason === 'closed')) this.later(paths)
    }
  }

  later(paths: Iterable<string>): void {
    for (const path of paths) this.#paths.add(path)
    this.#timer ??= setTimeout(() => this.#again(), AGAIN).unref()
  }

  #again(): void {
    const paths = [...this.#paths]
    this.#paths.clear()
    this.#timer = undefined
    void this.now(paths)
  }
}
