/** Turns parsed selectors into tests of elements. */
import { asciiLower } from '../ascii.ts'
import { type ElementNode, HTML_NAMESPACE, NAMELESS, type ParentNode } from '../nodes.ts'
import { attributeTest, classTest, idTest, type Mode, type Test } from './attribute.ts'
import { computedTest } from './computed.ts'
import { directionTest, languageTest } from './language.ts'
import { anyMatch, anyOf } from './list.ts'
import { localName } from './name.ts'
import { isIn } from './namespace.ts'
import { isNth } from './nth.ts'
import { type Query, Unprepared } from './query.ts'
import { backwards, forwards, remembered, someBelow, Walk } from './relation.ts'
import { placeOf } from './sibling.ts'
import { headingTest, stateTest } from './state.ts'
import type { ComplexSelector, Compound, RelativeSelector, Simple } from './syntax.ts'

/** What is shared by all parts of one selector while it is compiled. */
export interface Compilation {
  mode: Mode
  /** Number of slots handed out for kept results. */
  slots: number
}

/** A test that is true of the elements that one of the selectors matches. */
export function listTest(selectors: ComplexSelector[], compilation: Compilation): Test {
  const entries = selectors
    .filter(selector => !selector.compounds.some(compound => compound.pseudoElement))
    .map(selector => ({ selector, test: complexTest(selector, compilation) }))
  return anyMatch(entries, compilation.mode)
}

function complexTest({ compounds, combinators }: ComplexSelector, compilation: Compilation): Test {
  let test: Test | undefined
  compounds.forEach((compound, at) => {
    const own = compoundTest(compound, compilation)
    const combinator = combinators[at - 1]
    if (!test || !combinator) {
      test = own
      return
    }
    const rest = backwards(combinator, test, compilation.slots++)
    test = (element, query) => own(element, query) && rest(element, query)
  })
  return test ?? (() => false)
}

/** `:has(> a b)` is “has a child `a` that has a descendant `b`”; elements without a name are nothing to have (SEC-6). */
function relativeTest({ leading, compounds, combinators }: RelativeSelector, compilation: Compilation): Test {
  let test: Test | undefined
  for (const [at, compound] of [...compounds.entries()].reverse()) {
    const own = compoundTest(compound, compilation)
    const rest = test
    const named: Test = (element, query) => element.tagName !== NAMELESS && own(element, query)
    const both: Test = rest ? (element, query) => named(element, query) && rest(element, query) : named
    test = forwards(combinators[at - 1] ?? leading, both, compilation.slots++)
  }
  return test ?? (() => false)
}

/**
 * `:only()`: every descendant is matched by an argument. What is asked of a descendant by itself is kept for it and all
 * below it; what depends on where it stands is asked anew from each anchor.
 */
function onlyTest(selectors: RelativeSelector[], compilation: Compilation): Test {
  const slot = compilation.slots++
  if (selectors.every(({ leading, compounds }) => leading === ' ' && compounds.length === 1)) {
    const test = listTest(selectors, compilation)
    const fails: Test = (element, query) => element.tagName !== NAMELESS && !test(element, query)
    const someFails: Test = remembered(
      (element, query) => someBelow(element, slot, query, fails, (child, own) => someFails(child, own)),
      slot,
    )
    return (element, query) => !someFails(element, query)
  }
  const test = listTest(selectors.map(fromScope), compilation)
  return remembered((element, query) => {
    const work = query.leftAt<Only>(slot, element) ?? { own: query.within(element), walk: new Walk(element) }
    try {
      for (let at = work.walk.element; at; at = work.walk.element) {
        if (at.tagName !== NAMELESS && !test(at, work.own)) return false
        work.walk.goOn(at)
        query.mayPause()
      }
    } catch (error) {
      if (error instanceof Unprepared) query.leave<Only>(slot, element, work)
      throw error
    }
    return true
  }, slot)
}

/** Where a search for a descendant that fails is, with what is kept of those before it. */
interface Only {
  own: Query
  walk: Walk
}

/** `> li` as `:scope > li`. */
export function fromScope({ leading, compounds, combinators }: RelativeSelector): ComplexSelector {
  return {
    compounds: [{ simples: [{ kind: 'state', name: 'scope' }] }, ...compounds],
    combinators: [leading, ...combinators],
  }
}

/** Cheap tests first; each trial of a compound counts as one step. */
function compoundTest({ simples, pseudoElement }: Compound, compilation: Compilation): Test {
  if (pseudoElement) return () => false
  const tests = simples
    .map(simple => ({ cost: COSTS[simple.kind] ?? 1, test: simpleTest(simple, compilation) }))
    .sort((a, b) => a.cost - b.cost)
    .map(({ test }) => test)
  const [first, second, ...others] = tests
  if (!first) {
    return (_, query) => {
      query.spend(1)
      return true
    }
  }
  if (!second) {
    return (element, query) => {
      query.spend(1)
      return first(element, query)
    }
  }
  const both: Test = (element, query) => {
    query.spend(1)
    return first(element, query) && second(element, query)
  }
  // A function made for every element that is looked at would be most of the garbage of a search.
  return others.length === 0 ? both : (element, query) => both(element, query) && passes(others, element, query)
}

function passes(tests: readonly Test[], element: ElementNode, query: Query): boolean {
  return tests.every(test => test(element, query))
}

/** Order of evaluation inside of a compound; 1 where nothing is said. */
const COSTS: Partial<Record<Simple['kind'], number>> = {
  never: 0,
  type: 0,
  attribute: 2,
  state: 3,
  nth: 3,
  is: 4,
  not: 4,
  lang: 4,
  dir: 4,
  extension: 5,
  computed: 7,
  has: 6,
  only: 6,
}

function simpleTest(simple: Simple, compilation: Compilation): Test {
  const { mode } = compilation
  switch (simple.kind) {
    case 'type':
      return typeTest(simple, mode)
    case 'no-namespace':
      return element => !element.namespaceURI
    case 'namespace':
      return (element, query) => isIn(element, simple.url, query)
    case 'id':
      return idTest(simple.name, mode)
    case 'class':
      return classTest(simple.name, mode)
    case 'attribute':
      return attributeTest(simple, mode)
    case 'state':
      return stateTest(simple.name)
    case 'nth':
      return nthTest(simple, compilation)
    case 'is':
      return listTest(simple.selectors, compilation)
    case 'not': {
      const test = listTest(simple.selectors, compilation)
      return (element, query) => !test(element, query)
    }
    case 'has':
      return anyOf(simple.selectors.map(selector => relativeTest(selector, compilation)))
    case 'only':
      return onlyTest(simple.selectors, compilation)
    case 'lang':
      return languageTest(simple.ranges)
    case 'dir':
      return directionTest(simple.direction)
    case 'heading':
      return headingTest(simple.levels)
    case 'extension':
      return simple.test
    case 'computed':
      return computedTest(simple, mode, listTest)
    case 'never':
      return () => false
  }
}

function typeTest({ name, namespace }: Extract<Simple, { kind: 'type' }>, mode: Mode): Test {
  if (typeof namespace === 'object') {
    const { url } = namespace
    const lower = asciiLower(name)
    return (element, query) => {
      const own = localName(element, 'xml')
      const isSame = own === name || (element.namespaceURI === HTML_NAMESPACE && own === lower)
      return isSame && isIn(element, url, query)
    }
  }
  if (!mode.html) {
    return element => localName(element, 'xml') === name && (namespace === 'any' || !element.namespaceURI)
  }
  if (namespace === 'none') return element => element.tagName === name && !element.namespaceURI
  const lower = asciiLower(name)
  if (lower === name) return element => element.tagName === name
  return element => element.tagName === (element.namespaceURI === HTML_NAMESPACE ? lower : name)
}

function nthTest({ nth, last, ofType, of }: Extract<Simple, { kind: 'nth' }>, compilation: Compilation): Test {
  if (!of) return (element, query) => isNth(nth, placeOf(element, last, ofType, query))
  const test = listTest(of, compilation)
  const key = Symbol('places of the matching siblings')
  return (element, query) => {
    const kept = query.once(key, (): MatchingPlaces => ({ places: new Map(), families: new Map() }))
    if (!kept.places.has(element)) placeMatching(element, last, test, kept, query)
    const place = kept.places.get(element) ?? 0
    return place !== 0 && isNth(nth, place)
  }
}

interface MatchingPlaces {
  places: Map<ElementNode, number>
  /** How far each family has been gone through, and how many of it have matched. */
  families: Map<ParentNode, { next: number; place: number }>
}

/** Notes of an element and its siblings which one among the matching siblings it is, 0 for those that do not match. */
function placeMatching(
  element: ElementNode,
  last: boolean,
  test: Test,
  { places, families }: MatchingPlaces,
  query: Query,
) {
  const parent = element.parentNode
  if (!parent) {
    places.set(element, test(element, query) ? 1 : 0)
    return
  }
  const siblings = query.family(parent).elements
  let seen = families.get(parent)
  if (!seen) {
    query.spend(6 * siblings.length)
    families.set(parent, (seen = { next: 0, place: 0 }))
  }
  while (seen.next < siblings.length) {
    const sibling = siblings[last ? siblings.length - 1 - seen.next : seen.next]
    if (sibling) places.set(sibling, test(sibling, query) ? ++seen.place : 0)
    seen.next++
    query.mayPause()
  }
}
