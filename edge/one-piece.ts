/**
 * Small answers as bytes in one piece, head and body together, handed to the socket past `ServerResponse`: it would
 * hand them to the system as several, which costs more than the copy, and of a repeated answer check, join and write the
 * same fields again for every request, which takes longer than all else about it.
 *
 * What is done in its place is little, but Node does not promise it: that an answer counts as ended when `finished` is
 * set, and that its connection goes on to the next request when the answer emits `finish`. So a process tries it once with
 * a connection in memory, and as long as that has not shown what it should, every answer goes the usual way.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { createServer, STATUS_CODES, validateHeaderName, validateHeaderValue } from '../pipeline/http/node-http.ts'

/** Milliseconds that a connection without a request is kept, longer than the 75 s of desktop clients (webdav.md section 11). */
export const KEEP_ALIVE = 80_000

/** Head and body of an answer together; of more the copy would cost more than the head. */
const MOST = 64 * 1024
/** Bytes of a head that are written anew for each answer: cookie, date and connection. */
const MOST_ANEW = 4096

/** Where answers are put together. What the system has taken is no longer needed. */
let desk = Buffer.allocUnsafeSlow(MOST)

/** Whether Node does what this needs. */
let works = false

/**
 * The lines of a head that are the same each time.
 *
 * @param fields names and values in turn, with `Content-Length` where there is content
 * @returns undefined for fields that only Node itself can send, or refuses to send
 */
export function headText(status: number, fields: readonly string[]): string | undefined {
  const reason = STATUS_CODES[status]
  if (reason === undefined) return undefined
  let text = `HTTP/1.1 ${status} ${reason}\r\n`
  for (let i = 0; i < fields.length; i += 2) {
    const [name = '', value = ''] = [fields[i], fields[i + 1]]
    if (OF_THE_CONNECTION.has(name.toLowerCase())) return undefined
    try {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    } catch {
      return undefined
    }
    text += `${name}: ${value}\r\n`
  }
  return text.length > MOST / 2 ? undefined : text
}

/** Fields by which Node decides how the connection goes on. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'trailer',
  'date',
  'expect',
  'upgrade',
])

/** Whether it is worth the while to write a head for `sendInOnePiece`. @param size bytes of the body */
export function mayBeOnePiece(response: ServerResponse, size: number): boolean {
  return works && response.shouldKeepAlive && size < MOST / 2
}

/**
 * Sends an answer in one piece if that can be done for this request, on this connection, at this moment.
 *
 * @param head from `headText`
 * @param body pieces one after another
 * @param size bytes of the body
 * @param cookie `Set-Cookie` of this answer alone
 * @returns whether it was sent
 */
export function sendInOnePiece(
  request: IncomingMessage,
  response: ServerResponse,
  head: string,
  body: readonly Uint8Array[],
  size: number,
  cookie: string | undefined,
): boolean {
  const { socket } = response
  if (!works || !response.shouldKeepAlive || request.httpVersionMinor !== 1 || request.httpVersionMajor !== 1)
    return false
  return !!socket && writePiece(socket, head, body, size, cookie, bytes => handOver(response, socket, bytes))
}

/**
 * Writes an answer in one piece to a connection that goes on behind it, if the system is likely to take it at once.
 *
 * @param write hands the bytes to the socket
 * @returns whether it was written; arguments are those of `sendInOnePiece`
 */
export function writePiece(
  socket: Duplex,
  head: string,
  body: readonly Uint8Array[],
  size: number,
  cookie: string | undefined,
  write: (bytes: Uint8Array) => void,
): boolean {
  if (!works || head.length + size > MOST - MOST_ANEW) return false
  // What waits to be written stands before it, and some of the desk may be among it.
  if (!(socket instanceof Socket) || socket.writableLength > 0 || !socket.writable) return false
  if (cookie !== undefined && (cookie.length > MOST_ANEW / 2 || !isFieldValue(cookie))) return false
  const anew = cookie === undefined ? lastLines() : `Set-Cookie: ${cookie}\r\n${lastLines()}`
  // What is to be encrypted is taken later, each time.
  const place = socket instanceof TLSSocket ? Buffer.allocUnsafe(head.length + anew.length + size) : desk
  let length = place.write(head, 0, 'latin1')
  length += place.write(anew, length, 'latin1')
  for (const piece of body) {
    place.set(piece, length)
    length += piece.length
  }
  write(place.subarray(0, length))
  // Of what the system has not taken yet, nothing may change.
  if (place === desk && socket.writableLength > 0) desk = Buffer.allocUnsafeSlow(MOST)
  return true
}

function handOver(response: ServerResponse, socket: Duplex, bytes: Uint8Array): void {
  response.finished = true
  socket.write(bytes, error => {
    if (!error) response.emit('finish')
  })
}

/** Whether an answer has left, or never will. */
export function isOver(response: ServerResponse): boolean {
  // Node itself knows nothing of the end of what was handed over but that the answer is closed.
  return response.writableFinished || response.destroyed
}

/** Visible ASCII and spaces, as cookies are made of. */
function isFieldValue(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}

let last = { second: Number.NaN, lines: '' }

/** `Date` and what follows it. */
function lastLines(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== last.second) {
    const date = new Date(second * 1000).toUTCString()
    const lines = `Date: ${date}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${KEEP_ALIVE / 1000}\r\n\r\n`
    last = { second, lines }
  }
  return last.lines
}

let trial: Promise<boolean> | undefined

/**
 * Finds out whether answers can be sent in one piece, once in a process; until then they are not.
 *
 * @returns whether they can
 */
export function tryOnePiece(): Promise<boolean> {
  trial ??= goesOn(handOver).then(does => {
    works = does
    return does
  })
  return trial
}

/**
 * Whether a connection goes on as it should after an answer that was handed over: its bytes come first and alone, the
 * answer has ended, and the next request, which came with the first, is answered as usual.
 *
 * @param hand hands bytes over
 */
export function goesOn(hand: typeof handOver): Promise<boolean> {
  const told = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
  const states: boolean[] = []
  const server = createServer((request, response) => {
    if (request.url !== '/first' || !response.socket) {
      response.end()
      return
    }
    response.once('close', () => states.push(isOver(response), response.writableEnded))
    hand(response, response.socket, Buffer.from(told))
  })
  const [client, side] = duplexPair()
  let text = ''
  client.setEncoding('latin1')
  client.on('data', (more: string) => {
    text += more
  })
  return new Promise(resolve => {
    client.once('end', () => {
      const next = text.slice(told.length)
      const isWhole = text.startsWith(told) && next.startsWith('HTTP/1.1 200 OK\r\n') && next.endsWith('\r\n\r\n')
      resolve(isWhole && states.length === 2 && states.every(Boolean))
    })
    server.emit('connection', side)
    client.write('GET /first HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  })
}
