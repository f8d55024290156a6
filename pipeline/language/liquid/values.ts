/** Values while a template renders (LIQ-14): those of the page, and what only templates know. */

import { type Dictionary, type ElementValue, LazyDictionary, NamedValue } from '../values.ts'
import type { Position, Way } from './place.ts'

/** Text that is inserted without the escaping of LIQ-31. */
export class Safe {
  readonly text: string
  /**
   * `trusted`: the author vouches for it (LIQ-33). `escaped`: data as text of markup (LIQ-32).
   * `printed`: a piece of template, in which data was escaped by its place (LIQ-34).
   * `raw`: made for raw text or a section of CDATA, where markup is not escaped; anywhere else it is no safer than other text.
   */
  readonly trust: 'trusted' | 'escaped' | 'printed' | 'raw'
  /** What of a piece of template is data: it is escaped anew where it comes to stand in another kind of place. */
  readonly data: readonly Span[]

  /** Where it was captured, and where that led: from the same place it leads there again. */
  readonly way: Way | undefined

  constructor(text: string, trust: Safe['trust'], data: readonly Span[] = [], way?: Way) {
    this.text = text
    this.trust = trust
    this.data = data
    this.way = way
  }
}

/** Part of a text, its end left out, and the kind of place that it was escaped for. */
export type Span = readonly [start: number, end: number, position: Position]

/** `(first..last)`, both included; its numbers are made where they are needed. */
export class Range {
  readonly first: bigint
  readonly last: bigint

  constructor(first: bigint, last: bigint) {
    this.first = first
    this.last = last
  }

  get size(): bigint {
    return this.last < this.first ? 0n : this.last - this.first + 1n
  }
}

/** `empty` and `blank`, which other values are compared with (LIQ-20). */
export class Keyword {
  readonly word: 'empty' | 'blank'

  constructor(word: 'empty' | 'blank') {
    this.word = word
  }
}

export type LiquidList = readonly LiquidValue[]

export type LiquidValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | LiquidList
  | Map<string, LiquidValue>
  | LazyDictionary
  | ElementValue
  | NamedValue
  | Safe
  | Range
  | Keyword

export function isList(value: LiquidValue): value is LiquidList {
  return Array.isArray(value)
}

export function isHash(value: LiquidValue): value is Map<string, LiquidValue> | LazyDictionary {
  return value instanceof Map || value instanceof LazyDictionary
}

export function hashKeys(hash: Map<string, LiquidValue> | Dictionary): string[] {
  return [...hash.keys()]
}

/** A value without the marks that only output looks at. */
export function plain(value: LiquidValue): LiquidValue {
  if (value instanceof Safe) return value.text
  return value instanceof NamedValue ? value.text() : value
}

/** Only nil and `false` are falsy (LIQ-20). */
export function isTruthy(value: LiquidValue): boolean {
  return value !== null && value !== false
}

const DECIMAL = /^\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,4})?\s*$/u
const INTEGER = /^\s*[-+]?\d+\s*$/u
/** No Integer and no useful Float is longer. */
const LONGEST_NUMBER = 400

export const MAX_INTEGER = 2n ** 63n - 1n
export const MIN_INTEGER = -(2n ** 63n)

/** The number that a text spells, by its spelling Integer or Float (LIQ-29, LIQ-37); undefined when it spells none. */
export function numberIn(text: string): bigint | number | undefined {
  if (text.length > LONGEST_NUMBER || !DECIMAL.test(text)) return undefined
  if (INTEGER.test(text)) {
    const integer = BigInt(text.trim().replace(/^\+/, ''))
    if (integer >= MIN_INTEGER && integer <= MAX_INTEGER) return integer
  }
  const float = Number(text)
  return Number.isFinite(float) ? float : undefined
}

/** Text of a Float: the shortest that reads back the same, with one decimal when it is whole (LIQ-19). */
export function floatText(value: number): string {
  if (Object.is(value, -0)) return '0.0'
  return Number.isInteger(value) && Math.abs(value) < 1e16 ? value.toFixed(1) : String(value)
}

export function isNumber(value: LiquidValue): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number'
}
