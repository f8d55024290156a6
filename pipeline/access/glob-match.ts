/**
 * Decides whether a text is what a list of tokens describes, in linear time (SEC-4): the tokens are cut at their runs
 * into chunks, and the leftmost place of each chunk after the one before is always good enough.
 */

import { ANY, type CharacterClass, isClass, RUN, type Token } from './glob-syntax.ts'

/** A code point, any code point, or one of a class. */
type Atom = number | typeof ANY | CharacterClass

/** Chunks between the runs of one alternative; a single chunk must equal the whole text. */
export type Matcher = { readonly texts: readonly string[] } | { readonly chunks: readonly Chunk[] }

interface Chunk {
  readonly atoms: readonly Atom[]
  /** Positions of literal code points, for the bit-parallel search. */
  readonly literals: ReadonlyMap<number, readonly number[]>
  readonly classes: readonly { at: number; set: CharacterClass }[]
  /** Bit i is set where atom i is any character. */
  readonly wild: Uint32Array
}

/** Length from which the engine's own search could take quadratic time. */
const LONG = 64

/**
 * Prepares tokens for matching.
 *
 * @param tokens without holes, neighbouring literals and runs merged
 */
export function matcher(tokens: readonly Token[]): Matcher {
  const lists: Token[][] = [[]]
  for (const token of tokens) {
    if (token === RUN) lists.push([])
    else lists.at(-1)?.push(token)
  }
  if (tokens.every(t => typeof t === 'string' || t === RUN)) return { texts: lists.map(list => list.join('')) }
  return { chunks: lists.map(chunk) }
}

function chunk(tokens: readonly Token[]): Chunk {
  const atoms: Atom[] = []
  for (const token of tokens) {
    if (typeof token === 'string') for (const character of token) atoms.push(character.codePointAt(0) ?? 0)
    else if (token === ANY || isClass(token)) atoms.push(token)
  }
  const literals = new Map<number, number[]>()
  const classes: { at: number; set: CharacterClass }[] = []
  const wild = new Uint32Array(Math.ceil(atoms.length / 32))
  for (const [at, atom] of atoms.entries()) {
    if (atom === ANY) set(wild, at)
    else if (typeof atom !== 'number') classes.push({ at, set: atom })
    else {
      const places = literals.get(atom)
      if (places) places.push(at)
      else literals.set(atom, [at])
    }
  }
  return { atoms, literals, classes, wild }
}

/** Whether the whole text is what the matcher describes. */
export function matchesText(matcher: Matcher, text: string): boolean {
  return 'texts' in matcher ? matchesLiterals(matcher.texts, text) : matchesAtoms(matcher.chunks, codePoints(text))
}

function matchesLiterals(texts: readonly string[], text: string): boolean {
  const first = texts[0] ?? ''
  if (texts.length === 1) return text === first
  const last = texts.at(-1) ?? ''
  const end = text.length - last.length
  if (first.length > end || !text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (let i = 1; i < texts.length - 1; i++) {
    const wanted = texts[i] as string
    const found = wanted.length < LONG ? text.indexOf(wanted, at) : indexOfLong(text, wanted, at)
    if (found < 0) return false
    at = found + wanted.length
    if (at > end) return false
  }
  return true
}

/** Knuth, Morris and Pratt: the first place of a long text, in linear time whatever the two are. */
function indexOfLong(text: string, wanted: string, from: number): number {
  const border = new Int32Array(wanted.length)
  for (let i = 1, k = 0; i < wanted.length; i++) {
    while (k > 0 && wanted.charCodeAt(i) !== wanted.charCodeAt(k)) k = border[k - 1] as number
    if (wanted.charCodeAt(i) === wanted.charCodeAt(k)) k++
    border[i] = k
  }
  for (let i = from, k = 0; i < text.length; i++) {
    while (k > 0 && text.charCodeAt(i) !== wanted.charCodeAt(k)) k = border[k - 1] as number
    if (text.charCodeAt(i) === wanted.charCodeAt(k)) k++
    if (k === wanted.length) return i - k + 1
  }
  return -1
}

function matchesAtoms(chunks: readonly Chunk[], text: readonly number[]): boolean {
  const first = chunks[0] as Chunk
  const last = chunks.at(-1) as Chunk
  if (chunks.length === 1) return text.length === first.atoms.length && standsAt(first, text, 0)
  const end = text.length - last.atoms.length
  if (first.atoms.length > end || !standsAt(first, text, 0) || !standsAt(last, text, end)) return false
  let at = first.atoms.length
  for (let i = 1; i < chunks.length - 1; i++) {
    at = search(chunks[i] as Chunk, text, at, end)
    if (at < 0) return false
  }
  return true
}

function standsAt(chunk: Chunk, text: readonly number[], at: number): boolean {
  return chunk.atoms.every((atom, i) => {
    const character = text[at + i] as number
    return atom === ANY || (typeof atom === 'number' ? atom === character : holds(atom, character))
  })
}

/**
 * Bit-parallel search (shift-and): bit i of the state says that the atoms up to i stand just before here, so a character
 * costs one step for every 32 atoms.
 *
 * @returns the end of the leftmost place within `from` and `end`, or -1
 */
function search(chunk: Chunk, text: readonly number[], from: number, end: number): number {
  const length = chunk.atoms.length
  const state = new Uint32Array(chunk.wild.length)
  const masks = new Map<number, Uint32Array>()
  for (let at = from; at < end; at++) {
    const character = text[at] as number
    let mask = masks.get(character)
    if (!mask) masks.set(character, (mask = maskOf(chunk, character)))
    let carry = 1
    for (let w = 0; w < state.length; w++) {
      const word = state[w] as number
      state[w] = ((word << 1) | carry) & (mask[w] as number)
      carry = word >>> 31
    }
    if (((state[(length - 1) >>> 5] as number) >>> ((length - 1) & 31)) & 1) return at + 1
  }
  return -1
}

function maskOf(chunk: Chunk, character: number): Uint32Array {
  const places = chunk.literals.get(character)
  if (!places && chunk.classes.length === 0) return chunk.wild
  const mask = chunk.wild.slice()
  for (const at of places ?? []) set(mask, at)
  for (const { at, set: members } of chunk.classes) if (holds(members, character)) set(mask, at)
  return mask
}

function set(bits: Uint32Array, at: number): void {
  bits[at >>> 5] = (bits[at >>> 5] as number) | (1 << (at & 31))
}

function holds(set: CharacterClass, character: number): boolean {
  for (let i = 0; i < set.ranges.length; i += 2) {
    if (character >= (set.ranges[i] as number) && character <= (set.ranges[i + 1] as number)) return !set.negated
  }
  return set.negated
}

function codePoints(text: string): number[] {
  return Array.from(text, character => character.codePointAt(0) ?? 0)
}
