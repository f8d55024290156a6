/**
 * Where elements with prefixes end (COMP-6, COMP-7): found on the tags alone, before a tree is built, since such elements
 * open and close nothing in it.
 */

import { type Token, type TokenHandler, Tokenizer, TokenizerMode } from 'parse5'
import { LONG, puttingInOnePiece } from './long-text.ts'
import { isVoidName } from './serialize-html.ts'
import { Chunks } from './stepped-parser.ts'
import type { Steps } from './steps.ts'
import { endsName } from './tag-reader.ts'

/** Offsets of the end tag of an element; elements without one are empty. */
export interface Extent {
  contentEnd: number
  end: number
}

/** Extents by offset of the start tag. */
export type Extents = ReadonlyMap<number, Extent>

/** The tokenizer's state behind a start tag, where the content is no markup. */
const CONTENT_STATES: ReadonlyMap<string, Tokenizer['state']> = new Map([
  ['script', TokenizerMode.SCRIPT_DATA],
  ['style', TokenizerMode.RAWTEXT],
  ['xmp', TokenizerMode.RAWTEXT],
  ['iframe', TokenizerMode.RAWTEXT],
  ['noembed', TokenizerMode.RAWTEXT],
  ['noframes', TokenizerMode.RAWTEXT],
  ['noscript', TokenizerMode.RAWTEXT],
  ['title', TokenizerMode.RCDATA],
  ['textarea', TokenizerMode.RCDATA],
  ['plaintext', TokenizerMode.PLAINTEXT],
])

/** Brings a tokenizer that nobody builds a tree for into the state that a start tag leads to. */
export function enterContent(tokenizer: Tokenizer, tagName: string): void {
  const state = CONTENT_STATES.get(tagName)
  if (state !== undefined) tokenizer.state = state
}

/**
 * Finds, in steps, the end tags of all elements with prefixes in an HTML text. What is behind the last one is not read.
 *
 * @throws TreeError for a long name
 */
export function* findingExtents(source: string): Steps<Extents> {
  const reader = new ExtentReader()
  const last = yield* findingLastEndTag(source)
  const tokenizer = new Tokenizer({ sourceCodeLocationInfo: true }, reader)
  reader.tokenizer = tokenizer
  if (source.length > LONG) yield* puttingInOnePiece(source)
  for (const chunks = new Chunks(tokenizer, source); !chunks.isOver && reader.passed < last; ) {
    chunks.next(true)
    chunks.settle()
    yield
  }
  return reader.extents
}

const PREFIXED_END = /^<\/[a-z]/i
const SLASH = 0x2f
const COLON = 0x3a

/** Characters that are looked at in one step. */
const LOOKED = 256 * 1024

/**
 * Behind this offset no end tag with a prefix begins; what is there may be no tag. Looked for from the colons, and each
 * character is looked at once; in steps.
 *
 * @returns -1 where there is none
 */
function* findingLastEndTag(source: string): Steps<number> {
  let seen = 0
  for (let colon = source.lastIndexOf(':'); colon > 0; colon = source.lastIndexOf(':', colon - 1)) {
    let at = colon
    do {
      at--
      if (++seen % LOOKED === 0) yield
    } while (at >= 0 && !endsName(source.charCodeAt(at)) && source.charCodeAt(at) !== COLON)
    if (at > 0 && source.charCodeAt(at) === SLASH && PREFIXED_END.test(source.slice(at - 1, at + 2))) return at - 1
  }
  return -1
}

const FOREIGN = new Set(['svg', 'math'])

class ExtentReader implements TokenHandler {
  readonly extents = new Map<number, Extent>()
  tokenizer: Tokenizer | undefined
  /** Where the last tag begins that was read. */
  passed = -1
  readonly #open: { name: string; start: number }[] = []
  readonly #counts = new Map<string, number>()
  #foreign = 0

  onStartTag({ tagName, selfClosing, location }: Token.TagToken): void {
    this.passed = location?.startOffset ?? this.passed
    const isPrefixed = tagName.includes(':')
    if (isVoidName(tagName) || (selfClosing && (isPrefixed || this.#foreign > 0))) return
    if (this.#foreign === 0 && this.tokenizer) enterContent(this.tokenizer, tagName)
    this.#open.push({ name: tagName, start: location?.startOffset ?? 0 })
    this.#counts.set(tagName, (this.#counts.get(tagName) ?? 0) + 1)
    if (FOREIGN.has(tagName)) this.#foreign++
  }

  onEndTag({ tagName, location }: Token.TagToken): void {
    this.passed = location?.startOffset ?? this.passed
    if (!this.#counts.get(tagName)) return
    for (let last = this.#open.pop(); last; last = this.#open.pop()) {
      this.#counts.set(last.name, (this.#counts.get(last.name) ?? 1) - 1)
      if (FOREIGN.has(last.name)) this.#foreign--
      if (last.name !== tagName) continue
      if (tagName.includes(':') && location)
        this.extents.set(last.start, { contentEnd: location.startOffset, end: location.endOffset })
      return
    }
  }

  onComment(): void {}
  onDoctype(): void {}
  onEof(): void {}
  onCharacter(): void {}
  onNullCharacter(): void {}
  onWhitespaceCharacter(): void {}
}
