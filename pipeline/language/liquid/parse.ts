/** From source to template: blocks and tags (LIQ-24), and the place of each output (LIQ-35). */

import type { Steps } from '../../tree/steps.ts'
import { Lines, TemplateError } from './error.ts'
import type { OutputPlace } from './escape.ts'
import { ExpressionReader, Malformed, shortened } from './expression.ts'
import { type MarkupContext, MarkupScanner } from './markup.ts'
import { decoded } from './references.ts'
import { isBlank, type Span, Spans } from './spans.ts'
import { closeBlock, divideBlock, isDivider, isOpening, openBlock, plainTag } from './tags.ts'
import type { Node, Template } from './template.ts'

/** Blocks inside blocks; rendering recurses into them. */
const MAX_BLOCKS = 100

/** Spans, and lines of `liquid` tags, that are read in one step. */
const PER_STEP = 500

/** A block that is not closed yet. */
export interface OpenBlock {
  /** Name of its tag. */
  tag: string
  line: number
  /** Where what is read next belongs. */
  body: Node[]
  /** Makes the node once the block is closed. */
  node: Node
  /** What `else`, `elsif` and `when` add to. */
  hasElse: boolean
  /** Where in markup the block began; its branches should end there, too. */
  fingerprint: string
  /** Spans before it whose place is certain. */
  outputs: number
  /** Whether a value before it may have no text yet. */
  valueOpen: boolean
  /** The same behind one of its branches. */
  leavesOpen: boolean
}

/** A `liquid` tag whose lines are being read. */
interface LineList {
  lines: readonly string[]
  next: number
  place: OutputPlace
  /** Blocks that were open before it. */
  depth: number
  line: number
  /** The block without tags that is open: `comment` or `raw`. */
  ignored: 'comment' | 'raw' | undefined
}

export interface Parsing {
  line: number
  place: OutputPlace
  blocks: OpenBlock[]
}

/**
 * Reads a template.
 *
 * @throws TemplateError (LIQ-64)
 */
export function* parsing(source: string, context: MarkupContext): Steps<Template> {
  const parser = new Parser(source, context)
  let count = 0
  while (parser.next()) if (++count % PER_STEP === 0) yield
  return { nodes: parser.end(), words: parser.words }
}

class Parser {
  readonly #source: string
  readonly #spans: Spans
  readonly #scanner: MarkupScanner
  readonly #xml: boolean
  readonly #root: Node[] = []
  readonly #blocks: OpenBlock[] = []
  /** The `liquid` tags that are being read, the innermost last. */
  readonly #lists: LineList[] = []
  words = 0
  #at = 0
  #trim = false
  readonly #lines: Lines
  #line = 1
  /** An unquoted value may have no text yet where the next one begins. */
  #valueOpen = false
  /** Where spans stand, as far as that is certain: a loop may begin once more somewhere else. */
  readonly #outputs: OutputPlace[] = []
  /** Branches leave markup in different states: where an output stands is not certain. */
  #uncertain = false

  constructor(source: string, context: MarkupContext) {
    this.#source = source
    this.#spans = new Spans(source)
    this.#lines = new Lines(source)
    this.#scanner = new MarkupScanner(context)
    this.#xml = context.kind === 'xml'
  }

  /** Reads text and the span behind it, or a line of a `liquid` tag; false at the end. */
  next(): boolean {
    const list = this.#lists.at(-1)
    if (list) {
      this.#nextLine(list)
      return true
    }
    const open = this.#spans.nextDelimiter(this.#at)
    if (open === -1) {
      this.#literal(this.#at, this.#source.length, false)
      return false
    }
    const span = this.#spans.at(open)
    if (!span) {
      this.#goTo(open)
      throw this.#error(`${shortened(this.#source.slice(open, open + 40))} is not closed.`)
    }
    this.#literal(this.#at, span.start, span.trimLeft)
    this.#goTo(span.start)
    this.#span(span)
    this.#at = span.end
    this.#trim = span.trimRight
    return true
  }

  end(): Node[] {
    const block = this.#blocks.at(-1)
    if (block) throw new TemplateError(`The block ${block.tag} is not closed.`, block.line)
    return this.#root
  }

  #goTo(offset: number): void {
    this.#line = this.#lines.at(offset)
  }

  #literal(from: number, to: number, trimEnd: boolean): void {
    let start = from
    let end = to
    if (this.#trim) while (start < end && isBlank(this.#source, start)) start++
    if (trimEnd) while (end > start && isBlank(this.#source, end - 1)) end--
    this.#trim = false
    this.#text(start, end)
  }

  #text(start: number, end: number): void {
    if (start >= end) return
    const endsValue = this.#valueOpen && /[\s>]/.test(this.#source[start] ?? '')
    this.#valueOpen = false
    this.#body().push({ kind: 'text', text: this.#source.slice(start, end), endsValue })
    this.words++
    for (let at = start; at < end; ) at = this.#scanner.read(this.#source, at, end)
  }

  #body(): Node[] {
    return this.#blocks.at(-1)?.body ?? this.#root
  }

  #span(span: Span): void {
    if (this.#scanner.beforeValue) this.#valueOpen = true
    const place = this.#place()
    if (span.kind === 'raw') this.#text(span.innerStart, span.innerEnd)
    if (span.kind === 'raw' || span.kind === 'comment') return
    const written = this.#source.slice(span.bodyStart, span.bodyEnd)
    const text = decoded(written, this.#scanner.position, this.#xml)
    if (span.kind === 'tag') {
      this.#tag(text.trim(), place)
      return
    }
    this.#reading(() => this.#body().push({ kind: 'output', value: this.#reader(text).whole(), place }))
    this.#scanner.output()
  }

  #place(): OutputPlace {
    const { position, hidden } = this.#scanner
    const place = { position, xml: this.#xml, hidden, uncertain: false }
    if (this.#uncertain) makeUncertain(place)
    else this.#outputs.push(place)
    return place
  }

  #tag(text: string, place: OutputPlace): void {
    if (text.startsWith('#')) {
      if (/\n[^\S\n]*[^#\s]/.test(text)) throw this.#error('Every line of an inline comment begins with #.')
      return
    }
    const name = /^[\w-]+\??/.exec(text)?.[0] ?? ''
    const rest = text.slice(name.length)
    if (name === 'liquid') this.#openList(rest, place)
    else this.#statement(name, rest, place)
  }

  /** Each line of a `liquid` tag is a tag; its blocks are closed inside it. */
  #openList(text: string, place: OutputPlace): void {
    if (this.#lists.length >= MAX_BLOCKS) throw this.#error('Tags are nested too deeply.')
    this.#lists.push({
      lines: text.split('\n'),
      next: 0,
      place,
      depth: this.#blocks.length,
      line: this.#line,
      ignored: undefined,
    })
  }

  #nextLine(list: LineList): void {
    const written = list.lines[list.next]
    if (written === undefined) {
      this.#closeList(list)
      return
    }
    this.#line = list.line + list.next++
    const line = written.trim()
    if (list.ignored !== undefined) {
      if (line === `end${list.ignored}`) list.ignored = undefined
    } else if (line === 'comment' || line === 'raw') list.ignored = line
    else if (line !== '') this.#tag(line, list.place)
    if (this.#blocks.length < list.depth) throw this.#error('A liquid tag closes a block that it does not open.')
  }

  #closeList({ line, ignored, depth }: LineList): void {
    this.#line = line
    if (ignored !== undefined) throw this.#error(`The block ${ignored} is not closed.`)
    const block = this.#blocks[depth]
    if (block) throw new TemplateError(`The block ${block.tag} is not closed.`, block.line)
    this.#lists.pop()
  }

  #statement(name: string, text: string, place: OutputPlace): void {
    this.#reading(() => {
      const state: Parsing = { line: this.#line, place, blocks: this.#blocks }
      const reader = this.#reader(text)
      const block = this.#blocks.at(-1)
      if (isOpening(name)) {
        if (this.#blocks.length >= MAX_BLOCKS) throw new Malformed('Blocks are nested too deeply.')
        const { fingerprint, inNames } = this.#scanner
        // A loop begins once more behind what stands at its end, or where it goes on.
        const valueOpen = this.#valueOpen || (isLoop(name) && inNames)
        this.#valueOpen = valueOpen
        const begun = { fingerprint, outputs: this.#outputs.length, valueOpen, leavesOpen: valueOpen }
        this.#blocks.push(openBlock(name, reader, state, begun))
      } else if (isDivider(name)) {
        this.#compare(block)
        divideBlock(name, reader, state)
        if (block) {
          block.leavesOpen ||= this.#valueOpen
          this.#valueOpen = block.valueOpen
        }
      } else if (name.startsWith('end') && block) {
        this.#compare(block)
        closeBlock(name, reader, state)
        this.#valueOpen ||= block.leavesOpen
        this.#body().push(block.node)
      } else {
        const node = plainTag(name, reader, state)
        if (node) this.#body().push(node)
        if (name === 'echo' || name === 'cycle') this.#scanner.output()
        if (name === 'break' || name === 'continue') this.#compare(this.#blocks.findLast(({ tag }) => isLoop(tag)))
      }
    })
  }

  #reader(text: string): ExpressionReader {
    const reader = new ExpressionReader(text)
    this.words += 1 + reader.words
    return reader
  }

  #compare(block: OpenBlock | undefined): void {
    if (!block || block.fingerprint === this.#scanner.fingerprint || !changesRules(block, this.#scanner)) return
    this.#uncertain = true
    // The next time it begins where it has ended.
    if (isLoop(block.tag)) for (const place of this.#outputs.splice(block.outputs)) makeUncertain(place)
  }

  #reading(read: () => void): void {
    try {
      read()
    } catch (error) {
      throw error instanceof Malformed ? this.#error(error.message) : error
    }
  }

  #error(message: string): TemplateError {
    return new TemplateError(message, this.#line)
  }
}

function isLoop(tag: string): boolean {
  return tag === 'for' || tag === 'tablerow'
}

function makeUncertain(place: OutputPlace): void {
  const { position } = place
  place.position = position === 'text' || position === 'escapable' ? 'text' : 'unquoted'
  place.uncertain = true
}

/** Whether what follows would be read by other rules if the branch were not taken. */
function changesRules(block: OpenBlock, scanner: MarkupScanner): boolean {
  const [before = '', ...rest] = block.fingerprint.split(' ')
  const [after = '', ...others] = scanner.fingerprint.split(' ')
  const names = ['tag-name', 'before-attribute', 'attribute-name', 'after-name']
  // Attributes and their values come and go as a whole.
  const inTag = [...names, 'before-value', 'unquoted']
  if (rest.join(' ') !== others.join(' ')) return true
  return before !== after && !(inTag.includes(before) && inTag.includes(after))
}
