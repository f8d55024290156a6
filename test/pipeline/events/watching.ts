/** A site with event streams, without sockets: time stands still unless a test moves it, readers read when a test says so. */

import { Readable } from 'node:stream'
import type { GroupOracle } from '../../../pipeline/access/groups.ts'
import type { Principal } from '../../../pipeline/access/principal.ts'
import type { Sink } from '../../../pipeline/answer.ts'
import { fullAuthority } from '../../../pipeline/authority.ts'
import { memoryBody, NO_BODY } from '../../../pipeline/body.ts'
import type { FanOut } from '../../../pipeline/coordination/fan-out.ts'
import { localFanOut } from '../../../pipeline/coordination/local/fan-out.ts'
import { localLeases } from '../../../pipeline/coordination/local/leases.ts'
import type { Cause } from '../../../pipeline/events/mutation.ts'
import type { Stream } from '../../../pipeline/events/stream.ts'
import { type StreamSettings, Streams } from '../../../pipeline/events/streams.ts'
import type { Subscriber } from '../../../pipeline/events/subscriber.ts'
import type { WaitingOptions } from '../../../pipeline/events/waiting.ts'
import type { Fault } from '../../../pipeline/fault.ts'
import { perform } from '../../../pipeline/operation.ts'
import { documentCache } from '../../../pipeline/site/cache.ts'
import { rulesAuthority } from '../../../pipeline/site/rules-authority.ts'
import { Site } from '../../../pipeline/site/site.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { deleteDocument, putDocument } from '../../../pipeline/write/document.ts'
import { type ElementWrite, writeElement } from '../../../pipeline/write/element.ts'
import { moveDocument } from '../../../pipeline/write/move.ts'
import { NS, type RuleLine, rulesPage } from '../../support/content.ts'
import { PATIENCE } from '../../support/eventually.ts'
import { type Opened, openTemporary } from '../store/fixture.ts'
import { type Block, blocksOf, bodyOf, eventsOf, type ReceivedEvent } from './event-source.ts'
import { type ManualClock, manualClock } from './manual-clock.ts'

export const HOST = 'a.example'

const SETTINGS: StreamSettings = {
  retention: 600_000,
  bufferEvents: 256,
  bufferBytes: 1024 * 1024,
  streamsPerSession: 32,
  streamsPerAddress: 256,
  streamsPerSite: 10_000,
}

/** A reader that takes what it is given, or stops. */
export class Reader implements Sink {
  text = ''
  /** Pieces that were written, as they were. */
  readonly pieces: Uint8Array[] = []
  ending: 'ended' | 'destroyed' | undefined
  #isReading = true
  #unread: (() => void)[] = []

  write(bytes: Uint8Array, done: () => void): void {
    this.pieces.push(bytes)
    this.text += Buffer.from(bytes).toString()
    if (this.#isReading) queueMicrotask(done)
    else this.#unread.push(done)
  }

  end(): void {
    this.ending ??= 'ended'
  }

  destroy(): void {
    this.ending ??= 'destroyed'
  }

  /** Reads nothing any more: what is written from now on stays on its way. */
  stop(): void {
    this.#isReading = false
  }

  /** Reads on. */
  resume(): void {
    this.#isReading = true
    for (const done of this.#unread.splice(0)) done()
  }

  get blocks(): Block[] {
    return blocksOf(this.text)
  }

  get events(): ReceivedEvent[] {
    return eventsOf(this.text)
  }

  /** Payloads of the mutations that came. */
  get mutations(): ReceivedEvent[] {
    return this.events.filter(({ event }) => event === 'mutation')
  }
}

export interface Watching {
  stream: Stream
  reader: Reader
}

export interface WatchOptions {
  session?: string
  address?: string
  lastEventId?: string
  principal?: Principal
  headers?: Record<string, string>
  isGuardedAnew?: () => boolean
}

export interface WatchedSite {
  site: Site
  streams: Streams
  store: Store
  clock: ManualClock
  /** Failures in the background. */
  failures: unknown[]
  /** Opens a stream and lets it begin. */
  watch(path: string, options?: WatchOptions): Promise<Watching>
  /** The same without beginning. */
  open(path: string, options?: WatchOptions): Promise<Stream>
  rules(...lines: RuleLine[]): Promise<void>
  put(path: string, text: string, cause?: Cause): Promise<void>
  remove(path: string): Promise<void>
  move(path: string, to: string): Promise<void>
  /** Inserts, replaces, removes or moves an element as the operator may. */
  write(path: string, change: Change, cause?: Cause): Promise<void>
  /** Moves both clocks. */
  advance(ms: number): Promise<void>
  close(): Promise<void>
}

/** `[method, selector, markup or destination, placement]`. */
export type Change = readonly [method: 'PUT' | 'POST' | 'DELETE' | 'MOVE', selector: string, ...rest: string[]]

export interface WatchedSiteOptions {
  settings?: Partial<StreamSettings>
  waiting?: WaitingOptions
  defaultGet?: 'allow' | 'deny'
  oracle?: GroupOracle
  /** Makes a fan-out other than that of a single process, on a store that several share. */
  fanOut?: (opened: Opened, failed: (error: unknown) => void) => Promise<FanOut>
}

export async function watchedSite(options: WatchedSiteOptions = {}): Promise<WatchedSite> {
  const opened = await openTemporary({ shared: options.fanOut !== undefined })
  const { store } = opened
  const clock = manualClock(opened.clock.now)
  const failures: unknown[] = []
  const failed = (error: unknown) => void failures.push(error)
  const fanOut = (await options.fanOut?.(opened, failed)) ?? localFanOut({ store, failed })
  const streams = new Streams({ fanOut, clock, failed, ...(options.waiting && { waiting: options.waiting }) })
  const site = await Site.open({
    settings: {
      host: HOST,
      brand: 'platform',
      ns: NS,
      errorNs: `${NS}/error`,
      schemaHost: 'https://schema.org',
      defaultGet: options.defaultGet ?? 'allow',
      maxBody: 2 ** 30,
      maxDocument: 2 ** 26,
      sessionContentMax: 2 ** 18,
    },
    store: store.site(HOST),
    leases: localLeases(),
    cache: documentCache(),
    basis: { read: async () => undefined, write: async () => undefined },
    report: () => undefined,
    audience: { fanOut, onlookers: (name, path) => streams.onlookers(name, path) },
  })
  const settings = { ...SETTINGS, ...options.settings }
  const full = () => fullAuthority
  let sessions = 0

  function subscriberOf(path: string, given: WatchOptions): Subscriber {
    const { session = `session ${sessions++}`, address = '192.0.2.1', lastEventId, principal, headers = {} } = given
    const { isGuardedAnew = () => false } = given
    const facts = { method: 'GET', path, queryString: '', headers: (name: string) => headers[name] }
    const authority = rulesAuthority(site, { facts, ...(principal && { principal }) }, options.oracle)
    return { path, session, address, lastEventId, authority, isGuardedAnew }
  }

  const open = (path: string, given: WatchOptions = {}) => streams.open(site, settings, subscriberOf(path, given))

  const watched: WatchedSite = {
    site,
    streams,
    store,
    clock,
    failures,
    open,
    async watch(path, given) {
      const stream = await open(path, given)
      const reader = new Reader()
      stream.start(reader)
      return { stream, reader }
    },
    rules: (...lines) => watched.put('/rules.html', rulesPage(...lines)),
    async put(path, text, cause = {}) {
      const bytes = Buffer.from(text)
      const body = {
        bytes: async () => bytes,
        stage: (cap: number) => store.stage(Readable.from([bytes]), { limit: cap }),
      }
      await perform(putDocument(site, { path, type: undefined, conditions: undefined, cause }, full), body)
    },
    remove: async path =>
      void (await perform(deleteDocument(site, { path, conditions: undefined, cause: {} }, full), NO_BODY)),
    move: async (path, to) =>
      void (await perform(
        moveDocument(site, { path, to, overwrite: true, conditions: undefined, cause: {} }, full),
        NO_BODY,
      )),
    async write(path, change, cause = {}) {
      const [, , content = ''] = change
      await perform(writeElement(site, toWrite(path, change, cause), full), memoryBody(Buffer.from(content)))
    },
    advance(ms) {
      opened.clock.now += ms
      return clock.advance(ms)
    },
    async close() {
      streams.close()
      await fanOut.close()
      await opened.close()
    },
  }
  return watched
}

function toWrite(
  path: string,
  [method, selector, content = '', placement = 'append']: Change,
  cause: Cause,
): ElementWrite {
  const common = { path, conditions: undefined, cause, range: { unit: 'selector', selector, wire: selector } as const }
  const placed = placement as 'append' | 'prepend' | 'before' | 'after'
  if (method === 'PUT') return { ...common, op: 'put' }
  if (method === 'POST') return { ...common, op: 'post', placement: placed }
  if (method === 'DELETE') return { ...common, op: 'delete' }
  return { ...common, op: 'move', destination: { selector: content, wire: content, placement: placed } }
}

/** What was inserted by some mutations. */
export const bodiesOf = (events: readonly { data: string }[]): string[] => events.map(({ data }) => bodyOf(data))

/** A reset as it comes (EVT-48). */
export const resetOf = (reason: string): ReceivedEvent => ({
  event: 'reset',
  data: `<article itemscope itemtype="${NS}/StreamReset">\n  <span itemprop="reason">${reason}</span>\n</article>`,
})

/** Has a stream begin that was opened earlier. */
export async function startLate(stream: Stream, options: { stopped?: boolean } = {}): Promise<Reader> {
  const reader = new Reader()
  if (options.stopped) reader.stop()
  stream.start(reader)
  await until(() => reader.text !== '' || reader.ending !== undefined)
  return reader
}

/** Waits, without time passing for the site, for something that is under way. */
export async function until(isSo: () => boolean): Promise<void> {
  const begun = performance.now()
  while (!isSo()) {
    if (performance.now() - begun > PATIENCE) throw new Error('it did not come about')
    await new Promise(resolve => setImmediate(resolve))
  }
}

/** Waits for a number of events, the connection event among them. */
export const settled = (reader: { events: readonly unknown[] }, count: number) =>
  until(() => reader.events.length >= count)

export async function refusal(opening: Promise<unknown>): Promise<{ status: number; retry: string | undefined }> {
  try {
    await opening
  } catch (error) {
    const { status, details } = error as Fault
    return { status, retry: details.headers?.['Retry-After'] }
  }
  throw new Error('it was opened')
}
