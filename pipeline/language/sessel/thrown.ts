/** What programs throw, and what they catch (SES-211, SES-212). */

import { ElementValue, isDictionary, type Value } from '../values.ts'
import type { Spend } from './comparison.ts'
import { SesselError } from './failure.ts'
import { textForm } from './text-form.ts'

/** `throw v`. */
export class Thrown extends SesselError {
  readonly value: Value

  constructor(value: Value, { spend }: { spend: Spend }) {
    const described = describedBy(value)
    super('Error', described?.message ?? textForm(value, spend), 'thrown')
    this.value = value
  }
}

/** What a Dictionary says of itself as an error. */
export function describedBy(value: Value): { type: string; message: string } | undefined {
  if (value === null || !isDictionary(value)) return undefined
  const type = value.get('type')
  const message = value.get('message')
  return typeof type === 'string' && typeof message === 'string' ? { type, message } : undefined
}

/** The value of the name behind `catch`. */
export function caught(error: SesselError, spend: Spend): Value {
  if (!(error instanceof Thrown)) return described(error.type, error.message)
  const { value } = error
  if (describedBy(value) || (value instanceof ElementValue && value.type !== undefined)) return value
  const other = described('Error', textForm(value, spend))
  return other.set('value', value)
}

function described(type: string, message: string): Map<string, Value> {
  return new Map<string, Value>([
    ['message', message],
    ['type', type],
  ])
}
