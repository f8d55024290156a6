/** Programs by their text: parsed and compiled once, and kept. */

import { OrderedMap } from '../../ordered-map.ts'
import { atOnce, type Steps, waitingTurn } from '../../tree/steps.ts'
import type { Program } from './code.ts'
import { generating } from './generate.ts'
import type { MaybeLater } from './host.ts'
import { parsing } from './parse.ts'
import type { Declaration } from './syntax.ts'

/** Programs that are kept, the least recently used first. */
const kept = new OrderedMap<string, Program>()
const KEPT = { programs: 1_000, characters: 2 * 1024 * 1024 }
let keptCharacters = 0

/** UTF-16 code units of a program that is compiled without a pause. */
const SHORT = 16 * 1024

/**
 * Compiles a program without a pause, from a bounded cache by its text.
 *
 * @throws SesselSyntaxError (SES-28)
 */
export function compile(text: string): Program {
  return known(text) ?? keep(text, atOnce(compiling(text)))
}

/**
 * The same in turns of the event loop where the program is new and long; the rest at once, without a promise.
 *
 * @throws SesselSyntaxError, at once or later
 */
export function compileInTurns(text: string): MaybeLater<Program> {
  if (text.length <= SHORT) return compile(text)
  return known(text) ?? inTurns(text)
}

async function inTurns(text: string): Promise<Program> {
  const work = compiling(text)
  for (;;) {
    await waitingTurn()
    const step = work.next()
    if (step.done) return keep(text, step.value)
  }
}

function known(text: string): Program | undefined {
  return kept.use(text)
}

function keep(text: string, program: Program): Program {
  // Another turn may have compiled the same text.
  if (!kept.has(text)) keptCharacters += text.length
  kept.set(text, program)
  for (const [oldest] of kept) {
    if (kept.size <= KEPT.programs && keptCharacters <= KEPT.characters) break
    kept.delete(oldest)
    keptCharacters -= oldest.length
  }
  return program
}

/** Compiles a program in steps of some milliseconds. */
export function* compiling(text: string): Steps<Program> {
  const { declarations, body } = yield* parsing(text)
  const main = yield* generating(body)
  const named = (kind: Declaration['kind']) => declarations.filter(declaration => declaration.kind === kind)
  return {
    text,
    main,
    declarations: new Map(declarations.map(declaration => [declaration.name, declaration])),
    namespaces: new Map(named('namespace').map(({ name, url }) => [name, url])),
  }
}
