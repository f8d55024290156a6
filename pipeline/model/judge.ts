/** What a proposed document is put through before it may be committed, in the order of MOD-112. */

import type { Fault } from '../fault.ts'
import type { Entry } from '../store/resource.ts'
import type { SiteStore } from '../store/store.ts'
import type { ElementNode, TreeDocument } from '../tree/nodes.ts'
import { inTurns, type Steps, TurnsBetween } from '../tree/steps.ts'
import { complete, type Judges } from './complete.ts'
import { lacksDefaults } from './defaults.ts'
import {
  checkingGroups,
  checkingValues,
  findingInstances,
  INSTANCES_PER_STEP,
  type Instance,
} from './instance-check.ts'
import { findingRequirements, firstBroken, guardName, type Requirement } from './integrity.ts'
import { type ReadValue, valueReader } from './items.ts'
import type { WrittenPlace } from './place.ts'
import type { Registry } from './registry.ts'
import { chainsOf } from './resolvers.ts'
import type { Shape } from './shape.ts'
import { checkingShapes, type ShapeFailure } from './shape-check.ts'
import { checkItemValidators, checkValidators, hasValidators } from './validators.ts'
import { constraintFault, LISTED, type SchemaViolation, schemaFault } from './violations.ts'

/** What is known of a proposed document when everything that can be told from it alone has passed. */
export interface Judgement {
  /** What the commit must find true of the whole site. */
  requirements: readonly Requirement[]
  /** Shapes that are broken; they make the answer only when the requirements hold. */
  failures: readonly ShapeFailure[]
}

/**
 * Judges a document that needs nothing added and no code.
 *
 * @param path canonical path of the document
 * @param shown the same as composition reads it, where that is otherwise: code may have to look at what pages show there
 * @returns undefined when it does need that: then a copy of it has to be judged
 * @throws Fault 422 by the first step that fails
 */
export function* judging(
  registry: Registry,
  path: string,
  place: WrittenPlace,
  shown?: WrittenPlace,
): Steps<Judgement | undefined> {
  if (shown && (yield* findingInstances(registry, shown)).some(each => chainsOf(each).length > 0)) return undefined
  const instances = yield* findingInstances(registry, place)
  for (const [i, instance] of instances.entries()) {
    if (i % INSTANCES_PER_STEP === 0) yield
    if (needsCopy(instance)) return undefined
  }
  return yield* judgingInstances(registry, path, place, instances)
}

/** Whether a document has to be changed further because of an instance, or code has to look at it. */
function needsCopy(instance: Instance): boolean {
  return lacksDefaults(instance) || chainsOf(instance).length > 0 || hasValidators(instance)
}

/**
 * Completes and judges a copy of a proposed document, with all the code that its schemas have.
 *
 * @param place in a document that belongs to the caller alone, and must not be used afterwards
 * @returns the place in the completed document
 * @throws Fault by the first step that fails
 */
export async function judgeCopy(
  judges: Judges,
  place: WrittenPlace,
): Promise<{ place: WrittenPlace; judgement: Judgement }> {
  const completed = await complete(judges, place)
  return { place: completed, judgement: await judgeAsItIs(judges, completed) }
}

/**
 * Judges a copy of a document to which nothing is added.
 *
 * @param place in a document that belongs to the caller alone
 * @throws Fault by the first step that fails
 */
export async function judgeAsItIs({ registry, host, path }: Judges, place: WrittenPlace): Promise<Judgement> {
  const { ns } = registry.vocabulary
  const { length } = place.document.source
  const instances = await inTurns(findingInstances(registry, place), length)
  const validated = instances.filter(hasValidators)
  if (validated.length === 0) return inTurns(judgingInstances(registry, path, place, instances), length)
  await inTurns(judgingValues(registry, instances, valueReader(ns)), length)
  const turns = new TurnsBetween()
  for (const check of [checkValidators, checkItemValidators]) {
    const wrong: SchemaViolation[] = []
    for (const instance of validated) {
      await turns.next()
      const found = await check(host, path, place, instance)
      if (wrong.length < LISTED) wrong.push(...found)
    }
    if (wrong.length > 0) throw schemaFault(ns, wrong)
  }
  return inTurns(concluding(registry, path, place, instances, valueReader(ns)), length)
}

/** Everything but validators. */
function* judgingInstances(
  registry: Registry,
  path: string,
  place: WrittenPlace,
  instances: readonly Instance[],
): Steps<Judgement> {
  const read = valueReader(registry.vocabulary.ns)
  yield* judgingValues(registry, instances, read)
  return yield* concluding(registry, path, place, instances, read)
}

/** Step 3: all failures in one answer. */
function* judgingValues(registry: Registry, instances: readonly Instance[], read: ReadValue): Steps<void> {
  const wrong = yield* checkingValues(registry, instances, read)
  if (wrong.length > 0) throw schemaFault(registry.vocabulary.ns, wrong)
}

/** Steps 6 to 8. */
function* concluding(
  registry: Registry,
  path: string,
  place: WrittenPlace,
  instances: readonly Instance[],
  read: ReadValue,
): Steps<Judgement> {
  const ungrouped = yield* checkingGroups(instances)
  if (ungrouped.length > 0) throw schemaFault(registry.vocabulary.ns, ungrouped)
  const requirements = yield* findingRequirements(registry, instances, read)
  return { requirements, failures: yield* judgingShapes(registry, path, place) }
}

/** Shapes alone: for documents that only come to another place (MOD-110). */
export function judgingShapes(registry: Registry, path: string, place: WrittenPlace): Steps<ShapeFailure[]> {
  return checkingShapes(registry.shapesAt(path), place)
}

/** One reading of a document from which an element is removed. */
interface Removal {
  /** What shapes find in it without the element. */
  failures: readonly ShapeFailure[]
  /** As it is before. */
  document: TreeDocument
  element: ElementNode
}

/**
 * What breaking off an element newly breaks: what was not permitted before does not count, so that bad elements can be
 * removed one by one (MOD-98).
 *
 * @param shapes those that were asked
 * @param readings each is compared with itself alone
 */
export async function newFailures(
  shapes: readonly Shape[],
  ...readings: readonly Removal[]
): Promise<readonly ShapeFailure[]> {
  let all: readonly ShapeFailure[] = []
  for (const { failures, document, element } of readings) {
    const found = failures.some(isClosed)
      ? beyond(failures, await standingFailures(shapes, document, element))
      : failures
    all = allFailures(all, found)
  }
  return all
}

/** What two readings of a document are judged by together, each once. */
export function withReading(own: Judgement, shown: Judgement): Judgement {
  const known = new Set(own.requirements.map(guardName))
  return {
    requirements: [...own.requirements, ...shown.requirements.filter(each => !known.has(guardName(each)))],
    failures: allFailures(own.failures, shown.failures),
  }
}

/** Failures of both readings of a document, each once. */
export function allFailures(own: readonly ShapeFailure[], shown: readonly ShapeFailure[]): readonly ShapeFailure[] {
  const known = new Set(own.map(nameOf))
  return [...own, ...shown.filter(failure => !known.has(nameOf(failure)))]
}

/** Failures of a document around an element of it. */
export async function standingFailures(
  shapes: readonly Shape[],
  document: TreeDocument,
  target: ElementNode,
): Promise<readonly ShapeFailure[]> {
  if (!target.parentNode) return []
  const part = { nodes: [], parents: [target.parentNode] }
  return inTurns(checkingShapes(shapes, { document, part }, target), document.source.length)
}

/** Failures that there were not before the element was removed. */
export function beyond(failures: readonly ShapeFailure[], standing: readonly ShapeFailure[]): readonly ShapeFailure[] {
  const before = new Map<string, number>()
  for (const failure of standing) {
    const key = nameOf(failure)
    before.set(key, (before.get(key) ?? 0) + 1)
  }
  return failures.filter(failure => {
    if (!isClosed(failure)) return true
    const key = nameOf(failure)
    const count = before.get(key) ?? 0
    before.set(key, count - 1)
    return count <= 0
  })
}

/** Of tens of thousands, so that it must be cheap. */
function nameOf({ scope, constraint, message }: ShapeFailure): string {
  return `${scope}\0${constraint}\0${message}`
}

function isClosed({ constraint }: ShapeFailure): boolean {
  return constraint === 'permit'
}

/**
 * Answers for broken shapes, unless a requirement, which comes before them, does not hold either.
 *
 * @param entries what the document would hold
 * @param status 409 for DELETE (MOD-98)
 * @throws Fault when there are failures
 */
export async function refuseFailures(
  registry: Registry,
  store: Pick<SiteStore, 'lookup'>,
  judgement: Judgement,
  written: { path: string; entries: readonly Entry[]; status: 409 | 422 },
): Promise<void> {
  const { failures, requirements } = judgement
  if (failures.length === 0) return
  const broken = await firstBroken(store, requirements, written.path, written.entries)
  throw (broken && requirementFault(registry, broken)) ?? shapeFault(registry, failures, written.status)
}

function shapeFault(registry: Registry, failures: readonly ShapeFailure[], status: 409 | 422): Fault {
  const violationOf = ({ scope, constraint, message }: ShapeFailure) => ({
    constraintSelector: scope,
    failedConstraint: constraint,
    message,
  })
  const discreetly = () => {
    const told = failures.map(failure => {
      const { scope, isStanding } = failure
      return isStanding
        ? { ...failure, message: `Something that stands in '${scope}' is not permitted there` }
        : failure
    })
    return [...new Map(told.map(failure => [nameOf(failure), violationOf(failure)])).values()]
  }
  return constraintFault(registry.vocabulary.ns, 'shape', failures.map(violationOf), status, discreetly)
}

/** The answer when a requirement did not hold at the commit. */
export function requirementFault(registry: Registry, { answer }: Requirement): Fault | undefined {
  if (!answer) return undefined
  const { which, violation } = answer
  return constraintFault(registry.vocabulary.ns, which, [violation], which === 'restrict' ? 409 : 422)
}
