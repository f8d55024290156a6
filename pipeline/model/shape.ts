/** Shapes, compiled: where they apply, what they select, and what their constraints and permits ask for (MOD-90). */

import { compilePattern, matchesNames, type Pattern } from '../access/glob.ts'
import { asciiLower } from '../tree/ascii.ts'
import { subjectToken } from '../tree/selector/needs.ts'
import {
  type ComplexSelector,
  type Extensions,
  type Selector,
  SelectorError,
  selectorFor,
} from '../tree/selector/selector.ts'
import type { Steps } from '../tree/steps.ts'
import type { RawShape } from './declarations.ts'

/** One selector of a list, with the names of the attributes that its subject names (MOD-95). */
export interface Branch {
  selector: Selector
  /** Lower-case qualified names. */
  lowered: ReadonlySet<string>
  /** Qualified names as written: in XML, case counts. */
  exact: ReadonlySet<string>
  /** The subject names a type, class, id or attribute (MOD-93). */
  named: boolean
  /** Without which an element is not matched (`tree/tokens.ts`); undefined where the subject names nothing. */
  token: string | undefined
  /** It may say `:scope`, so that what it matches depends on the scope element. */
  scoped: boolean
}

/** A selector field of a shape; without branches when it does not parse. */
export interface Written {
  /** As its author wrote it. */
  text: string
  branches: readonly Branch[]
}

export interface Shape {
  /** Empty: every path. */
  patterns: readonly Pattern[]
  /** Empty: the root element. */
  scopes: readonly Written[]
  constraints: readonly Written[]
  permits: readonly Branch[]
  /** At least one `permit` was written, whether it parses or not. */
  closed: boolean
}

/** Patterns and selectors that are compiled in one step. */
const TEXTS_PER_STEP = 50

/** In steps: one shape may have thousands of selectors. */
export function* compilingShapes(raw: readonly RawShape[], extensions?: Extensions): Steps<Shape[]> {
  let made = 0
  function* each<T>(texts: readonly string[], make: (text: string) => T): Steps<T[]> {
    const all: T[] = []
    for (const text of texts) {
      all.push(make(text))
      if (++made % TEXTS_PER_STEP === 0) yield
    }
    return all
  }
  const read = (text: string) => written(text, extensions)
  const shapes: Shape[] = []
  for (const { resources, selectors, constraints, permits } of raw)
    shapes.push({
      patterns: yield* each(resources, resource => compilePattern(resource)),
      scopes: yield* each(selectors, read),
      constraints: (yield* each(constraints, read)).filter(({ branches }) => branches.length > 0),
      permits: (yield* each(permits, read)).flatMap(({ branches }) => branches),
      closed: permits.length > 0,
    })
  return shapes
}

/** Whether a shape speaks of a path. @param names the path's names (PATH-4) */
export function appliesTo({ patterns }: Shape, names: readonly string[]): boolean {
  return patterns.length === 0 || patterns.some(pattern => matchesNames(pattern, names))
}

function written(text: string, extensions: Extensions | undefined): Written {
  try {
    const { list } = selectorFor(text, extensions)
    return { text, branches: list.map(branch => branchOf(text, branch)) }
  } catch (error) {
    if (error instanceof SelectorError) return { text, branches: [] }
    throw error
  }
}

/** Escapes can write any name. */
const MAY_SAY_SCOPE = /:scope|\\/i

function branchOf(text: string, branch: ComplexSelector): Branch {
  const subject = branch.compounds.at(-1)?.simples ?? []
  const exact = new Set<string>()
  for (const simple of subject) {
    if (simple.kind === 'attribute') exact.add(simple.name)
    else if (simple.kind === 'class') exact.add('class')
    else if (simple.kind === 'id') exact.add('id')
  }
  return {
    selector: { text, list: [branch], tests: new Map() },
    exact,
    lowered: new Set([...exact].map(asciiLower)),
    token: subjectToken(branch),
    named: exact.size > 0 || subject.some(({ kind }) => kind === 'type'),
    scoped: MAY_SAY_SCOPE.test(text),
  }
}
