/** One event on its way to many streams: its bytes are made once, and so is every judgement that several share. */

import type { Access } from '../access/decision.ts'
import { type EventId, parseEventId } from '../store/event-id.ts'
import type { StoredEvent } from '../store/events.ts'
import { type ElementFacts, mayReadElements } from './facts.ts'
import type { SharedFrames } from './shared-frames.ts'
import { mutationFrame, withoutBody } from './wire.ts'

/** What a subscriber gets of an event: all of it, the news without the body, nothing, or word that something changed. */
export type Share = 'whole' | 'bodiless' | 'nothing' | 'unknown'

export class Delivery {
  readonly event: StoredEvent
  readonly id: EventId
  readonly #frames: SharedFrames
  #whole: Buffer | undefined
  #bodiless: Buffer | undefined
  #facts: ElementFacts | undefined
  #last: { access: Access; share: Share } | undefined

  constructor(event: StoredEvent, frames: SharedFrames) {
    this.event = event
    this.#frames = frames
    this.id = parseEventId(event.id) ?? { ms: 0, seq: 0 }
  }

  /** The event in wire format (EVT-36). */
  get whole(): Buffer {
    const { id, payload } = this.event
    this.#whole ??= this.#frames.of(id, payload.length, () => mutationFrame(id, payload))
    return this.#whole
  }

  get bodiless(): Buffer {
    this.#bodiless ??= mutationFrame(this.event.id, withoutBody(this.event.payload))
    return this.#bodiless
  }

  /**
   * What somebody who may watch the path gets (EVT-66).
   *
   * @param access of a subscriber or of several, who are asked one after another
   */
  shareOf(access: Access): Share {
    if (this.#last?.access !== access) this.#last = { access, share: this.#decide(access) }
    return this.#last.share
  }

  #decide(access: Access): Share {
    const { path, facts } = this.event
    if (!access.selectorDependence('GET', path)) return 'whole'
    // Some rule refuses elements: who reads the page whole by GET is not to get them from here.
    if (facts === undefined) return 'bodiless'
    this.#facts ??= JSON.parse(facts) as ElementFacts
    const readable = mayReadElements(access, path, this.#facts)
    return readable === undefined ? 'unknown' : readable ? 'whole' : 'nothing'
  }
}
