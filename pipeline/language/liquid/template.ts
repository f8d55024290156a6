/** A template that is ready to render. */

import type { Expression, Filtered } from './expression.ts'
import type { Place, Way } from './place.ts'

export interface Template {
  nodes: readonly Node[]
  /** Where in markup it begins. */
  start: Place
  /** Of its expressions, and one for each tag, output and piece of text: what it takes in memory goes by them. */
  words: number
}

/** A condition, collection or other value of a tag, with the line it stands on. */
export interface Located<T> {
  value: T
  line: number
}

export interface Loop {
  variable: string
  collection: Located<Expression>
  /** Where `offset: continue` remembers how far a loop went: the same variable over the same collection. */
  register: string
  limit?: Located<Expression>
  offset?: Located<Expression> | 'continue'
  reversed: boolean
  columns?: Located<Expression>
  body: readonly Node[]
  otherwise: readonly Node[]
}

export interface Branch {
  /** Undefined for `else`. */
  test?: Located<Filtered>
  /** `unless`. */
  negated: boolean
  body: Node[]
}

export interface When {
  /** Undefined for `else`. */
  values?: Located<Expression>[]
  body: Node[]
}

export interface TextNode {
  kind: 'text'
  text: string
  /** From where it led where to, the last time. */
  way?: Way
}

export type Node =
  | TextNode
  | { kind: 'output'; value: Filtered }
  | { kind: 'if'; branches: Branch[] }
  | { kind: 'case'; subject: Located<Filtered>; whens: When[] }
  | { kind: 'for'; loop: Loop }
  | { kind: 'tablerow'; loop: Loop }
  | { kind: 'cycle'; group: string; name: Expression | undefined; values: readonly Filtered[] }
  | { kind: 'assign'; name: string; value: Located<Filtered> }
  | { kind: 'capture'; name: string; body: readonly Node[] }
  | { kind: 'count'; name: string; by: 1n | -1n }
  | { kind: 'break' }
  | { kind: 'continue' }
