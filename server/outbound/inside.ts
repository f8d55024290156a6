/** Outbound requests to sites of this server: ordinary public requests that never leave the process (REA-87, REA-88). */

import { once } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import { type Duplex, duplexPair } from 'node:stream'
import { createServer, request as send } from '../../pipeline/http/node-http.ts'
import type { Field } from '../../pipeline/react/header-fields.ts'
import { discard } from '../../pipeline/react/outbound/attempt.ts'

export interface InsideCall {
  /** Host and port of the site. */
  authority: string
  secure: boolean
  /** Target of the request: path and query. */
  target: string
  method: string
  fields: readonly Field[]
  body: string
  /** Own-site calls that have led here, this one included. */
  depth: number
}

/** Own-site calls after which no others are made. */
export const DEEPEST = 5
/** Milliseconds. */
const TIMEOUT = 30_000

const depths = new WeakMap<object, number>()

/** How many own-site calls have led to a request. */
export function depthOf(request: IncomingMessage): number {
  return depths.get(request.socket) ?? 0
}

/**
 * @param handler of the public surface
 * @param timeout milliseconds in all (REA-85)
 * @returns sends a request and settles with the status of its answer, of which no more is read than of one from elsewhere
 */
export function insideCaller(handler: RequestListener, timeout = TIMEOUT): (call: InsideCall) => Promise<number> {
  const server = createServer(handler)
  return async ({ authority, secure, target, method, fields, body, depth }) => {
    const [own, other]: [Duplex, Duplex] = duplexPair()
    depths.set(other, depth)
    // What a proxy says is not for a document of a site to say.
    const plain = fields.filter(([name]) => !/^(x-)?forwarded/i.test(name))
    // Streams ask for it; nothing waits here.
    Object.assign(other, { setNoDelay: () => other, ...(secure && { encrypted: true }) })
    const bytes = Buffer.from(body)
    const length = method === 'GET' ? [] : ['Content-Length', String(bytes.length)]
    const deadline = AbortSignal.timeout(timeout)
    try {
      const outgoing = send({
        createConnection: () => own as never,
        path: asTarget(target),
        method,
        headers: ['Host', authority, ...plain.flat(), ...length, 'Connection', 'close'],
        signal: deadline,
      })
      server.emit('connection', other)
      outgoing.end(method === 'GET' ? undefined : bytes)
      const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
      await discard(answer)
      return answer.statusCode ?? 0
    } catch (error) {
      throw deadline.aborted ? new Error('no answer in time') : error
    } finally {
      own.destroy()
      // Neither end of a pair learns that the other one is gone.
      other.destroy()
    }
  }
}

/** An address as it may be sent: what cannot stand in one is escaped, as it is in addresses of other servers. */
function asTarget(text: string): string {
  return text.toWellFormed().replace(/[^\x21-\x7e]+/g, encodeURIComponent)
}
