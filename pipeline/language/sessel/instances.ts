/** Instances: elements read and changed through their schema (SES-42, SES-173 to SES-178). */

import type { ElementNode } from '../../tree/nodes.ts'
import { ElementValue, isList, type Value } from '../values.ts'
import { replacingProperty } from './construct.ts'
import { copying } from './dom.ts'
import { type Evaluation, type Given, Pending, typeError, type Work } from './evaluation.ts'
import type { MethodView, PropertyView, SchemaView } from './host.ts'
import { isMutable } from './kinds.ts'
import { itemProperty, judgedElements, propertyValues } from './microdata.ts'
import { sameHandle } from './select.ts'
import { runSlot } from './slots.ts'

const NO_PARAMETERS: ReadonlyMap<string, Value> = new Map()

/** A property through its schema: computed, then read, then by cardinality (SES-42). */
export function propertyOf(owner: ElementValue, name: string, on: Evaluation): Given {
  const property = schemaOf(owner, on)?.properties.get(name)
  if (!property) return new Pending(itemProperty(owner, name, on))
  if (property.computed) return runSlot(property.computed, owner, NO_PARAMETERS, on)
  return new Pending(reading(owner, property, on))
}

function schemaOf(owner: ElementValue, on: Evaluation) {
  return owner.type === undefined ? undefined : on.host.schemas.schema(owner.type)
}

function asMany(values: Value[], { many }: PropertyView): Value {
  if (many) return values
  return values.length > 1 ? values : (values[0] ?? null)
}

/** MOD-71: each step gets copies of the values, and gives those that the next one gets. */
function* reading(owner: ElementValue, property: PropertyView, on: Evaluation): Work {
  const elements = yield* judgedElements(owner, property.name, on)
  // What a step gives may be stored, and stays as it is (SES-144).
  let handles = elements.map(element => sameHandle(owner, element))
  if (property.read.length === 0) return asMany(yield* propertyValues(handles, on), property)
  if (elements.length === 0) return property.many ? [] : null
  for (const code of property.read) {
    on.spend(handles.length)
    const copies: Value[] = []
    for (const { node } of handles) copies.push(new ElementValue(yield* copying(node, on)))
    const given = runSlot(code, copies, NO_PARAMETERS, on)
    const result = given instanceof Pending ? yield* given.work : given
    const list = result !== null && isList(result) ? result : [result]
    handles = list.map(each => {
      if (!(each instanceof ElementValue)) throw typeError(`the read resolver of “${property.name}” gives no element`)
      return sameHandle(each, each.node)
    })
  }
  return asMany(yield* propertyValues(handles, on), property)
}

/** `inst.p = v`: in memory, on a copy of what is stored. */
export function setProperty(owner: ElementValue, name: string, value: Value, on: Evaluation): Given {
  const property = schemaOf(owner, on)?.properties.get(name)
  if (property?.computed) throw typeError(`“${name}” is computed and cannot be assigned`)
  const work = assigning(owner, name, value, on)
  return work.next(null).done ? null : new Pending(work)
}

function* assigning(owner: ElementValue, name: string, value: Value, on: Evaluation): Work {
  if (!isMutable(owner)) yield* unsharing(owner, on)
  yield* replacingProperty(owner, name, value, on)
  return null
}

/** Gives a stored instance an element of its own. */
function* unsharing(owner: ElementValue, on: Evaluation): Work<void> {
  if (owner.node.sourceCodeLocation === undefined && owner.node.parentNode === null) return
  on.take(512)
  const changed: { node: ElementNode } = owner
  changed.node = yield* copying(owner.node, on)
}

/** A method of the schema, or what catches messages that it does not understand; undefined where there is neither. */
export function callInstance(owner: ElementValue, name: string, args: Value[], on: Evaluation): Given | undefined {
  const schema = schemaOf(owner, on)
  if (!schema) return undefined
  const method = overloadOf(schema, name, args.length, false)
  if (method) return runMethod(method, owner, args, on)
  const fallback = overloadOf(schema, 'doesNotUnderstand', 2, false)
  if (!fallback || isBuiltIn(name)) return undefined
  const parameters = new Map<string, Value>([
    ['messageName', name],
    ['parameters', args],
  ])
  return runSlot(fallback.implementation, owner, parameters, on)
}

/** What every element understands. */
const BUILT_IN = new Set(
  `text value attr path document selector children parent content getHTML innerhtml clone microdata set_text set_attr append
  prepend setHTML empty remove replaceWith insertBefore metadata first last String Number Integer Float Bool`.split(
    /[\n ]+/,
  ),
)

function isBuiltIn(name: string): boolean {
  return BUILT_IN.has(name)
}

/** SES-175: among overloads the one with that many parameters, else the most derived one. */
export function overloadOf(
  schema: SchemaView | undefined,
  name: string,
  count: number,
  isStatic: boolean,
): MethodView | undefined {
  const named = (schema?.methodsNamed(name) ?? []).filter(method => method.isStatic === isStatic)
  return named.find(({ parameters }) => parameters.length === count) ?? named[0]
}

export function runMethod(
  { parameters, implementation, name }: MethodView,
  self: Value,
  args: Value[],
  on: Evaluation,
): Given {
  if (args.length > parameters.length)
    throw typeError(`“${name}” takes ${parameters.length} arguments, not ${args.length}`)
  const bound = new Map(parameters.map((parameter, at) => [parameter, args[at] ?? null]))
  return runSlot(implementation, self, bound, on)
}
