/** What waits for one slow reader: bounded, written in batches, never waited for (EVT-37). */

import type { Access } from '../access/decision.ts'
import type { Sink } from '../answer.ts'
import type { EventId } from '../store/event-id.ts'

export interface SendBufferLimits {
  /** Events that may wait. */
  events: number
  /** Bytes that may wait. */
  bytes: number
}

/** What waits. Of events, by which access their reader may have them, and which event was considered before. */
interface Piece {
  bytes: Uint8Array
  judgedBy: Access | undefined
  after: EventId | undefined
}

export class SendBuffer {
  readonly #sink: Sink
  readonly #limits: SendBufferLimits
  readonly #review: () => void
  #queue: Piece[] = []
  #events = 0
  #bytes = 0
  /** Of what the sink has taken and not sent yet. */
  #sending = { events: 0, bytes: 0 }
  #isSending = false
  #emptied: (() => void) | undefined
  readonly #sent = () => this.#afterSending()

  /** @param review called before what has waited is sent: the caller takes back what may not go any more */
  constructor(sink: Sink, limits: SendBufferLimits, review: () => void = () => undefined) {
    this.#sink = sink
    this.#limits = limits
    this.#review = review
  }

  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  /**
   * Takes an event for the reader.
   *
   * @param judgedBy says that the reader may have it
   * @param after id of the last event that was considered before it
   * @returns false when too much waits already; then it was not taken
   */
  offer(bytes: Uint8Array, judgedBy?: Access, after?: EventId): boolean {
    const { events, bytes: most } = this.#limits
    if (this.#events >= events || (this.#events > 0 && this.#bytes + bytes.length > most)) return false
    this.#events++
    this.#add(bytes, judgedBy, after)
    return true
  }

  /** Takes what does not count, whatever waits; an event as above. */
  push(bytes: Uint8Array, judgedBy?: Access, after?: EventId): void {
    this.#add(bytes, judgedBy, after)
  }

  /** The same, unless these very bytes are waiting already. */
  pushOnce(bytes: Uint8Array): void {
    if (!this.#queue.some(piece => piece.bytes === bytes)) this.#add(bytes)
  }

  #add(bytes: Uint8Array, judgedBy?: Access, after?: EventId): void {
    this.#bytes += bytes.length
    if (this.#isSending) this.#queue.push({ bytes, judgedBy, after })
    else this.#send(bytes)
  }

  /**
   * Takes back all events that wait, if one of them was judged otherwise than now. What is no event stays.
   *
   * @param now undefined takes back all of them
   * @returns the first of them, or undefined where they stay
   */
  takeBack(now: Access | undefined): { after: EventId | undefined } | undefined {
    const events = this.#queue.filter(({ judgedBy }) => judgedBy !== undefined)
    if (events.every(({ judgedBy }) => judgedBy === now)) return undefined
    this.#queue = this.#queue.filter(({ judgedBy }) => judgedBy === undefined)
    this.#events = this.#sending.events
    this.#bytes = this.#queue.reduce((sum, { bytes }) => sum + bytes.length, this.#sending.bytes)
    return events[0]
  }

  #send(bytes: Uint8Array): void {
    this.#isSending = true
    this.#sending.events = this.#events
    this.#sending.bytes = this.#bytes
    this.#sink.write(bytes, this.#sent)
  }

  #afterSending(): void {
    this.#isSending = false
    this.#events -= this.#sending.events
    this.#bytes -= this.#sending.bytes
    this.#sending.events = this.#sending.bytes = 0
    if (this.#queue.length > 0) this.#review()
    const pieces = this.#queue.map(({ bytes }) => bytes)
    const [first] = pieces
    if (first !== undefined) {
      this.#queue = []
      this.#send(pieces.length === 1 ? first : Buffer.concat(pieces))
      return
    }
    const emptied = this.#emptied
    this.#emptied = undefined
    emptied?.()
  }

  /** Calls a function, now or later, when nothing waits any more. One at a time; it is dropped by `discard`. */
  whenEmpty(call: () => void): void {
    if (this.isEmpty) call()
    else this.#emptied = call
  }

  /** Drops what has not been handed to the sink. */
  discard(): void {
    this.#queue = []
    this.#events = this.#sending.events
    this.#bytes = this.#sending.bytes
    this.#emptied = undefined
  }
}
