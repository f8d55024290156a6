/**
 * The way out of the realm: one function of the host, reached through closures alone. Everything that crosses is a number or a
 * text; whoever calls makes sure of that first, so that no object of a program is ever asked for its value by the host.
 */

const call = globalThis.host

/** What programs may change later is kept from the start. */
export const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, setPrototypeOf } =
  Reflect
export const { freeze, create, keys: keysOf } = Object
export const { parse, stringify } = JSON
export const { isArray } = Array
export const TEXT = String

const setup = parse(call(0))

/** Numbers of the operations by name. */
export const OPERATIONS = setup.operations
export const INTERFACES = setup.interfaces
export const DOM_ERRORS = setup.errors
export const LIMITS = setup.limits

let makeError = message => new Error(message)

/** Says how the host's errors become those of the realm. */
export function errorsBy(make) {
  makeError = make
}

/**
 * Calls an operation whose answer is a text, null, or nothing.
 *
 * @throws the error that the host answers with, which is a negative number
 */
export function ask(operation, a, b, c, d) {
  const answer = call(operation, a, b, c, d)
  if (typeof answer === 'number' && answer < 0) throw makeError(-answer, call(OPERATIONS.message))
  return answer
}
