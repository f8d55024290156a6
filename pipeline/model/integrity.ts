/** Uniqueness and references: what a commit must find true of the whole site (MOD-40 to MOD-43, MOD-50, MOD-51). */

import { setImmediate } from 'node:timers/promises'
import type { Count, Guard } from '../store/commit.ts'
import type { Entry } from '../store/resource.ts'
import type { SiteStore } from '../store/store.ts'
import { isElement } from '../tree/nodes.ts'
import { NODES_PER_STEP, type Steps, TurnsBetween } from '../tree/steps.ts'
import { valueKey } from './entries.ts'
import type { Instance } from './instance-check.ts'
import type { ReadValue } from './items.ts'
import type { Registry } from './registry.ts'
import { propertiesAmong } from './schema.ts'
import type { ConstraintCase, ConstraintViolation } from './violations.ts'

/** A guard with what is answered when it does not hold. */
export interface Requirement {
  guard: Guard & { expect: Count }
  /** Without an answer the write has been worked out on a state that has passed, and is to be worked out again. */
  answer: { which: ConstraintCase; violation: ConstraintViolation } | undefined
}

/** Combinations of values of one composite group that are looked at for one instance. */
const COMBINATIONS = 1_000

/**
 * Values that the combinations of one write name together: each names one of every member of its group, and all are looked for
 * while other commits wait.
 */
const MOST_COMBINED = 20_000

/** Types of one item that look for each of its values; what further ones look for counts as combinations do. */
const FEW_TYPES = 8

/** Members of a group that cost as much as a question. */
const MEMBERS_PER_QUESTION = 10

/** Questions that are put together in one step, and keys that they ask for. */
const QUESTIONS_PER_STEP = 200

/** Keys that one write asks for to find what its references name: each is looked for below every type that descends from theirs. */
export const MOST_KEYS = 200_000

/** References of all instances, then uniqueness (MOD-112, step 7); each question once. */
export function* findingRequirements(
  registry: Registry,
  instances: readonly Instance[],
  read: ReadValue,
): Steps<Requirement[]> {
  const found = new Map<string, Requirement>()
  const room = { keys: MOST_KEYS, combined: MOST_COMBINED }
  const kinds = [
    (instance: Instance) => referencesOf(registry, instance, read, room),
    (instance: Instance) => uniquenessOf(instance, read, room),
  ]
  let asked = 0
  for (const requirementsOf of kinds) {
    for (const instance of instances) {
      for (const requirement of requirementsOf(instance)) {
        if (requirement === 'pause') {
          yield
          continue
        }
        asked += 1 + (requirement?.guard.any.length ?? 0)
        if (asked >= QUESTIONS_PER_STEP) {
          asked = 0
          yield
        }
        if (!requirement) continue
        const key = guardName(requirement)
        if (!found.has(key)) found.set(key, requirement)
      }
    }
    yield
  }
  return [...found.values()]
}

/** Requirements of one name ask the same. */
export function guardName({ guard: { any, expect } }: Requirement): string {
  return `${expect} ${JSON.stringify(any)}`
}

/** Values of a property that count: text that is not empty, each once. */
function* valuesOf({ item }: Instance, name: string, read: ReadValue): Generator<'pause', string[]> {
  const values = new Set<string>()
  for (const [i, element] of (item.properties.get(name) ?? []).entries()) {
    // Values in each other hold the same nodes once more each.
    if (i % NODES_PER_STEP === NODES_PER_STEP - 1 || element.childNodes.some(isElement)) yield 'pause'
    const value = read(element, item)
    if (value !== undefined && value !== '') values.add(value)
  }
  return [...values]
}

/** Questions of one item; undefined for a property that asks none. */
type Questions = Generator<Requirement | 'pause' | undefined>

function* referencesOf(registry: Registry, instance: Instance, read: ReadValue, room: { keys: number }): Questions {
  for (const schema of instance.schemas) {
    for (const { name, references } of propertiesAmong(schema, instance.item.properties)) {
      yield
      if (!references || references === 'broken') continue
      const types = registry.schema(references.type) ? [...registry.subtypes(references.type)] : []
      for (const value of yield* valuesOf(instance, name, read)) {
        if ((room.keys -= types.length) < 0) {
          yield tooManyTypes(schema.type, name)
          return
        }
        yield {
          guard: { any: types.map(type => [valueKey(type, references.property, value)]), expect: 'some' },
          answer: {
            which: 'reference',
            violation: {
              constraintSelector: selectorOf([name]),
              failedConstraint: `references(${name})`,
              message: `No ${references.type} has the ${references.property} '${value}' that ${name} refers to`,
              itemtype: schema.type,
              properties: [name],
            },
          },
        }
      }
    }
  }
}

function* uniquenessOf(instance: Instance, read: ReadValue, room: { combined: number }): Questions {
  const { properties } = instance.item
  for (const [i, schema] of instance.schemas.entries()) {
    for (const { name, unique } of propertiesAmong(schema, properties)) {
      yield
      if (!unique) continue
      for (const value of yield* valuesOf(instance, name, read)) {
        if (i >= FEW_TYPES && --room.combined < 0) {
          yield tooMany(schema.type, name, [name])
          break
        }
        yield {
          guard: { any: [[valueKey(schema.type, name, value)]], expect: 'single' },
          answer: {
            which: 'unique',
            violation: {
              constraintSelector: selectorOf([name]),
              failedConstraint: `unique(${name})`,
              message: `Uniqueness violated: another ${schema.type} has the ${name} '${value}' already`,
              itemtype: schema.type,
              properties: [name],
            },
          },
        }
      }
    }
    for (const [group, members] of schema.composites) {
      yield
      // No combination is without any of them.
      if (!members.every(name => properties.has(name))) continue
      const values: { name: string; value: string }[][] = []
      for (const name of members) values.push((yield* valuesOf(instance, name, read)).map(value => ({ name, value })))
      const count = values.reduce((product, list) => product * list.length, 1)
      if (count > COMBINATIONS || (room.combined -= count * members.length) < 0) {
        yield tooMany(schema.type, group, members)
        continue
      }
      for (const combination of combinations(values)) {
        // Each is as long as the group.
        for (let named = 0; named < members.length; named += MEMBERS_PER_QUESTION) yield
        const told = combination.map(({ name, value }) => `${name} '${value}'`).join(', ')
        yield {
          guard: {
            any: [combination.map(({ name, value }) => valueKey(schema.type, name, value))],
            expect: 'single',
          },
          answer: {
            which: 'unique',
            violation: {
              constraintSelector: selectorOf(members),
              failedConstraint: `unique-group(${group})`,
              message: `Uniqueness violated: another ${schema.type} has the same ${told} already`,
              itemtype: schema.type,
              properties: members,
            },
          },
        }
      }
    }
  }
}

/** References that cannot be looked for any more; the guard never holds. */
function tooManyTypes(itemtype: string, name: string): Requirement {
  return {
    guard: { any: [], expect: 'some' },
    answer: {
      which: 'reference',
      violation: {
        constraintSelector: selectorOf([name]),
        failedConstraint: `references(${name})`,
        message: `References cannot be told: those of one write ask for more than ${MOST_KEYS} values, each below every type of ${name}`,
        itemtype,
        properties: [name],
      },
    },
  }
}

/** An instance with more combinations than can be looked at; its guard never holds. */
function tooMany(itemtype: string, group: string, members: readonly string[]): Requirement {
  return {
    guard: { any: [], expect: 'some' },
    answer: {
      which: 'unique',
      violation: {
        constraintSelector: selectorOf(members),
        failedConstraint: `unique-group(${group})`,
        message: `Uniqueness cannot be told: ${shownNames(members)} have more than ${COMBINATIONS} combinations of values, or those of all items name more than ${MOST_COMBINED}`,
        itemtype,
        properties: members,
      },
    },
  }
}

/** Names that a sentence tells. */
const SHOWN = 20

function shownNames(names: readonly string[]): string {
  return names.length <= SHOWN
    ? names.join(', ')
    : `${names.slice(0, SHOWN).join(', ')} and ${names.length - SHOWN} more`
}

/** Every choice of one element from each list. */
function combinations<T>(lists: readonly (readonly T[])[]): T[][] {
  let chosen: T[][] = [[]]
  for (const list of lists) {
    const [only] = list
    // What leaves no choice is copied for nobody.
    if (only !== undefined && list.length === 1) for (const head of chosen) head.push(only)
    else chosen = chosen.flatMap(head => list.map(each => [...head, each]))
  }
  return chosen
}

/** Names of properties as a selector of their elements (MOD-131). */
function selectorOf(names: readonly string[]): string {
  return names.map(name => `[itemprop='${name}']`).join(', ')
}

/** Entries looked at before others get their turn. */
const SLICE = 200

/**
 * The first requirement that would not hold, told from the committed state and what a write would store, for writes that
 * are refused for a later reason (MOD-112).
 *
 * @param path of the document that the write replaces
 * @param entries what the document would hold
 */
export async function firstBroken(
  store: Pick<SiteStore, 'lookup'>,
  requirements: readonly Requirement[],
  path: string,
  entries: readonly Entry[],
): Promise<Requirement | undefined> {
  const asked = new Set<string>()
  for (const [i, { guard }] of requirements.entries()) {
    if (i % SLICE === SLICE - 1) await setImmediate()
    for (const keys of guard.any) for (const key of keys) asked.add(key)
  }
  const own = new Map<string, Set<string>>()
  for (const [i, { item, keys }] of entries.entries()) {
    if (i % SLICE === SLICE - 1) await setImmediate()
    for (const key of keys) {
      if (!asked.has(key)) continue
      const items = own.get(key)
      if (items) items.add(item)
      else own.set(key, new Set([item]))
    }
  }
  const nobody: ReadonlySet<string> = new Set()
  const countOwn = (keys: readonly string[]) => {
    const [rarest = nobody, ...rest] = keys.map(key => own.get(key) ?? nobody).sort((a, b) => a.size - b.size)
    return [...rarest].filter(item => rest.every(items => items.has(item))).length
  }
  const turns = new TurnsBetween()
  for (const requirement of requirements) {
    const { any, expect } = requirement.guard
    let count = 0
    for (const keys of any) {
      // An embedded store answers at once, and some questions take a hundred times as long as others.
      await turns.next()
      const others = await store.lookup(keys)
      count += countOwn(keys) + others.filter(other => other.path !== path).length
    }
    const holds = expect === 'some' ? count > 0 : count <= (expect === 'single' ? 1 : 0)
    if (!holds) return requirement
  }
  return undefined
}
