/** Parts of programs with rules of their own: blocks, strings with values in them, and selector literals. */

import { endWithoutSpace, trimmed } from '../../tree/ascii.ts'
import type { Scanner } from './scan.ts'
import { type Block, type Embedded, type Expression, RESERVED, type SelectorLiteral } from './syntax.ts'

export function blockAt(scanner: Scanner): Block {
  scanner.expect('{')
  const statements = scanner.statements()
  scanner.expect('}')
  return { statements }
}

const PLAIN = { '"': /[^"\\#]+/y, "'": /[^'\\#]+/y }
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '\\': '\\',
  n: '\n',
  t: '\t',
  r: '\r',
  '#': '#',
}

/** A string, if one stands here (SES-14). */
export function stringAt(scanner: Scanner): Expression | undefined {
  scanner.skipSpace()
  const start = scanner.at
  const { latest } = scanner
  if (latest?.start === start && latest.end <= scanner.end) {
    scanner.at = latest.end
    return latest.string
  }
  const mark = start < scanner.end ? scanner.text.charAt(start) : ''
  if (mark !== '"' && mark !== "'") return undefined
  const string = scanner.nested(() => quotedAt(scanner, mark))
  scanner.latest = { start, end: scanner.at, string }
  return string
}

function quotedAt(scanner: Scanner, mark: '"' | "'"): Expression {
  const start = scanner.at++
  const series = scanner.series<(string | Expression)[]>('string')
  let text = ''
  for (;;) {
    text += scanner.takeMatch(PLAIN[mark]) ?? ''
    if (scanner.at >= scanner.end) return scanner.fail('the string has no end', start)
    const character = scanner.text.charAt(scanner.at++)
    if (character === mark) break
    if (character === '\\') {
      const escaped = scanner.text.charAt(scanner.at++)
      text += ESCAPES[escaped] ?? `\\${escaped}`
    } else if (scanner.at < scanner.end && scanner.text.charAt(scanner.at) === '{') {
      scanner.at++
      const value = scanner.expression()
      scanner.expect('}')
      scanner.add(series, text === '' ? [value] : [text, value])
      text = ''
    } else text += character
  }
  const parts = series.items.flat()
  if (parts.length === 0) return { kind: 'literal', value: text }
  if (text !== '') parts.push(text)
  return { kind: 'template', parts }
}

/** A key with its colon, if one stands here. */
export function keyAt(scanner: Scanner): string | Expression | undefined {
  const start = scanner.at
  const word = scanner.peekWord()
  const key = word === undefined ? stringAt(scanner) : RESERVED.has(word) ? undefined : word
  if (word !== undefined) scanner.at += word.length
  if (key !== undefined && scanner.take(':')) return key
  scanner.at = start
  return undefined
}

/** Pseudo-classes that take a value (SES-122). */
const TAKING = /:(?:value-)?(?:contains|equals|greater-than|less-than)\([ \t\n\f\r]*/iy
const ATTRIBUTE = /\[[^[\]"'=\\]*=[ \t\n\f\r]*/y
const CASE_FLAG = /[ \t\n\f\r]*[isIS](?=[ \t\n\f\r]*\])/y
const FOLD_FLAG = /[ \t\n\f\r]*,[ \t\n\f\r]*[iI](?=[ \t\n\f\r]*\))/y
const FUNCTION = /(?:text|value|attr)-of\(/y
const CSS_NAME = /^-?[A-Za-z_][A-Za-z0-9_-]*$/
const CSS_NUMBER = /^[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)[A-Za-z%]*$/

/** White space of Sessel (SES-10), which is that of CSS. */
const LEADING_SPACE = /^[ \t\n\f\r]+/

/** A selector literal, from its `${` on (SES-15). */
export function selectorAt(scanner: Scanner): SelectorLiteral {
  const start = scanner.at
  scanner.expect('${')
  const close = scanner.closing(scanner.at, '}')
  if (close === undefined) return scanner.fail('the selector has no end', start)
  const end = scanner.end
  scanner.end = close
  const parts = scanner.nested(() => selectorParts(scanner))
  scanner.end = end
  scanner.at = close + 1
  return { parts }
}

function selectorParts(scanner: Scanner): (string | Embedded)[] {
  const series = scanner.series<(string | Embedded)[]>('selector')
  let text = ''
  const add = (embedded: Embedded | undefined) => {
    if (!embedded) return
    scanner.add(series, text === '' ? [embedded] : [text, embedded])
    text = ''
  }
  while (scanner.at < scanner.end) {
    const character = scanner.text.charAt(scanner.at)
    if (character === '[') {
      const opening = scanner.takeMatch(ATTRIBUTE)
      text += opening ?? character
      if (opening === undefined) scanner.at++
      else add(embeddedAt(scanner, ']', CASE_FLAG))
    } else if (character === ':') {
      const opening = scanner.takeMatch(TAKING)
      text += opening ?? character
      if (opening === undefined) scanner.at++
      else add(embeddedAt(scanner, ')', FOLD_FLAG))
    } else if (character === '\\') {
      text += scanner.text.slice(scanner.at, Math.min(scanner.at + 2, scanner.end))
      scanner.at += 2
    } else if (character === '"' || character === "'") {
      const quoted = scanner.takeMatch(QUOTED) ?? character
      if (quoted === character) scanner.at++
      text += quoted
    } else {
      text += character
      scanner.at++
    }
  }
  const parts = series.items.flat()
  if (typeof parts[0] === 'string') parts[0] = parts[0].replace(LEADING_SPACE, '')
  else if (parts.length === 0) text = text.replace(LEADING_SPACE, '')
  text = text.slice(0, endWithoutSpace(text, text.length))
  if (text !== '' || parts.length === 0) parts.push(text)
  return parts
}

const QUOTED = /"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'/y

/**
 * The unquoted value that stands here, up to the closing bracket or the flag before it (SES-122, SES-123).
 *
 * @returns nothing for a value that is one quoted text, which is literal
 */
export function embeddedAt(scanner: Scanner, close: ')' | ']', flag: RegExp | undefined): Embedded | undefined {
  const start = scanner.at
  const isLast = () => {
    if (flag && scanner.peekMatch(flag) !== undefined) return true
    return scanner.looksAt(close)
  }
  if (flag !== undefined && '"\''.includes(scanner.text.charAt(start))) {
    // An expression may begin with a string: `[data-id="tea-" + n]`.
    const isLiteral = scanner.takeMatch(QUOTED) === undefined || isLast()
    scanner.at = start
    if (isLiteral) return undefined
  }
  // Functions of selectors have names that no function of a program has (COMP-139).
  const isFunction = scanner.peekMatch(FUNCTION) !== undefined
  const expression = scanner.attempt(() => {
    if (isFunction) scanner.fail('a function of selectors')
    const found = scanner.expression()
    const end = scanner.at
    if (!isLast()) scanner.expected(`“${close}”`)
    scanner.at = end
    return found
  })
  if (expression) {
    const text = trimmed(scanner.text.slice(start, scanner.at))
    if (CSS_NUMBER.test(text)) return { text, expression: undefined, names: [] }
    const isName = CSS_NAME.test(text)
    return { text, expression, names: isName ? namesIn(text) : [] }
  }
  const end = scanner.closing(start, close)
  if (end === undefined) return undefined
  const written = scanner.text.slice(start, end)
  scanner.at = start + (flag === undefined ? written : withoutFlag(written, close)).length
  return { text: trimmed(scanner.text.slice(start, scanner.at)), expression: undefined, names: [] }
}

/** A literal value without the flag behind it. */
function withoutFlag(written: string, close: ')' | ']'): string {
  const text = written.slice(0, endWithoutSpace(written, written.length))
  if (close === ']') return /[ \t\n\f\r][isIS]$/.test(text) ? text.slice(0, -2) : written
  const before = /[iI]$/.test(text) ? text.slice(0, endWithoutSpace(text, text.length - 1)) : ''
  return before.endsWith(',') ? before.slice(0, -1) : written
}

/** Names that a text such as `a` or `a-b` reads, taken for an expression. */
function namesIn(text: string): string[] {
  return text.split('-').filter(part => part !== '' && !/^[0-9]/.test(part) && !RESERVED.has(part))
}
