/** Character references inside spans (LIQ-7). */

import { parseFragment } from 'parse5'
import type { Position } from './place.ts'

const PREDEFINED = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
])

/** The text of a span as the parser of its document would hand it on; where that decodes nothing, as written. */
export function decoded(text: string, position: Position, xml: boolean): string {
  if (!text.includes('&')) return text
  if (xml) return position === 'text' || position === 'quoted' || position === 'name' ? decodedXml(text) : text
  switch (position) {
    case 'text':
    case 'escapable':
      return decodedHtml(text)
    case 'quoted':
    case 'unquoted':
    case 'name':
      return decodedValue(text)
    default:
      return text
  }
}

/** The parser itself knows the two thousand names and their rules. */
function decodedHtml(text: string): string {
  const { childNodes } = parseFragment(text.replaceAll('<', '&lt;'))
  return childNodes.map(node => ('value' in node ? node.value : '')).join('')
}

function decodedValue(text: string): string {
  const [element] = parseFragment(`<p title="${text.replaceAll('"', '&quot;')}">`).childNodes
  return element && 'attrs' in element ? (element.attrs[0]?.value ?? '') : ''
}

function decodedXml(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (written, decimal, hex, name) => {
    if (name !== undefined) return PREDEFINED.get(name) ?? written
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : written
  })
}
