/** Turns parsed selectors into tests of elements. */
import type { ElementNode } from '../../tree/nodes.ts'
import { attribute, HTML_NAMESPACE } from '../../tree/nodes.ts'
import { attributeTest, classTest, idTest, type Mode, type Test } from './attribute.ts'
import { directionTest, languageTest } from './language.ts'
import { asciiLower, localName } from './name.ts'
import { isNth } from './nth.ts'
import type { Query } from './query.ts'
import { backwards, forwards } from './relation.ts'
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
  const tests = selectors
    .filter(selector => !selector.compounds.some(compound => compound.pseudoElement))
    .map(selector => ({ subject: selector.compounds.at(-1), test: complexTest(selector, compilation) }))
  if (tests.length <= 8) return anyOf(tests.map(({ test }) => test))
  return sorted(tests, compilation.mode)
}

/**
 * A long list sorted by what its subjects must have, so that an element meets only the selectors that can match it: by
 * id, else class, else type.
 */
function sorted(entries: { subject: Compound | undefined; test: Test }[], mode: Mode): Test {
  const fold = mode.quirks ? asciiLower : (name: string) => name
  const ids = new Map<string, Test[]>()
  const classes = new Map<string, Test[]>()
  const types = new Map<string, Test[]>()
  const rest: Test[] = []
  for (const { subject, test } of entries) {
    const find = <K extends Simple['kind']>(kind: K) =>
      subject?.simples.find((simple): simple is Extract<Simple, { kind: K }> => simple.kind === kind)
    const id = find('id')
    const className = find('class')
    const type = find('type')
    if (id) add(ids, fold(id.name), test)
    else if (className) add(classes, fold(className.name), test)
    else if (type) add(types, asciiLower(type.name), test)
    else rest.push(test)
  }
  const kind = mode.html ? 'html' : 'xml'
  return (element, query) => {
    const passes = (tests: Test[] | undefined) => tests?.some(test => test(element, query)) ?? false
    if (passes(rest)) return true
    if (types.size > 0 && passes(types.get(asciiLower(localName(element, kind))))) return true
    if (ids.size > 0 && passes(ids.get(fold(attribute(element, 'id') ?? '')))) return true
    const value = classes.size > 0 ? attribute(element, 'class') : undefined
    if (value === undefined) return false
    query.spend(value.length >> 6)
    return value.split(/[ \t\n\f\r]+/).some(token => passes(classes.get(fold(token))))
  }
}

function add(map: Map<string, Test[]>, key: string, test: Test): void {
  const tests = map.get(key)
  if (tests) tests.push(test)
  else map.set(key, [test])
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

/** `:has(> a b)` is “has a child `a` that has a descendant `b`”. */
function relativeTest({ leading, compounds, combinators }: RelativeSelector, compilation: Compilation): Test {
  let test: Test | undefined
  for (const [at, compound] of [...compounds.entries()].reverse()) {
    const own = compoundTest(compound, compilation)
    const rest = test
    const both: Test = rest ? (element, query) => own(element, query) && rest(element, query) : own
    test = forwards(combinators[at - 1] ?? leading, both, compilation.slots++)
  }
  return test ?? (() => false)
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
  return (element, query) => {
    query.spend(1)
    return first(element, query) && second(element, query) && others.every(test => test(element, query))
  }
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
  has: 6,
}

function simpleTest(simple: Simple, compilation: Compilation): Test {
  const { mode } = compilation
  switch (simple.kind) {
    case 'type':
      return typeTest(simple, mode)
    case 'no-namespace':
      return element => !element.namespaceURI
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
    case 'lang':
      return languageTest(simple.ranges)
    case 'dir':
      return directionTest(simple.direction)
    case 'heading':
      return headingTest(simple.levels)
    case 'extension':
      return simple.test
    case 'never':
      return () => false
  }
}

function typeTest({ name, namespace }: Extract<Simple, { kind: 'type' }>, mode: Mode): Test {
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
    const places = query.once(key, () => new Map<ElementNode, number>())
    if (!places.has(element)) placeMatching(element, last, test, places, query)
    return isNth(nth, places.get(element) ?? 0) && places.get(element) !== 0
  }
}

/** Notes of an element and its siblings which one among the matching siblings it is, 0 for those that do not match. */
function placeMatching(
  element: ElementNode,
  last: boolean,
  test: Test,
  places: Map<ElementNode, number>,
  query: Query,
) {
  const siblings = element.parentNode ? query.family(element.parentNode).elements : [element]
  let place = 0
  const visit = (sibling: ElementNode) => places.set(sibling, test(sibling, query) ? ++place : 0)
  if (last) for (let at = siblings.length - 1; at >= 0; at--) visit(siblings[at] ?? element)
  else for (const sibling of siblings) visit(sibling)
}

function anyOf(tests: Test[]): Test {
  const [first, second] = tests
  if (!first) return () => false
  if (!second) return first
  return (element, query) => {
    for (const test of tests) if (test(element, query)) return true
    return false
  }
}
