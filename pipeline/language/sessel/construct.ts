/** `new …`: elements, instances and selectors (SES-129, SES-160 to SES-163, SES-173). */

import { asciiLower } from '../../tree/ascii.ts'
import { attribute, type ElementNode, HTML_NAMESPACE, MATHML_NAMESPACE, SVG_NAMESPACE } from '../../tree/nodes.ts'
import { ElementValue, isDictionary, isList, type List, NamedValue, type Value } from '../values.ts'
import type { ConstructionPlan, PlannedModifier } from './code.ts'
import { MAX_DEPTH, tooDeep, typeOf } from './comparison.ts'
import {
  append,
  appending,
  copying,
  detachAll,
  insert,
  insertText,
  insideOf,
  newElement,
  puttingIn,
  setAttribute,
} from './dom.ts'
import { type Evaluation, type Given, Pending, typeError, type Work } from './evaluation.ts'
import type { PropertyView, SchemaView } from './host.ts'
import { isMutable, SelectorValue } from './kinds.ts'
import { namesOf, valueElements } from './microdata.ts'
import { runSlot } from './slots.ts'
import { TemporalValue } from './temporal-value.ts'
import { textForm } from './text-form.ts'

/** Namespaces whose elements are serialised by their local names (SES-163). */
const FOREIGN = new Set([SVG_NAMESPACE, MATHML_NAMESPACE])

/**
 * Builds what a plan says.
 *
 * @param values of attributes that are computed, in their order
 * @param items values of the items
 */
export function construct(plan: ConstructionPlan, values: Value[], items: Value[], on: Evaluation): Given {
  on.take(256)
  const declared = plan.prefix === undefined ? on.context.program.declarations.get(plan.name) : undefined
  const type = declared?.kind === 'schema' ? declared.url : undefined
  const named = type === undefined ? [] : items.map((value, at) => ({ key: plan.items?.[at], value }))
  if (type === `${on.host.ns}/Selector`) return newSelector(named)
  const node = type === undefined ? newElement(...tagOf(plan, on)) : newElement('div')
  const filled = () => (type === undefined ? fill(node, plan, items, on) : constructed(node, type, named, on))
  const modifying = modify(node, plan.modifiers, values, on)
  if (modifying.next(null).done) return filled()
  const work = function* (): Work {
    yield* modifying
    const given = filled()
    return given instanceof Pending ? yield* given.work : given
  }
  return new Pending(work())
}

/** Adds the items of an element. */
function fill(node: ElementNode, plan: ConstructionPlan, items: Value[], on: Evaluation): Given {
  const wrapped = new ElementValue(node)
  return puttingIn(
    items,
    on,
    own => {
      for (const [at, value] of (own as List).entries()) {
        const key = plan.items?.[at]
        if (key === undefined) append(node, value, on)
        else appendNamed(node, key, value, on)
      }
      return wrapped
    },
    function* (own) {
      for (const [at, value] of (own as List).entries()) {
        const key = plan.items?.[at]
        if (key === undefined) yield* appending(node, value, on)
        else appendNamed(node, key, value, on)
        if (on.isDue) yield undefined
      }
      return wrapped
    },
    (plan.items?.filter(key => key !== undefined).length ?? 0) > 1,
  )
}

function appendNamed(node: ElementNode, key: string, value: Value, on: Evaluation): void {
  if (key !== 'text') throw typeError(`“${key}:” in an element: only “text:” has a name there`)
  if (value !== null) insertText(node, insideOf(node).childNodes.length, textForm(value, on.spend), on)
}

function tagOf({ prefix, name }: ConstructionPlan, on: Evaluation): [tag: string, namespace: string] {
  if (prefix === undefined) return [asciiLower(name), HTML_NAMESPACE]
  const namespace = on.context.program.namespaces.get(prefix)
  return namespace !== undefined && FOREIGN.has(namespace)
    ? [name, namespace]
    : [asciiLower(`${prefix}:${name}`), HTML_NAMESPACE]
}

/** Each value may be a long List. */
function* modify(
  node: ElementNode,
  modifiers: readonly PlannedModifier[],
  values: Value[],
  on: Evaluation,
): Work<void> {
  let computed = 0
  for (const modifier of modifiers) {
    if (modifier.kind === 'class') {
      const before = attribute(node, 'class')
      setAttribute(node, 'class', before === undefined ? modifier.name : `${before} ${modifier.name}`, on)
    } else if (modifier.kind === 'id') setAttribute(node, 'id', modifier.name, on)
    else if (modifier.kind === 'attribute') {
      const { value } = modifier
      const given = value === 'computed' ? (values[computed++] ?? null) : value === 'empty' ? '' : value.text
      setAttribute(node, modifier.name, attributeText(given, on), on)
      if (on.isDue) yield undefined
    }
  }
}

/** SES-160: null and false leave an attribute out, true makes it empty. */
export function attributeText(value: Value, on: Evaluation): string | null {
  if (value === null || value === false) return null
  return value === true ? '' : textForm(value, on.spend)
}

interface NamedItem {
  key: string | undefined
  value: Value
}

function newSelector(items: readonly NamedItem[]): Value {
  const [item] = items
  if (items.length === 1 && item && typeof item.value === 'string' && (item.key ?? 'selector') === 'selector')
    return new SelectorValue(item.value)
  throw typeError('a Selector is made of the text of one selector')
}

/** Makes an instance of an element (SES-173). */
export function constructed(node: ElementNode, type: string, items: readonly NamedItem[], on: Evaluation): Given {
  return new Pending(constructing(node, type, items, on))
}

function* constructing(node: ElementNode, type: string, items: readonly NamedItem[], on: Evaluation): Work {
  setAttribute(node, 'itemscope', '', on)
  setAttribute(node, 'itemtype', type, on)
  const schema = on.host.schemas.schema(type)
  for (const { key, value } of items) {
    if (key === undefined) yield* appending(node, value, on)
    else {
      if (schema?.properties.get(key)?.computed) throw typeError(`“${key}” is computed and cannot be given`)
      yield* insertingProperty(node, insideOf(node).childNodes.length, key, value, on)
    }
    if (on.isDue) yield undefined
  }
  const instance = new ElementValue(node, undefined, type)
  return schema ? yield* completing(instance, schema, on) : instance
}

/** Adds the value elements of a property, with pauses. @returns the place behind them */
function* insertingProperty(
  parent: ElementNode,
  at: number,
  name: string,
  value: Value,
  on: Evaluation,
  depth = 0,
): Work<number> {
  if (depth > MAX_DEPTH) throw tooDeep()
  on.spend(1)
  let next = at
  if (value !== null && isList(value)) {
    for (const item of value) next = yield* insertingProperty(parent, next, name, item, on, depth + 1)
  } else if (value !== null) {
    insert(parent, at, yield* valueElement(name, value, on), on)
    next = at + 1
  }
  if (on.isDue) yield undefined
  return next
}

function* completing(instance: ElementValue, schema: SchemaView, on: Evaluation): Work {
  const { node } = instance
  const present = new Set(yield* namesOf(instance, on))
  for (const property of schema.properties.values()) {
    if (!property.default || present.has(property.name)) continue
    let value: Value
    if ('text' in property.default) value = property.default.text
    else {
      const given = runSlot(property.default, undefined, new Map(), on)
      value = given instanceof Pending ? yield* given.work : given
    }
    yield* insertingProperty(node, insideOf(node).childNodes.length, property.name, value, on)
  }
  for (const property of schema.properties.values()) yield* checkCount(instance, property, on)
  const wrong = schema.check?.(node)
  if (wrong !== undefined) throw typeError(wrong)
  return instance
}

function* checkCount(
  instance: ElementValue,
  { name, single, required, computed }: PropertyView,
  on: Evaluation,
): Work<void> {
  if (computed) return
  const count = (yield* valueElements(instance, name, on)).length
  if (required && count === 0) throw typeError(`an instance of ${instance.type} needs a value of “${name}”`)
  if (single && count > 1) throw typeError(`an instance of ${instance.type} has at most one value of “${name}”`)
}

/** The element that holds a value of a property. */
function* valueElement(name: string, value: NonNullable<Value>, on: Evaluation): Work<ElementNode> {
  if (value instanceof ElementValue) {
    const node = isMutable(value) ? value.node : yield* copying(value.node, on)
    setAttribute(node, 'itemprop', name, on)
    return node
  }
  const isScalar = !isDictionary(value) && (!(value instanceof NamedValue) || value instanceof TemporalValue)
  if (!isScalar) throw typeError(`a ${typeOf(value)} cannot be the value of “${name}”`)
  const node = newElement('meta')
  setAttribute(node, 'itemprop', name, on)
  setAttribute(node, 'content', textForm(value, on.spend), on)
  return node
}

/** `inst.p = v` (SES-174), with pauses: the new value elements stand where the first old one stood. */
export function* replacingProperty(owner: ElementValue, name: string, value: Value, on: Evaluation): Work<void> {
  const { node } = owner
  const old = yield* valueElements(owner, name, on)
  const [first] = old
  const parent = first?.parentNode && 'tagName' in first.parentNode ? first.parentNode : node
  let at = first && parent !== null ? insideOf(parent).childNodes.indexOf(first) : -1
  if (at < 0) at = insideOf(parent).childNodes.length
  detachAll(old, on)
  yield* insertingProperty(parent, Math.min(at, insideOf(parent).childNodes.length), name, value, on)
}
