/**
 * Where elements with prefixes end (COMP-6, COMP-7): found on the tags alone, before a tree is built, since such elements
 * open and close nothing in it.
 */

import { foreignContent, html, type Token, type TokenHandler, Tokenizer, TokenizerMode } from 'parse5'
import { asciiLower } from './ascii.ts'
import { LONG, puttingInOnePiece } from './long-text.ts'
import { type ElementNode, HTML_NAMESPACE } from './nodes.ts'
import { FOREIGN, HTML_AGAIN, isOfHtml } from './raw-text.ts'
import { isVoidName } from './serialize-html.ts'
import { Chunks } from './stepped-parser.ts'
import type { Steps } from './steps.ts'
import { endsName } from './tag-reader.ts'

/** Offsets of the end tag of an element; elements without one are empty. */
export interface Extent {
  contentEnd: number
  end: number
}

/** What is known of the tags of a text, by the offset of the start tag. */
export interface Extents {
  extents: ReadonlyMap<number, Extent>
  /** Of those whose content is no markup. */
  unmarked: ReadonlySet<number>
}

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

/**
 * Brings a tokenizer that nobody builds a tree for into the state that a start tag of HTML leads to.
 *
 * @returns whether that is another one
 */
export function enterContent(tokenizer: Tokenizer, tagName: string): boolean {
  const state = CONTENT_STATES.get(tagName)
  if (state !== undefined) tokenizer.state = state
  return state !== undefined
}

/**
 * Finds, in steps, the end tags of all elements with prefixes in an HTML text. What is behind the last one is not read.
 *
 * @param around what the text is the content of
 * @throws TreeError for a long name
 */
export function* findingExtents(source: string, around?: ElementNode): Steps<Extents> {
  const reader = new ExtentReader(
    !around || around.namespaceURI === HTML_NAMESPACE || HTML_AGAIN.has(asciiLower(around.tagName)),
  )
  const last = yield* findingLastEndTag(source)
  const tokenizer = new Tokenizer({ sourceCodeLocationInfo: true }, reader)
  reader.tokenizer = tokenizer
  if (source.length > LONG) yield* puttingInOnePiece(source)
  for (const chunks = new Chunks(tokenizer, source); !chunks.isOver && reader.passed < last; ) {
    chunks.next(true)
    chunks.settle()
    yield
  }
  return reader
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

/** An element that is open. */
interface Open {
  name: string
  start: number
  /** Of SVG or MathML. */
  isForeign: boolean
  holdsHtml: boolean
  /** Places of the innermost ones so far: of SVG or MathML with HTML in it, of HTML, and of those that HTML has rules of their own for. */
  integration: number
  html: number
  special: number
}

/** Around the first. */
const NOTHING = { integration: -1, html: -1, special: -1 }

/** Whether HTML's parser has rules of its own for an element. */
export function isSpecial(tagName: string): boolean {
  return html.SPECIAL_ELEMENTS[html.NS.HTML].has(html.getTagID(tagName))
}

class ExtentReader implements TokenHandler, Extents {
  readonly extents = new Map<number, Extent>()
  readonly unmarked = new Set<number>()
  tokenizer: Tokenizer | undefined
  /** Where the last tag begins that was read. */
  passed = -1
  readonly #open: Open[] = []
  /** Places in it, by name. */
  readonly #places = new Map<string, number[]>()
  readonly #inHtml: boolean

  constructor(inHtml: boolean) {
    this.#inHtml = inHtml
  }

  onStartTag(tag: Token.TagToken): void {
    const { tagName, selfClosing, location } = tag
    this.passed = location?.startOffset ?? this.passed
    const start = location?.startOffset ?? 0
    const isPrefixed = tagName.includes(':')
    const isLeaving = foreignContent.causesExit(tag)
    if (isLeaving) this.#leaveForeign()
    const isForeign = FOREIGN.has(tagName) || !(this.#holdsHtml || isLeaving)
    if (isVoidName(tagName) || (selfClosing && (isPrefixed || isForeign))) return
    if (!isForeign && this.tokenizer && enterContent(this.tokenizer, tagName)) this.unmarked.add(start)
    const isIntegration = tagName === 'annotation-xml' ? isOfHtml(tag) : HTML_AGAIN.has(tagName)
    const at = this.#open.length
    const around = this.#open.at(-1) ?? NOTHING
    this.#open.push({
      name: tagName,
      start,
      isForeign,
      holdsHtml: !isForeign || isIntegration,
      integration: isForeign && isIntegration ? at : around.integration,
      html: isForeign ? around.html : at,
      special: !isForeign && isSpecial(tagName) ? at : around.special,
    })
    const places = this.#places.get(tagName)
    if (places) places.push(at)
    else this.#places.set(tagName, [at])
  }

  onEndTag({ tagName, location }: Token.TagToken): void {
    this.passed = location?.startOffset ?? this.passed
    if (tagName === 'p' || tagName === 'br') this.#leaveForeign()
    if (!this.#isEnd(tagName)) return
    for (let last = this.#pop(); last; last = this.#pop()) {
      if (last.name !== tagName) continue
      if (tagName.includes(':') && location)
        this.extents.set(last.start, { contentEnd: location.startOffset, end: location.endOffset })
      return
    }
  }

  /**
   * Whether an end tag ends an element: where SVG or MathML holds HTML, it ends none of HTML around that, and what holds it only
   * where nothing stands in between of which HTML knows more than the name, such as a `div`.
   */
  #isEnd(tagName: string): boolean {
    const at = this.#places.get(tagName)?.at(-1)
    const last = this.#open.at(-1)
    if (at === undefined || !last || tagName.includes(':')) return at !== undefined
    const isBeyond = last.integration > at
    return this.#open[at]?.isForeign ? last.special <= at && !(isBeyond && last.html > at) : !isBeyond
  }

  get #holdsHtml(): boolean {
    return this.#open.at(-1)?.holdsHtml ?? this.#inHtml
  }

  #leaveForeign(): void {
    for (let last = this.#open.at(-1); last && !last.holdsHtml && !last.name.includes(':'); last = this.#open.at(-1))
      this.#pop()
  }

  #pop(): { name: string; start: number } | undefined {
    const last = this.#open.pop()
    if (last) this.#places.get(last.name)?.pop()
    return last
  }

  onComment(): void {}
  onDoctype(): void {}
  onEof(): void {}
  onCharacter(): void {}
  onNullCharacter(): void {}
  onWhitespaceCharacter(): void {}
}
