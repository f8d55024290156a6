/** Selectors with functions (COMP-139), asked of a document: they see what the selector itself sees, and pay from its steps. */

import { attribute, type ElementNode, NAMELESS } from '../nodes.ts'
import type { Steps } from '../steps.ts'
import type { Mode, Test } from './attribute.ts'
import { valueText } from './content.ts'
import { SelectorError } from './error.ts'
import type { ExtensionContext } from './extension.ts'
import { type FunctionCall, replaced, resultOf } from './functions.ts'
import { preparing, Query, STEPS } from './query.ts'
import { Walk } from './relation.ts'
import type { ComplexSelector, ComputedList, Simple } from './syntax.ts'
import { textOf } from './text.ts'

/** What results may be, for reading the rest of the selector before they are known. */
const POSSIBLE: Readonly<Record<FunctionCall['name'], string>> = {
  count: '1',
  'text-of': '"1"',
  'value-of': '"1"',
  'attr-of': '"1"',
}

/** How a list of selectors becomes a test. */
type Compile = (selectors: ComplexSelector[], compilation: { mode: Mode; slots: number }) => Test

/**
 * @param lists what the functions look for
 * @param read reads a selector list without functions
 * @returns the list, of which names alone are known before a document is asked: type, id, classes and attributes of each
 *   subject
 * @throws SelectorError when it is no selector whatever the results are
 */
export function computedList(
  text: string,
  calls: readonly FunctionCall[],
  lists: readonly ComplexSelector[][],
  read: (plain: string) => ComplexSelector[],
): ComplexSelector[] {
  const source: ComputedList = { key: Symbol('functions'), text, calls, lists, read }
  const possible = calls.map(({ name }) => POSSIBLE[name])
  return read(replaced(text, calls, possible)).map(({ compounds }, branch) => {
    const subject = compounds.at(-1)
    const simples: Simple[] = (subject?.simples ?? []).flatMap(known)
    const compound = { simples: [...simples, { kind: 'computed' as const, source, branch, key: Symbol('branch') }] }
    return {
      compounds: [
        subject?.pseudoElement === undefined ? compound : { ...compound, pseudoElement: subject.pseudoElement },
      ],
      combinators: [],
    }
  })
}

/** What holds of a subject whatever the results are. */
function known(simple: Simple): Simple[] {
  switch (simple.kind) {
    case 'type':
    case 'id':
    case 'class':
      return [simple]
    case 'attribute':
      return [{ kind: 'attribute', namespace: simple.namespace, name: simple.name, value: '' }]
    default:
      return []
  }
}

/** Whether an element is matched by one branch, with the results of this document in their places. */
export function computedTest(
  { source, branch, key }: Extract<Simple, { kind: 'computed' }>,
  mode: Mode,
  compile: Compile,
): Test {
  const functions = source.lists.map(list => compile(list, { mode, slots: 0 }))
  return (element, query) => {
    const list = query.prepared(source.key, () => resolving(source, functions, query))
    const { test, own } = query.once(key, () => {
      const selector = list[branch]
      return {
        test: withResults(() => compile(selector ? [selector] : [], { mode, slots: 0 })),
        own: new Query(query.document, query.scope, query),
      }
    })
    return test(element, own)
  }
}

function* resolving(
  { text, calls, read }: ComputedList,
  tests: readonly Test[],
  query: Query,
): Steps<ComplexSelector[]> {
  const most = query.steps + STEPS.all
  const results: string[] = []
  for (const [at, call] of calls.entries()) results.push(yield* finding(call, tests[at] ?? never, query, most))
  return withResults(() => read(replaced(text, calls, results)))
}

/** A result may be what its reader should not see (HTTP-170), so that no message quotes it. */
function withResults<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof SelectorError) || error.fault !== 'syntax') throw error
    throw new SelectorError('what one of its functions finds cannot stand in that place')
  }
}

const never: Test = () => false

/** @param most steps of the query at which the search has become too long */
function* finding(call: FunctionCall, test: Test, query: Query, most: number): Steps<string> {
  const own = new Query(query.document, undefined, query)
  const walk = new Walk(query.document.root)
  let count = 0
  let first: ElementNode | undefined
  for (let at = walk.element; at; at = walk.element) {
    if (query.steps > most) throw new SelectorError('the functions of the selector are too costly here', 'cost')
    let isMatch: boolean
    try {
      // What the client may not read is not counted either (SEC-6).
      isMatch = at.tagName !== NAMELESS && test(at, own)
    } catch (error) {
      yield* preparing(error)
      own.goesOn()
      continue
    }
    query.spend(1)
    if (isMatch) {
      count++
      first ??= at
    }
    walk.goOn(at)
    if (query.isLong()) yield
  }
  for (;;)
    try {
      return resultOf(call, count, () => (first ? said(call, first, query) : ''))
    } catch (error) {
      yield* preparing(error)
    }
}

/** What an element says to a function other than `count` (COMP-134). */
export function said(
  { name, attribute: wanted }: FunctionCall,
  element: ElementNode,
  context: ExtensionContext,
): string {
  if (name === 'attr-of') return attribute(element, wanted ?? '') ?? ''
  const { whole, start, end } = (name === 'text-of' ? textOf : valueText)(element, context)
  return whole.slice(start, end)
}
