/** Classes: search, construction, static methods, and the platform's own (SES-170 to SES-181). */

import { trimmed } from '../../tree/ascii.ts'
import { attribute, type ElementNode } from '../../tree/nodes.ts'
import { LIMITS } from '../../tree/selector/parse.ts'
import { ElementValue, isDictionary, isList, type Value } from '../values.ts'
import { typeOf } from './comparison.ts'
import { constructed } from './construct.ts'
import { CSS_TEXT } from './css-text.ts'
import { newElement } from './dom.ts'
import { type Evaluation, type Given, Pending, runtimeError, settled, typeError, type Work } from './evaluation.ts'
import { overloadOf, runMethod } from './instances.ts'
import { Blob, type ClassValue, FetchedElement } from './kinds.ts'
import { countArguments, textArgument } from './method.ts'
import { namesOf, propertyValue, valueElements } from './microdata.ts'
import { rootOf } from './names.ts'
import { checkSource, resolvePath } from './paths.ts'
import { sameHandle, searchFor } from './select.ts'
import { textForm } from './text-form.ts'

export function callClass(owner: ClassValue, name: string, args: Value[], on: Evaluation): Given {
  const { ns } = on.host
  if (owner.type === `${ns}/1.0`) return callPlatform(name, args, on)
  if (owner.type === `${ns}/Sessel`) return reflect(name, args, on)
  const method = overloadOf(on.host.schemas.schema(owner.type), name, args.length, true)
  if (method) return runMethod(method, owner, args, on)
  if (name === 'search') return search(owner, args, on)
  if (name === 'construct') return constructFrom(owner, args, on)
  if (name === 'String' || name === 'toString') return owner.type
  if (name === 'Bool') return true
  throw typeError(`the Class ${owner.type} has no method “${name}”`)
}

/** Static methods are called; without a call there is nothing. */
export function staticMember(owner: ClassValue, name: string, on: Evaluation): Given {
  const method = overloadOf(on.host.schemas.schema(owner.type), name, 0, true)
  if (method) return runMethod(method, owner, [], on)
  throw typeError(`the Class ${owner.type} has no member “${name}”`)
}

function constructFrom({ type }: ClassValue, args: Value[], on: Evaluation): Given {
  countArguments('construct', { least: 1, most: 1 }, args)
  const [properties = null] = args
  if (properties === null || !isDictionary(properties))
    throw typeError(`“construct” takes a Dictionary, not a ${typeOf(properties)}`)
  const items = [...properties.keys()].map(key => ({ key, value: properties.get(key) ?? null }))
  return constructed(newElement('div'), type, items, on)
}

/** SES-172. */
function search({ type }: ClassValue, args: Value[], on: Evaluation): Given {
  countArguments('search', { least: 0, most: 2 }, args)
  const [criteria = null, options = null] = args
  const types = withSubtypes(options) ? [...on.host.schemas.subtypes(type)] : [type]
  const given = searchFor(selectorOf(types, alternatives(criteria), on), undefined, on)
  return new Pending(instancesOf(given, new Set(types), on))
}

/** One that is too long is told when it is read; no more is written. */
function selectorOf(types: readonly string[], criteria: readonly Value[], on: Evaluation): string {
  const filters: string[] = []
  let length = 0
  for (const criterion of criteria) {
    const filter = filterOf(criterion, on)
    filters.push(filter)
    if ((length += filter.length) > LIMITS.length) break
  }
  let selector = ''
  for (const type of types) {
    for (const filter of filters) {
      if (selector.length > LIMITS.length) return selector
      selector += `${selector === '' ? '' : ', '}[itemscope][itemtype~=${CSS_TEXT.string(type)}]${filter}`
    }
  }
  return selector
}

function* instancesOf(given: Given, types: ReadonlySet<string>, on: Evaluation): Work {
  const found = given instanceof Pending ? yield* given.work : given
  if (found === null || !isList(found)) return []
  on.spend(found.length)
  return found.flatMap(element => {
    if (!(element instanceof ElementValue)) return []
    const type = (attribute(element.node, 'itemtype') ?? '').split(/[\t\n\f\r ]+/).find(each => types.has(each))
    return type === undefined ? [] : [new ElementValue(element.node, element.source, type)]
  })
}

function withSubtypes(options: Value): boolean {
  if (options === null) return false
  if (!isDictionary(options)) throw typeError(`options of “search” are a Dictionary, not a ${typeOf(options)}`)
  for (const key of options.keys()) if (key !== 'isa') throw typeError(`“search” has no option “${key}”`)
  const isa = options.get('isa') ?? false
  if (typeof isa !== 'boolean') throw typeError(`“isa” of “search” is a Boolean, not a ${typeOf(isa)}`)
  return isa
}

/** Dictionaries of which one has to hold; all instances where there are none. */
function alternatives(criteria: Value): Value[] {
  if (criteria === null) return [new Map()]
  if (!isList(criteria)) return [criteria]
  return criteria.length === 0 ? [new Map()] : [...criteria]
}

function filterOf(criterion: Value, on: Evaluation): string {
  if (criterion === null || !isDictionary(criterion))
    throw typeError(`criteria of “search” are Dictionaries, not a ${typeOf(criterion)}`)
  let filter = ''
  for (const key of criterion.keys()) {
    if (filter.length > LIMITS.length) break
    const value = criterion.get(key) ?? null
    if (value === null || typeof value === 'object')
      throw typeError(`“${key}” is compared with a text, number or Boolean`)
    const text = textForm(value, on.spend).slice(0, LIMITS.length + 1)
    filter += `:has([itemprop=${CSS_TEXT.string(key)}]:value-equals(${CSS_TEXT.string(text)}))`
  }
  on.spend(1 + (filter.length >> 6))
  return filter
}

/** SES-179. */
function reflect(name: string, args: Value[], on: Evaluation): Given {
  const counts: Readonly<Record<string, number>> = { stored: 2, properties: 1, schemaOf: 1 }
  const count = Object.hasOwn(counts, name) ? (counts[name] ?? 0) : undefined
  if (count === undefined) throw typeError(`reflection has no method “${name}”`)
  countArguments(name, { least: count, most: count }, args)
  const [element = null, property] = args
  if (element === null) return null
  if (!(element instanceof ElementValue)) throw typeError(`“${name}” takes an Element, not a ${typeOf(element)}`)
  const { node } = element
  switch (name) {
    case 'stored': {
      return new Pending(storedValue(element, textArgument('stored', property), on))
    }
    case 'properties':
      return new Pending(namesOf(element, on))
  }
  return element.type ?? typeOfItem(node)
}

function* storedValue(element: ElementValue, name: string, on: Evaluation): Work {
  const [first] = yield* valueElements(element, name, on)
  return first ? yield* propertyValue(sameHandle(element, first), on) : null
}

function typeOfItem(node: ElementNode): string | null {
  return trimmed(attribute(node, 'itemtype') ?? '') || null
}

/** SES-181. */
function callPlatform(name: string, args: Value[], on: Evaluation): Given {
  const { platform } = on.host
  if (!platform) throw typeError('there is no platform interface here')
  const [first = null, second] = args
  const pathOf = (value: Value | undefined) => {
    const path = textArgument(name, value)
    checkSource(path, on.spend)
    return resolvePath(on.host.base ?? '/', path)
  }
  switch (name) {
    case 'GET': {
      countArguments(name, { least: 1, most: 1 }, args)
      const path = pathOf(first)
      if (!platform.get) throw runtimeError('nothing can be read here')
      return new Pending(getting(platform.get(path)))
    }
    case 'PUT': {
      countArguments(name, { least: 2, most: 2 }, args)
      if (!(first instanceof ElementValue)) throw typeError(`“PUT” takes an Element, not a ${typeOf(first)}`)
      const path = pathOf(second)
      if (!platform.put) throw runtimeError('nothing can be written here')
      return new Pending(done(platform.put(first, path)))
    }
    case 'DELETE': {
      countArguments(name, { least: 1, most: 1 }, args)
      const target = first instanceof ElementValue ? first : pathOf(first)
      if (!platform.delete) throw runtimeError('nothing can be written here')
      return new Pending(done(platform.delete(target)))
    }
  }
  throw typeError(`the platform interface has no member “${name}”`)
}

function* getting(fetching: ReturnType<NonNullable<NonNullable<Evaluation['host']['platform']>['get']>>): Work {
  const fetched = yield* settled(fetching)
  if (!fetched) return null
  if ('path' in fetched) return new Blob(fetched.path, fetched.metadata)
  const root = rootOf(fetched.source)
  return root ? new FetchedElement(root.node, fetched.source, fetched.metadata) : null
}

function* done(work: Promise<void>): Work {
  yield* settled(work)
  return null
}
