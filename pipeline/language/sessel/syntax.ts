/** The syntax tree of a program (SES-20). Chains of one level are flat, so that long programs are not deep ones. */

import type { Position } from './failure.ts'

export interface Program {
  declarations: Declaration[]
  body: Block
}

export interface Declaration {
  kind: 'schema' | 'namespace'
  name: string
  url: string
}

export interface Block {
  statements: Statement[]
}

export type Statement =
  | { kind: 'define'; pattern: Pattern; value: Expression }
  | { kind: 'assign'; target: string; steps: Step[]; value: Expression }
  | Expression

/** One step of an assignment's target. */
export type Step = { kind: 'member'; name: string } | { kind: 'index'; key: Expression }

export type Pattern =
  | { kind: 'name'; name: string }
  | { kind: 'fields'; fields: { key: string; name: string }[] }
  | { kind: 'items'; names: string[]; rest: string | undefined }

export type Operator = '+' | '-' | '*' | '/' | '==' | '!=' | '<' | '>' | '<=' | '>=' | '<=>' | '&&' | '||' | '??'

export type Infix = { operator: Operator; right: Expression } | { operator: 'isa'; type: string[] }

/** Strengths of binding, loosest first (SES-21). */
export const LEVELS: Readonly<Record<Infix['operator'], number>> = {
  '??': 0,
  '||': 1,
  '&&': 2,
  '==': 3,
  '!=': 3,
  '<': 3,
  '>': 3,
  '<=': 3,
  '>=': 3,
  '<=>': 3,
  isa: 3,
  '+': 4,
  '-': 4,
  '*': 5,
  '/': 5,
}

export type Expression =
  | { kind: 'literal'; value: null | boolean | bigint | number | string }
  | { kind: 'template'; parts: (string | Expression)[] }
  | { kind: 'name'; name: string }
  | { kind: 'list'; items: Expression[] }
  | { kind: 'dictionary'; entries: { key: string | Expression; value: Expression }[] }
  | { kind: 'unary'; operator: '!' | '-'; operand: Expression }
  | { kind: 'operations'; first: Expression; rest: Infix[] }
  | { kind: 'choice'; test: Expression; yes: Expression; no: Expression }
  | {
      kind: 'lambda'
      parameters: string[]
      rest: string | undefined
      body: Expression | { kind: 'block'; block: Block }
    }
  | { kind: 'let'; pattern: Pattern; value: Expression; body: Expression }
  | { kind: 'return'; value: Expression | undefined }
  | { kind: 'throw'; value: Expression }
  | { kind: 'if'; branches: { test: Expression; block: Block }[]; otherwise: Block | undefined }
  | { kind: 'try'; block: Block; name: string; handler: Block }
  | { kind: 'call'; name: string; parameters: Expression[] }
  | { kind: 'chain'; base: Expression; links: Link[] }
  | { kind: 'selector'; literal: SelectorLiteral; from: Expression[] | undefined }
  | { kind: 'from'; sources: Expression[]; block: Block }
  | Construction

export type Link =
  | { kind: 'member'; name: string; optional: boolean }
  | { kind: 'method'; name: string; parameters: Expression[]; optional: boolean }
  | { kind: 'index'; key: Expression; optional: boolean }
  | { kind: 'select'; literal: SelectorLiteral }

/** Text of a selector with expressions in it (SES-122). */
export interface SelectorLiteral {
  parts: (string | Embedded)[]
}

/** What stands unquoted where a value can be embedded. */
export interface Embedded {
  /** As written. */
  text: string
  /** Undefined where the text is literal CSS whatever the names mean (SES-123). */
  expression: Expression | undefined
  /** A text that reads as one identifier is an expression only where all of these names resolve. */
  names: string[]
}

export interface Construction {
  kind: 'construct'
  prefix: string | undefined
  name: string
  modifiers: Modifier[]
  /** Undefined where no braces stand. */
  items: Item[] | undefined
}

export type Modifier =
  | { kind: 'class' | 'id'; name: string }
  | { kind: 'attribute'; prefix: string | undefined; name: string; value: Embedded | undefined }

/** Part of the content of a construction; `key` is what stands before a colon. */
export interface Item {
  key: string | undefined
  value: Expression
}

export const RESERVED: ReadonlySet<string> = new Set(
  'let if else try catch return throw new from true false null isa'.split(' '),
)

/** @param offset in UTF-16 code units */
export function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset)
  const start = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: [...before.slice(start)].length + 1 }
}
