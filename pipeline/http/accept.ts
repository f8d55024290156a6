/** Content negotiation: media types by `Accept` and codings by `Accept-Encoding` (HTTP-57, METH-4). */

import { trimField } from './field-text.ts'

/** One member of an `Accept` or `Accept-Encoding` list. */
interface Preference {
  /** Lower case, without parameters. */
  name: string
  /** 0 to 1. */
  quality: number
}

const JSON_LD = 'application/ld+json'
const MULTIPART = 'multipart/mixed'

/** The form in which an HTML document is answered. */
export type Form = 'html' | 'json-ld' | 'multipart'

/**
 * Chooses the form of a read of an HTML document. JSON-LD needs a higher quality than HTML has, each by its most
 * specific range; several matches as multipart need a selector and the type's own name.
 *
 * @param accept the field, undefined or empty where absent
 * @param hasSelector the request has a selector range
 */
export function negotiate(accept: string | undefined, hasSelector: boolean): Form {
  if (!accept) return 'html'
  const preferences = preferencesIn(accept)
  const json = qualityOf(preferences, JSON_LD)
  const jsonWins = json > qualityOf(preferences, 'text/html')
  const multipart = hasSelector ? named(preferences, MULTIPART) : 0
  if (multipart > 0) return jsonWins && json > multipart ? 'json-ld' : 'multipart'
  return jsonWins ? 'json-ld' : 'html'
}

/**
 * @param type lower case, without parameters
 * @returns whether the field lists the type literally with a quality above zero (METH-4)
 */
export function names(accept: string | undefined, type: string): boolean {
  return namedQuality(accept, type) > 0
}

/** @returns the quality of a type listed literally, wildcards aside; 0 if it is not listed */
export function namedQuality(accept: string | undefined, type: string): number {
  return accept ? named(preferencesIn(accept), type) : 0
}

/**
 * @returns whether the field rules the type out, by not covering it or by a quality of zero. A field without a single
 *   readable media range rules nothing out.
 */
export function excludes(accept: string | undefined, type: string): boolean {
  if (!accept) return false
  const preferences = preferencesIn(accept)
  return preferences.some(({ name }) => name === '*' || name.includes('/')) && qualityOf(preferences, type) === 0
}

/** Codings in the order in which they are preferred. */
const CODINGS = ['br', 'gzip'] as const

/** A compressed form, or none. */
export type AcceptedCoding = (typeof CODINGS)[number] | 'identity'

/**
 * Chooses the coding of an answer: the acceptable one of highest quality, Brotli before gzip before none. Nothing is
 * compressed unless the client says that it understands it.
 *
 * @param accept the `Accept-Encoding` field
 */
export function chooseCoding(accept: string | undefined): AcceptedCoding {
  if (!accept) return 'identity'
  const preferences = preferencesIn(accept)
  const any = highest(preferences, '*')
  // Without a word about it, sending the bytes as they are is acceptable but never preferred.
  let best: AcceptedCoding = 'identity'
  let bestQuality = highest(preferences, 'identity') ?? 0
  for (const coding of CODINGS) {
    const alias = coding === 'gzip' ? highest(preferences, 'x-gzip') : undefined
    const quality = highest(preferences, coding) ?? alias ?? any ?? 0
    if (quality > bestQuality || (quality === bestQuality && quality > 0 && best === 'identity')) {
      best = coding
      bestQuality = quality
    }
  }
  return best
}

/** Quality by the most specific of `type/subtype`, `type/*` and the full wildcard; 0 if none is listed. */
function qualityOf(preferences: readonly Preference[], type: string): number {
  const whole = `${type.slice(0, type.indexOf('/'))}/*`
  return (
    highest(preferences, type) ??
    highest(preferences, whole) ??
    highest(preferences, '*/*') ??
    // Old clients abbreviate the full wildcard.
    highest(preferences, '*') ??
    0
  )
}

function named(preferences: readonly Preference[], type: string): number {
  return highest(preferences, type) ?? 0
}

function highest(preferences: readonly Preference[], name: string): number | undefined {
  let quality: number | undefined
  for (const preference of preferences) {
    if (preference.name === name && (quality === undefined || preference.quality > quality)) {
      quality = preference.quality
    }
  }
  return quality
}

const COMMA = 0x2c
const SEMICOLON = 0x3b
const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Browsers send the same few fields again and again; what was read of short ones is kept until there are too many. */
const recent = new Map<string, readonly Preference[]>()
const MOST_RECENT = 64
const LONGEST_KEPT = 512

function preferencesIn(field: string): readonly Preference[] {
  let preferences = recent.get(field)
  if (preferences) return preferences
  preferences = parsePreferences(field)
  if (field.length <= LONGEST_KEPT) {
    if (recent.size === MOST_RECENT) recent.clear()
    recent.set(field, preferences)
  }
  return preferences
}

/**
 * Reads a list of names with parameters in one pass. Parameters other than `q` are dropped, so a type with a profile
 * counts as the type; members whose quality is no number from 0 to 1 are left out.
 */
function parsePreferences(field: string): Preference[] {
  const preferences: Preference[] = []
  let name: string | undefined
  let quality: number | undefined = 1
  let start = 0
  let quoted = false
  for (let i = 0; i <= field.length; i++) {
    const code = i < field.length ? field.charCodeAt(i) : COMMA
    if (quoted && i < field.length) {
      if (code === QUOTE) quoted = false
      else if (code === BACKSLASH && i + 1 < field.length) i++
      continue
    }
    if (code === QUOTE) quoted = true
    if (code !== COMMA && code !== SEMICOLON) continue
    const item = trimField(field.slice(start, i))
    start = i + 1
    if (name === undefined) name = item.toLowerCase()
    else if (isQuality(item)) quality = parseQuality(item)
    if (code === SEMICOLON) continue
    if (name !== '' && quality !== undefined) preferences.push({ name, quality })
    name = undefined
    quality = 1
  }
  return preferences
}

function isQuality(parameter: string): boolean {
  return parameter.startsWith('q=') || parameter.startsWith('Q=')
}

/** @returns undefined unless the value is a decimal number from 0 to 1 */
function parseQuality(parameter: string): number | undefined {
  const value = parameter.slice(2)
  if (value.length > 24 || !/^(?:\d+(?:\.\d*)?|\.\d+)$/.test(value)) return undefined
  const quality = Number(value)
  return quality <= 1 ? quality : undefined
}
