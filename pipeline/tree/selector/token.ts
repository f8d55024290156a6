/** Tokens of selector text by CSS Syntax Level 3 §4: escapes, comments, and blocks that the end of the text closes. */
import { asciiLower, trimmed } from '../ascii.ts'
import { SelectorError } from './error.ts'

export type TokenType =
  | 'ident'
  | 'function'
  | 'hash'
  | 'string'
  | 'number'
  | 'dimension'
  | 'space'
  | 'delim'
  /** Tokens that no selector uses, but that may stand in an argument which is passed on or forgiven. */
  | 'other'
  | ':'
  | ';'
  | ','
  | '['
  | ']'
  | '('
  | ')'
  | '{'
  | '}'

export interface Token {
  type: TokenType
  /** Name, string or delimiter with escapes resolved; numbers as written. */
  value: string
  /** `hash`: what follows `#` is an identifier, so it can be an id selector. */
  isId?: boolean
  /** `number`, `dimension`: no fraction and no exponent. */
  isInteger?: boolean
  /** `dimension`: the unit with escapes resolved. */
  unit?: string
  /** Half-open range in the tokenized text. */
  start: number
  end: number
  /** For `function ( [ {`: index of the token that closes it, or the number of tokens when the end of the text does. */
  close?: number
}

export interface TokenList {
  /** The text after CSS preprocessing; token ranges refer to it. */
  text: string
  tokens: Token[]
}

const ESCAPE = '\\\\(?:[0-9a-fA-F]{1,6}[ \\n\\t]?|[^\\n0-9a-fA-F]|$)'
const NAME_START = `(?:[a-zA-Z_\\u0080-\\uffff]|${ESCAPE})`
const NAME_PART = `(?:[-\\w\\u0080-\\uffff]|${ESCAPE})`

const IDENT = new RegExp(`(?:--|-?${NAME_START})${NAME_PART}*`, 'y')
const NAME = new RegExp(`${NAME_PART}+`, 'y')
const NUMBER = /[+-]?(?:\d+\.\d+|\.\d+|\d+)(?:[eE][+-]?\d+)?/y
const SPACE = /[ \t\n]+/y
const COMMENT = /\/\*[\s\S]*?(?:\*\/|$)/y
const STRING = /"(?:[^"\\\n]|\\[\s\S])*(?:"|\\?$)|'(?:[^'\\\n]|\\[\s\S])*(?:'|\\?$)/y
const RAW_URL = /[^)\\]*(?:\\[\s\S][^)\\]*)*(?:\)|\\?$)/y
const ESCAPED = /\\(?:([0-9a-fA-F]{1,6})[ \n\t]?|(\n)|([\s\S])|$)/g

const CLOSERS: Record<string, string> = { function: ')', '(': ')', '[': ']', '{': '}' }

/**
 * Tokenizes selector text.
 *
 * @param source text as sent; CR LF, form feeds, NUL and lone surrogates are replaced as CSS Syntax §3.3 says
 * @returns the tokens with the extent of every block; comments are dropped
 * @throws SelectorError for what may stand nowhere: a string with a line break, a closing bracket that closes nothing
 */
export function tokenize(source: string): TokenList {
  const text = source
    .replace(/\r\n?|\f/g, '\n')
    .replaceAll('\0', '\ufffd')
    .toWellFormed()
  const tokens: Token[] = []
  const open: Token[] = []
  for (let at = 0; at < text.length; ) {
    const comment = read(COMMENT, text, at)
    if (comment) {
      at += comment.length
      continue
    }
    const token = next(text, at)
    at = token.end
    if (token.type === 'function' || token.type === '(' || token.type === '[' || token.type === '{') open.push(token)
    else if (token.type === ')' || token.type === ']' || token.type === '}') {
      const opener = open.pop()
      if (!opener || CLOSERS[opener.type] !== token.type) throw new SelectorError(`unexpected “${token.type}”`)
      opener.close = tokens.length
    }
    tokens.push(token)
  }
  for (const opener of open) opener.close = tokens.length
  return { text, tokens }
}

/** Resolves CSS escapes in a name or in the inside of a string (CSS Syntax §4.3.7). */
function unescapeCss(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(ESCAPED, (_, hex?: string, lineBreak?: string, character?: string) => {
    if (hex) {
      const code = Number.parseInt(hex, 16)
      return code === 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? '\ufffd' : String.fromCodePoint(code)
    }
    if (lineBreak) return ''
    return character ?? '\ufffd'
  })
}

function next(text: string, start: number): Token {
  const first = text.charAt(start)
  const space = read(SPACE, text, start)
  if (space) return { type: 'space', value: ' ', start, end: start + space.length }
  if (first === '"' || first === "'") return stringToken(text, start)
  if (first === '#') {
    const name = read(NAME, text, start + 1)
    if (name) {
      const isId = read(IDENT, text, start + 1) === name
      return { type: 'hash', value: unescapeCss(name), isId, start, end: start + 1 + name.length }
    }
  }
  const number = read(NUMBER, text, start)
  if (number) return numberToken(text, start, number)
  if (text.startsWith('-->', start)) return { type: 'other', value: '-->', start, end: start + 3 }
  const name = read(IDENT, text, start)
  if (name) return nameToken(text, start, name)
  if (first === '@') {
    const keyword = read(IDENT, text, start + 1)
    if (keyword) return { type: 'other', value: `@${keyword}`, start, end: start + 1 + keyword.length }
  }
  const type = ':;,[](){}'.includes(first) ? (first as TokenType) : 'delim'
  return { type, value: first, start, end: start + 1 }
}

function stringToken(text: string, start: number): Token {
  const raw = read(STRING, text, start)
  if (!raw) throw new SelectorError('a string contains a line break')
  const closed = raw.length > 1 && raw.endsWith(raw.charAt(0)) && !endsEscaped(raw)
  const inside = raw.slice(1, closed ? -1 : undefined)
  // A backslash that the end of the text cuts off stands for nothing in a string.
  const value = unescapeCss(!closed && endsEscaped(`${inside} `) ? inside.slice(0, -1) : inside)
  return { type: 'string', value, start, end: start + raw.length }
}

/** Whether an odd number of backslashes stands before the last character. */
function endsEscaped(text: string): boolean {
  let count = 0
  for (let i = text.length - 2; i >= 0 && text.charAt(i) === '\\'; i--) count++
  return count % 2 === 1
}

function numberToken(text: string, start: number, number: string): Token {
  const isInteger = /^[+-]?\d+$/.test(number)
  const end = start + number.length
  const unit = read(IDENT, text, end)
  if (unit)
    return { type: 'dimension', value: number, isInteger, unit: unescapeCss(unit), start, end: end + unit.length }
  if (text.charAt(end) === '%') return { type: 'other', value: `${number}%`, start, end: end + 1 }
  return { type: 'number', value: number, isInteger, start, end }
}

function nameToken(text: string, start: number, name: string): Token {
  const end = start + name.length
  const value = unescapeCss(name)
  if (text.charAt(end) !== '(') return { type: 'ident', value, start, end }
  if (asciiLower(value) === 'url' && !/^[ \t\n]*["']/.test(text.slice(end + 1))) {
    const raw = read(RAW_URL, text, end + 1) ?? ''
    if (/["'(\t\n\f\r ]/.test(trimmed(raw.replace(/\)$/, '')))) throw new SelectorError('malformed url(…)')
    return { type: 'other', value: `url(${raw}`, start, end: end + 1 + raw.length }
  }
  return { type: 'function', value, start, end: end + 1 }
}

function read(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}
