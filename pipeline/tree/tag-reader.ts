/** Tags of HTML in bytes, read as the tokenizer of the standard reads them: everything that they are made of is ASCII. */

import { isNaming, LONGEST_NAME } from './limits.ts'
import type { TagTokens } from './tag-tokens.ts'
import { TagWord, tagWord } from './tag-words.ts'

/** Bytes of a tag without long values, and characters `<` in the text of an element, that are read in one step; the parser rests. */
export const LONGEST = 64 * 1024

/** Bytes that are looked at one by one before a longer search is begun. */
const NEAR = 64

const SPACE = 1
/** Ends the name of an element. */
const AFTER_NAME = 2
/** Ends the name of an attribute. */
const AFTER_ATTRIBUTE = 4
const LETTER = 8

/** What each byte is to a tag. */
const KINDS = Uint8Array.from({ length: 256 }, (_, code) => {
  const character = String.fromCharCode(code)
  if ('\t\n\f\r '.includes(character)) return SPACE | AFTER_NAME | AFTER_ATTRIBUTE
  if ('/>'.includes(character)) return AFTER_NAME | AFTER_ATTRIBUTE
  if (character === '=') return AFTER_ATTRIBUTE
  return /[a-z]/i.test(character) ? LETTER : 0
})

function isA(kind: number, code: number): boolean {
  return ((KINDS[code] ?? 0) & kind) !== 0
}

/** Whether the name of a tag begins with a byte. */
export function beginsName(code: number): boolean {
  return isA(LETTER, code)
}

/** Whether the name of a tag ends before a byte. */
export function endsName(code: number): boolean {
  return isA(AFTER_NAME, code)
}

export function isSpace(code: number): boolean {
  return isA(SPACE, code)
}

/**
 * Where a byte of ASCII is next; negative when nowhere.
 *
 * @param end where the search ends
 */
export function seek(bytes: Buffer, code: number, from: number, end = bytes.length): number {
  const near = Math.min(from + NEAR, end)
  for (let at = from; at < near; at++) if (bytes[at] === code) return at
  if (near >= end) return -1
  return (end === bytes.length ? bytes : bytes.subarray(0, end)).indexOf(code, near)
}

/**
 * Holds what it has read last: a page has some hundred tags, and what each leaves behind for the collector would cost more than
 * to read it.
 */
export class TagReader {
  readonly #bytes: Buffer
  name = new TagWord('')
  /** Behind the `>`. */
  end = 0
  attributes = 0
  /** `/>` */
  isClosed = false
  /** Where the attribute ends that was read last, and how much of it is a quoted value. */
  #attributeEnd = 0
  #quoted = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /**
   * @param start of its name
   * @param tokens is given the name and the attributes
   * @returns false when the text ends, the tag is very long, or says more than tokens
   */
  read(start: number, tokens?: TagTokens): boolean {
    const bytes = this.#bytes
    let at = start
    let most = Math.min(bytes.length, start + LONGEST)
    while (!isA(AFTER_NAME, bytes[at] ?? 0)) if (++at >= most) return false
    if (at - start > LONGEST_NAME) return false
    this.name = tagWord(bytes, start, at)
    this.attributes = 0
    this.isClosed = false
    tokens?.addTag(this.name)
    while (at < most) {
      const code = bytes[at] ?? 0
      if (code === 0x3e) {
        this.end = at + 1
        return true
      }
      this.isClosed = code === 0x2f
      if (this.isClosed || isSpace(code)) {
        at++
        continue
      }
      this.attributes++
      if (!this.#readAttribute(at, most, tokens)) return false
      at = this.#attributeEnd
      most = Math.min(bytes.length, most + this.#quoted)
    }
    return false
  }

  /**
   * @param start first character of its name, which may be `=`
   * @param most where to give up, unless a quoted value reaches further
   * @returns false when the text ends, it is very long, or says more than tokens
   */
  #readAttribute(start: number, most: number, tokens: TagTokens | undefined): boolean {
    const bytes = this.#bytes
    let at = start + 1
    while (at < most && !isA(AFTER_ATTRIBUTE, bytes[at] ?? 0)) at++
    if (at - start > LONGEST_NAME) return false
    const name = tagWord(bytes, start, at)
    this.#quoted = 0
    while (at < most && isSpace(bytes[at] ?? 0)) at++
    this.#attributeEnd = at
    if (at >= most) return false
    if (bytes[at] !== 0x3d) return tokens?.addAttribute(name, bytes, at, at) !== false
    do at++
    while (at < most && isA(SPACE, bytes[at] ?? 0))
    const first = at < most ? bytes[at] : undefined
    if (first === 0x22 || first === 0x27) {
      const quote = seek(bytes, first, at + 1)
      if (quote < 0) return false
      this.#attributeEnd = quote + 1
      // Words are looked at one by one.
      if (name.lists === undefined) this.#quoted = quote - at
      return this.#take(name, at + 1, quote, tokens)
    }
    const from = at
    while (at < most && bytes[at] !== 0x3e && !isSpace(bytes[at] ?? 0)) at++
    this.#attributeEnd = at
    return at < most && this.#take(name, from, at, tokens)
  }

  /** A value; one that may be refused for the length of the names in it is left to the parser. */
  #take(name: TagWord, start: number, end: number, tokens: TagTokens | undefined): boolean {
    if (end - start > LONGEST_NAME && isNaming(name.text)) return false
    return tokens?.addAttribute(name, this.#bytes, start, end) !== false
  }
}
