/** The first steps of MOD-112: defaults and `@write` chains, which change what is about to be stored. */

import type { AnyNode, ElementNode, ParentNode } from '../tree/nodes.ts'
import { inTurns } from '../tree/steps.ts'
import type { CodeHost } from './code.ts'
import { type Addition, additionsFor, keeper, missingDefaults } from './defaults.ts'
import { findingInstances } from './instance-check.ts'
import type { WrittenPlace } from './place.ts'
import type { Registry } from './registry.ts'
import { chainsOf, resolve } from './resolvers.ts'
import { findAll, type Revision, revising } from './revise.ts'
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
  return withResolved(judges, defaulted)
}

async function withDefaults({ registry, host, path }: Judges, place: WrittenPlace): Promise<WrittenPlace> {
  const instances = await inTurns(findingInstances(registry, place), place.document.source.length)
  const missing = instances.flatMap(missingDefaults)
  if (missing.length === 0) return place
  const { ns } = registry.vocabulary
  const { additions, violations } = await additionsFor(host, path, place, missing)
  if (violations.length > 0) throw schemaFault(ns, violations)
  const isKept = keeper(place.document.kind)
  const unkept = additions.filter(addition => !isKept(addition))
  const revised =
    unkept.length > 0
      ? undefined
      : await revisedPlace(
          place,
          additions.map(({ revision }) => revision),
        )
  if (revised) return revised
  throw schemaFault(ns, (unkept.length > 0 ? unkept : additions).map(noPlace))
}

function noPlace({ missing: { schema, property }, revision: { to } }: Addition) {
  const reason = `there is no place for its default in <${to.tagName}>`
  return { check: 'default' as const, itemtype: schema.type, property: property.name, reason }
}

async function withResolved(judges: Judges, place: WrittenPlace): Promise<WrittenPlace> {
  const { registry, host, path } = judges
  const { ns } = registry.vocabulary
  const instances = await inTurns(findingInstances(registry, place), place.document.source.length)
  const chains = instances.flatMap(chainsOf)
  const revisions: Revision[] = []
  for (const chain of chains) revisions.push(...(await resolve(host, ns, path, place, chain)))
  const revised = await revisedPlace(place, revisions)
  if (revised) return revised
  const reason = 'what a resolver gave cannot be written at its place'
  const violations = chains.map(({ schema, property }) => ({
    check: '@write' as const,
    itemtype: schema.type,
    property: property.name,
    reason,
  }))
  throw schemaFault(ns, violations, 500)
}

async function revisedPlace(place: WrittenPlace, revisions: readonly Revision[]): Promise<WrittenPlace | undefined> {
  if (revisions.length === 0) return place
  const { document, part } = place
  const nodes = (part?.nodes ?? []).flatMap(node => replacementsOf(node, revisions))
  const brought = part?.brought?.flatMap(node => replacementsOf(node, revisions))
  const parents = part?.parents ?? []
  const revised = await inTurns(revising(document, revisions, [...nodes, ...parents]), document.source.length)
  if (!revised) return undefined
  if (!part) return { document: revised.document }
  const found = parents.flatMap(parent => (revised.find(parent) as ParentNode | undefined) ?? [])
  return {
    document: revised.document,
    part: {
      nodes: findAll(revised, nodes),
      parents: found,
      ...(brought && { brought: findAll(revised, brought) }),
    },
  }
}

/** What stands for a node after revisions that may replace it. */
function replacementsOf<Node extends AnyNode>(node: Node, revisions: readonly Revision[]): (Node | ElementNode)[] {
  for (const revision of revisions) if (revision.op === 'replace' && revision.element === node) return [...revision.by]
  return [node]
}
