/** From source to template: blocks and tags (LIQ-24). */

import type { Steps } from '../../tree/steps.ts'
import { Lines, TemplateError } from './error.ts'
import { ExpressionReader, Malformed, shortened } from './expression.ts'
import { MarkupScanner } from './markup.ts'
import { type MarkupContext, type Place, startOf } from './place.ts'
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
}

/** A `liquid` tag whose lines are being read. */
interface LineList {
  lines: readonly string[]
  next: number
  /** Blocks that were open before it. */
  depth: number
  line: number
  /** The block without tags that is open: `comment` or `raw`. */
  ignored: 'comment' | 'raw' | undefined
}

export interface Parsing {
  line: number
  blocks: OpenBlock[]
}

/**
 * Reads a template.
 *
 * @throws TemplateError (LIQ-64)
 */
export function* parsing(source: string, context: MarkupContext): Steps<Template> {
  const start = startOf(context)
  const parser = new Parser(source, start)
  let count = 0
  while (parser.next()) if (++count % PER_STEP === 0) yield
  return { nodes: parser.end(), start, words: parser.words }
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

  constructor(source: string, start: Place) {
    this.#source = source
    this.#spans = new Spans(source)
    this.#lines = new Lines(source)
    this.#scanner = new MarkupScanner(start)
    this.#xml = start.xml
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
    this.#body().push({ kind: 'text', text: this.#source.slice(start, end) })
    this.words += 2
    for (let at = start; at < end; ) at = this.#scanner.read(this.#source, at, end)
  }

  #body(): Node[] {
    return this.#blocks.at(-1)?.body ?? this.#root
  }

  #span(span: Span): void {
    this.#scanner.apart()
    if (span.kind === 'raw') this.#text(span.innerStart, span.innerEnd)
    if (span.kind === 'raw' || span.kind === 'comment') return
    const written = this.#source.slice(span.bodyStart, span.bodyEnd)
    const text = decoded(written, this.#scanner.position, this.#xml)
    if (span.kind === 'tag') {
      this.#tag(text.trim())
      return
    }
    this.#reading(() => this.#body().push({ kind: 'output', value: this.#reader(text).whole() }))
    this.#scanner.output()
  }

  #tag(text: string): void {
    if (text.startsWith('#')) {
      if (/\n[^\S\n]*[^#\s]/.test(text)) throw this.#error('Every line of an inline comment begins with #.')
      return
    }
    const name = /^[\w-]+\??/.exec(text)?.[0] ?? ''
    const rest = text.slice(name.length)
    if (name === 'liquid') this.#openList(rest)
    else this.#statement(name, rest)
  }

  /** Each line of a `liquid` tag is a tag; its blocks are closed inside it. */
  #openList(text: string): void {
    if (this.#lists.length >= MAX_BLOCKS) throw this.#error('Tags are nested too deeply.')
    this.#lists.push({
      lines: text.split('\n'),
      next: 0,
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
    else if (line !== '') this.#tag(line)
    if (this.#blocks.length < list.depth) throw this.#error('A liquid tag closes a block that it does not open.')
  }

  #closeList({ line, ignored, depth }: LineList): void {
    this.#line = line
    if (ignored !== undefined) throw this.#error(`The block ${ignored} is not closed.`)
    const block = this.#blocks[depth]
    if (block) throw new TemplateError(`The block ${block.tag} is not closed.`, block.line)
    this.#lists.pop()
  }

  #statement(name: string, text: string): void {
    this.#reading(() => {
      const state: Parsing = { line: this.#line, blocks: this.#blocks }
      const reader = this.#reader(text)
      const block = this.#blocks.at(-1)
      if (isOpening(name)) {
        if (this.#blocks.length >= MAX_BLOCKS) throw new Malformed('Blocks are nested too deeply.')
        this.#blocks.push(openBlock(name, reader, state))
      } else if (isDivider(name)) divideBlock(name, reader, state)
      else if (name.startsWith('end') && block) {
        closeBlock(name, reader, state)
        this.#body().push(block.node)
      } else {
        const node = plainTag(name, reader, state)
        if (node) this.#body().push(node)
        if (name === 'echo' || name === 'cycle') this.#scanner.output()
      }
    })
  }

  #reader(text: string): ExpressionReader {
    const reader = new ExpressionReader(text)
    this.words += 1 + reader.words
    return reader
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
