/** Finding the hosts of templates in a stored text (LIQ-5, LIQ-6, COMP-8). */

import { parsingHtml } from '../../tree/html.ts'
import { type DocumentNode, type ElementNode, HTML_NAMESPACE, isElement, type ParentNode } from '../../tree/nodes.ts'
import type { Steps } from '../../tree/steps.ts'
import { Lines } from './error.ts'
import { MarkupScanner, type ScannedAttribute, type ScannedTag } from './markup.ts'
import { type MarkupContext, startOf } from './place.ts'
import { Spans } from './spans.ts'

export interface TemplateHost {
  /** The host in the tree that hosts were looked for in; that tree holds filler in place of Liquid and is not for serving. */
  element: ElementNode
  /** The content, between start and end tag, as UTF-16 code units of the text. */
  start: number
  end: number
  /** Source of the template. */
  source: string
  /** Line of the text on which the source begins, from 1. */
  line: number
  /** What the source is the content of; `compileTemplate` takes it. */
  context: MarkupContext
  /** HTML: where Liquid is read as markup, it ends elsewhere, and what is outside may be read otherwise. */
  isBroken?: boolean
}

export interface HostSearch {
  kind: 'html' | 'xml'
  /**
   * Whether an element declares a template (LIQ-1): it looks at the attributes, and for the meaning of prefixes at the
   * element and its ancestors. Not asked inside a host.
   */
  isHost: (element: ElementNode) => boolean
  /**
   * HTML: parses text in which Liquid is replaced by filler of equal length, with source locations. By default the
   * standard's parser; a page's own parser knows of prefixed elements.
   */
  parse?: (masked: string) => Steps<DocumentNode>
  /** HTML: what `parse` makes of the text as it is, where that is known. */
  read?: DocumentNode
}

/** A template attribute under any prefix; most documents have none. */
const DECLARES = /:template\b/i

/** Whether a text may have hosts of templates. */
export function mayHaveHosts(text: string): boolean {
  return DECLARES.test(text)
}

/** UTF-16 code units that are scanned in one step. */
const PER_STEP = 256 * 1024

/**
 * The outermost hosts of a document, in the order of the text. Hosts inside them are part of their source (COMP-48).
 *
 * @param text the document's text, without byte order mark
 * @throws TreeError when the text exceeds a limit of trees
 */
export function* findingHosts(text: string, search: HostSearch): Steps<TemplateHost[]> {
  if (!mayHaveHosts(text)) return []
  return yield* search.kind === 'xml' ? findingXmlHosts(text, search.isHost) : findingHtmlHosts(text, search)
}

/** Readings of one text; a host without end tag around which Liquid holds markup may take two. */
const MOST_READINGS = 16

/** A host, and where its content would end. */
interface Content {
  element: ElementNode
  start: number
  end: number
}

/**
 * Where a host begins is told by what stands before it, Liquid of hosts before it left out; where it ends by what stands
 * before that, its own left out as well. Liquid-looking text elsewhere is text: visitors may have written it, to change what
 * belongs to a template (COMP-147).
 */
function* findingHtmlHosts(text: string, { isHost, parse = parsingHtml, read }: HostSearch): Steps<TemplateHost[]> {
  const spans = new Spans(text)
  /** Ends of contents by their starts, those known and those that are tried. */
  const ends = new Map<number, number>()
  const first = contentsIn(read ?? (yield* parse(text)), text, isHost)
  for (const { element, start, end } of first)
    if (!element.sourceCodeLocation?.endTag && !element.tagName.includes(':')) ends.set(start, end)
  let contents = first
  for (let readings = 1; readings < MOST_READINGS; readings++) {
    const scans: { start: number; last: number }[] = []
    const masks: Mask[] = []
    let passed = 0
    for (const { element, start } of contents) {
      if (start < passed) continue
      const scan = new HostScan(text, spans, contextOf(element))
      passed = yield* scan.readingHost(element.tagName, start, ends.get(start) ?? text.length)
      scans.push({ start, last: scan.masks.at(-1)?.end ?? start })
      masks.push(...scan.masks)
    }
    contents = masks.length === 0 ? first : contentsIn(yield* parse(masking(text, masks)), text, isHost)
    if (isAsScanned(contents, scans, ends)) break
  }
  const lines = new Lines(text)
  const asMarkup = new Map(first.map(({ start, end }) => [start, end]))
  return contents.map(({ element, start, end }) => ({
    ...hostAt(text, lines, element, start, end, 'html'),
    isBroken: asMarkup.get(start) !== end,
  }))
}

/** Whether hosts are those that were scanned, and what was left out belongs to them; notes where they end up to the first of which it is not so. */
function isAsScanned(
  contents: readonly Content[],
  scans: readonly { start: number; last: number }[],
  ends: Map<number, number>,
): boolean {
  for (const [i, { start, end }] of contents.entries()) {
    const scan = scans[i]
    if (scan?.start !== start) return false
    const tried = ends.get(start)
    const isTried = (tried ?? end) === end
    if (isTried) ends.set(start, end)
    else ends.delete(start)
    if (!isTried || scan.last > end) return false
  }
  return contents.length === scans.length
}

function contentsIn(root: DocumentNode, text: string, isHost: HostSearch['isHost']): Content[] {
  return outermost(root, isHost).flatMap(element => {
    const place = element.sourceCodeLocation
    if (!place?.startTag) return []
    const start = place.startTag.endOffset
    const empty = element.tagName.includes(':') && text[start - 2] === '/'
    return [{ element, start, end: empty ? start : Math.max(start, place.endTag?.startOffset ?? place.endOffset) }]
  })
}

/**
 * The text with the contents of hosts blanked, of equal length: it is parsed in place of the stored text, so that
 * nothing of a source is taken for markup and offsets stay true.
 */
export function withoutSources(text: string, hosts: readonly Pick<TemplateHost, 'start' | 'end'>[]): string {
  let result = ''
  let from = 0
  for (const { start, end } of hosts) {
    result += text.slice(from, start) + ' '.repeat(end - start)
    from = end
  }
  return result + text.slice(from)
}

function hostAt(
  text: string,
  lines: Lines,
  element: ElementNode,
  start: number,
  end: number,
  kind: 'html' | 'xml',
): TemplateHost {
  const context: MarkupContext =
    kind === 'html' ? contextOf(element) : { kind, element: element.tagName, foreign: false }
  return { element, start, end, source: text.slice(start, end), line: lines.at(start), context }
}

function contextOf({ tagName, namespaceURI }: ElementNode): MarkupContext {
  return { kind: 'html', element: tagName, foreign: namespaceURI !== HTML_NAMESPACE }
}

function outermost(root: ParentNode, isHost: (element: ElementNode) => boolean): ElementNode[] {
  const found: ElementNode[] = []
  const open: ParentNode[] = [root]
  for (let node = open.pop(); node; node = open.pop()) {
    if (isElement(node) && isHost(node)) {
      found.push(node)
      continue
    }
    for (let i = node.childNodes.length - 1; i >= 0; i--) {
      const child = node.childNodes[i]
      if (child && isElement(child)) open.push(child)
    }
    if ('content' in node && node.content) open.push(node.content)
  }
  // The parser may have moved elements; they come in the order of the text, and none inside another.
  const at = (element: ElementNode) => element.sourceCodeLocation?.startOffset ?? 0
  found.sort((a, b) => at(a) - at(b))
  let end = -1
  return found.filter(element => {
    if (at(element) < end) return false
    end = element.sourceCodeLocation?.endOffset ?? end
    return true
  })
}

/** What stands for Liquid while a text is parsed. */
interface Mask {
  start: number
  end: number
  filler: string
}

function masking(text: string, masks: readonly Mask[]): string {
  let result = ''
  let from = 0
  for (const { start, end, filler } of masks) {
    result += text.slice(from, start) + filler.repeat(end - start)
    from = end
  }
  return result + text.slice(from)
}

/** A reading of the text in which spans inside hosts are opaque. */
class HostScan {
  readonly masks: Mask[] = []
  readonly #text: string
  readonly #spans: Spans
  readonly #scanner: MarkupScanner
  readonly #onTag: ((tag: ScannedTag) => boolean) | undefined
  #at = 0
  /** Name of the host, and how many of that name are open. */
  #inside: string | undefined
  #depth = 0

  /** @param onTag looks at the tags outside of hosts, and says where one begins */
  constructor(text: string, spans: Spans, context: MarkupContext, onTag?: (tag: ScannedTag) => boolean) {
    this.#text = text
    this.#spans = spans
    this.#scanner = new MarkupScanner(startOf(context))
    this.#onTag = onTag
  }

  enter(name: string): void {
    this.#inside = name
    this.#depth = 1
  }

  /**
   * Reads the content of one host alone.
   *
   * @param end of what is looked at; a span that begins before it counts
   * @returns where it stopped, in steps
   */
  *readingHost(name: string, start: number, end: number): Steps<number> {
    this.#at = start
    this.enter(name)
    let step = start + PER_STEP
    while (this.#at < end && this.#inside !== undefined) {
      if (!this.#readSource(end)) this.#read(end)
      if (this.#at >= step) {
        step = this.#at + PER_STEP
        yield
      }
    }
    return this.#at
  }

  *reading(): Steps<void> {
    let step = PER_STEP
    while (this.#at < this.#text.length) {
      if (this.#inside === undefined) this.#read(this.#text.length)
      else if (!this.#readSource()) this.#read(this.#text.length)
      if (this.#at >= step) {
        step = this.#at + PER_STEP
        yield
      }
    }
  }

  /** Literal text up to the next span, and the span; false when no span follows that ends. */
  #readSource(end = this.#text.length): boolean {
    const open = this.#spans.nextDelimiter(this.#at)
    const span = open === -1 || open >= end ? undefined : this.#spans.at(open)
    if (!span) return false
    this.#read(span.start)
    // The candidate has ended before the span.
    if (this.#at < span.start) return true
    const blocks = span.kind === 'raw' ? [span.start, span.innerStart, span.innerEnd, span.end] : [span.start, span.end]
    for (let i = 0; i + 1 < blocks.length; i += 2) {
      this.masks.push({ start: blocks[i] ?? 0, end: blocks[i + 1] ?? 0, filler: this.#filler(span.kind === 'output') })
      if (i === 0 && span.kind === 'output') this.#scanner.output()
      else this.#scanner.apart()
      if (i === 0 && span.kind === 'raw') this.#readLiteral(span.innerStart, span.innerEnd)
    }
    this.#at = span.end
    return true
  }

  /** Blank where blanks say nothing; a letter where a blank would end a name or value. */
  #filler(output: boolean): string {
    const position = this.#scanner.position
    if (position === 'quoted' || position === 'unquoted') return output || !this.#scanner.beforeValue ? 'x' : ' '
    return position === 'name' && output ? 'x' : ' '
  }

  #readLiteral(from: number, to: number): void {
    let at = from
    while (at < to) at = this.#scanner.read(this.#text, at, to)
  }

  #read(to: number): void {
    this.#at = this.#scanner.read(this.#text, this.#at, to, tag => this.#tag(tag))
  }

  /** True where reading goes on in another way: a candidate begins or ends. */
  #tag(tag: ScannedTag): boolean {
    if (this.#inside === undefined) return this.#onTag?.(tag) ?? true
    if (tag.name !== this.#inside) return false
    if (tag.closing) this.#depth--
    else if (!(tag.selfClosing && this.#onTag)) this.#depth++
    if (this.#depth > 0) return false
    this.#inside = undefined
    this.#onTag?.(tag)
    return true
  }
}

/** XML nests strictly, so tags alone tell where a host ends, also when only the rendered text is well formed. */
function* findingXmlHosts(text: string, isHost: (element: ElementNode) => boolean): Steps<TemplateHost[]> {
  const hosts: TemplateHost[] = []
  const lines = new Lines(text)
  let open: ElementNode | undefined
  let host: { element: ElementNode; start: number } | undefined
  const scan = new HostScan(text, new Spans(text), { kind: 'xml' }, tag => {
    if (host) {
      // Only the end tag of the host comes here; another one may follow it at once.
      const end = text.lastIndexOf('</', tag.end - 1)
      hosts.push(hostAt(text, lines, host.element, host.start, end, 'xml'))
      host = undefined
      return true
    }
    if (tag.closing) {
      const parent = open?.parentNode
      open = parent && isElement(parent) ? parent : undefined
      return false
    }
    const element = scannedElement(text, tag, open)
    if (isHost(element)) {
      if (tag.selfClosing) hosts.push(hostAt(text, lines, element, tag.end, tag.end, 'xml'))
      else {
        host = { element, start: tag.end }
        scan.enter(tag.name)
        return true
      }
    } else if (!tag.selfClosing) open = element
    return false
  })
  yield* scan.reading()
  return hosts
}

function scannedElement(text: string, tag: ScannedTag, parent: ElementNode | undefined): ElementNode {
  return {
    nodeName: tag.name,
    tagName: tag.name,
    namespaceURI: '',
    attrs: tag.attributes.map(a => scannedAttribute(text, a)),
    childNodes: [],
    parentNode: parent ?? null,
  }
}

function scannedAttribute(text: string, at: ScannedAttribute): ElementNode['attrs'][number] {
  const written = text.slice(at.nameStart, at.nameEnd)
  const value = at.valueStart < 0 ? '' : text.slice(at.valueStart, at.valueEnd)
  const colon = written.indexOf(':')
  return colon < 1
    ? { name: written, value }
    : { name: written.slice(colon + 1), prefix: written.slice(0, colon), value }
}
