/** Trees that nobody has written, beside what is read where their markup is stored (COMP-147). */

import { randomUUID } from 'node:crypto'
import { asciiLower } from './ascii.ts'
import { TreeError } from './limits.ts'
import { type ChildNode, type ElementNode, elementAlone, isElement, type ParentNode } from './nodes.ts'
import { parsingPrefixed, parsingPrefixedFragment } from './prefixed-parser.ts'
import { Prefixes, prefixedNames, qualifiedName, writtenName } from './prefixes.ts'
import { RAW } from './raw-text.ts'
import { writingMarkup } from './serialize.ts'
import { NODES_PER_STEP, type Steps } from './steps.ts'

/** In its contents every element may stand. */
const CONTEXT = elementAlone('template')
/** There is one in each name with a prefix. */
const PREFIX = /[^\t\n\f\r />]:[^\t\n\f\r />=]/

/** Where markup is stored. */
export interface Place {
  /** Whether a namespace is one of directives. */
  isLive: (uri: string) => boolean
  /** What stands before and behind it in a document of its own; undefined for a fragment, of whose place nothing is known. */
  frame: readonly [before: string, behind: string] | undefined
}

/** An element with names with a prefix. */
interface Named {
  element: ElementNode
  /** Those that mean something, as HTML reads them, and the namespace that they mean; none where the place of a fragment tells. */
  live: ReadonlyMap<string, string | undefined>
  /** The innermost one around it with names that mean something. */
  around: ElementNode | undefined
  /** Stands in what HTML reads as text, as trees of XML may have it. */
  isText: boolean
  /** Stands in the contents of a template, in which composition looks for nothing. */
  isInert: boolean
}

/**
 * Whether names with a prefix that an element or a document has as a tree mean something else where it is written as HTML and
 * read again. What is read may have no name that it did not have, nor one that means something on another element, in another
 * namespace, or within another directive; what is a document of its own has to have all of those that mean something.
 *
 * There is no markup for some trees, such as a link around another one in SVG, where text is a directive then; and HTML moves
 * what stands beside a body, drops a form in a form, gives the attributes of a second body to the first, and so on. In steps.
 *
 * @param node whose elements are marked meanwhile
 */
export function* changesNames(node: ParentNode, place: Place): Steps<boolean> {
  const { named, hasRawMarkup } = yield* readingNamed(isElement(node) ? [node] : node.childNodes, place)
  // All else is escaped, so that no name comes of it.
  if (!hasRawMarkup && named.length === 0) return false
  // No text can hold it: names alone would take what was text for an element that is lost behind it.
  const mark = `x-${randomUUID()}`
  const own = named.map(({ element }) => ({ element, attrs: element.attrs }))
  let text: string
  try {
    for (const [i, { element, attrs }] of own.entries()) element.attrs = [...attrs, { name: mark, value: `${i}` }]
    text = yield* writingMarkup(node, 'html')
  } finally {
    for (const { element, attrs } of own) element.attrs = attrs
  }
  if (named.length === 0 && !PREFIX.test(text)) return false
  try {
    const again = yield* readingNamed(yield* readingAgain(text, place), place)
    return !(yield* isAlike(named, again.named, mark, place))
  } catch (error) {
    // What is too much, marks included, cannot be told.
    if (error instanceof TreeError) return true
    throw error
  }
}

function* readingAgain(text: string, { frame }: Place): Steps<readonly ChildNode[]> {
  if (!frame) return yield* parsingPrefixedFragment(text, CONTEXT, () => false)
  return (yield* parsingPrefixed(frame[0] + text + frame[1])).childNodes
}

function* isAlike(before: readonly Named[], after: readonly Named[], mark: string, { frame }: Place): Steps<boolean> {
  const indexOf = ({ attrs }: ElementNode) => attrs.find(({ name }) => name === mark)?.value
  const indexes = new Map(before.map(({ element }, i) => [element, `${i}`]))
  const seen = new Set<string>()
  for (const { element, live, around, isInert } of after) {
    if (seen.size % NODES_PER_STEP === 0) yield
    const index = indexOf(element)
    const was = index === undefined ? undefined : before[Number(index)]
    if (index === undefined || !was) return false
    // One that is taken apart is there twice.
    const isTwice = seen.has(index)
    seen.add(index)
    if (live.size === 0 && was.live.size === 0) continue
    // Contents of a template are those of another element where it stands in SVG.
    if (isTwice || (was.isInert && !isInert)) return false
    for (const [name, uri] of live) if (!was.live.has(name) || was.live.get(name) !== uri) return false
    if (frame && live.size < was.live.size) return false
    if ((around && indexOf(around)) !== (was.around && indexes.get(was.around))) return false
  }
  return !frame || before.every(({ live, isText }, i) => isText || live.size === 0 || seen.has(`${i}`))
}

/** The elements that have names with a prefix, and whether there is text that is written as it is and looks like markup; in steps. */
function* readingNamed(
  nodes: readonly ChildNode[],
  place: Place,
): Steps<{ named: readonly Named[]; hasRawMarkup: boolean }> {
  const named: Named[] = []
  let hasRawMarkup = false
  let seen = 0
  interface Open extends Omit<Named, 'live'> {
    outer: Prefixes
  }
  const top = { outer: Prefixes.none, around: undefined, isText: false, isInert: false }
  const open: Open[] = nodes.filter(isElement).map(element => ({ element, ...top }))
  for (let next = open.pop(); next; next = open.pop()) {
    if (++seen % NODES_PER_STEP === 0) yield
    const { element, outer, around, isText, isInert } = next
    const { tagName, childNodes, content } = element
    if (RAW.has(tagName) && childNodes.some(node => 'value' in node && node.value.includes('<'))) hasRawMarkup = true
    const inside = { outer, around, isText: isText || RAW.has(tagName) }
    const names = prefixedNames(element)
    if (names.length > 0) {
      inside.outer = outer.within(asRead(element))
      const live = meant(names, inside.outer, place)
      named.push({ element, live, around, isText, isInert })
      if (live.size > 0) inside.around = element
    }
    for (const node of childNodes) if (isElement(node)) open.push({ element: node, ...inside, isInert })
    for (const node of content?.childNodes ?? [])
      if (isElement(node)) open.push({ element: node, ...inside, isInert: true })
  }
  return { named, hasRawMarkup }
}

/** What HTML reads as declarations of an element, whose names are in small letters there. */
function asRead(element: ElementNode): ElementNode {
  const attrs = element.attrs.map(a => ({ ...a, prefix: undefined, name: asciiLower(writtenName(a)) }))
  return { ...element, attrs }
}

function meant(names: readonly string[], scope: Prefixes, { isLive, frame }: Place): Named['live'] {
  const live = new Map<string, string | undefined>()
  for (const written of names) {
    const name = asciiLower(written)
    const prefix = qualifiedName(name)?.prefix
    if (prefix === undefined) continue
    const uri = scope.namespace(prefix)
    if (uri === undefined ? !frame && !scope.declares(prefix) : isLive(uri)) live.set(name, uri)
  }
  return live
}
