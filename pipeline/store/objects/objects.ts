/** Bytes in an object store that speaks the protocol of S3: by name, written once, complete or not there. */

import { randomUUID } from 'node:crypto'
import { type BlobReader, blobBytes, type Span } from '../blobs.ts'
import { NoAnswer, Unusable } from '../errors.ts'
import { isWhole, proving } from '../proof.ts'
import { type ObjectAddress, placeOf } from './address.ts'
import { BLOCK, createBlocks } from './blocks.ts'
import { type Client, type Log, openClient, type Patience, sdk, type Waits } from './client.ts'
import { openObject } from './download.ts'
import { isNoAnswer, listed, meaningOf, notItself, wordsOf } from './failures.ts'
import { removeObject, startUpload, type Upload, type UploadOptions } from './upload.ts'

/** An object as a listing has it. */
export interface Listed {
  name: string
  /** Unix milliseconds. */
  modified: number
}

export interface Objects {
  /** `s3://bucket/prefix/`. */
  readonly place: string
  /** @param name that no object has had before */
  upload(name: string, options: UploadOptions): Upload
  /**
   * @param sha256 proved where all is read in order: the last bytes of others are not handed out
   * @throws StoreError, and BlobGone when there is no object of this name and size
   */
  open(name: string, size: number, span?: Span, sha256?: string): Promise<BlobReader>
  /** Removes an object, and uploads that were to make it. @throws StoreError */
  remove(name: string): Promise<void>
  /** Everything below the prefix. @throws StoreError */
  list(): AsyncIterable<Listed>
  /** Names that begin with something, without what they begin with. @throws Unusable with what to do, or NoAnswer */
  namesWith(beginning: string): Promise<string[]>
  /** Writes an object whose name is what it says. @throws Unusable with what to do, or NoAnswer */
  note(name: string): Promise<void>
  /** Writes an object, reads it and removes it. @throws Unusable with what to do, or NoAnswer */
  prove(): Promise<void>
  /** Whether the object store answers, as far as anybody has noticed. */
  isThere(): boolean
  /** Notices when it goes away while nobody uses it. */
  watch(): void
  /** Refuses everything until some work has succeeded, which is tried from time to time. */
  loseUntil(returning: () => Promise<void>): void
  /** Gives memory back that nobody uses. */
  relax(): void
  close(): void
}

/** Memory of all uploads of a process: 32 parts of the usual size. */
const BLOCKS = (256 * 1024 * 1024) / BLOCK

/** Milliseconds that an upload waits for memory. */
const BLOCK_WAIT = 10_000

const HOUSEKEEPING: Patience = { quiet: 5000, total: 5000 }

export interface ObjectsOptions {
  log?: Log
  waits?: Waits | undefined
}

/** @throws Unusable when a file that the address names cannot be read */
export function openObjects(address: ObjectAddress, { log = () => undefined, waits }: ObjectsOptions = {}): Objects {
  const client = openClient(address, log, waits)
  const blocks = createBlocks(BLOCKS, BLOCK_WAIT)
  const { start } = client.waits
  const atStart = { ...client, waits: { ...client.waits, first: start, more: start } }

  /** Name of an object that a trial may have left. */
  let trial: string | undefined

  /** Has an operator told what to do about a failure. @throws Unusable, NoAnswer */
  async function advised<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      const cause = causeOf(error)
      const message = `${placeOf(address)} cannot be used: ${advice(address, cause)}`
      throw new (isNoAnswer(cause) ? NoAnswer : Unusable)(message, { cause: error })
    }
  }

  async function write(name: string, bytes: Uint8Array): Promise<void> {
    const upload = startUpload(atStart, blocks, name, { note: async () => undefined })
    await upload.write(bytes)
    await upload.finish()
  }

  /** Removes the object of a trial, also of one that failed: no other is written before. */
  async function endTrial(): Promise<void> {
    if (trial !== undefined) await removeObject(atStart, trial, undefined, start)
    trial = undefined
  }

  return {
    place: placeOf(address),
    upload: (name, options) => startUpload(client, blocks, name, options),
    async open(name, size, span, sha256) {
      const reader = await openObject(client, name, size, span)
      if (sha256 === undefined || !isWhole(size, span)) return reader
      return proving(reader, { what: `The object ${name}`, size, sha256 })
    },
    async remove(name) {
      for (const uploadId of await uploadsOf(client, name)) await removeObject(client, name, uploadId, HOUSEKEEPING)
      await removeObject(client, name, undefined, HOUSEKEEPING)
    },
    list: () => listAll(client, '', HOUSEKEEPING),
    namesWith: beginning =>
      advised(async () => {
        const names: string[] = []
        for await (const { name } of listAll(client, beginning, start)) names.push(name.slice(beginning.length))
        return names
      }),
    note: name => advised(() => write(name, Buffer.from(name))),
    prove: () =>
      advised(async () => {
        await endTrial()
        const name = `trial-${randomUUID()}`
        const bytes = Buffer.from(name)
        trial = name
        try {
          await write(name, bytes)
          const open = () => openObject(atStart, name, bytes.length, undefined, start)
          const read = await blobBytes({ size: bytes.length, open })
          if (!read.equals(bytes)) throw new Error('what was written comes back as something else')
        } catch (error) {
          await endTrial().catch(() => undefined)
          throw error
        }
        await endTrial()
      }),
    isThere: () => !client.circuit.isAway,
    watch: client.circuit.watch,
    loseUntil: client.circuit.loseUntil,
    relax: blocks.relax,
    close: client.close,
  }
}

/** Unfinished uploads of an object. */
async function uploadsOf(client: Client, name: string): Promise<string[]> {
  const Prefix = client.prefix + name
  const { Uploads = [] } = await client.ask(HOUSEKEEPING, ({ client: asked, options }) =>
    asked
      .send(new (sdk().ListMultipartUploadsCommand)({ Bucket: client.bucket, Prefix }), options)
      .then(answer => listed(answer, answer.Bucket)),
  )
  return Uploads.flatMap(({ Key, UploadId }) => (Key === Prefix && UploadId !== undefined ? [UploadId] : []))
}

/** @param beginning of the names that are wanted, below the prefix */
async function* listAll(client: Client, beginning: string, patience: Patience): AsyncGenerator<Listed> {
  const { bucket: Bucket, prefix } = client
  const Prefix = prefix + beginning
  for (let token: string | undefined; ; ) {
    const { Contents = [], NextContinuationToken } = await client.ask(patience, async ({ client: asked, options }) => {
      const from = token !== undefined && { ContinuationToken: token }
      const answer = await asked.send(new (sdk().ListObjectsV2Command)({ Bucket, Prefix, ...from }), options)
      const page = listed(answer, answer.Name)
      // A page that leads to itself has no end; one that is cut off may leave out whose the objects are.
      const next = page.NextContinuationToken
      if (next === undefined ? page.IsTruncated === true : next === token) throw notItself()
      return page
    })
    for (const { Key = '', LastModified } of Contents)
      yield { name: Key.slice(prefix.length), modified: LastModified?.getTime() ?? Date.now() }
    if (NextContinuationToken === undefined) return
    token = NextContinuationToken
  }
}

/** What a service said, or what kept a request from it. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error
}

/** What an operator does about a failure. */
function advice({ bucket, prefix, endpoint, region }: ObjectAddress, error: unknown): string {
  const { name } = (error ?? {}) as { name?: string }
  const words = wordsOf(error)
  if (name === 'NoSuchBucket') return `the bucket ${bucket} does not exist; make it, or name another one (${words})`
  if (name === 'CredentialsProviderError') return `no access key was found; name a credentialsFile (${words})`
  if (name === 'PermanentRedirect' || name === 'AuthorizationHeaderMalformed')
    return `the bucket is in another region than ${region} (${words})`
  if (meaningOf(error) === 'refused')
    return `the key must be allowed to put, get and delete objects at ${bucket}/${prefix}*, and to list the bucket (${words})`
  return `${endpoint ?? 'the service'} does not answer as it should (${words})`
}
