/** Selector literals and where they look (SES-120 to SES-128). */

import { isElement, type ParentNode, rootElement, type TreeDocument } from '../../tree/nodes.ts'
import { neededTokens } from '../../tree/selector/needs.ts'
import { LIMITS } from '../../tree/selector/parse.ts'
import { compileSelector, matcherIn, type Selector, SelectorError, selectorFor } from '../../tree/selector/selector.ts'
import { ElementValue, isList, type Source, type Value } from '../values.ts'
import type { SelectorTemplate } from './code.ts'
import { MAX_DEPTH, tooDeep, typeOf } from './comparison.ts'
import { CSS_TEXT } from './css-text.ts'
import { type Evaluation, type Given, Pending, runtimeError, settled, typeError, type Work } from './evaluation.ts'
import type { Candidate } from './host.ts'
import { FixedElement, isMutable } from './kinds.ts'
import { checkSource, resolvePath } from './paths.ts'
import { withoutFunctions } from './selector-functions.ts'
import { textForm } from './text-form.ts'

/** Elements of one result (SES-213). */
const MAX_RESULT = 100_000

/** Elements that are looked at without a pause. */
const WITHOUT_PAUSE = 500

/** Documents that are looked into without a pause. */
const DOCUMENTS_WITHOUT_PAUSE = 50

/** What becomes of the text of a selector with its values in place. Each value may be a long List. */
function withText(
  { texts }: SelectorTemplate,
  values: readonly Value[],
  on: Evaluation,
  use: (text: string) => Given,
): Given {
  let text = texts[0] ?? ''
  const writing = function* (): Work<void> {
    for (const [at, value] of values.entries()) {
      // What is too long for a selector is not gone through.
      const own = textForm(value, on.spend).slice(0, LIMITS.length + 1)
      text += CSS_TEXT.string(own) + (texts[at + 1] ?? '')
      if (on.isDue) yield undefined
    }
  }
  const work = writing()
  if (work.next(null).done) return use(text)
  const waiting = function* (): Work {
    yield* work
    const given = use(text)
    return given instanceof Pending ? yield* given.work : given
  }
  return new Pending(waiting())
}

/** @throws SesselError for what is no selector (SES-121) */
function compiled(text: string, on: Evaluation, isRelative: boolean): Selector {
  const { selectors: extensions } = on.host
  const { namespaces } = on.context.program
  try {
    if (namespaces.size > 0) return compileSelector(text, { extensions, relative: isRelative, namespaces })
    return selectorFor(text, extensions, isRelative)
  } catch (error) {
    throw asSesselError(error, text)
  }
}

function asSesselError(error: unknown, text: string): unknown {
  if (!(error instanceof SelectorError)) return error
  if (error.fault === 'cost')
    return runtimeError(`runtime error: the selector “${text.slice(0, 80)}” takes too long here`, 'limit')
  return typeError(
    `“${text.slice(0, 80)}” is not a selector: ${error.message}`,
    error.fault === 'size' ? 'limit' : undefined,
  )
}

/** `${…}` (SES-120). */
export function select(
  template: SelectorTemplate,
  values: readonly Value[],
  sources: Value | undefined,
  on: Evaluation,
): Given {
  return withText(template, values, on, text => searchFor(text, sources, on))
}

/** @param sources what `from` names; the default scope when undefined */
export function searchFor(text: string, sources: Value | undefined, on: Evaluation): Given {
  const selector = compiled(text, on, false)
  return new Pending(selector.calls ? searchingWithFunctions(text, sources, on) : searching(selector, sources, on))
}

function* searchingWithFunctions(text: string, sources: Value | undefined, on: Evaluation): Work {
  const find = (selector: string) => searching(compiled(selector, on, false), undefined, on)
  let plain: string
  try {
    plain = yield* withoutFunctions(text, find, on)
  } catch (error) {
    throw asSesselError(error, text)
  }
  return yield* searching(compiled(plain, on, false), sources, on)
}

function* searching(selector: Selector, sources: Value | undefined, on: Evaluation): Work {
  const found = new Results(on)
  if (sources === undefined) {
    const candidates = yield* settled(on.context.reach.everywhere(neededTokens(selector)))
    yield* inCandidates(selector, candidates, found, on)
  } else yield* inSource(selector, sources, found, on)
  return found.elements
}

/** A union in the order found (SES-125). */
class Results {
  readonly elements: ElementValue[] = []
  readonly #on: Evaluation
  #nodes: Set<unknown> | undefined

  constructor(on: Evaluation) {
    this.#on = on
  }

  /** From here on elements may come again. */
  another(): void {
    if (this.elements.length > 0 || this.#nodes) this.#nodes ??= new Set(this.elements.map(({ node }) => node))
  }

  add(element: ElementValue): void {
    if (this.#nodes) {
      if (this.#nodes.has(element.node)) return
      this.#nodes.add(element.node)
    }
    if (this.elements.length >= MAX_RESULT) this.#on.take(Number.POSITIVE_INFINITY)
    this.#on.take(48)
    this.elements.push(element)
  }
}

function* inCandidates(
  selector: Selector,
  candidates: readonly Candidate[],
  found: Results,
  on: Evaluation,
): Work<void> {
  for (const [i, candidate] of candidates.entries()) {
    on.spend(1)
    if (i % DOCUMENTS_WITHOUT_PAUSE === DOCUMENTS_WITHOUT_PAUSE - 1) yield undefined
    const source = typeof candidate === 'string' ? yield* settled(on.context.reach.document(candidate)) : candidate
    if (source) yield* inDocument(selector, source, found, on)
  }
}

function* inDocument(selector: Selector, source: Source, found: Results, on: Evaluation): Work<void> {
  yield* inTree(selector, source.document, source.document.root, source, found, on)
}

function* inSource(selector: Selector, source: Value, found: Results, on: Evaluation, depth = 0): Work<void> {
  // Lists may hold one list many times, and much that is no document.
  on.spend(1)
  if (on.isDue) yield undefined
  if (source === null) return
  found.another()
  if (typeof source === 'string') {
    checkSource(source, on.spend)
    const { reach } = on.context
    const base = on.host.base ?? '/'
    if (/[*?[{]/.test(source)) {
      const glob = source.startsWith('/') ? source : resolvePath(base, source)
      yield* inCandidates(selector, yield* settled(reach.matching(glob, neededTokens(selector))), found, on)
    } else yield* inCandidates(selector, [resolvePath(base, source)], found, on)
  } else if (source instanceof ElementValue) yield* belowOrAll(selector, source, found, on)
  else if (isList(source)) {
    if (depth === MAX_DEPTH) throw tooDeep()
    for (const each of source) yield* inSource(selector, each, found, on, depth + 1)
  } else throw typeError(`nothing can be selected from a ${typeOf(source)}`)
}

/** The whole document of its root, the descendants of another element. */
function* belowOrAll(selector: Selector, element: ElementValue, found: Results, on: Evaluation): Work<void> {
  const { node, source } = element
  if (source && rootElement(source.document) === node) yield* inDocument(selector, source, found, on)
  else yield* inTree(selector, documentOf(element), node, source, found, on)
}

/** The document of an element; of a constructed one, its tree taken for a document. */
export function documentOf({ node, source }: ElementValue): TreeDocument {
  if (source) return source.document
  let top: ParentNode = node
  while (isElement(top) && top.parentNode) top = top.parentNode
  if (!isElement(top))
    return { kind: 'html', source: '', root: { nodeName: '#document', childNodes: top.childNodes }, clean: false }
  return { kind: 'html', source: '', root: { nodeName: '#document', childNodes: [top] }, clean: false }
}

/** Elements below a node that match, in document order. */
function* inTree(
  selector: Selector,
  document: TreeDocument,
  within: ParentNode,
  source: Source | undefined,
  found: Results,
  on: Evaluation,
): Work<void> {
  const scope = isElement(within) ? within : undefined
  const matches = matcherIn(selector, document, scope, steps => on.spend(steps >> 2))
  let seen = 0
  const open: { nodes: ParentNode['childNodes']; next: number }[] = [{ nodes: within.childNodes, next: 0 }]
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const node = level.nodes[level.next++]
    if (!node) {
      open.pop()
      continue
    }
    if (!isElement(node)) continue
    on.spend(1)
    if (++seen % WITHOUT_PAUSE === 0) yield undefined
    if (isMatch(matches, node, selector.text)) {
      found.add(source ? new ElementValue(node, source) : new FixedElement(node))
    }
    if (node.childNodes.length > 0) open.push({ nodes: node.childNodes, next: 0 })
  }
}

function isMatch(matches: ReturnType<typeof matcherIn>, node: Parameters<typeof matches>[0], text: string): boolean {
  try {
    return matches(node)
  } catch (error) {
    throw asSesselError(error, text)
  }
}

/** `recv.${ … }` (SES-128): below an element, or below every element of a list. */
export function subselect(
  template: SelectorTemplate,
  values: readonly Value[],
  receiver: Value,
  on: Evaluation,
): Given {
  if (receiver === null) return null
  return withText(template, values, on, text => {
    const selector = compiled(text, on, true)
    if (receiver instanceof ElementValue) return new Pending(below([receiver], selector, on))
    if (isList(receiver)) return new Pending(below(receiver, selector, on))
    throw typeError(`nothing can be selected below a ${typeOf(receiver)}`)
  })
}

function* below(receivers: readonly Value[], selector: Selector, on: Evaluation): Work {
  // Results are concatenated: an element that two receivers hold comes twice.
  const found = new Results(on)
  for (const receiver of receivers) {
    on.spend(1)
    if (on.isDue) yield undefined
    if (!(receiver instanceof ElementValue)) continue
    const { node, source } = receiver
    yield* inTree(selector, documentOf(receiver), node, source, found, on)
  }
  return found.elements
}

/** The sources of one `from`: a union (SES-125). */
export function sourcesOf(values: Value[]): Value {
  return values.length === 1 ? (values[0] ?? null) : values
}

/** Whether two handles may show the same element as the program knows it. */
export function sameHandle(element: ElementValue, node: ElementValue['node']): ElementValue {
  if (isMutable(element)) return new ElementValue(node)
  return element.source ? new ElementValue(node, element.source) : new FixedElement(node)
}
