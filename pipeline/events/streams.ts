/** All open event streams of this process: opened within limits, kept alive, found by session, ended together. */

import type { RuleScope } from '../access/matching.ts'
import type { FanOut } from '../coordination/fan-out.ts'
import { Fault } from '../fault.ts'
import { networkOf } from '../http/network.ts'
import type { Site } from '../site/site.ts'
import { Channel } from './channel.ts'
import { type Clock, systemClock } from './clock.ts'
import { KEEPALIVE, Stream } from './stream.ts'
import type { Subscriber } from './subscriber.ts'
import { Waiting, type WaitingOptions } from './waiting.ts'
import { retryFrame } from './wire.ts'

/** The settings of a site about its streams (EVT-37, EVT-38, EVT-46). */
export interface StreamSettings {
  /** Milliseconds that events can be replayed. */
  retention: number
  bufferEvents: number
  bufferBytes: number
  streamsPerSession: number
  streamsPerAddress: number
  streamsPerSite: number
}

export interface StreamsOptions {
  fanOut: FanOut
  clock?: Clock
  /** Bounds what waits for slow readers. */
  waiting?: WaitingOptions
  /** Told of failures in the background. */
  failed?: (error: unknown) => void
}

/** Streams that are looked after in one turn. */
const TURN = 500

/** Seconds after which somebody who was turned away may come again. */
const RETRY_AFTER = '5'

/** Milliseconds within which clients come back after a shutdown (EVT-83). */
const RECONNECT = { least: 1000, most: 3000 }

interface Watched {
  channel: Channel
  end: () => void
}

export class Streams {
  readonly #fanOut: FanOut
  readonly #clock: Clock
  readonly #failed: (error: unknown) => void
  readonly #waiting: Waiting
  readonly #watched = new Map<string, Watched>()
  readonly #bySite = new Map<string, Set<Stream>>()
  readonly #bySession = new Map<string, Set<Stream>>()
  readonly #byAddress = new Map<string, Set<Stream>>()
  /** Streams by the time at which they are looked after next: all are at the same interval. */
  readonly #due = new Map<Stream, number>()
  #cancelRound: (() => void) | undefined
  /** When the store was last set back, in unix milliseconds. */
  #setBack = Number.NEGATIVE_INFINITY
  #isClosing = false

  constructor({ fanOut, clock = systemClock, waiting, failed = () => undefined }: StreamsOptions) {
    this.#fanOut = fanOut
    this.#clock = clock
    this.#failed = failed
    this.#waiting = new Waiting(waiting)
  }

  /** Open streams. */
  get size(): number {
    return this.#due.size
  }

  /** Bytes that wait for slow readers. */
  get waiting(): number {
    return this.#waiting.bytes
  }

  /**
   * Opens a stream for somebody who was admitted. It hears of every event from now on and begins to send with `start`.
   *
   * @throws Fault 503 beyond the limits of EVT-38, and while the server ends
   */
  async open(site: Site, settings: StreamSettings, subscriber: Subscriber): Promise<Stream> {
    const { name } = site.store
    const { path, session, address } = subscriber
    const groups: [Map<string, Set<Stream>>, string, number][] = [
      [this.#bySite, name, settings.streamsPerSite],
      [this.#bySession, keyOf(name, session), settings.streamsPerSession],
      [this.#byAddress, keyOf(name, networkOf(address)), settings.streamsPerAddress],
    ]
    if (this.#isClosing || groups.some(([groups, key, most]) => (groups.get(key)?.size ?? 0) >= most)) throw full()
    const { channel } = this.#watch(site, path)
    const stream: Stream = new Stream(subscriber, {
      site: name,
      brand: site.settings.brand,
      ns: site.settings.ns,
      fanOut: this.#fanOut,
      clock: this.#clock,
      retention: settings.retention,
      limits: { events: settings.bufferEvents, bytes: settings.bufferBytes },
      setBack: () => this.#setBack,
      waiting: this.#waiting,
      frames: channel.frames,
      accessOf: (subscriber, current) => channel.accessOf(subscriber, current),
      failed: this.#failed,
      ended: () => {
        this.#due.delete(stream)
        for (const [group, key] of groups) leave(group, key, stream)
        this.#unwatch(name, path, stream)
      },
    })
    channel.add(stream)
    for (const [group, key] of groups) join(group, key, stream)
    this.#due.set(stream, this.#clock.passed() + KEEPALIVE)
    this.#planRound()
    try {
      await stream.findPlace()
    } catch (error) {
      stream.end('at once')
      throw error
    }
    return stream
  }

  #watch(site: Site, path: string): Watched {
    const key = keyOf(site.store.name, path)
    let watched = this.#watched.get(key)
    if (!watched) {
      const channel = new Channel(site, path, this.#clock)
      watched = { channel, end: this.#fanOut.watch(site.store.name, path, channel) }
      this.#watched.set(key, watched)
    }
    return watched
  }

  #unwatch(site: string, path: string, stream: Stream): void {
    const key = keyOf(site, path)
    const watched = this.#watched.get(key)
    watched?.channel.delete(stream)
    if (!watched?.channel.isEmpty) return
    watched.end()
    this.#watched.delete(key)
  }

  /** Selectors with lookups of the rules, as they read for those who watch a path now (EVT-67). */
  onlookers(site: string, path: string): Iterable<RuleScope> {
    return this.#watched.get(keyOf(site, path))?.channel.onlookers() ?? []
  }

  #planRound(): void {
    if (this.#cancelRound) return
    for (const due of this.#due.values()) {
      this.#cancelRound = this.#clock.after(Math.max(0, due - this.#clock.passed()), () => this.#round())
      return
    }
  }

  #round(): void {
    this.#cancelRound = undefined
    const now = this.#clock.passed()
    let tended = 0
    for (const [stream, due] of this.#due) {
      if (due > now || tended++ >= TURN) break
      this.#due.delete(stream)
      this.#due.set(stream, now + KEEPALIVE)
      stream.tend()
    }
    this.#planRound()
  }

  /** The store is in an earlier state than before: what clients were told may never have been (EVT-49). */
  setBack(): void {
    this.#setBack = this.#clock.now()
    for (const stream of this.#due.keys()) stream.setBack()
  }

  /** Ends the streams of a site that this process lets go of; their clients come back. */
  closeSite(site: string): void {
    for (const stream of [...(this.#bySite.get(site) ?? [])]) stream.end('after that')
  }

  /** Ends all streams, and spreads the return of their clients over some time (EVT-83). */
  close(): void {
    this.#isClosing = true
    this.#cancelRound?.()
    const { least, most } = RECONNECT
    for (const stream of [...this.#due.keys()])
      stream.end('after that', retryFrame(Math.round(least + Math.random() * (most - least))))
  }
}

function keyOf(site: string, rest: string): string {
  return `${site}\n${rest}`
}

function join(groups: Map<string, Set<Stream>>, key: string, stream: Stream): void {
  const group = groups.get(key)
  if (group) group.add(stream)
  else groups.set(key, new Set([stream]))
}

function leave(groups: Map<string, Set<Stream>>, key: string, stream: Stream): void {
  const group = groups.get(key)
  group?.delete(stream)
  if (group?.size === 0) groups.delete(key)
}

function full(): Fault {
  return new Fault(503, 'Unavailable', 'Too many event streams are open. Try again in a moment.', {
    headers: { 'Retry-After': RETRY_AFTER },
  })
}
