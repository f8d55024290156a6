/** The first steps of MOD-112: defaults and `@write` chains, which change what is about to be stored. */

import { bringsProgram, findingPrograms } from '../language/liquid/programs.ts'
import type { AnyNode, ChildNode, ElementNode, ParentNode } from '../tree/nodes.ts'
import { inTurns, TurnsBetween } from '../tree/steps.ts'
import type { CodeHost } from './code.ts'
import {
  type Addition,
  additionsFor,
  aroundIn,
  type ChangedItem,
  findingMissing,
  keeper,
  type Tried,
} from './defaults.ts'
import { findingInstances } from './instance-check.ts'
import { tagPlace } from './items.ts'
import type { WrittenPlace } from './place.ts'
import type { Registry } from './registry.ts'
import { type Chain, chainsOf, resolve } from './resolvers.ts'
import { findAll, followedIn, type Revised, type Revision, revising } from './revise.ts'
import { closingShown, findingShownNames, openingShown } from './shown-place.ts'
import { schemaFault } from './violations.ts'

/** What a write is judged with. */
export interface Judges {
  registry: Registry
  host: CodeHost
  /** Canonical path of the document. */
  path: string
}

/**
 * Adds defaults and runs `@write` chains.
 *
 * @param place in a document that belongs to the caller alone, and must not be used afterwards
 * @returns the place in the completed document
 * @throws Fault 422 when a default fails or finds no place, 500 when a resolver fails
 */
export async function complete(judges: Judges, place: WrittenPlace): Promise<WrittenPlace> {
  const defaulted = await withDefaults(judges, place)
  const shown = await withResolvedShown(judges, defaulted)
  return withResolved(judges, shown, await findChains(judges, shown))
}

/** Values that pages alone show in an item (COMP-6) go through its chains there, each once. */
async function withResolvedShown(judges: Judges, place: WrittenPlace): Promise<WrittenPlace> {
  const { length } = place.document.source
  const shown = await inTurns(openingShown(place), length)
  if (!shown) return place
  const nameOf = ({ schema, property }: Chain, element: ElementNode) =>
    JSON.stringify([tagPlace(element), schema.type, property.name])
  const known = new Set<string>()
  for (const chain of await findChains(judges, place))
    for (const element of chain.elements) known.add(nameOf(chain, element))
  const chains: Chain[] = []
  for (const chain of await findChains(judges, shown)) {
    const elements = chain.elements.filter(element => !known.has(nameOf(chain, element)))
    if (elements.length > 0) chains.push({ ...chain, elements })
  }
  const resolved = await withResolved(judges, shown, chains)
  return resolved === shown ? place : inTurns(closingShown(resolved), length)
}

async function findChains({ registry }: Judges, place: WrittenPlace): Promise<Chain[]> {
  return (await inTurns(findingInstances(registry, place), place.document.source.length)).flatMap(chainsOf)
}

/** Rounds of defaults, each of which has changed an item around the next, or the same once more. */
const MOST_ROUNDS = 100

async function withDefaults(judges: Judges, written: WrittenPlace): Promise<WrittenPlace> {
  let place = written
  let tried: Tried = new Map()
  for (let round = 0; ; round++) {
    const { registry, host, path } = judges
    const { ns } = registry.vocabulary
    const instances = await inTurns(findingInstances(registry, place), place.document.source.length)
    const finding = function* () {
      return yield* findingMissing(ns, instances, tried, yield* findingShownNames(place.document))
    }
    const missing = await inTurns(finding(), place.document.source.length)
    if (missing.length === 0) return place
    const { additions, changes, violations } = await additionsFor(host, registry, path, place, missing, tried)
    if (violations.length > 0) throw schemaFault(ns, violations)
    if (changes.length > 0 && round === MOST_ROUNDS)
      throw schemaFault(
        ns,
        changes.map(change => unmade(change, ENDLESS)),
      )
    const isKept = keeper(place.document.kind)
    const unkept = additions.filter(addition => !isKept(addition))
    if (unkept.length > 0) throw schemaFault(ns, unkept.map(noPlace))
    const stand = new Map(changes.map(({ element, by }) => [element, by]))
    const revisions: Revision[] = additions.map(({ revision }) => revision)
    for (const [element, by] of stand) revisions.push({ op: 'replace', element, by: [by] })
    const followed = changes.length > 0 ? [...tried.keys()].map(element => stand.get(element) ?? element) : []
    const revised = await revisedPlace(ns, aroundChanges(place, stand), revisions, followed)
    if (!revised)
      throw schemaFault(ns, [...changes.map(change => unmade(change, UNWRITABLE)), ...additions.map(noPlace)])
    if (changes.length === 0) return revised.place
    place = revised.place
    const known: Tried = new Map()
    for (const [element, names] of tried) {
      const now = revised.find(stand.get(element) ?? element) as ElementNode | undefined
      if (now) known.set(now, names)
    }
    tried = known
  }
}

const ENDLESS = 'its default changes items without end'
const UNWRITABLE = 'what its default has made of the item cannot be written'

function unmade({ missing: { schema, property } }: ChangedItem, reason: string) {
  return { check: 'default' as const, itemtype: schema.type, property: property.name, reason }
}

/** The place of a write that has also replaced items: what it brought to one of them is the whole item (JS-18, MOD-111). */
function aroundChanges(
  { document, part, followed }: WrittenPlace,
  changed: ReadonlyMap<ElementNode, ElementNode>,
): WrittenPlace {
  const same = { document, ...(followed && { followed }) }
  if (!part || changed.size === 0) return { ...same, ...(part && { part }) }
  const items = new Set<AnyNode>(changed.keys())
  const whole = (nodes: readonly ChildNode[]) => [
    ...new Set(nodes.map(node => (aroundIn(node, items) as ElementNode | undefined) ?? node)),
  ]
  const nodes = [...part.nodes]
  const parents = part.parents.map(parent => {
    const item = aroundIn(parent, items) as ElementNode | undefined
    if (item) nodes.push(item)
    return item?.parentNode ?? parent
  })
  const brought = part.brought && whole(part.brought)
  return { ...same, part: { nodes: whole(nodes), parents: [...new Set(parents)], ...(brought && { brought }) } }
}

function noPlace({ missing: { schema, property }, revision: { to } }: Addition) {
  const reason = `there is no place for its default in <${to.tagName}>`
  return { check: 'default' as const, itemtype: schema.type, property: property.name, reason }
}

async function withResolved(judges: Judges, place: WrittenPlace, chains: readonly Chain[]): Promise<WrittenPlace> {
  const { registry, host, path } = judges
  const { ns } = registry.vocabulary
  const revisions: Revision[] = []
  const turns = new TurnsBetween()
  for (const chain of chains) {
    await turns.next()
    for (const revision of await resolve(host, registry, path, place, chain)) revisions.push(revision)
  }
  const revised = await revisedPlace(ns, place, revisions)
  if (revised) return revised.place
  const reason = 'what a resolver gave cannot be written at its place'
  const violations = chains.map(({ schema, property }) => ({
    check: '@write' as const,
    itemtype: schema.type,
    property: property.name,
    reason,
  }))
  throw schemaFault(ns, violations, 500)
}

/**
 * @param followed nodes beside those of the place that will be looked for
 * @returns undefined where it cannot be written, or would be program in a template (COMP-147)
 */
async function revisedPlace(
  ns: string,
  place: WrittenPlace,
  revisions: readonly Revision[],
  followed: readonly AnyNode[] = [],
): Promise<{ place: WrittenPlace; find: Revised['find'] } | undefined> {
  if (revisions.length === 0) return { place, find: node => node }
  const { document, part } = place
  const standing = place.followed?.map(element => element && replacementsOf(element, revisions)[0])
  const nodes = (part?.nodes ?? []).flatMap(node => replacementsOf(node, revisions))
  const brought = part?.brought?.flatMap(node => replacementsOf(node, revisions))
  const parents = part?.parents ?? []
  const tracked = [...nodes, ...parents, ...followed, ...(standing ?? []).flatMap(element => element ?? [])]
  const { length } = document.source
  const programs = await inTurns(findingPrograms(document, ns), length)
  const revised = await inTurns(revising(document, revisions, tracked), length)
  if (!revised || bringsProgram(programs, await inTurns(findingPrograms(revised.document, ns), length)))
    return undefined
  const { find } = revised
  const kept = followedIn(revised, standing)
  if (!part) return { place: { document: revised.document, ...kept }, find }
  const found = parents.flatMap(parent => (find(parent) as ParentNode | undefined) ?? [])
  return {
    find,
    place: {
      document: revised.document,
      ...kept,
      part: {
        nodes: findAll(revised, nodes),
        parents: found,
        ...(brought && { brought: findAll(revised, brought) }),
      },
    },
  }
}

/** What stands for a node after revisions that may replace it. */
function replacementsOf<Node extends AnyNode>(node: Node, revisions: readonly Revision[]): (Node | ElementNode)[] {
  for (const revision of revisions) if (revision.op === 'replace' && revision.element === node) return [...revision.by]
  return [node]
}
