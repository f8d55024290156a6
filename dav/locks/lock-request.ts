/** What a LOCK asks for: its body and its `Timeout` (RFC 4918 §9.10, §14.11 and §10.7). */

import { LONGEST_LOCK, type LockScope } from '../../pipeline/coordination/locks.ts'
import { Fault } from '../../pipeline/fault.ts'
import { trimField } from '../../pipeline/http/field-text.ts'
import { inScopeNamespaces, localName } from '../../pipeline/tree/namespaces.ts'
import type { ElementNode } from '../../pipeline/tree/nodes.ts'
import { childElements, DAV, decode, isDav, malformed, parseXmlBody } from '../requests/xml.ts'

/** Bytes of a LOCK's body; more is answered 413. */
export const LARGEST_LOCK_BODY = 64 * 1024

/** Bytes of an owner's content, and of the declarations that it needs (DAV-81). */
const LONGEST_OWNER = 8 * 1024
const LONGEST_DECLARATIONS = 2 * 1024

/** Seconds (DAV-83). */
const DEFAULT = 600

export interface LockInfo {
  scope: LockScope
  /** The `owner` element, its content as it was sent, to stand where the prefix `D` means `DAV:`; empty without one. */
  owner: string
}

/**
 * Reads a `lockinfo` body.
 *
 * @throws Fault 400 `MalformedXml`; 413 `PayloadTooLarge` for an owner that is too long; 422 `UnsupportedLock` for
 *   anything but exclusive and shared write locks
 */
export function readLockInfo(bytes: Uint8Array): LockInfo {
  if (bytes.length > LONGEST_KEPT) return parse(bytes)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  let info = recent.get(text)
  if (!info) {
    info = parse(bytes)
    if (recent.size === MOST_RECENT) recent.clear()
    recent.set(text, info)
  }
  return info
}

/** Clients send the same few bodies again and again. */
const recent = new Map<string, LockInfo>()
const MOST_RECENT = 64
const LONGEST_KEPT = 2048

function parse(bytes: Uint8Array): LockInfo {
  const root = parseXmlBody(bytes)
  if (!isDav(root, 'lockinfo')) throw malformed('The root element must be lockinfo in the namespace "DAV:".')
  const type = choice(root, 'locktype')
  const scope = choice(root, 'lockscope')
  if (type !== 'write') throw new Fault(422, 'UnsupportedLock', 'The only locks are write locks.')
  if (scope !== 'exclusive' && scope !== 'shared') {
    throw new Fault(422, 'UnsupportedLock', 'The scope of a lock is exclusive or shared.')
  }
  const [owner, another] = childElements(root).filter(child => isDav(child, 'owner'))
  if (another) throw malformed('The body has more than one owner.')
  return { scope, owner: owner ? ownerXml(owner, decode(bytes)) : '' }
}

/** @returns local name of the one element inside a child of this name; empty for a name outside of `DAV:` */
function choice(root: ElementNode, name: string): string {
  const [parent, another] = childElements(root).filter(child => isDav(child, name))
  const [value, second] = parent ? childElements(parent) : []
  if (!value || second || another) throw malformed(`The body must hold one ${name} with one element in it.`)
  return value.namespaceURI === DAV ? localName(value.tagName) : ''
}

/** The content stays as it is; only what its prefixes mean is said on the element. */
function ownerXml(owner: ElementNode, source: string): string {
  const { startTag, endTag } = owner.sourceCodeLocation ?? {}
  const content = startTag && endTag ? source.slice(startTag.endOffset, endTag.startOffset) : ''
  if (Buffer.byteLength(content) > LONGEST_OWNER) throw ownerTooLong()
  const scope = inScopeNamespaces(owner)
  let prefix = 'D'
  while (scope.has(prefix) && scope.get(prefix) !== DAV) prefix += 'D'
  scope.set(prefix, DAV)
  let declarations = ''
  for (const [name, namespace] of scope) {
    const isUsed = name === prefix || content.includes(name === '' ? '<' : `${name}:`)
    const isKnown = name === 'xml' || (name === 'D' && namespace === DAV)
    if (isUsed && !isKnown) declarations += ` ${name === '' ? 'xmlns' : `xmlns:${name}`}="${attribute(namespace)}"`
  }
  const language = owner.attrs.find(({ prefix, name }) => prefix === 'xml' && name === 'lang')
  if (language) declarations += ` xml:lang="${attribute(language.value)}"`
  if (Buffer.byteLength(declarations) > LONGEST_DECLARATIONS) throw ownerTooLong()
  return `<${prefix}:owner${declarations}>${content}</${prefix}:owner>`
}

function ownerTooLong(): Fault {
  return new Fault(413, 'PayloadTooLarge', 'The owner of a lock may take 8 KiB.')
}

function attribute(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

/**
 * Reads `Timeout`: the first of its values that can be used counts (DAV-83).
 *
 * @returns seconds that are granted
 */
export function grantedSeconds(header: string | undefined): number {
  for (const value of (header ?? '').split(',')) {
    const written = trimField(value).toLowerCase()
    if (written === 'infinite') return LONGEST_LOCK
    const digits = /^second-(\d+)$/.exec(written)?.[1]
    if (digits !== undefined) return Math.min(LONGEST_LOCK, Math.max(1, Number(digits)))
  }
  return DEFAULT
}
