/** Programs as modules: what is evaluated for a module, and for an expression (JS-3, JS-25). */

/** The name of the module that a program is; its imports are known by it. */
export const PROGRAM = 'program'

/** An empty module that every program imports first: it is asked for as soon as the program has compiled, before it runs. */
export const PROOF = 'realm:compiled'

export interface Program {
  source: string
  /** Modules that have to compile, too; they do nothing. */
  checks: readonly string[]
  /** Names that an expression is given as parameters. */
  bindings?: readonly string[]
}

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u

const RESERVED = new Set(
  `arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally
  for function if implements import in instanceof interface let new null package private protected public return static super
  switch this throw true try typeof undefined var void while with yield`.split(/\s+/),
)

/**
 * @param names in scope; those that are no identifiers are found in `Context` alone (JS-26)
 */
export function expressionProgram(expression: string, names: readonly string[]): Program {
  const bindings = [...new Set(names)].filter(name => IDENTIFIER.test(name) && !RESERVED.has(name))
  const scope = bindings.join()
  return {
    source: `export default (${scope}) => async () => (\n${expression}\n);`,
    // A text that stands in either kind of brackets closes neither: it is one expression.
    checks: [`(${scope}) => async () => [\n${expression}\n];`],
    bindings,
  }
}
