/**
 * Words of tags, with what readers of tags have to know of each: names of elements and attributes, classes, ids. There are few,
 * and they come again and again: one that is cut out of its text each time is garbage each time, and is hashed anew by everything
 * that is asked for it.
 */

import { asciiLower } from './ascii.ts'
import { kindOf } from './tokens.ts'

/** It has no content. */
export const VOID = 1
/** What stands in it is text. */
export const TEXT = 2
/** The parser opens it again where it was closed from outside. */
export const FORMATTING = 4
/** Begun inside of itself, it is taken apart. */
export const SINGLE = 8
/** In SVG and MathML it ends it, or is HTML inside of it. */
export const NOT_FOREIGN = 16
/** Everything behind it is read in another way. */
export const UNUSUAL = 32
/** SVG and MathML begin with it. */
export const FOREIGN = 64
/** An attribute that makes an item, binds a prefix, or marks something as transient: it says more than tokens. */
export const TELLING = 128
/** How tags in it are read is told by more than themselves: parsers pass some over, or read HTML in SVG and MathML. */
export const CONDITIONAL = 256
/** Its attributes are given to the one that is there already. */
export const MERGED = 512

const words = (list: string) => list.split(' ')

const TRAITS: readonly (readonly [trait: number, names: readonly string[]])[] = [
  [
    VOID,
    words('area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr'),
  ],
  [TEXT, words('iframe noembed noframes noscript script style textarea title xmp')],
  [FORMATTING, words('a b big code em font i nobr s small strike strong tt u')],
  [SINGLE, words('a nobr')],
  [
    NOT_FOREIGN,
    words(
      'b big blockquote body br center code dd div dl dt em embed font h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta' +
        ' nobr ol p pre ruby s small span strike strong sub sup table tt u ul var',
    ),
  ],
  [UNUSUAL, words('frameset plaintext')],
  [FOREIGN, words('svg math')],
  [TELLING, ['itemscope']],
  [CONDITIONAL, words('select template annotation-xml desc foreignobject mi mn mo ms mtext title')],
  [MERGED, words('html body')],
]

/** Their ends may be left out, and are where another one of the same list begins. */
const OPTIONAL = ['li', 'p', 'dt dd', 'td th', 'tr', 'option', 'thead tbody tfoot'].map(words)

/** Elements that a tag brings along where they are missing around it. */
const BROUGHT = new Map([
  ['td', 2],
  ['th', 2],
  ['tr', 1],
  ['col', 1],
])

/** What elements or attributes of a name are. */
interface Facts {
  traits: number
  /** The same number as all elements that end where one of this name begins; 0 where an end tag is needed. */
  group: number
  /** Elements that its tag brings along. */
  brings: number
}

const FACTS = new Map<string, Facts>()
for (const name of new Set([...TRAITS.flatMap(([, names]) => names), ...OPTIONAL.flat(), ...BROUGHT.keys()]))
  FACTS.set(name, {
    traits: TRAITS.reduce((traits, [trait, names]) => traits | (names.includes(name) ? trait : 0), 0),
    group: OPTIONAL.findIndex(names => names.includes(name)) + 1,
    brings: BROUGHT.get(name) ?? 0,
  })

const NOTHING: Facts = { traits: 0, group: 0, brings: 0 }

/** A word, its letters of ASCII in lower case: parsers tell other letters apart. */
export class TagWord {
  readonly text: string
  readonly traits: Facts['traits']
  readonly group: Facts['group']
  readonly brings: Facts['brings']
  /** What an attribute of that name lists, of what selectors ask for by name. */
  readonly lists: ReturnType<typeof kindOf>
  /** The last reading of a document in which it was seen as each of these. */
  tagIn = 0
  attributeIn = 0
  classIn = 0
  /** The tokens that it makes as each of these, once they were asked for. */
  tagTokens: readonly string[] | undefined = undefined
  attributeTokens: readonly string[] | undefined = undefined
  classToken: string | undefined = undefined
  idToken: string | undefined = undefined

  constructor(text: string) {
    const { traits, group, brings } = FACTS.get(text) ?? NOTHING
    this.text = text
    this.traits = traits | (text.includes('xmlns:') || text.includes(':transient') ? TELLING : 0)
    this.group = group
    this.brings = brings
    this.lists = kindOf(text)
  }

  is(other: TagWord | undefined): boolean {
    return this === other || this.text === other?.text
  }
}

/** A word for each of so many hashes, the last that came with it; a power of two. */
const SLOTS = 1024

/** Bytes of the longest that are kept. */
const LONGEST_SHORT = 32

const known: (TagWord | undefined)[] = new Array(SLOTS).fill(undefined)

/** Each byte, letters of ASCII in lower case. */
const LOWER = Uint8Array.from({ length: 256 }, (_, code) => (code >= 0x41 && code <= 0x5a ? code + 0x20 : code))

/** The word that a stretch of a text in UTF-8 spells. */
export function tagWord(bytes: Buffer, start: number, end: number): TagWord {
  const length = end - start
  let all = length > LONGEST_SHORT ? 0x80 : 0
  let hash = length
  for (let at = start; at < end && all < 0x80; at++) {
    const code = bytes[at] ?? 0
    all |= code
    hash = (Math.imul(hash, 31) + (LOWER[code] ?? 0)) | 0
  }
  if (all >= 0x80) return new TagWord(asciiLower(bytes.toString('utf8', start, end)))
  const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1)
  const last = known[slot]
  if (last !== undefined && last.text.length === length && spells(bytes, start, last.text)) return last
  const word = new TagWord(asciiLower(bytes.toString('latin1', start, end)))
  known[slot] = word
  return word
}

/** Whether bytes spell a word of ASCII. @param text in lower case */
export function spells(bytes: Buffer, start: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (LOWER[bytes[start + i] ?? 0] !== text.charCodeAt(i)) return false
  return true
}
