/** Messages of code that has failed, as they are told to people: never content of other documents (COMP-148, HTTP-170). */

import type { CodeFailure } from '../fault.ts'

/** What messages of languages quote: from the first quotation mark to the last one of its kind, since values may hold some. */
const QUOTED = [/“([\s\S]*)”/, /'([\s\S]*)'/, /"([\s\S]*)"/]

/**
 * A message without values that it quotes, which may be content of other documents (COMP-148); what stands in the page or
 * in the code itself is no news.
 *
 * @param own texts that whoever wrote the code has written
 */
export function withoutValues(message: string, ...own: readonly string[]): string {
  return QUOTED.reduce((told, quoted) => {
    const value = quoted.exec(told)?.[1] ?? ''
    return own.some(text => text.includes(value)) ? told : told.replace(value, () => '…')
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
