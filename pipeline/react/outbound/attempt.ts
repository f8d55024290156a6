/** One attempt of an outbound request: to an address that was checked, without redirects (REA-85, REA-87). */

import { isIP, type Socket } from 'node:net'
import { isLocalName } from '../../http/network.ts'
import { lazyPackage } from '../../lazy-package.ts'
import type { Field } from '../header-fields.ts'
import { mayCall } from './addresses.ts'
import { type Addresses, byTheSystem, type Resolve } from './names.ts'

const undici = lazyPackage<typeof import('undici')>('undici')

/** What an attempt sends. */
export interface Sending {
  url: string
  method: string
  fields: readonly Field[]
  body: string
  /** Loopback and private addresses may be called. */
  allowLocal: boolean
}

/** What came of it: a refusal by this server is final. */
export type Attempted =
  | { ok: true; status: number }
  | { ok: false; status: number }
  | { ok: false; error: string; final?: boolean }

export interface AttemptLimits {
  /** Milliseconds until there is a connection. */
  connect: number
  /** Milliseconds in all. */
  total: number
}

const LIMITS: AttemptLimits = { connect: 5_000, total: 30_000 }
/** Bytes of an answer that are read. */
const LARGEST_ANSWER = 64 * 1024

/**
 * @param resolve asks for addresses once; the connection goes to one of those that it gave
 * @returns what became of it; it never throws
 */
export async function attempt(
  sending: Sending,
  resolve: Resolve = byTheSystem,
  limits: AttemptLimits = LIMITS,
): Promise<Attempted> {
  const deadline = AbortSignal.timeout(limits.total)
  try {
    const url = new URL(sending.url)
    const addresses = await within(
      deadline,
      addressesOf(url, sending.allowLocal, host => resolve(host, deadline)),
    )
    if ('refused' in addresses) return { ok: false, error: addresses.refused, final: true }
    return await send(url, sending, addresses, deadline, limits)
  } catch (error) {
    return { ok: false, error: reasonOf(error) }
  }
}

/** A word that tells what happened without telling anything of the request. */
function reasonOf(error: unknown): string {
  if (error instanceof undici().errors.ConnectTimeoutError) return 'no connection in time'
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time'
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return error instanceof Error ? error.name : 'failure'
}

/** REA-87: every address of the host has to be one that may be called. */
async function addressesOf(
  { hostname }: URL,
  allowLocal: boolean,
  resolve: Resolve,
): Promise<Addresses | { refused: string }> {
  const host = hostname.replace(/^\[|\]$/g, '')
  const family = isIP(host)
  if (family === 0 && isLocalName(host) && !allowLocal) return { refused: 'the host is this machine' }
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }]
  if (addresses.length === 0) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' })
  const isOpen = addresses.every(({ address }) => mayCall(address, allowLocal))
  return isOpen ? addresses : { refused: 'the host has an address that may not be called' }
}

function within<T>(deadline: AbortSignal, work: Promise<T>): Promise<T> {
  return Promise.race([
    work,
    new Promise<never>((_, reject) => {
      deadline.addEventListener('abort', () => reject(deadline.reason), { once: true })
    }),
  ])
}

async function send(
  url: URL,
  { method, fields, body }: Sending,
  addresses: Addresses,
  deadline: AbortSignal,
  limits: AttemptLimits,
): Promise<Attempted> {
  const connect = undici().buildConnector({
    timeout: limits.connect,
    allowH2: false,
    // Nobody is asked again: another answer could be another address.
    lookup: (_host, options, done) => {
      const wanted = addresses.filter(({ family }) => !options.family || options.family === family)
      if (options.all) return done(null, [...wanted])
      const [first] = wanted
      if (first) done(null, first.address, first.family)
      else done(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '', 0)
    },
  })
  let watching: NodeJS.Timeout | undefined
  const client = new (undici().Client)(url.origin, {
    connect: (options, done) =>
      connect(options, (...connected) => {
        const [, socket] = connected
        if (socket) watching = cuttingOff(socket)
        done(...connected)
      }),
    headersTimeout: limits.total,
    bodyTimeout: limits.total,
    allowH2: false,
  })
  try {
    const bytes = Buffer.from(body)
    const response = await client.request({
      path: url.pathname + url.search,
      method: method as 'POST',
      headers: fields.flat(),
      ...(method !== 'GET' && { body: bytes }),
      signal: deadline,
    })
    const { statusCode: status } = response
    await discard(response.body)
    return status >= 200 && status < 300 ? { ok: true, status } : { ok: false, status }
  } finally {
    clearInterval(watching)
    await client.destroy()
  }
}

/** Milliseconds between two looks at how much has come. */
const LOOK = 50

/** Ends a connection on which more comes than is read of an answer: its head, or what stands around its content, has no end. */
function cuttingOff(socket: Socket): NodeJS.Timeout {
  return setInterval(() => {
    if (socket.bytesRead > 2 * LARGEST_ANSWER) socket.destroy()
  }, LOOK)
}

/** Reads an answer up to a limit; what fails after its status makes no difference to it. */
export async function discard(body: AsyncIterable<Uint8Array>): Promise<void> {
  let size = 0
  try {
    for await (const piece of body) {
      size += piece.length
      if (size > LARGEST_ANSWER) return
    }
  } catch {
    // The status has come.
  }
}
