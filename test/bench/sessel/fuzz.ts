/** Random programs by the grammar: every one has to end, with a value or a failure that is told. */

import { Allowance, AllowanceSpent } from '../../../pipeline/language/allowance.ts'
import {
  compile,
  evaluate,
  jsonText,
  SesselError,
  SesselSyntaxError,
} from '../../../pipeline/language/sessel/sessel.ts'
import { hostFor } from '../../pipeline/language/sessel/site.ts'

export interface Fuzzed {
  programs: number
  /** Milliseconds that an evaluation held everything else up at most. */
  slowest: number
  /** MiB of the heap. */
  grown: number
}

/**
 * @param duration milliseconds
 * @param seed chooses the programs
 * @throws what a program has made the language throw that is none of its own failures
 */
export async function fuzz(duration: number, seed = 1): Promise<Fuzzed> {
  const random = generator(seed)
  const host = hostFor('/people.html')
  const limits = { steps: 100_000, memory: 8 * 1024 * 1024, time: 2_000 }
  const end = performance.now() + duration
  let slowest = 0
  let programs = 0
  let before = 0
  while (performance.now() < end) {
    const text = random(20) === 0 ? garbage(random) : program(random)
    try {
      const start = performance.now()
      const begun = evaluate(compile(text), host, new Allowance(limits))
      // The first programs are slow because the machine does not know them yet.
      if (programs > 2_000) slowest = Math.max(slowest, performance.now() - start)
      const outcome = await begun
      if ('value' in outcome) jsonText(outcome.value, () => undefined)
    } catch (error) {
      const isOwn =
        error instanceof SesselSyntaxError || error instanceof SesselError || error instanceof AllowanceSpent
      if (!isOwn) throw new Error(`a program has failed in its own way: ${text}`, { cause: error })
    }
    if (++programs % 100 === 0) await new Promise(setImmediate)
    if (programs === 2_000) before = heap()
  }
  return { programs, slowest, grown: before === 0 ? 0 : heap() - before }
}

function heap(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1024 / 1024
}

type Random = (below: number) => number

/** The same numbers for the same seed (xorshift). */
function generator(seed: number): Random {
  let state = seed | 1
  return below => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

function pick(random: Random, options: readonly string[]): string {
  return options[random(options.length)] ?? ''
}

const NAMES = ['a', 'b', 'f', 'self', 'request', 'Context', 'P']
const METHODS = `abs floor round contains startsWith matches count isEmpty trim upper replace split slice sha256 slugify
  parseDateTime Number Integer Float String Bool first last at filter map each find all any sum min max unique sort reverse
  flatten join reduce keys values entries get delete merge text value attr children parent clone microdata append setHTML
  remove selector getHTML search construct greet add until format toString`.split(/\s+/)
const LITERALS =
  `1 0 -3 2.5 9223372036854775807 "a" "é🍵" "" "2026-01-31" "#{1}" true false null [] {} [1,2,3] ["b","a"]
  {k:1} new~p new~ul.x#y{new~li{"t"}} \${li} \${p} \${.note} \${[itemprop=name]} \${:isa("https://example.com/Person")}
  Temporal.PlainDate.from("2026-01-31") Temporal.Duration.from("P1M") (x=>x) ((x,y)=>x+y) "<b>1</b>" "(a+)+$"`
    .split(/\s+/)
    .map(text => text.replaceAll('~', ' '))
const OPERATORS = ['+', '-', '*', '/', '==', '!=', '<', '<=>', '&&', '||', '??', 'isa']

function program(random: Random): string {
  const statements = Array.from({ length: 1 + random(4) }, () => statement(random, 4))
  return `@schema P url("https://example.com/Person"); let a = ${expression(random, 2)}; let b = ${expression(random, 2)}; let f = n => ${expression(random, 3)}; ${statements.join('; ')}`
}

function statement(random: Random, depth: number): string {
  switch (random(8)) {
    case 0:
      return `let ${pick(random, ['a', 'b', '{ k }', '[a, ...b]'])} = ${expression(random, depth)}`
    case 1:
      return `a.k = ${expression(random, depth)}`
    case 2:
      return `Context["x"] = ${expression(random, depth)}`
  }
  return expression(random, depth)
}

function expression(random: Random, depth: number): string {
  if (depth === 0) return random(3) === 0 ? pick(random, NAMES) : pick(random, LITERALS)
  const inner = () => expression(random, depth - 1)
  switch (random(14)) {
    case 0:
      return `(${inner()} ${pick(random, OPERATORS)} ${inner()})`
    case 1:
      return `(${inner()} ? ${inner()} : ${inner()})`
    case 2:
      return `[${inner()}, ${inner()}]`
    case 3:
      return `{ a: ${inner()}, "b c": ${inner()} }`
    case 4:
      return `(x => ${inner()})`
    case 5:
      return `f(${inner()})`
    case 6:
      return `if (${inner()}) { ${statement(random, depth - 1)} } else { ${inner()} }`
    case 7:
      return `try { ${statement(random, depth - 1)} } catch (e) { e.message }`
    case 8:
      return `new div[title=${inner()}] { ${inner()} }`
    case 9:
      return `(\${p, li} from ${inner()})`
    case 10:
      return `(${inner()})[${inner()}]`
    case 11:
      return `"#{${inner()}}"`
  }
  const parameters = Array.from({ length: random(3) }, inner).join(', ')
  return `(${inner()}).${pick(random, METHODS)}(${parameters})`
}

/** Text that the parser has to refuse, or not, without any harm. */
function garbage(random: Random): string {
  const pieces = [
    '{',
    '}',
    '(',
    ')',
    '[',
    ']',
    '"',
    "'",
    '${',
    '#{',
    '=>',
    'new a[x=',
    'let ',
    ';',
    '.',
    '?.',
    '//',
    '/*',
    '\\',
    '1',
    'a',
    '|',
    '@',
    '\n',
    '🍵',
  ]
  return Array.from({ length: 1 + random(2_000) }, () => pick(random, pieces)).join('')
}
