/**
 * Reads that are answered without going through the application again: of something unchanged, under unchanged rules, by a
 * requester who is nobody in particular.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type CachedAnswer, createAnswerCache } from '../edge/answer-cache.ts'
import type { Client } from '../edge/request.ts'
import { bodySize, sendKept, sendKnown } from '../edge/send.ts'
import type { Answer } from '../pipeline/answer.ts'
import type { KeptMemory } from '../pipeline/memory.ts'
import type { Site } from '../pipeline/site/site.ts'

/**
 * Who a kept answer is for: everybody (blobs set no cookie, HTTP-151), visitors who brought a session, or visitors who
 * get one with the answer.
 */
export type Audience = 'everybody' | 'returning' | 'new'

/** A visitor who is nobody in particular. */
export interface AnonymousVisitor {
  /** The `Set-Cookie` that they need; undefined when the request brought a session. */
  cookie: string | undefined
}

/** @returns undefined where the visitor may be somebody in particular */
export type VisitorOf = (site: Site) => AnonymousVisitor | undefined

/** What fits a question and its visitor. */
interface Fitting {
  answer: CachedAnswer<Facts>
  cookie: string | undefined
}

interface Facts {
  site: Site
  audience: Audience
}

export interface ResponseCache {
  /**
   * Answers the request if a kept answer fits.
   *
   * @param client what is known of its sender; of the forwarding headers only those count that were believed
   * @param anonymousVisitor the visitor of a site; undefined where it may be somebody in particular
   * @returns the status sent, or undefined when the application has to answer
   */
  repeat(
    request: IncomingMessage,
    response: ServerResponse,
    client: Client,
    anonymousVisitor: VisitorOf,
  ): number | undefined
  /**
   * How the same request, which was answered by `repeat`, is answered when it comes again without being parsed.
   *
   * @returns undefined where it has to be parsed each time; what it returns sends and returns the status like `repeat`
   */
  again(
    request: IncomingMessage,
    client: Client,
    anonymousVisitor: VisitorOf,
  ): ((socket: Socket) => number | undefined) | undefined
  keep(request: IncomingMessage, client: Client, site: Site, answer: Answer, audience: Audience): void
  readonly size: number
  readonly memory: KeptMemory
}

/** Bytes of all answers; most of their bodies are those of the document cache. */
const MOST_BYTES = 32 * 1024 * 1024
/** Ends the question of a visitor who gets a cookie with the answer; no field value holds a line end. */
const FOR_NEW = '\n'

/** Fields that a 304 repeats (HTTP-40). */
const UNCHANGED_FIELDS = new Set([
  'etag',
  'vary',
  'cache-control',
  'last-modified',
  'accept-ranges',
  'link',
  'route-parameters',
  'service-worker-allowed',
  'x-content-type-options',
  'referrer-policy',
  'strict-transport-security',
])

/**
 * @param isOpen whether a site is still the one that answers for its name: rules and versions of one that was closed and
 *   opened anew stand still
 * @param most bytes of all answers
 */
export function createResponseCache(isOpen: (site: Site) => boolean, most = MOST_BYTES): ResponseCache {
  const answers = createAnswerCache<Facts>({
    bytes: most,
    repeats: field => UNCHANGED_FIELDS.has(field),
    stands: ({ site }) => isOpen(site),
  })

  function fitting(question: string, anonymousVisitor: VisitorOf): Fitting | undefined {
    const plain = answers.find(question)
    if (plain?.facts.audience === 'everybody') return { answer: plain, cookie: undefined }
    const known = plain ?? answers.find(question + FOR_NEW)
    const visitor = known && anonymousVisitor(known.facts.site)
    if (!visitor) return undefined
    const { cookie } = visitor
    const isNew = cookie !== undefined
    const answer = isNew && known === plain ? answers.find(question + FOR_NEW) : isNew ? known : plain
    return answer && { answer, cookie }
  }

  return {
    repeat(request, response, client, anonymousVisitor) {
      const question = questionOf(request, client)
      const found = question === undefined ? undefined : fitting(question, anonymousVisitor)
      return found && sendKept(request, response, found.answer, found.cookie)
    },
    again(request, client, anonymousVisitor) {
      const question = questionOf(request, client)
      // What is sent in this field was not looked at here.
      if (question === undefined || request.headers.authorization !== undefined) return undefined
      const condition = request.headers['if-none-match']
      let forEverybody: CachedAnswer<Facts> | undefined
      return socket => {
        if (forEverybody && answers.stillFits(forEverybody)) return sendKnown(socket, forEverybody, condition)
        const found = fitting(question, anonymousVisitor)
        forEverybody = found?.answer.facts.audience === 'everybody' ? found.answer : undefined
        return found && sendKnown(socket, found.answer, condition, found.cookie)
      }
    },
    keep(request, client, site, answer, audience) {
      const question = questionOf(request, client)
      if (question === undefined) return
      const condition = request.headers['if-none-match']
      const announced = request.method === 'HEAD' ? bodySize(answer.body) : undefined
      answers.keep(audience === 'new' ? question + FOR_NEW : question, answer, { site, audience }, condition, announced)
    },
    get size() {
      return answers.size
    },
    memory: answers.memory,
  }
}

/** Everything of a request that such an answer depends on; undefined for requests that need the application. */
function questionOf(request: IncomingMessage, { authority, secure }: Client): string | undefined {
  const { method, headers: h } = request
  if (method !== 'GET' && method !== 'HEAD') return undefined
  if (
    h['if-match'] !== undefined ||
    h['if-modified-since'] !== undefined ||
    h['if-unmodified-since'] !== undefined ||
    h['if-range'] !== undefined ||
    h.origin !== undefined ||
    Number(h['content-length'] ?? 0) > 0 ||
    h['transfer-encoding'] !== undefined
  )
    return undefined
  const fields = `${h.accept ?? ''}\n${h['accept-encoding'] ?? ''}\n${h.range ?? ''}`
  // Rules may tell one from the other (METH-2).
  return `${method === 'HEAD' ? 'HEAD ' : ''}${secure ? 's' : ''}\n${authority}\n${request.url}\n${fields}`
}
