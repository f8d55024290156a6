/**
 * What a document holds, as far as selectors ask for it by name: a set of tokens, by which documents are left out in which a
 * selector finds nothing. `type:URL` of an item, `#id`, `.class`, `[attribute]`, and names of elements; all but types in lower
 * case, because some documents ignore the case.
 */

import type { ElementNode } from './nodes.ts'

/** Tokens of one document; one that has more is taken to hold anything. */
const MOST_TOKENS = 2_000

/** Characters of all tokens of one document together. */
const MOST_CHARACTERS = 64 * 1024

/** Stands for every token there is. */
export const ANY_TOKEN = '*'

const IMPLIED = 'html head body tbody tr colgroup p br img'.split(' ')

/** Collects the tokens of a document from its elements. */
export class TokenCollector {
  readonly #tags = new Set<string>()
  readonly #attributes = new Set<string>()
  readonly #ids = new Set<string>()
  readonly #classes = new Set<string>()
  readonly #types = new Set<string>()
  #isAnything = false

  add({ tagName, attrs }: ElementNode): void {
    this.#tags.add(tagName)
    // Most elements have none, and a loop over nothing makes garbage all the same.
    if (attrs.length === 0) return
    for (const { name, value } of attrs) {
      this.#attributes.add(name)
      this.#valuesOf(name)?.add(value)
    }
  }

  #valuesOf(attribute: string): Set<string> | undefined {
    switch (attribute) {
      case 'class':
        return this.#classes
      case 'id':
        return this.#ids
      case 'itemtype':
        return this.#types
    }
    return undefined
  }

  /** Adds what parsers put into documents without a tag for it. */
  addImplied(): void {
    for (const name of IMPLIED) this.#tags.add(name)
  }

  /** Adds the name of a start tag, in lower case. */
  addTag(name: string): void {
    if (name.includes('\0')) this.#isAnything = true
    this.#tags.add(name)
  }

  /**
   * Adds an attribute as it is written.
   *
   * @param name as written
   * @param value between its quotes
   */
  addAttribute(name: string, value: string): void {
    const lower = name.toLowerCase()
    this.#attributes.add(lower)
    const values = this.#valuesOf(lower)
    // What parsers make of these is not looked up here.
    if (name.includes('\0') || (values && /[&\0\r]/.test(value))) this.#isAnything = true
    else values?.add(value)
  }

  /** The tokens, each once; `ANY_TOKEN` alone where they are too many. */
  tokens(): string[] {
    const found = new Set<string>()
    let length = 0
    const put = (token: string) => {
      if (token.length > 1) length += token.length
      found.add(token)
    }
    for (const name of this.#tags) for (const each of namesOf(name)) put(each)
    for (const name of this.#attributes) for (const each of namesOf(name)) put(`[${each}]`)
    const listed = this.#tags.size + this.#attributes.size + this.#ids.size + this.#classes.size + this.#types.size
    if (listed > MOST_TOKENS || this.#isAnything) return [ANY_TOKEN]
    for (const id of this.#ids) put(`#${id.toLowerCase()}`)
    for (const value of this.#classes) for (const each of words(value)) put(`.${each.toLowerCase()}`)
    for (const value of this.#types) for (const each of words(value)) put(`type:${each}`)
    return found.size > MOST_TOKENS || length > MOST_CHARACTERS ? [ANY_TOKEN] : [...found]
  }
}

/** A name in lower case, and what stands behind its prefix. */
function namesOf(name: string): string[] {
  const lower = name.toLowerCase()
  const colon = lower.indexOf(':')
  return colon < 0 ? [lower] : [lower, lower.slice(colon + 1)]
}

function words(value: string): string[] {
  return value.split(/[\t\n\f\r ]+/).filter(word => word !== '')
}
