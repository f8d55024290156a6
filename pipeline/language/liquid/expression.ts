/** Expressions of templates, read by the tokenizer of liquidjs (LIQ-27, LIQ-28, LIQ-30). */

import type { Token, Tokenizer, ValueToken } from 'liquidjs'
import { lazyPackage } from '../../lazy-package.ts'
import { Keyword, type LiquidValue, numberIn } from './values.ts'

const liquidjs = lazyPackage<typeof import('liquidjs')>('liquidjs')

export type Operator = '==' | '!=' | '<>' | '<' | '>' | '<=' | '>=' | 'contains' | 'and' | 'or'

export type Expression =
  | { kind: 'literal'; value: LiquidValue }
  | { kind: 'path'; root: Expression | string; keys: readonly (Expression | string)[] }
  | { kind: 'range'; first: Expression; last: Expression }
  | { kind: 'operation'; operator: Operator; left: Expression; right: Expression }

export interface FilterUse {
  name: string
  args: readonly Expression[]
  named: readonly (readonly [string, Expression])[]
}

/** An expression with the filters behind it, which apply to its value as a whole (LIQ-24). */
export interface Filtered {
  input: Expression
  filters: readonly FilterUse[]
}

/** Why a text is no expression; whoever knows the line makes a `TemplateError` of it. */
export class Malformed extends Error {}

const OPERATORS: Record<Operator, () => boolean> = {
  '==': unused,
  '!=': unused,
  '<>': unused,
  '<': unused,
  '>': unused,
  '<=': unused,
  '>=': unused,
  contains: unused,
  and: unused,
  or: unused,
}

/** The tokenizer asks for the names of operators alone. */
function unused(): boolean {
  return false
}

/** Brackets inside brackets; the tokenizer recurses into them. */
const MAX_BRACKETS = 64
/** Words and marks of one tag or output, beside those in strings: the tokenizer reads all of them in one step. */
const MAX_WORDS = 5_000
/** UTF-16 code units of one tag or output: those of strings are read one by one. */
const MAX_LENGTH = 256 * 1024
/** Operators of one expression; its evaluation recurses. */
const MAX_OPERANDS = 500

const LITERALS = new Map<string, LiquidValue>([
  ['true', true],
  ['false', false],
  ['nil', null],
  ['null', null],
  ['empty', new Keyword('empty')],
  ['blank', new Keyword('blank')],
])

/** A reader of one tag's or output's text, from left to right. */
export class ExpressionReader {
  readonly #tokens: Tokenizer
  readonly #text: string
  /** Words that it reads, each with all that stands in one string. */
  readonly words: number
  #endsInPipe: boolean | undefined

  /** @throws Malformed when brackets are nested too deeply, or there is more than is read in one step */
  constructor(text: string) {
    this.words = wordsIn(text)
    this.#text = text
    this.#tokens = new (liquidjs().Tokenizer)(text, OPERATORS as never)
  }

  get atEnd(): boolean {
    this.#tokens.skipBlank()
    return this.#tokens.end()
  }

  /** Everything up to the end, as one expression with filters. */
  whole(): Filtered {
    const filtered = this.filtered()
    this.end()
    return filtered
  }

  filtered(): Filtered {
    return reading(() => {
      const token = this.#tokens.readFilteredValue()
      const filters: FilterUse[] = []
      for (const { name, args } of token.filters) {
        const positional: Expression[] = []
        const named: [string, Expression][] = []
        for (const arg of args) {
          if (Array.isArray(arg)) named.push([arg[0] ?? '', expressionOf(arg[1])])
          else positional.push(expressionOf(arg as ValueToken))
        }
        filters.push({ name, args: positional, named })
      }
      // Looked at once: one tag may hold many values.
      this.#endsInPipe ??= this.#text.trimEnd().endsWith('|')
      if (this.#endsInPipe) throw new Malformed('A filter is missing its name.')
      return { input: operation(token.initial.postfix), filters }
    })
  }

  value(): Expression {
    return reading(() => expressionOf(this.#tokens.readValue()))
  }

  word(): string {
    return this.#tokens.readIdentifier().getText()
  }

  /** A name, or a name in quotes. */
  name(): string {
    const word = this.word()
    if (word !== '') return word
    const quoted = reading(() => this.#tokens.readQuoted())
    return quoted === undefined ? '' : String(literalText(quoted))
  }

  /** Passes a character or word if it stands here. */
  pass(mark: string): boolean {
    this.#tokens.skipBlank()
    if (!this.#text.startsWith(mark, this.#tokens.p)) return false
    this.#tokens.advance(mark.length)
    return true
  }

  /** Where the reading is, to go back to. */
  get place(): number {
    return this.#tokens.p
  }

  set place(at: number) {
    this.#tokens.p = at
  }

  since(place: number): string {
    return this.#text.slice(place, this.#tokens.p).trim()
  }

  end(): void {
    if (!this.atEnd) throw new Malformed(`Unexpected text: ${shortened(this.#text.slice(this.#tokens.p))}`)
  }
}

function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof Malformed) throw error
    throw new Malformed(shortened(error instanceof Error ? error.message.replace(/, line:.*$/s, '') : 'Malformed.'))
  }
}

export function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

const BETWEEN_WORDS = /[\s.,:|([<>=!]/

function wordsIn(text: string): number {
  if (text.length > MAX_LENGTH) throw new Malformed('The expression is too long.')
  let depth = 0
  let words = 0
  let isWord = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    const isAnother = char !== undefined && !BETWEEN_WORDS.test(char)
    if (isAnother && !isWord && ++words > MAX_WORDS) throw new Malformed('The expression is too long.')
    isWord = isAnother
    if (char === '"' || char === "'") {
      const start = at
      isWord = false
      for (at++; at < text.length && text[at] !== char; at++) if (text[at] === '\\') at++
      if (at >= text.length) throw new Malformed(`A string is not closed: ${shortened(text.slice(start))}`)
    } else if (char === '[' || char === '(') {
      if (++depth > MAX_BRACKETS) throw new Malformed('Brackets are nested too deeply.')
    } else if (char === ']' || char === ')') depth--
  }
  return words
}

/** The tree of a list of operands and operators in postfix order. */
function operation(postfix: readonly Token[]): Expression {
  if (postfix.length > 2 * MAX_OPERANDS) throw new Malformed('The expression has too many operators.')
  const operands: Expression[] = []
  for (const token of postfix) {
    if (token.kind !== liquidjs().TokenKind.Operator) {
      operands.push(expressionOf(token as ValueToken))
      continue
    }
    const right = operands.pop()
    const left = operands.pop()
    if (!left || !right) throw new Malformed(`An operand of ${token.getText()} is missing.`)
    operands.push({ kind: 'operation', operator: token.getText() as Operator, left, right })
  }
  const [expression, more] = operands
  if (!expression) throw new Malformed('An expression is missing.')
  if (more) throw new Malformed('Between two values an operator is missing.')
  return expression
}

interface PathToken extends Token {
  variable?: Token
  props: Token[]
}

interface RangeToken extends Token {
  lhs: Token
  rhs: Token
}

function expressionOf(token: Token | undefined): Expression {
  const { TokenKind } = liquidjs()
  switch (token?.kind) {
    case TokenKind.Number: {
      const text = token.getText()
      const value = numberIn(text)
      if (value === undefined) throw new Malformed(`Not a number: ${shortened(text)}`)
      return { kind: 'literal', value: text.includes('.') ? Number(value) : value }
    }
    case TokenKind.Literal:
      return { kind: 'literal', value: LITERALS.get(token.getText()) ?? null }
    case TokenKind.Quoted:
      return { kind: 'literal', value: literalText(token) }
    case TokenKind.Range: {
      const { lhs, rhs } = token as RangeToken
      return { kind: 'range', first: expressionOf(lhs), last: expressionOf(rhs) }
    }
    case TokenKind.PropertyAccess: {
      const { variable, props } = token as PathToken
      const keys = props.map(keyOf)
      if (variable) return { kind: 'path', root: expressionOf(variable), keys }
      const [root, ...rest] = keys
      if (root === undefined) throw new Malformed('A name is missing.')
      // `[name]` at the root is a name that is looked up by a value; a literal one is the name itself.
      return {
        kind: 'path',
        root: typeof root === 'string' ? root : { kind: 'path', root: '', keys: [root] },
        keys: rest,
      }
    }
    default:
      throw new Malformed(token ? `Unexpected: ${shortened(token.getText())}` : 'A value is missing.')
  }
}

function keyOf(token: Token): Expression | string {
  if (token.kind === liquidjs().TokenKind.Word) {
    const name = token.getText()
    if (name === '') throw new Malformed('A key is missing.')
    return name
  }
  const key = expressionOf(token)
  return key.kind === 'literal' && typeof key.value === 'string' ? key.value : key
}

function literalText(token: Token): string {
  return String((token as Token & { content: unknown }).content)
}
