/** Sends outbound requests: so many at a time, again when they fail, and again after the process was killed (REA-83 to REA-86). */

import { randomUUID } from 'node:crypto'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Leases } from '../../coordination/leases.ts'
import type { NoteChange, NoteStore } from '../../store/notes.ts'
import { MOST_RETRIES, type OutboundCall } from '../calls.ts'
import type { Attempted } from './attempt.ts'
import {
  type Entry,
  entryOf,
  hostOf,
  keepWaiting,
  keysOf,
  newEntry,
  ownerKey,
  WAITING_PREFIX,
  waitingId,
  waitingKey,
} from './entry.ts'
import { FailedCalls } from './failed.ts'
import { HeldCalls, MOST_OF_HOST, sizeOf, type WaitingCall, WaitingCalls } from './waiting.ts'

export interface OutboundParts {
  notes: Pick<NoteStore, 'note' | 'noteKeys' | 'changeNotes'>
  leases: Pick<Leases, 'hold'>
  /** Other processes send from the same store. */
  shared: boolean
  /** Makes one attempt. It never throws. */
  send: (entry: Entry) => Promise<Attempted>
  log: (level: 'info' | 'warn' | 'error', message: string, details: object) => void
  /** Unix milliseconds. */
  clock?: () => number
  /** Milliseconds of the first wait before another attempt (REA-84). */
  firstWait?: number
  /** Milliseconds between two looks for requests that nobody sends. */
  lookEvery?: number
}

/** Figures for metrics; all but the first two only grow. */
export interface OutboundFigures {
  waiting: number
  inFlight: number
  delivered: number
  retried: number
  failed: number
}

export interface Outbound {
  /** Makes calls entries of this process; those for which the queue has no room are dropped (REA-95). */
  entries(
    calls: readonly OutboundCall[],
    about: Pick<Entry, 'site' | 'authority' | 'brand' | 'brandHeader' | 'depth'>,
  ): Entry[]
  /**
   * Entries as a commit stores them: with the word that this process looks after them, where others send as well. Without it
   * the others would take them for those of a process that is gone.
   */
  notes(entries: readonly Entry[]): NoteChange[]
  /** Puts entries into durable storage. @throws StoreError */
  record(entries: readonly Entry[]): Promise<void>
  /** Starts what is recorded. */
  dispatch(entries: readonly Entry[]): void
  /** Sends once what is not recorded: a failure or a restart loses it (REA-125). */
  deliver(entries: readonly Entry[]): void
  /** Looks for what was left by others, now and again later on. */
  resume(): Promise<void>
  /** Own-site calls that have led to a request with this delivery id; 0 where this process is not sending it (REA-88). */
  depthOf(delivery: string): number
  figures(): OutboundFigures
  /** Starts nothing any more; what is under way may be repeated by the next process. */
  close(): Promise<void>
}

/** Milliseconds for which a process counts as alive, and after which it says again that it is. */
const ALIVE = { for: 30_000, every: 10_000 }
/** Milliseconds that calls under way have when the process ends. */
const GRACE = 2_000
/** Milliseconds in which dropped calls of a site are told once. */
const TOLD_EVERY = 1_000

interface Waiting extends WaitingCall {
  /** Of what is not recorded. */
  entry?: Entry
}

export function createOutbound(parts: OutboundParts): Outbound {
  const { notes, leases, shared, send, log, clock = Date.now, firstWait = 2_000, lookEvery = 30_000 } = parts
  const longestWait = firstWait * 2 ** MOST_RETRIES
  const owner = randomUUID()
  const waiting = new WaitingCalls<Waiting>()
  const held = new HeldCalls()
  const running = new Set<Promise<void>>()
  /** Ids of what is in flight. */
  const underWay = new Set<string>()
  /** Their depths, by what their receivers see of them. */
  const depths = new Map<string, number>()
  const failures = new FailedCalls(notes, (site, count) =>
    log('warn', 'Failed outbound requests are forgotten: too many of the site are kept', { site, count }),
  )
  /** Who looks after entries that others have queued, as it was when they were last looked at. */
  let others: ReadonlyMap<string, string> = new Map()
  /** When it was last told that calls of a site are dropped. */
  const told = new Map<string, number>()
  const figures = { delivered: 0, retried: 0, failed: 0 }
  let timer: NodeJS.Timeout | undefined
  let timerAt = Number.POSITIVE_INFINITY
  let looking: NodeJS.Timeout | undefined
  let aliveUntil = 0
  let closed = false

  function pump(): void {
    if (closed) return
    const now = clock()
    waiting.hasten(now + longestWait)
    for (let item = waiting.take(now); item; item = waiting.take(now)) start(item)
    wake(waiting.nextDue)
  }

  function wake(at: number): void {
    if (at >= timerAt && timer) return
    clearTimeout(timer)
    timer = undefined
    timerAt = at
    if (at === Number.POSITIVE_INFINITY) return
    timer = setTimeout(
      () => {
        timer = undefined
        timerAt = Number.POSITIVE_INFINITY
        pump()
      },
      Math.min(Math.max(0, at - clock()), 60_000),
    ).unref()
  }

  function start(item: Waiting): void {
    underWay.add(item.id)
    const work = attemptOf(item)
      .catch(error => log('error', 'An outbound request could not be worked on', { delivery: item.id, err: error }))
      .finally(() => {
        waiting.done(item)
        if (item.entry) held.leave(item.site, item.bytes)
        underWay.delete(item.id)
        running.delete(work)
        pump()
      })
    running.add(work)
  }

  async function attemptOf(item: Waiting): Promise<void> {
    const note = item.entry ? undefined : await surely(item, () => notes.note(waitingKey(item.id)))
    const entry = item.entry ?? (note && entryOf(note))
    // Somebody else has taken it.
    if (!entry || (!item.entry && entry.owner !== owner)) return
    const { site, delivery, method } = entry
    depths.set(delivery, entry.depth + 1)
    const outcome = await send(entry).finally(() => depths.delete(delivery))
    const told = { site, delivery, method, host: item.host, attempt: entry.attempts + 1 }
    if (outcome.ok) {
      figures.delivered++
      log('info', 'An outbound request was delivered', { ...told, status: outcome.status })
      if (!item.entry) await noted(item, [{ op: 'drop', key: waitingKey(entry.id) }])
      return
    }
    const failure = 'error' in outcome ? outcome.error : `status ${outcome.status}`
    const isFinal = 'final' in outcome && outcome.final === true
    const made = entry.attempts + 1
    if (item.entry || isFinal || made > entry.retries) {
      figures.failed++
      log('warn', 'An outbound request has failed', { ...told, failure })
      if (item.entry) return
      const kept = { ...entry, attempts: made, failure }
      await noted(item, await surely(item, () => failures.keep(kept, clock())))
      return
    }
    figures.retried++
    const wait = firstWait * 2 ** (made - 1) * (0.8 + Math.random() * 0.4)
    const again = { ...entry, attempts: made, failure, due: clock() + Math.round(wait) }
    log('info', 'An outbound request is sent again later', { ...told, failure })
    await noted(item, [keepWaiting(again)])
    enqueue(again)
  }

  /**
   * Asks the store until it answers. The request counts as in flight meanwhile, so that few of them ask; nobody else looks
   * after it while this process lives.
   */
  async function surely<T>(item: Waiting, ask: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await ask()
      } catch (error) {
        if (closed) throw error
        if (attempt === 1)
          log('error', 'An outbound request waits for the store', { site: item.site, delivery: item.id, err: error })
      }
      await sleep(firstWait, undefined, { ref: false })
    }
  }

  const noted = (item: Waiting, changes: NoteChange[]) => surely(item, () => notes.changeNotes(changes))

  function enqueue(entry: Entry, isKept = true): void {
    const { id, site, due } = entry
    const bytes = sizeOf(entry)
    waiting.add({ id, site, host: hostOf(entry), due, bytes, ...(!isKept && { entry }) }, clock())
  }

  function admitted(calls: readonly OutboundCall[], site: string): readonly OutboundCall[] {
    const fitting = waiting.fitting(site, calls)
    if (fitting.length < calls.length) noteDropped(site, calls.length - fitting.length)
    return fitting
  }

  function noteDropped(site: string, count: number): void {
    figures.failed += count
    const now = clock()
    if (now - (told.get(site) ?? Number.NEGATIVE_INFINITY) >= TOLD_EVERY) {
      told.set(site, now)
      log('warn', 'Outbound requests are dropped: too many of the site wait', { site })
    }
  }

  /** Says that the entries of this process are being looked after. */
  async function stayAlive(): Promise<void> {
    if (!shared || clock() < aliveUntil - ALIVE.for + ALIVE.every) return
    aliveUntil = clock() + ALIVE.for
    await notes.changeNotes([aliveNote()])
  }

  function aliveNote(): NoteChange {
    return { op: 'keep', note: { key: ownerKey(owner), value: '', expires: clock() + ALIVE.for } }
  }

  function entryNotes(entries: readonly Entry[]): NoteChange[] {
    return shared && entries.length > 0 ? [aliveNote(), ...entries.map(keepWaiting)] : entries.map(keepWaiting)
  }

  /** Looks at keys alone: reading all that waits again and again would keep others from their turns. */
  async function look(): Promise<void> {
    if (waiting.size + running.size > 0) await stayAlive()
    const seen = new Map<string, string>()
    const gone = new Map<string, boolean>()
    const left: { id: string; by: string; due: number }[] = []
    for await (const key of keysOf(notes, WAITING_PREFIX)) {
      const id = waitingId(key)
      if (closed) break
      if (waiting.has(id) || underWay.has(id)) continue
      const known = others.get(id)
      const found = known === undefined ? await entryAt(id) : undefined
      const by = known ?? found?.owner
      if (by === undefined || by === owner) continue
      const isGone = gone.get(by) ?? (await isOrphaned(by))
      gone.set(by, isGone)
      if (!isGone) seen.set(id, by)
      else left.push({ id, by, due: (found ?? (await entryAt(id)))?.due ?? 0 })
    }
    others = seen
    // What had its turn first was under way: of two, that which was due earlier, whichever was queued before.
    left.sort((a, b) => a.due - b.due)
    const tried = new Map<string, number>()
    for (const { id, by } of left) if (!closed) await adopt(id, by, tried)
    pump()
  }

  async function isOrphaned(by: string): Promise<boolean> {
    return !shared || by === '' || (await notes.note(ownerKey(by))) === undefined
  }

  /** Others have their turns between two of them: there may be many, and large ones, and a store may read at once. */
  async function entryAt(id: string): Promise<Entry | undefined> {
    await setImmediate()
    const note = await notes.note(waitingKey(id))
    return note && entryOf(note)
  }

  /**
   * An attempt that may have been under way counts as made; one more is made in any case (REA-86). Those were under way that
   * stood first in the line of their host; the others have lost nothing but time, however often processes come and go.
   *
   * @param tried such attempts so far, by line
   */
  async function adopt(id: string, from: string, tried: Map<string, number>): Promise<void> {
    await stayAlive()
    await leases.hold('', [`/${id}`], async () => {
      const note = await notes.note(waitingKey(id))
      const entry = note && entryOf(note)
      if (!entry || entry.owner !== from) return
      const line = `${from} ${entry.site} ${hostOf(entry)}`
      const before = tried.get(line) ?? 0
      const isTried = from !== '' && entry.due <= clock() && before < MOST_OF_HOST
      if (isTried) tried.set(line, before + 1)
      const attempts = isTried ? Math.min(entry.attempts + 1, entry.retries) : entry.attempts
      const own = { ...entry, attempts, owner }
      await notes.changeNotes([keepWaiting(own)])
      enqueue(own)
    })
  }

  async function lookAgain(): Promise<void> {
    try {
      await look()
    } catch (error) {
      if (!closed) log('error', 'The queue of outbound requests cannot be read', { err: error })
    }
    if (closed) return
    const every = shared ? Math.min(lookEvery, ALIVE.every) : lookEvery
    looking = setTimeout(() => void lookAgain(), every).unref()
  }

  return {
    entries: (calls, about) => admitted(calls, about.site).map(call => newEntry(call, { ...about, owner }, clock())),
    notes: entryNotes,
    async record(entries) {
      if (entries.length > 0) await notes.changeNotes(entryNotes(entries))
    },
    dispatch(entries) {
      for (const entry of entries) enqueue(entry)
      pump()
    },
    deliver(entries) {
      for (const entry of entries)
        if (held.take(entry.site, sizeOf(entry))) enqueue(entry, false)
        else noteDropped(entry.site, 1)
      pump()
    },
    resume: lookAgain,
    depthOf: delivery => depths.get(delivery) ?? 0,
    figures: () => ({ waiting: waiting.size, inFlight: running.size, ...figures }),
    async close() {
      closed = true
      clearTimeout(timer)
      clearTimeout(looking)
      let ended: NodeJS.Timeout | undefined
      const grace = new Promise<void>(resolve => {
        ended = setTimeout(resolve, GRACE)
      })
      await Promise.race([Promise.allSettled([...running]), grace])
      clearTimeout(ended)
    },
  }
}
