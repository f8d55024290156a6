/** The text form of values (SES-64). */

import { ElementValue, isDictionary, NamedValue, type Value } from '../values.ts'
import { MAX_DEPTH, MAX_TEXT, type Spend, tooDeep, tooLong } from './comparison.ts'
import { elementValue } from './element-text.ts'
import { jsonText } from './json.ts'

/** SES-64. */
export function textForm(value: Value, spend: Spend, depth = 0): string {
  switch (typeof value) {
    case 'string':
      return value
    case 'bigint':
      return value.toString()
    case 'number':
      return floatText(value)
    case 'boolean':
      return value ? 'true' : 'false'
  }
  if (value === null) return ''
  if (value instanceof ElementValue) return elementValue(value, spend) ?? ''
  if (value instanceof NamedValue) return value.text()
  if (isDictionary(value)) return jsonText(value, spend)
  if (depth === MAX_DEPTH) throw tooDeep()
  spend(value.length)
  const texts: string[] = []
  let length = 0
  for (const item of value) {
    const text = textForm(item, spend, depth + 1)
    spend(text.length >> 6)
    if ((length += text.length + 2) > MAX_TEXT) throw tooLong()
    texts.push(text)
  }
  return texts.join(', ')
}

/** Shortest decimal that reads back the same, without point where it is whole and without exponent. */
export function floatText(value: number): string {
  if (Object.is(value, -0)) return '-0'
  const text = String(value)
  const parts = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text)
  if (!parts) return text
  const [, sign = '', whole = '', fraction = '', power] = parts
  const exponent = Number(power)
  const digits = whole + fraction
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
  return sign + digits.padEnd(exponent + 1, '0')
}
