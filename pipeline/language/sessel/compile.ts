/** Programs by their text: parsed and compiled once, and kept. */

import { Compiled } from '../../compiled.ts'
import { ownText } from '../../own-text.ts'
import { atOnce, type Steps, waitingTurn } from '../../tree/steps.ts'
import type { Program } from './code.ts'
import { generating } from './generate.ts'
import type { MaybeLater } from './host.ts'
import { parsing } from './parse.ts'
import type { Declaration } from './syntax.ts'

const kept = new Compiled<Program>()

/** UTF-16 code units of a program that is compiled without a pause. */
const SHORT = 16 * 1024

/**
 * Compiles a program without a pause, from a bounded cache by its text.
 *
 * @throws SesselSyntaxError (SES-28)
 */
export function compile(text: string): Program {
  return kept.use(text) ?? keep(atOnce(compiling(ownText(text))))
}

/**
 * The same in turns of the event loop where the program is new and long; the rest at once, without a promise.
 *
 * @throws SesselSyntaxError, at once or later
 */
export function compileInTurns(text: string): MaybeLater<Program> {
  if (text.length <= SHORT) return compile(text)
  return kept.use(text) ?? inTurns(text)
}

function keep(program: Program): Program {
  return kept.keep(program.text, program, 2000 + 20 * program.text.length)
}

async function inTurns(text: string): Promise<Program> {
  const work = compiling(ownText(text))
  for (;;) {
    await waitingTurn()
    const step = work.next()
    if (step.done) return keep(step.value)
  }
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
