/** What each instruction does. */

import { isDictionary, isList, type Value } from '../values.ts'
import { calculate, isNumber, negate } from './arithmetic.ts'
import { type Code, type ConstructionPlan, OP, type SelectorTemplate } from './code.ts'
import { compare, comparing, isEqual, isTruthy } from './comparison.ts'
import { construct } from './construct.ts'
import { type Given, Pending, pausing, typeError } from './evaluation.ts'
import { Lambda, type Scope } from './kinds.ts'
import { checkKey, field, indexed, member, setIndexed, setMember } from './members.ts'
import { callByName, callMethod } from './methods.ts'
import { resolveName, resolves } from './names.ts'
import { select, sourcesOf, subselect } from './select.ts'
import type { Activation, State } from './state.ts'
import { joined } from './text-form.ts'
import { Thrown } from './thrown.ts'
import { isA } from './types.ts'

/**
 * Runs an activation until it ends, or something else stands on top of it.
 *
 * @param until when others get their turn, by `performance.now()`
 * @returns whether they do
 */
export function execute(state: State, frame: Activation, until: number): boolean {
  const { stack } = state
  const { code, scope, context } = frame
  const { instructions, constants } = code
  const { slots } = scope
  let at = frame.at
  for (;;) {
    if (--state.fuel < 0) {
      frame.at = at
      state.settle()
      if (performance.now() > until) return true
    }
    switch (instructions[at++]) {
      case OP.CONSTANT:
        stack.push(constants[instructions[at++] as number] as Value)
        break
      case OP.LOCAL:
        stack.push(slots[instructions[at++] as number] as Value)
        break
      case OP.OUTER: {
        let outer: Scope | undefined = scope
        for (let levels = instructions[at++] as number; levels > 0; levels--) outer = outer?.outer
        stack.push(outer?.slots[instructions[at++] as number] ?? null)
        break
      }
      case OP.LATE:
      case OP.LATE_CALLEE: {
        const isCalled = instructions[at - 1] === OP.LATE_CALLEE
        const value = lateValue(scope, instructions[at] as number, instructions[at + 1] as number)
        const name = constants[instructions[at + 2] as number] as string
        stack.push(value === undefined ? resolveName(name, state, isCalled) : value)
        at += 3
        break
      }
      case OP.NAME:
        stack.push(resolveName(constants[instructions[at++] as number] as string, state, false))
        break
      case OP.CALLEE:
        stack.push(resolveName(constants[instructions[at++] as number] as string, state, true))
        break
      case OP.RESOLVES:
        stack.push(resolves(constants[instructions[at++] as number] as string[], state))
        break
      case OP.STORE:
        slots[instructions[at++] as number] = stack.pop() as Value
        break
      case OP.POP:
        stack.pop()
        break
      case OP.JUMP:
        at = instructions[at] as number
        break
      case OP.JUMP_FALSY:
        at = isTruthy(stack.pop() as Value) ? at + 1 : (instructions[at] as number)
        break
      case OP.JUMP_NULL:
        at = stack.at(-1) === null ? (instructions[at] as number) : at + 1
        break
      case OP.JUMP_KNOWN:
        if (stack.at(-1) !== null) at = instructions[at] as number
        else {
          stack.pop()
          at++
        }
        break
      case OP.JUMP_HELD: {
        const held = heldBy(stack.at(-2) as Value, stack.at(-1) as Value)
        if (held === undefined) at++
        else {
          stack.splice(-2, 2, held)
          at = instructions[at] as number
        }
        break
      }
      case OP.TRUTH:
        stack.push(isTruthy(stack.pop() as Value))
        break
      case OP.NOT:
        stack.push(!isTruthy(stack.pop() as Value))
        break
      case OP.NEGATE:
        stack.push(negate(stack.pop() as Value, state.spend))
        break
      case OP.ADD: {
        const b = stack.pop() as Value
        const a = stack.pop() as Value
        if (typeof a === 'string' && typeof b === 'string') stack.push(state.concatenated(a, b))
        else stack.push(calculate('+', a, typeof b === 'string' && !isNumber(a) ? a : b, state.spend))
        break
      }
      case OP.SUBTRACT: {
        const b = stack.pop() as Value
        stack.push(calculate('-', stack.pop() as Value, b, state.spend))
        break
      }
      case OP.MULTIPLY: {
        const b = stack.pop() as Value
        stack.push(calculate('*', stack.pop() as Value, b, state.spend))
        break
      }
      case OP.DIVIDE: {
        const b = stack.pop() as Value
        stack.push(calculate('/', stack.pop() as Value, b, state.spend))
        break
      }
      case OP.EQUAL:
      case OP.UNEQUAL: {
        const isWanted = instructions[at - 1] === OP.EQUAL
        const b = stack.pop() as Value
        frame.at = at
        if (state.put(equality(stack.pop() as Value, b, isWanted, state))) return false
        break
      }
      case OP.LESS: {
        const b = stack.pop() as Value
        stack.push(compare(stack.pop() as Value, b, state.spend) === -1)
        break
      }
      case OP.GREATER: {
        const b = stack.pop() as Value
        stack.push(compare(stack.pop() as Value, b, state.spend) === 1)
        break
      }
      case OP.AT_MOST: {
        const b = stack.pop() as Value
        const order = compare(stack.pop() as Value, b, state.spend)
        stack.push(order !== undefined && order <= 0)
        break
      }
      case OP.AT_LEAST: {
        const b = stack.pop() as Value
        const order = compare(stack.pop() as Value, b, state.spend)
        stack.push(order !== undefined && order >= 0)
        break
      }
      case OP.ORDER: {
        const b = stack.pop() as Value
        const order = compare(stack.pop() as Value, b, state.spend)
        stack.push(order === undefined ? null : BigInt(order))
        break
      }
      case OP.ISA: {
        const type = stack.pop() as Value
        stack.push(isA(stack.pop() as Value, type, state))
        break
      }
      case OP.LIST: {
        const items = state.taken(instructions[at++] as number)
        state.allowance.take(16 + 8 * items.length)
        stack.push(items)
        break
      }
      case OP.DICTIONARY: {
        const items = state.taken(2 * (instructions[at++] as number))
        state.allowance.take(64 + 32 * items.length)
        const entries = new Map<string, Value>()
        // Keys are words, or texts with values in them.
        for (let i = 0; i < items.length; i += 2) {
          checkKey(items[i] as string)
          entries.set(items[i] as string, items[i + 1] as Value)
        }
        stack.push(entries)
        break
      }
      case OP.TEMPLATE: {
        const parts = state.taken(instructions[at++] as number)
        frame.at = at
        if (state.put(joined(parts, '', state))) return false
        break
      }
      case OP.LAMBDA:
        state.allowance.take(64)
        stack.push(new Lambda(constants[instructions[at++] as number] as Code, scope, context))
        break
      case OP.RETURN:
        if (stack.length > frame.values + 1) stack.splice(frame.values, stack.length - frame.values - 1)
        state.frames.pop()
        state.calls--
        while ((state.handlers.at(-1)?.frames ?? 0) > state.frames.length) state.handlers.pop()
        return false
      case OP.THROW:
        throw new Thrown(stack.pop() as Value, state)
      case OP.TRY:
        state.handlers.push({
          frames: state.frames.length,
          values: stack.length,
          at: instructions[at] as number,
          slot: instructions[at + 1] as number,
        })
        at += 2
        break
      case OP.LEAVE:
        state.handlers.pop()
        break
      case OP.CALL: {
        const name = constants[instructions[at] as number] as string
        const args = state.taken(instructions[at + 1] as number)
        const fn = stack.pop() as Value
        frame.at = at += 2
        if (fn instanceof Lambda) {
          state.enterLambda(fn, args)
          return false
        }
        if (state.put(callByName(name, fn, args, state))) return false
        break
      }
      case OP.METHOD: {
        const name = constants[instructions[at] as number] as string
        const count = instructions[at + 1] as number
        const args = state.taken(count)
        const receiver = stack.pop() as Value
        frame.at = at += 2
        if (state.put(callMethod(receiver, name, args, state))) return false
        break
      }
      case OP.MEMBER: {
        const name = constants[instructions[at++] as number] as string
        const receiver = stack.pop() as Value
        frame.at = at
        if (state.put(receiver === null ? null : member(receiver, name, state))) return false
        break
      }
      case OP.INDEX: {
        const key = stack.pop() as Value
        const receiver = stack.pop() as Value
        frame.at = at
        if (state.put(receiver === null ? null : indexed(receiver, key, state))) return false
        break
      }
      case OP.SET_MEMBER: {
        const value = stack.pop() as Value
        const name = constants[instructions[at++] as number] as string
        frame.at = at
        if (state.put(setMember(stack.pop() as Value, name, value, state))) return false
        break
      }
      case OP.SET_INDEX: {
        const value = stack.pop() as Value
        const key = stack.pop() as Value
        frame.at = at
        if (state.put(setIndexed(stack.pop() as Value, key, value, state))) return false
        break
      }
      case OP.FIELD: {
        const name = constants[instructions[at++] as number] as string
        frame.at = at
        if (state.put(field(stack.at(-1) as Value, name, state))) return false
        break
      }
      case OP.ITEM:
        stack.push(listOf(stack.at(-1) as Value)[instructions[at++] as number] ?? null)
        break
      case OP.REST: {
        const rest = listOf(stack.at(-1) as Value).slice(instructions[at++])
        state.allowance.take(16 + 8 * rest.length)
        stack.push(rest)
        break
      }
      case OP.SOURCES:
        stack.push(sourcesOf(state.taken(instructions[at++] as number)))
        break
      case OP.SELECT: {
        const template = constants[instructions[at++] as number] as SelectorTemplate
        const values = state.taken(template.texts.length - 1)
        const sources = template.scope === 'sources' ? (stack.pop() as Value) : undefined
        frame.at = at
        if (state.put(select(template, values, sources, state))) return false
        break
      }
      case OP.SUBSELECT: {
        const template = constants[instructions[at++] as number] as SelectorTemplate
        const values = state.taken(template.texts.length - 1)
        const receiver = stack.pop() as Value
        frame.at = at
        if (state.put(subselect(template, values, receiver, state))) return false
        break
      }
      case OP.CONSTRUCT: {
        const plan = constants[instructions[at++] as number] as ConstructionPlan
        const computed = plan.modifiers.filter(m => m.kind === 'attribute' && m.value === 'computed').length
        const items = state.taken(plan.items?.length ?? 0)
        const values = state.taken(computed)
        frame.at = at
        if (state.put(construct(plan, values, items, state))) return false
        break
      }
      default:
        throw new Error(`no such instruction: ${instructions[at - 1]}`)
    }
  }
}

/** The value of an entry; undefined where there is none, or what shall have it is no Dictionary. */
function heldBy(owner: Value, key: Value): Value | undefined {
  if (owner === null || typeof key !== 'string' || !isDictionary(owner) || !owner.has(key)) return undefined
  return owner.get(key) ?? null
}

/** Whether two values are equal, or that they are not; what holds others is compared with pauses. */
function equality(a: Value, b: Value, isWanted: boolean, state: State): Given {
  const known = isEqual(a, b, state.spend)
  if (known !== undefined) return known === isWanted
  const work = function* () {
    return (yield* pausing(comparing(a, b, state.spend))) === isWanted
  }
  return new Pending(work())
}

/** The value of a binding that was made behind the lambda that refers to it, if it has been made. */
function lateValue(scope: Scope, levels: number, slot: number): Value | undefined {
  if (levels < 0) return undefined
  let outer: Scope | undefined = scope
  for (let level = levels; level > 0; level--) outer = outer?.outer
  return outer?.slots[slot]
}

function listOf(value: Value): readonly Value[] {
  if (value === null) return []
  if (isList(value)) return value
  throw typeError('only a List can be taken apart by position')
}
