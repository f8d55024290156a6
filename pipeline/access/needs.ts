/**
 * What a selector needs to be found on the way from an element to the root: ids, classes and names without which it cannot
 * match. Tells at once about most rules that they are not for an element (SEC-4).
 */

import { asciiLower } from '../tree/ascii.ts'
import { type ElementNode, parentElement } from '../tree/nodes.ts'
import type { ComplexSelector, Selector } from '../tree/selector/selector.ts'
import { atOnce, NODES_PER_STEP, type Steps } from '../tree/steps.ts'

/** Characters of an attribute's value up to which it is looked for as a whole. */
const LONGEST = 200

/** For each alternative of a selector list, what must all be there: `#id`, `.class`, `type`, `[attribute` and its value. */
export type Needs = readonly (readonly string[])[]

/**
 * @param unknown text that stands for what is not known yet; a name that holds it is not needed
 */
export function needsOf({ list }: Selector, unknown?: string): Needs {
  return list.map(complex => namesIn(complex).filter(name => unknown === undefined || !name.includes(unknown)))
}

function namesIn({ compounds, combinators }: ComplexSelector): string[] {
  const names: string[] = []
  for (const [i, { simples }] of compounds.entries()) {
    // What stands to the left of `+` or `~` is beside the way to the root; what stands left of that is on it again.
    const onTheWay = i === compounds.length - 1 || combinators[i] === ' ' || combinators[i] === '>'
    if (!onTheWay) continue
    for (const simple of simples) {
      if (simple.kind === 'id') names.push(`#${asciiLower(simple.name)}`)
      else if (simple.kind === 'class') names.push(`.${asciiLower(simple.name)}`)
      else if (simple.kind === 'type') names.push(asciiLower(simple.name))
      else if (simple.kind === 'attribute') {
        const isWhole = simple.operator === '=' && simple.value.length <= LONGEST
        names.push(attributeName(simple.name, isWhole ? simple.value : undefined))
      }
    }
  }
  return names
}

/**
 * The names on the way from some elements to the root, themselves included. Letter case does not count, as in old
 * documents. Takes time in proportion to the document.
 */
export function namesAround(elements: Iterable<ElementNode>): ReadonlySet<string> {
  return atOnce(collectingNames(elements))
}

/** `namesAround` in steps. */
export function* collectingNames(elements: Iterable<ElementNode>): Steps<ReadonlySet<string>> {
  const names = new Set<string>()
  const seen = new Set<ElementNode>()
  for (const element of elements) {
    for (let at: ElementNode | undefined = element; at && !seen.has(at); at = parentElement(at)) {
      seen.add(at)
      collect(at, names)
      if (seen.size % NODES_PER_STEP === 0) yield
    }
  }
  return names
}

function collect(at: ElementNode, names: Set<string>): void {
  const type = asciiLower(at.tagName)
  names.add(type)
  const colon = type.indexOf(':')
  if (colon >= 0) names.add(type.slice(colon + 1))
  for (const { name, value } of at.attrs) {
    names.add(attributeName(name, undefined))
    if (value.length <= LONGEST) names.add(attributeName(name, value))
    if (name === 'id') names.add(`#${asciiLower(value)}`)
    else if (name === 'class') for (const word of value.split(/[\t\n\f\r ]+/)) names.add(`.${asciiLower(word)}`)
  }
}

function attributeName(name: string, value: string | undefined): string {
  return asciiLower(value === undefined ? `[${name}` : `[${name}=${value}`)
}

/** Whether a selector with these needs can match an element with these names around it. */
export function canBeMet(needs: Needs, names: ReadonlySet<string>): boolean {
  for (const alternative of needs) {
    let met = true
    for (const name of alternative) met &&= names.has(name)
    if (met) return true
  }
  return false
}
