/**
 * The bytes of one connection on their way to the parser. Between two requests, bytes that are a whole request which is known
 * are answered from here; all others go to the parser, which alone decides what they are.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import {
  type AnswerAgain,
  type Asked,
  type KnownRequests,
  LONGEST_KNOWN,
  mayBeNoted,
  withoutSecret,
} from '../edge/known-requests.ts'
import { isOver } from '../edge/one-piece.ts'

const HEAD_END = '\r\n\r\n'
const [CR, LF] = [13, 10]

/**
 * After how many reads of a connection that are not known only one of so many others is looked at, until it is known: many
 * clients never send the same again, since they number their requests.
 */
const [PATIENCE, ONE_OF] = [64, 64]

/** What of a connection's state the parser of Node shows. */
type Parsed = Socket & { parser?: { incoming?: IncomingMessage | null } | null }

/**
 * Where what comes is put, of all connections: it is read in the same turn. A buffer for each piece, as sockets usually have
 * them, costs more than a known answer.
 */
const DESK = Buffer.allocUnsafeSlow(64 * 1024)
const NOTHING = () => undefined

/** A field that the parser leaves out behind the first of its name. */
const SECOND_SECRET = /\r\nauthorization:[ \t]*[^ \t\r]/i

/** Keys of what a socket of Node keeps for its option `onread`, which those of servers cannot be given. */
const KEYS = ['kBuffer', 'kBufferCb'] as const
type Reading = Socket & Record<symbol, unknown> & { _handle?: { useUserBuffer?(buffer: Uint8Array): void } | null }

/** @returns what has a socket put all that comes on the desk; undefined where it is not known how, as for TLS */
function readingOf(socket: Socket): ((take: (length: number) => void) => void) | undefined {
  const symbols = Object.getOwnPropertySymbols(socket)
  const [buffer, callback] = KEYS.map(key => symbols.find(({ description }) => description === key))
  const reading = socket as Reading
  const handle = reading._handle
  if (!buffer || !callback || reading[buffer] !== null || socket instanceof TLSSocket || !handle?.useUserBuffer)
    return undefined
  return take => {
    reading[buffer] = DESK
    reading[callback] = take
    handle.useUserBuffer?.(DESK)
  }
}

/** A request that came in bytes of its own. */
interface Candidate extends Asked {
  /** How it can be answered again. */
  again: AnswerAgain | undefined
  /** All its bytes have come, and none of another one. */
  isWhole: boolean
}

export class Wire {
  readonly #socket: Parsed
  readonly #known: KnownRequests | undefined
  readonly #mayAnswer: () => boolean
  /** All that has come are whole requests, and the parser has read them. */
  #isBetween = true
  /** Bytes of a body that are still to come, where the connection has been followed up to them. */
  #left = 0
  /** Requests whose heads were in the bytes that came last. */
  #begun = 0
  #newest: IncomingMessage | undefined
  #candidate: Candidate | undefined
  /** Reads since the last one that was known. */
  #unknown = 0
  #hasAnswered = false
  /** Nothing is answered any more. */
  isStopped = false
  /** Something was asked that was parsed. */
  hasAsked = false
  /** To the newest request that was parsed, until it is over, and to the one before it if that had not left by then. */
  answer: ServerResponse | undefined
  answerBefore: ServerResponse | undefined
  /** Requests that were parsed and wait for an answer before them. */
  waiting = 0

  /**
   * @param known requests that may be answered from here
   * @param mayAnswer whether requests are answered in the usual way at this moment
   */
  constructor(socket: Duplex, known: KnownRequests | undefined, mayAnswer: () => boolean) {
    this.#socket = socket as Socket
    this.#known = known
    this.#mayAnswer = mayAnswer
  }

  /** Has all bytes of the connection pass here from now on. Nothing may have been read of it. */
  follow(): void {
    const socket = this.#socket
    const { parser } = socket
    const [parse, ...others] = socket.listeners('data')
    const ownReading = parser && parse && others.length === 0 ? readingOf(socket) : undefined
    if (!ownReading) return
    // Node reads for its parser past all events, until somebody else listens.
    socket.on('data', NOTHING)
    socket.off('data', parse as (bytes: Buffer) => void)
    ownReading(length => {
      // A parser that was given back may be that of another connection.
      if (socket.parser !== parser) return
      const bytes = DESK.subarray(0, length)
      if (this.#isAnswered(bytes)) return
      Reflect.apply(parse as () => void, socket, [bytes])
      this.#look(bytes)
    })
  }

  /** Told of each request, in the turn in which its head was read. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    this.#begun++
    this.hasAsked = true
    this.#newest = request
    this.answerBefore = this.answer && !isOver(this.answer) ? this.answer : undefined
    this.answer = response
    const candidate = this.#candidate
    if (!candidate || this.#begun > 1 || request.httpVersion !== '1.1') return
    const { authorization, cookie } = request.headers
    // Secrets are not kept, whoever has written them how.
    if (authorization !== candidate.authorization || cookie !== undefined) return
    if (request.headers['proxy-authorization'] !== undefined || SECOND_SECRET.test(candidate.text)) return
    mayBeNoted(request, again => {
      candidate.again = response.shouldKeepAlive ? again : undefined
      this.#note(candidate)
    })
  }

  /** Told that an answer is over: a connection on which nothing is asked keeps no head for as long as it is open. */
  leave(response: ServerResponse): void {
    if (this.answerBefore === response) this.answerBefore = undefined
    if (this.answer !== response) return
    this.answer = undefined
    if (response.req.complete) this.#newest = undefined
  }

  /** Answers nothing any more. */
  stop(): void {
    this.isStopped = true
  }

  /** Some of an answer that was given from here has not left yet; the parser knows nothing of it. */
  get isSending(): boolean {
    return this.#hasAnswered && this.#socket.writableLength > 0
  }

  /** The newest answer is over, and the body of its request has not come as a whole: nothing of it matters to anybody. */
  get isLeft(): boolean {
    return this.answer === undefined && this.#newest?.complete === false
  }

  #isAnswered(bytes: Buffer): boolean {
    this.#begun = 0
    this.#candidate = undefined
    if (!this.#isBetween || this.isStopped || bytes.length > LONGEST_KNOWN || !isRead(bytes)) return false
    if (++this.#unknown > PATIENCE && this.#unknown % ONE_OF !== 0) return false
    const asked = withoutSecret(bytes.toString('latin1'))
    const again = this.#known?.find(asked.text)
    if (again) this.#unknown = 0
    const isFree = this.hasAsked && (this.answer === undefined || isOver(this.answer))
    if (again && isFree && this.#mayAnswer() && again(this.#socket, asked.authorization)) {
      this.#hasAnswered = true
      return true
    }
    this.#candidate = { ...asked, again: undefined, isWhole: false }
    return false
  }

  /** Finds out where the parser stands, when it has read these bytes. */
  #look(bytes: Buffer): void {
    const [wasBetween, left, newest] = [this.#isBetween, this.#left, this.#newest]
    const incoming = this.#socket.parser?.incoming
    const size = wasBetween && newest && this.#begun === 1 ? sizeOf(newest, bytes) : Number.NaN
    const isComplete = newest?.complete === true && (incoming === null || incoming === newest)
    // A head that ends with its blank line has been read to its end: nothing is begun behind it.
    this.#isBetween = isComplete && (endsHead(bytes) || size === bytes.length || left === bytes.length)
    this.#left = this.#isBetween ? 0 : Math.max(0, (this.#begun === 0 ? left : size) - bytes.length) || 0
    const candidate = this.#candidate
    if (!candidate || !wasBetween || !this.#isBetween || this.#begun !== 1) return
    candidate.isWhole = true
    this.#note(candidate)
  }

  #note({ text, again, isWhole }: Candidate): void {
    if (again && isWhole) this.#known?.add(text, again)
  }
}

/** Whether bytes begin like GET, HEAD or PROPFIND; of others no answers are kept. */
function isRead(bytes: Buffer): boolean {
  const first = bytes[0]
  return first === 0x47 || first === 0x48 || (first === 0x50 && bytes[4] === 0x46)
}

/** Bytes of a request that these begin with; not a number where its head does not tell. */
function sizeOf({ headers }: IncomingMessage, bytes: Buffer): number {
  const end = bytes.indexOf(HEAD_END)
  if (end < 0 || headers['transfer-encoding'] !== undefined) return Number.NaN
  return end + HEAD_END.length + Number(headers['content-length'] ?? 0)
}

function endsHead(bytes: Buffer): boolean {
  const end = bytes.length
  return bytes[end - 1] === LF && bytes[end - 2] === CR && bytes[end - 3] === LF && bytes[end - 4] === CR
}
