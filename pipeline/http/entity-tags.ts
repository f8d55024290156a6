/** Lists of entity tags as clients send them (HTTP-35, RFC 9110 §8.8.3 and §13.1). */

import { trimField } from './field-text.ts'

/** One listed tag. */
export interface EntityTag {
  /** Without quotes. */
  opaque: string
  weak: boolean
}

/** `*` stands for anything that exists. */
export type TagList = '*' | readonly EntityTag[]

const QUOTE = 0x22
const COMMA = 0x2c

/**
 * Reads `If-Match` or `If-None-Match` in one pass. Values without quotes count as quoted; a tag whose closing quote is
 * missing extends to the end. A bare `*` among tags is as good as alone, since the members of a list are alternatives.
 */
export function parseTagList(field: string): TagList {
  const tags: EntityTag[] = []
  let at = 0
  while (at < field.length) {
    const code = field.charCodeAt(at)
    if (code === 0x20 || code === 0x09 || code === COMMA) {
      at++
      continue
    }
    const weak = field.startsWith('W/', at)
    if (weak) at += 2
    if (field.charCodeAt(at) === QUOTE) {
      const close = field.indexOf('"', at + 1)
      const end = close < 0 ? field.length : close
      tags.push({ opaque: field.slice(at + 1, end), weak })
      at = commaFrom(field, end)
    } else {
      const end = commaFrom(field, at)
      const opaque = trimField(field.slice(at, end))
      if (opaque === '*' && !weak) return '*'
      tags.push({ opaque, weak })
      at = end
    }
  }
  return tags
}

function commaFrom(field: string, at: number): number {
  const comma = field.indexOf(',', at)
  return comma < 0 ? field.length : comma
}
