/** Finished requests, and who writes, as the log, the metrics and the record of changes tell it. */

import { isIPv4, isIPv6 } from 'node:net'
import type { Settings } from '../config/schema.ts'
import type { RequestLine } from '../edge/known-requests.ts'
import type { Log } from './log.ts'

export const FACES = ['public', 'mount'] as const

export type Face = (typeof FACES)[number]

/** Methods that are counted by name. */
const METHODS = new Set([
  'GET',
  'HEAD',
  'PUT',
  'POST',
  'DELETE',
  'MOVE',
  'COPY',
  'PATCH',
  'OPTIONS',
  'QUERY',
  'PROPFIND',
  'PROPPATCH',
  'MKCOL',
  'LOCK',
  'UNLOCK',
  'REPORT',
])

/** Seconds; what took longer than the last is counted beside them. */
const BOUNDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]

/** How long requests took: every one counts here, and nearly nobody looks. */
export class Durations {
  /** Requests by the first bound that they did not pass. */
  readonly #counts = new Array<number>(BOUNDS.length + 1).fill(0)
  #sum = 0

  observe(seconds: number): void {
    let at = 0
    while (at < BOUNDS.length && seconds > (BOUNDS[at] ?? 0)) at++
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#sum += seconds
  }

  /** The samples of a histogram: each bound counts all that is below it. @param name of the metric */
  samples(name: string, face: Face): { metricName: string; labels: Record<string, string | number>; value: number }[] {
    let below = 0
    const buckets = this.#counts.map((count, i) => {
      below += count
      return { metricName: `${name}_bucket`, labels: { le: BOUNDS[i] ?? '+Inf', face }, value: below }
    })
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels: { face }, value: this.#sum },
      { metricName: `${name}_count`, labels: { face }, value: below },
    ]
  }
}

/** Answered requests in plain numbers: labels of metrics cost more than the counting itself. */
export class RequestCounts {
  /** By face and method how many answers there were of each hundred of status codes. */
  readonly answered: Readonly<Record<Face, Map<string, number[]>>> = { public: new Map(), mount: new Map() }
  readonly #observed: Readonly<Record<Face, { observe(seconds: number): void }>>
  /** All of them. */
  total = 0

  /** @param observed take how long requests took */
  constructor(observed: Readonly<Record<Face, { observe(seconds: number): void }>>) {
    this.#observed = observed
  }

  add(face: Face, method: string, status: number, seconds: number): void {
    const known = METHODS.has(method) ? method : 'other'
    const hundred = Math.floor(status / 100)
    let counts = this.answered[face].get(known)
    if (!counts) this.answered[face].set(known, (counts = new Array<number>(10).fill(0)))
    counts[hundred] = (counts[hundred] ?? 0) + 1
    this.#observed[face].observe(seconds)
    this.total++
  }
}

/** Methods that may change something, on either surface. */
const WRITING = new Set(['PUT', 'POST', 'DELETE', 'MOVE', 'PATCH', 'COPY', 'MKCOL', 'PROPPATCH', 'LOCK', 'UNLOCK'])

/** Characters of a selector that are told. */
const LONGEST = 200

/** Characters that are told of a name: a provider may have verified an address of any length. */
const LONGEST_USER = 1_024

/** Characters that are told of a host and of a path: a longer one is none, and as many lines would take all of a disk. */
const LONGEST_HOST = 300
const LONGEST_TOLD_PATH = 4_096

/** @param method upper case */
export function isWriting(method: string): boolean {
  return WRITING.has(method)
}

/** Of an address what the settings have told. @returns undefined for nothing */
function toldAddress(address: string, { clients }: Pick<Settings['log'], 'clients'>): string | undefined {
  if (clients === 'none') return undefined
  return clients === 'network' ? network(address) : address
}

/** The first 24 bits of an IPv4 address, the first 48 of an IPv6 address. */
function network(address: string): string | undefined {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1] ?? address
  if (isIPv4(mapped)) return `${mapped.split('.').slice(0, 3).join('.')}.0/24`
  if (!isIPv6(address)) return undefined
  const [head = ''] = address.replace(/%.*/s, '').split('::')
  const groups = head === '' ? [] : head.split(':')
  return `${[...groups, '0', '0', '0'].slice(0, 3).join(':')}::/48`
}

/** Whoever has sent a request, as far as it is known. */
export interface Sender {
  user: string | undefined
  /** Of the client. */
  address: string
  /** The `Range` field. */
  range: string | undefined
}

/**
 * Tells log and metrics of a request that was answered.
 *
 * @param finished.who told of requests that may have changed something; absent for repeated answers
 */
export function reportRequest(
  { metrics, log, logged }: { metrics: { requests: RequestCounts }; log: Log; logged: Settings['log'] },
  finished: {
    face: Face
    request: RequestLine
    status: number
    milliseconds: number
    who: Sender | undefined
  },
): void {
  const { face, request, status, milliseconds, who } = finished
  const { method = '', url = '' } = request
  metrics.requests.add(face, method, status, milliseconds / 1000)
  const by = who && isWriting(method) ? { by: toldOf(logged, who) } : undefined
  logRequest(log, { face, host: request.headers.host ?? '', method, url, status, milliseconds, ...by })
}

/**
 * @param user who is known by a session or a credential
 * @param address of the client
 * @param range the `Range` field
 */
export function toldOf(settings: Settings['log'], { user, address, range }: Sender): Writer {
  const client = toldAddress(address, settings)
  const selector = range === undefined ? undefined : selectorIn(range)
  return {
    ...(user !== undefined && settings.users && { user: user.slice(0, LONGEST_USER) }),
    ...(client !== undefined && { client }),
    ...(selector !== undefined && { selector }),
  }
}

/** The selector of a `Range` field; undefined for any other. */
function selectorIn(range: string): string | undefined {
  const selector = /^ *selector *= *(.*)$/is.exec(range.slice(0, LONGEST + 20))?.[1]
  return selector?.slice(0, LONGEST)
}

/** A request that was answered. */
export interface LoggedRequest {
  face: Face
  host: string
  method: string
  /** As it was sent; its query is left out, which may hold secrets. */
  url: string
  status: number
  milliseconds: number
  /** Of a write: who sent it, and what it addresses. */
  by?: Writer
}

/** Who changes something, as far as the settings have it told. */
export interface Writer {
  user?: string
  /** Client address, or a part of it. */
  client?: string
  /** Selector of the element that is addressed. */
  selector?: string
}

/**
 * Hands lines of one turn of the event loop over together: the stream looks through all it holds for each piece.
 *
 * @param most characters after which there is no waiting for the end of the turn
 */
function gathering(write: (lines: string) => void, most: number): (line: string) => void {
  let lines = ''
  const handOver = () => {
    const all = lines
    lines = ''
    if (all !== '') write(all)
  }
  return line => {
    if (lines === '') setImmediate(handOver)
    lines += line
    if (lines.length >= most) handOver()
  }
}

/** Where lines about requests go past pino, which takes as long over one as the rest of a repeated answer does. */
const requestLines = new WeakMap<Log, (line: string) => void>()

/**
 * Has lines about requests written together.
 *
 * @param most characters after which there is no waiting for the end of the turn
 */
export function gatherRequests(log: Log, write: (lines: string) => void, most: number): void {
  requestLines.set(log, gathering(write, most))
}

/** One line a request, the same as pino writes for the same fields. */
export function logRequest(log: Log, { face, method, url, status, milliseconds, by, ...said }: LoggedRequest): void {
  if (!log.isLevelEnabled('info')) return
  const query = url.indexOf('?')
  const path = url.slice(0, Math.min(query < 0 ? url.length : query, LONGEST_TOLD_PATH))
  const host = said.host.slice(0, LONGEST_HOST)
  const ms = Math.round(milliseconds * 100) / 100
  const write = requestLines.get(log)
  if (!write) {
    log.info({ face, host, method, path, status, ms, ...by }, 'request')
    return
  }
  write(
    `{"level":30,"time":"${isoTime(Date.now())}","face":"${face}","host":${JSON.stringify(host)},"method":"${method}",` +
      `"path":${JSON.stringify(path)},"status":${status},"ms":${ms},${inside(by)}"msg":"request"}\n`,
  )
}

/** The members of an object as they stand in JSON, with a comma behind. */
function inside(by: Writer | undefined): string {
  const text = by === undefined ? '{}' : JSON.stringify(by)
  return text === '{}' ? '' : `${text.slice(1, -1)},`
}

let written = { second: Number.NaN, text: '' }

/** RFC 3339 with milliseconds; many requests fall into one second. */
function isoTime(at: number): string {
  const second = Math.floor(at / 1000)
  if (second !== written.second) written = { second, text: new Date(second * 1000).toISOString().slice(0, -4) }
  const thousandths = at - second * 1000
  return `${written.text}${thousandths < 10 ? '00' : thousandths < 100 ? '0' : ''}${thousandths}Z`
}
