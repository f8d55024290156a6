/**
 * Lookups inside the selector of a rule (LOOK-7): a value is placed so that it cannot change the selector's structure.
 * Inside a quoted string it is escaped as string content, elsewhere as an identifier.
 */

import { escapeIdentifier } from '../tree/address.ts'
import type { Part } from './lookup.ts'

/** Text as written, or a lookup with the way its value is escaped. */
export type TemplatePart = string | { lookup: string; escape: (value: string) => string }

/**
 * Prepares a selector with lookups.
 *
 * @returns undefined where no escaping could keep the value in its place: directly after a backslash, or after a slash
 *   that could begin a comment. Such a selector is treated as one that does not parse (RULE-10).
 */
export function selectorTemplate(parts: readonly Part[]): TemplatePart[] | undefined {
  const template: TemplatePart[] = []
  const scanner = new Scanner()
  for (const part of parts) {
    if (typeof part === 'string') {
      for (const character of part) scanner.read(character)
      template.push(part)
      continue
    }
    if (scanner.afterBackslash || scanner.afterSlash) return undefined
    // White space ends a hexadecimal escape, which would otherwise take in the first characters of the value.
    if (scanner.inHexEscape) template.push(' ')
    template.push({ lookup: part.lookup, escape: scanner.escape })
    scanner.skip()
  }
  return template
}

/** The selector's text for a request. */
export function renderSelector(template: readonly TemplatePart[], value: (lookup: string) => string): string {
  return template.map(part => (typeof part === 'string' ? part : part.escape(value(part.lookup)))).join('')
}

/** Follows strings, comments and escapes of a selector, as far as a place in it must be known. */
class Scanner {
  #within: 'text' | 'comment' | '"' | "'" = 'text'
  /** The character before, where it could begin or end a comment or a line break. */
  #last = ''
  /** Digits of the escape that ends here, 0 directly after its backslash; undefined outside escapes. */
  #digits: number | undefined

  get afterBackslash(): boolean {
    return this.#digits === 0
  }

  get afterSlash(): boolean {
    return this.#within === 'text' && this.#last === '/'
  }

  get inHexEscape(): boolean {
    return this.#digits !== undefined && this.#digits > 0
  }

  get escape(): (value: string) => string {
    if (this.#within === 'text') return escapeIdentifier
    return this.#within === 'comment' ? () => '' : escapeString
  }

  read(character: string): void {
    const last = this.#last
    if (last === '\r' && character === '\n') return
    this.#last = character
    if (this.#within === 'comment') {
      if (last === '*' && character === '/') this.#enter('text')
    } else if (this.#digits === undefined || this.#endsEscape(this.#digits, character)) {
      if (character === '\\') this.#digits = 0
      else if (this.#within !== 'text') {
        if (character === this.#within || /[\n\r\f]/.test(character)) this.#enter('text')
      } else if (character === '"' || character === "'") this.#enter(character)
      else if (last === '/' && character === '*') this.#enter('comment')
    }
  }

  /** Whether a character stands behind the escape before it, rather than belonging to it. */
  #endsEscape(digits: number, character: string): boolean {
    const hex = digits < 6 && /[0-9a-f]/i.test(character)
    this.#digits = hex ? digits + 1 : undefined
    const belongs = hex || digits === 0 || /[ \t\n\r\f]/.test(character)
    if (belongs && character !== '\r') this.#last = ''
    return !belongs
  }

  #enter(within: 'text' | 'comment' | '"' | "'"): void {
    this.#within = within
    this.#last = ''
  }

  /** A value stands here. Inside a comment nothing is put there, so its end may be written around it. */
  skip(): void {
    if (this.#within === 'comment') return
    this.#last = ''
    this.#digits = undefined
  }
}

/** CSS string content: quotes, backslashes and line ends escaped. */
function escapeString(value: string): string {
  return value.replace(/["'\\\n\r\f\0]/g, character => {
    if (character === '\0') return '\ufffd'
    return /["'\\]/.test(character) ? `\\${character}` : `\\${character.charCodeAt(0).toString(16)} `
  })
}
