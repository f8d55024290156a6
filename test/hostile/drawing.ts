/** Choices of random tests, the same for the same seed. */

import { random } from '../http/hostile/fuzz-requests.ts'

export class Drawing {
  readonly #draw: () => number

  constructor(seed: number) {
    this.#draw = random(seed)
  }

  one<T>(of: readonly T[]): T {
    return of[Math.floor(this.#draw() * of.length)] as T
  }

  /** Some of them, perhaps one several times. */
  few<T>(of: readonly T[], count: number): T[] {
    return Array.from({ length: count }, () => this.one(of))
  }

  is(share: number): boolean {
    return this.#draw() < share
  }

  /** A whole number from 0 up to, without, a limit. */
  below(limit: number): number {
    return Math.floor(this.#draw() * limit)
  }
}
