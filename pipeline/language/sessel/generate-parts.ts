/** Instructions for parts with rules of their own: selectors, what they look in, and elements that are built. */

import type { Steps } from '../../tree/steps.ts'
import { type ConstructionPlan, OP, type PlannedModifier, PRIOR, type SelectorTemplate } from './code.ts'
import { CSS_TEXT } from './css-text.ts'
import { constant, emit, jump, read } from './emit.ts'
import { type Routine, resolve } from './scopes.ts'
import type { Construction, Embedded, Expression, SelectorLiteral } from './syntax.ts'

/** The binding of the default scope of bare selectors (SES-125). */
export const SCOPE = 'from'

/** Leaves the value of an expression on the stack. */
type Generate = (fn: Routine, node: Expression) => Steps<void>

export function* sources(fn: Routine, expression: Generate, from: readonly Expression[]): Steps<void> {
  for (const source of from) {
    if (source.kind === 'name' && source.name === 'prior' && !resolve(fn, 'prior'))
      emit(fn, OP.NAME, constant(fn, PRIOR))
    else yield* expression(fn, source)
  }
  emit(fn, OP.SOURCES, from.length)
}

export function* selection(
  fn: Routine,
  expression: Generate,
  literal: SelectorLiteral,
  from: readonly Expression[] | undefined,
): Steps<void> {
  if (from) yield* sources(fn, expression, from)
  else {
    const binding = resolve(fn, SCOPE)
    if (!binding) {
      emit(fn, OP.SELECT, constant(fn, yield* template(fn, expression, literal, 'default')))
      return
    }
    read(fn, binding)
  }
  emit(fn, OP.SELECT, constant(fn, yield* template(fn, expression, literal, 'sources')))
}

/** Emits the embedded values of a selector. */
export function* template(
  fn: Routine,
  expression: Generate,
  { parts }: SelectorLiteral,
  scope: SelectorTemplate['scope'],
): Steps<SelectorTemplate> {
  const texts = ['']
  const append = (piece: string) => texts.push((texts.pop() ?? '') + piece)
  for (const part of parts) {
    if (typeof part === 'string') append(part)
    else if (!part.expression) append(CSS_TEXT.literal(part.text))
    else {
      yield* embedded(fn, expression, part, part.expression)
      texts.push('')
    }
  }
  return { texts, scope }
}

/** SES-123: leaves the value, or a text where names do not resolve. */
function* embedded(
  fn: Routine,
  expression: Generate,
  { text: written, names }: Embedded,
  value: Expression,
): Steps<void> {
  const unknown = names.filter(each => !resolve(fn, each))
  if (unknown.length === 0) {
    yield* expression(fn, value)
    return
  }
  emit(fn, OP.RESOLVES, constant(fn, unknown))
  const literal = jump(fn, OP.JUMP_FALSY)
  yield* expression(fn, value)
  const end = jump(fn, OP.JUMP)
  literal()
  emit(fn, OP.CONSTANT, constant(fn, written))
  end()
}

export function* construction(
  fn: Routine,
  expression: Generate,
  { prefix, name: tag, modifiers, items }: Construction,
): Steps<void> {
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
      yield* embedded(fn, expression, value, value.expression)
      planned.push({ kind: 'attribute', name: attribute, value: 'computed' })
    }
  }
  for (const { value } of items ?? []) yield* expression(fn, value)
  const plan: ConstructionPlan = { prefix, name: tag, modifiers: planned, items: items?.map(({ key }) => key) }
  emit(fn, OP.CONSTRUCT, constant(fn, plan))
}
