/** Whole documents judged by the site's data model, on their way in or to another place (MOD-110). */

import { shownElsewhere } from '../compose/gained.ts'
import { Fault } from '../fault.ts'
import {
  type Judgement,
  judgeAsItIs,
  judgeCopy,
  judging,
  judgingShapes,
  refuseFailures,
  withReading,
} from '../model/judge.ts'
import { comparingDocuments, type Loss } from '../model/losses.ts'
import type { Registry } from '../model/registry.ts'
import type { Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import type { Entry } from '../store/resource.ts'
import { cloneTree, cloning } from '../tree/clone.ts'
import type { TreeDocument } from '../tree/nodes.ts'
import { readingAsWritten } from '../tree/readings.ts'
import { inTurns } from '../tree/steps.ts'
import type { ModelState } from './commit.ts'
import { type Consequences, consequencesOf, nothingFollows } from './consequences.ts'
import { holdsItems, type NewVersion, newDocumentOf, parsedVersion } from './new-version.ts'
import { readElsewhere } from './other-encodings.ts'
import { NO_TRANSITIONS, TransitionJudge, type Transitions } from './transitions.ts'

const NOTHING: Judgement = { requirements: [], failures: [] }

/** A whole document on its way in. */
interface Incoming {
  path: string
  /** What is stored there now. */
  file: StoredFile | undefined
  /** What is to take its place. */
  asked: NewVersion
}

/**
 * Judges a whole document by the site's data model.
 *
 * @returns the document as it will be stored, and what comes with it
 * @throws Fault
 */
export async function judgeDocument(
  site: Site,
  model: ModelState,
  { path, file, asked }: Incoming,
): Promise<{ prepared: NewVersion; follows: Consequences }> {
  const { registry } = model
  const judge = TransitionJudge.of(site, model.transitions)
  // Without items, only shapes and what others refer to have a say.
  const isLookedInto = registry.hasGuarded || registry.shapesAt(path).length > 0
  const hasItems = holdsItems(asked)
  if (!isLookedInto && !judge && !hasItems && !asked.tree) return { prepared: asked, follows: nothingFollows([]) }
  const whole = isLookedInto || hasItems ? await parsedVersion(site, asked) : asked
  const { prepared, judgement: found } = await judgedAlone(site, model, path, whole)
  const { tree, derived } = prepared
  const judgement = {
    ...found,
    failures: [...(await readElsewhere(registry, path, asked.type, tree)), ...found.failures],
  }
  const entries = derived?.entries ?? []
  const isCompared = registry.hasGuarded || judge !== undefined
  const before = isCompared && file?.isDocument ? await site.parsed(file) : undefined
  const longest = Math.max(before?.source.length ?? 0, tree?.source.length ?? 0)
  const losses = await inTurns(comparingDocuments(registry, before, tree), longest)
  const transitions = judge ? await inTurns(judge.whole(path, before, tree), longest) : NO_TRANSITIONS
  const open = async () => ({ document: cloneTree(tree ?? unreadable()) })
  const own = new Map([[path, { entries, open }]])
  const judged = { path, judgement, entries, status: 422 as const, losses, own, transitions }
  const follows = await consequencesOf(site, model, judged)
  const changed = follows.own.get(path)
  return { prepared: changed ? await completed(site, prepared, changed.document) : prepared, follows }
}

function unreadable(): never {
  throw new Error('A blob has no tree.')
}

async function judgedAlone(
  site: Site,
  model: ModelState,
  path: string,
  prepared: NewVersion,
): Promise<{ prepared: NewVersion; judgement: Judgement }> {
  const { registry } = model
  const { tree } = prepared
  if (!tree) return { prepared, judgement: NOTHING }
  const { length } = tree.source
  const looking = function* () {
    const document = yield* readingAsWritten(tree)
    return yield* judging(registry, path, { document: tree }, document === tree ? undefined : { document })
  }
  const alone = await inTurns(looking(), length)
  if (alone) return { prepared, judgement: await withUnseen(site, model, path, tree, alone) }
  const document = await inTurns(cloning(tree), length)
  const { place, judgement } = await judgeCopy({ registry, host: model.host, path }, { document })
  return {
    prepared: await completed(site, prepared, place.document),
    judgement: await withUnseen(site, model, path, place.document, judgement),
  }
}

/**
 * Composed pages show elements where HTML has none. They are judged as they are shown, without anything being added (COMP-147).
 *
 * @throws Fault 422
 */
async function withUnseen(
  site: Site,
  { registry, host }: ModelState,
  path: string,
  tree: TreeDocument,
  judgement: Judgement,
): Promise<Judgement> {
  const shown = await findUnseen(site, tree)
  if (!shown) return judgement
  return withReading(judgement, await judgeAsItIs({ registry, host, path }, { document: shown }))
}

/** A document as composed pages show it, where that is other than HTML has it. */
async function findUnseen(site: Site, { kind, source }: TreeDocument): Promise<TreeDocument | undefined> {
  return kind === 'html' ? inTurns(shownElsewhere(site.settings.ns, source), source.length) : undefined
}

/** What is stored in place of a document that the data model has changed. */
async function completed(site: Site, prepared: NewVersion, document: TreeDocument): Promise<NewVersion> {
  if (document.source === prepared.text) return prepared
  if (prepared.derived?.profile.utf8 === false)
    throw new Fault(422, 'InvalidFragment', 'The document is not valid UTF-8, so its missing values cannot be added.')
  return newDocumentOf(site, prepared.type, document, prepared.bytes)
}

/**
 * What follows when documents go.
 *
 * @param further transitions of the same write
 * @param lost what else goes with it
 * @throws Fault 409 when a referrer forbids it
 */
export async function consequencesOfRemoval(
  site: Site,
  model: ModelState,
  removed: readonly StoredFile[],
  isGone: (path: string) => boolean = path => removed.some(({ resource }) => resource.path === path),
  further: Transitions = NO_TRANSITIONS,
  lost: readonly Loss[] = [],
): Promise<Consequences> {
  const { registry } = model
  const documents = registry.hasGuarded ? removed.filter(file => file.isDocument) : []
  const judge = TransitionJudge.of(site, model.transitions)
  const violations = [...further.violations]
  for (const file of judge ? removed.filter(({ isDocument }) => isDocument) : []) {
    const tree = await site.parsed(file)
    const found = judge && (await inTurns(judge.whole(file.resource.path, tree, undefined), tree.source.length))
    for (const violation of found?.violations ?? []) violations.push(violation)
  }
  const losses: Loss[] = [...lost]
  for (const file of documents) for (const loss of await lossesOf(registry, await site.parsed(file))) losses.push(loss)
  const path = removed[0]?.resource.path ?? ''
  const judged = { path, judgement: NOTHING, entries: [], status: 409 as const, losses, own: new Map() }
  return consequencesOf(site, model, { ...judged, isGone, transitions: { ...further, violations } })
}

async function lossesOf(registry: Registry, document: TreeDocument, after?: TreeDocument): Promise<Loss[]> {
  return inTurns(comparingDocuments(registry, document, after), document.source.length)
}

/** Values that a document holds no more as the other kind that its new name makes of it (HTTP-20, MOD-53). */
export async function lossesUnderNewName(
  site: Site,
  { registry }: ModelState,
  file: StoredFile | undefined,
  after: TreeDocument | undefined,
): Promise<Loss[]> {
  if (!after || !file?.isDocument || !registry.hasGuarded) return []
  return lossesOf(registry, await site.parsed(file), after)
}

/**
 * Judges a document that comes to another place as it is: by the shapes there; where it is new to the site by its schemas
 * as well, without adding to it.
 *
 * @param arriving its type there; `entries` of a copy, or of a file that has not been a document before; without a tree it is none,
 *   or no shape speaks of the place
 * @throws Fault 422
 */
export async function judgeMoved(
  site: Site,
  { registry, host }: ModelState,
  path: string,
  { type, tree, entries }: { type: string; tree?: TreeDocument | undefined; entries?: readonly Entry[] | undefined },
): Promise<Judgement> {
  const elsewhere = await readElsewhere(registry, path, type, tree)
  if (!tree) {
    await refuseFailures(registry, site.store, { ...NOTHING, failures: elsewhere }, { path, entries: [], status: 422 })
    return NOTHING
  }
  const { length } = tree.source
  const judge = async (document: TreeDocument): Promise<Judgement> => {
    if (!entries) return { ...NOTHING, failures: await inTurns(judgingShapes(registry, path, { document }), length) }
    return (
      (await inTurns(judging(registry, path, { document }), length)) ??
      (await judgeAsItIs({ registry, host, path }, { document: await inTurns(cloning(document), length) }))
    )
  }
  const shown = await findUnseen(site, tree)
  const own = await judge(tree)
  const both = shown ? withReading(own, await judge(shown)) : own
  const judged = { ...both, failures: [...elsewhere, ...both.failures] }
  await refuseFailures(registry, site.store, judged, { path, entries: entries ?? [], status: 422 })
  return judged
}
