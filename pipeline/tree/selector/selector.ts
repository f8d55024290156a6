/** Selectors on parsed documents: compile once, then find the first or all elements that match, or ask about one. */

import { Compiled } from '../../compiled.ts'
import { ownText } from '../../own-text.ts'
import { findingById } from '../ids.ts'
import { type ChildNode, type ElementNode, isElement, NAMELESS, type ParentNode, type TreeDocument } from '../nodes.ts'
import { revisionOf } from '../revisions.ts'
import { atOnce, NODES_PER_STEP, type Steps } from '../steps.ts'
import { additions } from './additions.ts'
import type { Mode, Test } from './attribute.ts'
import { fromScope, listTest } from './compile.ts'
import { computedList, said } from './computed.ts'
import { SelectorError } from './error.ts'
import type { Extensions } from './extension.ts'
import { type FunctionCall, functionCalls } from './functions.ts'
import { parseRelativeList, parseSelectorList } from './parse.ts'
import { preparing, Query } from './query.ts'
import type { ComplexSelector } from './syntax.ts'

export { additions, type IsA } from './additions.ts'
export { SelectorError, type SelectorFault } from './error.ts'
export type { Extension, ExtensionContext, Extensions, ExtensionTest } from './extension.ts'
export { cssString, type FunctionCall, functionCalls, replaced, resultOf } from './functions.ts'
export type { ComplexSelector, Compound, Simple } from './syntax.ts'
export { tokenize } from './token.ts'

export interface SelectorOptions {
  /** Functional pseudo-classes beyond those of CSS; those of COMP-135 to COMP-138 when missing. */
  extensions?: Extensions
  /** The selectors may start with a combinator and are relative to the scope: `> li` stands for `:scope > li`. */
  relative?: boolean
  /** URLs of namespaces by prefix. */
  namespaces?: ReadonlyMap<string, string>
}

/** A selector list that can be asked. It belongs to no document. */
export interface Selector {
  readonly text: string
  /** The parsed list, for those who look into selectors rather than at elements. */
  readonly list: readonly ComplexSelector[]
  /** Compiled tests, one for each way of comparing names. */
  readonly tests: Map<string, Test>
  /** Functions in the text (COMP-139). They look into the document that is asked; whoever has a wider view replaces them. */
  readonly calls?: readonly FunctionCall[]
}

/** Without a site there are no schemas: `:isa()` matches nothing. */
const USUAL: Extensions = additions()

/**
 * Compiles a selector list (Selectors Level 4, with the standard's rules of forgiveness, and COMP-134 to COMP-139). A
 * namespace prefix that is not declared is invalid; in XML `a` matches the local name in any namespace, as `*|a` does.
 *
 * @param text the selector list, at most LIMITS.length characters
 * @returns the selector
 * @throws SelectorError when it does not parse or is too large
 */
export function compileSelector(text: string, options: SelectorOptions = {}): Selector {
  const extensions = options.extensions ?? USUAL
  const read = (plain: string) =>
    options.relative
      ? parseRelativeList(plain, extensions, options.namespaces).map(fromScope)
      : parseSelectorList(plain, extensions, options.namespaces)
  const calls = functionCalls(text)
  if (calls.length === 0) return { text, list: read(text), tests: new Map() }
  const lists = calls.map(({ selector }) => parseSelectorList(selector, extensions, options.namespaces))
  return { text, list: computedList(text, calls, lists, read), tests: new Map(), calls }
}

/**
 * Compiled selectors of all sets of extensions together. Keys are the number of the set
 * and the text: sites have sets of their own, and many sites must not take more memory than one.
 */
const selectors = new Compiled<Selector>()

const numbers = new WeakMap<Extensions, number>()
let sets = 0

function numberOf(extensions: Extensions): number {
  const known = numbers.get(extensions)
  if (known !== undefined) return known
  numbers.set(extensions, ++sets)
  return sets
}

/**
 * The same, from a bounded cache: for selectors that come again and again.
 *
 * @throws SelectorError as compileSelector does
 */
export function selectorFor(text: string, extensions: Extensions = USUAL, relative = false): Selector {
  const key = `${numberOf(extensions)}${relative ? '>' : ' '}${text}`
  return (
    selectors.use(key) ??
    selectors.keep(ownText(key), compileSelector(ownText(text), { extensions, relative }), 200 + 140 * key.length)
  )
}

/** A selector from the same cache, or undefined where the text does not parse. */
export function parseSelector(text: string, extensions: Extensions | undefined): Selector | undefined {
  try {
    return selectorFor(text, extensions)
  } catch (error) {
    if (error instanceof SelectorError) return undefined
    throw error
  }
}

/**
 * The first element below `within` in document order that matches.
 *
 * @param within where to look, the whole document when missing; an element given here is `:scope` and is not looked at
 *   itself. The selector sees the whole tree: its ancestors may lie outside.
 * @returns the element, or undefined
 * @throws SelectorError (`cost`) when the search would take too long
 */
export function selectFirst(
  selector: Selector,
  document: TreeDocument,
  within: ParentNode = document.root,
): ElementNode | undefined {
  return atOnce(selectingFirst(selector, document, within))
}

/** `selectFirst` in steps. */
export function* selectingFirst(
  selector: Selector,
  document: TreeDocument,
  within: ParentNode = document.root,
): Steps<ElementNode | undefined> {
  let found: ElementNode | undefined
  yield* searching(selector, document, within, element => {
    found = element
    return true
  })
  return found
}

/**
 * The only element that matches, where that is known without a search: of selectors like `#list`, in documents whose
 * elements are edited in place.
 *
 * @param document changed by edits alone
 * @returns in steps; undefined says nothing
 */
export function* findingOnly(selector: Selector, document: TreeDocument): Steps<ElementNode | undefined> {
  const id = onlyId(selector, document)
  const revision = id === undefined ? undefined : revisionOf(document)
  // Whoever has written to an element of a document writes to others.
  if (id === undefined || !revision) return undefined
  return yield* findingById(document, revision, id)
}

/** The id that a selector asks for and nothing else, where ids count as they are written. */
function onlyId({ list, calls }: Selector, { root }: TreeDocument): string | undefined {
  const [first, ...others] = list
  const [compound, ...further] = first?.compounds ?? []
  const [simple, ...more] = compound?.simples ?? []
  const isAlone = others.length + further.length + more.length === 0 && !compound?.pseudoElement
  return isAlone && simple?.kind === 'id' && !calls && root.mode !== 'quirks' ? simple.name : undefined
}

/**
 * The first element of a document that matches, and how many do. Elements without a name are not counted (SEC-6).
 *
 * @returns in steps; `count` is missing where to look on after the first would take too long
 * @throws SelectorError (`cost`) as selectingFirst does
 */
export function* selectingCounted(
  selector: Selector,
  document: TreeDocument,
): Steps<{ first?: ElementNode; count?: number }> {
  let first: ElementNode | undefined
  let count = 0
  try {
    yield* searching(selector, document, document.root, element => {
      first ??= element
      if (element.tagName !== NAMELESS) count++
      return false
    })
  } catch (error) {
    if (first && error instanceof SelectorError) return { first }
    throw error
  }
  return first ? { first, count } : {}
}

/** All elements below `within` that match, in document order. Arguments and errors as for selectFirst. */
export function selectAll(
  selector: Selector,
  document: TreeDocument,
  within: ParentNode = document.root,
): ElementNode[] {
  return atOnce(selectingAll(selector, document, within))
}

/**
 * `selectAll` in steps.
 *
 * @param spent told now and then, and at the end, of the elements that were visited since and the elementary steps of their
 *   tests; may throw
 */
export function* selectingAll(
  selector: Selector,
  document: TreeDocument,
  within: ParentNode = document.root,
  spent?: (visited: number, steps: number) => void,
): Steps<ElementNode[]> {
  const found: ElementNode[] = []
  const visit = (element: ElementNode) => {
    found.push(element)
    return false
  }
  yield* searching(selector, document, within, visit, spent)
  return found
}

/**
 * Whether an element is among those that the selector selects in its document (KEY-1).
 *
 * @param scope what `:scope` stands for; the document element when missing
 * @throws SelectorError (`cost`) when the answer would take too long
 */
export function matches(
  selector: Selector,
  element: ElementNode,
  document: TreeDocument,
  scope?: ElementNode,
): boolean {
  return testFor(selector, document)(element, new Query(document, scope))
}

/**
 * The same question for many elements of one document, which share one bounded cost. Elements in contents of templates
 * may be asked about, too. To be used before the document changes.
 *
 * @param scope what `:scope` stands for; the document element when missing
 * @param spent told of the steps that each answer has taken, whatever it was; may throw SelectorError, too
 * @returns whether an element matches; throws SelectorError (`cost`) when the answers together take too long
 */
export function matcherIn(
  selector: Selector,
  document: TreeDocument,
  scope?: ElementNode,
  spent: (steps: number) => void = () => undefined,
): (element: ElementNode) => boolean {
  const test = testFor(selector, document)
  const query = new Query(document, scope)
  return element => {
    const before = query.steps
    try {
      return test(element, query)
    } finally {
      spent(query.steps - before)
    }
  }
}

/**
 * The same in steps, also within one answer.
 *
 * @param spent told of the steps that each answer has taken, whatever it was; may throw SelectorError, too
 */
export function askingIn(
  selector: Selector,
  document: TreeDocument,
  scope?: ElementNode,
  spent: (steps: number) => void = () => undefined,
): (element: ElementNode) => Steps<boolean> {
  const test = testFor(selector, document)
  const query = new Query(document, scope)
  query.isInSteps = true
  return function* (element) {
    const before = query.steps
    try {
      for (;;) {
        try {
          const isMatch = test(element, query)
          if (query.isLong()) yield
          return isMatch
        } catch (error) {
          yield* preparing(error)
          query.goesOn()
        }
      }
    } finally {
      spent(query.steps - before)
    }
  }
}

/** What an element says to a function other than `count` (COMP-139). */
export function saidBy(call: FunctionCall, element: ElementNode, document: TreeDocument): string {
  return said(call, element, new Query(document, undefined))
}

/** Elementary steps that a complete search takes; a measure of cost that does not depend on the machine. */
export function stepsOf(selector: Selector, document: TreeDocument): number {
  return atOnce(searching(selector, document, document.root, () => false)).steps
}

/** Shows the elements that match, in document order, until `visit` returns true. */
function* searching(
  selector: Selector,
  document: TreeDocument,
  within: ParentNode,
  visit: (element: ElementNode) => boolean,
  spent?: (visited: number, steps: number) => void,
): Steps<Query> {
  const query = new Query(document, isElement(within) ? within : undefined)
  query.isInSteps = true
  const test = testFor(selector, document)
  const around: (readonly ChildNode[])[] = []
  const places: number[] = []
  let nodes: readonly ChildNode[] = within.childNodes
  let next = 0
  let seen = 0
  let told = 0
  let before = 0
  const tell = () => {
    spent?.(seen - told, query.steps - before)
    told = seen
    before = query.steps
  }
  for (;;) {
    const node = nodes[next++]
    if (!node) {
      const outer = around.pop()
      if (!outer) {
        tell()
        return query
      }
      nodes = outer
      next = places.pop() ?? 0
    } else if (isElement(node)) {
      let isMatch: boolean
      try {
        isMatch = test(node, query)
      } catch (error) {
        tell()
        yield* preparing(error)
        query.goesOn()
        next--
        continue
      }
      if (isMatch && visit(node)) return query
      if (++seen % NODES_PER_STEP === 0 || query.isLong()) {
        tell()
        yield
      }
      const { childNodes } = node
      const first = childNodes[0]
      // Most elements hold one text or nothing.
      if (!first || (childNodes.length === 1 && !isElement(first))) continue
      around.push(nodes)
      places.push(next)
      nodes = childNodes
      next = 0
    }
  }
}

function testFor(selector: Selector, { kind, root }: TreeDocument): Test {
  const mode: Mode = { html: kind === 'html', quirks: kind === 'html' && root.mode === 'quirks' }
  const key = mode.quirks ? 'quirks' : kind
  let test = selector.tests.get(key)
  if (!test) selector.tests.set(key, (test = listTest([...selector.list], { mode, slots: 0 })))
  return test
}
