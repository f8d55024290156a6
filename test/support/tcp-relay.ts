/** A relay in front of a service: it can be pointed at another one, cut its connections, or swallow what goes through. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Relay {
  port: number
  /** Settles when somebody connects. */
  connected(): Promise<unknown>
  /** Sends new connections to another port. */
  pointTo(port: number): void
  /** Ends all connections. */
  cut(): void
  /** Lets nothing through in one direction, as a broken network does, until it is called with undefined. */
  swallow(direction: 'requests' | 'answers' | undefined): void
  close(): Promise<void>
}

export async function startRelay(first: number): Promise<Relay> {
  let target = first
  let swallowed: 'requests' | 'answers' | undefined
  const open = new Set<Socket>()
  const server = createServer(client => {
    const service = connect(target, '127.0.0.1')
    for (const [from, to, direction] of [
      [client, service, 'requests'],
      [service, client, 'answers'],
    ] as const) {
      open.add(from)
      from.on('data', bytes => {
        if (swallowed !== direction) to.write(bytes)
      })
      from.on('error', () => undefined)
      from.on('close', () => {
        open.delete(from)
        to.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const socket of open) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    connected: () => once(server, 'connection'),
    pointTo(port) {
      target = port
    },
    cut,
    swallow(direction) {
      swallowed = direction
    },
    async close() {
      server.close()
      cut()
    },
  }
}
