/** The tokens of a document (`tokens.ts`), told from its tags as they are written. */

import { wordsOf } from './ascii.ts'
import { LONGEST_NAME } from './limits.ts'
import { isSpace } from './tag-reader.ts'
import { type TagWord, TELLING, tagWord } from './tag-words.ts'
import { ANY_TOKEN, IMPLIED, namesOf, TokenList } from './tokens.ts'

/** Characters that parsers make others of. */
const REREAD = /[&\0\r]/

/** Readings of documents so far. */
let readings = 0

const attributeTokens = (name: string) => namesOf(name).map(each => `[${each}]`)

/** Collects the tokens of a document. */
export class TagTokens {
  readonly #reading = ++readings
  readonly #list = new TokenList()
  #isAnything = false

  constructor() {
    for (const name of IMPLIED) this.#list.put(name)
  }

  /** Adds the name of a start tag. */
  addTag(name: TagWord): void {
    if (name.tagIn === this.#reading) return
    name.tagIn = this.#reading
    name.tagTokens ??= namesOf(name.text)
    this.#putNames(name, name.tagTokens)
  }

  /**
   * Adds an attribute as it is written.
   *
   * @param bytes text in which its value stands, between its quotes, from `start` to `end`
   * @returns false for one that says more than tokens
   */
  addAttribute(name: TagWord, bytes: Buffer, start: number, end: number): boolean {
    if ((name.traits & TELLING) !== 0) return false
    if (name.attributeIn !== this.#reading) {
      name.attributeIn = this.#reading
      name.attributeTokens ??= attributeTokens(name.text)
      this.#putNames(name, name.attributeTokens)
    }
    if (name.lists === undefined) return true
    if (end - start > LONGEST_NAME) this.#isAnything = true
    else if (name.lists === 'classes') this.#putClasses(bytes, start, end)
    else if (name.lists === 'ids') this.#putId(tagWord(bytes, start, end))
    else this.#putTypes(bytes.toString('utf8', start, end))
    return true
  }

  #putNames({ text }: TagWord, tokens: readonly string[]): void {
    if (text.includes('\0')) this.#isAnything = true
    for (const token of tokens) this.#list.put(token)
  }

  #putClasses(bytes: Buffer, start: number, end: number): void {
    for (let at = start; at < end; at++) {
      const from = at
      for (let code = bytes[at] ?? 0; at < end && !isSpace(code); code = bytes[++at] ?? 0)
        // What parsers make of these is not looked up here.
        if (code === 0x26 || code === 0) this.#isAnything = true
      if (at > from) this.#putClass(tagWord(bytes, from, at))
    }
  }

  #putClass(name: TagWord): void {
    if (name.classIn === this.#reading) return
    name.classIn = this.#reading
    this.#list.put((name.classToken ??= `.${name.text.toLowerCase()}`))
  }

  #putId(name: TagWord): void {
    name.idToken ??= REREAD.test(name.text) ? ANY_TOKEN : `#${name.text.toLowerCase()}`
    this.#list.put(name.idToken)
  }

  #putTypes(value: string): void {
    if (REREAD.test(value)) this.#isAnything = true
    else for (const word of wordsOf(value)) this.#list.put(`type:${word}`)
  }

  /** The tokens, each once; `ANY_TOKEN` alone where they are too many, or not known. */
  tokens(): string[] {
    return this.#isAnything ? [ANY_TOKEN] : this.#list.tokens()
  }
}
