/**
 * What a selector implies (CAP-6): the smallest tree that it describes, on which other selectors can be tried without a
 * document. Whatever the selector leaves open is filled so that nothing else follows from it.
 */

import { asciiLower } from '../tree/ascii.ts'
import {
  type Attribute,
  type DocumentNode,
  type ElementNode,
  HTML_NAMESPACE,
  type ParentNode,
  type TreeDocument,
} from '../tree/nodes.ts'
import {
  type ComplexSelector,
  type Compound,
  matches,
  type Selector,
  SelectorError,
  type Simple,
} from '../tree/selector/selector.ts'
import { canBeMet, type Needs, namesAround } from './needs.ts'

/** Stands for what is not known: a name, a text or a part of a value that no selector names. */
const UNKNOWN = '\ufffd'

/** Siblings that are put before an element whose position is known. */
const MAX_POSITION = 1_000

/** Siblings that are put before all elements together whose positions are known; from more, nothing is taken to follow (SEC-12). */
const MOST_SIBLINGS = 5_000

/**
 * @param selector describes an element
 * @returns whether another selector matches every element that it describes; the other's needs, where they are known, save
 *   the trouble of parsing it
 */
export function describedBy(selector: Selector): (other: { selector: Selector }, needs?: Needs) => boolean {
  let siblings = 0
  for (const { compounds } of selector.list) for (const compound of compounds) siblings += before(compound)
  if (siblings > MOST_SIBLINGS) return () => false
  const subjects = selector.list.map(subjectOf).map(subject => ({ ...subject, names: namesAround([subject.element]) }))
  return (other, needs) =>
    subjects.every(({ element, document, names }) => {
      if (needs && !canBeMet(needs, names)) return false
      try {
        return matches(other.selector, element, document)
      } catch (error) {
        if (error instanceof SelectorError) return false
        throw error
      }
    })
}

function subjectOf({ compounds, combinators }: ComplexSelector): { element: ElementNode; document: TreeDocument } {
  const root: DocumentNode = { nodeName: '#document', mode: 'no-quirks', childNodes: [] }
  let last = compounds.length - 1
  const subject = elementOf(compounds[last])
  let top = enclose(subject, compounds[last])
  for (; last > 0; last--) {
    const combinator = combinators[last - 1]
    // What is said of siblings says nothing of ancestors that could be relied on.
    if (combinator !== '>' && combinator !== ' ') break
    const outer = elementOf(compounds[last - 1])
    const inner = combinator === '>' ? outer : put(unknownElement(), outer)
    for (const node of top) put(node, inner)
    top = enclose(outer, compounds[last - 1])
  }
  const outermost = put(unknownElement(), root)
  for (const node of top) put(node, outermost)
  return { element: subject, document: { kind: 'html', source: '', root, clean: true } }
}

/** An element with siblings around it: as many before as its position says, one where it says nothing, and one after. */
function enclose(element: ElementNode, compound: Compound | undefined): ElementNode[] {
  return [...Array.from({ length: before(compound) }, unknownElement), element, unknownElement()]
}

function before(compound: Compound | undefined): number {
  return Math.min(positionOf(compound) - 1, MAX_POSITION)
}

/** From 1; an unknown position is taken to be 2. */
function positionOf(compound: Compound | undefined): number {
  for (const simple of compound?.simples ?? []) {
    if (simple.kind !== 'nth' || simple.last || simple.ofType || simple.of) continue
    if (simple.nth.a === 0 && simple.nth.b >= 1) return simple.nth.b
  }
  return 2
}

function elementOf(compound: Compound | undefined): ElementNode {
  const element = unknownElement()
  const exact = new Map<string, string>()
  const words = new Map<string, string[]>()
  for (const simple of compound?.simples ?? []) {
    if (simple.kind === 'type') element.nodeName = element.tagName = asciiLower(simple.name)
    else if (simple.kind === 'id') exact.set('id', simple.name)
    else if (simple.kind === 'class') words.set('class', [...(words.get('class') ?? []), simple.name])
    else if (simple.kind === 'attribute') describeAttribute(simple, exact, words)
  }
  for (const [name, list] of words) if (!exact.has(name)) exact.set(name, [...list, UNKNOWN].join(' '))
  element.attrs = Array.from(exact, ([name, value]): Attribute => ({ name, value }))
  return element
}

function describeAttribute(
  { name: written, operator, value, flag }: Extract<Simple, { kind: 'attribute' }>,
  exact: Map<string, string>,
  words: Map<string, string[]>,
): void {
  const name = asciiLower(written)
  if (flag !== 'i' && operator === '=') exact.set(name, value)
  else if (flag !== 'i' && operator === '~=') words.set(name, [...(words.get(name) ?? []), value])
  else if (!exact.has(name)) {
    const known = flag === 'i' ? undefined : operator
    if (known === '^=') exact.set(name, value + UNKNOWN)
    else if (known === '$=') exact.set(name, UNKNOWN + value)
    else if (known === '*=') exact.set(name, UNKNOWN + value + UNKNOWN)
    else if (known === '|=') exact.set(name, `${value}-${UNKNOWN}`)
    else exact.set(name, UNKNOWN)
  }
}

function unknownElement(): ElementNode {
  const element: ElementNode = {
    nodeName: UNKNOWN,
    tagName: UNKNOWN,
    namespaceURI: HTML_NAMESPACE,
    attrs: [],
    childNodes: [],
    parentNode: null,
  }
  element.childNodes.push({ nodeName: '#text', value: UNKNOWN, parentNode: element })
  return element
}

function put(element: ElementNode, parent: Exclude<ParentNode, { nodeName: '#document-fragment' }>): ElementNode {
  element.parentNode = parent
  parent.childNodes.push(element)
  return element
}
