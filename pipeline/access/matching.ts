/** What the rules that match a requester, a method and a path say about an element (DEC-1, DEC-2, KEY-1). */

import type { ElementNode, TreeDocument } from '../tree/nodes.ts'
import { matcherIn, type Selector, SelectorError } from '../tree/selector/selector.ts'
import type { Rule, Tier } from './rules.ts'

/** The element that selector rules are tested against, in the tree where the request's selector found it (KEY-1, KEY-2). */
export interface Key {
  element: ElementNode
  document: TreeDocument
}

export type Decision = 'allow' | 'deny' | 'unmatched'

/** A rule that matches a requester, method and path. */
export interface MatchingRule {
  rule: Rule
  tier: Tier
  /** Which elements it is for; missing when it counts for the whole resource. */
  scope: { text: string; exact: string; selector: Selector } | undefined
}

/** A selector as a rule has it for some subscriber; the text has its white space collapsed, the exact one is that of no other. */
export type RuleScope = NonNullable<MatchingRule['scope']>

/** Whether a rule names a method, in upper case (METH-1, METH-2). */
export function coversMethod({ methods }: Rule, method: string): boolean {
  return methods.has(method) || methods.has('*') || (method === 'HEAD' && methods.has('GET'))
}

/** Below every tier. */
export const NOBODY = -1

/**
 * Resolves matching rules (DEC-1, DEC-2): those of the highest tier count, and one Deny among them refuses.
 *
 * @param applies whether a rule's selector, if it has one, matches; asked only where it can still matter
 */
export function resolve(matching: readonly MatchingRule[], applies: (rule: MatchingRule) => boolean): Decision {
  let decision: Decision = 'unmatched'
  let tier = NOBODY
  for (const candidate of matching) {
    const stronger = candidate.tier > tier || (candidate.tier === tier && decision === 'allow' && !candidate.rule.allow)
    if (!stronger || !applies(candidate)) continue
    tier = candidate.tier
    decision = candidate.rule.allow ? 'allow' : 'deny'
  }
  return decision
}

/**
 * Whether a matching rule counts for an element (KEY-1, KEY-3). A test that becomes too costly fails closed: the Allow
 * does not match, the Deny does.
 *
 * @param test that of a decision, or of several about one tree
 */
export function applies(
  { rule, scope }: Pick<MatchingRule, 'rule' | 'scope'>,
  key: Key | undefined,
  test: SelectorTest,
): boolean {
  if (!scope) return true
  if (!key) return false
  try {
    return test(scope.selector, key)
  } catch (error) {
    if (error instanceof SelectorError) return !rule.allow
    throw error
  }
}

/** Whether an element matches a selector. Throws SelectorError when the answer would take too long. */
export type SelectorTest = (selector: Selector, key: Key) => boolean

/** Elementary steps that the selectors of all rules may take together in one go: some 40 ms. */
const MOST_AT_ONCE = 1_600_000

/** The same for what is asked over several turns of the event loop. */
const MOST_IN_TURNS = 10_000_000

/** A test for elements that are asked about in one go. */
export function singleTest(): SelectorTest {
  const spent = limited(MOST_AT_ONCE)
  return (selector, { element, document }) => matcherIn(selector, document, undefined, spent)(element)
}

/** The same for many elements of trees that do not change meanwhile: what was found out for one serves the others. */
export function sharedTest(): SelectorTest {
  return remembering(limited(MOST_AT_ONCE))
}

/** The same for elements that are asked about over several turns. */
export function lastingTest(): SelectorTest {
  const all = limited(MOST_IN_TURNS)
  let about: ElementNode | undefined
  let own = all
  const test = remembering(steps => own(steps))
  return (selector, key) => {
    if (key.element !== about) {
      about = key.element
      const one = limited(MOST_AT_ONCE)
      own = steps => {
        all(steps)
        one(steps)
      }
    }
    return test(selector, key)
  }
}

function remembering(spent: (steps: number) => void): SelectorTest {
  const found = new Map<Selector, Map<TreeDocument, (element: ElementNode) => boolean>>()
  return (selector, { element, document }) => {
    let documents = found.get(selector)
    if (!documents) found.set(selector, (documents = new Map()))
    let test = documents.get(document)
    if (!test) documents.set(document, (test = matcherIn(selector, document, undefined, spent)))
    return test(element)
  }
}

/** @returns counts steps; throws SelectorError when they are more than allowed together */
export function limited(most: number): (steps: number) => void {
  let all = 0
  return steps => {
    all += steps
    if (all > most) throw new SelectorError('the rules are too costly on this document', 'cost')
  }
}
