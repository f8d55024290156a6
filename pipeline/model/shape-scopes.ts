/** What shapes select in a document: their scope elements, and where one closed shape ends at another. */

import { type ElementNode, rootElement, type TreeDocument } from '../tree/nodes.ts'
import { matcherIn } from '../tree/selector/selector.ts'
import type { Steps } from '../tree/steps.ts'
import { tokensIn } from '../tree/tokens.ts'
import type { Branch, Shape } from './shape.ts'

/** Questions whether a selector matches an element that are answered in one step. */
export const QUESTIONS_PER_STEP = 2_000
/** The same where elements are asked about by one selector or few. */
export const ELEMENTS_PER_STEP = 100

/** An element that a shape selects, with the selectors that do. */
export interface Scope {
  element: ElementNode
  text: string
  selectors: readonly Branch[]
}

export type Matches = (branch: Branch, element: ElementNode) => boolean

/** Questions that share one bounded cost: a large document has more to answer than a small one. */
const QUESTIONS = 50_000

/** Asks branches about elements; each branch has its own bounded cost. */
export function matchesIn(document: TreeDocument, scope?: ElementNode): Matches {
  const matchers = new Map<Branch, { matches: (element: ElementNode) => boolean; left: number }>()
  return (branch, element) => {
    let matcher = matchers.get(branch)
    if (!matcher || matcher.left-- === 0) {
      matcher = { matches: matcherIn(branch.selector, document, scope), left: QUESTIONS }
      matchers.set(branch, matcher)
    }
    return matcher.matches(element)
  }
}

/** Elements by what they say, in document order. */
type Index = ReadonlyMap<string, readonly ElementNode[]>

/** Selectors of shapes beyond which it pays to know which elements say what they ask for. */
const MANY = 16

/** @returns undefined where the shapes have so few selectors that each may look at all elements */
export function* indexing(shapes: readonly Shape[], elements: readonly ElementNode[]): Steps<Index | undefined> {
  let asking = 0
  // Others than those that are asked for would take far more than the document.
  const index = new Map<string, ElementNode[]>()
  for (const { scopes } of shapes)
    for (const { branches } of scopes) {
      asking += branches.length
      for (const { token } of branches) if (token !== undefined) index.set(token, [])
    }
  if (asking <= MANY) return undefined
  let seen = 0
  for (const element of elements) {
    for (const token of tokensIn(element)) {
      if (++seen % QUESTIONS_PER_STEP === 0) yield
      const known = index.get(token)
      if (known && known.at(-1) !== element) known.push(element)
    }
  }
  return index
}

/**
 * What a shape selects, outermost first.
 *
 * @param index of the elements, if it is known
 * @throws SelectorError where a selector is too costly
 */
export function* findingScopes(
  shape: Shape,
  elements: readonly ElementNode[],
  document: TreeDocument,
  index: Index | undefined,
): Steps<Scope[]> {
  if (shape.scopes.length === 0) {
    const root = rootElement(document)
    return root && elements.includes(root) ? [{ element: root, text: ':root', selectors: [] }] : []
  }
  const matches = matchesIn(document)
  const scopes: Scope[] = []
  const some = index && mayBeScopes(shape, index)
  let asked = 0
  for (const [i, element] of (some ?? elements).entries()) {
    if (i % ELEMENTS_PER_STEP === 0) yield
    let text: string | undefined
    const selectors: Branch[] = []
    for (const scope of shape.scopes) {
      for (const branch of scope.branches) {
        if (++asked % QUESTIONS_PER_STEP === 0) yield
        if (!matches(branch, element)) continue
        text ??= scope.text
        selectors.push(branch)
      }
    }
    if (text !== undefined) scopes.push({ element, text, selectors })
  }
  return scopes
}

/** The elements that a shape may select, where one list of the index has all of them. */
function mayBeScopes({ scopes }: Shape, index: Index): readonly ElementNode[] | undefined {
  let some: readonly ElementNode[] = []
  for (const { branches } of scopes) {
    for (const { token } of branches) {
      const having = token === undefined ? undefined : (index.get(token) ?? [])
      if (!having || (some.length > 0 && having.length > 0 && some !== having)) return undefined
      if (having.length > 0) some = having
    }
  }
  return some
}

/** Whether what is below an element is judged by another closed shape (MOD-97): known, or told in steps. */
export type IsBoundary = (element: ElementNode) => boolean | Steps<boolean>

/** For each closed shape the scope elements of the others: below those, the others judge (MOD-97). */
export function* boundariesOf(shapes: readonly Shape[], document: TreeDocument): Steps<(shape: Shape) => IsBoundary> {
  const closed = shapes.filter(shape => shape.closed && shape.scopes.length > 0)
  const matches = matchesIn(document)
  /** Their selectors, by what an element has to say. */
  const asking = new Map<string | undefined, { shape: Shape; branch: Branch }[]>()
  let asked = 0
  for (const shape of closed) {
    for (const branch of shape.scopes.flatMap(({ branches }) => branches)) {
      if (++asked % QUESTIONS_PER_STEP === 0) yield
      const known = asking.get(branch.token)
      if (known) known.push({ shape, branch })
      else asking.set(branch.token, [{ shape, branch }])
    }
  }
  /** Of each element two at most: one of them is another than the shape that asks. */
  const known = new Map<ElementNode, readonly Shape[]>()
  const telling = function* (element: ElementNode, shape: Shape): Steps<boolean> {
    const found = new Set<Shape>()
    for (const token of [undefined, ...tokensIn(element)]) {
      for (const each of asking.get(token) ?? []) {
        if (++asked % QUESTIONS_PER_STEP === 0) yield
        if (found.size < 2 && matches(each.branch, element)) found.add(each.shape)
      }
    }
    known.set(element, [...found])
    return [...found].some(other => other !== shape)
  }
  return shape => {
    if (!closed.some(other => other !== shape)) return () => false
    return element => known.get(element)?.some(other => other !== shape) ?? telling(element, shape)
  }
}
