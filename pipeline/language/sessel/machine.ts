/**
 * Runs the instructions of programs. Functions of the program and parts of the library that call them stand on a stack of
 * the machine's own, so that an evaluation can be left at any moment and gone on with later.
 */

import { type Allowance, AllowanceSpent } from '../allowance.ts'
import { isList, type Value } from '../values.ts'
import { calculate, isNumber, negate } from './arithmetic.ts'
import { type Code, type ConstructionPlan, OP, type Program, type SelectorTemplate } from './code.ts'
import { compileInTurns } from './compile.ts'
import { construct } from './construct.ts'
import {
  CALL,
  type Context,
  type Evaluation,
  type Given,
  Pending,
  runtimeError,
  settled,
  typeError,
  type Work,
} from './evaluation.ts'
import { SesselError, SesselSyntaxError } from './failure.ts'
import type { SesselHost } from './host.ts'
import { Lambda, type Scope } from './kinds.ts'
import { field, indexed, member, setIndexed, setMember } from './members.ts'
import { callByName, callMethod } from './methods.ts'
import { resolveName, resolves } from './names.ts'
import { select, sourcesOf, subselect } from './select.ts'
import { compare, isEqual, isTruthy, MAX_TEXT, textForm, tooLong } from './text.ts'
import { caught, Thrown } from './thrown.ts'
import { isA } from './types.ts'

/** Calls inside each other (SES-213). */
const MAX_CALLS = 256

/** Steps between two looks at the clock. */
const FUEL = 256

interface Activation {
  code: Code
  scope: Scope
  context: Context
  /** Where to go on. */
  at: number
}

type Frame = Activation | { work: Work; context: Context }

interface Handler {
  frames: number
  values: number
  at: number
  slot: number
}

/** How far an evaluation has come: it has a value, needs another turn, or waits. */
export type Progress = { value: Value } | 'turn' | Promise<unknown>

export class Machine implements Evaluation {
  readonly host: SesselHost
  readonly #allowance: Allowance
  readonly #stack: Value[] = []
  readonly #frames: Frame[] = []
  readonly #handlers: Handler[] = []
  #fuel = FUEL
  #calls = 0
  #called: { fn: Lambda; args: Value[] } | undefined
  #context: Context
  readonly spend: (steps: number) => void

  constructor(program: Program, host: SesselHost, allowance: Allowance) {
    this.host = host
    this.#allowance = allowance
    const { self, prior, names, reach } = host
    this.#context = { program, self, prior, names, reach }
    this.spend = steps => {
      this.#fuel -= steps
      if (this.#fuel < -FUEL) this.#settle()
    }
    this.#enter(program.main, undefined, this.#context)
  }

  get context(): Context {
    return this.#context
  }

  take(bytes: number): void {
    this.#allowance.take(bytes)
  }

  readFleeting(): void {
    this.#allowance.readFleeting()
  }

  call(fn: Lambda, args: Value[]): typeof CALL {
    this.#called = { fn, args }
    return CALL
  }

  runCode(text: string, context: Omit<Context, 'program'>): Given {
    const machine = this
    return new Pending(
      (function* (): Work {
        const program = yield* programOf(text)
        const whole = { ...context, program }
        return yield machine.call(new Lambda(program.main, undefined, whole), [])
      })(),
    )
  }

  /** Takes from the allowance what was done last; to be called when the evaluation has ended. */
  charge(): void {
    const done = FUEL - this.#fuel
    this.#fuel = FUEL
    // An allowance that is spent by the very last steps is noticed by whoever draws on it next.
    if (done > 0 && this.#allowance.spent === undefined) {
      try {
        this.#allowance.step(done)
      } catch (error) {
        if (!(error instanceof AllowanceSpent)) throw error
      }
    }
  }

  /** Charges what was done since the last time. */
  #settle(): void {
    const done = FUEL - this.#fuel
    this.#fuel = FUEL
    this.#allowance.step(done)
  }

  #enter(code: Code, outer: Scope | undefined, context: Context): Scope {
    if (++this.#calls > MAX_CALLS) {
      this.#calls--
      throw runtimeError(`calls are nested deeper than ${MAX_CALLS}`)
    }
    this.#allowance.take(64 + 8 * code.slots)
    const slots: (Value | undefined)[] = []
    const scope: Scope = { slots, outer }
    this.#frames.push({ code, scope, context, at: 0 })
    return scope
  }

  #enterLambda({ code, outer, context }: Lambda, args: readonly Value[]): void {
    const { slots } = this.#enter(code, outer, context)
    for (let at = 0; at < code.parameters; at++) slots.push(args[at] ?? null)
    if (code.hasRest) slots.push(args.slice(code.parameters))
  }

  /**
   * Goes on with the evaluation.
   *
   * @param until when others get their turn, by `performance.now()`
   * @param waited what came of the promise that the evaluation waited for
   * @throws SesselError that the program has not caught; AllowanceSpent; what a host threw
   */
  run(until: number, waited?: { error: unknown }): Progress {
    let failed = waited
    for (;;) {
      try {
        if (failed) {
          const { error } = failed
          failed = undefined
          const top = this.#frames.at(-1)
          // A part of the library is told first: it may know what the failure means.
          if (waited && top && 'work' in top) {
            waited = undefined
            this.#stack.pop()
            const next = top.work.throw(error)
            if (next.done) {
              this.#frames.pop()
              this.#stack.push(next.value)
            } else throw error
          } else this.#unwind(error)
        }
        const progress = this.#go(until)
        if (progress) return progress
      } catch (error) {
        this.#settleFailed(error)
        failed = { error }
      }
    }
  }

  /** What cannot be caught ends the evaluation. */
  #settleFailed(error: unknown): void {
    if (error instanceof AllowanceSpent) throw error
    if (!(error instanceof SesselError) || this.#handlers.length === 0) throw error
    this.#settle()
  }

  #unwind(error: unknown): void {
    const handler = this.#handlers.pop()
    if (!handler || !(error instanceof SesselError)) throw error
    while (this.#frames.length > handler.frames) this.#drop()
    this.#stack.length = handler.values
    const frame = this.#frames.at(-1)
    if (!frame || 'work' in frame) throw error
    frame.at = handler.at
    frame.scope.slots[handler.slot] = caught(error, this.spend)
  }

  #drop(): void {
    const frame = this.#frames.pop()
    if (frame && 'code' in frame) this.#calls--
  }

  /** Runs until there is a result, or something to wait for; undefined never. */
  #go(until: number): Progress | undefined {
    let result: Value | undefined
    for (;;) {
      const frame = this.#frames.at(-1)
      if (!frame) return { value: this.#stack.pop() ?? null }
      this.#context = frame.context
      if ('code' in frame) {
        if (this.#runCode(frame, until)) return 'turn'
        continue
      }
      if (this.#fuel < 0) {
        this.#settle()
        if (performance.now() > until) return 'turn'
      }
      result = this.#stack.pop()
      const next = frame.work.next(result as Value)
      if (next.done) {
        this.#frames.pop()
        this.#stack.push(next.value)
      } else if (next.value === CALL) {
        const called = this.#called
        if (called) this.#enterLambda(called.fn, called.args)
      } else {
        // What is resumed takes one value.
        this.#stack.push(null)
        if (next.value !== undefined) return next.value
        this.spend(8)
      }
    }
  }

  #put(given: Given): boolean {
    if (!(given instanceof Pending)) {
      this.#stack.push(given)
      return false
    }
    this.#frames.push({ work: given.work, context: this.#context })
    this.#stack.push(null)
    return true
  }

  /** Runs an activation until it ends, or something else stands on top of it. @returns whether others get their turn */
  #runCode(frame: Activation, until: number): boolean {
    const stack = this.#stack
    const { code, scope, context } = frame
    const { instructions, constants } = code
    const { slots } = scope
    let at = frame.at
    for (;;) {
      if (--this.#fuel < 0) {
        frame.at = at
        this.#settle()
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
          stack.push(value === undefined ? resolveName(name, this, isCalled) : value)
          at += 3
          break
        }
        case OP.NAME:
          stack.push(resolveName(constants[instructions[at++] as number] as string, this, false))
          break
        case OP.CALLEE:
          stack.push(resolveName(constants[instructions[at++] as number] as string, this, true))
          break
        case OP.RESOLVES:
          stack.push(resolves(constants[instructions[at++] as number] as string[], this))
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
        case OP.TRUTH:
          stack.push(isTruthy(stack.pop() as Value))
          break
        case OP.NOT:
          stack.push(!isTruthy(stack.pop() as Value))
          break
        case OP.NEGATE:
          stack.push(negate(stack.pop() as Value, this.spend))
          break
        case OP.ADD: {
          const b = stack.pop() as Value
          const a = stack.pop() as Value
          if (typeof a === 'string' && typeof b === 'string') stack.push(this.#concatenated(a, b))
          else stack.push(calculate('+', a, typeof b === 'string' && !isNumber(a) ? a : b, this.spend))
          break
        }
        case OP.SUBTRACT: {
          const b = stack.pop() as Value
          stack.push(calculate('-', stack.pop() as Value, b, this.spend))
          break
        }
        case OP.MULTIPLY: {
          const b = stack.pop() as Value
          stack.push(calculate('*', stack.pop() as Value, b, this.spend))
          break
        }
        case OP.DIVIDE: {
          const b = stack.pop() as Value
          stack.push(calculate('/', stack.pop() as Value, b, this.spend))
          break
        }
        case OP.EQUAL: {
          const b = stack.pop() as Value
          stack.push(isEqual(stack.pop() as Value, b, this.spend))
          break
        }
        case OP.UNEQUAL: {
          const b = stack.pop() as Value
          stack.push(!isEqual(stack.pop() as Value, b, this.spend))
          break
        }
        case OP.LESS: {
          const b = stack.pop() as Value
          stack.push(compare(stack.pop() as Value, b) === -1)
          break
        }
        case OP.GREATER: {
          const b = stack.pop() as Value
          stack.push(compare(stack.pop() as Value, b) === 1)
          break
        }
        case OP.AT_MOST: {
          const b = stack.pop() as Value
          const order = compare(stack.pop() as Value, b)
          stack.push(order !== undefined && order <= 0)
          break
        }
        case OP.AT_LEAST: {
          const b = stack.pop() as Value
          const order = compare(stack.pop() as Value, b)
          stack.push(order !== undefined && order >= 0)
          break
        }
        case OP.ORDER: {
          const b = stack.pop() as Value
          const order = compare(stack.pop() as Value, b)
          stack.push(order === undefined ? null : BigInt(order))
          break
        }
        case OP.ISA: {
          const type = stack.pop() as Value
          stack.push(isA(stack.pop() as Value, type, this))
          break
        }
        case OP.LIST: {
          const items = this.#taken(instructions[at++] as number)
          this.#allowance.take(16 + 8 * items.length)
          stack.push(items)
          break
        }
        case OP.DICTIONARY: {
          const items = this.#taken(2 * (instructions[at++] as number))
          this.#allowance.take(64 + 32 * items.length)
          const entries = new Map<string, Value>()
          for (let i = 0; i < items.length; i += 2)
            entries.set(textForm(items[i] as Value, this.spend), items[i + 1] as Value)
          stack.push(entries)
          break
        }
        case OP.TEMPLATE: {
          let text = ''
          for (const part of this.#taken(instructions[at++] as number)) {
            text += typeof part === 'string' ? part : textForm(part, this.spend)
            if (text.length > MAX_TEXT) throw tooLong()
          }
          this.#allowance.take(32 + 2 * text.length)
          this.#fuel -= text.length >> 8
          stack.push(text)
          break
        }
        case OP.LAMBDA:
          this.#allowance.take(64)
          stack.push(new Lambda(constants[instructions[at++] as number] as Code, scope, context))
          break
        case OP.RETURN:
          this.#frames.pop()
          this.#calls--
          while ((this.#handlers.at(-1)?.frames ?? 0) > this.#frames.length) this.#handlers.pop()
          return false
        case OP.THROW:
          throw new Thrown(stack.pop() as Value, this)
        case OP.TRY:
          this.#handlers.push({
            frames: this.#frames.length,
            values: stack.length,
            at: instructions[at] as number,
            slot: instructions[at + 1] as number,
          })
          at += 2
          break
        case OP.LEAVE:
          this.#handlers.pop()
          break
        case OP.CALL: {
          const name = constants[instructions[at] as number] as string
          const args = this.#taken(instructions[at + 1] as number)
          const fn = stack.pop() as Value
          frame.at = at += 2
          if (fn instanceof Lambda) {
            this.#enterLambda(fn, args)
            return false
          }
          if (this.#put(callByName(name, fn, args, this))) return false
          break
        }
        case OP.METHOD: {
          const name = constants[instructions[at] as number] as string
          const count = instructions[at + 1] as number
          const args = this.#taken(Math.abs(count))
          const receiver = stack.pop() as Value
          frame.at = at += 2
          if (this.#put(callMethod(receiver, name, args, this, count < 0))) return false
          break
        }
        case OP.MEMBER: {
          const name = constants[instructions[at++] as number] as string
          const receiver = stack.pop() as Value
          frame.at = at
          if (this.#put(receiver === null ? null : member(receiver, name, this))) return false
          break
        }
        case OP.INDEX: {
          const key = stack.pop() as Value
          const receiver = stack.pop() as Value
          frame.at = at
          if (this.#put(receiver === null ? null : indexed(receiver, key, this))) return false
          break
        }
        case OP.SET_MEMBER: {
          const value = stack.pop() as Value
          setMember(stack.pop() as Value, constants[instructions[at++] as number] as string, value, this)
          break
        }
        case OP.SET_INDEX: {
          const value = stack.pop() as Value
          const key = stack.pop() as Value
          setIndexed(stack.pop() as Value, key, value, this)
          break
        }
        case OP.FIELD: {
          const name = constants[instructions[at++] as number] as string
          frame.at = at
          if (this.#put(field(stack.at(-1) as Value, name, this))) return false
          break
        }
        case OP.ITEM:
          stack.push(listOf(stack.at(-1) as Value)[instructions[at++] as number] ?? null)
          break
        case OP.REST: {
          const rest = listOf(stack.at(-1) as Value).slice(instructions[at++])
          this.#allowance.take(16 + 8 * rest.length)
          stack.push(rest)
          break
        }
        case OP.SOURCES:
          stack.push(sourcesOf(this.#taken(instructions[at++] as number)))
          break
        case OP.SELECT: {
          const template = constants[instructions[at++] as number] as SelectorTemplate
          const values = this.#taken(template.texts.length - 1)
          const sources = template.scope === 'sources' ? (stack.pop() as Value) : undefined
          frame.at = at
          if (this.#put(select(template, values, sources, this))) return false
          break
        }
        case OP.SUBSELECT: {
          const template = constants[instructions[at++] as number] as SelectorTemplate
          const values = this.#taken(template.texts.length - 1)
          const receiver = stack.pop() as Value
          frame.at = at
          if (this.#put(subselect(template, values, receiver, this))) return false
          break
        }
        case OP.CONSTRUCT: {
          const plan = constants[instructions[at++] as number] as ConstructionPlan
          const computed = plan.modifiers.filter(m => m.kind === 'attribute' && m.value === 'computed').length
          const items = this.#taken(plan.items?.length ?? 0)
          const values = this.#taken(computed)
          frame.at = at
          if (this.#put(construct(plan, values, items, this))) return false
          break
        }
        default:
          throw new Error(`no such instruction: ${instructions[at - 1]}`)
      }
    }
  }

  /** Takes the topmost values. */
  #taken(count: number): Value[] {
    return count === 0 ? [] : this.#stack.splice(-count)
  }

  #concatenated(a: string, b: string): string {
    const length = a.length + b.length
    if (length > MAX_TEXT) throw tooLong()
    this.#allowance.take(32 + 2 * length)
    this.#fuel -= length >> 8
    return a + b
  }
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

function* programOf(text: string): Work<Program> {
  try {
    return yield* settled(compileInTurns(text))
  } catch (error) {
    if (error instanceof SesselSyntaxError) throw runtimeError(`code that was called does not parse: ${error.message}`)
    throw error
  }
}
