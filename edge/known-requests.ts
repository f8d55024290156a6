/**
 * Requests that come again in the same bytes: what clients ask over and over is answered before it is parsed, which costs more
 * than all else about an answer that is kept.
 */

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { KeptMemory } from '../pipeline/memory.ts'
import { OrderedMap } from '../pipeline/ordered-map.ts'

/**
 * Answers a request that has come in the same bytes before.
 *
 * @param authorization the value of that field
 * @returns whether it was answered; otherwise it has to be read
 */
export type AnswerAgain = (socket: Socket, authorization: string | undefined) => boolean

/** Bytes of a request, with its body. */
export const LONGEST_KNOWN = 4096
/** What a request takes beside its bytes. Measured. */
const ENTRY = 1100

/** A request as it came, without the secret in it. */
export interface Asked {
  /** All bytes but the value of `Authorization`. */
  text: string
  authorization: string | undefined
}

const LINE_END = '\r\n'
const SPELLINGS = ['\r\nAuthorization: ', '\r\nauthorization: ']

/**
 * @param text a request's bytes as Latin-1
 * @returns it without the value of its `Authorization` field, as far as that is written as most clients do
 */
export function withoutSecret(text: string): Asked {
  for (const field of SPELLINGS) {
    const before = text.indexOf(field)
    if (before < 0) continue
    const begin = before + field.length
    const end = text.indexOf(LINE_END, begin)
    if (end < 0) break
    return { text: text.slice(0, begin) + text.slice(end), authorization: text.slice(begin, end) }
  }
  return { text, authorization: undefined }
}

/** The requests of one listener; the oldest go when there are too many. */
export class KnownRequests implements KeptMemory {
  readonly #answers = new OrderedMap<string, AnswerAgain>()
  readonly #most: number
  #bytes = 0

  /** @param most bytes of all requests */
  constructor(most: number) {
    this.#most = most
  }

  get bytes(): number {
    return this.#bytes
  }

  find(text: string): AnswerAgain | undefined {
    return this.#answers.use(text)
  }

  add(text: string, again: AnswerAgain): void {
    if (!this.#answers.has(text)) this.#bytes += ENTRY + text.length
    this.#answers.set(text, again)
    this.shrink(this.#most)
  }

  shrink(most: number): void {
    for (const [text] of this.#answers) {
      if (this.#bytes <= most) break
      this.#answers.delete(text)
      this.#bytes -= ENTRY + text.length
    }
  }
}

/** What log and metrics tell of a request. */
export interface RequestLine {
  method?: string | undefined
  url?: string | undefined
  headers: { host?: string | undefined }
}

/**
 * @param again sends the answer to the same request and returns its status, or undefined
 * @param report is told of each request that was answered so
 */
export function answersAgain(
  { method, url, headers: { host } }: RequestLine,
  again: ((socket: Socket, authorization: string | undefined) => number | undefined) | undefined,
  report: (request: RequestLine, status: number, started: number) => void,
): AnswerAgain | undefined {
  if (!again) return undefined
  const line: RequestLine = { method, url, headers: { host } }
  return (socket, authorization) => {
    const started = performance.now()
    const status = again(socket, authorization)
    if (status === undefined) return false
    report(line, status, started)
    return true
  }
}

const NOTE = Symbol('note')
type Noted = IncomingMessage & { [NOTE]?: (again: AnswerAgain) => void }

/** Has a request's answer noted by its bytes, once it is known that it can be given again. */
export function mayBeNoted(request: Noted, note: (again: AnswerAgain) => void): void {
  request[NOTE] = note
}

/** @param again how to answer the request from now on; asked for where that can be noted */
export function noteRequest(request: Noted, again: () => AnswerAgain | undefined): void {
  const note = request[NOTE]
  const answer = note && again()
  if (answer) note(answer)
}
