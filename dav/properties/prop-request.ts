/** What a PROPFIND asks for (RFC 4918 §9.1, DAV-32). */

import type { ElementNode } from '../../pipeline/tree/nodes.ts'
import { childElements, davChild, isBlank, isDav, malformed, parseLongXmlBody } from '../requests/xml.ts'
import { keyOf, nameOf, type PropertyName } from './property-name.ts'

export type PropRequest = {
  /** The same for requests that ask for the same. */
  key: string
} & (
  | { form: 'allprop'; include: readonly PropertyName[] }
  | { form: 'propname' }
  | { form: 'prop'; names: readonly PropertyName[] }
)

const ALLPROP: PropRequest = { key: 'allprop', form: 'allprop', include: [] }

/** Clients send the same few bodies again and again. */
const recent = new Map<string, PropRequest>()
const MOST_RECENT = 64
const LONGEST_KEPT = 2048

/**
 * @param bytes the body; blank means everything
 * @throws Fault 400 `MalformedXml`
 */
export async function readPropRequest(bytes: Uint8Array): Promise<PropRequest> {
  if (isBlank(bytes)) return ALLPROP
  if (bytes.length > LONGEST_KEPT) return parse(bytes)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  let request = recent.get(text)
  if (!request) {
    request = await parse(bytes)
    if (recent.size >= MOST_RECENT) recent.clear()
    recent.set(text, request)
  }
  return request
}

async function parse(bytes: Uint8Array): Promise<PropRequest> {
  const root = await parseLongXmlBody(bytes)
  if (!isDav(root, 'propfind')) throw malformed('The root element must be propfind in the namespace "DAV:".')
  return requestIn(root)
}

/**
 * The part that PROPFIND and `sync-collection` share.
 *
 * @param parent element with one of the three forms among its children; unknown elements are skipped
 * @throws Fault 400 `MalformedXml` when there is none of the three
 */
export function requestIn(parent: ElementNode): PropRequest {
  const prop = davChild(parent, 'prop')
  if (prop) {
    const names = distinctNames(prop)
    return { key: `prop\n${names.map(keyOf).join('\n')}`, form: 'prop', names }
  }
  if (davChild(parent, 'propname')) return { key: 'propname', form: 'propname' }
  if (!davChild(parent, 'allprop')) throw malformed('The body must hold one of allprop, propname and prop.')
  const include = davChild(parent, 'include')
  const names = include ? distinctNames(include) : []
  if (names.length === 0) return ALLPROP
  return { key: `allprop\n${names.map(keyOf).join('\n')}`, form: 'allprop', include: names }
}

function distinctNames(parent: ElementNode): PropertyName[] {
  const names = new Map<string, PropertyName>()
  for (const element of childElements(parent)) {
    const name = nameOf(element)
    names.set(keyOf(name), name)
  }
  return [...names.values()]
}

/** Names that a request asks for one by one. */
export function namesIn(asked: PropRequest): readonly PropertyName[] {
  return asked.form === 'prop' ? asked.names : asked.form === 'allprop' ? asked.include : []
}
