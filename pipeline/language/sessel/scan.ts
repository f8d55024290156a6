/** Reading the text of a program: there is no separate lexer, because what a character means depends on where it stands. */

import type { Expression, Statement } from './syntax.ts'

/** What the parser throws: places become lines and columns once, when nothing has caught it. */
export class Unreadable {
  readonly message: string
  readonly at: number
  /** The program is refused even where a text that does not parse would be literal. */
  readonly isFinal: boolean

  constructor(message: string, at: number, isFinal: boolean) {
    this.message = message
    this.at = at
    this.isFinal = isFinal
  }
}

/** Thrown where others get their turn; what was read until then is kept. */
export class Pause {}

/** Those parts of the grammar that contain all others. */
export interface Grammar {
  expression(scanner: Scanner): Expression
  statements(scanner: Scanner): Statement[]
}

/** UTF-8 bytes of a program (SES-28). */
export const MAX_SOURCE = 256 * 1024

/** Levels of nesting (SES-28). */
export const MAX_NESTING = 500

/** Code units that may be looked through again to find the ends of literals, for each one of the program. */
const SCANS = 8

/** UTF-16 code units of a text that is read without a pause. */
const LONG = 32 * 1024

/** Parts of series that are read between two pauses: some milliseconds. */
const PARTS = 2_048

const SPACE = /(?:[ \t\n\f\r]+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y
const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y

/** Parts of one kind that follow each other, and where reading goes on behind the last one. */
export interface Series<T> {
  readonly items: T[]
  at: number
  /** Where reading has to end. */
  readonly end: number
}

export class Scanner {
  readonly text: string
  at = 0
  /** Where reading ends; inside of literals earlier than the text. */
  end: number
  /** The string that was read last: telling `{ "a": 1 }` from a block reads it before it is needed. */
  latest: { start: number; end: number; string: Expression } | undefined
  #depth = 0
  #scans: number
  readonly #grammar: Grammar
  /** Of a long text: what was read of each series, by its kind and start. */
  readonly #series: Map<string, Series<unknown>> | undefined
  #parts = 0

  constructor(text: string, grammar: Grammar) {
    this.text = text
    this.end = text.length
    this.#scans = text.length * SCANS + 65_536
    this.#grammar = grammar
    this.#series = text.length > LONG ? new Map() : undefined
  }

  /** Goes back to the start; what was read of series is passed over. */
  restart(): void {
    this.at = 0
    this.end = this.text.length
    this.latest = undefined
    this.#depth = 0
    this.#scans = this.text.length * SCANS + 65_536
    this.#parts = 0
  }

  expression(): Expression {
    return this.nested(this.#expression)
  }

  readonly #expression = () => this.#grammar.expression(this)

  statements(): Statement[] {
    return this.nested(() => this.#grammar.statements(this))
  }

  /** A series that begins here: a new one, or what was read of it before a pause. */
  series<T>(kind: string): Series<T> {
    const fresh: Series<T> = { items: [], at: this.at, end: this.end }
    if (!this.#series) return fresh
    const key = `${kind} ${this.at}`
    const before = this.#series.get(key)
    if (before?.end === this.end) {
      this.at = before.at
      return before as Series<T>
    }
    this.#series.set(key, fresh)
    return fresh
  }

  /**
   * Adds the part that ends here to its series.
   *
   * @throws Pause where enough was read for one turn
   */
  add<T>(series: Series<T>, part: T): void {
    series.items.push(part)
    series.at = this.at
    if (this.#series && ++this.#parts > PARTS) throw new Pause()
  }

  fail(message: string, at = this.at): never {
    throw new Unreadable(message, at, false)
  }

  #refuse(message: string, at = this.at): never {
    throw new Unreadable(message, at, true)
  }

  /** @param what such as “an expression” */
  expected(what: string): never {
    this.skipSpace()
    const found = this.at >= this.end ? 'the program ends here' : `unexpected “${this.#sample()}”`
    return this.fail(`${found}, expected ${what}`)
  }

  #sample(): string {
    const word = this.peekMatch(IDENTIFIER)
    return word === undefined ? String.fromCodePoint(this.text.codePointAt(this.at) ?? 0) : word.slice(0, 40)
  }

  /** Runs a part of the parser one level deeper. */
  nested<T>(part: () => T): T {
    if (++this.#depth > MAX_NESTING) this.#refuse(`nested deeper than ${MAX_NESTING} levels`)
    const result = part()
    this.#depth--
    return result
  }

  /** Tries a part of the parser; where it fails, reading is back where it began. */
  attempt<T>(part: () => T): T | undefined {
    const start = this.at
    const depth = this.#depth
    const end = this.end
    try {
      return part()
    } catch (error) {
      if (!(error instanceof Unreadable) || error.isFinal) throw error
      this.at = start
      this.#depth = depth
      this.end = end
      return undefined
    }
  }

  skipSpace(): void {
    const code = this.text.charCodeAt(this.at)
    // White space and `/` alone can begin what is skipped.
    if (code > 0x20 && code !== 0x2f) return
    SPACE.lastIndex = this.at
    SPACE.test(this.text)
    this.at = Math.min(SPACE.lastIndex, this.end)
    if (this.text.startsWith('/*', this.at) && this.at + 1 < this.end) this.fail('the comment has no end')
  }

  /** Whether this text stands here, behind white space. */
  looksAt(text: string): boolean {
    this.skipSpace()
    return this.at + text.length <= this.end && this.text.startsWith(text, this.at)
  }

  /** Takes this text if it stands here. */
  take(text: string): boolean {
    if (!this.looksAt(text)) return false
    this.at += text.length
    return true
  }

  expect(text: string): void {
    if (!this.take(text)) this.expected(`“${text}”`)
  }

  /** The text that a sticky pattern matches right here. */
  peekMatch(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)?.[0]
    if (found === undefined || this.at + found.length <= this.end) return found
    return this.at < this.end ? found.slice(0, this.end - this.at) : undefined
  }

  takeMatch(pattern: RegExp): string | undefined {
    const found = this.peekMatch(pattern)
    if (found !== undefined) this.at += found.length
    return found
  }

  /** The word that stands here, behind white space. */
  peekWord(): string | undefined {
    this.skipSpace()
    const code = this.text.charCodeAt(this.at)
    // Words begin with a letter or an underscore.
    if (!(code >= 97 && code <= 122) && !(code >= 65 && code <= 90) && code !== 95) return undefined
    return this.peekMatch(IDENTIFIER)
  }

  takeWord(word: string): boolean {
    if (this.peekWord() !== word) return false
    this.at += word.length
    return true
  }

  /**
   * The end of a balanced stretch: brackets nest, quoted strings and escaped characters are skipped (SES-15).
   *
   * @param from behind the opening bracket
   * @returns place of the closing bracket; undefined where the text ends before
   */
  closing(from: number, close: ')' | ']' | '}'): number | undefined {
    const expected: string[] = [close]
    const { text } = this
    let at = from
    for (; at < this.end; at++) {
      const character = text.charAt(at)
      if (character === '\\') at++
      else if (character === '"' || character === "'") at = endOfQuoted(text, at, this.end)
      else if (character === '(') expected.push(')')
      else if (character === '[') expected.push(']')
      else if (character === '{') expected.push('}')
      else if (character === expected.at(-1)) {
        expected.pop()
        if (expected.length === 0) break
      } else if (character === ')' || character === ']' || character === '}') break
    }
    this.#scans -= at - from
    if (this.#scans < 0) this.#refuse('literals are nested too deeply', from)
    return at < this.end && expected.length === 0 ? at : undefined
  }
}

/** @returns place of the quotation mark that ends a string, or of the last character */
function endOfQuoted(text: string, from: number, end: number): number {
  const mark = text.charAt(from)
  let at = from + 1
  while (at < end && text.charAt(at) !== mark) at += text.charAt(at) === '\\' ? 2 : 1
  return Math.min(at, end)
}
