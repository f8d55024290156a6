/** Values as JSON (SES-232): whole floats keep their point, integers all their digits, keys their order. */

import { piecesOf } from '../../tree/document.ts'
import { isShort, LongText } from '../../tree/long-text.ts'
import { outerMarkup, writingMarkup } from '../../tree/serialize.ts'
import { atOnce, type Steps } from '../../tree/steps.ts'
import { type Dictionary, ElementValue, isList, type List, NamedValue, type Source, type Value } from '../values.ts'
import { MAX_DEPTH, MAX_TEXT, type Spend, tooDeep, tooLong, typeOf } from './comparison.ts'
import { SesselError } from './failure.ts'
import { Blob, ClassValue, Lambda, TypeName } from './kinds.ts'

/** UTF-16 code units that are written in one step. */
const STEP = 64 * 1024

/** Values that are written in one step. */
const VALUES_PER_STEP = 1000

/**
 * @param spend told of what is written: one for each value and for each 64 characters
 * @throws SesselError for a value that has no JSON
 */
export function jsonText(value: Value, spend?: Spend): string {
  return atOnce(writingJson(value, spend))
}

/** `jsonText` in steps. */
export function* writingJson(value: Value, spend: Spend = () => undefined): Steps<string> {
  const whole = new LongText()
  let length = 0
  let written = 0
  let isDue = false
  const put = (piece: string) => {
    spend(piece.length >> 6)
    if ((length += piece.length) > MAX_TEXT) throw tooLong()
    if (whole.add(piece)) isDue = true
  }

  /** Most values hold no others and are short. @returns false for the rest */
  const putScalar = (scalar: Value): boolean => {
    if (typeof scalar === 'string' && scalar.length > STEP) return false
    const text = ofScalar(scalar)
    if (text !== undefined) put(text)
    return text !== undefined
  }

  function* write(each: Value, depth: number): Steps<void> {
    spend(1)
    if (isDue || ++written % VALUES_PER_STEP === 0) {
      isDue = false
      yield
    }
    if (each instanceof ElementValue && !isShort(each.node)) return yield* writeElement(each)
    if (putScalar(each)) return
    if (typeof each === 'string') yield* writeText(each.toWellFormed())
    else if (depth === MAX_DEPTH) throw tooDeep()
    else if (isList(each as Value)) yield* writeList(each as List, depth)
    else yield* writeDictionary(each as Dictionary, depth)
  }

  function* writeElement({ node, source }: ElementValue): Steps<void> {
    put('{"$type":"element","$html":')
    let units = 0
    const pay = (more: number): void => {
      if ((units += more) > MAX_TEXT) throw tooLong()
    }
    yield* writeText((yield* writingMarkup(node, source?.document.kind ?? 'html', pay)).toWellFormed())
    put(`${originJson(source)}}`)
  }

  function* writeText(text: string): Steps<void> {
    put('"')
    for (const piece of piecesOf(text, STEP)) {
      put(JSON.stringify(piece).slice(1, -1))
      yield
    }
    put('"')
  }

  function* writeList(list: List, depth: number): Steps<void> {
    put('[')
    let between = ''
    for (const item of list) {
      put(between)
      between = ','
      yield* write(item, depth + 1)
    }
    put(']')
  }

  function* writeDictionary(dictionary: Dictionary, depth: number): Steps<void> {
    put('{')
    let between = ''
    for (const key of dictionary.keys()) {
      put(`${between}${JSON.stringify(key.toWellFormed())}:`)
      between = ','
      yield* write(dictionary.get(key) ?? null, depth + 1)
    }
    put('}')
  }

  yield* write(value, 0)
  return whole.whole
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

function elementJson({ node, source }: ElementValue): string {
  const html = JSON.stringify(outerMarkup(node, source?.document.kind ?? 'html').toWellFormed())
  return `{"$type":"element","$html":${html}${originJson(source)}}`
}

function originJson(source: Source | undefined): string {
  return source?.path === undefined ? '' : `,"$source":${JSON.stringify(source.path)}`
}

function floatJson(value: number): string {
  const size = Math.abs(value)
  if (size !== 0 && (size < 1e-5 || size >= 1e16)) return value.toExponential()
  const text = Object.is(value, -0) ? '-0' : String(value)
  // Between 1e-7 and 1e-5 nothing comes here, so that there is no exponent.
  return text.includes('.') ? text : `${text}.0`
}
