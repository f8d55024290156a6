/** The HTML parser, in steps: it can be left after every few tokens, and within long ones. */

import { html, Parser, Token, type Tokenizer, type TreeAdapterTypeMap } from 'parse5'
import { isBlank } from './ascii.ts'
import { checkName } from './limits.ts'
import { inOnePiece, keepingTogether, LONG, puttingInOnePiece } from './long-text.ts'
import type { Steps } from './steps.ts'

/** UTF-16 code units that the parser is given at a time: one tag or comment can be as long as the document. */
const CHUNK = 32 * 1024

/** Tokens between two steps. A token of the worst kind costs as much as there are open elements. */
const TOKENS_PER_STEP = 64

/** UTF-16 code units of a text that may have come together of as many pieces. */
const LONG_TOKEN = 1024

/** Code units that were left out of what was read last: the tokenizer steps back over a few at most. */
const GAPS = 1024

/** Forgets where code units were left out long ago: a token of lines that end with CR LF would make millions of places. */
function dropGaps(preprocessor: object): void {
  const { gapStack } = preprocessor as { gapStack: number[] }
  if (gapStack.length > GAPS) gapStack.splice(0, gapStack.length - GAPS)
}

/** Values up to this length stay in the pieces that they came in. */
const FEW = 64

/** Puts what is not short into one piece. */
export function joinValues(attributes: readonly Token.Attribute[]): void {
  for (const { value } of attributes) if (value.length > FEW) inOnePiece(value)
}

type Doctype = Pick<Token.DoctypeToken, 'name' | 'publicId' | 'systemId'>

/** What a tokenizer holds of a token that it has not read to its end. */
interface Reading {
  currentToken: (Partial<Doctype> & { tagName?: string; attrs?: readonly Token.Attribute[]; data?: string }) | null
  /** Becomes one of the token when its name has been read. */
  currentAttr?: Token.Attribute
}

/** The text that has come last. */
function growing({ currentToken, currentAttr }: Reading): string {
  if (!currentToken) return ''
  const { tagName, attrs, data, name, publicId, systemId } = currentToken
  if (!attrs) return data ?? systemId ?? publicId ?? name ?? ''
  const last = attrs.at(-1)
  if (currentAttr && currentAttr !== last && currentAttr.name.length > LONG) return currentAttr.name
  return last?.value ?? tagName ?? ''
}

/** A token that ends in another chunk. Its texts may come in a piece for each reference, line or character. */
class Unfinished {
  readonly #together = keepingTogether()
  #attributes: readonly Token.Attribute[] | undefined
  /** Attributes whose values are in one piece. */
  #joined = 0

  /**
   * Each attribute of a tag is compared with all before it, as far as their names are alike.
   *
   * @throws TreeError for a long name
   */
  check(tokenizer: object): void {
    const reading = tokenizer as Reading
    const attributes = reading.currentToken?.attrs
    const last = attributes?.at(-1)
    if (last) checkName(last.name)
    this.#together(growing(reading))
    if (!attributes) return
    const begun = Math.max(0, attributes.length - 1)
    joinValues(attributes.slice(attributes === this.#attributes ? this.#joined : 0, begun))
    this.#attributes = attributes
    this.#joined = begun
  }
}

/** Gives a tokenizer a text in chunks, and keeps little of what it holds in between. */
export class Chunks {
  readonly #tokenizer: Tokenizer
  readonly #source: string
  readonly #unfinished = new Unfinished()
  #at = 0

  constructor(tokenizer: Tokenizer, source: string) {
    this.#tokenizer = tokenizer
    this.#source = source
  }

  /** Whether the text is given to its end. */
  get isOver(): boolean {
    return this.#at > 0 && this.#at >= this.#source.length
  }

  /** Gives it the next one. @param ends whether nothing follows the text */
  next(ends: boolean): void {
    const { preprocessor } = this.#tokenizer
    const end = this.#at + CHUNK
    // What it holds of an unfinished token would be copied with each chunk that it adds: a part of the source is not.
    if (this.#at > 0) preprocessor.html = this.#source.slice(preprocessor.droppedBufferSize, end)
    this.#tokenizer.write(this.#at > 0 ? '' : this.#source.slice(0, end), ends && end >= this.#source.length)
    this.#at = end
  }

  /** To be called when it has been read. @throws TreeError for a long name */
  settle(): void {
    this.#tokenizer.flushCurrentCharacterToken()
    dropGaps(this.#tokenizer.preprocessor)
    this.#unfinished.check(this.#tokenizer)
  }
}

/**
 * Has a tokenizer look whether `<![CDATA[` begins text by what the standard says, which is any element of SVG or MathML; the
 * parser tells it of those alone whose content is no HTML: of others, as `<svg><desc>`, browsers take for text what follows.
 */
function knowCdata(tokenizer: object, isForeign: () => boolean): void {
  const own = tokenizer as { inForeignNode: boolean; _stateMarkupDeclarationOpen(code: number): void }
  const open = own._stateMarkupDeclarationOpen
  own._stateMarkupDeclarationOpen = code => {
    const was = own.inForeignNode
    own.inForeignNode = isForeign()
    open.call(own, code)
    own.inForeignNode = was
  }
}

/** The part of a stack of open elements that is asked. */
interface OpenElements {
  readonly tmplCount: number
  readonly stackTop: number
  readonly tagIDs: readonly html.TAG_ID[]
  readonly items: readonly unknown[]
  readonly treeAdapter: { getNamespaceURI(element: unknown): string }
  slotBelow(at: number): number
  hasInTableScope(tag: html.TAG_ID): boolean
  hasTableBodyContextInTableScope(): boolean
}

function isInTableScope(open: OpenElements, tags: readonly html.TAG_ID[]): boolean {
  const { TABLE, HTML, TEMPLATE } = html.TAG_ID
  for (let at = open.stackTop; at >= 0; at = open.slotBelow(at)) {
    const tag = open.tagIDs[at]
    if (tag === undefined || open.treeAdapter.getNamespaceURI(open.items[at]) !== html.NS.HTML) continue
    if (tags.includes(tag)) return true
    if (tag === TABLE || tag === TEMPLATE || tag === HTML) return false
  }
  return true
}

const BODIES = [html.TAG_ID.TBODY, html.TAG_ID.TFOOT, html.TAG_ID.THEAD]

/**
 * A `template` ends the scope of a table, in the standard and in browsers: the parser looks for tables, rows and cells around it as
 * well, and leaves it for what browsers keep in it. No closures: those of one parser would keep its whole tree.
 */
const KNOWING_TEMPLATES = {
  hasInTableScope(this: OpenElements, tag: html.TAG_ID): boolean {
    if (this.tmplCount > 0) return isInTableScope(this, [tag])
    return (Object.getPrototypeOf(this) as OpenElements).hasInTableScope.call(this, tag)
  },
  hasTableBodyContextInTableScope(this: OpenElements): boolean {
    if (this.tmplCount > 0) return isInTableScope(this, BODIES)
    return (Object.getPrototypeOf(this) as OpenElements).hasTableBodyContextInTableScope.call(this)
  },
}

export class SteppedParser<Nodes extends TreeAdapterTypeMap> extends Parser<Nodes> {
  #tokens = 0
  #waits = false

  /**
   * Reads a text.
   *
   * @param ends whether the document or fragment ends with it
   * @throws what the tree adapter throws
   */
  public *read(source: string, ends = true): Steps<void> {
    const { tokenizer } = this
    if (source.length > LONG) yield* puttingInOnePiece(source)
    Object.assign(this.openElements, KNOWING_TEMPLATES)
    if (source.includes('<![CDATA[')) knowCdata(tokenizer, () => this.currentNotInHTML)
    const chunks = new Chunks(tokenizer, source)
    while (!chunks.isOver) {
      chunks.next(ends)
      for (; this.#waits; tokenizer.resume()) {
        yield
        this.#waits = false
      }
      chunks.settle()
      yield
    }
  }

  /** Acts as if text without characters stood there. */
  protected onEmptyText(location: Token.CharacterToken['location']): void {
    super.onCharacter({ type: Token.TokenType.CHARACTER, chars: '', location })
  }

  override _insertCharacters(token: Token.CharacterToken): void {
    // The parser would look for the node that they came into, which need not be there.
    if (token.chars !== '') super._insertCharacters(token)
  }

  override onCharacter(token: Token.CharacterToken): void {
    // What a text leaves behind whose beginning was taken.
    if (token.chars === '') return
    if (token.chars.length > LONG_TOKEN) inOnePiece(token.chars)
    super.onCharacter(token)
    this.#count()
  }

  override onDoctype(token: Token.DoctypeToken): void {
    for (const text of [token.name, token.publicId, token.systemId]) inOnePiece(text ?? '')
    super.onDoctype(token)
  }

  override onEof(token: Token.EOFToken): void {
    // What ends with the text, a `template` among it, would get the place of the last tag as that of its own end tag.
    this.currentToken = token
    super.onEof(token)
    this.#endBody(token)
  }

  /** The parser tells where a `body` without end tag ends only where `html` has a tag, too: it would end with its own. */
  #endBody(token: Token.EOFToken): void {
    const { treeAdapter, openElements, fragmentContext } = this
    const body = fragmentContext ? undefined : openElements.items[1]
    const place = body && treeAdapter.getNodeSourceCodeLocation(body)
    if (!place?.startTag || place.endTag || place.endOffset !== place.startTag.endOffset || !token.location) return
    const isEmpty = (node: Nodes['childNode']) =>
      treeAdapter.isTextNode(node) && isBlank(treeAdapter.getTextNodeContent(node))
    if (!treeAdapter.getChildNodes(body).every(isEmpty)) this._setEndLocation(body, token)
  }

  override onComment(token: Token.CommentToken): void {
    super.onComment(token)
    this.#count()
  }

  override onStartTag(token: Token.TagToken): void {
    joinValues(token.attrs)
    super.onStartTag(token)
    this.#count()
  }

  override onEndTag(token: Token.TagToken): void {
    super.onEndTag(token)
    this.#count()
  }

  #count(): void {
    if (++this.#tokens % TOKENS_PER_STEP !== 0) return
    this.#waits = true
    this.tokenizer.pause()
  }
}
