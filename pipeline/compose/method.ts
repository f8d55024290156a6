/** Methods of schemas that pages dispatch, as elements and as attributes (COMP-51 to COMP-60). */

import type { Value } from '../language/values.ts'
import type { RawMethod } from '../model/declarations.ts'
import type { LevelMethod, Schema } from '../model/schema.ts'
import { asciiLower } from '../tree/ascii.ts'
import type { Attribute } from '../tree/nodes.ts'
import { writtenName } from '../tree/prefixes.ts'
import type { Dispatch } from './composing.ts'
import { compositionError, named } from './failure.ts'
import { awaiting, type Work } from './work.ts'

/** What a directive calls. */
export interface MethodCall {
  method: RawMethod
  arguments: Map<string, Value>
}

const FALLBACK = 'doesNotUnderstand'

/**
 * The method that an element calls.
 *
 * @param name as spelt in the source
 * @returns undefined for a method without implementation, which gives nothing (COMP-58)
 * @throws Fault 500 where the schema has neither the method nor a `doesNotUnderstand`
 */
export function* elementCall(
  schema: Schema,
  name: string,
  dispatch: Dispatch,
  html: boolean,
): Work<MethodCall | undefined> {
  const { element } = dispatch
  const attributes = element.attrs.filter(a => !writtenName(a).startsWith('xmlns'))
  const given = new Map(attributes.map(a => [writtenName(a), a.value]))
  const value = (parameter: string) => given.get(parameter) ?? (html ? given.get(asciiLower(parameter)) : undefined)
  const methods = methodsNamed(schema, name, html)
  if (methods.length === 0) {
    if (isUnimplemented(schema, name, html)) return undefined
    const [caught] = methodsNamed(schema, FALLBACK, false)
    if (!caught) throw notFound(element.tagName)
    return fallback(caught, name, attributes.map(pairOf))
  }
  const missing = ({ parameters }: RawMethod) => parameters.filter(p => value(p.name) === undefined).length
  // With nothing missing the one with most parameters is best, otherwise the one that lacks least and has fewest.
  const method = yield* bestOf(methods, dispatch, each => {
    const lacking = missing(each)
    const size = each.parameters.length
    return [lacking, lacking === 0 ? -size : size]
  })
  return { method, arguments: new Map(method.parameters.map(p => [p.name, value(p.name) ?? null])) }
}

/** The method that an attribute calls; undefined where the schema has none for it. */
export function* attributeCall(
  schema: Schema,
  name: string,
  value: string,
  dispatch: Dispatch,
  html: boolean,
): Work<MethodCall | undefined> {
  const methods = methodsNamed(schema, name, html)
  if (methods.length === 0) {
    if (isUnimplemented(schema, name, html)) return undefined
    const [caught] = methodsNamed(schema, FALLBACK, false)
    return caught && fallback(caught, name, [value])
  }
  // Exactly one parameter is what the form has; otherwise the fewest.
  const distance = ({ parameters }: RawMethod) => (parameters.length === 1 ? -1 : parameters.length)
  const method = yield* bestOf(methods, dispatch, each => [distance(each)])
  const [first, ...others] = method.parameters
  const bound = new Map<string, Value>(first ? [[first.name, value]] : [])
  for (const { name: other } of others) bound.set(other, null)
  return { method, arguments: bound }
}

/** Runs a method. */
export function* calling(dispatch: Dispatch, schema: Schema, { method, arguments: bound }: MethodCall): Work<Value> {
  const { languages } = dispatch.composing
  return yield* awaiting(
    languages.method({ dispatch, code: method.implementation, arguments: bound, type: schema.type }),
  )
}

function fallback(method: RawMethod, name: string, parameters: Value[]): MethodCall {
  return {
    method,
    arguments: new Map<string, Value>([
      ['messageName', name],
      ['parameters', parameters],
    ]),
  }
}

/** COMP-14. */
export function notFound(tagName: string): Error {
  return compositionError(`no method found for ${named(tagName)} and no doesNotUnderstand defined`)
}

/** The overloads of the nearest schema that has the name; HTML folds case, and the exact spelling is preferred (COMP-9). */
function methodsNamed({ methodsByName }: Schema, name: string, html: boolean): RawMethod[] {
  const folded = methodsByName.get(asciiLower(name)) ?? []
  const exact = (list: readonly LevelMethod[]) => list.filter(({ method }) => method.name === name)
  const own = ofNearest(html ? folded : exact(folded))
  const spelled = exact(own)
  return (spelled.length > 0 ? spelled : own).map(({ method }) => method)
}

/** @param list nearest first */
function ofNearest(list: readonly LevelMethod[]): readonly LevelMethod[] {
  const end = list.findIndex(({ level }) => level !== list[0]?.level)
  return end < 0 ? list : list.slice(0, end)
}

/** A method that is declared and does nothing. */
function isUnimplemented({ unimplemented }: Schema, name: string, html: boolean): boolean {
  return unimplemented.written.has(name) || (html && unimplemented.lower.has(asciiLower(name)))
}

/** Parameters of overloads that are looked at in one step. */
const PARAMETERS_PER_STEP = 500

/**
 * The first of the best, in steps that the request pays for.
 *
 * @param rank the lower one is better, by the first number that differs
 */
function* bestOf(
  methods: readonly RawMethod[],
  { composing: { allowance } }: Dispatch,
  rank: (method: RawMethod) => readonly number[],
): Work<RawMethod> {
  let best: { method: RawMethod; place: readonly number[] } | undefined
  let looked = 0
  for (const method of methods) {
    const { length } = method.parameters
    allowance.step(length)
    if ((looked += length) >= PARAMETERS_PER_STEP) {
      looked = 0
      yield
    }
    const place = rank(method)
    const differing = place.findIndex((each, i) => each !== best?.place[i])
    if (!best || (place[differing] ?? 0) < (best.place[differing] ?? 0)) best = { method, place }
  }
  if (!best) throw new Error('no method to choose from')
  return best.method
}

function pairOf(a: Attribute): Value {
  return new Map<string, Value>([
    ['name', writtenName(a)],
    ['value', a.value],
  ])
}
