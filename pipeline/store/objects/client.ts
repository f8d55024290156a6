/** The client of an object store: loaded when the settings name one, asked with patience that ends. */

import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { S3Client } from '@aws-sdk/client-s3'
import { lazyPackage } from '../../lazy-package.ts'
import { unlessAnswered } from '../../unless-answered.ts'
import { StoreError, Unusable } from '../errors.ts'
import { type ObjectAddress, placeOf } from './address.ts'
import { type Circuit, createCircuit } from './circuit.ts'
import { isUnreached, meaningOf, storeError, wordsOf } from './failures.ts'
import { type KeyFile, openKeyFile } from './key-file.ts'

export const sdk = lazyPackage<typeof import('@aws-sdk/client-s3')>('@aws-sdk/client-s3')

/** Told of what happens in the background. */
export type Log = (level: 'warn' | 'error', message: string, details: Record<string, unknown>) => void

/** How long somebody waits, in milliseconds. */
export interface Patience {
  /** For one attempt, from one sign of life to the next. */
  quiet: number
  /** For all attempts together: after that there is no other one. */
  total: number
  /** The same where nobody even takes the connection. */
  unreached?: number
  /** Goes on trying while the object store is away: what has begun may be finished when it is back. */
  steadfast?: true
}

/** How long whom is waited for. */
export interface Waits {
  /** Until the first byte of an object, for whoever can be told to come again. */
  answer: Patience
  /** For the rest: whoever has begun would rather wait than be cut off. */
  more: Patience
  /** For the first request of an upload, of a client that would rather be told at once: one that takes its time, but answers. */
  first: Patience
  /** For what follows: a service that is restarted may come back. */
  later: Patience
  /** For who starts a server and looks at it. */
  start: Patience
  /** Milliseconds without a sign of life after which somebody asks whether the object store is there. */
  doubt: number
  /** Milliseconds that it has to answer that. */
  probe: number
}

export const WAITS: Waits = {
  answer: { quiet: 1500, total: 1800 },
  more: { quiet: 5000, total: 10_000, steadfast: true },
  first: { quiet: 5000, total: 6000, unreached: 1500 },
  later: { quiet: 10_000, total: 20_000, steadfast: true },
  start: { quiet: 2500, total: 3000, unreached: 1500, steadfast: true },
  doubt: 1000,
  probe: 800,
}

/** What an attempt is carried out with. */
export interface Attempt {
  client: S3Client
  /** Handed to the client. */
  options: { abortSignal: AbortSignal }
  /** A sign of life. */
  touch(): void
}

export interface Client {
  readonly bucket: string
  readonly prefix: string
  readonly waits: Waits
  /** Whether the object store is there. */
  readonly circuit: Circuit
  /**
   * Carries out a request, again while that may help. While the object store is away, what is not steadfast is refused at
   * once.
   *
   * @throws StoreError, or BlobGone when there is no such object
   */
  ask<Output>(patience: Patience, request: (attempt: Attempt) => Promise<Output>): Promise<Output>
  close(): void
}

/** Milliseconds until a connection that is being made counts as failed. */
const CONNECT_WAIT = 1000

/** Connections at most: one for every download that is under way, and two for every upload. */
const CONNECTIONS = 512

/** Milliseconds before the second attempt, and between later ones at most. */
const [FIRST_NAP, LONGEST_NAP] = [50, 800]

const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }

/** @param keepAlive whether connections serve several requests */
function connect(address: ObjectAddress, keyFile: KeyFile | undefined, keepAlive: boolean): S3Client {
  const { endpoint, region, pathStyle, key, caFile } = address
  const agent = { keepAlive, maxSockets: CONNECTIONS }
  return new (sdk().S3Client)({
    region,
    forcePathStyle: pathStyle,
    ...(endpoint !== undefined && { endpoint }),
    ...(key !== undefined && { credentials: { accessKeyId: key.id, secretAccessKey: key.secret } }),
    ...(keyFile !== undefined && { credentials: keyFile.give }),
    requestHandler: {
      connectionTimeout: CONNECT_WAIT,
      socketTimeout: 0,
      httpAgent: agent,
      httpsAgent: { ...agent, ...(caFile !== undefined && { ca: readFileSync(caFile) }) },
    },
    // What is tried again, and how often, is said here; sums of other kinds are not known everywhere.
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    logger: SILENT,
  })
}

const timeout = () => new Error('Timeout: no answer')

/** Name of an object that nobody makes. */
const NOBODY = 'probe'

interface Watched {
  quiet: number
  /** Milliseconds of quiet after which somebody is told of it. */
  doubt: number
  onDoubt: () => void
  /** Has a function called that ends the attempt. @returns ends that */
  onEnd(end: () => void): () => void
}

/** Settles with the work, or fails when no sign of life came for too long. */
function whileAlive<Output>(
  client: S3Client,
  { quiet, doubt, onDoubt, onEnd }: Watched,
  request: (attempt: Attempt) => Promise<Output>,
) {
  return new Promise<Output>((resolve, reject) => {
    const abort = new AbortController()
    const late = () => {
      reject(timeout())
      abort.abort()
    }
    const timers: NodeJS.Timeout[] = []
    const touch = () => {
      for (const timer of timers.splice(0)) clearTimeout(timer)
      timers.push(unlessAnswered(late, quiet))
      if (doubt < quiet) timers.push(unlessAnswered(onDoubt, doubt))
    }
    touch()
    const forget = onEnd(late)
    request({ client, options: { abortSignal: abort.signal }, touch })
      .then(resolve, reject)
      .finally(() => {
        for (const timer of timers) clearTimeout(timer)
        forget()
      })
  })
}

/** @throws Unusable when a file that the address names cannot be read */
export function openClient(address: ObjectAddress, log: Log, waits = WAITS): Client {
  const keyFile = address.credentialsFile === undefined ? undefined : openKeyFile(address.credentialsFile)
  let client: S3Client
  let probing: S3Client
  try {
    client = connect(address, keyFile, true)
    // Whether somebody is there only a new connection tells.
    probing = connect(address, keyFile, false)
  } catch (cause) {
    throw new Unusable(`${placeOf(address)} cannot be used: ${wordsOf(cause)}`, { cause })
  }
  let isClosed = false
  const circuit = createCircuit({ probe, log })

  async function probe(): Promise<void> {
    const abort = new AbortController()
    const place = { Bucket: address.bucket, Key: address.prefix + NOBODY }
    const timer = unlessAnswered(() => abort.abort(), waits.probe)
    try {
      await probing.send(new (sdk().HeadObjectCommand)(place), { abortSignal: abort.signal })
    } catch (error) {
      if (abort.signal.aborted) throw timeout()
      // Whoever says no is there.
      if (meaningOf(error) === 'passing') throw error
    } finally {
      clearTimeout(timer)
    }
  }

  function failed(error: unknown): void {
    const meaning = meaningOf(error)
    if (isClosed || meaning === 'absent') return
    circuit.failed(meaning === 'passing' ? 'The object store does not answer' : 'The object store refuses', error)
    if (meaning === 'passing') circuit.suspect()
  }

  return {
    bucket: address.bucket,
    prefix: address.prefix,
    waits,
    circuit,
    async ask({ quiet, total, unreached = total, steadfast = false }, request) {
      const begun = performance.now()
      const until = begun + total
      const onEnd = steadfast ? () => () => undefined : circuit.onAway
      for (let nap = FIRST_NAP; ; nap = Math.min(2 * nap, LONGEST_NAP)) {
        if (isClosed) throw new StoreError('closed', 'The store is closed')
        if (!steadfast) circuit.requireThere()
        const now = performance.now()
        const key = keyFile?.number ?? 0
        // Attempts that fail one after the other are no sign of life.
        const doubt = Math.max(begun + waits.doubt - now, 1)
        try {
          const watched = { quiet: Math.min(quiet, Math.max(until - now, 1)), doubt, onDoubt: circuit.suspect, onEnd }
          const output = await whileAlive(client, watched, request)
          circuit.answered()
          return output
        } catch (failure) {
          const error = keyFile === undefined ? failure : await keyFile.renewed(key, failure)
          if (error === undefined) continue
          const last = isUnreached(error) ? begun + Math.min(unreached, total) : until
          if (meaningOf(error) === 'absent') circuit.answered()
          if (meaningOf(error) !== 'passing' || performance.now() + nap >= last) {
            failed(error)
            throw storeError(error)
          }
          if (performance.now() >= begun + waits.doubt) circuit.suspect()
        }
        await wait(nap)
      }
    },
    close() {
      isClosed = true
      circuit.close()
      client.destroy()
      probing.destroy()
    },
  }
}
