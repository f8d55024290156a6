/** Outbound requests to sites of this server: ordinary public requests that never leave the process (REA-87, REA-88). */

import type { IncomingMessage, RequestListener } from 'node:http'
import { type Duplex, duplexPair } from 'node:stream'
import { createServer, request as send } from '../../pipeline/http/node-http.ts'
import type { Field } from '../../pipeline/react/header-fields.ts'

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
 * @returns sends a request and settles with the status of its answer
 */
export function insideCaller(handler: RequestListener): (call: InsideCall) => Promise<number> {
  const server = createServer(handler)
  return ({ authority, secure, target, method, fields, body, depth }) =>
    new Promise((resolve, reject) => {
      const [own, other]: [Duplex, Duplex] = duplexPair()
      depths.set(other, depth)
      // What a proxy says is not for a document of a site to say.
      const plain = fields.filter(([name]) => !/^(x-)?forwarded/i.test(name))
      if (secure) Object.assign(other, { encrypted: true })
      const bytes = Buffer.from(body)
      const length = method === 'GET' ? [] : ['Content-Length', String(bytes.length)]
      const outgoing = send({
        createConnection: () => own as never,
        path: target,
        method,
        headers: ['Host', authority, ...plain.flat(), ...length, 'Connection', 'close'],
        timeout: TIMEOUT,
      })
      outgoing.on('response', answer => {
        answer.resume()
        answer.on('close', () => resolve(answer.statusCode ?? 0))
      })
      outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')))
      outgoing.on('error', reject)
      server.emit('connection', other)
      outgoing.end(method === 'GET' ? undefined : bytes)
    })
}
