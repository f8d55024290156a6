/** Methods of built-in types: tables by name. */

import type { List, Value } from '../values.ts'
import { typeOf } from './comparison.ts'
import { type Evaluation, type Given, typeError } from './evaluation.ts'
import { Lambda } from './kinds.ts'

export interface Method {
  /** Numbers of arguments. */
  least: number
  most: number
  /** The table says what receivers it is for. */
  run(receiver: never, args: Value[], on: Evaluation): Given
}

export type Methods = ReadonlyMap<string, Method>

/** @throws SesselError for another number of arguments (SES-45) */
export function countArguments(name: string, { least, most }: Pick<Method, 'least' | 'most'>, args: List): void {
  if (args.length >= least && args.length <= most) return
  const takes = least === most ? `${least}` : `${least} to ${most}`
  throw typeError(`“${name}” takes ${takes} arguments, not ${args.length}`)
}

/** @throws SesselError unless the argument is a String */
export function textArgument(name: string, value: Value | undefined): string {
  if (typeof value === 'string') return value
  throw typeError(`“${name}” takes a String, not a ${typeOf(value ?? null)}`)
}

/** @throws SesselError unless the argument is a whole number that can be a place or count */
export function integerArgument(name: string, value: Value | undefined): number {
  if (typeof value !== 'bigint') throw typeError(`“${name}” takes an Integer, not a ${typeOf(value ?? null)}`)
  // Beyond what any text or list can hold all integers are alike.
  return Number(value)
}

/** @throws SesselError unless the argument is a lambda */
export function lambdaArgument(name: string, value: Value | undefined): Lambda {
  if (value instanceof Lambda) return value
  throw typeError(`“${name}” takes a function, not a ${typeOf(value ?? null)}`)
}
