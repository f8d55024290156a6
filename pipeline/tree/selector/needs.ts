/** What a document has to hold for a selector to find something in it, as tokens (`tree/tokens.ts`). */

import { typeNamed } from './additions.ts'
import type { ComplexSelector, Selector, Simple } from './selector.ts'

/** No name of an element has a space. */
const ANY_OF = 'isa '

/** Stands for the tokens of a type and of those that descend from it, whichever they are when somebody asks. */
function anyOf(type: string): string {
  return ANY_OF + type
}

/** @returns the type for whose descendants a token stands, if it does */
export function typeOfAny(token: string): string | undefined {
  return token.startsWith(ANY_OF) ? token.slice(ANY_OF.length) : undefined
}

/** One of these sets, and of it every token; none at all where nothing can be found anywhere. */
export type Needs = readonly (readonly string[])[]

/** Alternatives of one selector that are told apart; with more of them any document may do. */
const MOST_ALTERNATIVES = 64

const known = new WeakMap<Selector, Needs>()

/** @returns an empty set among them where any document may do */
export function neededTokens(selector: Selector): Needs {
  const before = known.get(selector)
  if (before) return before
  const alternatives = selector.list.filter(({ compounds }) => compounds.every(compound => !compound.pseudoElement))
  const needs: Needs = alternatives.length > MOST_ALTERNATIVES ? [[]] : alternatives.map(each => [...tokensOf(each)])
  known.set(selector, needs)
  return needs
}

/** Names that few elements have come first. */
const RAREST = ['id', 'class', 'attribute', 'type'] as const

/** @returns a token that every element has which the selector matches; undefined where its subject names nothing */
export function subjectToken({ compounds }: ComplexSelector): string | undefined {
  const simples = compounds.at(-1)?.simples ?? []
  for (const kind of RAREST) {
    const simple = simples.find(each => each.kind === kind)
    if (simple) return [...needed(simple)].at(-1)
  }
  return undefined
}

function tokensOf({ compounds }: ComplexSelector): Set<string> {
  const tokens = new Set<string>()
  for (const { simples } of compounds)
    for (const simple of simples) for (const token of needed(simple)) tokens.add(token)
  return tokens
}

/** Tokens without which a simple selector matches nothing; what is said otherwise needs none. */
function needed(simple: Simple): Iterable<string> {
  switch (simple.kind) {
    case 'type':
      return [simple.name.toLowerCase()]
    case 'id':
      return [`#${simple.name.toLowerCase()}`]
    case 'class':
      return [`.${simple.name.toLowerCase()}`]
    case 'attribute':
      return [`[${simple.name.toLowerCase()}]`, ...typesIn(simple)]
    case 'is':
    case 'has': {
      const [only, ...others] = simple.selectors
      return only && others.length === 0 ? tokensOf(only) : []
    }
    case 'extension':
      return simple.name === 'isa' ? ['[itemtype]', anyOf(typeNamed(simple.argument))] : []
  }
  return []
}

function typesIn({ name, operator, value, flag }: Extract<Simple, { kind: 'attribute' }>): string[] {
  // In XML an ITEMTYPE is another attribute, whose values are no tokens.
  const isExact = (operator === '=' || operator === '~=') && flag !== 'i' && name === 'itemtype'
  if (!isExact) return []
  return value
    .split(/[\t\n\f\r ]+/)
    .filter(word => word !== '')
    .map(word => `type:${word}`)
}
