/**
 * Programs as the machine runs them: instructions for a stack of values, each a number followed by its operands. They leave
 * the host's own stack alone, so that a program can be left and gone on with at any instruction.
 */

import type { Declaration } from './syntax.ts'

export const OP = {
  /** constant → its value */
  CONSTANT: 0,
  /** slot → the value of the own activation */
  LOCAL: 1,
  /** levels, slot → the value of an activation outside */
  OUTER: 2,
  /** levels or -1, slot, name: a binding that may be made later, else the name outside */
  LATE: 3,
  /** name → what the context, the declarations or the types have by that name */
  NAME: 4,
  /** slot: takes the top */
  STORE: 5,
  POP: 6,
  /** target */
  JUMP: 7,
  /** target: where the top is false; takes it */
  JUMP_FALSY: 8,
  /** target: where the top is null, which stays */
  JUMP_NULL: 9,
  /** target: where the top is not null, which stays; else takes it */
  JUMP_KNOWN: 10,
  /** top → its truth */
  TRUTH: 11,
  NOT: 12,
  NEGATE: 13,
  ADD: 14,
  SUBTRACT: 15,
  MULTIPLY: 16,
  DIVIDE: 17,
  EQUAL: 18,
  UNEQUAL: 19,
  LESS: 20,
  GREATER: 21,
  AT_MOST: 22,
  AT_LEAST: 23,
  ORDER: 24,
  /** whether what lies below is of the type on top */
  ISA: 25,
  /** count → a list of the topmost values */
  LIST: 26,
  /** count → a dictionary of the topmost keys and values */
  DICTIONARY: 27,
  /** count → the text forms put together */
  TEMPLATE: 28,
  /** code constant → a lambda */
  LAMBDA: 29,
  RETURN: 30,
  THROW: 31,
  /** target, slot: failures up to LEAVE go there */
  TRY: 32,
  LEAVE: 33,
  /** name, count: a function by its name */
  CALL: 34,
  /** name, count: a method of what lies below its arguments */
  METHOD: 35,
  /** name */
  MEMBER: 36,
  INDEX: 37,
  /** name: assigns the top to a member of what lies below; takes both */
  SET_MEMBER: 38,
  /** assigns the top to the entry below of what lies below that; takes all */
  SET_INDEX: 39,
  /** name: field of a pattern; what is taken apart stays */
  FIELD: 40,
  /** place: item of a pattern */
  ITEM: 41,
  /** place: rest of a pattern */
  REST: 42,
  /** template constant: takes the embedded values, and the sources where there are any → elements */
  SELECT: 43,
  /** template constant: the same below an element or a list of them */
  SUBSELECT: 44,
  /** count → the sources of `from` as one value */
  SOURCES: 45,
  /** construction constant: takes values of attributes and items */
  CONSTRUCT: 46,
  /** names constant → whether all of them resolve outside of the program */
  RESOLVES: 47,
  /** As NAME and LATE, where the name is called. */
  CALLEE: 48,
  LATE_CALLEE: 49,
  /** target: where the top is a key that the Dictionary below has; takes both → its value */
  JUMP_HELD: 50,
} as const

/** `prior` as a source selects nothing where it is not bound (SES-3); no name has a space. */
export const PRIOR = 'from prior'

/** One function of a program, or its body. */
export interface Code {
  instructions: number[]
  /** What instructions refer to by number. */
  constants: unknown[]
  /** Slots of an activation; the first ones are parameters. */
  slots: number
  parameters: number
  hasRest: boolean
}

/** A selector text with the places of the values that go into it. */
export interface SelectorTemplate {
  /** Between two of them stands one value. */
  texts: readonly string[]
  /** Where it looks: `sources` lie below the values. */
  scope: 'default' | 'sources'
}

/** An element to construct: values lie on the stack in the order of the modifiers and items that have one. */
export interface ConstructionPlan {
  prefix: string | undefined
  name: string
  modifiers: readonly PlannedModifier[]
  /** Keys of the items, undefined for those without; undefined where no braces stand. */
  items: readonly (string | undefined)[] | undefined
}

export type PlannedModifier =
  | { kind: 'class' | 'id'; name: string }
  | { kind: 'attribute'; name: string; value: 'empty' | 'computed' | { text: string } }

/** A program that can be evaluated any number of times, at the same time too. */
export interface Program {
  readonly text: string
  readonly main: Code
  readonly declarations: ReadonlyMap<string, Declaration>
  /** Namespaces by prefix (SES-130). */
  readonly namespaces: ReadonlyMap<string, string>
}
