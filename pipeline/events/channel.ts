/** The streams of one path: every event goes to all of them in turns that leave others their time. */

import { Access } from '../access/decision.ts'
import type { RuleScope } from '../access/matching.ts'
import type { Watcher } from '../coordination/fan-out.ts'
import type { Site } from '../site/site.ts'
import type { StoredEvent } from '../store/events.ts'
import type { Clock } from './clock.ts'
import { Delivery } from './delivery.ts'
import { looksUpElements, renderedScopes } from './facts.ts'
import { SharedFrames } from './shared-frames.ts'
import type { Stream } from './stream.ts'
import type { Subscriber } from './subscriber.ts'

/** Streams that are served in one turn: about 5 ms. */
const TURN = 500
/** Characters of an event that take as long as another stream does. */
const LONG = 8 * 1024

/** Nothing of a request: rules that look nothing up do not ask for it. */
const NO_FACTS = { method: 'GET', headers: () => undefined, queryString: '' }

export class Channel implements Watcher {
  readonly frames = new SharedFrames()
  readonly #site: Site
  readonly #path: string
  readonly #clock: Clock
  readonly #streams = new Set<Stream>()
  readonly #queue: Delivery[] = []
  /** Streams that the first of the queue has still to go to. */
  #rest: Iterator<Stream> | undefined
  #isServing = false
  /** Access of every anonymous subscriber, where rules do not tell them apart. */
  #anonymous: { rules: object; access: Access | undefined } | undefined
  #looksUp: { rules: object; yes: boolean } | undefined

  constructor(site: Site, path: string, clock: Clock) {
    this.#site = site
    this.#path = path
    this.#clock = clock
  }

  get isEmpty(): boolean {
    return this.#streams.size === 0
  }

  add(stream: Stream): void {
    this.#streams.add(stream)
  }

  delete(stream: Stream): void {
    this.#streams.delete(stream)
  }

  published(event: StoredEvent): void {
    this.#queue.push(new Delivery(event, this.frames))
    if (this.#isServing) return
    this.#isServing = true
    this.#clock.soon(() => this.#serve())
  }

  interrupted(): void {
    for (const stream of this.#streams) stream.readOn()
  }

  #serve(): void {
    let served = 0
    for (let delivery = this.#queue[0]; delivery; delivery = this.#queue[0]) {
      this.#rest ??= this.#streams.values()
      for (let next = this.#rest.next(); !next.done; next = this.#rest.next()) {
        next.value.take(delivery)
        served += 1 + delivery.event.payload.length / LONG
        if (served < TURN) continue
        this.#clock.soon(() => this.#serve())
        return
      }
      this.#rest = undefined
      this.#queue.shift()
    }
    this.#isServing = false
  }

  /** A subscriber's access by the rules as they stand. */
  accessOf(subscriber: Subscriber, current: Access | undefined): Access {
    const { rules } = this.#site
    if (current?.rules === rules) return current
    const known = current ?? subscriber.authority().access
    const shared = known.requester.principal ? undefined : this.#sharedAccess()
    return shared ?? subscriber.authority().access
  }

  #sharedAccess(): Access | undefined {
    const { rules, settings } = this.#site
    if (this.#anonymous?.rules !== rules) {
      const access = new Access(rules, { facts: { ...NO_FACTS, path: this.#path } }, settings)
      this.#anonymous = { rules, access: access.dependsOnFacts('GET', this.#path) ? undefined : access }
    }
    return this.#anonymous.access
  }

  /** Selectors of rules as they read for subscribers of the moment, where rules look something up. */
  *onlookers(): Generator<RuleScope> {
    const { rules } = this.#site
    if (this.#looksUp?.rules !== rules) this.#looksUp = { rules, yes: looksUpElements(rules, this.#path) }
    if (!this.#looksUp.yes) return
    for (const stream of this.#streams) yield* renderedScopes(stream.access, this.#path)
  }
}
