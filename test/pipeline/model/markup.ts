/** Declarations and instances as markup, for tests. */

import { NS } from '../../support/content.ts'

export const SCHEMA_HOST = 'https://schema.org'

/** Fields of a declaration: one value, several, or markup as it is. */
export type Fields = Readonly<Record<string, string | readonly string[] | { markup: string } | undefined>>

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}

export function meta(name: string, content: string): string {
  return `<meta itemprop="${name}" content="${escaped(content)}">`
}

function fields(values: Fields): string {
  return Object.entries(values)
    .map(([name, value]) => {
      if (value === undefined) return ''
      if (typeof value === 'string') return meta(name, value)
      return 'markup' in value ? value.markup : value.map(each => meta(name, each)).join('')
    })
    .join('')
}

/** A primitive type's URL. */
export function primitive(name: string): string {
  return `${SCHEMA_HOST}/${name}`
}

/** A property of a schema. */
export function property(name: string, more: Fields = {}): string {
  return `<div itemprop="property" itemscope itemtype="${NS}/Property">${fields({ name, ...more })}</div>`
}

/** A group constraint of a schema. */
export function groupConstraint(more: Fields): string {
  return `<div itemprop="constraint" itemscope itemtype="${NS}/GroupConstraint">${fields(more)}</div>`
}

/** A schema around its members. */
export function schema(type: string, more: Fields = {}, ...members: string[]): string {
  return `<section hidden itemscope itemtype="${NS}/Schema">${fields({ type, ...more })}${members.join('')}</section>`
}

export function enumeration(url: string, ...values: string[]): string {
  return `<div hidden itemscope itemtype="${SCHEMA_HOST}/Enum">${fields({ name: url, value: values })}</div>`
}

export function shape(more: Fields): string {
  return `<div hidden itemscope itemtype="${NS}/ShapeConstraint">${fields(more)}</div>`
}

/** An instance: a list item with one `meta` for each value. */
export function instance(type: string, values: Fields = {}, attributes = ''): string {
  return `<li${attributes && ` ${attributes}`} itemscope itemtype="${type}">${fields(values)}</li>`
}
