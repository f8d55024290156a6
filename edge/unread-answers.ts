/** Answers from memory that their clients have not taken yet: bounded together, however many there are (SEC-12). */

import type { ServerResponse } from 'node:http'
import { Waiting, type WaitingOptions } from '../pipeline/events/waiting.ts'
import { Fault } from '../pipeline/fault.ts'

/** Bytes of an answer that are not counted: connections bound them. */
const UNCOUNTED = 64 * 1024
/** An answer that takes more than this part of all is sent only where there is room. */
const LARGE = 1 / 4
/** Milliseconds after which somebody who has taken nothing counts for less than anybody who asks for much. */
const STALLED = 10_000

const NOTHING = () => undefined

let unread = new Waiting()

/** Bytes that may wait in any case: the largest document, once. */
const LEAST = 64 * 1024 * 1024

/** @param options bytes for all answers together, and who is told when they are much more than before */
export function limitAnswers({ most = LEAST, ...more }: WaitingOptions, least = LEAST): void {
  unread = new Waiting({ most: Math.max(least, most), ...more })
}

/** Bytes of answers that wait for their clients. */
export function bytesOfAnswers(): number {
  return unread.bytes
}

/** Gives up answers of which nothing was taken lately, for whatever is not kept longer than they wait. */
export function endStalled(): void {
  unread.endStalled(STALLED)
}

/**
 * Makes sure that there is room for a large answer: for one of the usual size others give way, but nobody who reads may be cut
 * off by whoever asks for much.
 *
 * @param pieces those of its parts that are in memory
 * @throws Fault 503
 */
export function requireRoom(pieces: readonly Uint8Array[]): void {
  let size = 0
  for (const piece of pieces) if (!unread.has(piece)) size += piece.length
  if (size <= unread.most * LARGE || unread.bytes + size <= unread.most) return
  unread.endStalled(STALLED, unread.most - size)
  if (unread.bytes === 0 || unread.bytes + size <= unread.most) return
  throw new Fault(503, 'Unavailable', 'Too many large answers are on their way. Try again in a moment.', {
    headers: { 'Retry-After': '5' },
  })
}

/**
 * Counts an answer in until its client has all of it. Where all together are too many, those go of which nothing was taken for
 * longest.
 *
 * @param pieces parts that are in memory; those of several answers count once
 * @returns to be called when the client has taken a part
 */
export function holdAnswer(response: ServerResponse, pieces: readonly Uint8Array[]): () => void {
  let size = 0
  for (const { length } of pieces) size += length
  if (size < UNCOUNTED) return NOTHING
  const waiting = unread
  let isHeld = true
  const release = () => {
    if (!isHeld) return
    isHeld = false
    for (const piece of pieces) waiting.release(piece)
    waiting.end(response)
  }
  const giveUp = () => {
    release()
    response.destroy()
  }
  for (const piece of pieces) waiting.hold(piece)
  waiting.begin(response, giveUp)
  response.once('close', release)
  waiting.relieve()
  return () => {
    if (isHeld) waiting.begin(response, giveUp)
  }
}
