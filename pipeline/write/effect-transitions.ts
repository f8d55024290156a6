/** Transitions of items that follow a write on other pages: cascades are judged, and fire handlers, like writes (REA-103). */

import { transitionsBlocked } from '../model/cascade.ts'
import type { WrittenPlace } from '../model/place.ts'
import type { OwnDocument } from '../model/working.ts'
import type { Site } from '../site/site.ts'
import { inTurns, TurnsBetween } from '../tree/steps.ts'
import type { ModelState } from './commit.ts'
import type { ItemStates, ShownStates } from './transition-items.ts'
import { type Fired, TransitionJudge } from './transitions.ts'

/** Follows the items of documents through the effects of one write. Where nobody watches anything it does nothing. */
export class EffectTransitions {
  readonly #judge: TransitionJudge | undefined
  readonly #registry: ModelState['registry']
  /** Items as they stood before effects, by path. */
  readonly #before = new Map<string, ItemStates[]>()
  /** The same items as pages show them, where that is otherwise. */
  readonly #shown = new Map<string, ShownStates | undefined>()

  constructor(site: Site, { registry, transitions }: ModelState) {
    this.#judge = TransitionJudge.of(site, transitions)
    this.#registry = registry
  }

  /** @returns the same place, in which the items of its document are followed */
  async opened(path: string, place: WrittenPlace): Promise<WrittenPlace> {
    if (!this.#judge) return place
    const items = await inTurns(this.#judge.statesOf(place.document), place.document.source.length)
    const followed = items.map(({ element }) => element)
    this.#before.set(path, items)
    this.#shown.set(
      path,
      await inTurns(this.#judge.shownStates(place.document, followed), place.document.source.length),
    )
    return { ...place, followed }
  }

  /** The same for documents of the write itself. */
  ofOwn(own: ReadonlyMap<string, OwnDocument>): ReadonlyMap<string, OwnDocument> {
    if (!this.#judge) return own
    const opened = ([path, document]: [string, OwnDocument]): [string, OwnDocument] => [
      path,
      { ...document, open: async () => this.opened(path, await document.open()) },
    ]
    return new Map([...own].map(opened))
  }

  /**
   * @param effects documents after all effects; undefined where one has gone
   * @param own what fires by the write alone
   * @returns all handlers that fire once the write is committed
   * @throws Fault 409 for a transition that no rule permits (MOD-56)
   */
  async judged(effects: ReadonlyMap<string, WrittenPlace | undefined>, own: readonly Fired[]): Promise<Fired[]> {
    if (!this.#judge) return []
    const fired: Fired[] = []
    for (const each of own) fired.push(...(effects.has(each.path) ? await this.#still(each, effects) : [each]))
    let refused = 0
    const turns = new TurnsBetween()
    for (const [path, place] of effects) {
      await turns.next()
      const before = this.#before.get(path) ?? []
      const following = this.#judge.following(
        path,
        before,
        place?.document,
        place?.followed ?? [],
        this.#shown.get(path),
      )
      const found = await inTurns(following, place?.document.source.length ?? 0)
      refused += found.violations.length
      for (const each of found.fired) fired.push(each)
    }
    if (refused > 0) throw transitionsBlocked(this.#registry, refused)
    return fired
  }

  /** The same with the item as it is after all effects (REA-125); nothing for an item that has gone, or changed its state. */
  async #still(fired: Fired, effects: ReadonlyMap<string, WrittenPlace | undefined>): Promise<Fired[]> {
    const { path, place } = fired
    const after = effects.get(path)
    const element = after?.followed?.[place]
    const before = this.#before.get(path)?.[place]
    if (!this.#judge || !after || !element || !before) return []
    const still = await inTurns(this.#judge.still(fired, before, after.document, element), after.document.source.length)
    return still ? [still] : []
  }
}
