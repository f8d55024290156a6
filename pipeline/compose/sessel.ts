/** Expressions as pages run them: bindings and methods (COMP-39, COMP-52, COMP-56). */

import { fetchedFile } from '../evaluation/fetched.ts'
import { referringIn } from '../evaluation/readable.ts'
import { siteSchemas } from '../evaluation/schemas.ts'
import { type CodeFailure, Fault } from '../fault.ts'
import { isReserved } from '../http/path.ts'
import {
  compileInTurns,
  evaluate,
  type Fetched,
  type Outcome,
  type Program,
  type Reach,
  type SesselHost,
  SesselSyntaxError,
} from '../language/sessel/sessel.ts'
import { withoutValues } from '../language/told.ts'
import { ElementValue, type Source, type Value } from '../language/values.ts'
import { rootElement } from '../tree/nodes.ts'
import type { Needs } from '../tree/selector/needs.ts'
import type { Composing, Dispatch } from './composing.ts'
import type { SiteGraph } from './graph.ts'
import type { MethodRun } from './languages.ts'
import { ContextValue } from './names.ts'
import { awaiting, begun, type MaybeLater, type Work } from './work.ts'

/** How messages of the language itself begin (SES-210). */
const ENGINE = /^(?:type|runtime) error: /

/** An expression in an attribute: `self` is the root of the requested document. @throws Fault 500 */
export function bindSessel(expression: string, dispatch: Dispatch): MaybeLater<Value> {
  const { page } = dispatch.composing
  const root = rootElement(page.search)
  return run(expression, dispatch, root && new ElementValue(root, page.source), new Map())
}

/** A method: `self` is the dispatched element, parameters are names. @throws Fault 500 */
export function callSessel({ dispatch, code, arguments: bound }: MethodRun): MaybeLater<Value> {
  const { page } = dispatch.place
  const source: Source | undefined = page && { path: page.file.resource.path, document: page.tree }
  return run(code.source, dispatch, new ElementValue(dispatch.element, source), bound)
}

/** A property of an instance, as its schema has it read (SES-42). @throws Fault 500 */
export function readInstance(instance: ElementValue, name: string, dispatch: Dispatch): Value | Promise<Value> {
  const names = new Map<string, Value>([
    ['it', instance],
    ['name', name],
  ])
  return run('it[name]', dispatch, undefined, names)
}

function run(
  text: string,
  dispatch: Dispatch,
  self: Value | undefined,
  bound: ReadonlyMap<string, Value>,
): Value | Promise<Value> {
  const { composing } = dispatch
  const evaluated = (program: Program): Value | Promise<Value> => {
    const outcome = evaluate(program, hostOf(dispatch, self, bound), composing.allowance)
    return outcome instanceof Promise
      ? outcome.then(done => resultOf(done, text, dispatch))
      : resultOf(outcome, text, dispatch)
  }
  const unread = (error: unknown): never => {
    if (!(error instanceof SesselSyntaxError)) throw error
    throw bindingFailure(composing, { variant: 'parse', message: error.message })
  }
  let program: Program | Promise<Program>
  try {
    program = compileInTurns(text)
  } catch (error) {
    return unread(error)
  }
  return program instanceof Promise ? program.catch(unread).then(evaluated) : evaluated(program)
}

function resultOf(outcome: Outcome, text: string, { composing }: Dispatch): Value {
  if ('value' in outcome) return outcome.value
  const { message } = outcome.failure
  // What the author throws is for the author to say. What else stands in the page may be a guess of a visitor (COMP-148).
  const told = ENGINE.test(message) ? withoutValues(message, text) : message
  throw bindingFailure(composing, { variant: 'threw', message: told })
}

/** COMP-130, with the item that says what went wrong. */
function bindingFailure({ site }: Composing, failed: Omit<CodeFailure, 'language'>): Fault {
  const failure: CodeFailure = { language: `${site.settings.ns}/Sessel`, ...failed }
  return new Fault(500, 'BindingFailure', `An expression of the page has failed: ${failure.message}`, { failure })
}

function hostOf(dispatch: Dispatch, self: Value | undefined, bound: ReadonlyMap<string, Value>): SesselHost {
  const { composing, place } = dispatch
  const { site, model, request, reads } = composing
  const context = new ContextValue(place.names, request)
  return {
    ns: site.settings.ns,
    self,
    prior: undefined,
    names: {
      get(name) {
        if (bound.has(name)) return bound.get(name)
        return name === 'Context' ? context : context.get(name)
      },
    },
    reach: reachOf(composing),
    base: place.holder.file.resource.path,
    // What code of other languages reads is not followed.
    schemas: siteSchemas({ model, code: site.code }, composing.allowance, () => {
      reads.fleeting = true
    }),
    refersIn: referringIn(site),
    selectors: site.selectors,
    platform: { get: path => begun(fetched(path, composing)) },
  }
}

/** SES-181. Whether something is stored there at all was noted with the page. */
function* fetched(path: string, { graph, site }: Composing): Work<Fetched> {
  if (isReserved(path, site.settings.brand)) return undefined
  const page = yield* graph.page(path)
  if (page) return fetchedFile(page.file, page.source)
  const file = yield* awaiting(site.find(path))
  return file && fetchedFile(file, undefined)
}

/** The whole site, the Request document last (COMP-116). */
function reachOf({ graph, allowance }: Composing): Reach {
  return {
    everywhere: needs => begun(everywhere(graph, needs)),
    matching: (glob, needs) => begun(graph.matching([glob], needs, allowance)),
    document: path => begun(sourceOf(graph, path)),
  }
}

function* everywhere(graph: SiteGraph, needs: Needs): Work<(string | Source)[]> {
  return [...(yield* graph.paths(needs)), ...graph.requestFor(needs)]
}

function* sourceOf(graph: SiteGraph, path: string): Work<Source | undefined> {
  return (yield* graph.page(path))?.source
}
