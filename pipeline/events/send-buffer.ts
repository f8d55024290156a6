/** What waits for one slow reader: bounded, written in batches, never waited for (EVT-37). */

import type { Sink } from '../answer.ts'

export interface SendBufferLimits {
  /** Events that may wait. */
  events: number
  /** Bytes that may wait. */
  bytes: number
}

export class SendBuffer {
  readonly #sink: Sink
  readonly #limits: SendBufferLimits
  readonly #mayGo: () => boolean
  #queue: Uint8Array[] = []
  #events = 0
  #bytes = 0
  /** Of what the sink has taken and not sent yet. */
  #sending = { events: 0, bytes: 0 }
  #isSending = false
  #emptied: (() => void) | undefined
  readonly #sent = () => this.#afterSending()

  /** @param mayGo asked before what has waited is sent; where it may not go, the caller has discarded it */
  constructor(sink: Sink, limits: SendBufferLimits, mayGo: () => boolean = () => true) {
    this.#sink = sink
    this.#limits = limits
    this.#mayGo = mayGo
  }

  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  /**
   * Takes an event for the reader.
   *
   * @returns false when too much waits already; then it was not taken
   */
  offer(bytes: Uint8Array): boolean {
    const { events, bytes: most } = this.#limits
    if (this.#events >= events || (this.#events > 0 && this.#bytes + bytes.length > most)) return false
    this.#events++
    this.#add(bytes)
    return true
  }

  /** Takes what does not count, whatever waits. */
  push(bytes: Uint8Array): void {
    this.#add(bytes)
  }

  /** The same, unless these very bytes are waiting already. */
  pushOnce(bytes: Uint8Array): void {
    if (!this.#queue.includes(bytes)) this.#add(bytes)
  }

  #add(bytes: Uint8Array): void {
    this.#bytes += bytes.length
    this.#queue.push(bytes)
    if (!this.#isSending) this.#send()
  }

  #send(): void {
    const queue = this.#queue
    this.#queue = []
    this.#isSending = true
    this.#sending.events = this.#events
    this.#sending.bytes = this.#bytes
    const [first] = queue
    this.#sink.write(queue.length === 1 && first ? first : Buffer.concat(queue), this.#sent)
  }

  #afterSending(): void {
    this.#isSending = false
    this.#events -= this.#sending.events
    this.#bytes -= this.#sending.bytes
    if (this.#queue.length > 0) {
      if (this.#mayGo()) this.#send()
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
    this.#events = this.#isSending ? this.#sending.events : 0
    this.#bytes = this.#isSending ? this.#sending.bytes : 0
    this.#emptied = undefined
  }
}
