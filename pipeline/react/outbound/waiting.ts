/**
 * Outbound requests that wait: in line for their host, or for the time of another attempt. What may wait is bounded (REA-95):
 * nobody pays for what a request leads to, and a receiver may be away for days. What is sent next is found by looking at the
 * hosts that are called, not at all that waits for them.
 */

import { getHeapStatistics } from 'node:v8'
import type { OutboundCall } from '../calls.ts'

/** Requests of one site that may wait. */
export const MOST_WAITING = 10_000
/** Bytes that they may take together. */
export const LARGEST_QUEUE = 64 * 1024 * 1024

/** The part of the heap that requests of all sites may take which stand in no store. */
export const PART_OF_HEAP = 1 / 8
/** Bytes that such a one takes beside its texts, whose characters may take two each. */
const HELD = 1024

/** Requests in flight (REA-95). */
const MOST_OF_SITE = 16
export const MOST_OF_HOST = 4

/** What the queue has to know of a request. */
export interface WaitingCall {
  id: string
  site: string
  host: string
  /** Unix milliseconds. */
  due: number
  bytes: number
}

/** Bytes that a request takes in the queue, about. */
export function sizeOf({ url, body, fields }: OutboundCall): number {
  return fields.reduce((sum, [name, value]) => sum + name.length + value.length, url.length + body.length)
}

/** Requests that are kept in memory alone, in flight or not: no site may hold more than is left for all others. */
export class HeldCalls {
  readonly #most = getHeapStatistics().heap_size_limit * PART_OF_HEAP
  readonly #sites = new Map<string, number>()
  #bytes = 0

  /** Counts one. @returns whether there is room for it */
  take(site: string, size: number): boolean {
    const bytes = HELD + 2 * size
    if ((this.#sites.get(site) ?? 0) + bytes > this.#most - this.#bytes) return false
    this.#count(site, bytes)
    return true
  }

  /** It is kept no longer. */
  leave(site: string, size: number): void {
    this.#count(site, -HELD - 2 * size)
  }

  #count(site: string, bytes: number): void {
    this.#bytes += bytes
    const held = (this.#sites.get(site) ?? 0) + bytes
    if (held > 0) this.#sites.set(site, held)
    else this.#sites.delete(site)
  }
}

interface Host<Call> {
  inFlight: number
  /** In line, each with its place among all. */
  line: { call: Call; place: number }[]
}

interface Site<Call> {
  inFlight: number
  waiting: number
  bytes: number
  hosts: Map<string, Host<Call>>
}

export class WaitingCalls<Call extends WaitingCall> {
  readonly #sites = new Map<string, Site<Call>>()
  readonly #ids = new Set<string>()
  /** Those that are not due yet, the next one last. */
  readonly #later: Call[] = []
  #places = 0

  get size(): number {
    return this.#ids.size
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  /** When the next of those that are not due yet will be. */
  get nextDue(): number {
    return this.#later.at(-1)?.due ?? Number.POSITIVE_INFINITY
  }

  /** The calls for which there is room, in their order. */
  fitting(site: string, calls: readonly OutboundCall[]): readonly OutboundCall[] {
    let { waiting, bytes } = this.#sites.get(site) ?? { waiting: 0, bytes: 0 }
    return calls.filter(call => {
      if (waiting >= MOST_WAITING || bytes >= LARGEST_QUEUE) return false
      waiting++
      bytes += sizeOf(call)
      return true
    })
  }

  /** @param now unix milliseconds */
  add(call: Call, now: number): void {
    if (this.#ids.has(call.id)) return
    this.#ids.add(call.id)
    const site = this.#siteOf(call)
    site.waiting++
    site.bytes += call.bytes
    if (call.due <= now) this.#queue(call)
    else this.#later.splice(this.#placeOf(call.due), 0, call)
  }

  /**
   * Nobody waits longer than this: where the clock was set back since, those that are not due yet would.
   *
   * @param latest unix milliseconds
   */
  hasten(latest: number): void {
    for (const call of this.#later) {
      if (call.due <= latest) break
      call.due = latest
    }
  }

  /**
   * The next one that may be sent, which counts as in flight from now on.
   *
   * @param now unix milliseconds
   */
  take(now: number): Call | undefined {
    while (this.nextDue <= now) {
      const due = this.#later.pop()
      if (due) this.#queue(due)
    }
    for (const site of this.#sites.values()) {
      if (site.inFlight >= MOST_OF_SITE || site.waiting === 0) continue
      let first: Host<Call> | undefined
      for (const host of site.hosts.values()) {
        const [next] = host.line
        if (next && host.inFlight < MOST_OF_HOST && next.place < (first?.line[0]?.place ?? Number.POSITIVE_INFINITY))
          first = host
      }
      const next = first?.line.shift()
      if (!first || !next) continue
      this.#ids.delete(next.call.id)
      site.waiting--
      site.bytes -= next.call.bytes
      site.inFlight++
      first.inFlight++
      return next.call
    }
    return undefined
  }

  /** A request that was taken is in flight no longer. */
  done({ site: name, host: hostName }: Call): void {
    const site = this.#sites.get(name)
    const host = site?.hosts.get(hostName)
    if (!site || !host) return
    site.inFlight--
    host.inFlight--
    if (host.inFlight === 0 && host.line.length === 0) site.hosts.delete(hostName)
    if (site.inFlight === 0 && site.waiting === 0) this.#sites.delete(name)
  }

  #siteOf({ site: name }: Call): Site<Call> {
    let site = this.#sites.get(name)
    if (!site) this.#sites.set(name, (site = { inFlight: 0, waiting: 0, bytes: 0, hosts: new Map() }))
    return site
  }

  #queue(call: Call): void {
    const { hosts } = this.#siteOf(call)
    const place = ++this.#places
    const host = hosts.get(call.host)
    if (host) host.line.push({ call, place })
    else hosts.set(call.host, { inFlight: 0, line: [{ call, place }] })
  }

  /** Where in the list of later ones a time belongs: behind those that come after it. */
  #placeOf(due: number): number {
    let [low, high] = [0, this.#later.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#later[middle]?.due ?? 0) > due) low = middle + 1
      else high = middle
    }
    return low
  }
}
