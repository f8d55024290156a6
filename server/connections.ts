/** The connections of a listener: requests of each in turn, and an end of all that lets running requests finish. */

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export interface Connections {
  /** The handler, called for the requests of one connection one after another. */
  handle: RequestListener
  /**
   * The request that a connection is still busy with: it has come as a whole, and its answer has not left yet.
   *
   * @returns its answer
   */
  pending(socket: Duplex): ServerResponse | undefined
  /**
   * Takes over a server whose requests `handle` gets.
   *
   * @param secure it speaks TLS
   */
  watch(server: Server, secure: boolean): void
  /**
   * Takes no more requests and settles when the running ones are answered, at the latest after the grace time.
   *
   * @param grace milliseconds
   */
  close(server: Server, grace: number): Promise<void>
}

/** Milliseconds between two looks for connections that have become idle. */
const SWEEP = 100

export function connections(handler: RequestListener): Connections {
  /** The newest answer on each open connection. */
  const newest = new Map<Duplex, ServerResponse>()
  /** Connections as the system knows them; some may still be about their keys. */
  const accepted = new Set<Socket>()
  /** Connections on which requests can come. */
  const open = new Set<Socket>()
  let closing = false

  function begin(request: IncomingMessage, response: ServerResponse): void {
    // Behind a request that offers another protocol the parser reads no further one: the client has to come again.
    if (closing || request.headers.upgrade !== undefined) response.shouldKeepAlive = false
    handler(request, response)
  }

  return {
    // Node hands pipelined requests over together, but an unsafe one may change what the next sees (RFC 9112 §9.3.2).
    handle(request, response) {
      const { socket } = request
      const before = newest.get(socket)
      if (!before) socket.once('close', () => newest.delete(socket))
      newest.set(socket, response)
      if (!before || before.writableFinished) {
        begin(request, response)
        return
      }
      socket.pause()
      before.once('close', () => {
        // An answer that ends the connection leaves nobody to answer.
        if (!socket.writable) return
        socket.resume()
        begin(request, response)
      })
    },

    pending(socket) {
      const response = newest.get(socket)
      return response && !response.writableFinished && response.req.complete ? response : undefined
    },

    watch(server, secure) {
      const collect = (sockets: Set<Socket>) => (socket: Socket) => {
        sockets.add(socket)
        socket.once('close', () => sockets.delete(socket))
      }
      server.on('connection', collect(accepted))
      server.on(secure ? 'secureConnection' : 'connection', collect(open))
    },

    async close(server, grace) {
      closing = true
      for (const response of newest.values()) response.shouldKeepAlive = false
      // Browsers open connections before they need them; Node counts these as busy.
      for (const socket of open) if (!newest.has(socket)) socket.destroy()
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      server.closeIdleConnections()
      const sweep = setInterval(() => server.closeIdleConnections(), SWEEP)
      const timer = setTimeout(() => {
        for (const socket of accepted) socket.destroy()
      }, grace)
      await closed
      clearInterval(sweep)
      clearTimeout(timer)
    },
  }
}
