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

const DELIMITER = /\{[{%]/g
const OUTPUT_END = /["']|\}\}/g
const BLOCK = /\s*(raw|comment)\s*$/
const END = {
  raw: /\{%(-?)\s*endraw\s*(-?)%\}/g,
  comment: /\{%(-?)\s*endcomment\s*(-?)%\}/g,
}

/** Offset of the next opening delimiter; -1 when there is none. */
export function nextDelimiter(text: string, from: number): number {
  DELIMITER.lastIndex = from
  return DELIMITER.exec(text)?.index ?? -1
}

/**
 * Reads the span that opens at an offset.
 *
 * @returns undefined when it does not end
 */
export function spanAt(text: string, start: number): Span | undefined {
  const output = text[start + 1] === '{'
  const close = output ? outputEnd(text, start + 2) : text.indexOf('%}', start + 2)
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
  if (block?.index !== 0) return span
  return blockSpan(text, span, block[1] === 'raw' ? 'raw' : 'comment')
}

function blockSpan(text: string, open: Span, kind: 'raw' | 'comment'): Span | undefined {
  const pattern = END[kind]
  pattern.lastIndex = open.end
  const close = pattern.exec(text)
  if (!close) return undefined
  let innerStart = open.end
  let innerEnd = close.index
  if (open.trimRight) while (innerStart < innerEnd && isBlank(text, innerStart)) innerStart++
  if (close[1]) while (innerEnd > innerStart && isBlank(text, innerEnd - 1)) innerEnd--
  return { ...open, kind, end: pattern.lastIndex, trimRight: close[2] !== '', innerStart, innerEnd }
}

/** The `}}` of an output; one inside a string literal is none. */
function outputEnd(text: string, from: number): number {
  OUTPUT_END.lastIndex = from
  for (let found = OUTPUT_END.exec(text); found; found = OUTPUT_END.exec(text)) {
    if (found[0] === '}}') return found.index
    const quote = found[0].charCodeAt(0)
    let at = found.index + 1
    while (at < text.length && text.charCodeAt(at) !== quote) at += text[at] === '\\' ? 2 : 1
    if (at >= text.length) return -1
    OUTPUT_END.lastIndex = at + 1
  }
  return -1
}

export function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 0x20 || (code >= 9 && code <= 13) || (code >= 0xa0 && /\s/.test(text[at] ?? ''))
}
