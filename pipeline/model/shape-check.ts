/** Judges a proposed document by the shapes that apply to it (MOD-91 to MOD-98). */

import { declaredPrefix } from '../tree/namespaces.ts'
import { type Attribute, type ElementNode, isElement, rootElement, type TreeDocument } from '../tree/nodes.ts'
import { matcherIn, SelectorError } from '../tree/selector/selector.ts'
import { touchedBy, type WrittenPlace } from './place.ts'
import type { Branch, Shape, Written } from './shape.ts'

export interface ShapeFailure {
  /** The scope selector as written; `:root` when there is none. */
  scope: string
  /** The constraint as written, or `permit`. */
  constraint: string
  message: string
}

/** Failures that are looked for; more would be told to nobody. */
const ENOUGH = 10_000

/** What one check works on. */
interface Context {
  document: TreeDocument
  failures: ShapeFailure[]
  except: ElementNode | undefined
}

/** An element that a shape selects, with the selectors that do. */
interface Scope {
  element: ElementNode
  text: string
  selectors: readonly Branch[]
}

/**
 * @param shapes those that apply to the path
 * @param except an element that is left out, with everything inside it
 * @returns failures of every checked scope element, in the order of the shapes
 */
export function checkShapes(shapes: readonly Shape[], place: WrittenPlace, except?: ElementNode): ShapeFailure[] {
  if (shapes.length === 0) return []
  const { document } = place
  const touched = touchedBy(place)
  const candidates = [...touched.around, ...touched.content]
  const failures: ShapeFailure[] = []
  const boundaries = boundariesOf(shapes, document)
  const context: Context = { document, failures, except }
  for (const shape of shapes) {
    guarded(shape, failures, () => {
      for (const scope of scopesAmong(shape, candidates, document)) {
        checkConstraints(shape, scope, context)
        if (shape.closed) checkClosed(shape, scope, boundaries(shape), context)
        if (failures.length > ENOUGH) return
      }
    })
  }
  return failures
}

/** What cannot be told within the limits of a query is not permitted: content must not switch a shape off. */
function guarded(shape: Shape, failures: ShapeFailure[], check: () => void): void {
  try {
    check()
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error
    const scope = shape.scopes.map(({ text }) => text).join(', ') || ':root'
    const message = `The shape of '${scope}' cannot be checked on this document: ${error.message}`
    failures.push({ scope, constraint: shape.closed ? 'permit' : (shape.constraints[0]?.text ?? ''), message })
  }
}

type Matches = (branch: Branch, element: ElementNode) => boolean

/** Asks branches about elements; each branch has its own bounded cost. */
function matchesIn(document: TreeDocument, scope?: ElementNode): Matches {
  const matchers = new Map<Branch, (element: ElementNode) => boolean>()
  return (branch, element) => {
    let matcher = matchers.get(branch)
    if (!matcher) matchers.set(branch, (matcher = matcherIn(branch.selector, document, scope)))
    return matcher(element)
  }
}

function scopesAmong(shape: Shape, elements: readonly ElementNode[], document: TreeDocument): Scope[] {
  if (shape.scopes.length === 0) {
    const root = rootElement(document)
    return root && elements.includes(root) ? [{ element: root, text: ':root', selectors: [] }] : []
  }
  const matches = matchesIn(document)
  const scopes: Scope[] = []
  for (const element of elements) {
    let text: string | undefined
    const selectors: Branch[] = []
    for (const scope of shape.scopes) {
      const matching = scope.branches.filter(branch => matches(branch, element))
      if (matching.length > 0) text ??= scope.text
      selectors.push(...matching)
    }
    if (text !== undefined) scopes.push({ element, text, selectors })
  }
  return scopes
}

/** MOD-93. */
function checkConstraints(shape: Shape, scope: Scope, { document, failures }: Context): void {
  const { element, text } = scope
  for (const constraint of shape.constraints) {
    if (holds(constraint, element, document)) continue
    const message = `Element matching '${text}' does not satisfy constraint '${constraint.text}'`
    failures.push({ scope: text, constraint: constraint.text, message })
  }
}

function holds(constraint: Written, element: ElementNode, document: TreeDocument): boolean {
  const matches = matchesIn(document, element)
  const below = (branch: Branch, parent: ElementNode): boolean =>
    parent.childNodes.some(child => isElement(child) && (matches(branch, child) || below(branch, child)))
  return constraint.branches.some(branch => matches(branch, element) || (branch.named && below(branch, element)))
}

/** For each closed shape the scope elements of the others: below those, the others judge (MOD-97). */
function boundariesOf(
  shapes: readonly Shape[],
  document: TreeDocument,
): (shape: Shape) => (element: ElementNode) => boolean {
  const closed = shapes.filter(shape => shape.closed && shape.scopes.length > 0)
  const matches = matchesIn(document)
  const known = new Map<ElementNode, readonly Shape[]>()
  const scopedBy = (element: ElementNode): readonly Shape[] => {
    let found = known.get(element)
    if (!found) {
      found = closed.filter(({ scopes }) =>
        scopes.some(({ branches }) => branches.some(branch => matches(branch, element))),
      )
      known.set(element, found)
    }
    return found
  }
  return shape => element => closed.length > 0 && scopedBy(element).some(other => other !== shape)
}

/** MOD-94 to MOD-97. */
function checkClosed(
  shape: Shape,
  scope: Scope,
  isBoundary: (element: ElementNode) => boolean,
  { document, failures, except }: Context,
): void {
  const matches = matchesIn(document, scope.element)
  const fail = (message: string) => failures.push({ scope: scope.text, constraint: 'permit', message })
  const checkAttributes = (element: ElementNode, covering: readonly Branch[]) => {
    for (const attribute of element.attrs) {
      if (isCovered(attribute, covering, document)) continue
      const name = qualifiedName(attribute)
      fail(`Attribute '${name}' on <${element.tagName}> is not permitted inside '${scope.text}'`)
    }
  }
  const matching = (element: ElementNode) => shape.permits.filter(permit => matches(permit, element))
  /** @param inTree false in contents of templates, which hold no scope elements */
  const visit = (parent: { childNodes: ElementNode['childNodes'] }, inTree: boolean): void => {
    for (const child of parent.childNodes) {
      if (!isElement(child) || child === except || failures.length > ENOUGH) continue
      const permits = matching(child)
      if (permits.length === 0) fail(`Element <${child.tagName}> is not permitted inside '${scope.text}'`)
      else checkAttributes(child, permits)
      if (inTree && isBoundary(child)) continue
      visit(child, inTree)
      if (child.content) visit(child.content, false)
    }
  }
  checkAttributes(scope.element, [...matching(scope.element), ...scope.selectors])
  visit(scope.element, true)
  if (scope.element.content) visit(scope.element.content, false)
}

/** MOD-95. Declarations of namespaces in XML are no attributes. */
function isCovered(attribute: Attribute, branches: readonly Branch[], { kind }: TreeDocument): boolean {
  const name = qualifiedName(attribute)
  if (kind === 'xml') return declaredPrefix(attribute) !== undefined || branches.some(({ exact }) => exact.has(name))
  const lower = name.toLowerCase()
  return branches.some(({ lowered }) => lowered.has(lower))
}

function qualifiedName({ prefix, name }: Attribute): string {
  return prefix ? `${prefix}:${name}` : name
}
