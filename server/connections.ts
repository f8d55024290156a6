/** The connections of a listener: usable requests of each in turn, and an end of all that lets running requests finish. */

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { KnownRequests } from '../edge/known-requests.ts'
import { isOver } from '../edge/one-piece.ts'
import type { TrustsProxy } from '../edge/request.ts'
import { Fault } from '../pipeline/fault.ts'
import { trimField } from '../pipeline/http/field-text.ts'
import { STATUS_CODES } from '../pipeline/http/node-http.ts'
import { type ConnectionRoom, nameOf } from './descriptors.ts'
import { endSilent, endStalled, networkOf } from './stalled.ts'
import { Wire } from './wire.ts'

export interface Connections {
  /** The handler, called for the requests of one connection one after another. */
  handle: RequestListener
  /**
   * Told of a connection on which the parser has refused a request: no other one is answered on it.
   *
   * @returns the answer of the request that it is still busy with: that has come as a whole, and its answer has not left yet
   */
  refused(socket: Duplex): ServerResponse | undefined
  /**
   * Takes over a server whose requests `handle` gets.
   *
   * @param secure it speaks TLS
   */
  watch(server: Server, secure: boolean): void
  /**
   * Takes no more requests and settles when the running ones are answered, at the latest after the grace time.
   *
   * @param grace milliseconds
   */
  close(server: Server, grace: number): Promise<void>
}

/** The document for a request that no application can take, as far as there is one; its status is on the fault. */
export type BrokenDocument = (
  fault: Fault,
  request?: IncomingMessage,
) => { headers: Record<string, string>; body: string }

/** A connection as Node looks at it: what it is sending. */
type Answering = Duplex & { _httpMessage?: { finished: boolean } | null }
const SENDING = { finished: false }

/** Milliseconds between two looks for connections that have become idle. */
const SWEEP = 100

/**
 * Requests of all connections that wait for an answer before them. What comes in one piece is parsed as a whole before its
 * connection can pause, and a request takes two hundred times the bytes that the shortest has: 64 KB of them take 11 MB.
 */
const MOST_WAITING = 5_000

/**
 * Pieces of a body in chunks that wait to be read, beside those that have come with the last of them: single bytes take 170
 * each, and bodies of 64 KB wait while a password is checked.
 */
const MOST_UNREAD = 256

/**
 * Lines of heads that a request has beyond a usual number, of all requests that are under way or wait: the shortest takes five
 * bytes on the wire, and eight times as many for as long as its request is there.
 */
const [USUAL_LINES, MOST_LINES] = [100, 250_000]

/** Milliseconds between two looks for heads of many lines that have no end yet, where there are more than so many connections. */
const [HEADS, FEW] = [1000, 16]

/** Lines that the parser keeps of a head, or of trailers, whose end has not come: of more lines than are usual, those beyond. */
function linesBegun({ parser }: Socket & { parser?: { _headers?: readonly string[] } | null }): number {
  return Math.max(0, (parser?._headers?.length ?? 0) / 2 - USUAL_LINES)
}

/** Has a connection pause where many pieces of a body in chunks wait, however few bytes they have, and keeps no trailer. */
function boundUnread(request: IncomingMessage, response: ServerResponse): void {
  const { push } = request
  let unread = 0
  request.push = (piece: Uint8Array | null, encoding?: BufferEncoding) => {
    if (piece === null) {
      // The parser takes what a trailer says of the connection for said in the head: the client has to come again.
      if ('connection' in request.trailers) response.shouldKeepAlive = false
      request.rawTrailers = []
      request.trailers = {}
    }
    const more = push.call(request, piece, encoding)
    unread = piece === null || request.readableLength <= piece.length ? 0 : unread + 1
    return more && unread < MOST_UNREAD
  }
}

/** What the field `Host` may hold, be it the name of a site or not (RFC 9110 §7.2, RFC 3986 §3.2.2). */
const HOST = /^(?:\[[\w.~!$&'()*+,;=:%-]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i

/** What lets requests be answered by their bytes alone. */
export interface AnswersByBytes {
  known: KnownRequests
  /** Whether nothing has to be waited for before a request is answered. */
  isInStep: () => boolean
  /** Proxies, whose requests are parsed: what they say of their clients is another thing for each. */
  trusts: TrustsProxy
}

export interface ConnectionsParts {
  /** Answers every request that is usable. */
  handler: RequestListener
  brokenDocument: BrokenDocument
  /** For connections of all listeners together. */
  room: ConnectionRoom
}

/** @param byBytes undefined has all requests parsed */
export function connections(
  { handler, brokenDocument, room }: ConnectionsParts,
  byBytes: AnswersByBytes | undefined,
): Connections {
  const wires = new Map<Duplex, Wire>()
  /** Connections as the system knows them; some may still be about their keys. */
  const accepted = new Set<Socket>()
  /** Those of which it is not known that anything was asked on them, the oldest first, with when they came. */
  const silent = new Map<Socket, number>()
  /** Connections on which requests can come. */
  const open = new Set<Socket>()
  let waiting = 0
  let lines = 0
  let looking: NodeJS.Timeout | undefined
  let closing = false
  const mayAnswer = () => !closing && room.waiting.size === 0 && byBytes?.isInStep() === true

  function wireOf(socket: Duplex): Wire {
    let wire = wires.get(socket)
    if (!wire) {
      wires.set(socket, (wire = new Wire(socket, byBytes?.known, mayAnswer)))
      socket.once('close', () => wires.delete(socket))
    }
    return wire
  }

  /** @param close ends connections that Node takes for idle: one is not that sends an answer which the parser knows nothing of */
  function closeIdle(close: () => void): void {
    const sending = [...wires].flatMap(([socket, { isSending }]) => (isSending ? (socket as Answering) : []))
    const idle = sending.filter(({ _httpMessage: message }) => !message)
    for (const socket of idle) socket._httpMessage = SENDING
    close()
    for (const socket of idle) socket._httpMessage = null
  }

  /** Ends connections with the longest of the heads that have no end yet, where they and those under way have too many lines. */
  function endLongHeads(): void {
    const begun = [...open].map(socket => ({ socket, count: linesBegun(socket) })).filter(({ count }) => count > 0)
    let left = MOST_LINES - lines
    for (const { socket, count } of begun.sort((a, b) => a.count - b.count)) {
      left -= count
      if (left < 0) socket.destroy()
    }
    if (open.size > FEW) return
    clearInterval(looking)
    looking = undefined
  }

  /** Ends connections whose clients have their answers and still send, or do not, what nobody reads; the oldest first. */
  function endLeft(most: number): void {
    const left = [...wires].filter(([socket, { isLeft }]) => isLeft && !socket.destroyed)
    for (const [socket] of left.slice(0, most)) socket.destroy()
  }

  /**
   * Counts the lines of a head until its answer is over and its body has come: the parser keeps it for as long as that is awaited.
   *
   * @returns false where there is no room for them
   */
  function takesLines(request: IncomingMessage, response: ServerResponse): boolean {
    const { rawHeaders, socket } = request
    let more = rawHeaders.length / 2 - USUAL_LINES
    if (more <= 0) return true
    if (lines + more > MOST_LINES) return false
    lines += more
    const leave = () => {
      socket.off('close', leave)
      lines -= more
      more = 0
    }
    response.once('close', () => {
      if (request.complete || socket.destroyed) return leave()
      request.once('end', leave)
      // Node tells nobody of the end of a connection whose answer has left.
      socket.once('close', leave)
    })
    return true
  }

  function begin(request: IncomingMessage, response: ServerResponse): void {
    // Behind a request that offers another protocol the parser reads no further one: the client has to come again.
    if (closing || request.headers.upgrade !== undefined) response.shouldKeepAlive = false
    const hasRoom = room.waiting.size === 0 || room.mayAsk(request.socket)
    const fault = hasRoom ? unusable(request) : noRoom()
    if (fault) refuse(fault, request, response)
    else handler(request, response)
  }

  function refuse(fault: Fault, request: IncomingMessage, response: ServerResponse): void {
    const { headers, body } = brokenDocument(fault, request)
    response.writeHead(fault.status, { ...headers, Connection: 'close' }).end(body)
  }

  return {
    // Node hands pipelined requests over together, but an unsafe one may change what the next sees (RFC 9112 §9.3.2).
    handle(request, response) {
      const { socket } = request
      if (request.headers['transfer-encoding'] !== undefined) boundUnread(request, response)
      const wire = wireOf(socket)
      const before = wire.answer
      wire.begin(request, response)
      response.once('close', () => wire.leave(response))
      const hasLines = takesLines(request, response)
      if (!before || isOver(before)) {
        if (hasLines) begin(request, response)
        else refuse(tooManyLines(), request, response)
        return
      }
      socket.pause()
      if (waiting >= MOST_WAITING || !hasLines) {
        socket.destroy()
        return
      }
      waiting++
      wire.waiting++
      before.once('close', () => {
        waiting--
        wire.waiting--
        // An answer that ends the connection leaves nobody to answer.
        if (!socket.writable) return
        if (wire.waiting === 0) socket.resume()
        // What the parser has refused gets another answer.
        if (request.complete || !wire.isStopped) begin(request, response)
      })
    },

    refused(socket) {
      const wire = wires.get(socket)
      wire?.stop()
      // The newest request is itself what was refused, if its body is.
      return [wire?.answer, wire?.answerBefore].find(each => each && !isOver(each) && each.req.complete)
    },

    watch(server, secure) {
      /** Connections on which TLS is spoken, by the name that they have on both sides of it. */
      const secured = new Map<string, Socket>()
      server.on('connection', (socket: Socket) => {
        accepted.add(socket)
        silent.set(socket, performance.now())
        socket.once('close', () => {
          accepted.delete(socket)
          silent.delete(socket)
        })
        if (room.take(socket, secure)) return
        // What it may ask stays unread: on most systems the answer is read all the same.
        if (!secure) socket.end(lastAnswer(noRoom(), brokenDocument))
        setImmediate(() => socket.destroy())
      })
      const endStalledOnes = endStalled()
      const hasAsked = (connection: Socket) => {
        const socket = secure ? secured.get(nameOf(connection)) : connection
        const hasIt = socket !== undefined && (socket.bytesWritten > 0 || wires.get(socket)?.hasAsked === true)
        if (hasIt) silent.delete(connection)
        return hasIt
      }
      const origin = ({ remoteAddress = '' }: Socket) =>
        room.isProxy(remoteAddress) ? undefined : networkOf(remoteAddress)
      room.onFull((most, ofCrowd) => {
        closeIdle(() => server.closeIdleConnections())
        endLeft(most)
        endStalledOnes(open, most)
        endSilent(silent, { hasAsked, networkOf: origin, most, ofCrowd })
      })
      const ready = secure ? 'secureConnection' : 'connection'
      server.on(ready, (socket: Socket) => {
        open.add(socket)
        if (open.size > FEW) looking ??= setInterval(endLongHeads, HEADS).unref()
        const name = secure ? nameOf(socket) : undefined
        if (name !== undefined) secured.set(name, socket)
        socket.once('close', () => {
          open.delete(socket)
          if (name !== undefined) secured.delete(name)
        })
        if (!socket.destroyed && byBytes?.trusts(socket.remoteAddress ?? '', 0) === false) wireOf(socket).follow()
      })
    },

    async close(server, grace) {
      closing = true
      for (const { answer } of wires.values()) if (answer) answer.shouldKeepAlive = false
      // Browsers open connections before they need them; Node counts these as busy.
      for (const socket of open) if (!wires.get(socket)?.hasAsked) socket.destroy()
      const closed = new Promise<void>(resolve => closeIdle(() => server.close(() => resolve())))
      const sweep = setInterval(() => closeIdle(() => server.closeIdleConnections()), SWEEP)
      const timer = setTimeout(() => {
        for (const socket of accepted) socket.destroy()
      }, grace)
      await closed
      clearInterval(sweep)
      clearInterval(looking)
      clearTimeout(timer)
    },
  }
}

/**
 * An answer, and the end of its connection, as it goes over the wire.
 *
 * @param isBare its body is left out, as from one of HEAD
 */
export function lastAnswer(fault: Fault, brokenDocument: BrokenDocument, isBare = false): string {
  const { headers, body } = brokenDocument(fault)
  const all: Record<string, string> = {
    ...headers,
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}\r\n${lines.join('')}\r\n${isBare ? '' : body}`
}

function noRoom(): Fault {
  return new Fault(503, 'Unavailable', 'There are too many connections. Try again in a moment.', {
    headers: { 'Retry-After': '2' },
  })
}

function tooManyLines(): Fault {
  return new Fault(503, 'Unavailable', 'Too many heads with many lines are on their way. Try again in a moment.', {
    headers: { 'Retry-After': '5' },
  })
}

/** What the parser lets pass although nobody in between may read it otherwise. */
function unusable({ httpVersionMajor, httpVersionMinor, headers, rawHeaders }: IncomingMessage): Fault | undefined {
  // Without a version it is HTTP/0.9, whose answers have neither status nor end; HTTP/2 has other frames.
  if (httpVersionMajor !== 1) return new Fault(505, 'BadRequest', 'The request does not speak HTTP/1.1.')
  // The parser undoes nothing but chunks; the bytes of any other coding would be stored as they came (RFC 9112 §6.1).
  const coding = headers['transfer-encoding']
  // Who speaks HTTP/1.0 knows no chunks, and may have seen the end of the request elsewhere (RFC 9112 §6.1).
  if (coding !== undefined && httpVersionMinor === 0)
    return new Fault(400, 'BadRequest', 'A request of HTTP/1.0 has no transfer coding.')
  if (coding !== undefined && trimField(coding).toLowerCase() !== 'chunked')
    return new Fault(501, 'NotImplemented', 'Bodies can be sent as they are or in chunks, in no other transfer coding.')
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  // Whatever its target says (RFC 9112 §3.2).
  if (hosts === 0 && httpVersionMinor > 0) return new Fault(400, 'BadRequest', 'The request names no host.')
  // Node would take the first of several.
  if (hosts > 1) return new Fault(400, 'BadRequest', 'The request names more than one host.')
  return HOST.test(headers.host ?? '') ? undefined : new Fault(400, 'BadRequest', 'The request names no host.')
}
