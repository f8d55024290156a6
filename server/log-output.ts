/**
 * Where log lines go: a file descriptor that may be full, slow or broken. Nobody ever waits for it. What finds no room is
 * lost and counted; as soon as something can be written again, the log says how much that was and goes on.
 */

import { constants, fstatSync, openSync, write, writeSync } from 'node:fs'

export interface LogOutputOptions {
  /** Bytes that are written in one piece at most; a pipe that several processes share keeps shorter ones together. */
  maxWrite?: number
  /** Characters that are gathered before they are written; what is less is written after `FLUSH` milliseconds. */
  minLength: number
  /** Writes bytes of a buffer as `fs.write` does. Tests put another one in its place. */
  write?: typeof write
}

export interface LogOutput {
  /** @param lines whole lines */
  write(lines: string): void
  /** Writes what was gathered. @param done called when that was tried */
  flush(done?: () => void): void
  /** The same at the end of the process; gives up where it would have to wait. */
  flushSync(): void
}

/** Milliseconds that lines are gathered, and after which a write that failed is tried again. */
const FLUSH = 250

/** Characters that wait to be written; more are lost. */
const MOST_WAITING = 1024 * 1024

/** @param descriptor such as 1 for standard output */
export function logOutput(descriptor: number, options: LogOutputOptions): LogOutput {
  const { maxWrite = 64 * 1024, minLength, write: writing = write } = options
  const target = unblocked(descriptor)
  let waiting: string[] = []
  let length = 0
  let lost = 0
  let piece: Buffer | undefined
  let isWriting = false
  let isPlanned = false
  let asked: (() => void)[] = []

  const later = () => {
    if (isPlanned) return
    isPlanned = true
    setTimeout(() => {
      isPlanned = false
      next()
    }, FLUSH).unref()
  }
  const take = (): Buffer | undefined => {
    if (lost > 0 && length < MOST_WAITING / 2) {
      waiting.unshift(
        `${JSON.stringify({ level: 40, time: new Date().toISOString(), lost, msg: 'log lines were lost' })}\n`,
      )
      lost = 0
    }
    let text = waiting.shift()
    if (text === undefined) return undefined
    while (waiting[0] !== undefined && text.length + waiting[0].length <= maxWrite) text += waiting.shift()
    return Buffer.from(text)
  }
  const tell = () => {
    const told = asked
    asked = []
    for (const done of told) done()
  }
  const next = () => {
    if (isWriting) return
    piece ??= take()
    if (!piece) {
      length = 0
      return tell()
    }
    const current = piece
    isWriting = true
    writing(target, current, 0, Math.min(current.length, maxWrite), null, (error, written) => {
      isWriting = false
      if (error) {
        // Full, or nobody reads: later lines wait or are lost, and it is tried again.
        later()
        return tell()
      }
      length = Math.max(0, length - written)
      piece = written < current.length ? current.subarray(written) : undefined
      next()
    })
  }

  const output: LogOutput = {
    write(lines) {
      if (length + lines.length > MOST_WAITING) {
        lost += lines.split('\n').length - 1
        return later()
      }
      length += lines.length
      waiting.push(lines)
      if (length >= minLength) next()
      else later()
    },
    flush(done) {
      if (done) asked.push(done)
      next()
    },
    flushSync() {
      if (isWriting) return
      try {
        for (piece ??= take(); piece; piece = take())
          for (let from = 0; from < piece.length; ) from += writeSync(target, piece, from)
      } catch {
        // What finds no room now is lost.
      }
      length = 0
      waiting = []
    },
  }
  if (outputs.size === 0)
    process.once('exit', () => {
      for (const each of outputs) each.flushSync()
    })
  outputs.add(output)
  return output
}

/** What is written to at the end of the process. */
const outputs = new Set<LogOutput>()

/**
 * The same pipe or terminal by a descriptor of our own, on which nothing blocks: a thread that waits for a reader would
 * keep the process from ending.
 */
function unblocked(descriptor: number): number {
  try {
    const kind = fstatSync(descriptor)
    if (!kind.isFIFO() && !kind.isCharacterDevice()) return descriptor
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    return descriptor
  }
}
