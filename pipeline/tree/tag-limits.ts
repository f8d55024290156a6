/**
 * Whether an HTML text surely stays within the limits of trees, told from its tags alone, at a tenth of what parsing costs;
 * tags that close each other in an unusual order are left to the parser.
 */

import { MAX_ATTRIBUTES, MAX_NODES } from './limits.ts'
import type { Steps } from './steps.ts'
import { beginsName, endsName, LONGEST, seek, TagReader } from './tag-reader.ts'
import type { TagTokens } from './tag-tokens.ts'
import {
  CONDITIONAL,
  FOREIGN,
  FORMATTING,
  MERGED,
  NOT_FOREIGN,
  SINGLE,
  spells,
  type TagWord,
  TEXT,
  UNUSUAL,
  VOID,
} from './tag-words.ts'

/**
 * Elements in a document of `length` characters. A start tag has three characters at least, so only documents come near
 * whose unclosed formatting elements the HTML parser copies into every paragraph (`<p><b><i>…</p><p>x</p><p>x`).
 */
export function maxElements(length: number): number {
  return length / 2 + 4_096
}

/**
 * UTF-16 code units that attributes of copied formatting elements may take in a document of `length` characters. Each copy
 * has them all: ten attributes of 10,000 characters, in 5,000 paragraphs, are 50,000 small nodes, and 500 MB as markup.
 */
function maxCopied(length: number): number {
  return Math.min(256 * 1024 + 8 * length, 16 * 1024 * 1024)
}

/** What the same of all elements may take: those that are written take no more than the document. */
export function maxAttributeText(length: number): number {
  return length + maxCopied(length)
}

/** Tags in each other. A parser adds elements that are implied, and misnested ones: far from `MAX_DEPTH` even so. */
const DEEPEST = 100

/** Elements that every document has: `html`, `head`, `body`. */
const SHELL = 3

/** Tags, and what looks like one, that are looked at in one step. */
const TAGS_PER_STEP = 1_000

/** Bytes that are read in one step, but for the tag that ends it. */
const WINDOW = 512 * 1024

/**
 * In steps.
 *
 * @param source a whole document, in UTF-8 without byte order mark
 * @param length of its text, in UTF-16 code units
 * @param tokens is given every tag
 * @returns true only where `parseHtml` throws nothing, and the tags say nothing but tokens
 */
export function* provingWithinLimits(source: Uint8Array, length: number, tokens?: TagTokens): Steps<boolean> {
  const proof = new Proof(Buffer.from(source.buffer, source.byteOffset, source.length), length, tokens)
  for (;;) {
    const found = proof.step()
    if (found !== undefined) return found
    yield
  }
}

/** An element that is open, as far as its tags say. */
interface Open {
  name: TagWord
  /** What is copied each time that the parser opens it again. */
  weight: number
  /** The length of it, at most. */
  length: number
  isForeign: boolean
  /** Not every tag in it is read as its name says. */
  isConditional: boolean
}

class Proof {
  readonly #bytes: Buffer
  readonly #tokens: TagTokens | undefined
  readonly #tag: TagReader
  readonly #most: number
  readonly #mostCopied: number
  /** As many of them as `#depth` says are open; the others are for those that come. */
  readonly #open: Open[] = []
  #depth = 0
  #at = 0
  #elements = SHELL
  #attributes = 0
  /** Of `html` and `body`. */
  #merged = 0
  /** Texts and comments, at most. */
  #leaves = 0
  /** What the parser may have to open again, together. */
  #reopened = 0
  #reopenedLength = 0
  /** Length of what it may have opened again so far. */
  #copied = 0

  constructor(bytes: Buffer, length: number, tokens: TagTokens | undefined) {
    this.#bytes = bytes
    this.#tokens = tokens
    this.#tag = new TagReader(bytes)
    this.#most = maxElements(length)
    this.#mostCopied = maxCopied(length)
  }

  /** @returns undefined when there is more to read */
  step(): boolean | undefined {
    const bytes = this.#bytes
    const end = Math.min(bytes.length, this.#at + WINDOW)
    for (let seen = 0; seen < TAGS_PER_STEP && this.#at < end; seen++) {
      const at = seek(bytes, 0x3c, this.#at, end)
      if (at < 0) {
        this.#at = end
        return end === bytes.length ? true : undefined
      }
      if (!this.#readAt(at)) return false
    }
    return this.#at < bytes.length ? undefined : true
  }

  /** @param at place of a `<` */
  #readAt(at: number): boolean {
    const bytes = this.#bytes
    const next = bytes[at + 1] ?? 0
    if (next === 0x21 || next === 0x3f) return this.#passComment(endOfDeclaration(bytes, at))
    const isEnd = next === 0x2f
    const start = at + (isEnd ? 2 : 1)
    if (start < bytes.length && beginsName(bytes[start] ?? 0)) return this.#readTag(start, isEnd)
    // `</` without a name begins a comment.
    return isEnd ? this.#passComment(seek(bytes, 0x3e, start) + 1 || -1) : this.#goOn(start)
  }

  /** @param at where the next tag is looked for; negative where that is not known */
  #goOn(at: number): boolean {
    this.#at = at
    return at >= 0
  }

  /** @param end as in `#goOn`; a text may stand there */
  #passComment(end: number): boolean {
    this.#leaves += 2
    return this.#hasRoom() && this.#goOn(end)
  }

  #hasRoom(): boolean {
    if (this.#elements > this.#most || this.#copied > this.#mostCopied) return false
    return this.#elements + this.#attributes + this.#leaves <= MAX_NODES
  }

  #readTag(start: number, isEnd: boolean): boolean {
    const tag = this.#tag
    if (!tag.read(start, isEnd ? undefined : this.#tokens)) return false
    const { traits } = tag.name
    this.#at = tag.end
    this.#leaves += (traits & TEXT) !== 0 ? 2 : 1
    // An end tag may stand for an empty `p`, and text behind it opens again what was closed.
    this.#elements += 1 + (isEnd ? 0 : tag.name.brings) + this.#reopened
    this.#attributes += tag.attributes
    this.#copied += this.#reopenedLength
    if ((traits & MERGED) !== 0) this.#merged += tag.attributes
    if (!this.#hasRoom() || tag.attributes >= MAX_ATTRIBUTES || this.#merged >= MAX_ATTRIBUTES) return false
    if ((traits & UNUSUAL) !== 0) return false
    return isEnd ? this.#endElement(tag.name) : this.#beginElement(tag, start)
  }

  #endElement(name: TagWord): boolean {
    for (let top = this.#top(); !top?.name.is(name); top = this.#top()) {
      if (!top || top.name.group === 0) return false
      this.#close(top)
    }
    this.#close(this.#top())
    return true
  }

  #beginElement({ name, isClosed, attributes, end }: TagReader, start: number): boolean {
    const { traits } = name
    const top = this.#top()
    const isForeign = (traits & FOREIGN) !== 0 || top?.isForeign === true
    const isConditional = top?.isConditional === true
    if (isForeign && (traits & NOT_FOREIGN) !== 0) return false
    if (isForeign ? isClosed : (traits & VOID) !== 0) return !isForeign || !isConditional
    if ((traits & TEXT) !== 0)
      return this.#goOn(endOfText(this.#bytes, this.#at, this.#tag, isForeign || isConditional))
    if ((traits & SINGLE) !== 0 && this.#isOpen(name)) return false
    if (top && !isForeign && name.group !== 0 && name.group === top.name.group) this.#close(top)
    const isCopied = (traits & FORMATTING) !== 0
    return this.#push({
      name,
      weight: isCopied ? 1 + attributes : 0,
      length: isCopied && attributes > 0 ? end - start : 0,
      isForeign,
      isConditional: isConditional || (traits & CONDITIONAL) !== 0,
    })
  }

  #top(): Open | undefined {
    return this.#depth > 0 ? this.#open[this.#depth - 1] : undefined
  }

  #isOpen(name: TagWord): boolean {
    for (let i = 0; i < this.#depth; i++) if (this.#open[i]?.name.is(name)) return true
    return false
  }

  #push(open: Open): boolean {
    const last = this.#open[this.#depth++]
    if (last) {
      last.name = open.name
      last.weight = open.weight
      last.length = open.length
      last.isForeign = open.isForeign
      last.isConditional = open.isConditional
    } else this.#open.push(open)
    this.#reopened += open.weight
    this.#reopenedLength += open.length
    return this.#depth <= DEEPEST
  }

  #close(top: Open | undefined): void {
    if (!top) return
    this.#depth--
    this.#reopened -= top.weight
    this.#reopenedLength -= top.length
  }
}

/** Behind a comment, a doctype or `<?`; -1 for what is long or ends in an unusual way, and for CDATA, which depends on the place. */
function endOfDeclaration(bytes: Buffer, start: number): number {
  const begin = bytes.toString('latin1', start, start + 9)
  if (begin === '<![CDATA[') return -1
  if (!begin.startsWith('<!--')) return seek(bytes, 0x3e, start) + 1 || -1
  // One that is longer than a step is read by the parser, which can be left within it.
  const comment = bytes.subarray(start + 4, start + WINDOW)
  const end = comment.indexOf('-->')
  if (end < 0 || begin[4] === '>' || begin.startsWith('->', 4)) return -1
  return comment.subarray(0, end).includes('--!>') ? -1 : start + 4 + end + 3
}

/**
 * Behind the end tag of an element whose content is text; -1 where it might end elsewhere.
 *
 * @param mayHoldElements as in SVG, or where parsers may pass its start tag over
 */
function endOfText(bytes: Buffer, start: number, tag: TagReader, mayHoldElements: boolean): number {
  const { text } = tag.name
  let seen = 0
  for (let at = seek(bytes, 0x3c, start); at >= 0 && ++seen < LONGEST; at = seek(bytes, 0x3c, at + 1)) {
    const after = at + 2 + text.length
    if (after < bytes.length && bytes[at + 1] === 0x2f && spells(bytes, at + 2, text)) {
      const code = bytes[after] ?? 0
      if (code === 0x3e) return after + 1
      if (endsName(code)) return tag.read(at + 2) ? tag.end : -1
    }
    // In a script, a comment can hide the end tag.
    if (mayHoldElements || (text === 'script' && isComment(bytes, at))) return -1
  }
  return -1
}

/** Whether a `<` begins what is `<!--` outside of texts. */
function isComment(bytes: Buffer, at: number): boolean {
  return bytes[at + 1] === 0x21 && bytes[at + 2] === 0x2d && bytes[at + 3] === 0x2d
}
