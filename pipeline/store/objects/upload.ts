/**
 * An object on its way in: small ones go in one request, larger ones in parts, one on its way while the next is filled. Each
 * request says the SHA-256 of what it brings, so that nothing is stored that was broken on its way.
 */

import { createHash, type Hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { BlobGone, StoreError } from '../errors.ts'
import { BLOCK, type Blocks } from './blocks.ts'
import { type Attempt, type Client, type Patience, sdk } from './client.ts'
import { isUnreached, meaningOf, notItself, removed, type Tagged, taken } from './failures.ts'

/** Bytes of a part. Of those that the protocol allows, 10,000, the second half are larger, so that 350 GiB find room. */
export const partSize = (number: number) => (number <= 5000 ? 8 : 64) * 1024 * 1024

/** For what nobody waits for. */
const AFTERWARDS: Patience = { quiet: 1500, total: 1500 }

export interface Upload {
  /** Takes a copy of the bytes. @throws StoreError */
  write(piece: Uint8Array): Promise<void>
  /** Settles when the object is complete and durable. @throws StoreError */
  finish(): Promise<void>
  /** Takes back what was sent. @returns whether nothing is left for sure */
  abandon(): Promise<boolean>
}

export interface UploadOptions {
  /** Has the object noted before anything is sent of it, and again when it has been under way for long. */
  note(): Promise<void>
}

/** A part being filled, or sent. */
interface Part {
  number: number
  blocks: Buffer[]
  size: number
  sha256: Hash
}

/** Milliseconds after which an object is noted again. */
const NOTED = 60 * 60_000

const TYPE = 'application/octet-stream'

type Command = { middlewareStack: { add(middleware: never, options: { step: 'build' }): void } }

/** Has a request say the digest of its body, which the client could not know of a stream. */
function signed<C extends Command>(command: C, sha256: string): C {
  type Next = (args: { request: { headers: Record<string, string> } }) => Promise<unknown>
  const middleware = (next: Next) => (args: Parameters<Next>[0]) => {
    args.request.headers['x-amz-content-sha256'] = sha256
    return next(args)
  }
  command.middlewareStack.add(middleware as never, { step: 'build' })
  return command
}

/** What is not taken because a name is not known may be taken under another one. @throws StoreError */
function notTaken(error: unknown): never {
  throw error instanceof BlobGone ? new StoreError('busy', error.message, { cause: error }) : error
}

/** The bytes of a part as a body. Each piece that is taken is a sign of life. */
function bodyOf({ blocks, size }: Part, touch: () => void): Readable {
  function* pieces() {
    for (let at = 0; at < size; at += BLOCK) {
      touch()
      yield (blocks[at / BLOCK] as Buffer).subarray(0, size - at)
    }
    touch()
  }
  return Readable.from(pieces(), { objectMode: false })
}

/** @param name of the object, below the prefix of the address */
export function startUpload(client: Client, blocks: Blocks, name: string, { note }: UploadOptions): Upload {
  const { bucket, prefix, waits } = client
  const place = { Bucket: bucket, Key: prefix + name }
  let part: Part = { number: 1, blocks: [], size: 0, sha256: createHash('sha256') }
  let uploadId: string | undefined
  let sending: Promise<void> = Promise.resolve()
  const tags: { PartNumber: number; ETag: string | undefined }[] = []
  let noted = 0
  let total = 0
  let isBegun = false
  /** What an attempt sent that nobody answered may be carried out at any time, also when all of it was taken back. */
  let isOpen = false

  function ask<Output>(patience: Patience, request: (attempt: Attempt) => Promise<Output>): Promise<Output> {
    return client.ask(patience, attempt =>
      request(attempt).catch(error => {
        if (meaningOf(error) === 'passing' && !isUnreached(error)) isOpen = true
        throw error
      }),
    )
  }

  async function noteNow(): Promise<void> {
    if (isBegun && performance.now() - noted < NOTED) return
    noted = performance.now()
    await note()
    isBegun = true
  }

  async function begin(): Promise<void> {
    await noteNow()
    await ask(waits.first, async ({ client, options }) => {
      const command = new (sdk().CreateMultipartUploadCommand)({ ...place, ContentType: TYPE })
      uploadId = (await client.send(command, options)).UploadId
      if (uploadId === undefined) throw notItself()
    })
  }

  function giveBack({ blocks: unsent }: Part, error: unknown): never {
    blocks.give(unsent)
    throw error
  }

  /** Sends a part with some request, and gives its memory back. */
  async function send<Output extends Tagged>(
    sent: Part,
    patience: Patience,
    make: (attempt: Attempt, body: Readable, sha256: string) => Promise<Output>,
  ): Promise<Output> {
    try {
      await noteNow()
      // Digests can be asked once, but requests may be made again.
      const sha256 = sent.sha256.digest('hex')
      return await ask(patience, attempt => {
        const body = bodyOf(sent, attempt.touch)
        return make(attempt, body, sha256)
          .then(taken)
          .finally(() => body.destroy())
      })
    } finally {
      blocks.give(sent.blocks)
    }
  }

  async function sendPart(sent: Part): Promise<void> {
    const { number: PartNumber, size: ContentLength } = sent
    if (PartNumber === 1) await begin().catch(error => giveBack(sent, error))
    const UploadId = uploadId
    const { ETag } = await send(sent, waits.later, ({ client, options }, Body, sha256) =>
      client.send(
        signed(new (sdk().UploadPartCommand)({ ...place, UploadId, PartNumber, Body, ContentLength }), sha256),
        options,
      ),
    )
    tags.push({ PartNumber, ETag })
  }

  async function sendWhole(sent: Part): Promise<void> {
    const head = { ...place, ContentLength: sent.size, ContentType: TYPE }
    await send(sent, waits.first, ({ client, options }, Body, sha256) =>
      client.send(signed(new (sdk().PutObjectCommand)({ ...head, Body }), sha256), options),
    )
  }

  /** Has the part that is full follow the one before it. */
  async function next(): Promise<void> {
    const full = part
    part = { number: full.number + 1, blocks: [], size: 0, sha256: createHash('sha256') }
    await sending.catch(error => giveBack(full, error))
    sending = sendPart(full)
    sending.catch(() => undefined)
  }

  /** The answer to the last request may be lost: then the parts are gone, and the object is there. */
  async function isComplete(): Promise<boolean> {
    const { ContentLength } = await client.ask(waits.later, ({ client, options }) =>
      client.send(new (sdk().HeadObjectCommand)(place), options).then(taken),
    )
    return ContentLength === total
  }

  async function complete(): Promise<void> {
    try {
      await ask(waits.later, ({ client, options }) =>
        client
          .send(
            new (sdk().CompleteMultipartUploadCommand)({
              ...place,
              UploadId: uploadId,
              MultipartUpload: { Parts: tags },
            }),
            options,
          )
          .then(taken),
      )
    } catch (error) {
      if (!(error instanceof BlobGone) || !(await isComplete())) throw error
    }
  }

  async function finish(): Promise<void> {
    const last = part
    part = { ...last, blocks: [], size: 0 }
    await sending.catch(error => giveBack(last, error))
    if (last.number === 1) return sendWhole(last)
    await sendPart(last)
    await complete()
  }

  return {
    async write(piece) {
      // Nobody has to send what cannot be stored.
      if (total === 0 && waits.first.steadfast !== true) client.circuit.requireThere()
      for (let from = 0; from < piece.length; ) {
        if (part.size === partSize(part.number)) await next().catch(notTaken)
        const filled = part.size % BLOCK
        if (filled === 0) part.blocks.push(await blocks.take())
        const bytes = piece.subarray(from, from + BLOCK - filled)
        const block = part.blocks[part.blocks.length - 1] as Buffer
        block.set(bytes, filled)
        part.sha256.update(bytes)
        part.size += bytes.length
        total += bytes.length
        from += bytes.length
      }
    },
    finish: () => finish().catch(notTaken),
    async abandon() {
      blocks.give(part.blocks)
      part.blocks = []
      await sending.catch(() => undefined)
      if (!isBegun) return true
      return removeObject(client, name, uploadId, AFTERWARDS).then(
        () => !isOpen,
        () => false,
      )
    },
  }
}

/** Whatever is gone already is fine. */
async function unlessAbsent(work: Promise<unknown>): Promise<void> {
  await work.catch(error => {
    if (!(error instanceof BlobGone)) throw error
  })
}

/**
 * Removes an object, and what is left of the upload that was to make it.
 *
 * @throws StoreError
 */
export async function removeObject(
  client: Client,
  name: string,
  uploadId: string | undefined,
  patience: Patience,
): Promise<void> {
  const place = { Bucket: client.bucket, Key: client.prefix + name }
  if (uploadId !== undefined)
    await unlessAbsent(
      client.ask(patience, ({ client, options }) =>
        client.send(new (sdk().AbortMultipartUploadCommand)({ ...place, UploadId: uploadId }), options).then(removed),
      ),
    )
  await unlessAbsent(
    client.ask(patience, ({ client, options }) =>
      client.send(new (sdk().DeleteObjectCommand)(place), options).then(removed),
    ),
  )
}
