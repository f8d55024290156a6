/**
 * Reads that clients send again and again, answered from memory without going through the application: of something
 * unchanged, for credentials that were proved a moment ago and see the same (DAV-3), with the same fields.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type CachedAnswer, createAnswerCache, LONGEST_QUESTION } from '../edge/answer-cache.ts'
import type { Client } from '../edge/request.ts'
import { arrivedBody } from '../edge/request-body.ts'
import { bodySize, sendKept, sendKnown } from '../edge/send.ts'
import type { Answer } from '../pipeline/answer.ts'
import type { BodySource } from '../pipeline/body.ts'
import type { KeptMemory } from '../pipeline/memory.ts'
import type { Author } from './access/credentials.ts'
import type { Mount } from './mount.ts'

/** The mounts of this process. */
export interface MountsByHost {
  /** The mount that answers for a host; undefined when there is none. */
  open(authority: string): Promise<Mount | undefined>
  /** The same, if it is open already. */
  opened(authority: string): Mount | undefined
}

/** The status sent; undefined when the application has to answer. */
type Repeated = number | undefined

export interface ResponseCache {
  /** Answers a request if a kept answer fits. Rejects where the body of the request cannot be read. */
  repeat(request: IncomingMessage, response: ServerResponse, client: Client): Repeated | Promise<Repeated>
  /**
   * How the same request, which was answered by `repeat`, is answered when it comes again without being parsed.
   *
   * @returns undefined where it has to be parsed each time
   */
  again(
    request: IncomingMessage,
    client: Client,
  ): ((socket: Socket, authorization: string | undefined) => number | undefined) | undefined
  /** The body of a request, as far as it was read already and beyond. */
  bodyOf(request: IncomingMessage, response: ServerResponse): BodySource
  /** Keeps an answer, with all its fields, if it may be given again. */
  keep(request: IncomingMessage, client: Client, mount: Mount, author: Author, answer: Answer): void
  readonly memory: KeptMemory
}

/** Bytes of all kept answers; the bodies of files are the same that the document cache holds. */
const MOST_BYTES = 32 * 1024 * 1024
/** Bytes of the body of a PROPFIND: clients ask short questions. */
const LONGEST_BODY = 2048
/** PROPFINDs whose bodies are read before the application sees them. */
const MOST_ASKED = 4096

/** What the cache takes from the application. */
export interface ResponseCacheParts {
  mounts: Pick<MountsByHost, 'opened'>
  bodyOf: (request: IncomingMessage, response: ServerResponse) => BodySource
  /** Bytes of all kept answers. */
  most?: number
}

export function createResponseCache({ mounts, bodyOf, most = MOST_BYTES }: ResponseCacheParts): ResponseCache {
  const answers = createAnswerCache<Mount>({ bytes: most, repeats: isRepeatedBy304 })
  /** Questions, without bodies, to which there are kept answers; to all others the application says first what it thinks. */
  const asked = new Set<string>()

  function find(question: string, mount: Mount): CachedAnswer<Mount> | undefined {
    const kept = answers.find(question)
    return kept?.facts === mount ? kept : undefined
  }

  function body(request: Asked, response: ServerResponse): BodySource {
    if (request.method !== 'PROPFIND' || !isRepeatable(request)) return bodyOf(request, response)
    request[BODY] ??= rereadable(bodyOf(request, response))
    return request[BODY]
  }

  function repeatPropfind(
    request: Asked,
    response: ServerResponse,
    mount: Mount,
    head: string,
  ): Repeated | Promise<Repeated> {
    const again = (read: Uint8Array) => repeatAnswer(request, response, mount, withBody(head, read))
    if (Number(request.headers['content-length'] ?? 0) === 0) return again(EMPTY)
    // A short body mostly comes with its head, in the same turn.
    return FOLLOWING.then(() => {
      const arrived = arrivedBody(request)
      if (!arrived) return body(request, response).bytes(LONGEST_BODY).then(again)
      request[BODY] = { ...bodyOf(request, response), read: arrived, bytes: () => Promise.resolve(arrived) }
      return again(arrived)
    })
  }

  function repeatAnswer(
    request: IncomingMessage,
    response: ServerResponse,
    mount: Mount,
    question: string,
  ): Repeated | Promise<Repeated> {
    const kept = find(question, mount)
    if (!kept) return undefined
    const confirmed = kept.reuse.confirm?.() ?? true
    if (confirmed === true) return sendKept(request, response, kept)
    return Promise.resolve(confirmed).then(isConfirmed =>
      isConfirmed && find(question, mount) === kept ? sendKept(request, response, kept) : undefined,
    )
  }

  return {
    repeat(request, response, client) {
      if (!isRepeatable(request)) return undefined
      const mount = mounts.opened(client.authority ?? '')
      const author = mount?.gatekeeper.remembered(request.headers.authorization, request.socket)
      if (!mount || !author) return undefined
      const head = headOf(request, client, author)
      if (request.method === 'PROPFIND')
        return asked.has(head) ? repeatPropfind(request, response, mount, head) : undefined
      const kept = find(head, mount)
      return kept && sendKept(request, response, kept)
    },
    again(request: Asked, client) {
      const { method, headers } = request
      const opened = () => mounts.opened(client.authority ?? '')
      const now = opened()
      const view = now?.gatekeeper.remembered(headers.authorization, request.socket)?.view
      const read = method === 'PROPFIND' && Number(headers['content-length'] ?? 0) > 0 ? request[BODY]?.read : EMPTY
      if (!now || view === undefined || !read) return undefined
      const head = headOf(request, client, { view })
      const question = method === 'PROPFIND' ? withBody(head, read) : head
      const condition = headers['if-none-match']
      let kept = find(question, now)
      // Where locks are those of several processes, somebody has to be asked each time.
      if (!kept || !isCertain(kept)) return undefined
      return (socket, authorization) => {
        const mount = opened()
        if (!mount || mount.gatekeeper.remembered(authorization, socket)?.view !== view) return undefined
        if (kept?.facts !== mount || !answers.stillFits(kept)) kept = find(question, mount)
        return kept && isCertain(kept) ? sendKnown(socket, kept, condition) : undefined
      }
    },
    bodyOf: body,
    memory: answers.memory,
    keep(request: Asked, client, mount, author, answer) {
      if (!answer.reuse || !isRepeatable(request)) return
      const head = headOf(request, client, author)
      const condition = request.headers['if-none-match']
      if (request.method !== 'PROPFIND') {
        answers.keep(head, answer, mount, condition, request.method === 'HEAD' ? bodySize(answer.body) : undefined)
        return
      }
      const read = request[BODY]?.read
      // What is longer has no answer that is kept.
      if (!read || head.length > LONGEST_QUESTION) return
      if (asked.size >= MOST_ASKED) asked.clear()
      asked.add(head)
      answers.keep(withBody(head, read), answer, mount, condition)
    },
  }
}

/** Whether nobody has to be asked before the answer is given again. */
function isCertain({ reuse }: CachedAnswer<Mount>): boolean {
  return reuse.confirm === undefined || reuse.isConfirmed?.() === true
}

/** Everything but what describes the content that a 304 does not have. */
function isRepeatedBy304(field: string): boolean {
  return field !== 'content-type'
}

/** Whether no field asks for anything that would need judging. */
function isRepeatable({ method, headers: h }: IncomingMessage): boolean {
  if (method !== 'GET' && method !== 'HEAD' && method !== 'PROPFIND') return false
  // Some clients announce an empty body with every request.
  if (Number(h['content-length'] ?? 0) > (method === 'PROPFIND' ? LONGEST_BODY : 0)) return false
  return (
    h.if === undefined &&
    h.range === undefined &&
    h['if-match'] === undefined &&
    h['if-modified-since'] === undefined &&
    h['if-unmodified-since'] === undefined &&
    h.origin === undefined &&
    h.expect === undefined &&
    h['transfer-encoding'] === undefined &&
    h['content-encoding'] === undefined
  )
}

/** Everything of a request that its answer depends on, but for the body. No field holds a line end. */
function headOf(request: IncomingMessage, { authority, secure }: Client, { view }: Pick<Author, 'view'>): string {
  const { method, url, headers } = request
  const place = `${secure ? 's' : ''}\n${authority}\n${url}\n${view}`
  if (method === 'GET') return place
  if (method === 'HEAD') return `HEAD ${place}`
  return `${place}\n${told(headers.depth)}\n${told(headers.prefer)}\n${told(headers.brief)}\n`
}

/** A field as a question has it: one that is absent is no word that it could hold. */
function told(field: string | string[] | undefined): string {
  return field === undefined ? '' : `=${field}`
}

function withBody(head: string, body: Uint8Array): string {
  return head + Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1')
}

/** The body of most questions. */
const EMPTY = new Uint8Array()

/** Settled: what waits for it runs when all that has come in this turn was read. */
const FOLLOWING = Promise.resolve()

/** Where a request carries its small body: a weak map of requests would cost more collecting than all the rest. */
const BODY = Symbol('body')
type Asked = IncomingMessage & { [BODY]?: RereadableBody }

/** A body in memory that several may ask for. */
interface RereadableBody extends BodySource {
  /** All of it, once it is there. */
  read?: Uint8Array
}

function rereadable({ bytes, stage }: BodySource): RereadableBody {
  let reading: Promise<Uint8Array> | undefined
  const body: RereadableBody = {
    stage,
    bytes(cap) {
      reading ??= bytes(cap).then(read => (body.read = read))
      return reading
    },
  }
  return body
}
