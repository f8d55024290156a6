/**
 * Answers kept for repetition: a read of something unchanged, under unchanged rules, by a requester who is nobody in
 * particular, is written to the socket without going through the application again.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Answer } from '../pipeline/answer.ts'
import type { Site } from '../pipeline/site.ts'
import type { Client } from './client.ts'

/**
 * Who a kept answer is for: everybody (blobs set no cookie, HTTP-151), visitors who brought a session, or visitors who
 * get one with the answer.
 */
export type Audience = 'everybody' | 'returning' | 'new'

/** A visitor who is nobody in particular. */
export interface Visitor {
  /** The `Set-Cookie` that they need; undefined when the request brought a session. */
  cookie: string | undefined
}

interface Kept {
  site: Site
  path: string
  version: number
  rules: object
  tag: string | undefined
  status: number
  /** Names and values in turn, as `writeHead` takes them. */
  head: string[]
  unchanged: string[]
  body: Uint8Array
  audience: Audience
}

export interface KeptAnswers {
  /**
   * Answers the request if a kept answer fits.
   *
   * @param client what is known of its sender; of the forwarding headers only those count that were believed
   * @param visitorOf the visitor of a site; undefined where it may be somebody in particular
   * @returns the status sent, or undefined when the application has to answer
   */
  repeat(
    request: IncomingMessage,
    response: ServerResponse,
    client: Client,
    visitorOf: (site: Site) => Visitor | undefined,
  ): number | undefined
  keep(request: IncomingMessage, client: Client, site: Site, answer: Answer, audience: Audience): void
  readonly size: number
}

const MOST_ANSWERS = 4096
const MOST_BYTES = 64 * 1024 * 1024
/** A body larger than this is better streamed with back-pressure. */
const LARGEST_BODY = 4 * 1024 * 1024
const LONGEST_KEY = 2048
/** Ends the key of an answer for visitors who get a cookie with it; no field value holds a line end. */
const FOR_NEW = '\n'

/** Fields that a 304 repeats (HTTP-40). */
const UNCHANGED_FIELDS = new Set([
  'etag',
  'vary',
  'cache-control',
  'last-modified',
  'accept-ranges',
  'x-content-type-options',
  'referrer-policy',
  'strict-transport-security',
])

/**
 * @param isOpen whether a site is still the one that answers for its name: rules and versions of one that was closed and
 *   opened anew stand still
 */
export function keptAnswers(isOpen: (site: Site) => boolean): KeptAnswers {
  const kept = new Map<string, Kept>()
  let bytes = 0

  function drop(key: string, entry: Kept): void {
    kept.delete(key)
    bytes -= entry.body.length
  }

  /** The entry if it still describes the newest version under the rules of the moment. */
  function current(key: string): Kept | undefined {
    const entry = kept.get(key)
    if (!entry) return undefined
    const { site, rules, path, version } = entry
    if (isOpen(site) && site.rules === rules && site.held(path)?.resource.version === version) return entry
    drop(key, entry)
    return undefined
  }

  return {
    repeat(request, response, client, visitorOf) {
      const key = keyOf(request, client)
      if (key === undefined) return undefined
      let entry = current(key)
      let cookie: string | undefined
      if (entry?.audience !== 'everybody') {
        const forNew = current(key + FOR_NEW)
        const known = entry ?? forNew
        if (!known) return undefined
        const visitor = visitorOf(known.site)
        if (!visitor) return undefined
        cookie = visitor.cookie
        if (cookie !== undefined) entry = forNew
        if (!entry) return undefined
      }
      const condition = request.headers['if-none-match']
      if (condition === undefined) {
        response.writeHead(entry.status, withCookie(entry.head, cookie))
        response.end(entry.body)
        return entry.status
      }
      if (condition !== entry.tag) return undefined
      response.writeHead(304, withCookie(entry.unchanged, cookie))
      response.end()
      return 304
    },
    keep(request, client, site, answer, audience) {
      const { reuse, body } = answer
      const plain = keyOf(request, client)
      if (!reuse || plain === undefined || answer.status >= 300) return
      const key = audience === 'new' ? plain + FOR_NEW : plain
      const memory = typeof body === 'string' ? Buffer.from(body) : body
      if (!(memory instanceof Uint8Array) || memory.length > LARGEST_BODY) return
      const before = kept.get(key)
      if (before) drop(key, before)
      const head: string[] = []
      const unchanged: string[] = []
      for (const [name, value] of Object.entries(answer.headers)) {
        if (name === 'Set-Cookie') continue
        head.push(name, value)
        if (UNCHANGED_FIELDS.has(name.toLowerCase())) unchanged.push(name, value)
      }
      // A head written before its content is known to Node would announce chunks.
      head.push('Content-Length', String(memory.length))
      kept.set(key, {
        site,
        path: reuse.path,
        version: reuse.version,
        rules: reuse.rules,
        tag: answer.headers.ETag,
        status: answer.status,
        head,
        unchanged,
        body: memory,
        audience,
      })
      bytes += memory.length
      for (const [oldest, entry] of kept) {
        if (kept.size <= MOST_ANSWERS && bytes <= MOST_BYTES) break
        drop(oldest, entry)
      }
    },
    get size() {
      return kept.size
    },
  }
}

function withCookie(head: string[], cookie: string | undefined): string[] {
  return cookie === undefined ? head : [...head, 'Set-Cookie', cookie]
}

/** Everything of a request that such an answer depends on; undefined for requests that need the application. */
function keyOf(request: IncomingMessage, { authority, secure }: Client): string | undefined {
  if (request.method !== 'GET') return undefined
  const h = request.headers
  if (
    h['if-match'] !== undefined ||
    h['if-modified-since'] !== undefined ||
    h['if-unmodified-since'] !== undefined ||
    h['if-range'] !== undefined ||
    h.origin !== undefined ||
    h['content-length'] !== undefined ||
    h['transfer-encoding'] !== undefined
  )
    return undefined
  const fields = `${h.accept ?? ''}\n${h['accept-encoding'] ?? ''}\n${h.range ?? ''}`
  const key = `${secure ? 's' : ''}\n${authority}\n${request.url}\n${fields}`
  return key.length > LONGEST_KEY ? undefined : key
}
