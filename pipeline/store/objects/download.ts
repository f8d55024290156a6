/**
 * An object on its way out: one request for the stretch that is wanted, read as fast as its reader goes. A connection that
 * breaks, and one whose reader pauses, is followed by another that goes on where it ended.
 */

import type { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { unlessAnswered } from '../../unless-answered.ts'
import type { BlobReader, Span } from '../blobs.ts'
import { BlobGone } from '../errors.ts'
import { type Client, type Patience, sdk } from './client.ts'
import { notItself, storeError, taken } from './failures.ts'

/** Times that a connection may break without having brought anything. */
const BARREN = 3

/** Milliseconds after which a reader that asks for nothing has no connection any more. */
const PAUSE = 10_000

/** Milliseconds that the end of a stretch may take after its last byte. */
const END = 100

interface Flow {
  body: Readable
  pieces: AsyncIterator<Uint8Array>
}

function wrongSize(size: number): BlobGone {
  return new BlobGone(`An object does not have the ${size} bytes that were stored`)
}

/** Asks whether an object is there as it was stored. @throws StoreError, BlobGone */
async function prove(client: Client, Key: string, size: number, patience: Patience): Promise<void> {
  const { ContentLength } = await client.ask(patience, ({ client: asked, options }) =>
    asked.send(new (sdk().HeadObjectCommand)({ Bucket: client.bucket, Key }), options).then(taken),
  )
  if (ContentLength !== size) throw wrongSize(size)
}

/** What somebody in between may have made of a body; of a stretch no digest would tell. */
const ENCODED = /gzip|compress|deflate|br|zstd/i

/** A stretch of an object. @throws StoreError, BlobGone */
async function flowFrom(
  client: Client,
  Key: string,
  size: number,
  { start, end }: Span,
  patience: Patience,
): Promise<Flow> {
  const Range = `bytes=${start}-${end - 1}`
  const { body, ContentRange } = await client.ask(patience, async ({ client: asked, options }) => {
    const command = new (sdk().GetObjectCommand)({ Bucket: client.bucket, Key, Range })
    const { Body, ETag, ContentRange, ContentEncoding = '', ContentLength = 0 } = await asked.send(command, options)
    const body = Body as Readable
    // What breaks after its reader has gone is nobody's failure.
    body.on('error', () => undefined)
    const isAsItIs = !ENCODED.test(ContentEncoding) && ContentLength <= end - start
    if (ETag !== undefined && ContentRange !== undefined && isAsItIs) return { body, ContentRange }
    body.destroy()
    throw notItself()
  })
  if (ContentRange !== `bytes ${start}-${end - 1}/${size}`) {
    body.destroy()
    throw wrongSize(size)
  }
  return { body, pieces: body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array> }
}

/** The next piece of a flow; undefined when it has ended. @throws when it breaks, or brings nothing for too long */
async function pieceOf({ body, pieces }: Flow, quiet: number): Promise<Uint8Array | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = unlessAnswered(() => reject(new Error('Timeout: the body does not go on')), quiet)
  })
  try {
    const { done, value } = await Promise.race([pieces.next(), late])
    return done === true ? undefined : value
  } catch (error) {
    body.destroy()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Opens an object for reading.
 *
 * @param name of the object, below the prefix of the address
 * @param size bytes that were stored
 * @param span what will be read; an empty one proves that the object is there, and nothing is to be read
 * @throws StoreError, and BlobGone when it is not there with this size
 */
export async function openObject(
  client: Client,
  name: string,
  size: number,
  span: Span = { start: 0, end: size },
  patience: Patience = client.waits.answer,
): Promise<BlobReader> {
  const key = client.prefix + name
  let at = span.start
  let end = Math.min(span.end, size)
  let flow: Flow | undefined
  let rest: Uint8Array = new Uint8Array()
  let idle: NodeJS.Timeout | undefined
  if (at >= end) await prove(client, key, size, patience)
  else flow = await flowFrom(client, key, size, { start: at, end }, patience)

  function letGo(): void {
    flow?.body.destroy()
    flow = undefined
    rest = new Uint8Array()
  }

  /** More bytes, from another connection if this one breaks. @throws StoreError, BlobGone */
  async function more(): Promise<void> {
    for (let barren = 0; ; barren++) {
      flow ??= await flowFrom(client, key, size, { start: at, end }, client.waits.more)
      try {
        const piece = await pieceOf(flow, client.waits.more.quiet)
        if (piece === undefined) throw new Error('The body ended before its length')
        rest = piece
        return
      } catch (error) {
        letGo()
        if (barren === BARREN) throw storeError(error)
      }
      await wait(100 * 2 ** barren)
    }
  }

  /** Nobody may come back. */
  function pause(): void {
    idle = setTimeout(letGo, PAUSE).unref()
  }

  function goTo(position: number): void {
    if (position === at && at < end) return
    letGo()
    at = position
    end = size
  }

  pause()
  return {
    async read(buffer, position) {
      clearTimeout(idle)
      if (position >= size || buffer.length === 0) return 0
      goTo(position)
      let filled = 0
      while (filled < buffer.length && at < end) {
        if (rest.length === 0) await more()
        const part = rest.subarray(0, Math.min(buffer.length - filled, end - at))
        buffer.set(part, filled)
        rest = rest.subarray(part.length)
        filled += part.length
        at += part.length
      }
      pause()
      return filled
    },
    async close() {
      clearTimeout(idle)
      // A connection whose body was read to its end serves others.
      if (flow !== undefined && at >= end) await pieceOf(flow, END).catch(() => undefined)
      letGo()
    },
  }
}
