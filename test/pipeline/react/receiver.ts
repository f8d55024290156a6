/** A server on loopback that is called, and tells what it got. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface Got {
  method: string
  url: string
  /** Names and values in turn, as they came. */
  fields: string[]
  headers: NodeJS.Dict<string | string[]>
  body: string
}

export interface Receiver {
  url: string
  port: number
  got: Got[]
  /** Requests under way at the same time, at most. */
  most(): number
  close(): Promise<void>
}

/** @param answer by default 204 */
export async function receiver(
  answer: (request: IncomingMessage, response: ServerResponse, got: Got, all: readonly Got[]) => void = (_, response) =>
    response.writeHead(204).end(),
  port = 0,
): Promise<Receiver> {
  const got: Got[] = []
  const sockets = new Set<Socket>()
  let running = 0
  let most = 0
  const server = createServer(async (request, response) => {
    running++
    most = Math.max(most, running)
    response.on('close', () => running--)
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const { method = '', url = '', rawHeaders: fields, headers } = request
    const each = { method, url, fields, headers, body: Buffer.concat(pieces).toString() }
    got.push(each)
    answer(request, response, each, got)
  })
  server.on('connection', socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  const at = (server.address() as AddressInfo).port
  return {
    url: `http://127.0.0.1:${at}`,
    port: at,
    got,
    most: () => most,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
