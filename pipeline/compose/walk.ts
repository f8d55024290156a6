/**
 * The walk through a document (COMP-16 to COMP-18): it copies what stands there and puts in place of each directive what
 * becomes of it, in document order, going on into the results.
 */

import type { Fault } from '../fault.ts'
import type { Value } from '../language/values.ts'
import { asciiLower } from '../tree/ascii.ts'
import { copiedFrom } from '../tree/clone.ts'
import {
  type ChildNode,
  type ElementNode,
  type FragmentNode,
  isElement,
  type ParentNode,
  type TreeDocument,
} from '../tree/nodes.ts'
import { Prefixes, qualifiedName, writtenName } from '../tree/prefixes.ts'
import { NODES_PER_STEP } from '../tree/steps.ts'
import { type Composing, type Dispatch, type FailedPart, isData, meaning, type Surroundings } from './composing.ts'
import { append, bytesOf, copyOf, NODE_BYTES, shallowCopy } from './copy.ts'
import { type AttributeDirective, type Directives, directivesOf, spelledLocal, spellings } from './directives.ts'
import { compositionError, failureOfPart, named, tooMuch } from './failure.ts'
import { appendShown } from './foreign-parts.ts'
import { fitBuilt } from './html-in-xml.ts'
import { authorsSelector, including } from './include.ts'
import { isShown, keepAround, keepingAround, openFor, openIn, within } from './kept-around.ts'
import { attributeCall, calling, elementCall, notFound } from './method.ts'
import { Names } from './names.ts'
import type { Page } from './page.ts'
import { apart } from './parts.ts'
import { copiesOf, readingCopy, readingOf, transientPlace } from './session-copies.ts'
import { holdsElements, type Splice, splicesOf } from './splice.ts'
import { stamping } from './stamp.ts'
import { renderedInto } from './template.ts'
import { awaiting, type Work } from './work.ts'

/** Elements inside each other in a composed page; only what goes on including itself comes here. */
const DEEPEST = 1_000

/** Walks nodes and adds what becomes of them to a parent. */
export function* walking(
  composing: Composing,
  nodes: readonly ChildNode[],
  into: ParentNode,
  place: Surroundings,
): Work<void> {
  let seen = 0
  for (const node of nodes) {
    if (++seen % NODES_PER_STEP === 0) yield
    // Pages that include themselves nest deeper than a stack is.
    if (isElement(node))
      yield composing.failures
        ? containing(composing, composing.failures, node, into, place)
        : walkingElement(composing, node, into, place)
    else {
      // What templates and programs have made is paid for.
      if (place.page && !place.inPlace) composing.allowance.take(bytesOf(node))
      append(into, { ...node, parentNode: null })
    }
  }
}

/** Walks an element; where that fails, an element without attributes and content stands for it (SEC-6). */
function* containing(
  composing: Composing,
  failures: FailedPart[],
  element: ElementNode,
  into: ParentNode,
  place: Surroundings,
): Work<void> {
  const before = into.childNodes.length
  const paginators = composing.paginators.length
  try {
    if (place.inPlace) yield apart(composing, own => walkingElement(own, element, into, place))
    else yield walkingElement(composing, element, into, place)
  } catch (error) {
    const fault = failureOfPart(error, place.inPlace)
    if (!fault) throw error
    into.childNodes.length = before
    composing.paginators.length = paginators
    const instead = shallowCopy(element, [])
    keepAround(place.open ?? 0, instead)
    appendShown(composing, into, instead)
    failures.push({ element: instead, fault })
  }
}

function* walkingElement(
  composing: Composing,
  element: ElementNode,
  into: ParentNode,
  place: Surroundings,
): Work<void> {
  const { page } = place
  if (page && !place.loose && !page.busy.has(element)) {
    yield* copying(composing, element, into, { ...place, page })
    return
  }
  if (!place.inPlace) composing.allowance.take(page ? bytesOf(element) : NODE_BYTES)
  composing.allowance.step()
  if (place.depth > DEEPEST) throw tooMuch('The page is nested deeper than a page may be.')
  const origin = page ? undefined : originOf(composing, element, place)
  const prefixes = origin?.prefixes ?? place.prefixes.within(element)
  const inside: Surroundings = { ...place, ...origin, prefixes, depth: place.depth + 1 }
  const splices = yield* replacing(composing, element, inside)
  if (splices) {
    yield* splicing(composing, splices.list, into, { ...inside, names: splices.names })
    return
  }
  const directives = directivesOf(composing, element, inside)
  if (directives) yield* dispatching(composing, element, directives, into, inside)
  else yield* keeping(composing, element, element.attrs, into, inside)
}

/** In a copy that code has made of what is stored, names mean what they mean there: what visitors have written runs nothing (COMP-145). */
function originOf(
  { graph }: Composing,
  element: ElementNode,
  { holder }: Surroundings,
): Pick<Surroundings, 'prefixes' | 'holder' | 'isElsewhere'> | undefined {
  const isNamed = element.tagName.includes(':') || element.attrs.some(a => writtenName(a).includes(':'))
  const stored = isNamed ? copiedFrom(element) : undefined
  if (!stored) return undefined
  // What it declares beside may be a text that code has given it, as that of a visitor.
  const page = graph.pageHolding(stored)
  return { prefixes: Prefixes.around(stored).within(stored), holder: page ?? holder, isElsewhere: !page }
}

/** What replaces an element that is a directive; undefined for any other element. */
function* replacing(
  composing: Composing,
  element: ElementNode,
  place: Surroundings,
): Work<{ list: Splice[]; names: Names } | undefined> {
  const name = qualifiedName(element.tagName)
  const uri = name && place.prefixes.namespace(name.prefix)
  if (!name || uri === undefined) return undefined
  const provides = meaning(composing, uri)
  if (provides === 'foreign' || (provides === 'other' && isData(composing, place))) return undefined
  composing.allowance.dispatch()
  const names = new Names(place.names)
  const dispatch: Dispatch = { composing, element, place: { ...place, names } }
  if (provides === 'other') throw notFound(element.tagName)
  if (provides === 'page') {
    if (name.local === 'include') return { list: yield* including(dispatch), names }
    if (name.local === 'stamp') return { list: yield* stamping(dispatch), names }
    throw compositionError(`unknown method '${named(name.local)}' of the page's own namespace`)
  }
  if (typeof provides === 'string')
    throw compositionError(`${named(element.tagName)}: a binding is an attribute, not an element`)
  const spelled = spelledLocal(element.tagName, spellings(element, place.text))
  const call = yield* elementCall(provides, spelled, dispatch, foldsCase(place))
  return { list: call ? splicesOf(yield* calling(dispatch, provides, call), composing.allowance) : [], names }
}

/** An element with directives among its attributes. */
function* dispatching(
  composing: Composing,
  element: ElementNode,
  directives: Directives,
  into: ParentNode,
  place: Surroundings,
): Work<void> {
  const names = directives.dispatched.length > 0 ? new Names(place.names) : place.names
  const inside: Surroundings = { ...place, names, transient: place.transient || directives.transient }
  const dispatch: Dispatch = { composing, element, place: inside }
  const spelled = directives.dispatched.length > 0 ? spellings(element, place.text) : undefined
  if (directives.transient) {
    composing.reads.personal = true
    if (yield* placingCopy(composing, element, into, place)) return
  }
  const failed: Fault[] = []
  for (const directive of directives.dispatched) {
    const local = spelledLocal(directive.written, spelled ?? new Map())
    const replacement = yield* dispatchingOne(dispatch, directive, local, failed)
    if (replacement === undefined) continue
    yield* splicing(composing, splicesOf(replacement, composing.allowance), into, inside)
    return
  }
  const copy = adding(composing, element, directives.kept, into, place)
  for (const fault of failed) composing.failures?.push({ element: copy, fault })
  if (directives.transient && !place.transient && place.page)
    composing.transients.set(copy, transientPlace(composing, place.page, element))
  if (directives.paginate !== undefined) composing.paginators.push({ element: copy, length: directives.paginate })
  if (directives.template !== undefined && !place.output) yield* rendering(dispatch, directives.template, copy)
  else yield* walkingContent(composing, element, copy, inside)
}

/** Puts the output of a template into its host; where parts may fail, the host stays, without content. */
function* rendering(dispatch: Dispatch, engine: string, copy: ElementNode): Work<void> {
  const { composing, place } = dispatch
  const paginators = composing.paginators.length
  try {
    composing.allowance.dispatch()
    const { nodes, text } = yield* renderedInto(dispatch, engine, copy)
    const open = within(place.open ?? 0, copy)
    const output: Surroundings = { ...place, page: undefined, text, output: true, loose: false, inPlace: false, open }
    yield* walking(composing, nodes, contentOf(copy), output)
  } catch (error) {
    const fault = composing.failures && failureOfPart(error, place.inPlace)
    if (!fault) throw error
    contentOf(copy).childNodes.length = 0
    composing.paginators.length = paginators
    composing.failures?.push({ element: copy, fault })
  }
}

/** Puts the session's copy of a marked element in its place; it is not walked (COMP-18). @returns whether there is one */
function* placingCopy(
  composing: Composing,
  element: ElementNode,
  into: ParentNode,
  { page, prefixes, transient }: Surroundings,
): Work<boolean> {
  if (!page || transient || !composing.viewer.session) return false
  const place = transientPlace(composing, page, element)
  const markup = (yield* copiesOf(composing, place.prefix)).get(place.name)
  if (markup === undefined || !isElement(into)) return false
  const [copy] = (yield* readingCopy(composing, markup, readingOf(place, into), prefixes)).filter(isElement)
  if (!copy) return false
  append(into, copy)
  composing.transients.set(copy, place)
  return true
}

/**
 * @param failed takes the failure where parts may fail: the host stays, and whoever asks for the name fails as well
 * @returns what replaces the host (COMP-55); undefined where it stays
 */
function* dispatchingOne(
  dispatch: Dispatch,
  directive: AttributeDirective,
  local: string,
  failed: Fault[],
): Work<Value | undefined> {
  const { composing, place } = dispatch
  try {
    if (!composing.failures || !place.inPlace) return yield* applying(dispatch, directive, local)
    return yield* apart(composing, own => applying({ ...dispatch, composing: own }, directive, local))
  } catch (error) {
    const fault = composing.failures && failureOfPart(error, place.inPlace)
    if (!fault) throw error
    failed.push(fault)
    if (directive.does !== 'method') for (const name of [local, asciiLower(local)]) place.names.fail(name, fault)
    return undefined
  }
}

/** Whether names are matched without case: those of XML documents are not, wherever they are shown (COMP-9). */
function foldsCase({ holder }: Surroundings): boolean {
  return holder.tree.kind === 'html'
}

function* applying(dispatch: Dispatch, directive: AttributeDirective, local: string): Work<Value | undefined> {
  const { composing, place } = dispatch
  composing.allowance.dispatch()
  if (directive.does === 'method') {
    const { schema, value } = directive
    const call = yield* attributeCall(schema, local, value, dispatch, foldsCase(place))
    if (!call) return undefined
    const result = yield* calling(dispatch, schema, call)
    if (result === null) return undefined
    const { returns } = call.method
    const declared = returns === `${composing.site.settings.ns}/Element`
    return declared || (returns === undefined && holdsElements(result)) ? result : undefined
  }
  const value = yield* binding(dispatch, directive)
  place.names.set(local, value)
  if ((composing.kind === 'html' || foldsCase(place)) && local !== asciiLower(local))
    place.names.set(asciiLower(local), value)
  return undefined
}

/** COMP-35, COMP-39, COMP-43. */
function* binding(dispatch: Dispatch, { does, value }: AttributeDirective): Work<Value> {
  const { languages, graph, site, allowance } = dispatch.composing
  if (does === 'sessel') return yield* awaiting(languages.sessel(value, dispatch))
  if (does === 'javascript') return yield* awaiting(languages.javascript(value, dispatch))
  return yield* graph.select(authorsSelector(site, value, 'a resource binding', dispatch.place), allowance)
}

/** An element that stays, and what is in it. */
function* keeping(
  composing: Composing,
  element: ElementNode,
  attrs: ElementNode['attrs'],
  into: ParentNode,
  place: Surroundings,
): Work<void> {
  const copy = adding(composing, element, attrs, into, place)
  yield* walkingContent(composing, element, copy, place)
}

/** Contents of HTML templates are left as they are stored (COMP-18). */
function* walkingContent(
  composing: Composing,
  element: ElementNode,
  copy: ElementNode,
  place: Surroundings,
): Work<void> {
  if (element.content && copy.content) {
    for (const node of element.content.childNodes)
      append(copy.content, yield* copyOf(composing.allowance, node, place.inPlace))
  }
  yield* walking(composing, element.childNodes, copy, place.open ? { ...place, open: within(place.open, copy) } : place)
}

/** Puts results in place of a directive and goes on into them. */
function* splicing(
  composing: Composing,
  splices: readonly Splice[],
  into: ParentNode,
  place: Surroundings,
): Work<void> {
  const open = splices.length > 0 && isShown(composing) ? openIn(into) : 0
  let seen = 0
  for (const splice of splices) {
    if (++seen % NODES_PER_STEP === 0) yield
    const first = into.childNodes.length
    if ('text' in splice) {
      composing.allowance.take(splice.text.length * 2 + NODE_BYTES)
      append(into, { nodeName: '#text', value: splice.text, parentNode: null })
    } else if ('built' in splice)
      yield* walking(composing, splice.built, into, {
        ...place,
        page: undefined,
        text: undefined,
        output: false,
        inPlace: false,
        open,
      })
    else yield* projecting(composing, splice.stored, splice.tree, into, { ...place, open })
    const added = into.childNodes[first]
    if (!('text' in splice) && splice.id !== undefined && added && isElement(added))
      added.attrs = [...added.attrs.filter(a => a.name !== 'id'), { name: 'id', value: splice.id }]
  }
}

/** A copy of an element of a stored document (COMP-85); prefixes in it mean what they mean there (COMP-12). */
function* projecting(
  composing: Composing,
  stored: ElementNode,
  tree: TreeDocument,
  into: ParentNode,
  { names, depth, transient, open = 0 }: Surroundings,
): Work<void> {
  const page = composing.graph.pageOf(tree)
  if (!page) throw new Error('an element of a document that was not read')
  if (page !== composing.page) composing.reads.projected.add(page.file.resource)
  const own = tree === page.tree ? stored : page.counterpart(stored)
  const element = own ?? stored
  const around = isShown(composing) ? yield* openFor(tree, element, open) : 0
  yield walkingElement(composing, element, into, {
    names,
    prefixes: Prefixes.around(element),
    page,
    text: page.search.source,
    output: false,
    holder: page,
    loose: own === undefined,
    inPlace: false,
    transient,
    depth,
    open: around,
  })
}

/** A subtree without directives. */
function* copying(
  composing: Composing,
  element: ElementNode,
  into: ParentNode,
  { page, inPlace, open = 0 }: Surroundings & { page: Page },
): Work<void> {
  const copy = yield* copyOf(composing.allowance, element, inPlace)
  if (!isElement(copy)) return
  if (open !== 0) yield* keepingAround(open, copy)
  appendShown(composing, into, copy)
  composing.wholes.set(copy, { page, element })
}

function adding(
  composing: Composing,
  element: ElementNode,
  attrs: ElementNode['attrs'],
  into: ParentNode,
  { page, output, open = 0 }: Surroundings,
): ElementNode {
  const copy = shallowCopy(element, attrs)
  keepAround(open, copy)
  appendShown(composing, into, copy)
  if (page) composing.origins.set(copy, { page, element })
  else if (composing.kind === 'xml' && !output) fitBuilt(copy)
  return copy
}

function contentOf(element: ElementNode): ElementNode | FragmentNode {
  return element.content ?? element
}
