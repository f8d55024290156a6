/** What can go wrong in a template. A spent allowance is neither (LIQ-71). */

/** The template cannot be used, or its control flow cannot be decided: a composition error of kind `TemplateError` (LIQ-61, LIQ-64). */
export class TemplateError extends Error {
  /** Line in the source of the template, from 1. */
  readonly line: number

  constructor(message: string, line: number) {
    super(message)
    this.name = 'TemplateError'
    this.line = line
  }
}

/** One expression cannot be evaluated (LIQ-38): local in an output, a `TemplateError` in control flow. */
export class FilterError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'FilterError'
  }
}

/** Lines of offsets in a text, from 1; those that are asked for in ascending order are counted once. */
export class Lines {
  readonly #text: string
  #offset = 0
  #line = 1

  constructor(text: string) {
    this.#text = text
  }

  at(offset: number): number {
    if (offset < this.#offset) [this.#offset, this.#line] = [0, 1]
    const passed = this.#text.slice(this.#offset, offset)
    for (let at = passed.indexOf('\n'); at !== -1; at = passed.indexOf('\n', at + 1)) this.#line++
    this.#offset = offset
    return this.#line
  }
}
