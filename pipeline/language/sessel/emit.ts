/** Instructions one by one: constants, jumps and names. */

import { OP } from './code.ts'
import { type Binding, type Routine, refersLate, resolve } from './scopes.ts'

export function emit({ code }: Routine, ...instruction: number[]): void {
  for (const each of instruction) code.instructions.push(each)
}

export function constant({ code, numbers }: Routine, value: unknown): number {
  const known = typeof value === 'object' ? undefined : numbers.get(value)
  if (known !== undefined) return known
  const number = code.constants.push(value) - 1
  numbers.set(value, number)
  return number
}

/** Emits a jump whose target is not known yet. @returns sets it to what is emitted next */
export function jump(fn: Routine, operation: number, ...more: number[]): () => void {
  const { instructions } = fn.code
  emit(fn, operation, 0, ...more)
  const at = instructions.length - 1 - more.length
  return () => {
    instructions[at] = instructions.length
  }
}

export function name(fn: Routine, wanted: string, isCalled = false): void {
  const binding = resolve(fn, wanted)
  if (binding) read(fn, binding)
  else if (fn.outer) {
    emit(fn, isCalled ? OP.LATE_CALLEE : OP.LATE, -1, 0, constant(fn, wanted))
    refersLate(fn, wanted, fn.code.instructions.length - 3)
  } else emit(fn, isCalled ? OP.CALLEE : OP.NAME, constant(fn, wanted))
}

export function read(fn: Routine, { levels, slot }: Binding): void {
  if (levels === 0) emit(fn, OP.LOCAL, slot)
  else emit(fn, OP.OUTER, levels, slot)
}
