/** How text becomes part of markup (LIQ-31, LIQ-35): nothing in data can begin or end anything. */

import type { Place, Position } from './place.ts'
import type { Safe } from './values.ts'

const MARKUP: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** References by code unit: those that stand for one are below 64. */
const BY_CODE = Array.from({ length: 64 }, (_, code) => MARKUP[String.fromCharCode(code)])

/** `& < > " '` as references; long texts are looked through in a few milliseconds, three times as fast as by a pattern. */
export function escapeMarkup(text: string): string {
  let escaped = ''
  let last = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const reference = code < 64 ? BY_CODE[code] : undefined
    if (reference === undefined) continue
    escaped += text.slice(last, at) + reference
    last = at + 1
  }
  return last === 0 ? text : escaped + text.slice(last)
}

/** As `escapeMarkup`, but leaves references alone (LIQ-32). */
export function escapeOnce(text: string): string {
  return text.replace(/&(?!(?:[a-z][\da-z]*|#\d+|#x[\da-f]+);)|[<>"']/gi, char => MARKUP[char] ?? char)
}

/** What a name does not hold. */
const NO_NAME = /[^\w.\-\u0080-\u{10ffff}]|[\u0085\u00a0\u2028\u2029]/gu

function reference(char: string): string {
  return `&#${char.codePointAt(0)};`
}

/**
 * Text as it is inserted.
 *
 * @param before the last characters written before it, twelve at most
 */
export function inserted(written: string, place: Place, before: string): string {
  const { position, xml } = place
  const text = xml ? legal(written) : written
  switch (position) {
    case 'raw':
      return inRawText(text, place, before)
    case 'unquoted':
      return escapeMarkup(text).replace(/[\s=`]/gu, reference)
    case 'name':
      // One with a prefix may be that of a directive (COMP-145).
      return text.replace(NO_NAME, reference)
    case 'declaration':
      return text.replace(/[^A-Za-z0-9]/gu, reference)
    case 'comment':
      return withoutDashes(escapeMarkup(text))
    case 'cdata':
      return inSection(text.replaceAll(']', APART), before)
    case 'escapable':
      return behindOpened(escapeMarkup(text), place)
    default:
      return escapeMarkup(text)
  }
}

/** Whether what is inserted there may be part of the name of an element or attribute, or shows what it is by its end alone. */
export function isNamed({ position }: Place): boolean {
  return position === 'name' || position === 'declaration' || position === 'unquoted'
}

/** Whether tags may begin there, or go on. */
export function hasNames({ position }: Place): boolean {
  return position !== 'raw' && position !== 'escapable' && position !== 'comment'
}

/** Whether references mean there what they stand for. */
export function takesReferences(position: Position): boolean {
  return position !== 'raw' && position !== 'comment' && position !== 'cdata'
}

/** Text of markup with references for its colons, which mean the same in texts and values, and make no name (COMP-145). */
export function withoutColons(text: string): string {
  return text.replaceAll(':', reference)
}

/** Safe text as it is inserted; only its author's own mistakes are left in it. */
export function insertedSafe(text: string, trust: Safe['trust'], place: Place, before: string): string {
  const { position, xml } = place
  if (trust === 'trusted') return text
  if (position === 'raw') return setApart(text, place, before)
  if (position === 'escapable') return behindOpened(trust === 'raw' ? escapeMarkup(text) : text, place)
  if (trust === 'raw') {
    if (position === 'cdata') return inSection(text, before)
    return inserted(xml ? text.replaceAll(APART, ']') : text, place, before)
  }
  // Where blanks end a value, escaped text would not be one value.
  if (position === 'unquoted') return text.replace(/[\s=`]/gu, reference)
  // XML has no two dashes in a comment, and a whole page is an error with them.
  if (trust === 'printed' && !(xml && position === 'comment')) return text
  switch (position) {
    case 'name':
    case 'declaration':
    case 'cdata':
      // References mean nothing here, and blanks would begin another attribute.
      return inserted(text, place, before)
    case 'comment':
      return withoutDashes(xml ? legal(text) : text)
    default:
      return xml ? legal(text) : text
  }
}

/** Nothing that ends a comment, or that XML has none of in it. */
function withoutDashes(text: string): string {
  return text.replace(/^!|^-|-(?=-|$)/g, reference)
}

/** A `]` of data in a section, which no `]>` goes on with. */
const APART = ']]]><![CDATA['

/** Text of a section whose beginning does not end it where `]]` stands before it. */
function inSection(text: string, before: string): string {
  return text.startsWith('>') && before.endsWith(']]') ? `]]><![CDATA[${text}` : text
}

function inRawText(text: string, place: Place, before: string): string {
  return setApart(text.replace(/<\/(?=[a-z]|$)/gi, '<\\/').replace(/<!(?=--|-?$)/g, '<\\!'), place, before)
}

/** Text of a `title` or `textarea` that does not go on with what begins like its end tag before it. */
function behindOpened(text: string, { carried, content }: Place): string {
  const end = `</${content}`
  const goesOn =
    carried !== '' && end.startsWith((carried + text.slice(0, end.length)).slice(0, end.length).toLowerCase())
  return goesOn ? text.replace(/^[a-z/\s]/i, reference) : text
}

/** Text that does not go on with what was written before; where a comment stands in a script, it begins none of its own and ends no comment. */
function setApart(text: string, place: Place, before: string): string {
  const result = place.hidden ? inHiddenScript(text, before) : text
  return goesOn(result, place, before) ? `\\${result}` : result
}

/** Behind the end of its comment, a script ends by the end tag of one that stands in its text. */
function inHiddenScript(text: string, before: string): string {
  const result = text
    .replace(/<(?=script)/gi, '<\\')
    .replaceAll('->', '-\\>')
    .replace(/-$/, '\\x2d')
  return result.startsWith('>') && before.endsWith('-') ? `\\${result}` : result
}

/** Whether a text goes on with what was written before in raw text, as a tag or comment. */
export function goesOn(text: string, { hidden }: Place, before: string): boolean {
  const opened = /<(?:\/[a-z]*|!-?|s(?:c(?:r(?:ip?)?)?)?)?$/i.exec(before)?.[0]
  if (opened === undefined || text === '') return false
  if (opened.startsWith('</')) return true
  const joined = (opened + text.slice(0, 7)).slice(0, 7).toLowerCase()
  if (hidden && '<script'.startsWith(joined)) return true
  return joined.startsWith('</') || '<!--'.startsWith(joined.slice(0, 4))
}

/** Characters that no XML document may hold (XML 1.0, section 2.2). */
function legal(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu, '\ufffd')
}
