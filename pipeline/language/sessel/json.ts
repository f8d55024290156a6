/** Values as JSON (SES-232): whole floats keep their point, integers all their digits, keys their order. */

import { outerMarkup } from '../../tree/serialize.ts'
import { type Dictionary, ElementValue, isList, type List, NamedValue, type Value } from '../values.ts'
import { MAX_DEPTH, MAX_TEXT, type Spend, tooDeep, tooLong, typeOf } from './comparison.ts'
import { SesselError } from './failure.ts'
import { Blob, ClassValue, Lambda, TypeName } from './kinds.ts'

/**
 * @param spend told of what is written: one for each value and for each 64 characters
 * @throws SesselError for a value that has no JSON
 */
export function jsonText(value: Value, spend: Spend = () => undefined): string {
  const pieces: string[] = []
  let length = 0
  const put = (piece: string) => {
    spend(piece.length >> 6)
    if ((length += piece.length) > MAX_TEXT) throw tooLong()
    pieces.push(piece)
  }
  write(value, put, spend, 0)
  return pieces.join('')
}

function write(value: Value, put: Put, spend: Spend, depth: number): void {
  spend(1)
  const text = ofScalar(value)
  if (text !== undefined) put(text)
  else if (isList(value as Value)) writeList(value as List, put, spend, depth)
  else writeDictionary(value as Dictionary, put, spend, depth)
}

/** The text of a value that holds no others. */
function ofScalar(value: Value): string | undefined {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value.toWellFormed())
    case 'number':
      return floatJson(value)
    case 'bigint':
    case 'boolean':
      return String(value)
  }
  if (value === null) return 'null'
  if (value instanceof ElementValue) return elementJson(value)
  if (value instanceof NamedValue) {
    if (value instanceof Lambda || value instanceof ClassValue || value instanceof Blob || value instanceof TypeName)
      throw new SesselError('TypeError', `type error: a ${typeOf(value)} has no JSON form`)
    return JSON.stringify(value.text())
  }
  return undefined
}

type Put = (piece: string) => void

function writeList(list: List, put: Put, spend: Spend, depth: number): void {
  if (depth === MAX_DEPTH) throw tooDeep()
  put('[')
  let between = ''
  for (const item of list) {
    put(between)
    between = ','
    write(item, put, spend, depth + 1)
  }
  put(']')
}

function writeDictionary(dictionary: Dictionary, put: Put, spend: Spend, depth: number): void {
  if (depth === MAX_DEPTH) throw tooDeep()
  put('{')
  let between = ''
  for (const key of dictionary.keys()) {
    put(`${between}${JSON.stringify(key.toWellFormed())}:`)
    between = ','
    write(dictionary.get(key) ?? null, put, spend, depth + 1)
  }
  put('}')
}

function elementJson({ node, source }: ElementValue): string {
  const html = JSON.stringify(outerMarkup(node, source?.document.kind ?? 'html').toWellFormed())
  const from = source?.path === undefined ? '' : `,"$source":${JSON.stringify(source.path)}`
  return `{"$type":"element","$html":${html}${from}}`
}

function floatJson(value: number): string {
  const size = Math.abs(value)
  if (size !== 0 && (size < 1e-5 || size >= 1e16)) return value.toExponential()
  const text = Object.is(value, -0) ? '-0' : String(value)
  // Between 1e-7 and 1e-5 nothing comes here, so that there is no exponent.
  return text.includes('.') ? text : `${text}.0`
}
