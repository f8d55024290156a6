/**
 * Functions in selectors (COMP-139): `count(sel)`, `text-of(sel)`, `value-of(sel)` and `attr-of('name', sel)` are replaced
 * by their results before the selector is read. They look where a bare selector of the program looks.
 */

import { ElementValue, isList, type Value } from '../values.ts'
import { CSS_TEXT } from './css-text.ts'
import { attributeOf } from './dom.ts'
import { collapsed, elementValue, rawText } from './element-text.ts'
import { type Evaluation, typeError, type Work } from './evaluation.ts'

const FUNCTION = /"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|(?<![\w:-])(count|text-of|value-of|attr-of)\(/g
const NAMED = /^\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*,([\s\S]*)$/

/** Whether a selector may have functions in it. */
export function hasFunctions(text: string): boolean {
  return /(?:count|-of)\(/.test(text)
}

/**
 * @param find finds the elements of a selector without functions
 * @returns the selector with the results in their places
 */
export function* withoutFunctions(text: string, find: (selector: string) => Work, on: Evaluation): Work<string> {
  let result = ''
  let from = 0
  for (const match of text.matchAll(FUNCTION)) {
    const [whole, name] = match
    if (name === undefined || match.index < from) continue
    const start = match.index + whole.length
    const end = closing(text, start)
    if (end === undefined) throw typeError(`“${text.slice(0, 80)}” is not a selector: a function has no end`)
    result += text.slice(from, match.index) + (yield* resultOf(name, text.slice(start, end), find, on))
    from = end + 1
  }
  return result + text.slice(from)
}

/** The bracket that closes the one before a place. */
function closing(text: string, from: number): number | undefined {
  let depth = 1
  for (let at = from; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '\\') at++
    else if (character === '"' || character === "'") {
      while (++at < text.length && text.charAt(at) !== character) if (text.charAt(at) === '\\') at++
    } else if (character === '(') depth++
    else if (character === ')' && --depth === 0) return at
  }
  return undefined
}

function* resultOf(name: string, argument: string, find: (selector: string) => Work, on: Evaluation): Work<string> {
  const named = name === 'attr-of' ? NAMED.exec(argument) : undefined
  if (named === null) throw typeError('“attr-of” takes a quoted name and a selector')
  const found: Value = yield* find((named?.[3] ?? argument).trim())
  const elements = found !== null && isList(found) ? found : []
  if (name === 'count') return String(elements.length)
  const [first, ...others] = elements
  if (others.length > 0) throw typeError(`“${name}” finds ${elements.length} elements where it needs one`)
  if (!(first instanceof ElementValue)) return '""'
  if (named) return CSS_TEXT.string(attributeOf(first.node, named[1] ?? named[2] ?? '') ?? '')
  const text = name === 'text-of' ? collapsed(rawText(first.node, on.spend)) : elementValue(first, on.spend)
  return CSS_TEXT.string((text ?? '').normalize('NFC'))
}
