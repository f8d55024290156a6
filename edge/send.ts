/** Writes answers to sockets: memory, stored blobs, and sequences of both, with constant memory. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Answer, AnswerBody, BlobBody, PiecesBody } from '../pipeline/answer.ts'
import type { CachedAnswer } from './answer-cache.ts'
import { headText, mayBeOnePiece, sendInOnePiece, writePiece } from './one-piece.ts'
import { type OpenBlob, openBlob, openBlobs } from './open-blobs.ts'
import { endUnread, leavesBody, leavesLargeBody } from './request-body.ts'
import { sendStream } from './send-stream.ts'
import { holdAnswer, requireRoom } from './unread-answers.ts'

/** Bytes read from a blob at a time: by few readers, and at least where there are many, some of whom may read nothing. */
const [CHUNK, LEAST_CHUNK] = [256 * 1024, 8 * 1024]
/** Bytes that are shared out among those who read at a time. */
const CHUNKS = 16 * 1024 * 1024

/** Bytes from memory that are handed over before the client has taken what came before. */
const AT_ONCE = 1024 * 1024

/** Methods whose answers say nothing of a change. */
const READS: ReadonlySet<string> = new Set(['GET', 'QUERY', 'PROPFIND', 'REPORT'])

function isBlob(body: AnswerBody): body is BlobBody {
  return typeof body === 'object' && 'blob' in body
}

function isPieces(body: AnswerBody): body is PiecesBody {
  return typeof body === 'object' && 'pieces' in body
}

/** Bytes of the content of an answer, which an answer to HEAD announces and leaves out. */
export function bodySize(body: AnswerBody | undefined): number {
  if (body === undefined) return 0
  if (typeof body === 'string') return Buffer.byteLength(body)
  if (isBlob(body)) return body.end - body.start
  return isPieces(body) ? body.size : body.length
}

/**
 * Sends an answer and settles when it is handed to the operating system or the client went away.
 *
 * @param request decides about HEAD and about a body that nobody read
 * @param answer its `Content-Length` is set here; 204 and 304 carry none
 */
export async function send(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
  const { status, headers } = answer
  if (answer.stream) return sendStream(response, status, headers, answer.stream)
  const body = simplified(answer.body)
  const bodiless = status === 204 || status === 304
  const unread = leavesLargeBody(request)
  if (unread) headers.Connection = 'close'
  // Node throws away what nobody has begun to read, and nothing of what somebody has.
  else if (!request.complete) response.once('finish', () => request.resume())
  if (!bodiless) headers['Content-Length'] = String(bodySize(body))
  const silent = bodiless || request.method === 'HEAD' || body === undefined
  // Node knows which connections end with a body that has not come, such as one that waits for `100 Continue`.
  if (!silent && body instanceof Uint8Array && !leavesBody(request) && sendSmall(request, response, answer, body))
    return
  const inMemory = silent ? [] : partsInMemory(body)
  // Of what was stored nobody may hear that it was not.
  if (READS.has(request.method ?? '')) requireRoom(inMemory)
  // Opened before anything is said of it: a file that is missing is no 200.
  const opened = !silent && isBlob(body) ? await openBlob(body) : undefined
  try {
    response.writeHead(status, answer.repeated ? withRepeated(headers, answer.repeated) : headers)
  } catch (error) {
    await opened?.close()
    throw error
  }
  if (!silent) {
    const taken = holdAnswer(response, inMemory)
    if (isBlob(body)) await writeBlob(response, body, opened)
    else if (isPieces(body)) await writePieces(response, body.pieces, taken)
    else if (body.length > AT_ONCE) await writePieces(response, cut(body), taken)
    else if (unread) response.write(body)
    else {
      response.end(body)
      return
    }
  } else if (unread) response.flushHeaders()
  if (unread) endUnread(request, response)
  else response.end()
}

/** Sends head and content, whose fields are complete, in one piece, if that can be done. @returns whether it was sent */
function sendSmall(request: IncomingMessage, response: ServerResponse, answer: Answer, body: Uint8Array): boolean {
  if (!mayBeOnePiece(response, body.length)) return false
  const { status, headers, repeated } = answer
  const head = headText(status, repeated ? withRepeated(headers, repeated) : Object.entries(headers).flat())
  return head !== undefined && sendInOnePiece(request, response, head, [body], body.length, undefined)
}

/**
 * Sends an answer; where its content cannot be opened, another one that says so.
 *
 * @param failed makes that answer, and tells the log
 */
export async function sendOr(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  failed: (error: unknown) => Answer,
): Promise<void> {
  try {
    await send(request, response, answer)
  } catch (error) {
    const instead = failed(error)
    if (response.headersSent) response.destroy()
    else await send(request, response, instead).catch(() => response.destroy())
  }
}

/** What of a kept answer a request gets. */
interface Part {
  status: number
  /** Names and values in turn. */
  fields: string[]
  /** The same as text; undefined for a head that only Node itself can send. */
  head: string | undefined
  body: readonly Uint8Array[]
  size: number
}

/**
 * @param condition `If-None-Match` of the request
 * @returns the whole, or the 304 to a request that names its tag and no other; undefined when the condition has to be judged,
 *   or the whole is not known
 */
function partOf(
  { status, tag, head, unchanged, body, size, texts }: CachedAnswer<unknown>,
  condition: string | undefined,
): Part | undefined {
  if (condition === undefined) {
    if (!head) return undefined
    if (!('head' in texts)) texts.head = headText(status, head)
    return { status, fields: head, head: texts.head, body, size }
  }
  if (condition !== tag) return undefined
  if (!('unchanged' in texts)) texts.unchanged = headText(304, unchanged)
  return { status: 304, fields: unchanged, head: texts.unchanged, body: NOTHING, size: 0 }
}

const NOTHING: readonly Uint8Array[] = []

/**
 * Sends a kept answer, or 304 to a request that names its tag and no other.
 *
 * @param cookie `Set-Cookie` of this answer alone
 * @returns the status sent; undefined when the condition has to be judged, or the whole is not known
 */
export function sendKept(
  request: IncomingMessage,
  response: ServerResponse,
  kept: CachedAnswer<unknown>,
  cookie?: string,
): number | undefined {
  const part = partOf(kept, request.headers['if-none-match'])
  if (!part) return undefined
  const { status, fields, head, body, size } = part
  if (head !== undefined && sendInOnePiece(request, response, head, body, size, cookie)) return status
  response.writeHead(status, withCookie(fields, cookie))
  holdAnswer(response, body)
  const last = body.length - 1
  for (let i = 0; i < last; i++) response.write(body[i])
  if (last < 0) response.end()
  else response.end(body[last])
  return status
}

/**
 * Sends a kept answer again to a request that was not parsed.
 *
 * @param condition `If-None-Match` of the request
 * @param cookie `Set-Cookie` of this answer alone
 * @returns the status sent; undefined when the request has to be read
 */
export function sendKnown(
  socket: Socket,
  kept: CachedAnswer<unknown>,
  condition: string | undefined,
  cookie?: string,
): number | undefined {
  const part = partOf(kept, condition)
  if (part?.head === undefined) return undefined
  const { status, head, body, size } = part
  return writePiece(socket, head, body, size, cookie, bytes => socket.write(bytes)) ? status : undefined
}

function withCookie(head: string[], cookie: string | undefined): string[] {
  return cookie === undefined ? head : [...head, 'Set-Cookie', cookie]
}

/** Names and values in turn. */
function withRepeated(headers: Answer['headers'], repeated: NonNullable<Answer['repeated']>): string[] {
  return [...Object.entries(headers), ...repeated].flat()
}

/** The same content in a form that leaves in one piece, where there is one. */
function simplified(body: AnswerBody | undefined): Exclude<AnswerBody, string> | undefined {
  // Node joins a string to the head and encodes both as UTF-8; the bytes of field values would be encoded twice (HTTP-49).
  if (typeof body === 'string') return Buffer.from(body)
  if (body === undefined || !isPieces(body) || body.pieces.length !== 1) return body
  return body.pieces[0]
}

function partsInMemory(body: Exclude<AnswerBody, string>): Uint8Array[] {
  if (body instanceof Uint8Array) return [body]
  return isPieces(body) ? body.pieces.filter(piece => piece instanceof Uint8Array) : []
}

/** What the client takes of a long content tells that it reads. */
function* cut(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += AT_ONCE) yield bytes.subarray(at, at + AT_ONCE)
}

/** @param taken called when the client has taken some of it */
async function writePieces(
  response: ServerResponse,
  pieces: Iterable<Uint8Array | BlobBody>,
  taken: () => void,
): Promise<void> {
  let ahead = 0
  for (const piece of pieces) {
    if (response.destroyed) return
    if (!(piece instanceof Uint8Array)) {
      await writeBlob(response, piece)
      taken()
      continue
    }
    // What is written in one turn leaves in one system call.
    ahead += piece.length
    if (ahead < AT_ONCE) response.write(piece)
    else {
      await write(response, piece)
      taken()
      ahead = 0
    }
  }
}

/** @returns bytes that the last of so many readers reads at a time, a power of two: many get little, so that all fit into memory */
export function chunkFor(readers: number): number {
  const share = 2 ** Math.floor(Math.log2(CHUNKS / Math.max(readers, 1)))
  return Math.max(LEAST_CHUNK, Math.min(CHUNK, share))
}

/**
 * Sends a part of a blob through two buffers: one is filled while the other is on its way to the client, and neither is
 * garbage before the end.
 */
async function writeBlob(response: ServerResponse, body: BlobBody, opened?: OpenBlob): Promise<void> {
  const reader = opened ?? (await openBlob(body, true))
  try {
    const length = Math.min(chunkFor(openBlobs.count), body.end - body.start)
    const buffers = [Buffer.allocUnsafeSlow(length), Buffer.allocUnsafeSlow(length)]
    let sent = Promise.resolve()
    let at = body.start
    for (let turn = 0; at < body.end; turn++) {
      const buffer = buffers[turn % 2]
      if (!buffer || response.destroyed) break
      const bytesRead = await reader.read(buffer.subarray(0, Math.min(length, body.end - at)), at)
      await sent
      if (bytesRead === 0) {
        // The head promised more than there is: a cut connection is the only honest sign.
        response.destroy()
        break
      }
      at += bytesRead
      sent = write(response, buffer.subarray(0, bytesRead))
    }
    await sent
  } finally {
    await reader.close()
  }
}

/** Settles when the piece left the process, or never will. */
function write(response: ServerResponse, piece: Uint8Array): Promise<void> {
  return new Promise(resolve => {
    if (response.destroyed) return resolve()
    const settle = () => {
      response.off('close', settle)
      resolve()
    }
    // Node forgets what is written after the end of the socket and before that of the response.
    response.once('close', settle)
    response.write(piece, settle)
  })
}
