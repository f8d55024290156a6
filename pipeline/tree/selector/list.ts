/** Selector lists. A long one is sorted by gates, so that an element is tried only on selectors that can match it. */
import { asciiLower } from '../ascii.ts'
import { attribute, type ElementNode, parentElement } from '../nodes.ts'
import type { Mode, Test } from './attribute.ts'
import { localName } from './name.ts'
import type { Query } from './query.ts'
import type { ComplexSelector, Compound } from './syntax.ts'

interface Entry {
  selector: ComplexSelector
  test: Test
}

/** A list of this length is not worth sorting. */
const SHORT = 8

/** A test that is true where one of the tests is. */
export function anyOf(tests: Test[]): Test {
  const [first, second] = tests
  if (!first) return () => false
  if (!second) return first
  return (element, query) => {
    for (const test of tests) if (test(element, query)) return true
    return false
  }
}

/** The same for compiled selectors. */
export function anyMatch(entries: Entry[], mode: Mode): Test {
  return entries.length > SHORT ? sorted(entries, mode) : anyOf(entries.map(({ test }) => test))
}

/**
 * What an element must have to be matched: an id, class or type of its own, or an ancestor with an id or class. Keys
 * start with `#`, `.` or nothing.
 */
function gateOf({ compounds, combinators }: ComplexSelector, mode: Mode): { above: boolean; key: string } | undefined {
  for (let at = compounds.length - 1; at >= 0; at--) {
    // What stands left of a sibling combinator is neither the element nor above it.
    if (combinators[at] === '+' || combinators[at] === '~') continue
    const key = nameKey(compounds[at], mode)
    if (key) return { above: at < compounds.length - 1, key }
  }
  const type = compounds.at(-1)?.simples.find(simple => simple.kind === 'type')
  // Of a declared prefix only the part of a name behind its colon counts, in HTML too, where the key is the whole name.
  return type?.kind === 'type' && typeof type.namespace !== 'object'
    ? { above: false, key: asciiLower(type.name) }
    : undefined
}

function nameKey(compound: Compound | undefined, mode: Mode): string | undefined {
  for (const kind of ['id', 'class'] as const) {
    for (const simple of compound?.simples ?? []) {
      if (simple.kind === kind) return (kind === 'id' ? '#' : '.') + fold(simple.name, mode)
    }
  }
  return undefined
}

function fold(name: string, mode: Mode): string {
  return mode.quirks ? asciiLower(name) : name
}

type Gates = Map<string, Test[]>

/** What an element and its ancestors open: the keys, and the tests behind them. */
interface Opened {
  keys: Set<string>
  tests: Test[]
}

function sorted(entries: Entry[], mode: Mode): Test {
  const own: Gates = new Map()
  const above: Gates = new Map()
  const rest: Test[] = []
  for (const { selector, test } of entries) {
    const gate = gateOf(selector, mode)
    const gates = gate?.above ? above : own
    if (!gate) rest.push(test)
    else if (gates.get(gate.key)?.push(test) === undefined) gates.set(gate.key, [test])
  }
  const key = Symbol('opened by ancestors')
  return (element, query) => {
    for (const test of rest) if (test(element, query)) return true
    if (own.size > 0) {
      for (const name of keysOf(element, mode, query)) {
        for (const test of own.get(name) ?? []) if (test(element, query)) return true
      }
    }
    const parent = above.size > 0 ? parentElement(element) : undefined
    if (!parent) return false
    for (const test of openedBy(parent, above, mode, key, query).tests) if (test(element, query)) return true
    return false
  }
}

function keysOf(element: ElementNode, mode: Mode, query: Query): string[] {
  const keys = [asciiLower(localName(element, mode.html ? 'html' : 'xml'))]
  const id = attribute(element, 'id')
  if (id !== undefined) keys.push(`#${fold(id, mode)}`)
  const classes = attribute(element, 'class')
  if (classes !== undefined) {
    query.spend(1 + (classes.length >> 3))
    for (const name of fold(classes, mode).split(/[ \t\n\f\r]+/)) keys.push(`.${name}`)
  }
  return keys
}

/** Which gates an element and its ancestors open together; computed once for each element in a query. */
function openedBy(element: ElementNode, gates: Gates, mode: Mode, key: symbol, query: Query): Opened {
  const known = query.once(key, () => new Map<ElementNode, Opened>())
  const way: ElementNode[] = []
  let opened: Opened | undefined
  for (let at: ElementNode | undefined = element; at && !opened; at = parentElement(at)) {
    opened = known.get(at)
    if (!opened) way.push(at)
  }
  opened ??= { keys: new Set(), tests: [] }
  for (const passed of way.reverse()) {
    query.spend(1)
    const { keys, tests }: Opened = opened
    const fresh = new Set(keysOf(passed, mode, query).filter(name => gates.has(name) && !keys.has(name)))
    if (fresh.size > 0) {
      opened = {
        keys: new Set([...keys, ...fresh]),
        tests: [...tests, ...[...fresh].flatMap(name => gates.get(name) ?? [])],
      }
      query.spend(opened.tests.length >> 2)
    }
    known.set(passed, opened)
  }
  return opened
}
