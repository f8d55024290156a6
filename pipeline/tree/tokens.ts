/**
 * What a document holds, as far as selectors ask for it by name: a set of tokens, by which documents are left out in which a
 * selector finds nothing. `type:URL` of an item, `#id`, `.class`, `[attribute]`, and names of elements; all but types in lower
 * case, because some documents ignore the case.
 */

import { wordsOf } from './ascii.ts'
import { LONGEST_NAME } from './limits.ts'
import type { ElementNode } from './nodes.ts'

/** Tokens of one document; one that has more is taken to hold anything. */
const MOST_TOKENS = 2_000

/** Characters of all tokens of one document together. */
const MOST_CHARACTERS = 64 * 1024

/** Stands for every token there is. */
export const ANY_TOKEN = '*'

/** Elements that a parser may make although no tag is written: who reads tags alone takes all of them to be there. */
export const IMPLIED = 'html head body tbody tr colgroup p br img'.split(' ')

/** Whether two lists of tokens may be of one document, one from its tree and one from its tags. */
export function mayBeOfOne(some: readonly string[], others: readonly string[]): boolean {
  if (some.includes(ANY_TOKEN) || others.includes(ANY_TOKEN)) return true
  const rest = (list: readonly string[]) => new Set(list.filter(token => !IMPLIED.includes(token)))
  const [one, other] = [rest(some), rest(others)]
  return one.size === other.size && [...one].every(token => other.has(token))
}

/** What the elements of a document say, from which its tokens are made. */
interface Said {
  tags: Listed
  attributes: Listed
  ids: Listed
  classes: Listed
  types: Listed
}

/** Strings, each once. */
type Listed = Pick<ReadonlyMap<string, unknown>, 'size' | 'keys'>

/** Tokens of a document as they are found. */
export class TokenList {
  readonly #found = new Set<string>()
  #length = 0
  #isAnything = false

  put(token: string): void {
    if (this.#isAnything || this.#found.has(token)) return
    this.#found.add(token)
    this.#length += token.length
    this.#isAnything = token === ANY_TOKEN || this.#found.size > MOST_TOKENS || this.#length > MOST_CHARACTERS
  }

  /** The tokens, each once; `ANY_TOKEN` alone where they are too many. */
  tokens(): string[] {
    return this.#isAnything ? [ANY_TOKEN] : [...this.#found]
  }
}

/** The tokens, each once; `ANY_TOKEN` alone where they are too many. */
function tokensOf({ tags, attributes, ids, classes, types }: Said): string[] {
  if (tags.size + attributes.size + ids.size + classes.size + types.size > MOST_TOKENS) return [ANY_TOKEN]
  const list = new TokenList()
  for (const name of tags.keys()) for (const each of namesOf(name)) list.put(each)
  for (const name of attributes.keys()) for (const each of namesOf(name)) list.put(`[${each}]`)
  for (const id of ids.keys()) list.put(`#${id.toLowerCase()}`)
  for (const value of classes.keys()) for (const each of wordsOf(value)) list.put(`.${each.toLowerCase()}`)
  for (const value of types.keys()) for (const each of wordsOf(value)) list.put(`type:${each}`)
  return list.tokens()
}

/** Counts what the elements of a document say, so that its tokens are known again when some of them come or go. */
export class TokenCounts {
  /** Values that are too long to be counted. */
  #long = 0
  readonly #said = {
    tags: new Map<string, number>(),
    attributes: new Map<string, number>(),
    ids: new Map<string, number>(),
    classes: new Map<string, number>(),
    types: new Map<string, number>(),
  }

  add(element: ElementNode): void {
    this.#count(element, 1)
  }

  /** Takes an element back that was added. */
  remove(element: ElementNode): void {
    this.#count(element, -1)
  }

  #count({ tagName, attrs }: ElementNode, by: number): void {
    const { tags, attributes } = this.#said
    change(tags, tagName, by)
    if (attrs.length === 0) return
    for (const { name, value } of attrs) {
      change(attributes, name, by)
      const kind = kindOf(name)
      if (!kind) continue
      // As long as no name may be, for the same reason.
      if (value.length > LONGEST_NAME) this.#long += by
      else change(this.#said[kind], value, by)
    }
  }

  /** As those of TokenCollector. */
  tokens(): string[] {
    return this.#long > 0 ? [ANY_TOKEN] : tokensOf(this.#said)
  }
}

/** What an attribute's value lists, of what selectors ask for by name. */
export function kindOf(attribute: string): 'ids' | 'classes' | 'types' | undefined {
  switch (attribute) {
    case 'class':
      return 'classes'
    case 'id':
      return 'ids'
    case 'itemtype':
      return 'types'
  }
  return undefined
}

function change(counts: Map<string, number>, text: string, by: number): void {
  const count = (counts.get(text) ?? 0) + by
  if (count === 0) counts.delete(text)
  else counts.set(text, count)
}

/** Collects the tokens of a document from its elements. */
export class TokenCollector {
  readonly #said = {
    tags: new Set<string>(),
    attributes: new Set<string>(),
    ids: new Set<string>(),
    classes: new Set<string>(),
    types: new Set<string>(),
  }
  #isAnything = false

  add({ tagName, attrs }: ElementNode): void {
    this.#said.tags.add(tagName)
    // Most elements have none, and a loop over nothing makes garbage all the same.
    if (attrs.length === 0) return
    for (const { name, value } of attrs) {
      this.#said.attributes.add(name)
      const values = this.#valuesOf(name)
      if (values && value.length > LONGEST_NAME) this.#isAnything = true
      else values?.add(value)
    }
  }

  #valuesOf(attribute: string): Set<string> | undefined {
    const kind = kindOf(attribute)
    return kind && this.#said[kind]
  }

  /** The tokens, each once; `ANY_TOKEN` alone where they are too many. */
  tokens(): string[] {
    if (this.#isAnything) return [ANY_TOKEN]
    return tokensOf(this.#said)
  }
}

/** Tokens of one element; some may come more than once. */
export function* tokensIn({ tagName, attrs }: ElementNode): Iterable<string> {
  yield* namesOf(tagName)
  for (const { name, value } of attrs) {
    for (const each of namesOf(name)) yield `[${each}]`
    const kind = kindOf(name)
    if (kind === 'ids') yield `#${value.toLowerCase()}`
    else if (kind === 'classes') for (const each of wordsOf(value)) yield `.${each.toLowerCase()}`
    else if (kind === 'types') for (const each of wordsOf(value)) yield `type:${each}`
  }
}

/** A name in lower case, and what stands behind its prefix. */
export function namesOf(name: string): string[] {
  const lower = name.toLowerCase()
  const colon = name.indexOf(':')
  // Not cut from the whole: a capital sigma becomes another letter behind letters and a colon than by itself.
  return colon < 0 ? [lower] : [lower, name.slice(colon + 1).toLowerCase()]
}
