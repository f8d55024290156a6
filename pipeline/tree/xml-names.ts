/** What of HTML has a form in XML: its parser takes nearly any character for a part of a name, and any for text. */

import { isForeign } from './foreign-names.ts'
import { type ElementNode, HTML_NAMESPACE } from './nodes.ts'

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

/** Namespaces of all elements that HTML's parser makes. */
const OF_HTML = new Set([HTML_NAMESPACE, 'http://www.w3.org/2000/svg', 'http://www.w3.org/1998/Math/MathML'])

/**
 * Whether XML has a name without a prefix like this.
 *
 * @param namespaceURI of its element: HTML takes any name from anybody, and what it gives must be a name in all editions; what
 *   an author of XML has called otherwise stays
 */
function isXmlName(name: string, namespaceURI = HTML_NAMESPACE): boolean {
  return COMMON.test(name) || (NAME.test(name) && !(OF_HTML.has(namespaceURI) && isForeign(name)))
}

/**
 * The name of an element as XML can have it: other characters are written as the HTML standard says for those who bring HTML
 * into XML, `U` with six digits.
 */
export function xmlTagName({ tagName, namespaceURI }: Pick<ElementNode, 'tagName' | 'namespaceURI'>): string {
  if (COMMON.test(tagName)) return tagName
  const colon = tagName.indexOf(':')
  const [prefix, local] = [tagName.slice(0, Math.max(colon, 0)), tagName.slice(colon + 1)]
  if (colon < 0 || FIXED.has(prefix) || !isXmlName(prefix, namespaceURI)) return coerced(tagName, namespaceURI)
  return `${prefix}:${coerced(local, namespaceURI)}`
}

function coerced(name: string, namespaceURI: string): string {
  if (isXmlName(name, namespaceURI)) return name
  const code = (character: string) => `U${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(6, '0')}`
  const plain = name.replace(NOT_IN_NAME, code).replace(NOT_FIRST, code) || 'U'
  return isXmlName(plain, namespaceURI) ? plain : plain.replace(/[^\w.-]/gu, code)
}

/**
 * Whether an attribute without a namespace can be written.
 *
 * @param isBound whether a prefix is declared where it stands
 * @param namespaceURI of its element
 */
export function isXmlAttribute(
  name: string,
  value: string,
  isBound: (prefix: string) => boolean,
  namespaceURI?: string,
): boolean {
  if (COMMON.test(name)) return true
  const colon = name.indexOf(':')
  if (colon < 0) return isXmlName(name, namespaceURI)
  // Only HTML's parser leaves a prefix in a name.
  const [prefix, local] = [name.slice(0, colon), name.slice(colon + 1)]
  if (!isXmlName(local)) return false
  if (prefix === 'xmlns')
    return (
      !FIXED.has(local) && value.trim() !== '' && !/^http:\/\/www\.w3\.org\/(XML\/1998|2000\/xmlns)/.test(value.trim())
    )
  return prefix === 'xml' || (isXmlName(prefix) && isBound(prefix))
}

/** Text of a comment that does not end it before its end. */
export function xmlComment(data: string): string {
  return data.replace(/-(?=-|$)/g, '- ')
}
