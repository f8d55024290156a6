/** What texts that come again and again were compiled to: programs, templates, selectors, patterns. All count together. */

import { KeptTogether } from './kept-together.ts'

/** Bytes where no server says anything else. */
const USUAL = 8 * 1024 * 1024

/** Their memory; it holds no more than its limit. */
export const compiled = new KeptTogether<object>(USUAL)

/** Those of one kind, by their text. */
export class Compiled<Made extends object> {
  readonly #byText = new Map<string, Made>()

  /** What a text was compiled to, which is used now; undefined where that is not known any more. */
  use(text: string): Made | undefined {
    const made = this.#byText.get(text)
    if (made) compiled.touch(made)
    return made
  }

  /**
   * @param bytes that it takes, by what was measured of dense and of sparse texts of its kind
   * @returns what is kept
   */
  keep(text: string, made: Made, bytes: number): Made {
    // Another turn may have compiled the same text.
    const known = this.#byText.get(text)
    if (known) return known
    this.#byText.set(text, made)
    compiled.use(made, bytes, () => this.#byText.delete(text))
    return made
  }
}
