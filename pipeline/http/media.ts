/** Media types: what is stored for a path, what kind of resource a type makes, and how it is served (HTTP-20 to HTTP-23). */

import { Fault } from '../fault.ts'

/** The languages that QUERY answers (HTTP-123, CAP-9). */
export const ACCEPT_QUERY = 'text/css-selector, text/sessel'

/** HTML and XML documents have elements; everything else is a blob (HTTP-21). */
export type Kind = 'html' | 'xml' | 'blob'

/** Types by file name extension (HTTP-20). */
const TYPE_OF_EXTENSION: ReadonlyMap<string, string> = new Map([
  ['html', 'text/html'],
  ['htm', 'text/html'],
  ['css', 'text/css'],
  ['js', 'text/javascript'],
  ['mjs', 'text/javascript'],
  ['json', 'application/json'],
  ['map', 'application/json'],
  ['webmanifest', 'application/manifest+json'],
  ['xml', 'application/xml'],
  ['rss', 'application/rss+xml'],
  ['atom', 'application/atom+xml'],
  ['xhtml', 'application/xhtml+xml'],
  ['svg', 'image/svg+xml'],
  ['png', 'image/png'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['avif', 'image/avif'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['ico', 'image/x-icon'],
  ['woff', 'font/woff'],
  ['woff2', 'font/woff2'],
  ['ttf', 'font/ttf'],
  ['otf', 'font/otf'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['csv', 'text/csv'],
  ['md', 'text/markdown'],
  ['zip', 'application/zip'],
  ['gz', 'application/gzip'],
  ['wasm', 'application/wasm'],
  ['mp3', 'audio/mpeg'],
  ['mp4', 'video/mp4'],
  ['webm', 'video/webm'],
  ['ics', 'text/calendar'],
])

/** The first extension listed for a type is the one generated names get. */
const EXTENSION_OF_TYPE: ReadonlyMap<string, string> = new Map([
  ...[...TYPE_OF_EXTENSION].map(([extension, type]): [string, string] => [type, extension]).reverse(),
  ['application/javascript', 'js'],
  ['application/x-javascript', 'js'],
  ['text/xml', 'xml'],
])

const DEFAULT_TYPE = 'application/octet-stream'

/** Characters of a content type, and of languages, that a file is stored with: whoever lists files holds those of each (SEC-12). */
const LONGEST_FIELD = 1024

/** Script types of HTTP-150. */
const JAVASCRIPT = new Set(['text/javascript', 'application/javascript', 'application/x-javascript'])

/** Types outside `text/*`, `+json` and `+xml` whose bytes shrink. */
const COMPRESSIBLE = new Set([
  'application/json',
  'application/xml',
  'application/javascript',
  'application/x-javascript',
  'application/wasm',
  'application/vnd.ms-fontobject',
  'font/ttf',
  'font/otf',
  'image/x-icon',
  'image/bmp',
  'multipart/mixed',
])

/**
 * Decides the type stored by a whole-document write (HTTP-20).
 *
 * @param path decoded; a path ending in `/` is its `index.html`
 * @param requestType `Content-Type` of the request; kept verbatim, with parameters
 */
export function storedType(path: string, requestType: string | undefined): string {
  const fromName = path.endsWith('/') ? 'text/html' : TYPE_OF_EXTENSION.get(extensionOf(path))
  if (fromName === 'text/html') return fromName
  if (requestType !== undefined && requestType !== '') return requestType
  return fromName ?? DEFAULT_TYPE
}

/** Whether a content type, or what a file is said to be written in, is longer than any that is meant. */
export function isOverlong(field = ''): boolean {
  return field.length > LONGEST_FIELD
}

/** @throws Fault 400 for a type or languages that no file is stored with */
export function checkStorable(type: string, language: string | undefined): void {
  const name = isOverlong(type) ? 'Content-Type' : isOverlong(language) ? 'Content-Language' : undefined
  if (name === undefined) return
  throw new Fault(400, 'BadRequest', `${name} is longer than ${LONGEST_FIELD} characters.`)
}

/** Bytes of memory that the texts take which a file is stored with: they are as long as somebody has made them. */
export function textBytes({ path, type, language = '' }: { path: string; type: string; language?: string }): number {
  return path.length + type.length + language.length
}

/** @returns what follows the last dot of the last segment, in lower case; empty without a dot */
function extensionOf(path: string): string {
  const dot = path.lastIndexOf('.')
  return dot > path.lastIndexOf('/') ? path.slice(dot + 1).toLowerCase() : ''
}

/** @returns the extension, without dot, for a generated name; `bin` for types that have none (COMP-108) */
export function extensionFor(type: string | undefined): string {
  return (type !== undefined && EXTENSION_OF_TYPE.get(essence(type))) || 'bin'
}

/** @returns the media type without parameters, in lower case */
export function essence(type: string): string {
  const end = type.indexOf(';')
  return (end < 0 ? type : type.slice(0, end)).trim().toLowerCase()
}

/** @returns the kind of resource that a content type makes; parameters do not matter (HTTP-21) */
export function kindOf(type: string): Kind {
  const name = essence(type)
  if (name === 'text/html') return 'html'
  if (name === 'application/xml' || name === 'text/xml') return 'xml'
  return name.endsWith('+xml') && name.includes('/') && !name.startsWith('image/') ? 'xml' : 'blob'
}

/** @returns whether blobs of this type are CSS, JavaScript, images or fonts, which caches may keep (HTTP-150) */
export function isStaticAsset(type: string): boolean {
  const name = essence(type)
  return (
    name === 'text/css' ||
    name.startsWith('image/') ||
    name.startsWith('font/') ||
    JAVASCRIPT.has(name) ||
    name.startsWith('application/font-') ||
    name === 'application/vnd.ms-fontobject'
  )
}

/** What all readers take apart alike. Browsers split others at commas (the last type counts), and find other parameters in them. */
const UNAMBIGUOUS =
  /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+[ \t]*(?:;[ \t]*(?:[\w!#$%&'*+.^`|~-]+(?:=(?:[\w!#$%&'*+.^`|~-]+|"(?:[^"\\,]|\\[^,])*")?)?[ \t]*)?)*$/

/** @returns whether all readers take a type for the same one */
export function isUnambiguous(type: string): boolean {
  return UNAMBIGUOUS.test(type)
}

/**
 * @param type the stored type
 * @param validUtf8 whether the bytes to be sent are valid UTF-8
 * @returns `Content-Type` of an answer: the stored type, for HTML with `charset=utf-8` where that is true and the type
 *   names no charset of its own (HTTP-23); of a document whose type browsers may take for another one, what it was read as
 */
export function servedType(type: string, validUtf8: boolean): string {
  if (type === 'text/html') return validUtf8 ? 'text/html; charset=utf-8' : type
  const kind = kindOf(type)
  if (kind !== 'blob' && !isUnambiguous(type))
    return kind === 'xml' ? 'application/xml' : servedType('text/html', validUtf8)
  if (!validUtf8 || kind !== 'html') return type
  const charset = charsetsIn(type)[0]?.charset
  if (charset === undefined) return `${type}; charset=utf-8`
  return charset === '' ? inUtf8(type) : type
}

/** As `servedType`, of a page that was put together: it is UTF-8, whatever its author's document is taken for. */
export function composedType(type: string): string {
  return otherCharset(type) === undefined ? servedType(type, true) : inUtf8(type)
}

/** @param type names a charset; what stands before that stays */
function inUtf8(type: string): string {
  return `${type.slice(0, charsetsIn(type)[0]?.at).trim()}; charset=utf-8`
}

const UTF_8 = /^utf-?8$/i

/** Parameters; what a quoted one holds is none. */
const PARAMETER = /;[ \t]*([^ \t=;"]+)[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"?|[^;]*)/g

/** @returns charsets that a type names, empty where it names nothing, which browsers pass over, and where it says so */
function charsetsIn(type: string): { at: number; charset: string }[] {
  return [...type.matchAll(PARAMETER)]
    .filter(([, name]) => name?.toLowerCase() === 'charset')
    .map(({ index: at, 2: value = '' }) => ({ at, charset: value.replace(/\\(.)|"/g, '$1').trim() }))
}

/** @returns the charset that a type is served with, unless it is UTF-8: readers go by it, whatever the document declares */
export function otherCharset(type: string): string | undefined {
  if (!isUnambiguous(type)) return undefined
  const charset = charsetsIn(type)[0]?.charset
  return charset === undefined || charset === '' || UTF_8.test(charset) ? undefined : charset
}

/** @returns whether a type is served with UTF-8 for a charset; undefined where it names another one, be it beside that */
export function namesUtf8(type: string): boolean | undefined {
  // What is written in another way is served without parameters, HTML with `charset=utf-8`.
  if (!isUnambiguous(type)) return kindOf(type) === 'html'
  const named = charsetsIn(type).filter(({ charset }) => charset !== '')
  return named.every(({ charset }) => UTF_8.test(charset)) ? named.length > 0 : undefined
}

/** @returns whether compressing an answer of this type is likely to pay; streams of events never are compressed */
export function compressible(type: string): boolean {
  const name = essence(type)
  if (name.startsWith('text/')) return name !== 'text/event-stream'
  return COMPRESSIBLE.has(name) || name.endsWith('+json') || name.endsWith('+xml')
}
