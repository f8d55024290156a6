/**
 * Runs a program in the realm. The host calls `begin` with what the place hands over, evaluates the module, calls `enter` with
 * its namespace, lets the jobs of promises run, and calls `finish` for what came of it.
 */

import { valuesBy } from './classes.js'
import { CLASSES, wrap } from './dom.js'
import { GLOBALS, provide } from './globals.js'
import {
  apply,
  ask,
  create,
  defineProperty,
  getOwnPropertyDescriptor,
  keysOf,
  OPERATIONS as OP,
  parse,
  stringify,
} from './host.js'
import { isUnusable, read, revive, write } from './values.js'

valuesBy({ read, write })
provide(CLASSES)
provide(GLOBALS)
// Threads share nothing here, and nobody can wait.
delete globalThis.SharedArrayBuffer
delete globalThis.Atomics

const THEN = Promise.prototype.then
const PROMISE = Promise
const FUNCTION = 'function'

let job
let self
let values
let names
let context
let state = { __proto__: null, pending: true }

function begin(json) {
  job = parse(json)
  if (job.document)
    defineProperty(globalThis, 'document', {
      configurable: true,
      enumerable: false,
      get: () => wrap(ask(OP.document)),
      set: value => defineProperty(globalThis, 'document', { value, writable: true, configurable: true }),
    })
  const request = job.request === undefined ? undefined : revive(job.request)
  if (request) provide({ request })
  if (!job.context) return
  context = {}
  names = create(null)
  for (let i = 0; i < job.context.length; i += 2) {
    const value = revive(job.context[i + 1])
    names[job.context[i]] = value
    defineProperty(context, job.context[i], { value, writable: true, enumerable: true, configurable: true })
  }
  if (request) defineProperty(context, 'request', { get: () => request, set: () => undefined, enumerable: true })
  provide({ Context: context })
}

/** Settles what a program gives, then tells what became of it. */
function settle(value, done) {
  const promise = new PROMISE(resolve => resolve(value))
  apply(THEN, promise, [done, failed])
}

function enter(namespace, isPromise) {
  if (isPromise) apply(THEN, namespace, [run, failed])
  else run(namespace)
}

function run(namespace) {
  try {
    const program = namespace.default
    if (typeof program !== FUNCTION) {
      state = { __proto__: null, shape: 'The module has no function as its default export.' }
      return
    }
    self = job.self === undefined ? undefined : revive(job.self)
    values = []
    for (let i = 0; i < job.arguments.length; i++)
      defineProperty(values, i, {
        value: revive(job.arguments[i]),
        writable: true,
        enumerable: true,
        configurable: true,
      })
    if (job.bindings) {
      // An expression is a function of the names in scope that gives the function to call.
      const scope = []
      for (let i = 0; i < job.bindings.length; i++) scope[i] = names[job.bindings[i]]
      settle(apply(apply(program, undefined, scope), undefined, []), settled)
    } else {
      const result = apply(program, self, values)
      if (typeof result === 'object' ? result === null : typeof result !== FUNCTION) settled(result)
      else settle(result, settled)
    }
  } catch (error) {
    failed(error)
  }
}

function settled(value) {
  try {
    state = {
      __proto__: null,
      value: job.returns === 'value' ? write(value) : 'null',
      truthy: !!value,
      written: written(),
    }
  } catch (error) {
    if (isUnusable(error)) state = { __proto__: null, unusable: error.message, isAtLimit: isLimit(error) }
    else failed(error)
  }
}

/** What was assigned to members of `Context` (JS-14). */
function written() {
  if (!context) return '{"d":[]}'
  const changed = {}
  for (const name of keysOf(context)) {
    if (name === 'request') continue
    const value = context[name]
    const before = getOwnPropertyDescriptor(names, name)
    if (!before || !Object_is(before.value, value)) defineProperty(changed, name, { value, enumerable: true })
  }
  return write(changed)
}

const Object_is = Object.is

/** What was thrown: a response (JS-45), or the text of an error. */
function failed(error) {
  try {
    if (job.mayAnswer && typeof error === 'object' && error !== null) {
      const own = name => getOwnPropertyDescriptor(error, name) !== undefined && error[name] === job.responseType
      if (own('schema_url') || own('itemtype')) {
        const { status, body, message, headers } = error
        state = { __proto__: null, response: write({ status, body: body ?? message, headers }) }
        return
      }
    }
    state = { __proto__: null, threw: describe(error), isAtLimit: isLimit(error) }
  } catch (other) {
    const threw = isUnusable(other) ? other.message : 'An error that cannot be shown.'
    state = { __proto__: null, threw, isAtLimit: isLimit(error) || isLimit(other) }
  }
}

const ERROR = Error
const RANGE_ERROR = RangeError
const INTERNAL_ERROR = InternalError
const SYNTAX_ERROR = SyntaxError

/** What JSON, patterns and code that are made of text are told where they are well formed, but too deep or too many. */
const isOfEngine = message => message === 'stack overflow' || message === 'too many captures'

/** Whether something was longer, deeper or more than a value, the engine or the DOM takes, as it may be where visitors add to it (GRP-5). */
function isLimit(error) {
  if (isUnusable(error)) return error.isAtLimit
  if (error instanceof RANGE_ERROR || error instanceof INTERNAL_ERROR) return true
  if (error instanceof SYNTAX_ERROR) return isOfEngine(error.message)
  return error instanceof ERROR && error.name === 'QuotaExceededError'
}

function describe(error) {
  if (typeof error === 'symbol') return error.toString()
  if (!(error instanceof ERROR)) {
    if (typeof error !== 'object' || error === null) return `${error}`
    const { name, message } = error
    if (typeof message === 'string') return `${typeof name === 'string' ? name : 'Error'}: ${message}`
    return 'An object was thrown.'
  }
  return `${error.name}: ${error.message}`
}

function finish() {
  return stringify(state)
}

Object.assign(globalThis, {
  'realm:begin': begin,
  'realm:enter': enter,
  'realm:failed': error => failed(error),
  'realm:finish': finish,
})
