/** Syntax trees to instructions. */

import { type ConstructionPlan, OP, type PlannedModifier, type Program, type SelectorTemplate } from './code.ts'
import { CSS_TEXT } from './css-text.ts'
import { parse } from './parse.ts'
import { type Binding, functionInside, inFrame, leaveFunction, type Routine, refersLate, resolve } from './scopes.ts'
import type {
  Block,
  Construction,
  Declaration,
  Embedded,
  Expression,
  Link,
  Operation,
  Pattern,
  SelectorLiteral,
  Statement,
} from './syntax.ts'

/** Programs that are kept, the least recently used first. */
const kept = new Map<string, Program>()
const KEPT = { programs: 1_000, characters: 2 * 1024 * 1024 }
let keptCharacters = 0

/**
 * Compiles a program, from a bounded cache by its text.
 *
 * @throws SesselSyntaxError (SES-28)
 */
export function compile(text: string): Program {
  const known = kept.get(text)
  const program = known ?? compileNew(text)
  if (known) kept.delete(text)
  else keptCharacters += text.length
  kept.set(text, program)
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT.programs && keptCharacters <= KEPT.characters) break
    kept.delete(oldest)
    keptCharacters -= oldest.length
  }
  return program
}

function compileNew(text: string): Program {
  const { declarations, body } = parse(text)
  const main = functionInside(undefined, [], undefined)
  blockValue(main, body)
  emit(main, OP.RETURN)
  const named = (kind: Declaration['kind']) => declarations.filter(declaration => declaration.kind === kind)
  return {
    text,
    main: main.code,
    declarations: new Map(declarations.map(declaration => [declaration.name, declaration])),
    namespaces: new Map(named('namespace').map(({ name, url }) => [name, url])),
  }
}

function emit({ code }: Routine, ...instruction: number[]): void {
  for (const each of instruction) code.instructions.push(each)
}

function constant({ code, numbers }: Routine, value: unknown): number {
  const known = typeof value === 'object' ? undefined : numbers.get(value)
  if (known !== undefined) return known
  const number = code.constants.push(value) - 1
  numbers.set(value, number)
  return number
}

/** Emits a jump whose target is not known yet. @returns sets it to what is emitted next */
function jump(fn: Routine, operation: number, ...more: number[]): () => void {
  const { instructions } = fn.code
  emit(fn, operation, 0, ...more)
  const at = instructions.length - 1 - more.length
  return () => {
    instructions[at] = instructions.length
  }
}

/** A block in a frame of its own; its value is left on the stack (SES-31, SES-32). */
function block(fn: Routine, body: Block): void {
  inFrame(fn, () => {
    blockValue(fn, body)
  })
}

function blockValue(fn: Routine, { statements }: Block): void {
  let hasValue = false
  for (const statement of statements) {
    if (hasValue) emit(fn, OP.POP)
    hasValue = statementAt(fn, statement)
  }
  if (!hasValue) emit(fn, OP.CONSTANT, constant(fn, null))
}

/** @returns whether the statement leaves a value */
function statementAt(fn: Routine, statement: Statement): boolean {
  switch (statement.kind) {
    case 'define':
      define(fn, statement.pattern, statement.value)
      return false
    case 'assign':
      assign(fn, statement)
      return false
    default:
      expression(fn, statement)
      return true
  }
}

function define(fn: Routine, pattern: Pattern, value: Expression): void {
  if (pattern.kind === 'name') {
    const slot = fn.code.slots++
    // A lambda that is given a name finds itself by it (SES-31).
    if (value.kind === 'lambda') fn.frame.coming = { name: pattern.name, slot }
    expression(fn, value)
    fn.frame.coming = undefined
    emit(fn, OP.STORE, slot)
    fn.frame.bind(pattern.name, slot, fn)
    return
  }
  expression(fn, value)
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

function assign(fn: Routine, { target, steps, value }: Extract<Statement, { kind: 'assign' }>): void {
  name(fn, target)
  steps.forEach((step, at) => {
    const isLast = at === steps.length - 1
    if (step.kind === 'index') expression(fn, step.key)
    if (isLast) expression(fn, value)
    if (step.kind === 'index') emit(fn, isLast ? OP.SET_INDEX : OP.INDEX)
    else emit(fn, isLast ? OP.SET_MEMBER : OP.MEMBER, constant(fn, step.name))
  })
}

function name(fn: Routine, wanted: string, isCalled = false): void {
  const binding = resolve(fn, wanted)
  if (binding) read(fn, binding)
  else if (fn.outer) {
    emit(fn, isCalled ? OP.LATE_CALLEE : OP.LATE, -1, 0, constant(fn, wanted))
    refersLate(fn, wanted, fn.code.instructions.length - 3)
  } else emit(fn, isCalled ? OP.CALLEE : OP.NAME, constant(fn, wanted))
}

function read(fn: Routine, { levels, slot }: Binding): void {
  if (levels === 0) emit(fn, OP.LOCAL, slot)
  else emit(fn, OP.OUTER, levels, slot)
}

const OPERATIONS: Partial<Record<Operation['operator'], number>> = {
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

/** Leaves the value of an expression on the stack. */
function expression(fn: Routine, node: Expression): void {
  switch (node.kind) {
    case 'literal':
      emit(fn, OP.CONSTANT, constant(fn, node.value))
      return
    case 'template':
      for (const part of node.parts) text(fn, part)
      emit(fn, OP.TEMPLATE, node.parts.length)
      return
    case 'name':
      name(fn, node.name)
      return
    case 'list':
      for (const item of node.items) expression(fn, item)
      emit(fn, OP.LIST, node.items.length)
      return
    case 'dictionary':
      for (const { key, value } of node.entries) {
        text(fn, key)
        expression(fn, value)
      }
      emit(fn, OP.DICTIONARY, node.entries.length)
      return
    case 'unary':
      expression(fn, node.operand)
      emit(fn, node.operator === '!' ? OP.NOT : OP.NEGATE)
      return
    case 'operations':
      operations(fn, node.first, node.rest)
      return
    case 'choice': {
      expression(fn, node.test)
      const otherwise = jump(fn, OP.JUMP_FALSY)
      expression(fn, node.yes)
      const end = jump(fn, OP.JUMP)
      otherwise()
      expression(fn, node.no)
      end()
      return
    }
    case 'lambda':
      lambda(fn, node)
      return
    case 'let':
      inFrame(fn, () => {
        define(fn, node.pattern, node.value)
        expression(fn, node.body)
      })
      return
    case 'return':
      if (node.value) expression(fn, node.value)
      else emit(fn, OP.CONSTANT, constant(fn, null))
      emit(fn, OP.RETURN)
      return
    case 'throw':
      expression(fn, node.value)
      emit(fn, OP.THROW)
      return
    case 'if':
      conditional(fn, node)
      return
    case 'try': {
      const slot = fn.code.slots++
      const handler = jump(fn, OP.TRY, slot)
      block(fn, node.block)
      emit(fn, OP.LEAVE)
      const end = jump(fn, OP.JUMP)
      handler()
      inFrame(fn, () => {
        fn.frame.bind(node.name, slot, fn)
        blockValue(fn, node.handler)
      })
      end()
      return
    }
    case 'call':
      call(fn, node.name, node.parameters)
      return
    case 'chain': {
      expression(fn, node.base)
      const ends = node.links.map(link => linkAt(fn, link))
      for (const end of ends) end()
      return
    }
    case 'selector':
      selection(fn, node.literal, node.from)
      return
    case 'from': {
      sources(fn, node.sources)
      const slot = fn.code.slots++
      emit(fn, OP.STORE, slot)
      inFrame(fn, () => {
        // No program can name it.
        fn.frame.bind(SCOPE, slot, fn)
        blockValue(fn, node.block)
      })
      return
    }
    case 'construct':
      construction(fn, node)
      return
  }
}

/** The binding of the default scope of bare selectors (SES-125). */
const SCOPE = 'from'

function text(fn: Routine, part: string | Expression): void {
  if (typeof part === 'string') emit(fn, OP.CONSTANT, constant(fn, part))
  else expression(fn, part)
}

/** SES-38: `&&`, `||` and `??` leave out what does not count. */
function operations(fn: Routine, first: Expression, rest: readonly Operation[]): void {
  expression(fn, first)
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
      expression(fn, operation.right)
      end()
    } else if (operator === '&&' || operator === '||') {
      if (operator === '||') emit(fn, OP.NOT)
      const short = jump(fn, OP.JUMP_FALSY)
      expression(fn, operation.right)
      emit(fn, OP.TRUTH)
      const end = jump(fn, OP.JUMP)
      short()
      emit(fn, OP.CONSTANT, constant(fn, operator === '||'))
      end()
    } else {
      expression(fn, operation.right)
      emit(fn, OPERATIONS[operator] ?? OP.POP)
    }
  }
}

function conditional(fn: Routine, { branches, otherwise }: Extract<Expression, { kind: 'if' }>): void {
  const ends: (() => void)[] = []
  for (const { test, block: body } of branches) {
    expression(fn, test)
    const next = jump(fn, OP.JUMP_FALSY)
    block(fn, body)
    ends.push(jump(fn, OP.JUMP))
    next()
  }
  if (otherwise) block(fn, otherwise)
  else emit(fn, OP.CONSTANT, constant(fn, null))
  for (const end of ends) end()
}

function lambda(fn: Routine, { parameters, rest, body }: Extract<Expression, { kind: 'lambda' }>): void {
  const inner = functionInside(fn, parameters, rest)
  if (body.kind === 'block') blockValue(inner, body.block)
  else expression(inner, body)
  emit(inner, OP.RETURN)
  leaveFunction(inner)
  emit(fn, OP.LAMBDA, constant(fn, inner.code))
}

function call(fn: Routine, called: string, parameters: readonly Expression[]): void {
  name(fn, called, true)
  for (const parameter of parameters) expression(fn, parameter)
  emit(fn, OP.CALL, constant(fn, called), parameters.length)
}

/** SES-39, SES-40: what follows a null is left out. @returns sets the place behind the chain */
function linkAt(fn: Routine, link: Link): () => void {
  const end = jump(fn, OP.JUMP_NULL)
  switch (link.kind) {
    case 'member':
      emit(fn, OP.MEMBER, constant(fn, link.name))
      break
    case 'index':
      expression(fn, link.key)
      emit(fn, OP.INDEX)
      break
    case 'method':
      method(fn, link)
      break
    case 'select':
      emit(fn, OP.SUBSELECT, constant(fn, template(fn, link.literal, 'sources')))
  }
  return end
}

function method(fn: Routine, { name: called, parameters }: Extract<Link, { kind: 'method' }>): void {
  const [key, fallback] = parameters
  // The default of `get` is evaluated where it is needed alone (SES-38): it becomes a lambda that only that method sees.
  const isLazy = called === 'get' && parameters.length === 2 && key && fallback && !isPlain(fallback)
  if (isLazy) {
    expression(fn, key)
    lambda(fn, { kind: 'lambda', parameters: [], rest: undefined, body: fallback })
    emit(fn, OP.METHOD, constant(fn, 'get'), -2)
    return
  }
  for (const parameter of parameters) expression(fn, parameter)
  emit(fn, OP.METHOD, constant(fn, called), parameters.length)
}

function isPlain({ kind }: Expression): boolean {
  return kind === 'literal' || kind === 'lambda'
}

function sources(fn: Routine, from: readonly Expression[]): void {
  for (const source of from) {
    if (source.kind === 'name' && source.name === 'prior' && !resolve(fn, 'prior'))
      emit(fn, OP.NAME, constant(fn, PRIOR))
    else expression(fn, source)
  }
  emit(fn, OP.SOURCES, from.length)
}

/** `prior` as a source selects nothing where it is not bound (SES-3); no name has a space. */
export const PRIOR = 'from prior'

function selection(fn: Routine, literal: SelectorLiteral, from: readonly Expression[] | undefined): void {
  if (from) sources(fn, from)
  else {
    const binding = resolve(fn, SCOPE)
    if (!binding) {
      emit(fn, OP.SELECT, constant(fn, template(fn, literal, 'default')))
      return
    }
    read(fn, binding)
  }
  emit(fn, OP.SELECT, constant(fn, template(fn, literal, 'sources')))
}

/** Emits the embedded values of a selector. */
function template(fn: Routine, { parts }: SelectorLiteral, scope: SelectorTemplate['scope']): SelectorTemplate {
  const texts = ['']
  const append = (piece: string) => texts.push((texts.pop() ?? '') + piece)
  for (const part of parts) {
    if (typeof part === 'string') append(part)
    else if (!part.expression) append(CSS_TEXT.literal(part.text))
    else {
      embedded(fn, part, part.expression)
      texts.push('')
    }
  }
  return { texts, scope }
}

/** SES-123: leaves the value, or a text where names do not resolve. */
function embedded(fn: Routine, { text: written, names }: Embedded, value: Expression): void {
  const unknown = names.filter(each => !resolve(fn, each))
  if (unknown.length === 0) {
    expression(fn, value)
    return
  }
  emit(fn, OP.RESOLVES, constant(fn, unknown))
  const literal = jump(fn, OP.JUMP_FALSY)
  expression(fn, value)
  const end = jump(fn, OP.JUMP)
  literal()
  emit(fn, OP.CONSTANT, constant(fn, written))
  end()
}

function construction(fn: Routine, { prefix, name: tag, modifiers, items }: Construction): void {
  // A class that is a local binding is found there; the machine looks for the others.
  const planned: PlannedModifier[] = []
  for (const modifier of modifiers) {
    if (modifier.kind !== 'attribute') {
      planned.push(modifier)
      continue
    }
    const attribute = modifier.prefix === undefined ? modifier.name : `${modifier.prefix}:${modifier.name}`
    const { value } = modifier
    if (!value) planned.push({ kind: 'attribute', name: attribute, value: 'empty' })
    else if (!value.expression) planned.push({ kind: 'attribute', name: attribute, value: { text: value.text } })
    else {
      embedded(fn, value, value.expression)
      planned.push({ kind: 'attribute', name: attribute, value: 'computed' })
    }
  }
  for (const { value } of items ?? []) expression(fn, value)
  const plan: ConstructionPlan = { prefix, name: tag, modifiers: planned, items: items?.map(({ key }) => key) }
  emit(fn, OP.CONSTRUCT, constant(fn, plan))
}
