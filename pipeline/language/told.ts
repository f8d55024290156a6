/** Messages of code that has failed, as they are told to people: never content of other documents (COMP-148, HTTP-170). */

import type { CodeFailure } from '../fault.ts'
import { finder } from '../tree/selector/substring.ts'

/** Marks that messages of languages quote with. */
const QUOTES = ['“”', "''", '""']

/**
 * A message without values that it quotes, which may be content of other documents (COMP-148); what stands in the page or
 * in the code itself is no news. Values may hold marks: they go from the first one to the last of its kind.
 *
 * @param own texts that whoever wrote the code has written
 */
export function withoutValues(message: string, ...own: readonly string[]): string {
  return QUOTES.reduce((told, [open = '', close = '']) => {
    const start = told.indexOf(open) + 1
    const end = told.lastIndexOf(close)
    if (start === 0 || end <= start || own.some(finder(told.slice(start, end)))) return told
    return `${told.slice(0, start)}…${told.slice(end)}`
  }, message)
}

/** How messages of the languages themselves begin (SES-210); an `Error` of JavaScript is thrown by authors alone. */
const ENGINE = /^(?:type error|runtime error|(?!Error: )[A-Za-z]*Error): /

/**
 * A failure without values, unless it is what the author of the code has thrown, who may say anything.
 *
 * @param own as of `withoutValues`
 */
export function toldFailure(failure: CodeFailure, ...own: readonly string[]): CodeFailure {
  const { message } = failure
  return ENGINE.test(message) ? { ...failure, message: withoutValues(message, ...own) } : failure
}
