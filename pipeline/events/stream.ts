/**
 * One open event stream: begins with its token, replays what its client missed, then passes on every event that the
 * client may see and did not cause, until one side ends (EVT-11 to EVT-13, sections 4 to 7).
 */

import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Access } from '../access/decision.ts'
import type { Sink } from '../answer.ts'
import type { FanOut, StreamPosition } from '../coordination/fan-out.ts'
import { StoreError } from '../store/errors.ts'
import { compareEventIds, type EventId, parseEventId } from '../store/event-id.ts'
import type { StoredEvent } from '../store/events.ts'
import type { Clock } from './clock.ts'
import { Delivery } from './delivery.ts'
import { SendBuffer, type SendBufferLimits } from './send-buffer.ts'
import type { SharedFrames } from './shared-frames.ts'
import type { Subscriber } from './subscriber.ts'
import type { Waiting } from './waiting.ts'
import { connectionFrame, PING, type ResetReason, resetFrame, type SessionEnd } from './wire.ts'

/** What a stream needs of its surroundings. */
export interface StreamContext {
  /** Name of the site in the store. */
  site: string
  brand: string
  ns: string
  fanOut: FanOut
  clock: Clock
  /** Milliseconds that events can be replayed after their commit. */
  retention: number
  limits: SendBufferLimits
  /** When the store was last set back, in unix milliseconds: events that came before may be gone. */
  setBack: () => number
  /** What waits in the process. */
  waiting: Waiting
  /** Large events of the path in wire format. */
  frames: SharedFrames
  /** The subscriber's access by the newest rules; shared by all to whom they say the same. */
  accessOf: (subscriber: Subscriber, current: Access | undefined) => Access
  /** Told once, when the stream ends, whoever ended it. */
  ended: (stream: Stream) => void
  failed: (error: unknown) => void
}

/**
 * `opening` until there is somewhere to write, `reading` while kept events are read, `live` while events are passed on
 * as they come.
 */
type State = 'opening' | 'reading' | 'live' | 'ended'

/** Milliseconds between two keepalives (EVT-12). */
export const KEEPALIVE = 20_000

/** Milliseconds that a last word may take to leave the process. */
const FAREWELL = 500

/** Kept events read at a time. */
const BATCH = 16

/** Milliseconds after which a store that was away is asked again. */
const READ_AGAIN = 1000

/** Bytes of kept events that a stream takes into memory at a time, unless one of them is larger (SEC-12). */
const BATCH_BYTES = 64 * 1024

export class Stream {
  /** The connection token: 122 random bits (EVT-11). */
  readonly token = randomUUID()
  readonly subscriber: Subscriber
  readonly #context: StreamContext
  #state: State = 'opening'
  #sink: Sink | undefined
  #sendBuffer: SendBuffer | undefined
  #access: Access | undefined
  /** Id of the last event that was considered. */
  #position: EventId | undefined
  /** A reset is due before anything else. */
  #gap = false
  /** There may be kept events behind the position. */
  #behind = false
  /** The position may be that of an event that is gone. */
  #isSetBack = false
  /** How many kept events are read next: as the last ones were large, that many fit. */
  #batch = 1
  /** Events published since kept ones were last read. */
  #missed = 0
  /** The last thing that was sent is a reset; another one would say nothing new. */
  #wasReset = false

  constructor(subscriber: Subscriber, context: StreamContext) {
    this.subscriber = subscriber
    this.#context = context
  }

  get isOpen(): boolean {
    return this.#state !== 'ended'
  }

  /** The subscriber's access by the rules as they stand. */
  get access(): Access {
    this.#access = this.#context.accessOf(this.subscriber, this.#access)
    return this.#access
  }

  /** Finds the place to begin at (EVT-47, EVT-49). Events that are published meanwhile are not lost. */
  async findPlace(): Promise<void> {
    const { lastEventId } = this.subscriber
    const place = await this.#place(lastEventId)
    // What this site keeps no longer may still be there for the sake of others; the newest id is good at any age.
    const newest = this.#isOld(place.after) ? await this.#place(undefined) : place
    this.#position = idOf(newest.after)
    this.#gap = place.gap || newest.after !== place.after || this.#isDoubtful(lastEventId, place)
    if (lastEventId !== undefined && !this.#gap) this.#behind = true
  }

  #place(last: string | undefined): Promise<StreamPosition> {
    const { fanOut, site } = this.#context
    return fanOut.resume(site, this.subscriber.path, last)
  }

  #isOld(id: string | undefined): boolean {
    const { clock, retention } = this.#context
    return (idOf(id)?.ms ?? Number.POSITIVE_INFINITY) < clock.now() - retention
  }

  /**
   * Whether an event may be gone since the store was set back, perhaps to where the clock is behind; age alone counts later, so
   * that quiet pages are left alone.
   */
  #isDoubtful(last: string | undefined, { after }: StreamPosition): boolean {
    const { clock, retention, setBack } = this.#context
    if (last === undefined || setBack() < clock.now() - retention) return false
    return after !== last || (idOf(last)?.ms ?? 0) <= setBack()
  }

  /** Begins to send (EVT-11). */
  start(sink: Sink): void {
    if (!this.isOpen) {
      sink.destroy()
      return
    }
    const { brand, limits, waiting } = this.#context
    this.#sink = sink
    this.#sendBuffer = new SendBuffer(sink, limits, {
      review: () => this.#review(),
      waiting,
      giveUp: () => this.#giveUp(),
    })
    this.#sendBuffer.push(connectionFrame(brand, this.token))
    if (this.#gap) this.#reset('events-expired')
    if (this.#behind) void this.#read()
    else this.#state = 'live'
  }

  /** Passes on an event, or notes that there is one. */
  take(delivery: Delivery): void {
    if (this.#state === 'live') {
      if (this.#isSettled() && this.#isAnswered()) this.#pass(delivery)
      else void this.#read()
      return
    }
    this.#behind = true
    // A client that does not read may not make others wait, and not fall behind for ever either (EVT-37).
    if (this.#state === 'reading' && ++this.#missed > this.#context.limits.events && !this.#sendBuffer?.isEmpty)
      this.end('at once')
  }

  /** Events may have been missed. */
  readOn(): void {
    if (this.#state === 'live') void this.#read()
    else this.#behind = true
  }

  /** Events that were sent may be gone, and with them what they told of. */
  setBack(): void {
    this.#isSetBack = true
    this.#wasReset = false
    this.readOn()
  }

  /** Reads kept events until there are no more, in step with the client. */
  async #read(): Promise<void> {
    this.#state = 'reading'
    try {
      do {
        await this.#readSome()
        await this.#drained()
      } while (this.#behind && this.isOpen)
      if (this.isOpen) this.#state = 'live'
    } catch (error) {
      // Were it ended, a client that has seen no event yet would miss what is committed until it comes back (EVT-13).
      if (error instanceof StoreError && error.reason === 'busy') {
        this.#context.clock.after(READ_AGAIN, () => void (this.isOpen && this.#read()))
        return
      }
      this.#context.failed(error)
      this.end('at once')
    }
  }

  /** What it has read is not kept beyond it: a client can take as long as it likes. */
  async #readSome(): Promise<void> {
    const { fanOut, site } = this.#context
    this.#behind = false
    this.#missed = 0
    await this.#settle()
    if (!this.#isAdmitted(this.access)) return this.end('now')
    await replayTurn()
    const from = this.#position
    const { path } = this.subscriber
    const events = this.#isSetBack ? undefined : await fanOut.read(site, path, format(from), this.#batch)
    // Answers are to be newer than the events.
    if (!this.#isAnswered()) await this.#settle()
    if (!this.isOpen) return
    // The rules have changed meanwhile: what waited was taken back, or a group that decides by itself has not been asked by them.
    if (from !== this.#position || !this.#isSettled()) this.#behind = true
    else if (events === undefined) await this.#startOver()
    else this.#replay(events)
  }

  #replay(events: readonly StoredEvent[]): void {
    const { frames } = this.#context
    if (events.length === this.#batch) this.#behind = true
    let bytes = 0
    for (const event of events) {
      bytes += event.payload.length
      if (this.isOpen) this.#pass(new Delivery(event, frames))
    }
    if (bytes > 0) this.#batch = Math.min(BATCH, Math.max(1, Math.floor((BATCH_BYTES * events.length) / bytes)))
  }

  async #startOver(): Promise<void> {
    this.#isSetBack = false
    try {
      this.#position = idOf((await this.#place(undefined)).after)
    } catch (error) {
      this.#isSetBack = true
      throw error
    }
    if (this.isOpen) this.#reset('events-expired')
  }

  #drained(): Promise<void> {
    return new Promise(resolve => (this.#sendBuffer && this.isOpen ? this.#sendBuffer.whenEmpty(resolve) : resolve()))
  }

  #pass(delivery: Delivery): void {
    if (this.#position && compareEventIds(delivery.id, this.#position) <= 0) return
    const { access } = this
    if (!this.#isAdmitted(access)) {
      this.end('now')
      return
    }
    const after = this.#position
    this.#position = delivery.id
    if (this.#caused(delivery.event)) return
    const share = delivery.shareOf(access)
    if (share === 'unknown') this.#reset('events-expired')
    else if (share !== 'nothing') this.#send(share === 'whole' ? delivery.whole : delivery.bodiless, access, after)
  }

  #send(event: Uint8Array, access: Access, after: EventId | undefined): void {
    this.#wasReset = false
    // Replays go in step with the client, so they need no bound.
    if (this.#state === 'reading') this.#sendBuffer?.push(event, access, after)
    else if (!this.#sendBuffer?.offer(event, access, after)) this.end('at once')
  }

  /** Section 6: the token decides where the writer sent one, else the session. */
  #caused({ session, token }: StoredEvent): boolean {
    if (token !== undefined) return token === this.token
    return session !== undefined && session === this.subscriber.session
  }

  #reset(reason: ResetReason): void {
    if (this.#wasReset) return
    this.#wasReset = true
    this.#sendBuffer?.push(resetFrame(this.#context.ns, reason))
  }

  /** By the rules, and by triggers: new ones are asked when the client comes back (EVT-65). */
  #isAdmitted(access: Access): boolean {
    if (this.subscriber.isGuardedAnew?.()) return false
    return access.permit('GET', this.subscriber.path, undefined, { subscribe: true })
  }

  /**
   * What waits for a client that did not read goes only as the rules stand now: other rules have it read again (EVT-65,
   * EVT-66). Where the stream has ended, nobody reads it again.
   */
  #review(): void {
    if (this.subscriber.isGuardedAnew?.()) this.end('now')
    const access = this.#context.accessOf(this.subscriber, this.#access)
    const back = this.#sendBuffer?.takeBack(access)
    if (back === undefined || !this.isOpen) return
    this.#position = back.after
    this.readOn()
  }

  /** Whether the rules can be asked at once, without groups that decide by themselves (GRP-5). */
  #isSettled(): boolean {
    const before = this.#access
    return before === this.access || this.access.rules.subtypedGroups === 0 || !this.access.requester.principal
  }

  /** Whether groups that decide by themselves have answered as the site is now, where any counts here. */
  #isAnswered(): boolean {
    const { authority, path } = this.subscriber
    return authority.isSettled?.() !== false || !this.access.asksGroups(path)
  }

  /** Asks groups that decide by themselves, again where something of the site has changed. */
  async #settle(): Promise<void> {
    const { authority, path } = this.subscriber
    if (authority.isSettled?.() !== false) return this.access.resolveGroups([path])
    await authority.settle?.([path])
    this.#access = authority().access
  }

  /** Looks after the stream every 20 seconds: permission and keepalive (EVT-12, EVT-65). */
  tend(): void {
    if (!this.#isSettled() || this.subscriber.authority.isSettled?.() === false) this.readOn()
    else if (!this.#isAdmitted(this.access)) this.end('now')
    if (this.isOpen) this.#sendBuffer?.pushOnce(PING)
  }

  /** Tells the client why, and ends (EVT-50). */
  endSession(reason: SessionEnd): void {
    if (!this.isOpen) return
    // What waits was for the session; after a reset the client reads the page as whoever it is then.
    this.#sendBuffer?.takeBack(undefined)
    this.#wasReset = false
    this.#reset(reason)
    this.end('after that')
  }

  /**
   * @param how `after that`: what waits is sent first; `now`: only what is on its way already; `at once`: not even that
   * @param farewell sent as the last thing
   */
  end(how: 'after that' | 'now' | 'at once', farewell?: Uint8Array): void {
    if (!this.isOpen) return
    this.#state = 'ended'
    this.#context.ended(this)
    const sink = this.#sink
    const sendBuffer = this.#sendBuffer
    if (!sink || !sendBuffer) return
    if (how !== 'after that') sendBuffer.discard()
    if (how === 'at once') this.#cut()
    else {
      if (farewell) sendBuffer.push(farewell)
      sendBuffer.whenEmpty(() => sink.end())
      this.#context.clock.after(FAREWELL, () => this.#cut())
    }
  }

  /** Too much waits in the process, and here longest. The client comes back and reads what it missed (EVT-37). */
  #giveUp(): void {
    if (this.isOpen) this.end('at once')
    else this.#cut()
  }

  #cut(): void {
    this.#sink?.destroy()
    this.#sendBuffer?.close()
  }
}

/** The end of the line of streams that wait for a turn in which they read kept events. */
let line: Promise<unknown> = Promise.resolve()

/** However many streams replay at once, one of them reads in each turn of the event loop. */
function replayTurn(): Promise<unknown> {
  line = line.then(() => setImmediate())
  return line
}

function idOf(text: string | undefined): EventId | undefined {
  return text === undefined ? undefined : parseEventId(text)
}

function format(id: EventId | undefined): string | undefined {
  return id && `${id.ms}-${id.seq}`
}
