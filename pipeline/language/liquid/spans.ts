/** Spans of Liquid in text: `{{ … }}` and `{% … %}`, with `raw` and `comment` blocks as one span each (LIQ-6, LIQ-8). */

export type SpanKind = 'output' | 'tag' | 'comment' | 'raw'

/** Half-open ranges of UTF-16 code units in the text. */
export interface Span {
  kind: SpanKind
  /** With delimiters; a `comment` or `raw` block with its end tag. */
  start: number
  end: number
  /** What stands between delimiters and hyphens; of a block, its opening tag's. */
  bodyStart: number
  bodyEnd: number
  /** White space before, and after, is stripped. */
  trimLeft: boolean
  trimRight: boolean
  /** The literal text of a `raw` block, its own white space control applied. */
  innerStart: number
  innerEnd: number
}

const HYPHEN = 0x2d
const BRACE = 0x7d

const DELIMITER = /\{[{%]/g
const OUTPUT_END = /["']|\}\}/g
const BLOCK = /^\s*(raw|comment)\s*$/
const END = {
  raw: /\{%(-?)\s*endraw\s*(-?)%\}/g,
  comment: /\{%(-?)\s*endcomment\s*(-?)%\}/g,
}

/**
 * The spans of one text, asked for from its beginning to its end. What was looked for and stands far behind, or nowhere, is
 * not looked for again: each character is gone through a few times, whatever is asked.
 */
export class Spans {
  readonly #text: string
  /** The opening delimiter that was found last, and from where on. */
  #delimiter = { from: 0, at: -1, known: false }
  #last: { start: number; span: Span | undefined } | undefined
  /** From here on there is no such end. */
  readonly #endless = {
    tag: Number.POSITIVE_INFINITY,
    raw: Number.POSITIVE_INFINITY,
    comment: Number.POSITIVE_INFINITY,
  }
  /** The quote or end of an output that was found last, and from where on. */
  #mark: { from: number; at: number } | undefined
  /** Quotes that open a string in an output that does not end. */
  readonly #lost = new Set<number>()

  constructor(text: string) {
    this.#text = text
  }

  /** Offset of the next opening delimiter; -1 when there is none. */
  nextDelimiter(from: number): number {
    const { from: known, at } = this.#delimiter
    if (this.#delimiter.known && known <= from && (at === -1 || from <= at)) return at
    DELIMITER.lastIndex = from
    const found = DELIMITER.exec(this.#text)?.index ?? -1
    this.#delimiter = { from, at: found, known: true }
    return found
  }

  /**
   * Reads the span that opens at an offset.
   *
   * @returns undefined when it does not end
   */
  at(start: number): Span | undefined {
    if (this.#last?.start !== start) this.#last = { start, span: this.#read(start) }
    return this.#last.span
  }

  #read(start: number): Span | undefined {
    const text = this.#text
    const output = text[start + 1] === '{'
    const close = output ? this.#outputEnd(start + 2) : this.#tagEnd(start + 2)
    if (close === -1) return undefined
    const trimLeft = text.charCodeAt(start + 2) === HYPHEN && close > start + 2
    const bodyStart = start + (trimLeft ? 3 : 2)
    const trimRight = close > bodyStart && text.charCodeAt(close - 1) === HYPHEN
    const bodyEnd = trimRight ? close - 1 : close
    const end = close + 2
    const span: Span = {
      kind: output ? 'output' : 'tag',
      start,
      end,
      bodyStart,
      bodyEnd,
      trimLeft,
      trimRight,
      innerStart: end,
      innerEnd: end,
    }
    if (output) return span
    const block = bodyEnd - bodyStart < 64 ? BLOCK.exec(text.slice(bodyStart, bodyEnd)) : null
    if (!block) return span
    return this.#block(span, block[1] === 'raw' ? 'raw' : 'comment')
  }

  #tagEnd(from: number): number {
    if (from >= this.#endless.tag) return -1
    const close = this.#text.indexOf('%}', from)
    if (close === -1) this.#endless.tag = from
    return close
  }

  #block(open: Span, kind: 'raw' | 'comment'): Span | undefined {
    if (open.end >= this.#endless[kind]) return undefined
    const text = this.#text
    const pattern = END[kind]
    pattern.lastIndex = open.end
    const close = pattern.exec(text)
    if (!close) {
      this.#endless[kind] = open.end
      return undefined
    }
    let innerStart = open.end
    let innerEnd = close.index
    if (open.trimRight) while (innerStart < innerEnd && isBlank(text, innerStart)) innerStart++
    if (close[1]) while (innerEnd > innerStart && isBlank(text, innerEnd - 1)) innerEnd--
    return { ...open, kind, end: pattern.lastIndex, trimRight: close[2] !== '', innerStart, innerEnd }
  }

  /** The `}}` of an output; one inside a string literal is none. */
  #outputEnd(from: number): number {
    const text = this.#text
    const quotes: number[] = []
    for (let at = this.#nextMark(from); at !== -1 && !this.#lost.has(at); at = this.#nextMark(at + 1)) {
      const quote = text.charCodeAt(at)
      if (quote === BRACE) return at
      quotes.push(at)
      at++
      while (at < text.length && text.charCodeAt(at) !== quote) at += text[at] === '\\' ? 2 : 1
      if (at >= text.length) break
    }
    for (const quote of quotes) this.#lost.add(quote)
    return -1
  }

  #nextMark(from: number): number {
    const last = this.#mark
    if (last && last.from <= from && (last.at === -1 || from <= last.at)) return last.at
    OUTPUT_END.lastIndex = from
    const at = OUTPUT_END.exec(this.#text)?.index ?? -1
    this.#mark = { from, at }
    return at
  }
}

export function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 0x20 || (code >= 9 && code <= 13) || (code >= 0xa0 && /\s/.test(text[at] ?? ''))
}
