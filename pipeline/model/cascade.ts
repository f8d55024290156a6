/**
 * Referential actions: what happens on the rest of the site when the last item that holds a value loses it (MOD-52 to
 * MOD-56). Everything is worked out before anything is committed; guards see to it that it is still true then.
 */

import { setImmediate } from 'node:timers/promises'
import { Fault } from '../fault.ts'
import { inTurns, type Steps, TurnsBetween } from '../tree/steps.ts'
import type { CodeHost } from './code.ts'
import { countingReferrers, type Effect, following } from './effect.ts'
import { valueKey } from './entries.ts'
import type { Referrer } from './inheritance.ts'
import { MOST_KEYS, type Requirement } from './integrity.ts'
import { judgeAsItIs, judgeCopy, withReading } from './judge.ts'
import { findingHoldings, findingLosses, type Loss, tracing } from './losses.ts'
import type { WrittenPlace } from './place.ts'
import type { Registry } from './registry.ts'
import { openingShown } from './shown-place.ts'
import { constraintFault } from './violations.ts'
import { type CascadeSite, keysOf, type OwnDocument, WorkingDocuments } from './working.ts'

/** Documents that one write may change besides its own (MOD, section 15). */
const MOST = 10_000

/** UTF-16 code units of documents that one write may change again, each as often as effects come back to it. */
const MOST_AGAIN = 16 * 1024 * 1024

/** UTF-16 code units of values that one write may have written elsewhere: a long one may have thousands that refer to it. */
const MOST_WRITTEN = 8 * 1024 * 1024

/** Values that are followed before others get their turn. */
const SLICE = 20

export interface Cascade {
  requirements: Requirement[]
  /** Documents that are changed, by path; undefined where one is deleted. Those of the write itself may be among them. */
  effects: Map<string, WrittenPlace | undefined>
}

/**
 * Follows what a write takes away: all values that it takes, then all that the effects of this take, and so on.
 *
 * @param own documents that the write changes, by path
 * @throws Fault 409 when a referrer forbids it, or an effect would break something (MOD-56)
 */
export async function cascade(
  registry: Registry,
  host: CodeHost,
  site: CascadeSite,
  losses: readonly Loss[],
  own: ReadonlyMap<string, OwnDocument>,
): Promise<Cascade> {
  const requirements: Requirement[] = []
  const working = await inTurns(WorkingDocuments.of(registry.vocabulary.ns, site, own), 0)
  const done = new Set<string>()
  /** Values that somebody else holds, as far as it is known by now. */
  const standing = new Map<string, Requirement>()
  /** Keys that no document may hold in the end. */
  const ended = new Set<string>()
  let again = 0
  let written = 0

  const open = async (path: string): Promise<WrittenPlace | undefined> => {
    const place = await working.open(path)
    if (working.opened > MOST) throw blocked(registry, undefined, MOST, TOO_MANY)
    return place
  }

  /** @returns what the effects take away in their turn */
  const apply = async (path: string, effects: readonly Effect[]): Promise<Loss[]> => {
    await setImmediate()
    const place = await open(path)
    if (!place) return []
    const { length } = place.document.source
    if (working.isChanged(path) && (again += length) > MOST_AGAIN) throw blocked(registry, undefined, 1, TOO_MANY)
    const before = await inTurns(findingHoldings(registry, place.document), length)
    const outcome = await inTurns(following(registry, place, effects, own.has(path), MOST_WRITTEN - written), length)
    if (outcome === 'too-much') throw blocked(registry, undefined, 1, TOO_MANY)
    if (outcome === 'unwritable') throw blocked(registry, effects[0]?.referrer, 1)
    const after = outcome === 'gone' ? undefined : outcome.place
    if (outcome !== 'gone') written += outcome.written
    await working.change(path, after)
    const losing = function* (): Steps<Loss[]> {
      const lost = yield* findingLosses(before, yield* findingHoldings(registry, after?.document))
      return outcome === 'gone' ? lost : yield* tracing(lost, outcome.pairs)
    }
    return inTurns(losing(), length)
  }

  const turns = new TurnsBetween()
  let looked = 0
  const look = (keys: number): void => {
    if ((looked += keys) > MOST_KEYS) throw blocked(registry, undefined, 1, TOO_MANY)
  }
  const endsWith = (keys: readonly string[]): void => {
    for (const key of keys) ended.add(key)
    requirements.push({ guard: { any: keys.map(key => [key]), expect: 'none' }, answer: undefined })
  }

  /** @param effects gets what follows, by path */
  const carryOut = async (
    target: string,
    { property, value, to }: Loss,
    effects: Map<string, Effect[]>,
  ): Promise<void> => {
    const name = JSON.stringify([target, property, value])
    if (done.has(name)) return
    const declaring = registry.inheritance.declaring(target, property)
    if (!declaring.some(({ reference }) => reference.cascade !== 'none')) return
    const types = registry.subtypes(target)
    look(types.size)
    const values = [...types].map(type => valueKey(type, property, value))
    if ((await working.holders(values)).length > 0) {
      standing.set(name, { guard: { any: values.map(key => [key]), expect: 'some' }, answer: undefined })
      return
    }
    standing.delete(name)
    done.add(name)
    endsWith(values)
    const restricted = declaring.some(({ reference }) => reference.cascade === 'restrict')
    const referrers = declaring.filter(({ reference }) => restricted || reference.cascade === 'follow')
    for (const referrer of referrers.values().flatMap(each => registry.inheritance.inheriting(each))) {
      // An embedded store answers at once.
      await turns.next()
      look(1)
      const key = valueKey(referrer.type, referrer.name, value)
      const paths = await working.holders([key])
      if (restricted && paths.length > 0) throw blocked(registry, referrer, await count(paths, referrer, value))
      for (const path of paths) {
        const known = effects.get(path)
        if (known) known.push({ referrer, value, to })
        else effects.set(path, [{ referrer, value, to }])
      }
      endsWith([key])
    }
  }

  const count = async (paths: readonly string[], referrer: Referrer, value: string): Promise<number> => {
    let items = 0
    for (const path of paths) {
      const place = await open(path)
      if (!place) continue
      items += await inTurns(countingReferrers(registry, place, referrer, value), place.document.source.length)
    }
    return items
  }

  for (let waiting = losses; waiting.length > 0; ) {
    const effects = new Map<string, Effect[]>()
    for (const [i, loss] of waiting.entries()) {
      if (i % SLICE === SLICE - 1) await setImmediate()
      await turns.next()
      for (const target of registry.schema(loss.type)?.chain ?? [loss.type]) await carryOut(target, loss, effects)
    }
    const next: Loss[] = []
    for (const [path, list] of effects) for (const loss of await apply(path, list)) next.push(loss)
    waiting = next
  }
  for (const requirement of standing.values()) requirements.push(requirement)
  const effects = new Map<string, WrittenPlace | undefined>()
  for (const [path, place] of working.changes()) {
    await setImmediate()
    const completed = place && (await judged(registry, host, path, place, requirements))
    // A default, or what a resolver makes, can bring back what the document has just lost.
    const keys = completed ? await keysOf(completed, registry.vocabulary.ns) : []
    for (const key of keys) if (ended.has(key)) throw blocked(registry, undefined, 1)
    effects.set(path, completed)
  }
  return { requirements, effects }
}

/** A requirement that only an effect can break: then the write is refused for what follows from it (MOD-56). */
export function ofEffect({ guard }: Requirement): Requirement {
  return { guard, answer: { which: 'restrict', violation: violationOf(undefined, 1) } }
}

/** Effects are writes, too: what would refuse them refuses the whole (MOD-56). */
async function judged(
  registry: Registry,
  host: CodeHost,
  path: string,
  place: WrittenPlace,
  requirements: Requirement[],
): Promise<WrittenPlace> {
  try {
    const { place: completed, judgement } = await judgeCopy({ registry, host, path }, place)
    const { length } = completed.document.source
    // Pages may show the items otherwise (COMP-147).
    const shown = await inTurns(openingShown(completed), length)
    const asShown = shown && (await judgeAsItIs({ registry, host, path }, shown))
    const all = asShown ? withReading(judgement, asShown) : judgement
    if (all.failures.length > 0) throw blocked(registry, undefined, 1, 'a shape does not permit it')
    for (const requirement of all.requirements) requirements.push(ofEffect(requirement))
    return completed
  } catch (error) {
    if (error instanceof Fault && error.status === 422) throw blocked(registry, undefined, 1, UNFIT)
    throw error
  }
}

/** An effect would make transitions that no rule permits (MOD-56); nothing is told of where. */
export function transitionsBlocked(registry: Registry, items: number): Fault {
  const violation = violationOf(undefined, items)
  const message = `${violation.message}: no rule permits the transition`
  return constraintFault(registry.vocabulary.ns, 'restrict', [{ ...violation, message }], 409)
}

const TOO_MANY = 'one write may not change so much'
const UNFIT = 'the schema of what refers to it does not accept what would become of that'

/**
 * @param referrer the property that stands in the way; undefined when an effect would break something
 * @param why what it would break
 */
function blocked(registry: Registry, referrer: Referrer | undefined, items: number, why?: string): Fault {
  return constraintFault(registry.vocabulary.ns, 'restrict', [violationOf(referrer, items, why)], 409)
}

function violationOf(referrer: Referrer | undefined, items: number, why?: string) {
  const are = items === 1 ? '1 item refers' : `${items} items refer`
  if (!referrer) {
    const message = `${are} to it and cannot follow${why === undefined ? '' : `: ${why}`}`
    return { constraintSelector: ':root', failedConstraint: 'cascade', message }
  }
  const { type, name, reference } = referrer
  return {
    constraintSelector: `[itemprop='${reference.property}']`,
    failedConstraint: `restrict(${name})`,
    message: `${are} to this ${reference.property} by ${name}`,
    itemtype: type,
    properties: [name],
  }
}
