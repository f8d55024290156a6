/** Read resolvers of schemas, applied to a page that has been put together (MOD-71 to MOD-73, pass 6 of COMP-16). */

import type { CodeFailure } from '../fault.ts'
import { withoutValues } from '../language/told.ts'
import { choosingChains, findingChains } from '../model/read-chains.ts'
import { type Chain, replacements, takingValues, valuesFor } from '../model/resolvers.ts'
import { schemaFault } from '../model/violations.ts'
import { cloningElement } from '../tree/clone.ts'
import { type ChildNode, type ElementNode, isElement, type ParentNode, type TreeDocument } from '../tree/nodes.ts'
import { inTurns, NODES_PER_STEP, type Steps } from '../tree/steps.ts'
import type { Composing } from './composing.ts'
import { failureOfPart } from './failure.ts'
import { apart } from './parts.ts'
import { awaiting, type Work } from './work.ts'

/** @throws Fault 500 when a resolver fails, 503 when a budget is spent */
export function* resolvingReads(composing: Composing, tree: TreeDocument): Work<void> {
  const { model, allowance, reads } = composing
  if (!model.hasSchemas) return
  let pending = yield* findingChains(model, tree.root)
  // Resolvers may look at other documents and at the clock (MOD-74).
  if (pending.length > 0) reads.fleeting = true
  while (pending.length > 0) {
    allowance.step(pending.length)
    const { chains, rest } = yield* choosingChains(pending, allowance)
    const { done, values } = yield* runningAll(composing, tree, chains)
    yield* putting(composing, done, values)
    pending = rest
  }
}

interface Ran {
  done: readonly Chain[]
  /** The values behind each of them. */
  values: readonly (readonly ElementNode[])[]
}

/** Runs chains together; where parts may fail and one does, one by one, so that each has only its own failure (SEC-6). */
function* runningAll(composing: Composing, tree: TreeDocument, chains: readonly Chain[]): Work<Ran> {
  const { failures } = composing
  try {
    return { done: chains, values: yield* apart(composing, own => awaiting(running(own, tree, chains))) }
  } catch (error) {
    if (!failures || !failureOfPart(error, true)) throw error
  }
  const done: Chain[] = []
  const values: (readonly ElementNode[])[] = []
  for (const chain of chains) {
    try {
      for (const each of yield* apart(composing, own => awaiting(running(own, tree, [chain])))) values.push(each)
      done.push(chain)
    } catch (error) {
      const fault = failureOfPart(error, true)
      if (!fault) throw error
      for (const element of chain.elements) failures.push({ element, fault })
    }
  }
  return { done, values }
}

/** Runs chains from root to leaf, each step of all of them together. @returns the values behind each chain */
async function running(
  { site, model, allowance, page }: Composing,
  document: TreeDocument,
  chains: readonly Chain[],
): Promise<(readonly ElementNode[])[]> {
  const { ns } = site.settings
  const host = site.code(allowance)
  const values: (readonly ElementNode[])[] = chains.map(({ elements }) => elements)
  for (let step = 0; ; step++) {
    const turns = chains.flatMap((chain, place) => {
      const code = chain.property.read[step]
      const before = values[place] ?? []
      if (!code || before.length === 0) return []
      const at = valuesFor(chain, before, page.file.resource.path, document)
      return [{ chain, place, before, code, at }]
    })
    if (turns.length === 0) return values
    const outcomes = await host.read(turns)
    for (const [i, { chain, place, before, code, at }] of turns.entries()) {
      const outcome = outcomes[i]
      if (!outcome || 'response' in outcome) {
        const { schema, property } = chain
        const reason = 'its resolver cannot answer the request'
        throw schemaFault(ns, [{ check: '@read', itemtype: schema.type, property: property.name, reason }], 500)
      }
      const told = 'value' in outcome ? outcome : { failure: toldFailure(outcome.failure, code.source) }
      values[place] = await inTurns(takingValues(model, '@read', chain, at, before, told), 0)
    }
  }
}

function toldFailure(failure: CodeFailure, code: string): CodeFailure {
  return { ...failure, message: withoutValues(failure.message, code) }
}

/** Puts values in the places of the stored ones. */
function* putting(
  composing: Composing,
  chains: readonly Chain[],
  values: readonly (readonly ElementNode[])[],
): Work<void> {
  const changed = new Map<ChildNode, readonly ElementNode[]>()
  const used = new Set<ElementNode>()
  for (const [i, { elements }] of chains.entries()) {
    for (const revision of replacements(elements, values[i] ?? elements)) {
      if (revision.op !== 'replace') continue
      const by: ElementNode[] = []
      for (const each of revision.by) {
        by.push(yield* once(each, used))
        if (by.length % NODES_PER_STEP === 0) yield
      }
      changed.set(revision.element, by)
    }
  }
  if (changed.size === 0) return
  yield* tellingOrigins(composing)
  const parents = new Set<ParentNode>()
  for (const [element, by] of changed) {
    if (isElement(element) && element.parentNode) parents.add(element.parentNode)
    const [first] = by
    if (isElement(element) && first && first !== element) standIn(composing, element, first)
  }
  for (const parent of parents) {
    parent.childNodes = parent.childNodes.flatMap(node => changed.get(node) ?? node)
    for (const node of parent.childNodes) node.parentNode = parent
  }
}

/** One element stands in one place. */
function* once(element: ElementNode, used: Set<ElementNode>): Steps<ElementNode> {
  const own = used.has(element) ? yield* cloningElement(element) : element
  used.add(own)
  return own
}

/** What is shown in the place of an element is stored where that one is. */
function standIn({ origins, transients }: Composing, element: ElementNode, shown: ElementNode): void {
  const origin = origins.get(element)
  if (origin && !origins.has(shown)) origins.set(shown, origin)
  const place = transients.get(element)
  if (place) transients.set(shown, place)
}

/** Notes where each element of copied subtrees is stored: their children are about to change. */
function* tellingOrigins({ wholes, origins }: Composing): Work<void> {
  let seen = 0
  for (const [top, { page, element }] of wholes) {
    const open: [copy: ElementNode, stored: ElementNode][] = [[top, element]]
    for (let pair = open.pop(); pair; pair = open.pop()) {
      const [copy, stored] = pair
      origins.set(copy, { page, element: stored })
      if (++seen % NODES_PER_STEP === 0) yield
      for (const [i, child] of copy.childNodes.entries()) {
        const own = stored.childNodes[i]
        if (own && isElement(child) && isElement(own)) open.push([child, own])
      }
    }
  }
  wholes.clear()
}
