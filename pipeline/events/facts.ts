/**
 * Facts about the elements of an event (EVT-67): which selectors of the site's rules match them, found once at commit on
 * the trees before and after. Delivery only compares what rules say to a subscriber about such elements.
 */

import type { AccessRules } from '../access/access-rules.ts'
import type { Access } from '../access/decision.ts'
import { mayMatchNames, pathNames } from '../access/glob.ts'
import { type Decision, type Key, limited, type RuleScope, resolve } from '../access/matching.ts'
import type { RuleSelector } from '../access/rules.ts'
import { isElement } from '../tree/nodes.ts'
import type { Shown } from '../tree/readings.ts'
import { askingIn, type Selector, SelectorError } from '../tree/selector/selector.ts'
import type { Steps } from '../tree/steps.ts'

/** What is kept with an event about elements. One about a whole document has no facts. */
export interface ElementFacts {
  /** Texts of the selectors that were tried. */
  tried: string[]
  /** Places of those that match a changed element: one list for all elements that the same selectors match. */
  keys: number[][]
  /** Places of those that took too long: a Deny matches, an Allow does not. */
  costly?: number[]
}

/** Elementary steps that all selectors of one event may take together. */
const MOST_STEPS = 10_000_000

/** The same where they are asked without a pause: some 40 ms. */
export const AT_ONCE = 1_600_000

/** Elements that are asked about, each for each selector, in one step. */
const PER_STEP = 2_000

/** Selectors that are tried on one event at most: those of subscribers differ where rules look something up. */
const MOST_SELECTORS = 1000

/**
 * @param path of the document
 * @param keys the elements of one document that the event is about: new ones as they are afterwards, a removed one as it was
 * @param onlookers selectors with lookups as they read for those who watch the path at the moment
 * @param most elementary steps that the selectors may take
 * @returns the facts as they are kept with the event, in steps
 */
export function* tellingFacts(
  rules: AccessRules,
  path: string,
  keys: readonly Key[],
  onlookers: Iterable<RuleScope> = [],
  most = MOST_STEPS,
): Steps<string> {
  const scopes = new Map<string, Selector>()
  for (const source of [scopesOn(rules, path), onlookers]) {
    for (const { exact, selector } of source) {
      if (scopes.size >= MOST_SELECTORS) break
      scopes.set(exact, selector)
    }
  }
  const matched: number[][] = keys.map(() => [])
  const facts: ElementFacts = { tried: [...scopes.keys()], keys: matched }
  const spent = limited(most)
  let looked = 0
  for (const [place, selector] of [...scopes.values()].entries()) {
    const [first] = keys
    const asking = first && askingIn(selector, first.document, undefined, spent)
    try {
      for (const [i, { element }] of keys.entries()) {
        if (asking && (yield* asking(element))) matched[i]?.push(place)
        if (++looked % PER_STEP === 0) yield
      }
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error
      facts.costly = [...(facts.costly ?? []), place]
    }
  }
  looked = 0
  const different = new Map<string, number[]>()
  for (const places of matched) {
    different.set(places.join(), places)
    looked += 1 + places.length
    if (looked < PER_STEP) continue
    looked = 0
    yield
  }
  facts.keys = [...different.values()]
  return JSON.stringify(facts)
}

/**
 * The elements that an insertion or replacement is about: the new ones at the top. Where there are none, as when bare text
 * was put somewhere, those whose content has changed.
 */
export function changedElements({ document, nodes, parents }: Shown): Key[] {
  const elements = nodes.filter(isElement)
  return (elements.length > 0 ? elements : parents.filter(isElement)).map(element => ({ element, document }))
}

/** Selectors of rules about reading elements of a path, whoever they are for. */
function* selectorsOn(rules: AccessRules, path: string): Generator<RuleSelector> {
  const names = pathNames(path)
  for (const candidates of rules.candidates('GET', names)) {
    for (const { selector, patterns } of candidates)
      if (selector && patterns.some(pattern => mayMatchNames(pattern, names))) yield selector
  }
}

/** Those that look nothing up. */
function* scopesOn(rules: AccessRules, path: string): Generator<RuleScope> {
  for (const selector of selectorsOn(rules, path)) if (selector.text !== undefined) yield selector
}

/** Whether the elements that somebody may read can hang on a lookup. */
export function looksUpElements(rules: AccessRules, path: string): boolean {
  for (const { text } of selectorsOn(rules, path)) if (text === undefined) return true
  return false
}

/** Selectors with lookups, as the rules about reading elements of a path have them for one subscriber. */
export function renderedScopes(access: Access, path: string): RuleScope[] {
  return access
    .matching('GET', path)
    .flatMap(({ rule, scope }) => (scope && rule.selector?.text === undefined ? [scope] : []))
}

/** Facts as they are looked into for each subscriber. */
interface Placed {
  places: ReadonlyMap<string, number>
  costly: ReadonlySet<number>
  keys: readonly ReadonlySet<number>[]
}

/** Made once for all subscribers of an event: one visitor with many streams has a thousand selectors tried. */
const placed = new WeakMap<ElementFacts, Placed>()

function placedOf(facts: ElementFacts): Placed {
  let known = placed.get(facts)
  if (!known) {
    const places = new Map(facts.tried.map((text, place) => [text, place]))
    known = { places, costly: new Set(facts.costly), keys: facts.keys.map(key => new Set(key)) }
    placed.set(facts, known)
  }
  return known
}

/**
 * Whether a subscriber could read every element of an event by selector (EVT-66).
 *
 * @returns undefined where it hangs on a selector that was not tried at commit, because the rule is newer than the event
 *   or looks something up
 */
export function mayReadElements(access: Access, path: string, facts: ElementFacts): boolean | undefined {
  const matching = access.matching('GET', path)
  const { places, costly, keys } = placedOf(facts)
  let sure = true
  for (const matched of keys) {
    /** @param favour what was not tried is taken in favour of the subscriber */
    const decide = (favour: boolean) =>
      resolve(matching, ({ rule, scope }) => {
        if (!scope) return true
        const place = places.get(scope.exact)
        if (place === undefined) return rule.allow === favour
        return costly.has(place) ? !rule.allow : matched.has(place)
      })
    if (isPermitted(access, decide(false))) continue
    if (!isPermitted(access, decide(true))) return false
    sure = false
  }
  return sure ? true : undefined
}

/** The default reads elements, too (DEC-4). */
function isPermitted({ settings }: Access, decision: Decision): boolean {
  return decision === 'allow' || (decision === 'unmatched' && settings.defaultGet === 'allow')
}
