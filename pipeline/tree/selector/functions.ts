/**
 * Functions in selectors (COMP-139): `count(sel)`, `text-of(sel)`, `value-of(sel)` and `attr-of('name', sel)` stand for a
 * number or a string, and are replaced by it before the selector is read.
 */

import { trimmed } from '../ascii.ts'
import { SelectorError } from './error.ts'

/** One use of a function in the text of a selector. */
export interface FunctionCall {
  name: 'count' | 'text-of' | 'value-of' | 'attr-of'
  /** Of `attr-of`. */
  attribute: string | undefined
  /** The selector that it is used with, trimmed. */
  selector: string
  /** The first character of its name, and the one behind its bracket. */
  start: number
  end: number
}

const WORD = /[\w-]+/y
const NAMED = /^[\t\n\f\r ]*(?:"([^"\\]*)"|'([^'\\]*)')[\t\n\f\r ]*,([\s\S]*)$/

/**
 * The functions of a selector, from left to right, in time proportional to the text. Strings, comments and escaped
 * characters are passed over; what stands in the argument of a function is its own.
 *
 * @throws SelectorError where one has no end, or `attr-of` has no name
 */
export function functionCalls(text: string): FunctionCall[] {
  const calls: FunctionCall[] = []
  if (!text.includes('(')) return calls
  for (let at = 0; at < text.length; ) {
    const skipped = behindOpaque(text, at)
    if (skipped !== undefined) {
      at = skipped
      continue
    }
    WORD.lastIndex = at
    const word = WORD.exec(text)?.[0]
    if (word === undefined) {
      at++
      continue
    }
    const open = at + word.length
    const isCall = isFunction(word) && text.charAt(open) === '(' && !/[:\\]/.test(text.charAt(at - 1))
    at = isCall ? (calls[calls.push(callAt(text, word, at, open + 1)) - 1]?.end ?? open) : open
  }
  return calls
}

function isFunction(word: string): word is FunctionCall['name'] {
  return word === 'count' || word === 'text-of' || word === 'value-of' || word === 'attr-of'
}

function callAt(text: string, name: FunctionCall['name'], start: number, from: number): FunctionCall {
  const close = closing(text, from)
  const argument = text.slice(from, close)
  if (name !== 'attr-of') return { name, attribute: undefined, selector: trimmed(argument), start, end: close + 1 }
  const named = NAMED.exec(argument)
  if (!named) throw new SelectorError('“attr-of” takes a quoted name and a selector')
  return { name, attribute: named[1] ?? named[2], selector: trimmed(named[3] ?? ''), start, end: close + 1 }
}

/** The bracket that closes the one before a place. */
function closing(text: string, from: number): number {
  let depth = 1
  for (let at = from; at < text.length; ) {
    const skipped = behindOpaque(text, at)
    if (skipped !== undefined) {
      at = skipped
      continue
    }
    const character = text.charAt(at)
    if (character === '(') depth++
    else if (character === ')' && --depth === 0) return at
    at++
  }
  throw new SelectorError('a function has no end')
}

/** The place behind a string, a comment or an escaped character that begins here; undefined where none does. */
function behindOpaque(text: string, at: number): number | undefined {
  const character = text.charAt(at)
  if (character === '\\') return at + 2
  if (character === '/' && text.charAt(at + 1) === '*') {
    const end = text.indexOf('*/', at + 2)
    return end < 0 ? text.length : end + 2
  }
  if (character !== '"' && character !== "'") return undefined
  let end = at + 1
  while (end < text.length && text.charAt(end) !== character) end += text.charAt(end) === '\\' ? 2 : 1
  return end + 1
}

/** The selector with the results of its functions in their places. */
export function replaced(text: string, calls: readonly FunctionCall[], results: readonly string[]): string {
  let plain = ''
  let from = 0
  calls.forEach(({ start, end }, at) => {
    plain += text.slice(from, start) + (results[at] ?? '')
    from = end
  })
  return plain + text.slice(from)
}

/** What a function stands for where it finds these elements; `first` is asked where there is one alone. */
export function resultOf(call: FunctionCall, count: number, first: () => string): string {
  if (call.name === 'count') return String(count)
  if (count > 1) throw new SelectorError(`“${call.name}” finds ${count} elements where it needs one`)
  return cssString(count === 0 ? '' : first())
}

/** A text as a string of CSS: no text can be more than that. */
export function cssString(text: string): string {
  return `"${text.replace(/["\\]|[\0-\x1f\x7f]/g, character =>
    character === '"' || character === '\\' ? `\\${character}` : `\\${character.charCodeAt(0).toString(16)} `,
  )}"`
}
