/**
 * Tags in an HTML document that are no elements of its tree, and may be some to another reader. A `<` before a letter is read as
 * the same tag by everybody who reads one there, so that nobody makes other elements of a document than those of its tree and of
 * these tags.
 */

import { asciiLower } from './ascii.ts'
import { parsingHtmlFragment } from './html.ts'
import { TreeError } from './limits.ts'
import {
  type Attribute,
  type ElementNode,
  elementAlone,
  HTML_NAMESPACE,
  isElement,
  isText,
  rootElement,
  type TreeDocument,
} from './nodes.ts'
import { mayHoldItsEnd, TEXT_ONLY } from './raw-text.ts'
import { NODES_PER_STEP, type Steps } from './steps.ts'

/** Begins markup. */
const MARKUP = /<[a-z/!?]/gi
/** Nothing else ends one where it begins: `<!--!>` goes on. */
const EMPTY_COMMENT = /<!---?>/y
const COMMENT_END = /--!?>/g
const NAME = /<\/?([a-z][^\t\n\f\r />]*)/iy
const NAMED = /^<[^\t\n\f\r />]*/
const BEFORE_ATTRIBUTE = /[\t\n\f\r /]*/y
/** The name of an attribute, and what stands before its value. */
const ATTRIBUTE = /[^\t\n\f\r />][^\t\n\f\r />=]*[\t\n\f\r ]*(=[\t\n\f\r ]*)?/y
const UNQUOTED = /[^\t\n\f\r >]*/y
/** End tags that are elements where none is open. */
const STANDING = new Set(['p', 'br'])
/** What everybody keeps in a `select`. */
const IN_SELECT = new Set(['option', 'optgroup', 'hr', 'select'])
/** In these, and behind one that ends elsewhere to somebody, what is text in HTML is markup, or its start tag is passed over. */
const OTHER = new Set(['math', 'select', 'template', 'frameset'])
/** What drawings are made of, and nothing else: `foreignObject` holds HTML, and what HTML knows ends them. */
const DRAWN = new Set(
  `svg g defs symbol use path rect circle ellipse line polyline polygon text tspan textpath image marker mask pattern switch
  clippath lineargradient radialgradient stop filter title desc style metadata animate animatemotion animatetransform set`.split(
    /[\n ]+/,
  ),
)
/** In SVG, there is HTML in these. */
const HOLDING_HTML = new Set(['title', 'desc', 'style'])

/** Hidden tags of one document that are looked at: one more stands for all others. */
const MOST = 10_000
/** What they may take of the text, in lengths of it: each may go on to its end. */
const LENGTHS = 4
const TAGS_PER_STEP = 50

/** What nobody can permit. */
const UNREADABLE: Attribute[] = [{ name: '<', value: '' }]

const CONTEXT = elementAlone('div')

/** Whether nothing but its name is known of a hidden tag, so that no permit can be for it. */
export function isUnreadable({ attrs }: ElementNode): boolean {
  return attrs.some(({ name }) => name === '<')
}

/**
 * Hidden tags of a document by the innermost element that their text stands in, as elements with that for their parent; in steps.
 * Tags in comments, values and texts are none as long as everybody takes these for what they are, whatever tree they make.
 */
export function* findingHidden(document: TreeDocument): Steps<ReadonlyMap<ElementNode, readonly ElementNode[]>> {
  const found = new Map<ElementNode, ElementNode[]>()
  if (document.kind !== 'html') return found
  const { source } = document
  const known: Known = { tags: new Set(), implied: new Set() }
  const elements = yield* gathering(document, known)
  const hidden = yield* new TagScan(source, known.tags).reading()
  if (hidden.length === 0) return found
  elements.sort((a, b) => startOf(a) - startOf(b))
  yield
  const root = rootElement(document)
  const open: ElementNode[] = []
  let [next, selects] = [0, 0]
  const leave = (at: number) => {
    while (open.length > 0 && endOf(open.at(-1)) <= at) if (isSelect(open.pop())) selects--
  }
  const reader = new HiddenReader(source)
  for (const [i, { at, name, isEnd }] of hidden.entries()) {
    if (i % NODES_PER_STEP === 0) yield
    for (let each = elements[next]; each && startOf(each) <= at; each = elements[++next]) {
      leave(startOf(each))
      open.push(each)
      if (isSelect(each)) selects++
    }
    leave(at)
    const parent = open.at(-1) ?? root
    // There, browsers keep what the parser ends, so that no permit says what stands in it.
    const isUnknown = selects > 0 && !name.includes(':') && !IN_SELECT.has(name)
    if (!parent || (isEnd && !isUnknown && (!STANDING.has(name) || known.implied.has(name)))) continue
    const children = found.get(parent) ?? []
    if (children.length === 0) found.set(parent, children)
    // One that nobody can permit stands for all that are there; others may stand where another shape asks.
    else if (children.at(-1)?.attrs === UNREADABLE) continue
    children.push(isUnknown ? elementOf(name, UNREADABLE, parent) : yield* reader.reading(at, name, parent))
  }
  return found
}

function isSelect(element: ElementNode | undefined): boolean {
  return element?.tagName === 'select' && element.namespaceURI === HTML_NAMESPACE
}

/** The same of a `noscript`, whose text is markup where scripts do not run, wherever it stands; in steps. */
export function* findingHiddenIn(noscript: ElementNode): Steps<readonly ElementNode[]> {
  const text = noscript.childNodes.map(node => (isText(node) ? node.value : '')).join('')
  if (!text.includes('<')) return []
  const source = `${text}</noscript>`
  const scan = new TagScan(source, new Set(), text.length)
  const reader = new HiddenReader(source)
  const found: ElementNode[] = []
  for (const { at, name, isEnd } of yield* scan.reading()) {
    if (isEnd && !STANDING.has(name)) continue
    found.push(yield* reader.reading(at, name, noscript))
    if (reader.isTired) return found
  }
  // What goes on behind it takes in what follows.
  return scan.isAlike ? found : [...found, elementOf('noscript', UNREADABLE, noscript)]
}

/** Makes elements of hidden tags, for as long as they are few and short. */
class HiddenReader {
  readonly #source: string
  #left: number
  #read = 0
  isTired = false

  constructor(source: string) {
    this.#source = source
    this.#left = source.length * LENGTHS
  }

  *reading(at: number, name: string, parent: ElementNode): Steps<ElementNode> {
    if (this.#read++ % TAGS_PER_STEP === 0) yield
    // Where it is tired it looks at no tag, which may be as long as the text.
    const end = this.isTired ? at : readTag(this.#source, at).end
    this.#left -= end - at
    this.isTired ||= this.#left < 0 || this.#read > MOST
    return elementOf(name, this.isTired ? UNREADABLE : yield* readingAttributes(this.#source.slice(at, end)), parent)
  }
}

function elementOf(name: string, attrs: Attribute[], parentNode: ElementNode): ElementNode {
  return { ...elementAlone(name), attrs, parentNode }
}

const startOf = ({ sourceCodeLocation }: ElementNode): number => sourceCodeLocation?.startOffset ?? 0

/** What is behind the end tags of `html` and `body` stands in them all the same. */
function endOf(element: ElementNode | undefined): number {
  if (!element || element.tagName === 'html' || element.tagName === 'body') return Number.POSITIVE_INFINITY
  return element.sourceCodeLocation?.endOffset ?? 0
}

/** What a tree has elements of. */
interface Known {
  /** Where tags of elements begin. */
  tags: Set<number>
  /** Names of elements that nobody has written; an end tag without element may stand for one. */
  implied: Set<string>
}

/** Elements that somebody has written. */
function* gathering({ root }: TreeDocument, { tags, implied }: Known): Steps<ElementNode[]> {
  const elements: ElementNode[] = []
  const open = [root.childNodes]
  let seen = 0
  for (let nodes = open.pop(); nodes; nodes = open.pop()) {
    for (const node of nodes) {
      if (++seen % NODES_PER_STEP === 0) yield
      if (!isElement(node)) continue
      const { sourceCodeLocation: place, childNodes, content } = node
      if (place) {
        elements.push(node)
        tags.add(place.startOffset)
        if (place.endTag) tags.add(place.endTag.startOffset)
      } else implied.add(node.tagName)
      if (childNodes.length > 0) open.push(childNodes)
      if (content) open.push(content.childNodes)
    }
  }
  return elements
}

/** Of a start tag, or of an end tag that is an element, which has none. */
function* readingAttributes(tag: string): Steps<Attribute[]> {
  if (tag[1] === '/') return []
  try {
    // What the tokenizer reads behind a name is the same for all names.
    const [element] = yield* parsingHtmlFragment(tag.replace(NAMED, '<b'), CONTEXT)
    return element && isElement(element) ? element.attrs : UNREADABLE
  } catch (error) {
    if (error instanceof TreeError) return UNREADABLE
    throw error
  }
}

/**
 * @param at of its `<`
 * @returns behind its `>`, or the end of the text where it has none, and whether it closes itself: the slash of `<g fill=red/>`,
 *   and of `<g fill= />`, belongs to the value
 */
function readTag(source: string, at: number): { end: number; isClosed: boolean } {
  const pass = (pattern: RegExp, from: number): number => {
    pattern.lastIndex = from
    return pattern.test(source) ? pattern.lastIndex : from
  }
  let end = pass(NAME, at)
  for (;;) {
    const from = end
    end = pass(BEFORE_ATTRIBUTE, from)
    if (end >= source.length) return { end: source.length, isClosed: false }
    if (source[end] === '>') return { end: end + 1, isClosed: end > from && source[end - 1] === '/' }
    ATTRIBUTE.lastIndex = end
    const [, assigned] = ATTRIBUTE.exec(source) ?? []
    end = ATTRIBUTE.lastIndex
    if (assigned === undefined) continue
    const quote = source[end]
    if (quote !== '"' && quote !== "'") end = pass(UNQUOTED, end)
    else end = source.indexOf(quote, end + 1) + 1 || source.length
  }
}

interface HiddenTag {
  at: number
  name: string
  isEnd: boolean
}

/** A text that is markup to some. */
interface Doubtful {
  start: number
  end: number
  /** Hidden tags before it. */
  hidden: number
}

/** Goes through the tags of a text, without a tree. */
class TagScan {
  readonly #source: string
  readonly #known: ReadonlySet<number>
  readonly #hidden: HiddenTag[] = []
  #at = 0
  /** Whether everybody has begun and ended each token so far where it is here. */
  isAlike = true
  /** Whether everybody takes the text of an element for text. */
  #isPlain = true
  /** Elements of SVG that are open. */
  readonly #drawing: string[] = []
  /** Behind it everybody goes on alike, if tags that are read in it end before it does. */
  #text: Doubtful | undefined

  /** @param end where a text ends that is markup to some, if the whole is one */
  constructor(source: string, known: ReadonlySet<number>, end?: number) {
    this.#source = source
    this.#known = known
    if (end !== undefined) this.#text = { start: 0, end, hidden: 0 }
  }

  *reading(): Steps<readonly HiddenTag[]> {
    for (let seen = 1; ; seen++) {
      if (seen % NODES_PER_STEP === 0) yield
      const at = this.#source.indexOf('<', this.#at)
      if (at === -1) return this.#hidden
      this.#at = at + 1
      if (!this.isAlike) this.#readName(at)
      else this.#readToken(at)
    }
  }

  /** @returns the name of a tag, with a slash where it is an end tag; empty where there is none */
  #readName(at: number): string {
    NAME.lastIndex = at
    const [tag = '', written = ''] = NAME.exec(this.#source) ?? []
    if (tag === '') return ''
    // What HTML calls `image` is an `img`.
    const name = asciiLower(written.replace(/^image$/i, 'img'))
    const isEnd = tag[1] === '/'
    if (!this.#known.has(at)) this.#hidden.push({ at, name, isEnd })
    return isEnd ? `/${name}` : name
  }

  #readToken(at: number): void {
    if (this.#text && at >= this.#text.end) this.#text = undefined
    const name = this.#readName(at)
    const { end, isClosed } = name === '' ? { end: this.#endOfOther(at), isClosed: false } : readTag(this.#source, at)
    if (end === undefined || (this.#text && end > this.#text.end)) {
      this.#doubt()
      return
    }
    this.#at = end
    this.#draw(name, isClosed)
    if (OTHER.has(name)) this.#isPlain = false
    if (TEXT_ONLY.has(name)) this.#readText(name)
  }

  /** @returns behind a comment or the like; undefined where readers do not agree */
  #endOfOther(at: number): number | undefined {
    const source = this.#source
    if (!/[!/?]/.test(source[at + 1] ?? '')) return at + 1
    const close = source.indexOf('>', at + 2)
    if (close === -1) return source.length
    if (source.startsWith('<!--', at)) {
      EMPTY_COMMENT.lastIndex = at
      if (EMPTY_COMMENT.test(source)) return EMPTY_COMMENT.lastIndex
      COMMENT_END.lastIndex = at + 4
      return COMMENT_END.test(source) ? COMMENT_END.lastIndex : source.length
    }
    if (!source.startsWith('<![CDATA[', at)) return close + 1
    // It ends with the first `>` in HTML, and not so in SVG: where no markup comes between, nobody minds.
    const end = source.indexOf(']]>', at) + 3
    if (end > 2 && (close === end - 1 || this.#nextMarkup(at + 1) >= end)) return end
    return this.#nextMarkup(at + 1) < source.length ? undefined : source.length
  }

  #nextMarkup(from: number): number {
    MARKUP.lastIndex = from
    return MARKUP.exec(this.#source)?.index ?? this.#source.length
  }

  /** From here on, or from where a text has begun that is markup to some, each tag may be one. */
  #doubt(): void {
    this.isAlike = false
    if (!this.#text) return
    this.#at = this.#text.start
    this.#hidden.length = this.#text.hidden
  }

  /** @param name of the element whose text begins here */
  #readText(name: string): void {
    const source = this.#source
    const start = this.#at
    const pattern = new RegExp(`</${name}[\\t\\n\\f\\r />]`, 'gi')
    pattern.lastIndex = start
    const end = (name === 'plaintext' ? undefined : pattern.exec(source)?.index) ?? source.length
    if (this.#nextMarkup(start) >= end) this.#at = end
    else if (this.#text || (name === 'script' && mayHoldItsEnd(source.slice(start, end)))) this.#doubt()
    else if (this.#isPlain && this.#drawing.length === 0 && name !== 'noscript') this.#at = end
    else this.#text = { start, end, hidden: this.#hidden.length }
  }

  /** Of SVG whose elements all end by their own tags everybody knows the end. */
  #draw(name: string, isClosed: boolean): void {
    const open = this.#drawing
    if (!this.#isPlain || name === '' || (open.length === 0 && name !== 'svg')) return
    if (name[0] === '/') this.#isPlain = open.pop() === name.slice(1)
    else {
      this.#isPlain = DRAWN.has(name) && !HOLDING_HTML.has(open.at(-1) ?? '')
      if (!isClosed) open.push(name)
    }
  }
}
