/**
 * What the code of resolvers makes of values: `@write` before they are judged and stored, `@read` in representations (MOD-70
 * to MOD-73).
 */

import { toldFailure } from '../language/told.ts'
import { comparing } from '../tree/compare.ts'
import { isConfiguration } from '../tree/microdata-value.ts'
import type { ElementNode, TreeDocument } from '../tree/nodes.ts'
import { inTurns, NODES_PER_STEP, type Steps } from '../tree/steps.ts'
import {
  budgetFault,
  type CodeHost,
  type CodeResult,
  type CodeValues,
  type Given,
  isSpent,
  responseFault,
} from './code.ts'
import type { Instance } from './instance-check.ts'
import { keepingNames } from './kept-names.ts'
import type { WrittenPlace } from './place.ts'
import type { Registry } from './registry.ts'
import type { Revision } from './revise.ts'
import { propertiesAmong, type Schema, type SchemaProperty } from './schema.ts'
import { schemaFault } from './violations.ts'
import { writingTexts } from './write-back.ts'

/** A property with values, and the chain that they go through. */
export interface Chain {
  instance: Instance
  schema: Schema
  property: SchemaProperty
  elements: readonly ElementNode[]
}

export function chainsOf({ item, schemas }: Instance): Chain[] {
  return schemas.flatMap(schema => {
    if (schema.cyclic) return []
    return propertiesAmong(schema, item.properties).flatMap(property => {
      const elements = item.properties.get(property.name)
      return elements && property.write.length > 0 ? [{ instance: { item, schemas }, schema, property, elements }] : []
    })
  })
}

/**
 * Runs the chain of one property.
 *
 * @throws Fault 500 when code fails (MOD-73), 501 or 503 when it cannot be run, or the one that code throws
 */
export async function resolve(
  host: CodeHost,
  registry: Registry,
  path: string,
  { document }: WrittenPlace,
  chain: Chain,
): Promise<Revision[]> {
  let values: readonly ElementNode[] = chain.elements
  for (const code of chain.property.write) {
    if (values.length === 0) break
    const at = valuesFor(chain, values, path, document)
    const outcome = await host.write(code, at)
    if ('response' in outcome) throw responseFault(outcome.response)
    const told = 'value' in outcome ? outcome : { failure: toldFailure(outcome.failure, code.source) }
    values = await inTurns(takingValues(registry, '@write', chain, at, values, told), 0)
  }
  return replacements(chain.elements, values)
}

/** What a step of a chain is given. */
export function valuesFor(
  { instance, schema, property }: Chain,
  values: readonly ElementNode[],
  path: string,
  document: TreeDocument,
): CodeValues {
  return {
    path,
    document,
    element: instance.item.element,
    itemtype: schema.type,
    property: property.name,
    elements: values,
    asList: isList(property, values.length),
  }
}

/**
 * The values behind a step of a chain, in steps: code may have given many.
 *
 * @param at what the step was given
 * @param before the values that it was given copies of
 * @throws Fault 500 when it has failed, 503 when a budget is spent (MOD-73, MOD-133)
 */
export function* takingValues(
  registry: Registry,
  check: '@write' | '@read',
  { instance, schema, property }: Chain,
  at: CodeValues,
  before: readonly ElementNode[],
  outcome: Exclude<CodeResult<Given>, { response: unknown }>,
): Steps<readonly ElementNode[]> {
  const { ns } = registry.vocabulary
  const into = check === '@write' ? { at, registry } : undefined
  if ('value' in outcome)
    return yield* taking(outcome.value, at.elements, before, isConfiguration(instance.item.types, ns), into)
  const { failure } = outcome
  if (isSpent(failure)) throw budgetFault(failure)
  // What does not compile is skipped; the rest of the chain runs (MOD-73).
  if (failure.variant === 'parse') return before
  const reason = `its resolver failed: ${failure.message}`
  throw schemaFault(ns, [{ check, itemtype: schema.type, property: property.name, reason, failure }], 500)
}

/** MOD-65: several values, or a cardinality that spells out that there may be. */
export function isList({ cardinality }: SchemaProperty, count: number): boolean {
  return count > 1 || (cardinality.text?.endsWith('n') ?? false)
}

/** What code gave, as elements: the original where its copy came back as it was. @param into where it will be stored */
function* taking(
  result: Given,
  copies: readonly ElementNode[],
  originals: readonly ElementNode[],
  byContent: boolean,
  into: { at: CodeValues; registry: Registry } | undefined,
): Steps<ElementNode[]> {
  if ('texts' in result) return yield* writingTexts(result.texts, originals, byContent)
  const taken: ElementNode[] = []
  const places = new Map(copies.map((copy, i) => [copy, originals[i]]))
  for (const element of result.elements) {
    const original = places.get(element)
    const isKept = original !== undefined && (yield* comparing([original], [element]))
    if (!isKept) element.sourceCodeLocation = null
    if (!isKept && into) yield* keepingNames(element, into.at.element, into.at.document.kind, into.registry)
    taken.push(isKept ? original : element)
    if (taken.length % NODES_PER_STEP === 0) yield
  }
  return taken
}

/** New values take the places of the old ones; surplus ones follow the last, missing ones are removed. */
export function replacements(before: readonly ElementNode[], after: readonly ElementNode[]): Revision[] {
  if (before.length === after.length && before.every((element, i) => element === after[i])) return []
  return before.map((element, i) => {
    const isLast = i === before.length - 1
    const own = isLast ? after.slice(i) : after.slice(i, i + 1)
    return { op: 'replace', element, by: own }
  })
}
