/** The text of a resource pattern (PATH-2, PATH-6): parsed, and its braces expanded to flat lists of tokens. */

/** A place in a pattern that takes a looked-up value; every character of the value is literal (LOOK-5). */
export interface Hole {
  readonly lookup: string
}

/** One character of a set: pairs of first and last code point, and values whose characters are members too. */
export interface CharacterClass {
  readonly negated: boolean
  readonly ranges: readonly number[]
  readonly holes: readonly Hole[]
}

export const ANY = Symbol('any one character')
export const RUN = Symbol('any run of characters')

/** A string is literal text. */
export type Token = string | typeof ANY | typeof RUN | CharacterClass | Hole

interface Choice {
  readonly branches: readonly Item[][]
}

type Item = Token | Choice

/** Alternatives that the braces of one pattern may stand for; a pattern with more does not compile. */
const MAX_ALTERNATIVES = 256
/** Code points of a pattern as written; a longer one does not compile. */
export const MAX_LENGTH = 16_384
/** Code points of all alternatives together, and classes in one pattern. */
const MAX_EXPANDED = 65_536
const MAX_CLASSES = 256
const MAX_DEPTH = 32

export function isHole(token: Item): token is Hole {
  return typeof token === 'object' && 'lookup' in token
}

export function isClass(token: Item): token is CharacterClass {
  return typeof token === 'object' && 'ranges' in token
}

/**
 * Parses a pattern and expands its braces.
 *
 * @param parts pattern text as written, with holes for looked-up values
 * @returns one token list for each alternative, or undefined when the pattern does not compile (PATH-6): unbalanced
 *   brackets, a reversed range, a backslash at the end, or a size beyond the limits above
 */
export function parsePattern(parts: readonly (string | Hole)[]): Token[][] | undefined {
  const items = parse(parts)
  return items && expand(items).map(merge)
}

/** What an alternative weighs beside its code points. */
const WEIGHT = 32

/** How much the alternatives of a pattern weigh together, in code points: 0 for a pattern that does not compile. */
export function expandedWeight(parts: readonly (string | Hole)[]): number {
  const items = parse(parts)
  if (!items) return 0
  const { count, size } = measure(items)
  return size + count * WEIGHT
}

function parse(parts: readonly (string | Hole)[]): Item[] | undefined {
  const input: (string | Hole)[] = []
  for (const part of parts) {
    if (typeof part !== 'string') input.push(part)
    else if (part.length > 2 * MAX_LENGTH) return undefined
    else input.push(...part)
  }
  if (input.length > MAX_LENGTH) return undefined
  const parser = new Parser(input)
  const items = parser.sequence(0)
  if (!items || !parser.ended || parser.classes > MAX_CLASSES) return undefined
  const { count, size } = measure(items)
  return count > MAX_ALTERNATIVES || size > MAX_EXPANDED ? undefined : items
}

/** Recursive descent over code points; every method returns undefined where the text does not compile. */
class Parser {
  classes = 0
  readonly #input: readonly (string | Hole)[]
  #at = 0

  constructor(input: readonly (string | Hole)[]) {
    this.#input = input
  }

  get ended(): boolean {
    return this.#at === this.#input.length
  }

  /** Items up to the end of the pattern or, inside braces, up to the `,` or `}` that ends the branch. */
  sequence(depth: number): Item[] | undefined {
    const items: Item[] = []
    for (; !this.ended; this.#at++) {
      const symbol = this.#input[this.#at] as string | Hole
      if (symbol === '*') {
        if (items.at(-1) !== RUN) items.push(RUN)
      } else if (symbol === '?') items.push(ANY)
      else if (symbol === '[' || symbol === '{') {
        this.#at++
        const item = symbol === '[' ? this.#class() : this.#choice(depth + 1)
        if (!item) return undefined
        items.push(item)
      } else if (depth > 0 && (symbol === ',' || symbol === '}')) break
      else if (symbol === '\\') {
        const next = this.#input[++this.#at]
        if (next === undefined) return undefined
        if (isHoleSymbol(next)) items.push('\\', next)
        else items.push(next)
      } else if (symbol === '$' && this.#input[this.#at + 1] === '{') {
        // An unclosed or malformed lookup is literal text (LOOK-1), so its brace opens no choice.
        items.push('${')
        this.#at++
      } else items.push(symbol)
    }
    return items
  }

  /** After `{`; ends on its `}`. */
  #choice(depth: number): Choice | undefined {
    if (depth > MAX_DEPTH) return undefined
    const branches: Item[][] = []
    for (;;) {
      const branch = this.sequence(depth)
      if (!branch || this.ended) return undefined
      branches.push(branch)
      if (this.#input[this.#at] === '}') return { branches }
      this.#at++
    }
  }

  /** After `[`; ends on its `]`. */
  #class(): CharacterClass | undefined {
    this.classes++
    const negated = this.#input[this.#at] === '!' || this.#input[this.#at] === '^'
    if (negated) this.#at++
    const ranges: number[] = []
    const holes: Hole[] = []
    for (let first = true; ; first = false) {
      const symbol = this.#input[this.#at]
      if (symbol === undefined) return undefined
      if (symbol === ']' && !first) return { negated, ranges, holes }
      if (isHoleSymbol(symbol)) {
        holes.push(symbol)
        this.#at++
        continue
      }
      const low = this.#member()
      if (low === undefined) return undefined
      let high = low
      const end = this.#input[this.#at + 1]
      if (this.#input[this.#at] === '-' && end !== undefined && end !== ']' && !isHoleSymbol(end)) {
        this.#at++
        const member = this.#member()
        if (member === undefined || member < low) return undefined
        high = member
      }
      ranges.push(low, high)
    }
  }

  #member(): number | undefined {
    let symbol = this.#input[this.#at++]
    if (symbol === '\\' && typeof this.#input[this.#at] === 'string') symbol = this.#input[this.#at++]
    return typeof symbol === 'string' ? symbol.codePointAt(0) : undefined
  }
}

function isHoleSymbol(symbol: string | Hole): symbol is Hole {
  return typeof symbol !== 'string'
}

/** Number of alternatives and their code points in sum, without making them; both stop growing beyond their limits. */
function measure(items: readonly Item[]): { count: number; size: number } {
  let count = 1
  let size = 0
  for (const item of items) {
    if (typeof item === 'object' && 'branches' in item) {
      const branches = item.branches.map(measure)
      const branchCount = branches.reduce((sum, b) => sum + b.count, 0)
      const branchSize = branches.reduce((sum, b) => sum + b.size, 0)
      size = size * branchCount + branchSize * count
      count *= branchCount
    } else size += count
    count = Math.min(count, MAX_EXPANDED)
    size = Math.min(size, 2 * MAX_EXPANDED)
  }
  return { count, size }
}

function expand(items: readonly Item[]): Token[][] {
  let lists: Token[][] = [[]]
  for (const item of items) {
    if (typeof item === 'object' && 'branches' in item) {
      const tails = item.branches.flatMap(expand)
      const only = tails.length === 1 ? tails[0] : undefined
      if (only) for (const list of lists) for (const token of only) list.push(token)
      else lists = lists.flatMap(list => tails.map(tail => [...list, ...tail]))
    } else for (const list of lists) list.push(item)
  }
  return lists
}

/** Joins neighbouring literal text and drops a run that follows a run. */
export function merge(tokens: readonly Token[]): Token[] {
  const merged: Token[] = []
  let text = ''
  for (const token of tokens) {
    if (typeof token === 'string') {
      text += token
      continue
    }
    if (text) merged.push(text)
    else if (token === RUN && merged.at(-1) === RUN) continue
    text = ''
    merged.push(token)
  }
  if (text) merged.push(text)
  return merged
}
