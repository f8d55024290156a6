/** Syntax trees to instructions, in steps. */

import type { Steps } from '../../tree/steps.ts'
import { type Code, OP } from './code.ts'
import { constant, emit, jump, name } from './emit.ts'
import { construction, SCOPE, selection, sources, template } from './generate-parts.ts'
import { enterFrame, functionInside, leaveFunction, type Routine } from './scopes.ts'
import type { Block, Expression, Infix, Link, Pattern, Statement } from './syntax.ts'

/** Nodes of a syntax tree that are worked through in one step: about a millisecond. */
const NODES_PER_STEP = 2_048

/** The code of a program. */
export function* generating(body: Block): Steps<Code> {
  const main = functionInside(undefined, [], undefined)
  yield* blockValue(main, body)
  emit(main, OP.RETURN)
  return main.code
}

/** A block in a frame of its own; its value is left on the stack (SES-31, SES-32). */
function* block(fn: Routine, body: Block): Steps<void> {
  const leave = enterFrame(fn)
  yield* blockValue(fn, body)
  leave()
}

function* blockValue(fn: Routine, { statements }: Block): Steps<void> {
  let hasValue = false
  for (const statement of statements) {
    if (hasValue) emit(fn, OP.POP)
    hasValue = yield* statementAt(fn, statement)
  }
  if (!hasValue) emit(fn, OP.CONSTANT, constant(fn, null))
}

/** @returns whether the statement leaves a value */
function* statementAt(fn: Routine, statement: Statement): Steps<boolean> {
  switch (statement.kind) {
    case 'define':
      yield* define(fn, statement.pattern, statement.value)
      return false
    case 'assign':
      yield* assign(fn, statement)
      return false
    default:
      yield* expression(fn, statement)
      return true
  }
}

function* define(fn: Routine, pattern: Pattern, value: Expression): Steps<void> {
  if (pattern.kind === 'name') {
    const slot = fn.code.slots++
    // A lambda that is given a name finds itself by it (SES-31).
    if (value.kind === 'lambda') fn.frame.coming = { name: pattern.name, slot }
    yield* expression(fn, value)
    fn.frame.coming = undefined
    emit(fn, OP.STORE, slot)
    fn.frame.bind(pattern.name, slot, fn)
    return
  }
  yield* expression(fn, value)
  const take = (name: string, operation: number, operand: number) => {
    emit(fn, operation, operand)
    const slot = fn.code.slots++
    emit(fn, OP.STORE, slot)
    fn.frame.bind(name, slot, fn)
  }
  if (pattern.kind === 'fields') {
    for (const { key, name } of pattern.fields) take(name, OP.FIELD, constant(fn, key))
    emit(fn, OP.POP)
    return
  }
  pattern.names.forEach((name, at) => {
    take(name, OP.ITEM, at)
  })
  if (pattern.rest !== undefined) take(pattern.rest, OP.REST, pattern.names.length)
  else if (pattern.names.length === 0) {
    emit(fn, OP.ITEM, 0)
    emit(fn, OP.POP)
  }
  emit(fn, OP.POP)
}

function* assign(fn: Routine, { target, steps, value }: Extract<Statement, { kind: 'assign' }>): Steps<void> {
  name(fn, target)
  for (const [at, step] of steps.entries()) {
    const isLast = at === steps.length - 1
    if (step.kind === 'index') yield* expression(fn, step.key)
    if (isLast) yield* expression(fn, value)
    if (step.kind === 'index') emit(fn, isLast ? OP.SET_INDEX : OP.INDEX)
    else emit(fn, isLast ? OP.SET_MEMBER : OP.MEMBER, constant(fn, step.name))
    if (isLast) emit(fn, OP.POP)
  }
}

/** Leaves the value of an expression on the stack. */
function* expression(fn: Routine, node: Expression): Steps<void> {
  if (++fn.meter.nodes % NODES_PER_STEP === 0) yield
  switch (node.kind) {
    case 'literal':
      emit(fn, OP.CONSTANT, constant(fn, node.value))
      return
    case 'template':
      for (const part of node.parts) yield* text(fn, part)
      emit(fn, OP.TEMPLATE, node.parts.length)
      return
    case 'name':
      name(fn, node.name)
      return
    case 'list':
      for (const item of node.items) yield* expression(fn, item)
      emit(fn, OP.LIST, node.items.length)
      return
    case 'dictionary':
      for (const { key, value } of node.entries) {
        yield* text(fn, key)
        yield* expression(fn, value)
      }
      emit(fn, OP.DICTIONARY, node.entries.length)
      return
    case 'unary':
      yield* expression(fn, node.operand)
      emit(fn, node.operator === '!' ? OP.NOT : OP.NEGATE)
      return
    case 'operations':
      yield* operations(fn, node.first, node.rest)
      return
    case 'choice': {
      yield* expression(fn, node.test)
      const otherwise = jump(fn, OP.JUMP_FALSY)
      yield* expression(fn, node.yes)
      const end = jump(fn, OP.JUMP)
      otherwise()
      yield* expression(fn, node.no)
      end()
      return
    }
    case 'lambda':
      yield* lambda(fn, node)
      return
    case 'let': {
      const leave = enterFrame(fn)
      yield* define(fn, node.pattern, node.value)
      yield* expression(fn, node.body)
      leave()
      return
    }
    case 'return':
      if (node.value) yield* expression(fn, node.value)
      else emit(fn, OP.CONSTANT, constant(fn, null))
      emit(fn, OP.RETURN)
      return
    case 'throw':
      yield* expression(fn, node.value)
      emit(fn, OP.THROW)
      return
    case 'if':
      yield* conditional(fn, node)
      return
    case 'try': {
      const slot = fn.code.slots++
      const handler = jump(fn, OP.TRY, slot)
      yield* block(fn, node.block)
      emit(fn, OP.LEAVE)
      const end = jump(fn, OP.JUMP)
      handler()
      const leave = enterFrame(fn)
      fn.frame.bind(node.name, slot, fn)
      yield* blockValue(fn, node.handler)
      leave()
      end()
      return
    }
    case 'call':
      yield* call(fn, node.name, node.parameters)
      return
    case 'chain': {
      yield* expression(fn, node.base)
      const ends: (() => void)[] = []
      for (const link of node.links) ends.push(yield* linkAt(fn, link))
      for (const end of ends) end()
      return
    }
    case 'selector':
      yield* selection(fn, expression, node.literal, node.from)
      return
    case 'from': {
      yield* sources(fn, expression, node.sources)
      const slot = fn.code.slots++
      emit(fn, OP.STORE, slot)
      const leave = enterFrame(fn)
      // No program can name it.
      fn.frame.bind(SCOPE, slot, fn)
      yield* blockValue(fn, node.block)
      leave()
      return
    }
    case 'construct':
      yield* construction(fn, expression, node)
      return
  }
}

function* text(fn: Routine, part: string | Expression): Steps<void> {
  if (typeof part === 'string') emit(fn, OP.CONSTANT, constant(fn, part))
  else yield* expression(fn, part)
}

const OPERATIONS: Partial<Record<Infix['operator'], number>> = {
  '+': OP.ADD,
  '-': OP.SUBTRACT,
  '*': OP.MULTIPLY,
  '/': OP.DIVIDE,
  '==': OP.EQUAL,
  '!=': OP.UNEQUAL,
  '<': OP.LESS,
  '>': OP.GREATER,
  '<=': OP.AT_MOST,
  '>=': OP.AT_LEAST,
  '<=>': OP.ORDER,
}

/** SES-38: `&&`, `||` and `??` leave out what does not count. */
function* operations(fn: Routine, first: Expression, rest: readonly Infix[]): Steps<void> {
  yield* expression(fn, first)
  for (const operation of rest) {
    const { operator } = operation
    if (operator === 'isa') {
      operation.type.forEach((each, at) => {
        if (at === 0) name(fn, each)
        else emit(fn, OP.MEMBER, constant(fn, each))
      })
      emit(fn, OP.ISA)
      continue
    }
    if (operator === '??') {
      const end = jump(fn, OP.JUMP_KNOWN)
      yield* expression(fn, operation.right)
      end()
    } else if (operator === '&&' || operator === '||') {
      if (operator === '||') emit(fn, OP.NOT)
      const short = jump(fn, OP.JUMP_FALSY)
      yield* expression(fn, operation.right)
      emit(fn, OP.TRUTH)
      const end = jump(fn, OP.JUMP)
      short()
      emit(fn, OP.CONSTANT, constant(fn, operator === '||'))
      end()
    } else {
      yield* expression(fn, operation.right)
      emit(fn, OPERATIONS[operator] ?? OP.POP)
    }
  }
}

function* conditional(fn: Routine, { branches, otherwise }: Extract<Expression, { kind: 'if' }>): Steps<void> {
  const ends: (() => void)[] = []
  for (const { test, block: body } of branches) {
    yield* expression(fn, test)
    const next = jump(fn, OP.JUMP_FALSY)
    yield* block(fn, body)
    ends.push(jump(fn, OP.JUMP))
    next()
  }
  if (otherwise) yield* block(fn, otherwise)
  else emit(fn, OP.CONSTANT, constant(fn, null))
  for (const end of ends) end()
}

function* lambda(fn: Routine, { parameters, rest, body }: Extract<Expression, { kind: 'lambda' }>): Steps<void> {
  const inner = functionInside(fn, parameters, rest)
  if (body.kind === 'block') yield* blockValue(inner, body.block)
  else yield* expression(inner, body)
  emit(inner, OP.RETURN)
  leaveFunction(inner)
  emit(fn, OP.LAMBDA, constant(fn, inner.code))
}

function* call(fn: Routine, called: string, parameters: readonly Expression[]): Steps<void> {
  name(fn, called, true)
  for (const parameter of parameters) yield* expression(fn, parameter)
  emit(fn, OP.CALL, constant(fn, called), parameters.length)
}

/** SES-39, SES-40: what follows a null is left out. @returns sets the place behind the chain */
function* linkAt(fn: Routine, link: Link): Steps<() => void> {
  if (++fn.meter.nodes % NODES_PER_STEP === 0) yield
  const end = jump(fn, OP.JUMP_NULL)
  switch (link.kind) {
    case 'member':
      emit(fn, OP.MEMBER, constant(fn, link.name))
      break
    case 'index':
      yield* expression(fn, link.key)
      emit(fn, OP.INDEX)
      break
    case 'method':
      yield* method(fn, link)
      break
    case 'select':
      emit(fn, OP.SUBSELECT, constant(fn, yield* template(fn, expression, link.literal, 'sources')))
  }
  return end
}

function* method(fn: Routine, { name: called, parameters }: Extract<Link, { kind: 'method' }>): Steps<void> {
  // The default of a Dictionary's `get` is evaluated where it is needed alone (SES-38).
  const isGet = called === 'get' && parameters.length === 2
  let end: (() => void) | undefined
  for (const [at, parameter] of parameters.entries()) {
    if (isGet && at === 1) end = jump(fn, OP.JUMP_HELD)
    yield* expression(fn, parameter)
  }
  emit(fn, OP.METHOD, constant(fn, called), parameters.length)
  end?.()
}
