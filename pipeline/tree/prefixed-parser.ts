/**
 * HTML in which elements with a bound prefix stay where they are written (COMP-6): in tables, selects and heads they are
 * neither moved out nor do they open or close anything. They are handled as the standard handles comments, which are
 * allowed everywhere; their content is parsed by itself, as a fragment in the context of their parent.
 */

import { InsertionMode, Token } from 'parse5'
import { type HtmlNodes, parserOptions, surroundings, takingFragment } from './html.ts'
import { MAX_ATTRIBUTES, tooDeep, tooManyAttributes } from './limits.ts'
import {
  type ChildNode,
  type DocumentNode,
  type ElementNode,
  HTML_NAMESPACE,
  isElement,
  type ParentNode,
} from './nodes.ts'
import { shiftingNodes } from './offsets.ts'
import { type Extents, enterContent, findingExtents } from './prefixed-extents.ts'
import { joinValues, SteppedParser } from './stepped-parser.ts'
import { atOnce, type Steps } from './steps.ts'
import { endsName } from './tag-reader.ts'

/** Whether a prefix is bound at the place where a text will stand. */
export type IsBound = (prefix: string) => boolean

/** Elements with prefixes inside each other: each level is read once more. */
const MOST_LEVELS = 32

const COLON = 0x3a
const LESS_THAN = 0x3c
const TAG_START = /^<[a-z]/i

/**
 * Whether a text may have elements with prefixes; without them the ordinary parser makes the same tree.
 *
 * Looked for from its colons: each character is looked at once, however many `<` stand in a row.
 */
export function mayHavePrefixed(source: string): boolean {
  return atOnce(findingPrefixed(source))
}

/** Characters that are looked at in one step. */
const LOOKED = 256 * 1024

/** `mayHavePrefixed` in steps. */
export function* findingPrefixed(source: string): Steps<boolean> {
  let seen = 0
  for (let colon = source.indexOf(':'); colon !== -1; colon = source.indexOf(':', colon + 1)) {
    for (let at = colon - 1; at >= 0; at--) {
      if (++seen % LOOKED === 0) yield
      const code = source.charCodeAt(at)
      if (code === LESS_THAN && TAG_START.test(source.slice(at, at + 2))) return true
      // A name may hold any other character, `<` too.
      if (code === COLON || endsName(code)) break
    }
  }
  return false
}

/**
 * Parses a whole document, in steps.
 *
 * @param isBound tells about prefixes that are declared outside of the text
 * @param mode quirks mode to parse in, whatever the doctype says
 * @throws TreeError for a limit
 */
export function* parsingPrefixed(source: string, isBound: IsBound = () => false, mode?: string): Steps<DocumentNode> {
  const options = parserOptions(source, { mode, depth: 0 })
  const parser = new PrefixedParser(options)
  parser.isBoundAround = isBound
  parser.tags = yield* findingExtents(source)
  yield* parser.read(source)
  yield* parsingContents(source, parser, isBound, 1)
  return parser.document as DocumentNode
}

/**
 * Parses a fragment, in steps.
 *
 * @param context element that will be the parent of the nodes
 * @param isBound tells about prefixes that are declared around the text
 * @returns the nodes without parent; offsets count from the start of `source`
 * @throws TreeError for a limit
 */
export function parsingPrefixedFragment(source: string, context: ElementNode, isBound: IsBound): Steps<ChildNode[]> {
  return parsingLevel(source, context, isBound, 1)
}

function* parsingLevel(source: string, context: ElementNode, isBound: IsBound, level: number): Steps<ChildNode[]> {
  if (level > MOST_LEVELS) throw tooDeep()
  const options = parserOptions(source, surroundings(context))
  // The class that makes the parser is not in the type of what it makes.
  const parser = PrefixedParser.getFragmentParser<HtmlNodes>(context, options) as unknown as PrefixedParser
  parser.isBoundAround = isBound
  parser.tags = yield* findingExtents(source, context)
  yield* parser.read(source)
  const childNodes = yield* takingFragment(parser)
  yield* parsingContents(source, parser, isBound, level, context)
  return childNodes
}

/** Gives the prefixed elements that a parser has placed their content. */
function* parsingContents(
  source: string,
  { placed }: PrefixedParser,
  isBound: IsBound,
  level: number,
  around?: ElementNode,
): Steps<void> {
  for (const element of placed) {
    const place = element.sourceCodeLocation
    if (!place?.startTag || !place.endTag) continue
    const start = place.startTag.endOffset
    const content = source.slice(start, place.endTag.startOffset)
    if (content === '') continue
    const parent = unprefixedFrom(element.parentNode) ?? around
    if (!parent) continue
    const inScope = (prefix: string) => declaredAt(element, prefix) ?? isBound(prefix)
    const nodes = yield* parsingLevel(content, parent, inScope, level + 1)
    yield* shiftingNodes(nodes, start)
    for (const node of nodes) node.parentNode = element
    element.childNodes = nodes
  }
}

/** The innermost element without prefix at or above a node: what prefixed elements hold would stand in it without them. */
export function unprefixedFrom(from: ParentNode | null): ElementNode | undefined {
  for (let node = from; node; node = isElement(node) ? node.parentNode : null)
    if (isElement(node) && !node.tagName.includes(':')) return node
  return undefined
}

/** Tells which prefixes are bound in the content of an element, whose surroundings are read once. */
export function boundIn(context: ParentNode | null): IsBound {
  const declared = new Map<string, string>()
  for (let node = context; node && isElement(node); node = node.parentNode)
    for (const [name, value] of readDeclarations(node)) if (!declared.has(name)) declared.set(name, value)
  return prefix => !!declared.get(`xmlns:${prefix}`)
}

type Declarations = ReadonlyMap<string, string>

const NO_DECLARATIONS: Declarations = new Map()

function readDeclarations({ attrs }: ElementNode): Declarations {
  let found: Map<string, string> | undefined
  for (const { name, value } of attrs)
    if (name.startsWith('xmlns:') && !found?.has(name)) (found ??= new Map()).set(name, value)
  return found ?? NO_DECLARATIONS
}

/** What elements declare that are being parsed: everything prefixed in them asks, and they may have thousands of attributes. */
const declarations = new WeakMap<ElementNode, { count: number; found: Declarations }>()

function declarationsOf(element: ElementNode): Declarations {
  const count = element.attrs.length
  const known = declarations.get(element)
  // Attributes of a second tag of `html` or `body` come to those of the first.
  if (known?.count === count) return known.found
  const found = readDeclarations(element)
  declarations.set(element, { count, found })
  return found
}

/** Whether the innermost declaration of a prefix at or around an element binds it; undefined where there is none. */
function declaredAt(element: ElementNode, prefix: string): boolean | undefined {
  for (let node: ParentNode | null = element; node && isElement(node); node = node.parentNode) {
    const declared = declarationsOf(node).get(`xmlns:${prefix}`)
    if (declared !== undefined) return declared !== ''
  }
  return undefined
}

class PrefixedParser extends SteppedParser<HtmlNodes> {
  tags: Extents = { extents: new Map(), unmarked: new Set() }
  isBoundAround: IsBound = () => false
  /** Prefixed elements in the order of the text. */
  readonly placed: ElementNode[] = []
  /** What is before this offset belongs to a prefixed element. */
  #skipped = 0
  #placing: ElementNode | undefined

  override onStartTag(token: Token.TagToken): void {
    if (this.#isSkipped(token)) {
      if (this.tags.unmarked.has(token.location?.startOffset ?? 0)) enterContent(this.tokenizer, token.tagName)
      return
    }
    if (this.#isPrefixed(token)) {
      joinValues(token.attrs)
      this.#place(token)
    } else super.onStartTag(token)
  }

  override onEndTag(token: Token.TagToken): void {
    if (!this.#isSkipped(token)) super.onEndTag(token)
  }

  override onComment(token: Token.CommentToken): void {
    if (!this.#isSkipped(token)) super.onComment(token)
  }

  override onCharacter(token: Token.CharacterToken): void {
    if (!this.#isSkipped(token)) super.onCharacter(token)
  }

  override onWhitespaceCharacter(token: Token.CharacterToken): void {
    if (!this.#isSkipped(token)) super.onWhitespaceCharacter(token)
  }

  override onNullCharacter(token: Token.CharacterToken): void {
    if (!this.#isSkipped(token)) super.onNullCharacter(token)
  }

  override onDoctype(token: Token.DoctypeToken): void {
    if (!this.#isSkipped(token)) super.onDoctype(token)
  }

  override _appendCommentNode(token: Token.CommentToken, parent: ParentNode): void {
    const element = this.#placing
    if (element) this.treeAdapter.appendChild(parent, element)
    else super._appendCommentNode(token, parent)
  }

  #isSkipped({ location }: Token.Token): boolean {
    return location !== null && location !== undefined && location.startOffset < this.#skipped
  }

  #isPrefixed({ tagName, attrs }: Token.TagToken): boolean {
    const colon = tagName.indexOf(':')
    if (colon <= 0 || colon === tagName.length - 1) return false
    const prefix = tagName.slice(0, colon)
    if (prefix === 'xml' || prefix === 'xlink' || prefix === 'xmlns') return false
    const declaration = `xmlns:${prefix}`
    const own = attrs.find(a => a.name === declaration)
    if (own) return own.value !== ''
    const { items, stackTop } = this.openElements
    for (let i = stackTop; i >= 0; i--) {
      const open = items[i]
      const declared = open && isElement(open) ? declarationsOf(open).get(declaration) : undefined
      if (declared !== undefined) return declared !== ''
    }
    return this.isBoundAround(prefix)
  }

  #place(token: Token.TagToken): void {
    const { tagName, attrs, location, selfClosing } = token
    const start = location?.startOffset ?? 0
    if (attrs.length > MAX_ATTRIBUTES) throw tooManyAttributes(start)
    const startTag = { startOffset: start, endOffset: location?.endOffset ?? start }
    const extent = selfClosing ? undefined : this.tags.extents.get(start)
    const element = this.treeAdapter.createElement(
      tagName,
      HTML_NAMESPACE as never,
      attrs.map(({ name, value }) => ({ name, value })),
    )
    element.sourceCodeLocation = extent
      ? {
          startOffset: start,
          endOffset: extent.end,
          startTag,
          endTag: { startOffset: extent.contentEnd, endOffset: extent.end },
        }
      : { ...startTag, startTag, endTag: undefined }
    this.#leaveGaps(token)
    this.#placing = element
    super.onComment({ type: Token.TokenType.COMMENT, data: '', location })
    this.#placing = undefined
    this.placed.push(element)
    if (extent) this.#skipped = extent.end
  }

  /** Between the parts of a document a comment may stand; a prefixed element there belongs to the body. */
  #leaveGaps({ location }: Token.TagToken): void {
    const gaps: readonly InsertionMode[] = [
      InsertionMode.BEFORE_HTML,
      InsertionMode.BEFORE_HEAD,
      InsertionMode.AFTER_HEAD,
      InsertionMode.AFTER_BODY,
      InsertionMode.AFTER_AFTER_BODY,
    ]
    if (gaps.includes(this.insertionMode)) this.onEmptyText(location)
  }
}
