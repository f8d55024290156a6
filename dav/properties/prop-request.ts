/** What a PROPFIND asks for (RFC 4918 §9.1, DAV-32). */

import { type ElementNode, isElement } from '../../pipeline/tree/nodes.ts'
import { inTurns, NODES_PER_STEP, type Steps } from '../../pipeline/tree/steps.ts'
import { davChild, isBlank, isDav, malformed, parseLongXmlBody } from '../requests/xml.ts'
import { NamedBytes } from './named-bytes.ts'
import { keyOf, nameOf, type PropertyName } from './property-name.ts'

export type PropRequest = {
  /** The same for requests that ask for the same. */
  key: string
  /** Bytes that the names take in each response. */
  bytes: number
} & (
  | { form: 'allprop'; include: readonly PropertyName[] }
  | { form: 'propname' }
  | { form: 'prop'; names: readonly PropertyName[] }
)

const ALLPROP: PropRequest = { key: 'allprop', bytes: 0, form: 'allprop', include: [] }

/** Clients send the same few bodies again and again. */
const recent = new Map<string, PropRequest>()
const MOST_RECENT = 64
const LONGEST_KEPT = 2048

/**
 * @param bytes the body; blank means everything
 * @throws Fault 400 `MalformedXml`, 507 where the names are too long together
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
  return inTurns(readingRequest(root), bytes.length)
}

/**
 * The part that PROPFIND and `sync-collection` share, in steps: a body of 1 MiB may name 100,000 properties.
 *
 * @param parent element with one of the three forms among its children; unknown elements are skipped
 * @throws Fault 400 `MalformedXml` when there is none of the three, 507 where the names are too long together
 */
export function* readingRequest(parent: ElementNode): Steps<PropRequest> {
  const prop = davChild(parent, 'prop')
  if (prop) {
    const { names, keys, bytes } = yield* gatheringNames(prop)
    return { key: `prop\n${keys}`, bytes, form: 'prop', names }
  }
  if (davChild(parent, 'propname')) return { key: 'propname', bytes: 0, form: 'propname' }
  if (!davChild(parent, 'allprop')) throw malformed('The body must hold one of allprop, propname and prop.')
  const include = davChild(parent, 'include')
  if (!include) return ALLPROP
  const { names, keys, bytes } = yield* gatheringNames(include)
  return names.length === 0 ? ALLPROP : { key: `allprop\n${keys}`, bytes, form: 'allprop', include: names }
}

/** The different names of the children, their keys in lines, and the bytes that they take. */
function* gatheringNames(parent: ElementNode): Steps<{ names: PropertyName[]; keys: string; bytes: number }> {
  const names = new Map<string, PropertyName>()
  const named = new NamedBytes()
  for (const [i, element] of parent.childNodes.entries()) {
    if (i % NODES_PER_STEP === NODES_PER_STEP - 1) yield
    if (!isElement(element)) continue
    const name = nameOf(element)
    const key = keyOf(name)
    if (names.has(key)) continue
    named.add(name)
    names.set(key, name)
  }
  return { names: [...names.values()], keys: [...names.keys()].join('\n'), bytes: named.bytes }
}

/** Names that a request asks for one by one. */
export function namesIn(asked: PropRequest): readonly PropertyName[] {
  return asked.form === 'prop' ? asked.names : asked.form === 'allprop' ? asked.include : []
}
