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

/** Line of an offset in a text, from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}
