/** `new …`: the names of CSS, modifiers without white space, and content in braces (SES-16, SES-26, SES-160). */

import { embeddedAt, keyAt } from './parse-parts.ts'
import type { Scanner } from './scan.ts'
import type { Construction, Item, Modifier } from './syntax.ts'

const TAG = /[A-Za-z][A-Za-z0-9-]*/y
/** Names of classes are imported under names with underscores, too. */
const NAME = /[A-Za-z_][A-Za-z0-9_-]*/y
const TOKEN = /-?[A-Za-z_][A-Za-z0-9_-]*/y
const ATTRIBUTE = /[A-Za-z_:][A-Za-z0-9_.:-]*/y

export function constructionAt(scanner: Scanner): Construction {
  scanner.takeWord('new')
  scanner.skipSpace()
  const first = scanner.takeMatch(NAME) ?? scanner.expected('the name of an element or class')
  const isPrefixed = scanner.text.charAt(scanner.at) === '|' && scanner.at < scanner.end
  if (isPrefixed) scanner.at++
  const name = isPrefixed ? (scanner.takeMatch(TAG) ?? scanner.expected('the name of an element')) : first
  const modifiers = scanner.series<Modifier>('modifiers')
  for (let modifier = modifierAt(scanner); modifier; modifier = modifierAt(scanner)) scanner.add(modifiers, modifier)
  return {
    kind: 'construct',
    prefix: isPrefixed ? first : undefined,
    name,
    modifiers: modifiers.items,
    items: scanner.looksAt('{') ? itemsAt(scanner) : undefined,
  }
}

function modifierAt(scanner: Scanner): Modifier | undefined {
  const start = scanner.at
  const character = start < scanner.end ? scanner.text.charAt(start) : ''
  if (character === '.' || character === '#') {
    scanner.at++
    const name = scanner.takeMatch(TOKEN)
    // `.text(` is a method of the element (SES-26).
    const isCall = character === '.' && scanner.text.charAt(scanner.at) === '('
    if (name !== undefined && !isCall) return { kind: character === '.' ? 'class' : 'id', name }
    scanner.at = start
    return undefined
  }
  if (character !== '[') return undefined
  scanner.at++
  scanner.skipSpace()
  const first = scanner.takeMatch(ATTRIBUTE) ?? scanner.expected('the name of an attribute')
  const isPrefixed = scanner.text.charAt(scanner.at) === '|' && scanner.text.charAt(scanner.at + 1) !== '='
  if (isPrefixed) scanner.at++
  const name = isPrefixed ? (scanner.takeMatch(ATTRIBUTE) ?? scanner.expected('the name of an attribute')) : first
  const prefix = isPrefixed ? first : undefined
  if (scanner.take(']')) return { kind: 'attribute', prefix, name, value: undefined }
  scanner.expect('=')
  scanner.skipSpace()
  const value = embeddedAt(scanner, ']', undefined)
  scanner.expect(']')
  return { kind: 'attribute', prefix, name, value }
}

function itemsAt(scanner: Scanner): Item[] {
  scanner.expect('{')
  const items = scanner.series<Item>('items')
  while (!scanner.take('}')) {
    if (items.items.length > 0) {
      scanner.expect(',')
      if (scanner.take('}')) break
    }
    const key = keyAt(scanner)
    if (key !== undefined && typeof key !== 'string' && (key.kind !== 'literal' || typeof key.value !== 'string'))
      return scanner.fail('the name of a property is a plain string')
    const name = typeof key === 'string' || key === undefined ? key : String(key.kind === 'literal' ? key.value : '')
    scanner.add(items, { key: name, value: scanner.expression() })
  }
  return items.items
}
