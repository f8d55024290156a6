/** What the rules that match a requester, a method and a path say about an element (DEC-1, DEC-2, KEY-1). */

import type { ElementNode, TreeDocument } from '../tree/nodes.ts'
import { matches, type Selector, SelectorError, selectAll } from '../tree/selector/selector.ts'
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
  scope: { text: string; selector: Selector } | undefined
}

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
 */
export function applies(
  { rule, scope }: Pick<MatchingRule, 'rule' | 'scope'>,
  key: Key | undefined,
  test = matches,
): boolean {
  if (!scope) return true
  if (!key) return false
  try {
    return test(scope.selector, key.element, key.document)
  } catch (error) {
    if (error instanceof SelectorError) return !rule.allow
    throw error
  }
}

/** `matches` for many elements: searches the document once for each selector. */
export function searchedTest(): typeof matches {
  const found = new Map<Selector, Map<TreeDocument, ReadonlySet<ElementNode> | SelectorError>>()
  return (selector, element, document) => {
    let documents = found.get(selector)
    if (!documents) found.set(selector, (documents = new Map()))
    let elements = documents.get(document)
    if (!elements) documents.set(document, (elements = search(selector, document)))
    if (elements instanceof SelectorError) throw elements
    return elements.has(element)
  }
}

function search(selector: Selector, document: TreeDocument): ReadonlySet<ElementNode> | SelectorError {
  try {
    return new Set(selectAll(selector, document))
  } catch (error) {
    if (error instanceof SelectorError) return error
    throw error
  }
}
