/** Filters of text (LIQ-32, LIQ-33, LIQ-34, LIQ-37, section 10). */

import { asciiLower } from '../../../tree/ascii.ts'
import { parting, placeOf } from '../../../tree/selector/substring.ts'
import { ElementValue } from '../../values.ts'
import { escapeMarkup, escapeOnce } from '../escape.ts'
import { characterCount } from '../run.ts'
import { hashKeys, isHash, isList, type LiquidValue, plain, Range, Safe, type Span } from '../values.ts'
import { pausing, type Work } from '../work.ts'
import { turn, visited } from './arrays.ts'
import {
  countArgument,
  type FilterCall,
  type Filters,
  fail,
  inputText,
  listOf,
  required,
  scannedText,
  textArgument,
  type WorkFilters,
} from './call.ts'

/** A filter from text to text; what it builds counts. */
function text(change: (input: string, call: FilterCall) => string): (call: FilterCall) => LiquidValue {
  return call => call.run.built(change(scannedText(call), call))
}

function safe(change: (input: string, call: FilterCall) => string): (call: FilterCall) => LiquidValue {
  const plainFilter = text(change)
  return call => new Safe(call.run.text(plainFilter(call)), 'escaped')
}

function withBreaks(text: string): string {
  return text.replace(/\r?\n/g, '<br />\n')
}

export const STRING_FILTERS: Filters = {
  downcase: text(input => input.toLowerCase()),
  upcase: text(input => input.toUpperCase()),
  capitalize: text(input => {
    const [first = ''] = input
    return first.toUpperCase() + input.slice(first.length).toLowerCase()
  }),
  strip: text(input => input.trim()),
  lstrip: text(input => input.trimStart()),
  rstrip: text(input => input.trimEnd()),
  strip_newlines: text(input => input.replace(/[\r\n]/g, '')),
  newline_to_br: call => {
    const { input } = call
    const text = scannedText(call)
    if (!(input instanceof Safe)) return new Safe(call.run.built(withBreaks(escapeMarkup(text))), 'escaped')
    const data: Span[] = []
    let broken = ''
    let last = 0
    for (const [start, end, position] of input.data) {
      broken += withBreaks(text.slice(last, start))
      const at = broken.length
      broken += withBreaks(text.slice(start, end))
      data.push([at, broken.length, position])
      last = end
    }
    broken += withBreaks(text.slice(last))
    return new Safe(call.run.built(broken), input.trust, data)
  },
  normalize_whitespace: text(input => input.replace(/\s+/gu, ' ').trim()),
  squish: text(input => input.replace(/\s+/gu, ' ').trim()),
  escape: safe(escapeMarkup),
  xml_escape: safe(escapeMarkup),
  escape_once: safe(escapeOnce),
  raw: call => new Safe(inputText(call), 'trusted'),
  url_encode: text(formEncoded),
  cgi_escape: text(formEncoded),
  url_decode: text(formDecoded),
  uri_escape: text(input => encodeURI(input.toWellFormed()).replace(/%5B/g, '[').replace(/%5D/g, ']')),
  strip_html: text(withoutMarkup),
  replace_first: text((input, call) => replaced(input, call, 'first')),
  replace_last: text((input, call) => replaced(input, call, 'last')),
  remove_first: text((input, call) => replaced(input, call, 'first', '')),
  remove_last: text((input, call) => replaced(input, call, 'last', '')),
  append: call => call.run.built(inputText(call) + textArgument(call, 0)),
  prepend: call => call.run.built(textArgument(call, 0) + inputText(call)),
  truncate: text((input, call) => {
    const most = countArgument(call, 0, 50)
    const tail = textArgument(call, 1, '...')
    if (characterCount(input) <= most) return input
    return (
      Array.from(input)
        .slice(0, Math.max(0, most - characterCount(tail)))
        .join('') + tail
    )
  }),
  truncatewords: text((input, call) => {
    const most = Math.max(1, countArgument(call, 0, 15))
    const tail = textArgument(call, 1, '...')
    const words = input.split(/\s+/u).filter(word => word !== '')
    return words.length <= most ? input : words.slice(0, most).join(' ') + tail
  }),
  size: ({ run, input }) => {
    const bare = plain(input)
    if (typeof bare === 'string') return run.sizeOf(bare)
    if (isList(bare)) return BigInt(bare.length)
    if (bare instanceof Range) return bare.size
    if (isHash(bare) || bare instanceof ElementValue) return run.member(bare, 'size')
    return 0n
  },
  number_of_words: call => BigInt((scannedText(call).match(/\S+/gu) ?? []).length),
  default: call => {
    const value = plain(call.input)
    const otherwise = required(call, 0)
    if (value === false) {
      const allowed = plain(call.named.get('allow_false') ?? false)
      return allowed === true ? call.input : otherwise
    }
    const none = value === null || value === '' || (isList(value) && value.length === 0)
    return none || (isHash(value) && hashKeys(value).length === 0) ? otherwise : call.input
  },
  slugify: text(input =>
    input
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, '-')
      .replace(/^-|-$/g, ''),
  ),
  base64_encode: text(input => Buffer.from(input.toWellFormed()).toString('base64')),
  base64_url_safe_encode: text(input =>
    Buffer.from(input.toWellFormed()).toString('base64').replaceAll('+', '-').replaceAll('/', '_'),
  ),
  base64_decode: text((input, call) => fromBase64(input, call, /^[A-Za-z\d+/]*={0,2}$/)),
  base64_url_safe_decode: text((input, call) => fromBase64(input, call, /^[\w-]*={0,2}$/)),
}

export const STRING_WORK_FILTERS: WorkFilters = {
  replace: call => replacedEverywhere(call, textArgument(call, 1, '')),
  remove: call => replacedEverywhere(call, ''),
  *split(call) {
    const input = scannedText(call)
    const separator = textArgument(call, 0)
    const parts = separator === '' ? Array.from(input) : yield* parted(input, separator)
    call.run.step(parts.length)
    call.run.allowance.take(parts.length * 16 + input.length * 2)
    return parts
  },
  *slice(call) {
    const bare = plain(call.input)
    const isText = !isList(bare) && !(bare instanceof Range)
    const whole = isText ? Array.from(scannedText(call)) : yield* listOf(bare, call.run)
    call.run.step(1 + (whole.length >> 3))
    const given = countArgument(call, 0)
    const length = countArgument(call, 1, 1)
    const start = given < 0 ? whole.length + given : given
    const part = start < 0 || length <= 0 ? [] : whole.slice(start, start + length)
    call.run.allowance.take(part.length * 8)
    return isText ? part.join('') : part
  },
  *array_to_sentence_string(call) {
    const parts: string[] = []
    for (const value of yield* visited(call)) {
      parts.push(call.run.text(value))
      yield* turn(call, parts)
    }
    const word = textArgument(call, 0, 'and')
    // Many parts may be one long text.
    call.run.allowance.take(parts.reduce((size, part) => size + part.length + 2, word.length) * 2)
    const last = parts.pop() ?? ''
    if (parts.length === 0) return last
    const oxford = parts.length > 1 ? ',' : ''
    return `${parts.join(', ')}${oxford} ${word} ${last}`
  },
}

function formEncoded(input: string): string {
  return encodeURIComponent(input.toWellFormed())
    .replaceAll('%20', '+')
    .replace(/[!'()]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** Malformed escapes stay as written; bytes that are no UTF-8 become replacement characters. */
function formDecoded(input: string): string {
  if (!/[%+]/.test(input)) return input
  const bytes = Buffer.from(input)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    let byte = bytes[at] ?? 0
    if (byte === PLUS) byte = SPACE
    else if (byte === PERCENT) {
      const [high, low] = [hexDigit(bytes[at + 1]), hexDigit(bytes[at + 2])]
      if (high !== undefined && low !== undefined) {
        byte = high * 16 + low
        at += 2
      }
    }
    // What is decoded is never longer.
    bytes[length++] = byte
  }
  return bytes.toString('utf8', 0, length)
}

const [PLUS, SPACE, PERCENT] = [0x2b, 0x20, 0x25]

function hexDigit(byte: number | undefined): number | undefined {
  if (byte === undefined) return undefined
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  // Letters differ by one bit in upper and lower case.
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined
}

/** Drops `script`, `style` and comments with their content, then every tag; each character is looked at once. */
function withoutMarkup(input: string): string {
  // A capital of Turkish is two characters in lower case: places in the text would be others.
  const lower = asciiLower(input)
  // Ends that do not come any more: they are looked for once.
  const missing = new Set<string>()
  const endOf = (end: string, from: number): number => {
    const at = missing.has(end) ? -1 : lower.indexOf(end, from)
    if (at !== -1) return at + end.length
    missing.add(end)
    return -1
  }
  let result = ''
  let at = 0
  for (;;) {
    const open = input.indexOf('<', at)
    if (open === -1) return result + input.slice(at)
    const hidden = /^<(?:!--|(script|style)(?=[\s/>]))/.exec(lower.slice(open, open + 8))
    const block = hidden ? endOf(hidden[1] ? `</${hidden[1]}>` : '-->', open + 1) : -1
    const end = block === -1 ? endOf('>', open + 1) : block
    if (end === -1) return result + input.slice(at)
    result += input.slice(at, open)
    at = end
  }
}

function* replacedEverywhere(call: FilterCall, replacement: string): Work<LiquidValue> {
  const input = scannedText(call)
  const searched = textArgument(call, 0)
  if (searched === '') return call.run.built(input)
  const parts = yield* parted(input, searched)
  call.run.allowance.take(input.length + (parts.length - 1) * (replacement.length - searched.length))
  return call.run.built(parts.join(replacement))
}

/** What `split` of JavaScript gives; a text may have hundreds of thousands of parts. */
function parted(input: string, separator: string): Work<string[]> {
  return pausing(parting(input, separator, () => undefined))
}

function replaced(input: string, call: FilterCall, which: 'first' | 'last', fixed?: string): string {
  const searched = textArgument(call, 0)
  const replacement = fixed ?? textArgument(call, 1, '')
  const at = searched === '' ? -1 : placeOf(input, searched, which)
  return at === -1 ? input : input.slice(0, at) + replacement + input.slice(at + searched.length)
}

function fromBase64(input: string, call: FilterCall, alphabet: RegExp): string {
  const digits = input.replace(/\s+/g, '')
  const bytes = Buffer.from(digits, 'base64')
  if (!alphabet.test(digits) || digits.replace(/==?$/, '').length % 4 === 1) throw fail(call, 'the input is no base64.')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw fail(call, 'the input holds no UTF-8.')
  }
}
