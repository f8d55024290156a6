/**
 * Request bodies: capped, timed, and read only when the request has passed every gate before them (HTTP-1, HTTP-180); into
 * memory, on their way to disk, or piece by piece.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { BodySource, SeePiece } from '../pipeline/body.ts'
import { Fault } from '../pipeline/fault.ts'
import { KeptPieces } from '../pipeline/kept-pieces.ts'
import { memoryBlob, type StagedBlob, StagingError } from '../pipeline/store/blobs.ts'
import type { Store } from '../pipeline/store/store.ts'
import { joining, PIECE } from '../pipeline/tree/document.ts'
import { inTurns } from '../pipeline/tree/steps.ts'
import { endStalled } from './unread-answers.ts'

/** Bytes of an unread body that are thrown away so that a client sees its answer instead of a reset connection. */
const DISCARD_LIMIT = 64 * 1024 * 1024
const DISCARD_TIME = 10_000
/** Bodies up to this size are discarded by Node itself, which keeps the connection open. */
const SMALL_BODY = 1024 * 1024

/** Requests whose client waits for `100 Continue` before it sends its body. */
const waiting = new WeakSet<IncomingMessage>()

/** Remembers that this client wants to be told to go on. */
export function expectContinue(request: IncomingMessage): void {
  waiting.add(request)
}

/** Tells a waiting client to send its body; to be called right before reading it. */
function invite(request: IncomingMessage, response: ServerResponse): void {
  if (waiting.delete(request)) response.writeContinue()
}

export function tooLarge(cap: number): Fault {
  return new Fault(413, 'PayloadTooLarge', `The body is larger than the ${cap} bytes allowed here.`, {
    headers: { Connection: 'close' },
  })
}

/**
 * Gate 1 of HTTP-1: the declared length against the cap.
 *
 * @param cap bytes
 * @throws Fault 413
 */
export function checkDeclaredLength(request: IncomingMessage, cap: number): void {
  const declared = request.headers['content-length']
  if (declared !== undefined && Number(declared) > cap) throw tooLarge(cap)
}

/** Whether the request announces a body, of whatever length. */
function announcesBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
}

/** The body as a stream. Node ends that of a request which announces none before anybody can see it. */
function bodyStream(request: IncomingMessage): Readable {
  return announcesBody(request) ? request : Readable.from([])
}

/**
 * Bytes of bodies that all requests of this process together may hold in memory (SEC-12). Short bodies are not counted:
 * connections bound them.
 */
let mostHeld = 256 * 1024 * 1024
const UNCOUNTED = 64 * 1024
/** Told when bodies hold more than before. */
let grown: () => void = () => undefined

/**
 * @param bytes that bodies may hold together
 * @param told called when they hold more than before
 */
export function limitBodies(bytes: number, told: () => void = () => undefined): void {
  mostHeld = bytes
  grown = told
}

/** Bytes that bodies may hold together. */
export function mostBodies(): number {
  return mostHeld
}

let heldBytes = 0

/** Bytes that the bodies of running requests hold. */
export function bytesOfBodies(): number {
  return heldBytes
}

/** @returns counts bytes that a request holds in memory until its answer has left; Fault 503 when there are too many */
export function holder(response: ServerResponse): (bytes: number) => void {
  let held = 0
  return bytes => {
    if (bytes === 0) return
    if (held === 0)
      response.once('close', () => {
        heldBytes -= held
        held = 0
      })
    if (heldBytes + bytes > mostHeld) {
      endStalled()
      throw crowded()
    }
    held += bytes
    heldBytes += bytes
    grown()
  }
}

function crowded(): Fault {
  return new Fault(503, 'Unavailable', 'Too many large bodies are on their way. Try again in a moment.', {
    headers: { 'Retry-After': '5', Connection: 'close' },
  })
}

/** Requests whose client stopped sending. */
const stalled = new WeakSet<IncomingMessage>()

/** Looks at a connection without a new byte after which its client counts as gone. */
const LOOKS = 4

/**
 * Reads a body, unless its client stops sending for too long (HTTP-181). The connection stays open for the answer, whose
 * end closes it; that ends what was still being read. Time that the server itself takes is none of the client's: neither
 * while it is busy with something else, which is one look however long it lasts, nor while it stores what has arrived.
 *
 * @param idle milliseconds without a byte
 * @throws Fault 408; whatever `read` throws
 */
async function untilIdle<T>(request: IncomingMessage, idle: number, read: () => Promise<T>): Promise<T> {
  const { socket } = request
  let seen = socket.bytesRead
  let quiet = 0
  let looking: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    looking = setInterval(() => {
      if (socket.bytesRead > seen || request.complete || request.readableLength > 0) quiet = 0
      else quiet++
      seen = socket.bytesRead
      if (quiet < LOOKS) return
      stalled.add(request)
      // Node tells nobody of the end of a connection whose answer has left: the read would wait for ever.
      socket.once('close', () => request.destroy())
      reject(new Fault(408, 'Timeout', 'The body did not arrive in time.', { headers: { Connection: 'close' } }))
    }, idle / LOOKS)
  })
  try {
    return await Promise.race([read(), timeout])
  } finally {
    clearInterval(looking)
  }
}

/**
 * Reads a whole body into memory.
 *
 * @param cap bytes; counted while reading, for bodies without a declared length
 * @param idle milliseconds without a byte before 408
 * @throws Fault 413 over the cap, 400 when the body ends early, 408 when it stops, 503 when there is no room for more
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  cap: number,
  idle: number,
): Promise<Buffer> {
  checkDeclaredLength(request, cap)
  if (!announcesBody(request)) return Buffer.alloc(0)
  invite(request, response)
  // A short body mostly comes with its head, and Node hands both over in one turn: no need to wait for anything.
  await undefined
  const arrived = arrivedBody(request)
  if (arrived && arrived.length > cap) throw tooLarge(cap)
  if (arrived) return arrived
  // Nothing more is told of a body whose client has gone while its request was admitted.
  if (request.destroyed) throw endedEarly()
  const read = () =>
    new Promise<Buffer>((resolve, reject) => {
      const chunks = new KeptPieces()
      const hold = holder(response)
      let size = 0
      let counted = 0
      const refuse = (fault: unknown) => {
        request.off('data', onData)
        request.pause()
        chunks.clear()
        reject(fault)
      }
      const onData = (chunk: Buffer) => {
        size += chunk.length
        if (size > cap) return refuse(tooLarge(cap))
        chunks.add(chunk)
        if (size <= UNCOUNTED) return
        try {
          hold(size - counted)
          counted = size
        } catch (fault) {
          refuse(fault)
        }
      }
      request.on('data', onData)
      request.once('end', () => resolve(joined(chunks.all, size)))
      const onBreak = () => {
        // Every request closes; a fault for each of them would cost more than most bodies.
        if (!request.readableEnded) reject(endedEarly())
      }
      request.once('error', onBreak)
      request.once('close', onBreak)
    })
  return untilIdle(request, idle, read)
}

/** What has arrived as one; what is long shares the event loop. */
function joined(chunks: readonly Uint8Array[], size: number): Buffer | Promise<Buffer> {
  const [only] = chunks
  if (chunks.length === 1 && only instanceof Buffer) return only
  return size <= PIECE ? Buffer.concat(chunks, size) : inTurns(joining(chunks), size)
}

/** A body that is in memory as a whole already; undefined where some of it is still on its way, and for an empty one. */
export function arrivedBody(request: IncomingMessage): Buffer | undefined {
  const { readableLength, headers } = request
  if (readableLength === 0) return undefined
  // Node tells of the end only after the turn in which the last bytes came.
  const isWhole = headers['transfer-encoding'] === undefined && Number(headers['content-length']) === readableLength
  return isWhole || request.complete ? (request.read() as Buffer) : undefined
}

function endedEarly(): Fault {
  return new Fault(400, 'BadRequest', 'The body ended before its declared length.', {
    headers: { Connection: 'close' },
  })
}

/** Whether an answer given now leaves a body behind, or some of it. */
export function leavesBody(request: IncomingMessage): boolean {
  return !request.complete && announcesBody(request)
}

/** Whether an answer given now leaves a body behind that is too large for Node to throw away quietly. */
export function leavesLargeBody(request: IncomingMessage): boolean {
  if (!leavesBody(request) || stalled.has(request)) return false
  const declared = request.headers['content-length']
  return declared === undefined || Number(declared) > SMALL_BODY
}

/**
 * Ends an answer whose request body was not read: keeps the connection long enough for the client to read the answer,
 * then closes it. A client that waits for `100 Continue` has sent nothing, so the connection just ends.
 */
export function endUnread(request: IncomingMessage, response: ServerResponse): void {
  if (waiting.delete(request)) {
    response.end()
    return
  }
  let discarded = 0
  const finish = () => {
    clearTimeout(timer)
    request.off('data', onData)
    response.end()
  }
  const onData = (chunk: Buffer) => {
    discarded += chunk.length
    if (discarded > DISCARD_LIMIT) finish()
  }
  const timer = setTimeout(finish, DISCARD_TIME)
  request.on('data', onData)
  request.once('end', finish)
  request.once('error', finish)
  request.once('close', finish)
  request.resume()
}

export type Stage = Store['stage']

/** How bodies of requests are read. */
export interface BodyReading {
  /** The store's area for bodies that are not committed yet. */
  stage: Stage
  /** Milliseconds without a byte before 408. */
  idle: number
}

/** @returns the body of a request; nothing of it is read before a write asks for it */
export function requestBody(
  { stage, idle }: BodyReading,
  request: IncomingMessage,
  response: ServerResponse,
): BodySource {
  return {
    bytes: cap => readBody(request, response, cap, idle),
    stage: (cap, seen) => stageBody({ stage, idle }, request, response, cap, seen),
  }
}

/**
 * Hands the body of a request over while it arrives.
 *
 * @param cap bytes; counted while reading, for bodies without a declared length
 * @param take reads the pieces to their end; `hold` counts bytes that it keeps in memory until the answer has left
 * @throws Fault 413 over the cap, 400 when the body ends early, 408 when it stops, 503 when all requests hold too much;
 *   whatever `take` throws of its own
 */
export type ReadPieces = <T>(
  cap: number,
  take: (pieces: AsyncIterable<Uint8Array>, hold: (bytes: number) => void) => Promise<T>,
) => Promise<T>

export function piecesOf({ idle }: BodyReading, request: IncomingMessage, response: ServerResponse): ReadPieces {
  return async (cap, take) => {
    checkDeclaredLength(request, cap)
    invite(request, response)
    // Whoever takes the pieces may make an error of its own of this one.
    let broken: Fault | undefined
    async function* counted(): AsyncGenerator<Uint8Array> {
      let size = 0
      try {
        for await (const piece of bodyStream(request).iterator({ destroyOnReturn: false })) {
          size += piece.length
          if (size > cap) throw tooLarge(cap)
          yield piece
        }
      } catch (error) {
        broken = error instanceof Fault ? error : endedEarly()
        throw broken
      }
    }
    try {
      return await untilIdle(request, idle, () => take(counted(), holder(response)))
    } catch (error) {
      throw broken ?? error
    }
  }
}

/** Fields that may name SHA-1 or MD5 of a body (DAV-43). */
const DIGEST_FIELDS = ['oc-checksum', 'content-md5', 'content-digest', 'repr-digest']

/** Whether a body is compared with digests as soon as all of it is there, whoever reads it first. */
function namesDigest({ headers }: IncomingMessage): boolean {
  return DIGEST_FIELDS.some(name => headers[name] !== undefined)
}

/**
 * Streams a request body into the store's staging area with constant memory.
 *
 * @param cap bytes
 * @param seen is shown every piece
 * @throws Fault 413 over the cap, 400 when the body ends early, 408 when it stops, and what `seen` throws; then nothing is
 *   left behind
 */
async function stageBody(
  { stage, idle }: BodyReading,
  request: IncomingMessage,
  response: ServerResponse,
  cap: number,
  seen: SeePiece | undefined,
): Promise<StagedBlob> {
  checkDeclaredLength(request, cap)
  invite(request, response)
  const hold = holder(response)
  // The store makes an error of its own of it.
  let refused: { fault: unknown } | undefined
  const see = (piece: Uint8Array) => {
    try {
      seen?.(piece, hold)
    } catch (fault) {
      refused = { fault }
      throw fault
    }
  }
  await undefined
  const arrived = arrivedBody(request)
  if (arrived) {
    if (arrived.length > cap) throw tooLarge(cap)
    seen?.(arrived, hold)
    return memoryBlob(arrived)
  }
  const staging = stage(bodyStream(request), { limit: cap, seen: seen && see, checksums: namesDigest(request) })
  try {
    return await untilIdle(request, idle, () => staging)
  } catch (error) {
    // What may still arrive until the connection is closed is not wanted any more.
    staging.then(
      staged => staged.discard(),
      () => undefined,
    )
    if (refused) throw refused.fault
    if (error instanceof StagingError) throw error.reason === 'too-large' ? tooLarge(cap) : endedEarly()
    throw error
  }
}
