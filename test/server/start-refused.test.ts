/** A server that cannot start leaves nothing behind that goes on. */

import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as later } from 'node:timers/promises'
import { expect } from 'chai'
import { loadSettings } from '../../config/load.ts'
import { createLog } from '../../server/log.ts'
import { openServed } from '../../server/open-store.ts'
import { startServer } from '../../server/start.ts'

async function listening(): Promise<{ server: Server; port: number }> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const at = server.address()
  return { server, port: typeof at === 'object' && at ? at.port : 0 }
}

describe('A server whose port is taken', () => {
  it('listens nowhere when the one of its mount is', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'refused-'))
    const other = await listening()
    const free = await listening()
    await new Promise(resolve => free.server.close(resolve))
    try {
      const env = {
        SCRIPTORIUM_LISTEN_PORT: String(free.port),
        SCRIPTORIUM_MOUNT_PORT: String(other.port),
        SCRIPTORIUM_LOG_LEVEL: 'silent',
      }
      const { settings } = await loadSettings({ env, cwd: folder })
      const log = createLog(settings.log)
      const store = await openServed(settings, log)
      const failure = await startServer(settings, store, log).catch((error: NodeJS.ErrnoException) => error)
      expect(failure).to.include({ code: 'EADDRINUSE', port: other.port })
      await store.close()
      const socket = connect(free.port, '127.0.0.1')
      const answer = await new Promise(resolve => {
        socket
          .on('connect', () => resolve('connected'))
          .on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
      })
      socket.destroy()
      expect(answer).to.equal('ECONNREFUSED')
    } finally {
      other.server.close()
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('asks its store for nothing after that, also while Redis is away', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'refused-'))
    const other = await listening()
    try {
      const env = {
        SCRIPTORIUM_REDIS: 'redis://127.0.0.1:1/0',
        SCRIPTORIUM_LISTEN_PORT: String(other.port),
        SCRIPTORIUM_MOUNT_PATH: '/dav',
        SCRIPTORIUM_LOG_LEVEL: 'silent',
      }
      const { settings } = await loadSettings({ env, cwd: folder })
      const log = createLog(settings.log)
      const store = await openServed(settings, log)
      const failure = await startServer(settings, store, log).catch((error: NodeJS.ErrnoException) => error)
      expect(failure).to.include({ code: 'EADDRINUSE' })
      await store.close()
      // Longer than the time after which a process looks for what others have stored; what it throws there fails the test.
      await later(1200)
    } finally {
      other.server.close()
      await rm(folder, { recursive: true, force: true })
    }
  })
})
