/** Schemas as classes, and their instances (JS-9, JS-10, JS-16). */

import { apply, ask, create, defineProperty, isArray, keysOf, OPERATIONS as OP, parse, stringify } from './host.js'

/** Class by type URL. */
const known = create(null)
/** State of instances: their type, fields, and where they were read from. */
const states = new WeakMap()
const { get, set, has } = WeakMap.prototype

const stateOf = value => apply(get, states, [value])

let values
/** Values are read and written by those who know instances. */
export function valuesBy(reader) {
  values = reader
}

/** Whether an import may be served: the host knows the schema. */
export function classFor(type) {
  if (type in known) return known[type]
  const answer = ask(OP.schema, type)
  const found = answer === null ? null : parse(answer)
  if (found === null) throw new ReferenceError(`There is no schema of ${type}.`)
  const { parent, isMap, properties, methods } = found
  // A chain that comes back to itself ends here.
  known[type] = undefined
  const Parent = parent ? classFor(parent) : isMap ? Map : undefined
  const name = type.slice(
    Math.max(type.lastIndexOf('/'), type.lastIndexOf('#'), type.startsWith('urn:') ? type.lastIndexOf(':') : -1) + 1,
  )
  const Class = Parent ? derived(name, type, Parent) : base(name, type)
  for (const property of properties) declare(Class.prototype, type, property)
  for (const { name: method, static: isStatic } of methods)
    define(isStatic ? Class : Class.prototype, method, caller(type, method, { isStatic }))
  if (isMap) define(Class.prototype, 'merge', merge)
  return (known[type] = Class)
}

function define(target, name, value) {
  defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false })
}

function begin(instance, type, given) {
  apply(set, states, [instance, { type, fields: create(null), assigned: create(null), element: -1 }])
  if (typeof given !== 'object' || given === null) return
  for (const name of keysOf(given)) {
    // Assigned, it would be another prototype.
    if (name === '__proto__')
      defineProperty(instance, name, { value: given[name], writable: true, configurable: true, enumerable: true })
    else instance[name] = given[name]
  }
}

function base(name, type) {
  return {
    [name]: class {
      constructor(given) {
        begin(this, type, given)
      }
    },
  }[name]
}

function derived(name, type, Parent) {
  return {
    [name]: class extends Parent {
      constructor(given) {
        super(Parent === Map ? undefined : given)
        if (Parent === Map || stateOf(this) === undefined) begin(this, type, Parent === Map ? undefined : given)
        stateOf(this).type = type
        if (Parent === Map && given) apply(merge, this, [given])
      }
    },
  }[name]
}

/** JS-10: entries of a `Map` or of an object. */
function merge(other) {
  if (other instanceof Map) for (const [name, value] of other) this.set(name, value)
  else for (const name of keysOf(other)) this.set(name, other[name])
  return this
}

/** What is derived is asked for, unless the script has assigned something itself. */
function declare(target, type, { name, many, derived }) {
  const derive = derived ? caller(type, name, { derived }) : undefined
  defineProperty(target, name, {
    configurable: true,
    enumerable: true,
    get() {
      const state = stateOf(this)
      if (derive && state && !(name in state.assigned)) return apply(derive, this, [])
      const value = state?.fields[name]
      if (!many) return value ?? null
      return value === undefined || value === null ? [] : isArray(value) ? value : [value]
    },
    set(value) {
      const state = stateOf(this)
      if (state) state.assigned[name] = state.fields[name] = value
    },
  })
}

function caller(type, name, { isStatic = false, derived = false }) {
  return {
    [name](...given) {
      const called = isStatic ? type : (stateOf(this)?.type ?? type)
      const call = { __proto__: null, type: called, name, static: isStatic, derived }
      const receiver = isStatic ? 'null' : values.write(this)
      const written = `{"call":${stringify(call)},"receiver":${receiver},"arguments":${values.write(given)}}`
      return values.read(ask(OP.method, written))
    },
  }[name]
}

/** An instance that the host hands in. */
export function instanceOf(type, fields, element) {
  const Class = classFor(type)
  const instance = new Class()
  const state = stateOf(instance)
  for (const name of keysOf(fields)) state.fields[name] = fields[name]
  state.element = element ?? -1
  return instance
}

/** The state of an instance as it is handed out; undefined for anything else. */
export function fieldsOf(value) {
  if (!apply(has, states, [value])) return undefined
  const { type, fields, element } = stateOf(value)
  const all = create(null)
  for (const name of keysOf(fields)) all[name] = fields[name]
  if (value instanceof Map)
    value.forEach((entry, name) => {
      all[`${name}`] = entry
    })
  return { type, values: all, element }
}
