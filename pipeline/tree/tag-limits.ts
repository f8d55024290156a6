/**
 * Whether an HTML text surely stays within the limits of trees, told from its tags alone, at a tenth of what parsing costs;
 * tags that close each other in an unusual order are left to the parser.
 */

import { isNaming, LONGEST_NAME, MAX_ATTRIBUTES, MAX_NODES } from './limits.ts'
import type { Steps } from './steps.ts'
import { shortName, type TokenCollector } from './tokens.ts'

/**
 * Elements in a document of `length` characters. A start tag has three characters at least, so only documents come near
 * whose unclosed formatting elements the HTML parser copies into every paragraph (`<p><b><i>…</p><p>x</p><p>x`).
 */
export function maxElements(length: number): number {
  return length / 2 + 4_096
}

/** Tags in each other. A parser adds elements that are implied, and misnested ones: far from `MAX_DEPTH` even so. */
const DEEPEST = 100

/** Elements that every document has: `html`, `head`, `body`. */
const SHELL = 3

/** Elements that a tag brings along where they are missing around it. */
const BROUGHT = new Map([
  ['td', 2],
  ['th', 2],
  ['tr', 1],
  ['col', 1],
])

/** Tags, and what looks like one, that are looked at in one step. */
const TAGS_PER_STEP = 1_000

/** UTF-16 code units of a tag, and characters `<` in the text of an element, that are read in one step; the parser rests. */
const LONGEST = 64 * 1024

const words = (list: string) => new Set(list.split(' '))

const VOID = words(
  'area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr',
)

/** What stands in them is text. */
const TEXT = words('iframe noembed noframes noscript script style textarea title xmp')

/** The parser opens them again where they were closed from outside. */
const FORMATTING = words('a b big code em font i nobr s small strike strong tt u')

/** Their ends may be left out, and are where another one of the same list begins. */
const OPTIONAL = new Map(
  [['li'], ['p'], ['dt', 'dd'], ['td', 'th'], ['tr'], ['option'], ['thead', 'tbody', 'tfoot']].flatMap(names =>
    names.map(name => [name, names] as const),
  ),
)

/** Begun inside of themselves, they are taken apart. */
const SINGLE = words('a nobr')

/** In SVG and MathML they end it, or are HTML inside of it. */
const NOT_FOREIGN = words(
  'b big blockquote body br center code dd div dl dt em embed font h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr' +
    ' ol p pre ruby s small span strike strong sub sup table tt u ul var',
)

/** Everything behind them is read in another way. */
const UNUSUAL = words('frameset plaintext')

/** An element that is open, as far as its tags say. */
interface Open {
  name: string
  /** What is copied each time that the parser opens it again. */
  weight: number
  isForeign: boolean
}

/**
 * In steps.
 *
 * @param source text of a whole document
 * @param tokens is given every tag
 * @returns true only where `parseHtml` throws nothing
 */
export function* provingWithinLimits(source: string, tokens?: TokenCollector): Steps<boolean> {
  tokens?.addImplied()
  const most = maxElements(source.length)
  const open: Open[] = []
  let elements = SHELL
  let attributes = 0
  let tags = 0
  let seen = 0
  /** What the parser may have to open again, together. */
  let reopened = 0
  const close = (): void => {
    const last = open.pop()
    if (last) reopened -= last.weight
  }
  const search = new TagSearch(source)
  const tag = new TagReader(source)
  for (let at = 0; ; ) {
    while (!search.find(at)) yield
    at = search.found
    if (at < 0) return true
    if (++seen % TAGS_PER_STEP === 0) yield
    const next = source.charCodeAt(at + 1)
    if (next === 0x21 || next === 0x3f) {
      at = endOfDeclaration(source, at)
      if (at < 0) return false
      continue
    }
    const isEnd = next === 0x2f
    const start = at + (isEnd ? 2 : 1)
    if (!isLetter(source.charCodeAt(start))) {
      // `</` without a name begins a comment.
      at = isEnd ? source.indexOf('>', start) + 1 : start
      if (at === 0) return false
      continue
    }
    tags++
    if (!tag.read(start, isEnd ? undefined : tokens)) return false
    const { name } = tag
    at = tag.end
    // An end tag may stand for an empty `p`, and text behind it opens again what was closed.
    elements += 1 + (isEnd ? 0 : (BROUGHT.get(name) ?? 0)) + reopened
    attributes += tag.attributes
    if (elements > most || elements + attributes + tags > MAX_NODES) return false
    if (tag.attributes >= MAX_ATTRIBUTES || UNUSUAL.has(name)) return false
    if (isEnd) {
      while (open.at(-1)?.name !== name) {
        if (!OPTIONAL.has(open.at(-1)?.name ?? '')) return false
        close()
      }
      close()
      continue
    }
    const top = open.at(-1)
    const isForeign = name === 'svg' || name === 'math' || top?.isForeign === true
    if (isForeign && NOT_FOREIGN.has(name)) return false
    if (isForeign ? tag.isClosed : VOID.has(name)) continue
    if (TEXT.has(name)) {
      at = endOfText(source, at, tag, isForeign)
      if (at < 0) return false
      continue
    }
    if (SINGLE.has(name) && open.some(each => each.name === name)) return false
    if (top && !isForeign && OPTIONAL.get(name)?.includes(top.name)) close()
    const weight = FORMATTING.has(name) ? 1 + tag.attributes : 0
    reopened += weight
    if (open.push({ name, weight, isForeign }) > DEEPEST) return false
  }
}

/** UTF-16 code units that are searched in one step. */
const WINDOW = 512 * 1024

/** Looks for `<` in a text a window at a time. */
class TagSearch {
  readonly #source: string
  /** Where the window begins, and what is in it. */
  #start = 0
  #window: string
  /** Where the next one is; negative when there is none. */
  found = -1

  constructor(source: string) {
    this.#source = source
    this.#window = source.slice(0, WINDOW)
  }

  /** @returns false when it goes on with the next window */
  find(from: number): boolean {
    if (from >= this.#start + WINDOW) this.#move(from)
    const at = this.#window.indexOf('<', from - this.#start)
    this.found = at < 0 ? -1 : this.#start + at
    const end = this.#start + WINDOW
    if (at >= 0 || end >= this.#source.length) return true
    this.#move(end)
    return false
  }

  #move(start: number): void {
    this.#start = start
    this.#window = this.#source.slice(start, start + WINDOW)
  }
}

function isLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0c || code === 0x0d
}

/**
 * Holds what it has read last: a page has some hundred tags, and what each leaves behind for the collector would cost more than
 * to read it.
 */
class TagReader {
  readonly #source: string
  /** In lower case. */
  name = ''
  /** Behind the `>`. */
  end = 0
  attributes = 0
  /** `/>` */
  isClosed = false
  /** Where the attribute ends that was read last, and how much of it is a quoted value. */
  #attributeEnd = 0
  #quoted = 0

  constructor(source: string) {
    this.#source = source
  }

  /**
   * Reads a tag as the tokenizer of the HTML standard does.
   *
   * @param start of its name
   * @param tokens is given the name and the attributes
   * @returns false when the text ends, or the tag is very long
   */
  read(start: number, tokens?: TokenCollector): boolean {
    const source = this.#source
    let at = start
    let most = Math.min(source.length, start + LONGEST)
    for (let code = source.charCodeAt(at); code !== 0x3e && code !== 0x2f && !isSpace(code); ) {
      if (++at >= most) return false
      code = source.charCodeAt(at)
    }
    if (at - start > LONGEST_NAME) return false
    this.name = shortName(source, start, at)
    this.attributes = 0
    this.isClosed = false
    tokens?.addTag(this.name)
    while (at < most) {
      const code = source.charCodeAt(at)
      if (code === 0x3e) {
        this.end = at + 1
        return true
      }
      this.isClosed = code === 0x2f
      if (this.isClosed || isSpace(code)) {
        at++
        continue
      }
      this.attributes++
      if (!this.#readAttribute(at, most, tokens)) return false
      at = this.#attributeEnd
      most = Math.min(source.length, most + this.#quoted)
    }
    return false
  }

  /**
   * @param start first character of its name, which may be `=`
   * @param most where to give up, unless a quoted value reaches further
   * @returns false when the text ends, or it is very long
   */
  #readAttribute(start: number, most: number, tokens: TokenCollector | undefined): boolean {
    const source = this.#source
    let at = start + 1
    for (; at < most; at++) {
      const code = source.charCodeAt(at)
      if (code === 0x3d || code === 0x3e || code === 0x2f || isSpace(code)) break
    }
    const end = at
    if (end - start > LONGEST_NAME) return false
    this.#quoted = 0
    while (at < most && isSpace(source.charCodeAt(at))) at++
    this.#attributeEnd = at
    if (source.charCodeAt(at) !== 0x3d) {
      tokens?.addAttribute(shortName(source, start, end), source, at, at)
      return at < most
    }
    do at++
    while (at < most && isSpace(source.charCodeAt(at)))
    const first = source.charCodeAt(at)
    if (first === 0x22 || first === 0x27) {
      const quote = source.indexOf(first === 0x22 ? '"' : "'", at + 1)
      if (quote < 0) return false
      const name = shortName(source, start, end)
      if (hasLongNames(name, quote - at - 1)) return false
      tokens?.addAttribute(name, source, at + 1, quote)
      this.#attributeEnd = quote + 1
      this.#quoted = quote - at
      return true
    }
    const from = at
    for (; at < most; at++) {
      const code = source.charCodeAt(at)
      if (code !== 0x3e && !isSpace(code)) continue
      const name = shortName(source, start, end)
      if (hasLongNames(name, at - from)) return false
      tokens?.addAttribute(name, source, from, at)
      this.#attributeEnd = at
      return true
    }
    return false
  }
}

/** Whether an attribute may be refused for the length of its name, or of the names in it. */
function hasLongNames(name: string, valueLength: number): boolean {
  return name.length > LONGEST_NAME || (valueLength > LONGEST_NAME && isNaming(name))
}

/** Behind a comment, a doctype or `<?`; -1 for what ends in an unusual way, and for CDATA, which depends on the place. */
function endOfDeclaration(source: string, start: number): number {
  if (source.startsWith('<![CDATA[', start)) return -1
  if (!source.startsWith('<!--', start)) return source.indexOf('>', start) + 1 || -1
  const end = source.indexOf('-->', start + 4)
  if (end < 0 || source[start + 4] === '>' || source.startsWith('->', start + 4)) return -1
  return source.slice(start + 4, end).includes('--!>') ? -1 : end + 3
}

/** Behind the end tag of an element whose content is text; -1 where it might end elsewhere. */
function endOfText(source: string, start: number, tag: TagReader, isForeign: boolean): number {
  const { name } = tag
  let seen = 0
  for (let at = source.indexOf('<', start); at >= 0 && ++seen < LONGEST; at = source.indexOf('<', at + 1)) {
    const after = at + 2 + name.length
    if (source[at + 1] === '/' && source.slice(at + 2, after).toLowerCase() === name) {
      const code = source.charCodeAt(after)
      if (code === 0x3e) return after + 1
      if (code === 0x2f || isSpace(code)) return tag.read(at + 2) ? tag.end : -1
    }
    // In SVG it holds elements; in a script, a comment can hide the end tag.
    if (isForeign || (name === 'script' && source.startsWith('!--', at + 1))) return -1
  }
  return -1
}
