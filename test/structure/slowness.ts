/**
 * Whether a regular expression takes time that grows faster than its text, from how it is written.
 *
 * The automaton whose states are the characters of the pattern (Glushkov's) tells it. A pattern is slow where one word
 * leads from a state to itself, from it to another, and from that one to itself: the engine tries all ways to divide the
 * repeated word between them. That the search begins again at each character is one more state in front, which any word
 * leads to itself. What a look-ahead reads is read by one more way, which ends nowhere. References to what was read, and
 * look-behinds of any length, are told as not read.
 */

import { type AST, RegExpParser } from '@eslint-community/regexpp'

type Pattern = AST.Pattern
type Alternative = AST.Alternative
type Element = AST.Element

/** How a part can be passed without a character, or left for what follows. */
interface Way {
  /** Only after the end of a line. */
  afterLine: boolean
  /** Only at the end of the text. */
  atEnd: boolean
  /** Only if more is true of the text: a look-ahead, the end of a line. */
  conditional: boolean
}

interface Step extends Way {
  state: number
}

interface Part {
  empty: Way[]
  first: Step[]
  last: Step[]
}

const FREE: Way = { afterLine: false, atEnd: false, conditional: false }
/** Where the search begins: any character leads here again. */
const BEFORE = 0
/** Repetitions that are as good as without bound. */
const MANY = 1000
/** Copies at most of what is repeated a known number of times. */
const COPIES = 4
const LINES = '\n\r\u2028\u2029'
const SAMPLE = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  ...'\x85\xa0ßéſ\u0130\u0301\u0660\u2028“”中\ufeff😀',
]

const both = (a: Way, b: Way): Way => ({
  afterLine: a.afterLine || b.afterLine,
  atEnd: a.atEnd || b.atEnd,
  conditional: a.conditional || b.conditional,
})

function distinct(ways: readonly Way[]): Way[] {
  return [...new Map(ways.map(way => [`${way.afterLine} ${way.atEnd} ${way.conditional}`, way])).values()]
}

class Automaton {
  /** Source of the character or class that each state has read. */
  readonly leaves: string[] = ['[^]']
  readonly next: Step[][] = [[{ ...FREE, state: BEFORE }]]
  /** Steps after which the whole has matched. */
  readonly last: readonly Step[]
  /** What is not understood here. */
  readonly unread: string[] = []
  readonly #lines: boolean

  constructor(pattern: Pattern, flags: string) {
    this.#lines = flags.includes('m')
    const whole = this.#choice(pattern.alternatives)
    if (!flags.includes('y')) this.#join([{ ...FREE, state: BEFORE }], whole.first)
    this.last = whole.last
  }

  #join(last: readonly Step[], first: readonly Step[]): void {
    for (const from of last)
      for (const to of first) this.next[from.state]?.push({ ...to, afterLine: from.afterLine || to.afterLine })
  }

  #choice(alternatives: readonly Alternative[]): Part {
    const parts = alternatives.map(({ elements }) => this.#sequence(elements.map(each => () => this.#element(each))))
    return {
      empty: distinct(parts.flatMap(({ empty }) => empty)),
      first: parts.flatMap(({ first }) => first),
      last: parts.flatMap(({ last }) => last),
    }
  }

  #sequence(parts: readonly (() => Part)[]): Part {
    let whole: Part = { empty: [FREE], first: [], last: [] }
    for (const make of parts) {
      const part = make()
      this.#join(whole.last, part.first)
      const passing = (steps: readonly Step[], ways: readonly Way[]) =>
        steps.flatMap(step => ways.map(way => ({ ...step, ...both(step, way) })))
      whole = {
        empty: distinct(whole.empty.flatMap(way => part.empty.map(each => both(way, each)))),
        first: [...whole.first, ...passing(part.first, whole.empty)],
        last: [...part.last, ...passing(whole.last, part.empty)],
      }
    }
    return whole
  }

  #leaf(source: string): Part {
    const step = { ...FREE, state: this.leaves.push(source) - 1 }
    this.next.push([])
    return { empty: [], first: [step], last: [step] }
  }

  #repeated(element: Element, min: number, max: number): Part {
    const once = () => this.#element(element)
    const maybe = () => {
      const part = once()
      return { ...part, empty: distinct([...part.empty, FREE]) }
    }
    const looped = () => {
      const part = maybe()
      this.#join(part.last, part.first)
      return part
    }
    const needed: (() => Part)[] = Array(Math.min(min, COPIES)).fill(once)
    if (max >= MANY) return this.#sequence([...needed, looped])
    // Each needs the one before it.
    const nested = (left: number): Part => {
      const part = this.#sequence([once, ...(left > 1 ? [() => nested(left - 1)] : [])])
      return { ...part, empty: distinct([...part.empty, FREE]) }
    }
    const more = Math.min(max - min, COPIES)
    return this.#sequence([...needed, ...(more > 0 ? [() => nested(more)] : [])])
  }

  #element(element: Element): Part {
    switch (element.type) {
      case 'Group':
      case 'CapturingGroup':
        return this.#choice(element.alternatives)
      case 'Quantifier':
        return this.#repeated(element.element, element.min, element.max)
      case 'Assertion': {
        if (element.kind === 'start')
          return this.#lines ? { empty: [{ ...FREE, afterLine: true }], first: [], last: [] } : this.#leaf('$^')
        if (element.kind === 'end' && !this.#lines) return { empty: [{ ...FREE, atEnd: true }], first: [], last: [] }
        const past = { empty: [{ ...FREE, conditional: true }], first: [], last: [] }
        if (element.kind === 'lookahead') return { ...past, first: this.#choice(element.alternatives).first }
        if (element.kind === 'lookbehind' && /[*+]|,\}/.test(element.raw)) this.unread.push(element.raw)
        return past
      }
      case 'Backreference':
        this.unread.push(element.raw)
        return { empty: [{ ...FREE, conditional: true }], first: [], last: [] }
      default:
        return this.#leaf(element.raw)
    }
  }
}

/** A character that stands for all that the same states read. */
interface Kind {
  char: string
  reads: boolean[]
}

function kindsOf(leaves: readonly string[], source: string, flags: string): Kind[] {
  const own = flags.replace(/[gmy]/g, '')
  const tests = leaves.map(leaf => new RegExp(`^(?:${leaf})$`, own))
  const kinds = new Map<string, Kind>()
  const wide = /[uv]/.test(flags)
  for (const char of new Set([...SAMPLE, ...source])) {
    if (char.length > 1 && !wide) continue
    const reads = tests.map(test => test.test(char))
    const key = `${reads.map(Number).join('')}${LINES.includes(char)}`
    // Letters tell more than controls do.
    const known = kinds.get(key)
    if (!known || (known.char < ' ' && char > ' ')) kinds.set(key, { char, reads })
  }
  return [...kinds.values()]
}

/**
 * A word that leads from one tuple of states to another, if there is one.
 *
 * @param apart whether the two are to have gone different ways
 */
function word({ automaton, kinds, reach }: Known, from: number[], ends: number[], apart = false): string | undefined {
  for (const begun of [false, true]) {
    const seen = new Set<string>()
    let queue: { tuple: number[]; line: boolean; parted: boolean; text: string }[] = [
      { tuple: from, line: begun, parted: !apart, text: '' },
    ]
    while (queue.length > 0) {
      const following: typeof queue = []
      for (const { tuple, line, parted, text } of queue) {
        for (const { char, reads } of kinds) {
          const steps = tuple.map((state, place) =>
            (automaton.next[state] ?? []).flatMap(({ state: to, afterLine }, at) =>
              reads[to] && (!afterLine || line) && reach[to]?.has(ends[place] ?? BEFORE) ? [{ to, at }] : [],
            ),
          )
          const tuples = steps.reduce<{ to: number; at: number }[][]>(
            (known, each) => known.flatMap(head => each.map(step => [...head, step])),
            [[]],
          )
          for (const each of tuples) {
            const [a, b] = each
            const differ = parted || (a?.to === b?.to ? tuple[0] === tuple[1] && a?.at !== b?.at : true)
            const state = { tuple: each.map(({ to }) => to), line: LINES.includes(char), parted: differ }
            if (differ && state.line === begun && state.tuple.every((value, at) => value === ends[at]))
              return text + char
            const key = `${state.tuple} ${state.line} ${differ}`
            if (seen.has(key)) continue
            seen.add(key)
            following.push({ ...state, text: text + char })
          }
        }
      }
      queue = following
    }
  }
  return undefined
}

interface Known {
  automaton: Automaton
  kinds: readonly Kind[]
  reach: readonly ReadonlySet<number>[]
}

/** States that each state leads to. */
function reachable(automaton: Automaton): Set<number>[] {
  return automaton.next.map((_, from) => {
    const known = new Set<number>()
    const open = [from]
    for (let at = open.pop(); at !== undefined; at = open.pop())
      for (const { state } of automaton.next[at] ?? [])
        if (!known.has(state)) {
          known.add(state)
          open.push(state)
        }
    return known
  })
}

/** States after which the whole has matched, whatever follows: what all of it may be can also reach its end. */
function accepting({ last }: Automaton, kinds: readonly Kind[]): Set<number> {
  return new Set(
    last.flatMap(({ state, atEnd, conditional }) =>
      conditional || (atEnd && !kinds.every(({ reads }) => reads[state])) ? [] : [state],
    ),
  )
}

const PARSER = new RegExpParser()

/** Words whose repetition takes more time than they are long, one of each kind, with what it does. */
export function slowness({ source, flags }: RegExp): string[] {
  const unicode = flags.includes('u')
  const unicodeSets = flags.includes('v')
  const automaton = new Automaton(PARSER.parsePattern(source, 0, source.length, { unicode, unicodeSets }), flags)
  const kinds = kindsOf(automaton.leaves, source, flags)
  const reach = reachable(automaton)
  const loops = automaton.leaves.flatMap((_, state) => (reach[state]?.has(state) ? [state] : []))
  const known = { automaton, kinds, reach }
  const passing = accepting(automaton, kinds)
  const found = new Map<string, string>()
  for (const from of loops) {
    for (const to of loops) {
      if (passing.has(to) || !reach[from]?.has(to)) continue
      const type = from === BEFORE ? 'Move' : from === to ? 'Self' : 'Trade'
      if (to === BEFORE || found.has(type)) continue
      const text =
        from === to
          ? word(known, [from, from], [from, from], true)
          : word(known, [from, to], [to, to]) && word(known, [from, from, to], [from, to, to])
      if (text !== undefined) found.set(type, text)
    }
  }
  return [
    ...[...found].map(([type, text]) => `${type} ${JSON.stringify(text)}`),
    ...automaton.unread.map(unread => `Unread ${unread}`),
  ]
}
