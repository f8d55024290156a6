/** Parses selector text by the grammar of Selectors Level 4, as strictly as it is written. */
import { asciiLower } from '../ascii.ts'
import { SelectorError } from './error.ts'
import type { Extensions } from './extension.ts'
import { parseNth } from './nth.ts'
import * as pseudo from './pseudo.ts'
import type {
  AttributeSelector,
  Combinator,
  ComplexSelector,
  Compound,
  NamespaceTest,
  RelativeSelector,
  Simple,
} from './syntax.ts'
import { type Token, type TokenList, tokenize } from './token.ts'

/** Bounds on one selector: UTF-16 code units of text, simple selectors in all, brackets within brackets. */
export const LIMITS = { length: 8192, simples: 2048, compounds: 512, depth: 32 }

const OPERATORS = ['=', '~=', '|=', '^=', '$=', '*='] as const

/** URLs of declared prefixes. */
export type Namespaces = ReadonlyMap<string, string>

/** What is being parsed, and what the surroundings allow. */
interface Parser extends TokenList {
  extensions: Extensions
  namespaces: Namespaces | undefined
  simples: number
  compounds: number
}

/** A stretch of tokens, read from `at` to `end`. */
interface Cursor {
  at: number
  readonly end: number
  readonly depth: number
  readonly insideHas: boolean
  /** In an argument of a pseudo-class that stands behind a pseudo-element. */
  readonly behindElement: boolean
}

/**
 * Parses a selector list.
 *
 * @param source the selector list
 * @param extensions functional pseudo-classes beyond those of CSS
 * @param namespaces URLs of declared prefixes
 * @returns the selectors of the list
 * @throws SelectorError when it is not a selector list, or is larger than LIMITS
 */
export function parseSelectorList(source: string, extensions: Extensions, namespaces?: Namespaces): ComplexSelector[] {
  return parseWhole(source, extensions, namespaces, complex)
}

/**
 * Parses a list of selectors that may start with a combinator and are relative to some element.
 * Same arguments and errors as parseSelectorList.
 */
export function parseRelativeList(source: string, extensions: Extensions, namespaces?: Namespaces): RelativeSelector[] {
  return parseWhole(source, extensions, namespaces, relative)
}

function parseWhole<S>(
  source: string,
  extensions: Extensions,
  namespaces: Namespaces | undefined,
  item: (parser: Parser, cursor: Cursor) => S,
): S[] {
  if (source.length > LIMITS.length) {
    throw new SelectorError(`a selector has at most ${LIMITS.length} characters`, 'size')
  }
  const parser: Parser = { ...tokenize(source), extensions, namespaces, simples: 0, compounds: 0 }
  return list(parser, { at: 0, end: parser.tokens.length, depth: 0, insideHas: false, behindElement: false }, item)
}

/** Parses what stands between the commas of a stretch; every part has to be valid. */
function list<S>(parser: Parser, cursor: Cursor, item: (parser: Parser, cursor: Cursor) => S): S[] {
  return parts(parser, cursor).map(part => item(parser, part))
}

/** A forgiving list (Selectors 4 §3.8): parts that are not valid are left out. */
function forgivingList(parser: Parser, cursor: Cursor): ComplexSelector[] {
  const found: ComplexSelector[] = []
  for (const part of parts(parser, cursor)) {
    try {
      found.push(complex(parser, part))
    } catch (error) {
      if (!(error instanceof SelectorError) || error.fault !== 'syntax') throw error
    }
  }
  return found
}

/** The parts between top-level commas, without white space around them. */
function parts(parser: Parser, cursor: Cursor): Cursor[] {
  const found: Cursor[] = []
  let start = cursor.at
  const add = (end: number) => {
    let from = start
    let to = end
    while (from < to && parser.tokens[from]?.type === 'space') from++
    while (to > from && parser.tokens[to - 1]?.type === 'space') to--
    found.push({ ...cursor, at: from, end: to })
    start = end + 1
  }
  for (let at = cursor.at; at < cursor.end; at++) {
    const token = parser.tokens[at]
    if (token?.close !== undefined) at = token.close
    else if (token?.type === ',') add(at)
  }
  add(cursor.end)
  return found
}

function relative(parser: Parser, cursor: Cursor): RelativeSelector {
  return { leading: combinator(parser, cursor) ?? ' ', ...complex(parser, cursor) }
}

function complex(parser: Parser, cursor: Cursor): ComplexSelector {
  const compounds = [compound(parser, cursor)]
  const combinators: Combinator[] = []
  while (cursor.at < cursor.end) {
    if (compounds.at(-1)?.pseudoElement) throw new SelectorError('nothing may follow a pseudo-element')
    const between = combinator(parser, cursor)
    if (!between) throw unexpected(parser, cursor)
    combinators.push(between)
    compounds.push(compound(parser, cursor))
  }
  return { compounds, combinators }
}

function combinator(parser: Parser, cursor: Cursor): Combinator | undefined {
  const spaced = skipSpace(parser, cursor)
  const token = peek(parser, cursor)
  if (token?.type === 'delim' && (token.value === '>' || token.value === '+' || token.value === '~')) {
    cursor.at++
    skipSpace(parser, cursor)
    return token.value
  }
  return spaced ? ' ' : undefined
}

function compound(parser: Parser, cursor: Cursor): Compound {
  if (++parser.compounds > LIMITS.compounds) {
    throw new SelectorError(`a selector has at most ${LIMITS.compounds} parts`, 'size')
  }
  const start = cursor.at
  const found: Compound = { simples: cursor.behindElement ? [] : typeSelector(parser, cursor) }
  for (let token = peek(parser, cursor); token; token = peek(parser, cursor)) {
    if ((found.pseudoElement || cursor.behindElement) && token.type !== ':') throw unexpected(parser, cursor)
    if (token.type === 'hash' && token.isId) {
      cursor.at++
      found.simples.push({ kind: 'id', name: token.value })
    } else if (token.type === 'delim' && token.value === '.') {
      cursor.at++
      found.simples.push({ kind: 'class', name: identifier(parser, cursor) })
    } else if (token.type === '[') found.simples.push(attributeSelector(parser, cursor, token))
    else if (token.type === ':') pseudoSelector(parser, cursor, found)
    else if (token.type === 'delim' && token.value === '&') {
      // Outside of a style rule the nesting selector is :scope (CSS Nesting 1 §3).
      cursor.at++
      found.simples.push({ kind: 'state', name: 'scope' })
    } else break
  }
  if (cursor.at === start) throw unexpected(parser, cursor)
  parser.simples += found.simples.length
  if (parser.simples > LIMITS.simples)
    throw new SelectorError(`a selector has at most ${LIMITS.simples} conditions`, 'size')
  return found
}

/** `p`, `*`, `*|p`, `|p`; nothing when the compound starts otherwise. */
function typeSelector(parser: Parser, cursor: Cursor): Simple[] {
  const name = qualifiedName(parser, cursor, true)
  if (!name) return []
  const namespace = name.prefix === 'absent' ? 'any' : name.prefix
  if (name.isStar && typeof namespace === 'object') return [{ kind: 'namespace', url: namespace.url }]
  if (!name.isStar) return [{ kind: 'type', namespace, name: name.local }]
  return namespace === 'none' ? [{ kind: 'no-namespace' }] : []
}

/** A name with an optional namespace prefix, `*` as local name only where `star` says so. */
function qualifiedName(parser: Parser, cursor: Cursor, star: boolean) {
  const first = peek(parser, cursor)
  const isName = (token: Token | undefined) => token?.type === 'ident' || (star && isDelim(token, '*'))
  const take = (count: number, prefix: 'absent' | NamespaceTest, token: Token) => {
    cursor.at += count
    // An escaped asterisk is a name like any other: the type of the token tells.
    return { prefix, local: token.value, isStar: token.type === 'delim' }
  }
  const behindBar = peek(parser, cursor, isDelim(first, '|') ? 1 : 2)
  if (isDelim(first, '|')) {
    if (!behindBar || !isName(behindBar)) throw unexpected(parser, cursor)
    return take(2, 'none', behindBar)
  }
  // In `[a|=b]` the bar belongs to the operator.
  const prefixed = isDelim(peek(parser, cursor, 1), '|') && !isDelim(behindBar, '=')
  if (prefixed && behindBar && isName(behindBar)) {
    if (isDelim(first, '*')) return take(3, 'any', behindBar)
    const url = first?.type === 'ident' ? parser.namespaces?.get(first.value) : undefined
    if (url !== undefined) return take(3, { url }, behindBar)
    if (first?.type === 'ident')
      throw new SelectorError(`namespace prefix “${first.value.slice(0, 40)}” is not declared`)
  }
  if (!first || !isName(first)) return undefined
  return take(1, 'absent', first)
}

function attributeSelector(parser: Parser, cursor: Cursor, open: Token): AttributeSelector {
  const inside: Cursor = { ...enter(cursor, open), at: cursor.at + 1 }
  cursor.at = Math.min(inside.end + 1, cursor.end)
  skipSpace(parser, inside)
  const name = qualifiedName(parser, inside, false)
  if (!name) throw unexpected(parser, inside)
  const namespace = name.prefix === 'absent' ? 'none' : name.prefix
  const found: AttributeSelector = { kind: 'attribute', namespace, name: name.local, value: '' }
  skipSpace(parser, inside)
  if (inside.at === inside.end) return found
  const first = inside.at
  while (peek(parser, inside)?.type === 'delim' && inside.at < first + 2) inside.at++
  found.operator = OPERATORS.find(operator => operator === textOf(parser, first, inside.at))
  if (!found.operator) throw unexpected(parser, { ...inside, at: first })
  skipSpace(parser, inside)
  const value = peek(parser, inside)
  if (value?.type !== 'ident' && value?.type !== 'string') throw unexpected(parser, inside)
  found.value = value.value
  inside.at++
  skipSpace(parser, inside)
  const flag = peek(parser, inside)
  if (flag?.type === 'ident' && /^[is]$/i.test(flag.value)) {
    found.flag = asciiLower(flag.value) === 'i' ? 'i' : 's'
    inside.at++
    skipSpace(parser, inside)
  }
  if (inside.at < inside.end) throw unexpected(parser, inside)
  return found
}

/** Reads a pseudo-class or pseudo-element and adds it to the compound. */
function pseudoSelector(parser: Parser, cursor: Cursor, found: Compound): void {
  cursor.at++
  const double = peek(parser, cursor)?.type === ':'
  if (double) cursor.at++
  const token = peek(parser, cursor)
  if (token?.type !== 'ident' && token?.type !== 'function') throw unexpected(parser, cursor)
  const name = asciiLower(token.value)
  const isFunction = token.type === 'function'
  cursor.at++
  const inside = isFunction ? { ...enter(cursor, token), at: cursor.at } : undefined
  if (inside) cursor.at = Math.min(inside.end + 1, cursor.end)
  const behind = found.pseudoElement
  const isBacked = behind !== undefined && pseudo.ELEMENT_BACKED.has(behind)
  if (double || (!isFunction && pseudo.LEGACY_PSEUDO_ELEMENTS.has(name))) {
    const names = isFunction ? pseudo.PSEUDO_ELEMENT_FUNCTIONS : pseudo.PSEUDO_ELEMENTS
    // Vendors' pseudo-elements are valid whatever they are (Compatibility §2.2).
    if (!names.has(name) && (isFunction || !name.startsWith('-webkit-'))) throw unknown(`::${name}`)
    if (cursor.depth > 0) throw new SelectorError('pseudo-elements cannot stand inside of a pseudo-class')
    const isMarker = name === 'marker' && (behind === 'before' || behind === 'after')
    if (behind && !isBacked && !isMarker) throw new SelectorError(`::${name} cannot follow ::${behind}`)
    found.pseudoElement = name
    return
  }
  const behindElement = cursor.behindElement || (behind !== undefined && !isBacked)
  if (behindElement && !(isFunction ? /^(is|not|where)$/.test(name) : pseudo.USER_ACTIONS.has(name))) {
    throw new SelectorError(`:${name.slice(0, 40)} cannot follow a pseudo-element`)
  }
  found.simples.push(...(inside ? functionalClass(parser, { ...inside, behindElement }, name) : plainClass(name)))
}

function plainClass(name: string): Simple[] {
  const positions = pseudo.POSITIONS.get(name)
  if (positions) return positions.map(position => ({ kind: 'nth', nth: { a: 0, b: 1 }, ...position }))
  if (pseudo.STATES.has(name)) return [{ kind: 'state', name }]
  if (pseudo.DYNAMIC.has(name)) return [{ kind: 'never' }]
  throw unknown(`:${name}`)
}

function functionalClass(parser: Parser, inside: Cursor, name: string): Simple[] {
  switch (name) {
    case 'is':
    case 'where':
      return [{ kind: 'is', selectors: forgivingList(parser, inside) }]
    case 'not':
      return [{ kind: 'not', selectors: list(parser, inside, complex) }]
    case 'has':
      if (inside.insideHas) throw new SelectorError(':has() cannot stand inside of :has()')
      return [{ kind: 'has', selectors: list(parser, { ...inside, insideHas: true }, relative) }]
    case 'only':
      return [{ kind: 'only', selectors: list(parser, inside, relative) }]
    case 'nth-child':
    case 'nth-last-child':
    case 'nth-of-type':
    case 'nth-last-of-type':
      return [nthClass(parser, inside, name)]
    case 'lang':
      return [{ kind: 'lang', ranges: list(parser, inside, languageRange) }]
    case 'dir':
      return [{ kind: 'dir', direction: list(parser, inside, direction).join(',') }]
    case 'heading':
      return [{ kind: 'heading', levels: list(parser, inside, headingLevel) }]
  }
  if (pseudo.DYNAMIC_FUNCTIONS.has(name)) return [{ kind: 'never' }]
  const extension = parser.extensions.get(name)
  if (!extension) throw unknown(`:${name}()`)
  const argument = textOf(parser, inside.at, inside.end)
  return [{ kind: 'extension', name, argument, test: extension.compile(argument) }]
}

function nthClass(parser: Parser, inside: Cursor, name: string): Simple {
  const ofType = name.endsWith('of-type')
  const { nth, next } = parseNth(parser.tokens, inside.at, inside.end)
  const found: Simple = { kind: 'nth', nth, last: name.includes('last'), ofType }
  inside.at = next
  if (next === inside.end) return found
  if (ofType || asciiLower(identifier(parser, inside)) !== 'of') throw unexpected(parser, { ...inside, at: next })
  return { ...found, of: list(parser, inside, complex) }
}

function languageRange(parser: Parser, part: Cursor): string {
  const token = peek(parser, part)
  if (token?.type !== 'ident' && token?.type !== 'string') throw unexpected(parser, part)
  part.at++
  if (part.at < part.end) throw unexpected(parser, part)
  return token.value
}

function headingLevel(parser: Parser, part: Cursor): number {
  const token = peek(parser, part)
  if (token?.type !== 'number' || !token.isInteger) throw unexpected(parser, part)
  part.at++
  if (part.at < part.end) throw unexpected(parser, part)
  return Number(token.value)
}

function direction(parser: Parser, part: Cursor): string {
  const name = identifier(parser, part)
  if (part.at < part.end) throw unexpected(parser, part)
  return asciiLower(name)
}

function identifier(parser: Parser, cursor: Cursor): string {
  const token = peek(parser, cursor)
  if (token?.type !== 'ident') throw unexpected(parser, cursor)
  cursor.at++
  return token.value
}

/** The inside of a block, where reading has not begun yet. */
function enter(cursor: Cursor, open: Token): Cursor {
  if (cursor.depth === LIMITS.depth) {
    throw new SelectorError(`a selector is nested at most ${LIMITS.depth} deep`, 'size')
  }
  return { ...cursor, end: open.close ?? cursor.end, depth: cursor.depth + 1 }
}

function peek(parser: Parser, cursor: Cursor, ahead = 0): Token | undefined {
  return cursor.at + ahead < cursor.end ? parser.tokens[cursor.at + ahead] : undefined
}

function skipSpace(parser: Parser, cursor: Cursor): boolean {
  const start = cursor.at
  while (peek(parser, cursor)?.type === 'space') cursor.at++
  return cursor.at > start
}

function isDelim(token: Token | undefined, value: string): boolean {
  return token?.type === 'delim' && token.value === value
}

/** The text of the tokens from `start` up to `end`, comments between them included. */
function textOf(parser: Parser, start: number, end: number): string {
  const first = parser.tokens[start]
  const last = parser.tokens[end - 1]
  return first && last && start < end ? parser.text.slice(first.start, last.end) : ''
}

function unexpected(parser: Parser, cursor: Cursor): SelectorError {
  const token = peek(parser, cursor)
  if (!token) return new SelectorError('the selector, or a part of it, is empty or ends too early')
  const text = parser.text.slice(token.start, Math.min(token.end, token.start + 40))
  return new SelectorError(`unexpected “${text}” in a selector`)
}

function unknown(name: string): SelectorError {
  return new SelectorError(`“${name.slice(0, 40)}” is not known`)
}
