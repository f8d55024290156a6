/** The parsed form of selectors, in the terms of Selectors Level 4. */
import type { ExtensionTest } from './extension.ts'
import type { FunctionCall } from './functions.ts'

/** `' '` descendant, `'>'` child, `'+'` next sibling, `'~'` subsequent sibling. */
export type Combinator = ' ' | '>' | '+' | '~'

/** Compounds from left to right; `combinators[i]` stands between compounds `i` and `i + 1`. */
export interface ComplexSelector {
  compounds: Compound[]
  combinators: Combinator[]
}

/** An argument of `:has()` or `:only()`: `leading` relates the anchor to the first compound. */
export interface RelativeSelector extends ComplexSelector {
  leading: Combinator
}

/** Simple selectors that one element has to meet all. An empty list is met by every element (`*`). */
export interface Compound {
  simples: Simple[]
  /** Name of the pseudo-element that stands here: valid, but no element is one. */
  pseudoElement?: string
}

/** `any`: `*|x` or no prefix; `none`: `|x`; a URL: that of a declared prefix. */
export type NamespaceTest = 'any' | 'none' | { url: string }

export type Simple =
  | { kind: 'type'; namespace: NamespaceTest; name: string }
  | { kind: 'no-namespace' }
  /** `p|*` */
  | { kind: 'namespace'; url: string }
  | { kind: 'id'; name: string }
  | { kind: 'class'; name: string }
  | AttributeSelector
  | { kind: 'state'; name: string }
  | { kind: 'nth'; nth: Nth; last: boolean; ofType: boolean; of?: ComplexSelector[] }
  | { kind: 'is'; selectors: ComplexSelector[] }
  | { kind: 'not'; selectors: ComplexSelector[] }
  | { kind: 'has'; selectors: RelativeSelector[] }
  /** COMP-137. */
  | { kind: 'only'; selectors: RelativeSelector[] }
  | { kind: 'lang'; ranges: string[] }
  | { kind: 'dir'; direction: string }
  | { kind: 'heading'; levels: number[] }
  /** `argument` is the text between the parentheses. */
  | { kind: 'extension'; name: string; argument: string; test: ExtensionTest }
  /** One of the selectors of a list with functions (COMP-139): `branch` is its place. */
  | { kind: 'computed'; source: ComputedList; branch: number; key: symbol }
  /** Dynamic states and the like: valid, but never true of a stored document. */
  | { kind: 'never' }

/** A selector list that can be read once the results of its functions are known. */
export interface ComputedList {
  /** Stands for the results in a query. */
  key: symbol
  text: string
  calls: readonly FunctionCall[]
  /** What each function looks for. */
  lists: readonly ComplexSelector[][]
  read(plain: string): ComplexSelector[]
}

export interface AttributeSelector {
  kind: 'attribute'
  namespace: NamespaceTest
  name: string
  /** Missing: the attribute only has to be there. */
  operator?: '=' | '~=' | '|=' | '^=' | '$=' | '*='
  value: string
  /** `i`: ASCII case-insensitive, `s`: exact, missing: as the attribute has it in HTML. */
  flag?: 'i' | 's'
}

/** The `An+B` notation: the index is `a·n + b` for some n ≥ 0. */
export interface Nth {
  a: number
  b: number
}
