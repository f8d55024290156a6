/** What of HTML has a form in XML: its parser takes nearly any character for a part of a name, and any for text. */

import { isForeign } from './foreign-names.ts'
import { localName, XML_NAMESPACE, XMLNS_NAMESPACE } from './namespaces.ts'
import type { ElementNode } from './nodes.ts'

const START =
  'A-Z_a-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}'
const REST = `${START}.0-9\\u00b7\\u0300-\\u036f\\u203f\\u2040-`

/** Names that nearly all are, at once. */
const COMMON = /^[A-Za-z_][\w.-]*$/
const NAME = new RegExp(`^[${START}][${REST}]*$`, 'u')
const NOT_IN_NAME = new RegExp(`[^${REST}]`, 'gu')
const NOT_FIRST = new RegExp(`^[^${START}]`, 'u')

/** Prefixes that are bound by themselves. */
const FIXED = new Set(['xml', 'xmlns'])

/** Whether XML has a name without a prefix like this. */
function isXmlName(name: string): boolean {
  return COMMON.test(name) || NAME.test(name)
}

/**
 * The name of an element as XML can have it: other characters are written as the HTML standard says for those who bring HTML
 * into XML, `U` with six digits. What an author of XML has called as some editions cannot have it stays; HTML takes any name
 * from anybody. In the namespace of `xml`, which nobody may declare, elements have that prefix.
 */
export function xmlTagName({
  tagName,
  namespaceURI,
  isCommon,
}: Pick<ElementNode, 'tagName' | 'namespaceURI' | 'isCommon'>): string {
  const isName = isCommon ? (name: string) => isXmlName(name) && !isForeign(name) : isXmlName
  if (namespaceURI === XML_NAMESPACE) return `xml:${coerced(isName, localName(tagName))}`
  return tagNameIn(isName, tagName)
}

function tagNameIn(isName: (name: string) => boolean, tagName: string): string {
  if (COMMON.test(tagName)) return tagName
  const colon = tagName.indexOf(':')
  const [prefix, local] = [tagName.slice(0, Math.max(colon, 0)), tagName.slice(colon + 1)]
  if (colon < 0 || FIXED.has(prefix) || !isName(prefix)) return coerced(isName, tagName)
  return `${prefix}:${coerced(isName, local)}`
}

function coerced(isName: (name: string) => boolean, name: string): string {
  if (isName(name)) return name
  const code = (character: string) => `U${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(6, '0')}`
  const plain = name.replace(NOT_IN_NAME, code).replace(NOT_FIRST, code) || 'U'
  return isName(plain) ? plain : plain.replace(/[^\w.-]/gu, code)
}

/**
 * Whether an attribute without a namespace can be written.
 *
 * @param isBound whether a prefix is declared where it stands
 */
export function isXmlAttribute(name: string, value: string, isBound: (prefix: string) => boolean): boolean {
  if (COMMON.test(name)) return true
  const colon = name.indexOf(':')
  if (colon < 0) return isXmlName(name)
  const [prefix, local] = [name.slice(0, colon), name.slice(colon + 1)]
  if (!isXmlName(local)) return false
  if (prefix === 'xmlns') return !FIXED.has(local) && isNamespace(value)
  return prefix === 'xml' || (isXmlName(prefix) && isBound(prefix))
}

/** Whether XML can bind any prefix to a value. */
export function isNamespace(value: string): boolean {
  const namespace = value.trim()
  return namespace !== '' && namespace !== XML_NAMESPACE && namespace !== XMLNS_NAMESPACE
}

/** Text of a comment that does not end it before its end. */
export function xmlComment(data: string): string {
  return data.replace(/-(?=-|$)/g, '- ')
}
