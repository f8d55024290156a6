/**
 * Entity tags: how each representation gets its own and how tags that clients list are read (HTTP-30 to HTTP-32).
 *
 * Tags are strong and made of lower-case hex digits, so suffixes and separators stand out: `"<48 digits>"` for whole
 * bodies, stored or not (see the tags of the store), `"<32>-<32>"` for fragments, `"m-<48>"` for several matches, each
 * with `-br` or `-gzip` when compressed.
 */

import { createHmac, hash, type KeyObject } from 'node:crypto'
import type { Stretches } from '../tree/source-text.ts'
import type { Steps } from '../tree/steps.ts'
import { digesting, digestingText } from './digest.ts'

const MATCHES_DIGITS = 48
const PART_DIGITS = 32

/** Compressed forms a tag can tell apart. */
type Coding = 'br' | 'gzip'

/** Also what proxies that compress append, so that their tags are understood. */
const CODING_SUFFIXES = ['-br', '-gzip']

/**
 * @param outerMarkup the element's outer markup by the standard serialization
 * @returns its fragment part, 32 hex digits
 */
export function fragmentPart(outerMarkup: string): string {
  return hash('sha256', outerMarkup).slice(0, PART_DIGITS)
}

/** `fragmentPart` of an element that may be long, in steps. */
export function* tellingFragment(outerMarkup: Stretches): Steps<string> {
  return (yield* digestingText(outerMarkup)).slice(0, PART_DIGITS)
}

/**
 * It is keyed, so that it says nothing about bytes that whoever holds it may not see: they cannot be guessed and compared,
 * nor written elsewhere and compared (SEC-11).
 *
 * @param key secret of the site; as a KeyObject a tag costs a sixth
 * @param document path and SHA-256, 64 hex digits, of the stored document
 * @param projected what else went into a composed page, in a stable order: digests of the documents from which elements
 *   were taken, and of the session's copies of transient elements
 * @returns the document part of its fragment tags, 32 hex digits
 */
export function documentPart(
  key: KeyObject | Uint8Array,
  { path, digest }: { path: string; digest: string },
  projected: readonly string[] = [],
): string {
  const hmac = createHmac('sha256', key).update(`${digest}\n${projected.join('\n')}\n${path}`)
  return hmac.digest('hex').slice(0, PART_DIGITS)
}

/** @returns the tag of a fragment, quoted */
export function fragmentTag(fragment: string, document: string): string {
  return `"${fragment}-${document}"`
}

/** The two parts of a fragment tag. */
export interface FragmentParts {
  fragment: string
  document: string
}

const FRAGMENT_TAG = /^([0-9a-f]{32})-([0-9a-f]{32})$/

/**
 * @param opaque a tag without quotes and coding suffix
 * @returns undefined for any other kind of tag
 */
export function splitFragmentTag(opaque: string): FragmentParts | undefined {
  // Length first: most tags are none of this kind, and lists can be long.
  if (opaque.length !== 2 * PART_DIGITS + 1) return undefined
  const [, fragment, document] = FRAGMENT_TAG.exec(opaque) ?? []
  return fragment !== undefined && document !== undefined ? { fragment, document } : undefined
}

/** One element of a multi-match answer. */
export interface Match {
  /** How the answer names its place: document path and unique selector. */
  place: string
  /** Its fragment part. */
  part: string
}

/**
 * @param selection the selector text, and the slice if one was asked for
 * @param matches in the order of the answer
 * @returns the tag of a multi-match or CSS QUERY answer (HTTP-31, HTTP-131), in steps
 */
export function* taggingMatches(selection: string, matches: readonly Match[]): Steps<string> {
  const digest = yield* digesting(linesOf(selection, matches))
  return `"m-${digest.slice(0, MATCHES_DIGITS)}"`
}

function* linesOf(selection: string, matches: readonly Match[]): Generator<string> {
  yield selection
  for (const { place, part } of matches) yield `\n${part} ${place}`
}

/** @returns the tag of the same representation in a compressed form */
export function codedTag(tag: string, coding: Coding): string {
  return `${tag.slice(0, -1)}-${coding}"`
}

/**
 * @param opaque a tag without quotes, with or without coding suffix
 * @returns it without: hex digits never spell one, so nothing else is cut
 */
export function withoutCoding(opaque: string): string {
  for (const suffix of CODING_SUFFIXES) if (opaque.endsWith(suffix)) return opaque.slice(0, -suffix.length)
  return opaque
}
