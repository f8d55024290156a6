/**
 * Referential actions: what happens on the rest of the site when the last item that holds a value loses it (MOD-52 to
 * MOD-56). Everything is worked out before anything is committed; guards see to it that it is still true then.
 */

import { setImmediate } from 'node:timers/promises'
import { Fault } from '../fault.ts'
import type { Entry, SiteStore } from '../store/store.ts'
import { inTurns, type Steps } from '../tree/steps.ts'
import type { CodeHost } from './code.ts'
import { countingReferrers, type Effect, following } from './effect.ts'
import { listingEntries, valueKey } from './entries.ts'
import type { Requirement } from './integrity.ts'
import { findingItems } from './items.ts'
import { judgeCopy } from './judge.ts'
import { findingHoldings, findingLosses, type Loss, tracing } from './losses.ts'
import type { WrittenPlace } from './place.ts'
import type { Referrer, Registry } from './registry.ts'
import { constraintFault } from './violations.ts'

/** Documents that one write may change besides its own (MOD, section 15). */
const MOST = 10_000

/** UTF-16 code units of documents that one write may change again, each as often as effects come back to it. */
const MOST_AGAIN = 16 * 1024 * 1024

/** Values that are followed before others get their turn. */
const SLICE = 20

/** A document that the write itself changes, as it would be stored without cascades. */
export interface OwnDocument {
  entries: readonly Entry[]
  /** A copy that belongs to the cascade; never asked for when the document is gone. */
  open(): Promise<WrittenPlace>
}

/** What the cascade needs of the site. */
export interface CascadeSite {
  store: Pick<SiteStore, 'lookup'>
  /** A copy of a stored document that belongs to the cascade; undefined when it is gone. */
  open(path: string): Promise<WrittenPlace | undefined>
  /** Whether a document goes with the write. */
  isGone(path: string): boolean
}

export interface Cascade {
  requirements: Requirement[]
  /** Documents that are changed, by path; undefined where one is deleted. Those of the write itself may be among them. */
  effects: Map<string, WrittenPlace | undefined>
}

/** A document on its way through the cascade. */
interface Working {
  place: WrittenPlace | undefined
  keys: ReadonlySet<string>
  /** Whether an effect has changed it. */
  changed: boolean
  open(): Promise<WrittenPlace>
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
  const working = new Map<string, Working>()
  /** Paths of working documents by the keys that they hold. */
  const held = new Map<string, Set<string>>()
  const done = new Set<string>()
  /** Values that somebody else holds, as far as it is known by now. */
  const standing = new Map<string, Requirement>()
  /** Keys that no document may hold in the end. */
  const ended = new Set<string>()
  let again = 0

  const take = (path: string, document: Working, keys: ReadonlySet<string>): void => {
    for (const key of document.keys) held.get(key)?.delete(path)
    for (const key of keys) held.set(key, (held.get(key) ?? new Set()).add(path))
    document.keys = keys
    working.set(path, document)
  }
  for (const [path, { entries, open }] of own) {
    const keys = new Set(entries.flatMap(entry => entry.keys))
    take(path, { place: undefined, keys: new Set(), changed: false, open }, keys)
  }

  /** Paths of the documents that hold an entry with one of some keys, as things stand in the cascade. */
  const holders = async (keys: readonly string[]): Promise<string[]> => {
    const paths = new Set<string>()
    for (const key of keys) {
      for (const { path } of await site.store.lookup([key]))
        if (!working.has(path) && !site.isGone(path)) paths.add(path)
      for (const path of held.get(key) ?? []) paths.add(path)
    }
    return [...paths].sort()
  }

  const open = async (path: string): Promise<Working | undefined> => {
    const known = working.get(path)
    if (known) {
      known.place ??= await known.open()
      return known
    }
    const place = await site.open(path)
    if (!place) return undefined
    if (working.size - own.size >= MOST) throw blocked(registry, undefined, MOST)
    const opened: Working = { place, keys: new Set(), changed: false, open: async () => place }
    take(path, opened, await keysOf(registry, place))
    return opened
  }

  /** @returns what the effects take away in their turn */
  const apply = async (path: string, effects: readonly Effect[]): Promise<Loss[]> => {
    await setImmediate()
    const document = await open(path)
    if (!document?.place) return []
    const { place } = document
    const { length } = place.document.source
    if (document.changed && (again += length) > MOST_AGAIN) throw blocked(registry, undefined, 1)
    const before = await inTurns(findingHoldings(registry, place.document), length)
    const outcome = await inTurns(following(registry, place, effects, own.has(path)), length)
    if (outcome === 'unwritable') throw blocked(registry, effects[0]?.referrer, 1)
    document.changed = true
    document.place = outcome === 'gone' ? undefined : outcome.place
    take(path, document, document.place ? await keysOf(registry, document.place) : new Set())
    const losing = function* (): Steps<Loss[]> {
      const lost = yield* findingLosses(before, yield* findingHoldings(registry, document.place?.document))
      return outcome === 'gone' ? lost : yield* tracing(lost, outcome.pairs)
    }
    return inTurns(losing(), length)
  }

  const endsWith = (keys: readonly string[]): void => {
    for (const key of keys) ended.add(key)
    requirements.push({ guard: { any: keys.map(key => [key]), expect: 'none' }, answer: undefined })
  }

  /** @param effects gets what follows, by path */
  const settle = async (
    target: string,
    { property, value, to }: Loss,
    effects: Map<string, Effect[]>,
  ): Promise<void> => {
    const name = JSON.stringify([target, property, value])
    if (done.has(name)) return
    const referrers = registry.referrers(target, property)
    if (!referrers.some(({ reference }) => reference.cascade !== 'none')) return
    const values = [...registry.subtypes(target)].map(type => valueKey(type, property, value))
    if ((await holders(values)).length > 0) {
      standing.set(name, { guard: { any: values.map(key => [key]), expect: 'some' }, answer: undefined })
      return
    }
    standing.delete(name)
    done.add(name)
    endsWith(values)
    const restricted = referrers.some(({ reference }) => reference.cascade === 'restrict')
    for (const referrer of referrers) {
      if (!restricted && referrer.reference.cascade !== 'follow') continue
      const key = valueKey(referrer.schema.type, referrer.property.name, value)
      const paths = await holders([key])
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
      const place = (await open(path))?.place
      if (!place) continue
      items += await inTurns(countingReferrers(registry, place, referrer, value), place.document.source.length)
    }
    return items
  }

  for (let waiting = losses; waiting.length > 0; ) {
    const effects = new Map<string, Effect[]>()
    for (const [i, loss] of waiting.entries()) {
      if (i % SLICE === SLICE - 1) await setImmediate()
      for (const target of registry.schema(loss.type)?.chain ?? [loss.type]) await settle(target, loss, effects)
    }
    const next: Loss[] = []
    for (const [path, list] of effects) for (const loss of await apply(path, list)) next.push(loss)
    waiting = next
  }
  requirements.push(...standing.values())
  const effects = new Map<string, WrittenPlace | undefined>()
  for (const [path, { place, changed }] of working) {
    if (!changed) continue
    await setImmediate()
    const completed = place && (await judged(registry, host, path, place, requirements))
    // A default, or what a resolver makes, can bring back what the document has just lost.
    const keys = completed ? await keysOf(registry, completed) : []
    for (const key of keys) if (ended.has(key)) throw blocked(registry, undefined, 1)
    effects.set(path, completed)
  }
  return { requirements, effects }
}

async function keysOf(registry: Registry, { document }: WrittenPlace): Promise<Set<string>> {
  const listing = function* (): Steps<Set<string>> {
    const keys = new Set<string>()
    const items = yield* findingItems(document.root)
    for (const entry of yield* listingEntries(items, registry.vocabulary.ns))
      for (const key of entry.keys) keys.add(key)
    return keys
  }
  return inTurns(listing(), document.source.length)
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
  const refused = blocked(registry, undefined, 1)
  try {
    const { place: completed, judgement } = await judgeCopy({ registry, host, path }, place)
    if (judgement.failures.length > 0) throw refused
    requirements.push(...judgement.requirements.map(ofEffect))
    return completed
  } catch (error) {
    if (error instanceof Fault && error.status === 422) throw refused
    throw error
  }
}

/** @param referrer the property that stands in the way; undefined when an effect would break something */
function blocked(registry: Registry, referrer: Referrer | undefined, items: number): Fault {
  return constraintFault(registry.vocabulary.ns, 'restrict', [violationOf(referrer, items)], 409)
}

function violationOf(referrer: Referrer | undefined, items: number) {
  const are = items === 1 ? '1 item refers' : `${items} items refer`
  if (!referrer)
    return { constraintSelector: ':root', failedConstraint: 'cascade', message: `${are} to it and cannot follow` }
  const { schema, property, reference } = referrer
  return {
    constraintSelector: `[itemprop='${reference.property}']`,
    failedConstraint: `restrict(${property.name})`,
    message: `${are} to this ${reference.property} by ${property.name}`,
    itemtype: schema.type,
    properties: [property.name],
  }
}
