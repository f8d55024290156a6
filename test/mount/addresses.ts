/** Every kind of address at which a mount can be: a port, a host, or a path of its own, and behind a proxy that ends TLS. */

import type { Place } from '../support/http.ts'
import { startServer, type TestServer, type TestServerOptions } from '../support/server.ts'
import { startTlsProxy } from '../support/tls-proxy.ts'

/** A mount as its clients reach it. */
export interface AddressedMount {
  server: TestServer
  /** Address of the root, without slash at its end. */
  url: string
  place: Place
  /** Path of the root, without slash at its end; empty at the root of an origin. */
  prefix: string
  close(): Promise<void>
}

export interface Address {
  title: string
  start(options?: TestServerOptions): Promise<AddressedMount>
}

/** A short way to write 127.0.0.1, which is a name of its own to the server and needs no name service. */
const OWN_HOST = '127.1'

function under(title: string, mount?: Record<string, unknown>): Address {
  return {
    title,
    async start(options = {}) {
      const server = await startServer({ ...options, settings: { ...options.settings, ...(mount && { mount }) } })
      return addressed(server, server.mountUrl, () => server.close())
    },
  }
}

function addressed(server: TestServer, url: string, close: () => Promise<void>): AddressedMount {
  const { protocol, hostname, port, pathname } = new URL(url)
  const address = hostname === 'localhost' ? '127.0.0.1' : hostname
  const place = { port: Number(port), address, tls: protocol === 'https:' }
  return { server, url, place, prefix: pathname === '/' ? '' : pathname, close }
}

export const ADDRESSES: readonly Address[] = [
  under('on a port of its own'),
  under('under a path', { path: '/-platform/dav' }),
  under('under a path of several segments', { path: '/edit/the/site' }),
  {
    title: 'on a host of its own',
    async start(options = {}) {
      const server = await startServer({ ...options, settings: { ...options.settings, mount: { host: '127.{host}' } } })
      return addressed(server, `http://${OWN_HOST}:${server.port}`, () => server.close())
    },
  },
  {
    title: 'behind a proxy that ends TLS',
    async start(options = {}) {
      const server = await startServer(options)
      const proxy = await startTlsProxy(Number(new URL(server.mountUrl).port))
      return addressed(server, `https://localhost:${proxy.port}`, async () => {
        await proxy.close()
        await server.close()
      })
    },
  },
]
