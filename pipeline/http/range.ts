/** The `Range` and `Destination-Range` fields: selector, bytes and entries (HTTP-45 to HTTP-49, HTTP-68, HTTP-106). */

import { Fault } from '../fault.ts'
import type { Placement } from '../tree/edit/edit.ts'
import { type ByteRange, parseByteRanges, type SuffixRange } from './byte-ranges.ts'
import { decodeField, isDigits, trimField } from './field-text.ts'

/** A slice of a list: zero-based and inclusive. */
export interface Entries {
  first: number
  last: number
}

export interface SelectorRange {
  unit: 'selector'
  /** Decoded and trimmed, never empty. */
  selector: string
  /** The same as the client sent it, byte for byte: what `Content-Range` repeats. */
  wire: string
  /** The word as sent, in lower case; `placementOf` judges it where it counts. */
  placement?: string
  entries?: Entries
}

export type Range =
  | SelectorRange
  /** No ranges: the field is malformed, so a read ignores it (HTTP-58). A write refuses the unit either way. */
  | { unit: 'bytes'; ranges: (ByteRange | SuffixRange)[] }
  | ({ unit: 'entries' } & Entries)
  /** Anything else: reads ignore it, writes answer 400 (HTTP-46). */
  | { unit: 'other' }

/**
 * Reads a `Range` field.
 *
 * @param header as Node delivers it, one character per byte
 * @returns undefined without a field
 * @throws Fault 400 `InvalidRange` for an empty selector (HTTP-47)
 */
export function parseRange(header: string | undefined): Range | undefined {
  if (header === undefined) return undefined
  const field = trimField(header)
  const equals = field.indexOf('=')
  const rest = field.slice(equals + 1)
  switch (field.slice(0, Math.max(equals, 0)).toLowerCase()) {
    case 'selector':
      return parseSelector(rest)
    case 'bytes':
      return { unit: 'bytes', ranges: parseByteRanges(rest) }
    case 'entries': {
      const entries = parseEntries(rest)
      return entries ? { unit: 'entries', ...entries } : { unit: 'other' }
    }
    default:
      return { unit: 'other' }
  }
}

function parseSelector(field: string): SelectorRange {
  let text = field
  let placement: string | undefined
  let entries: Entries | undefined
  for (;;) {
    const semicolon = text.lastIndexOf(';')
    if (semicolon < 0) break
    const tail = text.slice(semicolon + 1)
    const equals = tail.indexOf('=')
    const name = trimField(tail.slice(0, Math.max(equals, 0))).toLowerCase()
    const value = trimField(tail.slice(equals + 1))
    if (name === 'placement' && placement === undefined && /^[\w-]*$/.test(value)) {
      placement = value.toLowerCase()
    } else if (name === 'entries' && entries === undefined) {
      entries = parseEntries(value)
      if (!entries) break
    } else break
    text = text.slice(0, semicolon)
  }
  const wire = trimField(text)
  if (wire === '') throw new Fault(400, 'InvalidRange', 'The selector in the Range header is empty.')
  const range: SelectorRange = { unit: 'selector', selector: decodeField(wire), wire }
  if (placement !== undefined) range.placement = placement
  if (entries) range.entries = entries
  return range
}

/** @returns undefined unless the text is `<a>-<b>` with a at most b */
function parseEntries(text: string): Entries | undefined {
  const value = trimField(text)
  const dash = value.indexOf('-')
  const from = value.slice(0, Math.max(dash, 0))
  const to = value.slice(dash + 1)
  if (!isDigits(from) || !isDigits(to)) return undefined
  const entries = { first: Number(from), last: Number(to) }
  return entries.first <= entries.last ? entries : undefined
}

/**
 * @param word of a POST's `Range`; `append` without one
 * @throws Fault 400 `InvalidPlacement` (HTTP-95)
 */
export function placementOf(word: string | undefined): Placement {
  if (word === undefined) return 'append'
  if (isPlacement(word)) return word
  throw new Fault(400, 'InvalidPlacement', 'The placement must be append, prepend, before or after.')
}

function isPlacement(word: string): word is Placement {
  return word === 'append' || word === 'prepend' || word === 'before' || word === 'after'
}

/** Anchor and placement of an element MOVE. */
export interface DestinationRange {
  selector: string
  wire: string
  placement: Placement
}

/**
 * Reads `Destination-Range: selector=<css>; placement=<word>`.
 *
 * @param header as Node delivers it
 * @throws Fault 422 for another unit, a missing or an unknown placement (HTTP-106); 400 for an empty selector (HTTP-47)
 */
export function parseDestinationRange(header: string): DestinationRange {
  const range = parseRange(header)
  if (range?.unit !== 'selector') {
    throw new Fault(422, 'InvalidRange', 'Destination-Range must have the form selector=<css>; placement=<word>.')
  }
  const { selector, wire, placement } = range
  if (placement === undefined) {
    throw new Fault(422, 'MoveMissingHeaders', 'Destination-Range must name a placement.')
  }
  if (!isPlacement(placement)) {
    throw new Fault(422, 'InvalidPlacement', 'The placement must be append, prepend, before or after.')
  }
  return { selector, wire, placement }
}

/**
 * Cuts a slice to a list of `length` entries.
 *
 * @returns undefined where the slice begins behind the end, which is 416 (HTTP-68, HTTP-140)
 */
export function resolveEntries(entries: Entries, length: number): Entries | undefined {
  if (entries.first >= length) return undefined
  return { first: entries.first, last: Math.min(entries.last, length - 1) }
}

/** @returns `Content-Range` of a selector answer: the client's own bytes (HTTP-49) */
export function selectorContentRange(wire: string): string {
  return `selector=${wire}`
}

/** @returns `Content-Range` of a slice; without a slice that of a 416 (HTTP-49, HTTP-140) */
export function entriesContentRange(slice: Entries | undefined, length: number): string {
  return slice ? `entries ${slice.first}-${slice.last}/${length}` : `entries */${length}`
}
