/** Methods of schemas that pages dispatch, as elements and as attributes (COMP-51 to COMP-60). */

import type { Value } from '../language/values.ts'
import type { RawMethod } from '../model/declarations.ts'
import type { Registry } from '../model/registry.ts'
import type { Schema } from '../model/schema.ts'
import type { Attribute } from '../tree/nodes.ts'
import type { Dispatch } from './composing.ts'
import { compositionError, named } from './failure.ts'
import { writtenName } from './prefixes.ts'
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
export function elementCall(schema: Schema, name: string, dispatch: Dispatch, html: boolean): MethodCall | undefined {
  const { element } = dispatch
  const attributes = element.attrs.filter(a => !writtenName(a).startsWith('xmlns'))
  const given = new Map(attributes.map(a => [writtenName(a), a.value]))
  const value = (parameter: string) => given.get(parameter) ?? (html ? given.get(parameter.toLowerCase()) : undefined)
  const { model } = dispatch.composing
  const methods = methodsNamed(model, schema, name, html)
  if (methods.length === 0) {
    if (isUnimplemented(schema, name, html)) return undefined
    const [caught] = methodsNamed(model, schema, FALLBACK, false)
    if (!caught) throw notFound(element.tagName)
    return fallback(caught, name, attributes.map(pairOf))
  }
  const missing = ({ parameters }: RawMethod) => parameters.filter(p => value(p.name) === undefined).length
  const method = bestOf(methods, (a, b) => {
    const [lackA, lackB] = [missing(a), missing(b)]
    if (lackA !== lackB) return lackA - lackB
    const size = a.parameters.length - b.parameters.length
    return lackA === 0 ? -size : size
  })
  return { method, arguments: new Map(method.parameters.map(p => [p.name, value(p.name) ?? null])) }
}

/** The method that an attribute calls; undefined where the schema has none for it. */
export function attributeCall(
  model: Registry,
  schema: Schema,
  name: string,
  value: string,
  html: boolean,
): MethodCall | undefined {
  const methods = methodsNamed(model, schema, name, html)
  if (methods.length === 0) {
    if (isUnimplemented(schema, name, html)) return undefined
    const [caught] = methodsNamed(model, schema, FALLBACK, false)
    return caught && fallback(caught, name, [value])
  }
  // Exactly one parameter is what the form has; otherwise the fewest.
  const distance = ({ parameters }: RawMethod) => (parameters.length === 1 ? -1 : parameters.length)
  const method = bestOf(methods, (a, b) => distance(a) - distance(b))
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
function methodsNamed(model: Registry, { chain }: Schema, name: string, html: boolean): RawMethod[] {
  const lower = name.toLowerCase()
  for (const [level, type] of chain.entries()) {
    const inherited = model.schema(chain[level + 1] ?? '')?.methods.length ?? 0
    const all = model.schema(type)?.methods ?? []
    const own = all.slice(0, all.length - inherited)
    const exact = own.filter(method => method.name === name)
    if (exact.length > 0) return exact
    const folded = html ? own.filter(method => method.name.toLowerCase() === lower) : []
    if (folded.length > 0) return folded
  }
  return []
}

/** A method that is declared and does nothing. */
function isUnimplemented({ unimplemented }: Schema, name: string, html: boolean): boolean {
  const lower = name.toLowerCase()
  return unimplemented.some(each => each === name || (html && each.toLowerCase() === lower))
}

/** The first of the best. */
function bestOf(methods: readonly RawMethod[], compare: (a: RawMethod, b: RawMethod) => number): RawMethod {
  const [best] = [...methods].sort(compare)
  if (!best) throw new Error('no method to choose from')
  return best
}

function pairOf(a: Attribute): Value {
  return new Map<string, Value>([
    ['name', writtenName(a)],
    ['value', a.value],
  ])
}
