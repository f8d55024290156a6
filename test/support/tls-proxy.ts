/** A proxy that ends TLS in front of a server, as load balancers do: the server hears plain HTTP, and nothing of the scheme. */

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type TLSSocket } from 'node:tls'
import { succeed } from './program.ts'

export interface TlsProxy {
  port: number
  close(): Promise<void>
}

/** @param port of the server behind it, on this machine */
export async function startTlsProxy(port: number): Promise<TlsProxy> {
  const open = new Set<TLSSocket>()
  const server = createServer(await selfSigned(), outer => {
    open.add(outer)
    outer.once('close', () => open.delete(outer))
    const inner = connect(port, '127.0.0.1')
    // Either side may just go away, which ends the other.
    for (const [side, other] of [
      [outer, inner],
      [inner, outer],
    ] as const)
      side
        .on('error', () => {})
        .once('close', () => other.destroy())
        .pipe(other)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

async function selfSigned(): Promise<{ key: string; cert: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'tls-'))
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
    await succeed('openssl', [...kind, '-subj', '/CN=localhost', '-keyout', key, '-out', cert])
    return { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') }
  } finally {
    await rm(folder, { recursive: true })
  }
}
