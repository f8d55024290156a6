/** XML bodies of requests: decoded, parsed with namespaces, never with a document type (DAV-32). */

import { Fault } from '../../pipeline/fault.ts'
import { findingForeignName } from '../../pipeline/tree/foreign-names.ts'
import { TreeError } from '../../pipeline/tree/limits.ts'
import { localName } from '../../pipeline/tree/namespaces.ts'
import { type DocumentNode, type ElementNode, isElement } from '../../pipeline/tree/nodes.ts'
import { atOnce, inTurns, type Steps } from '../../pipeline/tree/steps.ts'
import { parsingXml } from '../../pipeline/tree/xml.ts'

/** Namespace of RFC 4918. */
export const DAV = 'DAV:'

/** Bytes of an XML body; more is answered 413. */
export const LARGEST_XML = 1024 * 1024

export function malformed(message: string): Fault {
  return new Fault(400, 'MalformedXml', message)
}

/**
 * Parses a body.
 *
 * @returns its root element
 * @throws Fault 400 `MalformedXml` for bytes that are no UTF-8 or UTF-16, text that is not well formed by the fourth edition
 *   of XML 1.0 (RFC 4918), undeclared prefixes, document types, and elements nested too deeply
 */
export function parseXmlBody(bytes: Uint8Array): ElementNode {
  const text = decode(bytes)
  try {
    return atOnce(reading(text))
  } catch (error) {
    throw unreadable(error)
  }
}

/** The same for bodies that may be long: others get their turns meanwhile. */
export async function parseLongXmlBody(bytes: Uint8Array): Promise<ElementNode> {
  const text = decode(bytes)
  try {
    return await inTurns(reading(text), text.length)
  } catch (error) {
    throw unreadable(error)
  }
}

function* reading(text: string): Steps<ElementNode> {
  const document = yield* parsingXml(text)
  const foreign = yield* findingForeignName(document, text)
  if (foreign !== undefined) throw malformed(`The name ${foreign} is none in the fourth edition of XML 1.0.`)
  return rootOf(document)
}

function rootOf(document: DocumentNode): ElementNode {
  if (document.childNodes.some(node => node.nodeName === '#documentType'))
    throw malformed('The body declares a document type, which is not accepted.')
  const root = document.childNodes.find(isElement)
  if (root) return root
  throw malformed('The body has no root element.')
}

function unreadable(error: unknown): unknown {
  return error instanceof TreeError ? malformed(`The body is not XML that can be read: ${error.message}`) : error
}

/** UTF-8, or UTF-16 where a byte order mark says so: the encodings every reader of XML knows. */
export function decode(bytes: Uint8Array): string {
  const [first, second] = bytes
  const encoding =
    first === 0xfe && second === 0xff ? 'utf-16be' : first === 0xff && second === 0xfe ? 'utf-16le' : 'utf-8'
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    throw malformed(`The body is not valid ${encoding.toUpperCase()}.`)
  }
}

/** Whether a body says nothing: no bytes, or only white space. */
export function isBlank(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return false
  return true
}

/** Whether an element has this name in the namespace of RFC 4918. */
export function isDav(element: ElementNode, name: string): boolean {
  return element.namespaceURI === DAV && localName(element.tagName) === name
}

/** The first child element of this name in the namespace of RFC 4918. */
export function davChild(element: ElementNode, name: string): ElementNode | undefined {
  return childElements(element).find(child => isDav(child, name))
}

export function childElements(element: ElementNode): ElementNode[] {
  return element.childNodes.filter(isElement)
}
