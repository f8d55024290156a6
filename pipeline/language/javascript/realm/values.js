/** Values on their way into the realm and out of it (JS-35, JS-36). */

import { classFor, fieldsOf, instanceOf } from './classes.js'
import { itemsOf } from './collections.js'
import { handleOf, isElement, isNode, wrap } from './dom.js'
import {
  apply,
  ask,
  create,
  defineProperty,
  getPrototypeOf,
  isArray,
  keysOf,
  LIMITS,
  OPERATIONS as OP,
  parse,
  stringify,
} from './host.js'

/** Nesting that a result may have. */
const MOST_LEVELS = 64
/** Values that a result may have, single ones counted. */
const MOST_VALUES = 200_000

const { isFinite: isFiniteNumber, isSafeInteger } = Number
const MAP = Map.prototype
const SET = Set.prototype
const mapEntries = MAP.forEach
const setValues = SET.forEach
const isMap = value => inherits(value, MAP)
const isSet = value => inherits(value, SET)
const DEFINED = { value: undefined, writable: true, enumerable: true, configurable: true }

function inherits(value, prototype) {
  for (let at = getPrototypeOf(value); at; at = getPrototypeOf(at)) if (at === prototype) return true
  return false
}

function define(object, name, value) {
  defineProperty(object, name, { ...DEFINED, value })
}

/** What the host has written (`encode.ts`), as values. */
export function read(json) {
  return revive(parse(json))
}

export function revive(sent) {
  if (typeof sent !== 'object' || sent === null) return sent
  if (isArray(sent)) {
    const list = []
    for (let i = 0; i < sent.length; i++) define(list, i, revive(sent[i]))
    return list
  }
  if (sent.d) return objectOf(sent.d)
  if (sent.f) return fixed(objectOf(sent.f))
  if (sent.n !== undefined) return wrap(ask(OP.reference, sent.n))
  if (sent.z !== undefined) return lazy(sent.z, sent.p ? objectOf(sent.p) : {})
  if (sent.i) return instanceOf(sent.i, objectOf(sent.v), sent.e)
  if (sent.c) return classFor(sent.c)
  return undefined
}

function objectOf(pairs) {
  const object = {}
  for (let i = 0; i < pairs.length; i += 2) define(object, pairs[i], revive(pairs[i + 1]))
  return object
}

/** Assignments to it change nothing, and are no error (JS-22). */
const FIXED = {
  __proto__: null,
  set: () => true,
  deleteProperty: () => true,
  defineProperty: () => true,
  setPrototypeOf: () => true,
  preventExtensions: () => false,
}

function fixed(object) {
  for (const name of keysOf(object)) {
    const value = object[name]
    if (typeof value === 'object' && value !== null && !isNode(value)) define(object, name, fixed(value))
  }
  return new Proxy(object, FIXED)
}

/**
 * A dictionary whose members the host looks up when they are read.
 *
 * @param members those that are known already
 */
function lazy(id, members) {
  const known = create(null)
  for (const name of keysOf(members)) known[name] = members[name]
  const own = name => {
    if (typeof name !== 'string') return undefined
    if (!(name in known)) {
      const answer = ask(OP.lookup, id, name)
      known[name] = answer === null ? undefined : read(answer)
    }
    return known[name]
  }
  const target = {}
  return new Proxy(target, {
    __proto__: FIXED,
    get: (_, name) => own(name) ?? (typeof name === 'string' && own(name) === null ? null : target[name]),
    has: (_, name) => own(name) !== undefined || name in target,
    ownKeys: () => {
      const names = parse(ask(OP.names, id))
      return names
    },
    getOwnPropertyDescriptor: (_, name) => {
      const value = own(name)
      return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true }
    },
  })
}

class Unusable extends Error {
  /** It is one, but for what it holds: there is too much of that. */
  isAtLimit = false
}

function tooMuch(message) {
  const error = new Unusable(message)
  error.isAtLimit = true
  return error
}

/** Whether an error says that a result is no value. */
export function isUnusable(error) {
  return error instanceof Unusable
}

/** Characters that a result may have; the host has a limit, too. */
const { result: MOST_CHARACTERS } = LIMITS

/**
 * @returns the JSON of a result that the host reads
 * @throws what says that it is no value
 */
export function write(value) {
  const around = []
  let values = 0
  let characters = 0
  const list = items => {
    let json = ''
    for (let i = 0; i < items.length; i++) json += (json === '' ? '' : ',') + one(items[i])
    return `[${json}]`
  }
  const entries = pairs => {
    let json = ''
    for (let i = 0; i < pairs.length; i++) {
      const [name, entry] = pairs[i]
      if (typeof name !== 'string' && typeof name !== 'number') throw new Unusable('A key of a Map is no text.')
      json += `${json === '' ? '' : ','}${stringify(`${name}`)},${one(entry)}`
    }
    return `{"d":[${json}]}`
  }
  const own = object => {
    const pairs = []
    const names = keysOf(object)
    for (let i = 0; i < names.length; i++) define(pairs, i, [names[i], object[names[i]]])
    return pairs
  }
  const one = each => {
    if (++values > MOST_VALUES) throw tooMuch('The result has too many values.')
    switch (typeof each) {
      case 'undefined':
        return 'null'
      case 'boolean':
        return each ? 'true' : 'false'
      case 'string':
        if ((characters += each.length) > MOST_CHARACTERS) throw tooMuch('The result is too long.')
        return stringify(each)
      case 'number':
        if (!isFiniteNumber(each)) throw new Unusable(`${each} is no value; return null or a text instead.`)
        return `${isSafeInteger(each) ? each + 0 : stringify(each)}`
      case 'object':
        break
      default:
        throw new Unusable(`A ${typeof each} is no value; return a text, a number, an element or a list instead.`)
    }
    if (each === null) return 'null'
    if (isNode(each)) {
      if (!isElement(each))
        throw new Unusable(
          `A ${each.nodeName} node is no value; return an element, its text, or a list of elements instead.`,
        )
      return `{"n":${ask(OP.give, handleOf(each))}}`
    }
    if (around.length >= MOST_LEVELS) throw tooMuch(`The result is nested deeper than ${MOST_LEVELS} levels.`)
    for (let i = 0; i < around.length; i++) if (around[i] === each) throw new Unusable('The result contains itself.')
    define(around, around.length, each)
    const json = container(each)
    around.length--
    return json
  }
  const container = each => {
    if (isArray(each)) return list(each)
    const items = itemsOf(each)
    if (items) return list(items)
    const fields = fieldsOf(each)
    if (fields) return `{"i":${stringify(fields.type)},"v":${entries(own(fields.values))},"e":${fields.element}}`
    const pairs = []
    if (isMap(each)) {
      apply(mapEntries, each, [(entry, name) => define(pairs, pairs.length, [name, entry])])
      return entries(pairs)
    }
    if (isSet(each)) {
      apply(setValues, each, [item => define(pairs, pairs.length, item)])
      return list(pairs)
    }
    return entries(own(each))
  }
  return one(value)
}
