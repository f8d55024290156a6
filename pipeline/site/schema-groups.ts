/** Groups whose type decides by itself who is in them: schemas below `{ns}/Group` with an `includes` of their own (GRP-4). */

import { findingPositions } from '../access/extract.ts'
import type { GroupOracle } from '../access/groups.ts'
import type { Group } from '../access/rules.ts'
import { Allowance, type AllowanceLimits, AllowanceSpent } from '../language/allowance.ts'
import { Turns } from '../language/turns.ts'
import { type CodeItem, type CodeResult, isSpent } from '../model/code.ts'
import type { RawMethod } from '../model/declarations.ts'
import { cloning } from '../tree/clone.ts'
import type { ElementNode, TreeDocument } from '../tree/nodes.ts'
import { pinTree } from '../tree/pins.ts'
import { inTurns, type Steps } from '../tree/steps.ts'
import type { Site } from './site.ts'
import type { StoredFile } from './stored-file.ts'

/** The method that answers for a group, with the type it belongs to. */
interface Answering {
  method: RawMethod
  itemtype: string
}

function answering(site: Site, group: Group): Answering | undefined {
  for (const itemtype of group.subtypes) {
    // Methods of the most derived schema come first.
    const method = site.model.schema(itemtype)?.methods.find(({ name }) => name === 'includes')
    if (method) return { method, itemtype }
  }
  return undefined
}

/** What a group may spend on its answer, apart from everything else that the request does (GRP-5). */
const GROUP_LIMITS = { steps: 100_000, memory: 8 * 1024 * 1024, time: 500 } satisfies Partial<AllowanceLimits>

/** A copy of a document, with its elements in order. */
interface Copied {
  document: TreeDocument
  elements: readonly ElementNode[]
}

async function copyOf(tree: TreeDocument): Promise<Copied> {
  const unpin = pinTree(tree)
  try {
    return await inTurns(copying(tree), tree.source.length)
  } finally {
    unpin()
  }
}

function* copying(tree: TreeDocument): Steps<Copied> {
  const document = yield* cloning(tree)
  return { document, elements: [...(yield* findingPositions(document)).keys()] }
}

/** Copies by version, or what becomes one, as long as anybody uses them: there is one, however many requests ask at once. */
const copies = new WeakMap<StoredFile, WeakRef<Copied> | Promise<Copied>>()

async function sharedCopyOf(site: Site, file: StoredFile): Promise<Copied> {
  const known = copies.get(file)
  const kept = known instanceof WeakRef ? known.deref() : await known
  if (kept) return kept
  const making = site.parsed(file).then(copyOf)
  copies.set(file, making)
  try {
    const copied = await making
    copies.set(file, new WeakRef(copied))
    return copied
  } catch (error) {
    copies.delete(file)
    throw error
  }
}

/**
 * Groups of a site are asked one after another, those who are asked about in turns: how long one takes is then no matter of how
 * many others are asked.
 */
const turns = new WeakMap<Site, Turns>()

function turnsOf(site: Site): Turns {
  const known = turns.get(site)
  if (known) return known
  const made = new Turns(Number.POSITIVE_INFINITY)
  turns.set(site, made)
  return made
}

/** What groups share that are asked one after another. */
interface Together {
  /** What all of them may spend. */
  all: Allowance
  /** Tells the time that passes while one of them is asked. */
  watch: Stopwatch
  /** The document of the last one. */
  last: { file: StoredFile; copied: Copied } | undefined
}

class Stopwatch {
  #passed = 0
  #since: number | undefined

  readonly now = (): number => this.#passed + (this.#since === undefined ? 0 : performance.now() - this.#since)

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#since = performance.now()
    try {
      return await work()
    } finally {
      this.#passed = this.now()
      this.#since = undefined
    }
  }
}

/** Takes what a group has spent from what all may. */
function spend(all: Allowance, steps: number): void {
  try {
    all.step(steps)
  } catch (error) {
    if (!(error instanceof AllowanceSpent)) throw error
  }
}

/**
 * Whether a program was ended before it could answer, by its allowance or by what one value may be: who is not asked is not to be
 * let in where members are refused. What waits for a worker, or for a turn, fails without having spent anything; and what one
 * spends is a matter of its document, to which others may have added.
 */
function isUnanswered(outcome: CodeResult<boolean>, { spent, isAtLimit }: Allowance): boolean {
  return spent !== undefined || isAtLimit || ('failure' in outcome && isSpent(outcome.failure))
}

/** @param refused is told of groups that do not include an email, with the reason where code has failed */
export function schemaGroups(site: Site, refused?: (group: Group, failure: string | undefined) => void): GroupOracle {
  const asked = new WeakMap<object, Together>()

  function togetherOf(asking: object): Together {
    let together = asked.get(asking)
    if (!together) {
      const watch = new Stopwatch()
      together = { all: new Allowance({}, site, watch.now), watch, last: undefined }
      asked.set(asking, together)
    }
    return together
  }

  async function copied(together: Together, file: StoredFile): Promise<Copied> {
    const { last } = together
    if (last?.file === file) return last.copied
    // Of several large documents one copy is there at a time.
    together.last = undefined
    const copied = await sharedCopyOf(site, file)
    spend(together.all, copied.elements.length)
    together.last = { file, copied }
    return copied
  }

  function isOver(group: Group, { stepsLeft, timeLeft }: Allowance): boolean {
    if (stepsLeft > 0 && timeLeft > 0) return false
    refused?.(group, 'the groups before it have spent what all groups of a request may')
    return true
  }

  async function answer(group: Group, email: string, together: Together): Promise<boolean | undefined> {
    const found = answering(site, group)
    if (!found) return false
    if (isOver(group, together.all)) return undefined
    const file = await site.find(group.document)
    const copy = file?.isDocument ? await copied(together, file) : undefined
    // Its place is that of the rules it comes from: in another state of the document another group may stand there.
    await Promise.all([site.inStep(), site.followLoaded()])
    return turnsOf(site).take(email, async () => {
      const element = copy?.elements[group.position]
      if (!copy || !element || !site.rules.groupsNamed(group.name).includes(group)) {
        refused?.(group, 'its document has changed meanwhile')
        return undefined
      }
      const place = { path: group.document, document: copy.document, element, itemtype: found.itemtype }
      return together.watch.during(() => ask(group, found.method, place, email, together))
    })
  }

  async function ask(
    group: Group,
    method: RawMethod,
    place: CodeItem,
    email: string,
    { all, watch }: Together,
  ): Promise<boolean | undefined> {
    if (isOver(group, all)) return undefined
    const { steps, time } = GROUP_LIMITS
    const limits = { ...GROUP_LIMITS, steps: Math.min(steps, all.stepsLeft), time: Math.min(time, all.timeLeft) }
    const allowance = new Allowance(limits, site, watch.now)
    try {
      const outcome = await site.code(allowance).includes(method, place, email)
      const included = 'value' in outcome && outcome.value
      if (!included) refused?.(group, 'failure' in outcome ? outcome.failure.message : undefined)
      return isUnanswered(outcome, allowance) ? undefined : included
    } finally {
      spend(all, allowance.stepsTaken)
    }
  }

  return {
    overrides: group => answering(site, group) !== undefined,
    includes(group, email, asking) {
      return answer(group, email, togetherOf(asking))
    },
  }
}
