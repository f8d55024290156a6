/** What waits for one slow reader: bounded, written in batches, never waited for (EVT-37). */

import type { Access } from '../access/decision.ts'
import type { Sink } from '../answer.ts'
import type { EventId } from '../store/event-id.ts'
import { Waiting } from './waiting.ts'

export interface SendBufferLimits {
  /** Events that may wait. */
  events: number
  /** Bytes that may wait. */
  bytes: number
}

/** What a buffer needs of its stream. */
export interface SendBufferContext {
  /** Called before what has waited is sent: the stream takes back what may not go any more. */
  review: () => void
  /** What waits in the process. */
  waiting: Waiting
  /** Called when too much waits there, and for this reader longest: the stream is to close the buffer. */
  giveUp: () => void
}

/** What waits. Of events, by which access their reader may have them, and which event was considered before. */
interface Piece {
  bytes: Uint8Array
  /** It is one of the events that are bounded. */
  counts: boolean
  judgedBy: Access | undefined
  after: EventId | undefined
}

/** Bytes that are put together for one write; larger pieces are sent as they are, so that streams share them. */
const TOGETHER = 64 * 1024

export class SendBuffer {
  readonly #sink: Sink
  readonly #limits: SendBufferLimits
  readonly #review: () => void
  readonly #waiting: Waiting
  readonly #giveUp: () => void
  #queue: Piece[] = []
  #events = 0
  #bytes = 0
  /** Of what the sink has taken and not sent yet. */
  #sending = { events: 0, bytes: 0 }
  #onItsWay: Uint8Array | undefined
  #isSending = false
  #emptied: (() => void) | undefined
  readonly #sent = () => this.#afterSending()

  constructor(sink: Sink, limits: SendBufferLimits, context: Partial<SendBufferContext> = {}) {
    const { review = () => undefined, waiting = new Waiting(), giveUp = () => undefined } = context
    this.#sink = sink
    this.#limits = limits
    this.#review = review
    this.#waiting = waiting
    this.#giveUp = giveUp
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
    this.#add({ bytes, counts: true, judgedBy, after })
    return true
  }

  /** Takes what does not count, whatever waits; an event as above. */
  push(bytes: Uint8Array, judgedBy?: Access, after?: EventId): void {
    this.#add({ bytes, counts: false, judgedBy, after })
  }

  /** The same, unless these very bytes are waiting already. */
  pushOnce(bytes: Uint8Array): void {
    if (!this.#queue.some(piece => piece.bytes === bytes)) this.push(bytes)
  }

  #add(piece: Piece): void {
    this.#bytes += piece.bytes.length
    if (this.#isSending) {
      this.#queue.push(piece)
      this.#waiting.hold(piece.bytes)
    } else this.#send([piece])
    this.#waiting.relieve()
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
    for (const { bytes } of events) this.#waiting.release(bytes)
    this.#queue = this.#queue.filter(({ judgedBy }) => judgedBy === undefined)
    this.#events = this.#sending.events
    this.#bytes = this.#queue.reduce((sum, { bytes }) => sum + bytes.length, this.#sending.bytes)
    return events[0]
  }

  #send(pieces: readonly Piece[]): void {
    this.#isSending = true
    this.#sending.events = pieces.filter(({ counts }) => counts).length
    const [first] = pieces
    const bytes = first && pieces.length === 1 ? first.bytes : Buffer.concat(pieces.map(({ bytes }) => bytes))
    this.#sending.bytes = bytes.length
    this.#onItsWay = bytes
    this.#waiting.hold(bytes)
    this.#waiting.begin(this, this.#giveUp)
    this.#sink.write(bytes, this.#sent)
  }

  /** Takes from what waits as much as goes out at once. */
  #next(): Piece[] {
    let count = 0
    let together = 0
    for (const { bytes } of this.#queue) {
      together += bytes.length
      if (count > 0 && together > TOGETHER) break
      count++
    }
    const next = this.#queue.splice(0, count)
    for (const { bytes } of next) this.#waiting.release(bytes)
    return next
  }

  #afterSending(): void {
    this.#isSending = false
    this.#arrived()
    this.#events -= this.#sending.events
    this.#bytes -= this.#sending.bytes
    this.#sending.events = this.#sending.bytes = 0
    if (this.#queue.length > 0) this.#review()
    const pieces = this.#next()
    if (pieces.length > 0) {
      this.#send(pieces)
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
    for (const { bytes } of this.#queue) this.#waiting.release(bytes)
    this.#queue = []
    this.#events = this.#sending.events
    this.#bytes = this.#sending.bytes
    this.#emptied = undefined
  }

  /** Drops everything: the sink is gone, and what it has taken goes nowhere. */
  close(): void {
    this.discard()
    this.#arrived()
  }

  #arrived(): void {
    if (this.#onItsWay) this.#waiting.release(this.#onItsWay)
    this.#onItsWay = undefined
    this.#waiting.end(this)
  }
}
