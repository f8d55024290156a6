/** Judges a proposed document by the shapes that apply to it (MOD-91 to MOD-98). */

import { asciiLower, wordsOf } from '../tree/ascii.ts'
import { findingHidden, findingHiddenIn, isUnreadable } from '../tree/hidden-tags.ts'
import { declaredPrefix } from '../tree/namespaces.ts'
import { type Attribute, type ElementNode, isElement, type TreeDocument } from '../tree/nodes.ts'
import { SelectorError, type Simple } from '../tree/selector/selector.ts'
import type { Steps } from '../tree/steps.ts'
import { elementsAround, touching, type WrittenPlace } from './place.ts'
import type { Branch, Shape, Written } from './shape.ts'
import {
  boundariesOf,
  ELEMENTS_PER_STEP,
  findingScopes,
  type IsBoundary,
  indexing,
  type Matches,
  matchesIn,
  QUESTIONS_PER_STEP,
  type Scope,
} from './shape-scopes.ts'

export interface ShapeFailure {
  /** The scope selector as written; `:root` when there is none. */
  scope: string
  /** The constraint as written, or `permit`. */
  constraint: string
  message: string
  /** It is about an element in a closed shape that a part of a document does not bring: who may not read it is not told what it is (SEC-6). */
  isStanding?: true
}

/** Failures that are looked for; more would be told to nobody. */
const ENOUGH = 10_000

/** The same of all shapes together: documents that many shapes do not permit would be put into words once more for each. */
const ENOUGH_IN_ALL = 50_000

/** Questions that are asked again, about elements that stand in several scopes: a visitor's markup has as many levels as it likes. */
const MOST_AGAIN = 8_000_000

/** Branches of constraints that are asked about scope elements, each with a search below them, in one step. */
const BRANCHES_PER_STEP = 200

type Hidden = ReadonlyMap<ElementNode, readonly ElementNode[]>

/** What one check works on. */
interface Context {
  document: TreeDocument
  except: ElementNode | undefined
  isBoundary: IsBoundary
  /** For selectors that do not speak of the scope element: what is remembered of one is known for all. */
  matches: Matches
  /** By the element that they stand in, tags that are no elements and may be some to browsers; undefined where a part was written. */
  hidden: Hidden | undefined
  /** Scope elements that were checked: what stands in them is asked about again by those around them. */
  checked: Set<ElementNode>
  /** How many of those questions are left. */
  again: number
}

/** @throws SelectorError where there are too many */
function askAgain(context: Context, questions: number): void {
  context.again -= questions
  if (context.again < 0) throw new SelectorError('elements that it selects hold too much in each other', 'cost')
}

/**
 * @param shapes those that apply to the path
 * @param except an element that is left out, with everything inside it
 * @param mostAgain questions that each shape may ask again about what stands in several of its scope elements
 * @returns failures of every checked scope element, in the order of the shapes
 */
export function* checkingShapes(
  shapes: readonly Shape[],
  place: WrittenPlace,
  except?: ElementNode,
  mostAgain = MOST_AGAIN,
): Steps<ShapeFailure[]> {
  if (shapes.length === 0) return []
  const { document } = place
  const touched = yield* touching(place)
  const candidates = [...touched.around, ...touched.content]
  const boundaries = yield* boundariesOf(shapes, document)
  const index = yield* indexing(shapes, candidates)
  const failures: ShapeFailure[] = []
  // What is written to a part of a document holds no such tags, but in `noscript`.
  const isWhole = !place.part && shapes.some(({ closed }) => closed)
  const hidden = isWhole ? yield* findingHidden(document) : undefined
  for (const shape of shapes) {
    try {
      if (failures.length > ENOUGH_IN_ALL) throw new SelectorError('others do not permit too much in it', 'cost')
      const scopes = yield* findingScopes(shape, candidates, document, index)
      const [isBoundary, matches] = [boundaries(shape), matchesIn(document)]
      const checked = new Set<ElementNode>()
      const context = { document, except, isBoundary, matches, hidden, checked, again: mostAgain }
      for (const found of yield* checkingScopes(shape, scopes, context, place.part)) failures.push(found)
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error
      failures.push(uncheckable(shape, error))
    }
  }
  return failures
}

/** What cannot be told within the limits of a query is not permitted: content must not switch a shape off. */
function uncheckable(shape: Shape, error: SelectorError): ShapeFailure {
  const scope = shape.scopes.map(({ text }) => text).join(', ') || ':root'
  const message = `The shape of '${scope}' cannot be checked on this document: ${error.message}`
  return { scope, constraint: shape.closed ? 'permit' : (shape.constraints[0]?.text ?? ''), message }
}

/** Inner scopes first: what was found out about them is not found out again for those around them. */
function* checkingScopes(
  shape: Shape,
  scopes: readonly Scope[],
  context: Context,
  part: WrittenPlace['part'],
): Steps<ShapeFailure[]> {
  const held = shape.constraints.map(() => new Map<ElementNode, boolean>())
  const closed = new Map<ElementNode, readonly Unpermitted[]>()
  const found: { text: string; unmet: readonly Written[]; unpermitted: readonly Unpermitted[] }[] = []
  let asked = 0
  for (const scope of scopes.toReversed()) {
    const { element, text } = scope
    const unmet: Written[] = []
    for (const [i, constraint] of shape.constraints.entries()) {
      // Of scope elements that hold little each constraint asks little.
      asked += 1 + constraint.branches.length
      if (asked >= BRANCHES_PER_STEP) {
        asked = 0
        yield
      }
      if (!(yield* holding(constraint, element, context, held[i] ?? new Map()))) unmet.push(constraint)
    }
    const unpermitted = shape.closed ? yield* checkingClosed(shape, scope, context, closed) : []
    if (unmet.length + unpermitted.length > 0) found.push({ text, unmet, unpermitted })
    context.checked.add(element)
  }
  const failures: ShapeFailure[] = []
  const brought = new Set<unknown>(part?.brought ?? part?.nodes)
  const isBrought = (at: ElementNode) =>
    brought.size > 0 && elementsAround(context.document, [at]).some(element => brought.has(element))
  // What is wrong in one scope is so in all around it: only the first failures of the document are put into words.
  for (const { text, unmet, unpermitted } of found.reverse()) {
    if (failures.length > ENOUGH) break
    for (const constraint of unmet) {
      const message = `Element matching '${text}' does not satisfy constraint '${constraint.text}'`
      failures.push({ scope: text, constraint: constraint.text, message })
    }
    for (const each of unpermitted) {
      const failure: ShapeFailure = { scope: text, constraint: 'permit', message: unpermittedMessage(each, text) }
      if (!isBrought(each.at)) failure.isStanding = true
      failures.push(failure)
    }
  }
  return failures
}

/**
 * MOD-93.
 *
 * @param known whether something below other scope elements satisfies the constraint; this one is added
 */
function* holding(
  { branches }: Written,
  element: ElementNode,
  context: Context,
  known: Map<ElementNode, boolean>,
): Steps<boolean> {
  const below = branches.filter(({ named }) => named)
  const isShared = !branches.some(({ scoped }) => scoped)
  const matches = isShared ? context.matches : matchesIn(context.document, element)
  const among = (child: ElementNode) => below.some(branch => matches(branch, child))
  const isTold = isShared ? known : new Map<ElementNode, boolean>()
  const found =
    below.length > 0 &&
    (yield* searching(element, { isWanted: among, questions: below.length, known: isTold, context }))
  known.set(element, found)
  return found || branches.some(branch => matches(branch, element))
}

/** What is looked for below an element. */
interface Search {
  isWanted: (element: ElementNode) => boolean
  /** Questions that are asked of each element. */
  questions: number
  known: ReadonlyMap<ElementNode, boolean>
  context: Context
}

/** Whether an element below a parent is wanted; contents of templates are not looked at. */
function* searching(parent: ElementNode, { isWanted, questions, known, context }: Search): Steps<boolean> {
  const open = [{ nodes: parent.childNodes, next: 0, again: false }]
  const most = Math.min(ELEMENTS_PER_STEP, Math.ceil(QUESTIONS_PER_STEP / questions))
  let seen = 0
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const node = level.nodes[level.next++]
    if (!node) open.pop()
    if (!node || !isElement(node)) continue
    if (++seen % most === 0) yield
    if (level.again) askAgain(context, questions)
    const below = known.get(node)
    if (below || isWanted(node)) return true
    const again = level.again || context.checked.has(node)
    if (below === undefined) open.push({ nodes: node.childNodes, next: 0, again })
  }
  return false
}

/** What is said of tags that are no elements of the tree. */
const HIDDEN =
  ", which browsers alone may take for one (the '<' of a text is written &lt;, in a script \\x3c or with a space behind it),"
/** The same where that is all that is known of them: a permit for them changes nothing. */
const UNNAMED = ', which stands where no permit can name it (in a <select>, say),'

/** An element or attribute that a closed shape has no place for. */
interface Unpermitted {
  what: string
  /** Where it stands: the element itself, or one that holds it. */
  at: ElementNode
  /** What would make it one that is permitted, in a few words. */
  missing?: string | undefined
}

function unpermittedMessage({ what, missing }: Unpermitted, scope: string): string {
  return `${what} is not permitted inside '${scope}'${missing === undefined ? '' : `; it needs ${missing}`}`
}

/**
 * What an element lacks to be one that is permitted, by the permit for its type that it is nearest to.
 *
 * @returns undefined where no permit speaks of its type, or its place is wrong
 */
function missingFor(element: ElementNode, permits: readonly Branch[]): string | undefined {
  let nearest: string[] | undefined
  for (const { selector } of permits) {
    const simples = selector.list[0]?.compounds.at(-1)?.simples ?? []
    if (!simples.some(simple => simple.kind === 'type' && simple.name === element.tagName)) continue
    const missing = simples.flatMap(simple => lacking(simple, element))
    if (missing.length > 0 && (nearest === undefined || missing.length < nearest.length)) nearest = missing
  }
  return nearest?.join(' and ')
}

function lacking(simple: Simple, { attrs }: ElementNode): string[] {
  const value = (name: string) => attrs.find(attribute => attribute.name === name)?.value
  if (simple.kind === 'class')
    return wordsOf(value('class') ?? '').includes(simple.name) ? [] : [`class '${simple.name}'`]
  if (simple.kind === 'id') return value('id') === simple.name ? [] : [`id '${simple.name}'`]
  if (simple.kind === 'attribute') return value(simple.name) === undefined ? [`attribute '${simple.name}'`] : []
  return []
}

/**
 * MOD-94 to MOD-97.
 *
 * @param known what is not permitted below other scope elements; this one is added
 * @returns what is not permitted: elements and attributes
 */
function* checkingClosed(
  shape: Shape,
  { element: root, selectors }: Scope,
  context: Context,
  known: Map<ElementNode, readonly Unpermitted[]>,
): Steps<Unpermitted[]> {
  const { document, except, isBoundary, hidden } = context
  const isShared = !shape.permits.some(({ scoped }) => scoped)
  const matches = isShared ? context.matches : matchesIn(document, root)
  let asked = 0
  const matching = function* (element: ElementNode): Steps<Branch[]> {
    const found: Branch[] = []
    for (const permit of shape.permits) {
      if (++asked % QUESTIONS_PER_STEP === 0) yield
      if (matches(permit, element)) found.push(permit)
    }
    return found
  }
  const uncovered = (element: ElementNode, covering: readonly Branch[]) =>
    element.attrs
      .filter(attribute => !isCovered(attribute, covering, document))
      .map(
        (attribute): Unpermitted => ({
          what: `Attribute '${qualifiedName(attribute)}' on <${element.tagName}>`,
          at: element,
        }),
      )
  const unmatched = (element: ElementNode): Unpermitted => {
    return { what: `Element <${element.tagName}>`, at: element, missing: missingFor(element, shape.permits) }
  }
  const below: Unpermitted[] = []
  /** @param at the element that holds what is no element of the tree */
  const judging = function* (element: ElementNode, at?: ElementNode): Steps<void> {
    const permits = yield* matching(element)
    const unmet = permits.length > 0 ? uncovered(element, permits) : [unmatched(element)]
    if (!at) below.push(...unmet)
    else if (isUnreadable(element)) below.push({ what: `Tag <${element.tagName}>${UNNAMED}`, at })
    else below.push(...unmet.map(each => ({ ...each, what: `${each.what}${HIDDEN}`, at })))
  }
  const judgingHidden = function* (element: ElementNode): Steps<void> {
    const isNoscript = !hidden && document.kind === 'html' && element.tagName === 'noscript'
    const found = isNoscript ? yield* findingHiddenIn(element) : hidden?.get(element)
    for (const [i, each] of found?.entries() ?? []) {
      if (i % ELEMENTS_PER_STEP === 0) yield
      if (below.length > ENOUGH) return
      yield* judging(each, element)
    }
  }
  yield* judgingHidden(root)
  /** `inTree` is false in contents of templates, which hold no scope elements. */
  const open = [{ nodes: root.childNodes, next: 0, inTree: true, again: false }]
  if (root.content) open.unshift({ nodes: root.content.childNodes, next: 0, inTree: false, again: false })
  let seen = 0
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const { inTree } = level
    const child = level.nodes[level.next++]
    if (!child) open.pop()
    if (!child || !isElement(child) || child === except) continue
    if (below.length > ENOUGH) break
    if (++seen % ELEMENTS_PER_STEP === 0) yield
    if (level.again) askAgain(context, shape.permits.length)
    yield* judging(child)
    const boundary = inTree && isBoundary(child)
    if (typeof boundary === 'boolean' ? boundary : yield* boundary) continue
    const told = isShared && inTree ? known.get(child) : undefined
    if (told) {
      for (const found of told) below.push(found)
      // Copied for each scope around it.
      if (told.length > ELEMENTS_PER_STEP) yield
      continue
    }
    yield* judgingHidden(child)
    const again = level.again || context.checked.has(child)
    if (child.content) open.push({ nodes: child.content.childNodes, next: 0, inTree: false, again })
    open.push({ nodes: child.childNodes, next: 0, inTree, again })
  }
  known.set(root, below)
  const own = uncovered(root, [...(yield* matching(root)), ...selectors])
  return own.length === 0 ? below : [...own, ...below]
}

/** MOD-95. Declarations of namespaces in XML are no attributes. */
function isCovered(attribute: Attribute, branches: readonly Branch[], { kind }: TreeDocument): boolean {
  const name = qualifiedName(attribute)
  if (kind === 'xml') return declaredPrefix(attribute) !== undefined || branches.some(({ exact }) => exact.has(name))
  const lower = asciiLower(name)
  return branches.some(({ lowered }) => lowered.has(lower))
}

function qualifiedName({ prefix, name }: Attribute): string {
  return prefix ? `${prefix}:${name}` : name
}
