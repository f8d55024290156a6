/** What a judged write brings about on the rest of the site, as part of its commit (MOD-52 to MOD-56). */

import { setImmediate } from 'node:timers/promises'
import { type Cause, deleteEvent, putEvent } from '../events/mutation.ts'
import { Fault } from '../fault.ts'
import { cascade, ofEffect } from '../model/cascade.ts'
import { firstBroken, type Requirement } from '../model/integrity.ts'
import { type Judgement, refuseFailures, requirementFault } from '../model/judge.ts'
import type { Loss } from '../model/losses.ts'
import type { WrittenPlace } from '../model/place.ts'
import type { Registry } from '../model/registry.ts'
import { constraintFault } from '../model/violations.ts'
import type { OwnDocument } from '../model/working.ts'
import type { Site, WrittenDocument } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import type { Change, NewEvent } from '../store/commit.ts'
import type { Entry } from '../store/resource.ts'
import { cloning } from '../tree/clone.ts'
import { inTurns } from '../tree/steps.ts'
import type { ModelState } from './commit.ts'
import { EffectTransitions } from './effect-transitions.ts'
import { newDocumentOf, putVersion, writtenDocuments } from './new-version.ts'
import type { Fired, Transitions } from './transitions.ts'

/** A write that has been judged by itself. */
export interface Judged {
  /** Of the document that was judged. */
  path: string
  judgement: Judgement
  /** What that document would hold. */
  entries: readonly Entry[]
  /** Status of broken shapes: 409 for DELETE (MOD-98). */
  status: 409 | 422
  /** Values that others may refer to and that go with the write. */
  losses: readonly Loss[]
  /** Documents that the write itself changes. */
  own: ReadonlyMap<string, OwnDocument>
  /** Of its items; what no rule permits comes after shapes (REA-107). */
  transitions: Transitions
  /** Whether a document goes with the write. */
  isGone?(path: string): boolean
}

export interface Consequences {
  requirements: readonly Requirement[]
  /** Documents of the write itself that are changed further. */
  own: ReadonlyMap<string, WrittenPlace>
  changes: readonly Change[]
  events: readonly NewEvent[]
  written: readonly WrittenDocument[]
  /** Handlers that the write, or what follows from it, fires once it is committed (REA-122). */
  fired: readonly Fired[]
}

/** The consequences of a write that nobody depends on. */
export function nothingFollows(requirements: readonly Requirement[], fired: readonly Fired[] = []): Consequences {
  return { requirements, own: new Map(), changes: [], events: [], written: [], fired }
}

/** Of a write that nothing is asked of. */
export const NOTHING_FOLLOWS = nothingFollows([])

/** @throws Fault 422 for transitions, unless a requirement does not hold, which comes before them (MOD-112) */
async function refuseTransitions(site: Site, registry: Registry, judged: Judged): Promise<void> {
  const { transitions, judgement, path, entries } = judged
  const { violations } = transitions
  if (violations.length === 0) return
  const broken = await firstBroken(site.store, judgement.requirements, path, entries)
  throw (
    (broken && requirementFault(registry, broken)) ??
    constraintFault(registry.vocabulary.ns, 'transition', violations, 422)
  )
}

/** Documents opened, or made ready, in a row before others get their turn. */
const SLICE = 16

/**
 * @throws Fault when a shape is broken, a referrer forbids the write, or an effect would break something
 */
export async function consequencesOf(site: Site, model: ModelState, judged: Judged): Promise<Consequences> {
  const { registry } = model
  const { path, judgement, entries, status, losses } = judged
  await refuseFailures(registry, site.store, judgement, { path, entries, status })
  await refuseTransitions(site, registry, judged)
  const { requirements } = judgement
  if (losses.length === 0) return nothingFollows(requirements, judged.transitions.fired)
  const transitions = new EffectTransitions(site, model)
  const own = transitions.ofOwn(judged.own)
  const opened = new Map<string, StoredFile>()
  const open = async (other: string): Promise<WrittenPlace | undefined> => {
    if (opened.size % SLICE === SLICE - 1) await setImmediate()
    const file = await site.find(other)
    if (!file?.isDocument) return undefined
    if (file.profile?.utf8 === false)
      throw new Fault(409, 'Conflict', 'A document that would have to follow this change is not valid UTF-8.')
    opened.set(other, file)
    const tree = await site.parsed(file)
    return transitions.opened(other, { document: await inTurns(cloning(tree), tree.source.length) })
  }
  const isGone = (other: string) => judged.isGone?.(other) ?? false
  // What the write breaks by itself comes before what follows from it (MOD-53, MOD-112).
  const refuseItself = async (): Promise<void> => {
    const broken = await firstBroken(site.store, requirements, path, entries)
    const fault = broken && requirementFault(registry, broken)
    if (fault) throw fault
  }
  try {
    const followed = await cascade(registry, model.host, { store: site.store, open, isGone }, losses, own)
    if (followed.effects.size > 0) await refuseItself()
    const fired = await transitions.judged(followed.effects, judged.transitions.fired)
    // An effect on the document itself was judged with what the write brought to it.
    const remaining = followed.effects.has(path) ? [] : requirements
    const effects: Effect[] = []
    for (const [other, place] of followed.effects) {
      if (own.has(other)) continue
      effects.push(await effectOn(site, opened.get(other), other, place))
      if (effects.length % SLICE === 0) await setImmediate()
    }
    return {
      requirements: [...(followed.effects.size > 0 ? remaining.map(ofEffect) : remaining), ...followed.requirements],
      own: new Map(
        [...followed.effects].flatMap(([other, place]) => (place && own.has(other) ? [[other, place]] : [])),
      ),
      ...merged(effects),
      fired,
    }
  } catch (error) {
    if (error instanceof Fault) await refuseItself()
    throw error
  }
}

/** Cascades are nobody's echo: whoever caused them hears of them as well (EVT-57). */
const NOBODY: Cause = {}

type Effect = Pick<Consequences, 'changes' | 'events' | 'written'>

function merged(effects: readonly Effect[]): Effect {
  return {
    changes: effects.flatMap(({ changes }) => changes),
    events: effects.flatMap(({ events }) => events.map(event => ({ ...event, follows: true as const }))),
    written: effects.flatMap(({ written }) => written),
  }
}

async function effectOn(
  site: Site,
  file: StoredFile | undefined,
  path: string,
  place: WrittenPlace | undefined,
): Promise<Effect> {
  if (!file) throw new Error('An effect on a document that was not opened.')
  const { resource } = file
  const expect = resource.version
  if (!place)
    return {
      changes: [{ op: 'delete', path, expect }],
      events: [deleteEvent(site, path, NOBODY)],
      written: [],
    }
  const prepared = await newDocumentOf(site, resource.type, place.document, file.bytes)
  return {
    changes: [putVersion(resource, prepared)],
    events: [putEvent(site, path, prepared.digest, prepared.text, NOBODY)],
    written: writtenDocuments(path, prepared),
  }
}
