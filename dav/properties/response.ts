/** One `response` of a multistatus: a resource's properties as a PROPFIND asked for them (RFC 4918 §14.24). */

import { escapeMarkup } from '../../pipeline/http/markup.ts'
import { encodePath } from '../../pipeline/http/path.ts'
import type { Property } from '../../pipeline/store/resource.ts'
import { holdsForeignName, holdsNoLocalName, isForeign } from '../../pipeline/tree/foreign-names.ts'
import { XML_NAMESPACE } from '../../pipeline/tree/namespaces.ts'
import { escapeAttribute } from '../../pipeline/tree/serialize-xml.ts'
import { DAV } from '../requests/xml.ts'
import { ALLPROP, type LiveProperty, LOCK_DISCOVERY_KEY, liveProperty, type Subject } from './live-properties.ts'
import type { PropRequest } from './prop-request.ts'
import { keyOf, type PropertyName } from './property-name.ts'

/**
 * Windows sets four properties on each file that it copies, and takes no listing of more than 1,000,000 bytes: binding
 * their namespace anew in every element would cost a folder of 1,000 files an eighth of that (DAV-37).
 */
const WINDOWS = { namespace: 'urn:schemas-microsoft-com:', prefix: 'Z' }

/** Whether responses with these dead properties need the prefix for those of Windows bound around them. */
export function needsWindows(dead: readonly Property[]): boolean {
  return dead.some(({ namespace }) => namespace === WINDOWS.namespace)
}

/** @param windows binds the prefix for properties of Windows */
export function multistatusStart(windows: boolean): string {
  const bound = windows ? ` xmlns:${WINDOWS.prefix}="${WINDOWS.namespace}"` : ''
  return `<?xml version="1.0" encoding="utf-8"?><D:multistatus xmlns:D="DAV:"${bound}>`
}

export const MULTISTATUS_START = multistatusStart(false)
export const MULTISTATUS_END = '</D:multistatus>'

/** Content type of every multistatus. */
export const XML_TYPE = 'application/xml; charset=utf-8'

/** @param path decoded, relative to the mount */
export function hrefOf(prefix: string, path: string): string {
  return `<D:href>${escapeMarkup(prefix + encodePath(path))}</D:href>`
}

/**
 * An element for a property's name, with its namespace declared (DAV-35).
 *
 * @param content as XML; what it needs beside the prefixes `D` and, for its own namespace, `x` it declares itself
 */
export function propertyElement({ namespace, name }: PropertyName, content = ''): string {
  if (namespace === DAV) return content === '' ? `<D:${name}/>` : `<D:${name}>${content}</D:${name}>`
  // That of `xml` is declared everywhere, and may be nowhere.
  if (namespace === XML_NAMESPACE) return content === '' ? `<xml:${name}/>` : `<xml:${name}>${content}</xml:${name}>`
  const [tag, declaration] = namespace === '' ? [name, ''] : [`x:${name}`, ` xmlns:x="${escapeAttribute(namespace)}"`]
  return content === '' ? `<${tag}${declaration}/>` : `<${tag}${declaration}>${content}</${tag}>`
}

/** What values once declared that have elements in the namespace of `xml`: no XML may. */
export const REBINDING = ` xmlns="${XML_NAMESPACE}"`
const REBOUND = /<[^<>]* xmlns="http:\/\/www\.w3\.org\/XML\/1998\/namespace"/

/**
 * Whether every client can read a dead property. What was stored when names of XML's fifth edition were taken, or those without
 * a letter behind their prefix, would make many of them refuse the whole answer (DAV-35).
 */
export function isReadable({ name, value }: Property): boolean {
  if (isForeign(name) || /^[-.\d]/.test(name)) return false
  return !value.startsWith('<') || !(holdsForeignName(value) || holdsNoLocalName(value) || REBOUND.test(value))
}

/** A dead property as it was set: plain text, or a whole element with attributes and structure. */
function deadElement(property: Property): string {
  const { namespace, name, value } = property
  if (value.startsWith('<')) return value
  if (namespace !== WINDOWS.namespace) return propertyElement(property, value)
  const tag = `${WINDOWS.prefix}:${name}`
  return value === '' ? `<${tag}/>` : `<${tag}>${value}</${tag}>`
}

export function propstat(elements: string, status: string, extra = ''): string {
  return `<D:propstat><D:prop>${elements}</D:prop><D:status>HTTP/1.1 ${status}</D:status>${extra}</D:propstat>`
}

/**
 * @param stored the resource's dead properties
 * @param minimal leaves out what was not found (DAV-37)
 */
export function propertyResponse(
  href: string,
  subject: Subject,
  stored: readonly Property[],
  request: PropRequest,
  minimal: boolean,
): string {
  const dead = stored.every(isReadable) ? stored : stored.filter(isReadable)
  const { found, missing } = request.form === 'prop' ? named(subject, dead, request.names) : all(subject, dead, request)
  const away = subject.lockDiscovery === undefined && asksForLocks(request) ? LOCKS_AWAY : ''
  // A response needs a propstat, so an empty one stands where nothing was asked for, or nothing is there to be told.
  const first = found !== '' || (missing === '' && away === '') || minimal ? propstat(found, '200 OK') : ''
  const second = missing === '' || minimal ? '' : propstat(missing, '404 Not Found')
  return `<D:response>${href}${first}${second}${away}</D:response>`
}

/** Locks cannot be looked up now; everything else can. */
const LOCKS_AWAY = propstat('<D:lockdiscovery/>', '503 Service Unavailable')

function asksForLocks(request: PropRequest): boolean {
  if (request.form !== 'prop') return request.form === 'allprop'
  return request.names.some(name => keyOf(name) === LOCK_DISCOVERY_KEY)
}

interface Told {
  found: string
  missing: string
}

/** A name that was asked for, with all that is the same for every resource. */
interface AskedName {
  key: string
  live: LiveProperty | undefined
  /** What is written where a resource has no such property. */
  missing: string
}

/** By the list of names: a listing asks the same of every member. */
const resolved = new WeakMap<readonly PropertyName[], readonly AskedName[]>()

function resolve(names: readonly PropertyName[]): readonly AskedName[] {
  let asked = resolved.get(names)
  if (!asked) {
    asked = names.map(name => ({ key: keyOf(name), live: liveProperty(name), missing: propertyElement(name) }))
    resolved.set(names, asked)
  }
  return asked
}

function named(subject: Subject, dead: readonly Property[], names: readonly PropertyName[]): Told {
  let found = ''
  let missing = ''
  const byKey = dead.length === 0 ? undefined : new Map(dead.map(property => [keyOf(property), property]))
  for (const asked of resolve(names)) {
    const set = byKey?.get(asked.key)
    const element = set ? deadElement(set) : asked.live?.element(subject)
    if (element !== undefined) found += element
    else if (asked.key !== LOCK_DISCOVERY_KEY) missing += asked.missing
  }
  return { found, missing }
}

function all(subject: Subject, dead: readonly Property[], request: Exclude<PropRequest, { form: 'prop' }>): Told {
  const namesOnly = request.form === 'propname'
  const set = new Set(dead.map(keyOf))
  let found = ''
  for (const property of ALLPROP) found += liveElement(property, subject, set, namesOnly)
  for (const property of dead) found += namesOnly ? propertyElement(property) : deadElement(property)
  if (namesOnly || request.include.length === 0) return { found, missing: '' }
  const shown = new Set([...ALLPROP.map(({ name }) => keyOf(name)), ...set])
  const further = named(
    subject,
    dead,
    request.include.filter(name => !shown.has(keyOf(name))),
  )
  return { found: found + further.found, missing: further.missing }
}

/** Nothing where the resource has no such property, or a dead one stands in for it. */
function liveElement(
  { name, element }: LiveProperty,
  subject: Subject,
  set: ReadonlySet<string>,
  nameOnly: boolean,
): string {
  if (set.size > 0 && set.has(keyOf(name))) return ''
  const told = element(subject)
  if (told === undefined) return ''
  return nameOnly ? propertyElement(name) : told
}
